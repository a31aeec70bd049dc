package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/ground/pause"
	"daybook/internal/status"
)

// lookEvery is how often the files of the data directory are looked at for the log.
const lookEvery = 5 * time.Second

// lostLock returns the path of the lock of the data directory when it is not the one that this
// process holds any more, else "". When somebody removes or replaces it, another process may
// serve from there: this one only reads then.
func (b *backend) lostLock() string {
	if b.lock == nil {
		return ""
	}
	held, err := b.lock.Stat()
	now, gone := os.Stat(b.lock.Name())
	if errors.Is(gone, os.ErrNotExist) || err == nil && gone == nil && !os.SameFile(held, now) {
		return b.lock.Name()
	}
	return ""
}

// permit refuses a commit into a directory that another process may take.
func (b *backend) permit() error {
	if path := b.lostLock(); path != "" {
		return fmt.Errorf("%s was removed or replaced", path)
	}
	return nil
}

// lostFile returns the path of a file of the data directory that this process works on and
// that was removed or replaced, "" when there is none.
func (b *backend) lostFile() string {
	if b.file != nil {
		if path := b.file.Lost(); path != "" {
			return path
		}
	}
	return b.lostLock()
}

// watchData logs when files are lost, and when they are there again.
func (b *backend) watchData(ctx context.Context, log *slog.Logger) error {
	for before := ""; ; {
		switch now := b.lostFile(); {
		case now != "" && before == "":
			log.ErrorContext(ctx, "data directory was removed or replaced: nothing is written any more", "file", now)
			before = now
		case now == "" && before != "":
			log.InfoContext(ctx, "data directory is there again", "data", b.s.Data)
			before = ""
		}
		if err := pause.For(ctx, lookEvery); err != nil {
			return err
		}
	}
}

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
		_, err := b.store.Head(ctx, eventstore.Point{Position: head})
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
func (s watchedStore) Find(ctx context.Context, l eventstore.Lookup) (eventstore.Found, error) {
	found, err := s.Store.Find(ctx, l)
	s.watch.read(err)
	return found, err
}

// Receipt implements eventstore.Store.
func (s watchedStore) Receipt(ctx context.Context, user calendar.ID, key string) (*eventstore.Receipt, error) {
	r, err := s.Store.Receipt(ctx, user, key)
	s.watch.read(err)
	return r, err
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
		r := &results[i]
		unwritten := errors.Is(r.Err, eventstore.ErrUnavailable) || errors.Is(r.Err, eventstore.ErrDamaged)
		if unwritten || r.Err == nil && r.Receipt == nil && len(appends[i].Drafts) > 0 { // without entries it proves nothing
			s.watch.wrote(r.Err)
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
