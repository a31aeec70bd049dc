package main

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/status"
)

// lookEvery is how often the process looks at its health.
const lookEvery = 5 * time.Second

// Why a service is degraded by the last calls of its store. It stays ready: a call has to
// succeed for it to be well again.
const (
	whyNoWrites = "store takes no writes"
	whyNoReads  = "store cannot be read" // for a write, or for one record
)

// failing returns why the store does not do what it is there for, by the last calls, ""
// when it does. One on a server may prove here that it can be read again.
func (b *backend) failing(ctx context.Context, head calendar.Position) (why, cause string) {
	if b.calls.noReads.Load() && b.leases != nil {
		ctx, cancel := context.WithTimeout(ctx, status.Wait)
		defer cancel()
		_, err := b.events.Head(ctx, eventstore.Point{Position: head})
		b.calls.read(err)
	}
	switch {
	case b.calls.noReads.Load():
		return whyNoReads, ""
	case b.calls.noWrites.Load():
		return whyNoWrites, ""
	default:
		return "", ""
	}
}

// storeWatch knows whether the store can be read and takes writes, by the last calls: for
// those who send requests elsewhere or raise an alarm.
type storeWatch struct {
	noReads, noWrites atomic.Bool

	log *slog.Logger
}

type watchedStore struct {
	eventstore.Store

	watch *storeWatch
}

// Load implements eventstore.Store.
func (s watchedStore) Load(ctx context.Context, ids ...calendar.ID) ([]eventstore.State, error) {
	states, err := s.Store.Load(ctx, ids...)
	s.watch.read(err)
	return states, err
}

// Find implements eventstore.Store.
func (s watchedStore) Find(ctx context.Context, lookup eventstore.Lookup) (eventstore.Found, error) {
	found, err := s.Store.Find(ctx, lookup)
	s.watch.read(err)
	return found, err
}

// Receipt implements eventstore.Store.
func (s watchedStore) Receipt(ctx context.Context, user calendar.ID, key string) (*eventstore.Receipt, error) {
	receipt, err := s.Store.Receipt(ctx, user, key)
	s.watch.read(err)
	return receipt, err
}

// NewIDs implements eventstore.Store. On a store that takes no writes a create fails here,
// before its commit.
func (s watchedStore) NewIDs(ctx context.Context, n int) (calendar.ID, error) {
	id, err := s.Store.NewIDs(ctx, n)
	if err != nil && ctx.Err() == nil && !errors.Is(err, eventstore.ErrMalformed) && !errors.Is(err, eventstore.ErrClosed) {
		s.watch.wrote(err)
	}
	return id, err
}

// Append implements eventstore.Store.
func (s watchedStore) Append(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
	results := s.Store.Append(ctx, appends)
	for i := range results {
		result := &results[i]
		unwritten := errors.Is(result.Err, eventstore.ErrUnavailable) || errors.Is(result.Err, eventstore.ErrDamaged)
		if unwritten || result.Err == nil && result.Receipt == nil && len(appends[i].Drafts) > 0 { // without entries it proves nothing
			s.watch.wrote(result.Err)
		}
	}
	return results
}

func (w *storeWatch) read(err error) {
	if failed := errors.Is(err, eventstore.ErrUnavailable); failed || err == nil {
		w.noReads.Store(failed)
	}
}

func (w *storeWatch) wrote(err error) {
	switch before := w.noWrites.Swap(err != nil); {
	case err != nil && !before:
		w.log.Error("event store takes no writes", "error", err)
	case err == nil && before:
		w.log.Info("event store takes writes again")
	}
}
