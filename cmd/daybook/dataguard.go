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
func (backend *backend) failing(ctx context.Context, head calendar.Position) (why, cause string) {
	if backend.calls.noReads.Load() && backend.leases != nil {
		ctx, cancel := context.WithTimeout(ctx, status.Wait)
		defer cancel()
		_, err := backend.events.Head(ctx, eventstore.Point{Position: head})
		backend.calls.read(err)
	}
	switch {
	case backend.calls.noReads.Load():
		return whyNoReads, ""
	case backend.calls.noWrites.Load():
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
func (watchedStore watchedStore) Load(ctx context.Context, ids ...calendar.ID) ([]eventstore.State, error) {
	states, err := watchedStore.Store.Load(ctx, ids...)
	watchedStore.watch.read(err)
	return states, err
}

// Find implements eventstore.Store.
func (watchedStore watchedStore) Find(ctx context.Context, lookup eventstore.Lookup) (eventstore.Found, error) {
	found, err := watchedStore.Store.Find(ctx, lookup)
	watchedStore.watch.read(err)
	return found, err
}

// Receipt implements eventstore.Store.
func (watchedStore watchedStore) Receipt(ctx context.Context, user calendar.ID, key string) (*eventstore.Receipt, error) {
	receipt, err := watchedStore.Store.Receipt(ctx, user, key)
	watchedStore.watch.read(err)
	return receipt, err
}

// NewIDs implements eventstore.Store. On a store that takes no writes a create fails here,
// before its commit.
func (watchedStore watchedStore) NewIDs(ctx context.Context, n int) (calendar.ID, error) {
	id, err := watchedStore.Store.NewIDs(ctx, n)
	if err != nil && ctx.Err() == nil && !errors.Is(err, eventstore.ErrMalformed) && !errors.Is(err, eventstore.ErrClosed) {
		watchedStore.watch.wrote(err)
	}
	return id, err
}

// Append implements eventstore.Store.
func (watchedStore watchedStore) Append(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
	results := watchedStore.Store.Append(ctx, appends)
	for i := range results {
		result := &results[i]
		unwritten := errors.Is(result.Err, eventstore.ErrUnavailable) || errors.Is(result.Err, eventstore.ErrDamaged)
		if unwritten || result.Err == nil && result.Receipt == nil && len(appends[i].Drafts) > 0 { // without entries it proves nothing
			watchedStore.watch.wrote(result.Err)
		}
	}
	return results
}

func (storeWatch *storeWatch) read(err error) {
	if failed := errors.Is(err, eventstore.ErrUnavailable); failed || err == nil {
		storeWatch.noReads.Store(failed)
	}
}

func (storeWatch *storeWatch) wrote(err error) {
	switch before := storeWatch.noWrites.Swap(err != nil); {
	case err != nil && !before:
		storeWatch.log.Error("event store takes no writes", "error", err)
	case err == nil && before:
		storeWatch.log.Info("event store takes writes again")
	}
}
