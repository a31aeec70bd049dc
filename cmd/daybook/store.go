package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/postgres"
	"daybook/eventstore/sqlite"
	"daybook/internal/status"
	"daybook/query/readmodel/memindex"
)

// openStore opens the event store that the settings name. The one in the data
// directory needs the directory's lock.
func (backend *backend) openStore(ctx context.Context, existing bool) (eventstore.Store, error) {
	if backend.Store != "" {
		options := backend.Database
		options.Log, options.Observe, options.Existing = backend.log, backend.hooks.Commits, existing
		store, err := postgres.Open(ctx, backend.Store, options)
		if errors.Is(err, eventstore.ErrNoStore) {
			return nil, fmt.Errorf("the schema %s of %s holds no event store; daybook serve or daybook migrate makes one, --store-schema names another", options.Schema, redactedURLs(backend.Store))
		}
		if err != nil {
			return nil, err
		}
		backend.leases, backend.close = store, store.Close
		return store, nil
	}
	store, err := openFile(ctx, backend.config, sqlite.Options{Observe: backend.hooks.Commits, Existing: existing})
	if err != nil {
		return nil, err
	}
	backend.file, backend.close = store, store.Close
	return store, nil
}

// openFile opens the event store in the data directory. One without entries is
// refused where other files say that there were some, unless a new log is to begin.
func openFile(ctx context.Context, config *config, options sqlite.Options) (*sqlite.Store, error) {
	left := leftOfLog(config)
	lost := left != "" && !config.newLog
	options.Existing = options.Existing || lost
	store, err := sqlite.Open(ctx, config.Data, options)
	if err == nil && lost {
		var head eventstore.Head
		if head, err = store.Head(ctx, eventstore.Point{}); err == nil && head.Position == 0 {
			err = eventstore.ErrNoStore
		}
		if err != nil {
			err = errors.Join(err, store.Close())
		}
	}
	switch {
	case errors.Is(err, eventstore.ErrNoStore) && lost:
		if file, err := os.OpenFile(left, os.O_CREATE, 0o600); err == nil { // the engine has deleted its index
			_ = file.Close()
		}
		return nil, lostLog(config.Data, left)
	case errors.Is(err, eventstore.ErrNoStore):
		return nil, noStore(config.Data)
	case err != nil:
		return nil, fmt.Errorf("event store in %s: %w", config.Data, err)
	}
	return store, nil
}

// leftOfLog returns the path of a file that only a log with entries leaves behind, "" where
// none exists: a store without entries next to it has lost them.
func leftOfLog(config *config) string {
	exists := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	paths := []string{
		filepath.Join(config.Data, snapshotFile), filepath.Join(config.Data, formerFile),
		filepath.Join(config.Data, keyFile), filepath.Join(config.Data, keyFile+keptNote),
	}
	for _, key := range config.SigningKey {
		paths = append(paths, key+keptNote)
	}
	// The log of the engine is never there before its file, and its index not without the log.
	file := filepath.Join(config.Data, sqlite.FileName)
	log, index := file+"-wal", file+"-shm"
	if info, err := os.Stat(file); err != nil || info.Size() == 0 {
		paths = append(paths, log)
	}
	if !exists(log) {
		paths = append(paths, index)
	}
	if i := slices.IndexFunc(paths, exists); i >= 0 {
		return paths[i]
	}
	return ""
}

// lostLog is the error of a data directory without entries where a file is left of a log.
func lostLog(dir, left string) error {
	return fmt.Errorf("%s holds no entries, but %s is left of a log: put %s back, or a backup of it into an empty directory; "+
		"daybook user add NAME --role administrator --new-log begins another log here", dir, left, sqlite.FileName)
}

// tidy removes from the data directory what a killed process left. It needs the
// directory's lock.
func tidy(ctx context.Context, dir string, log *slog.Logger) {
	removeSocket(dir)
	for _, name := range []string{snapshotFile, formerFile} {
		if err := memindex.RemoveCutOff(filepath.Join(dir, name)); err != nil {
			log.WarnContext(ctx, "remains of a snapshot not removed", "error", err)
		}
	}
}

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

// NewID implements eventstore.Store. On a store that takes no writes a create fails here,
// before its commit.
func (watchedStore watchedStore) NewID(ctx context.Context) (calendar.ID, error) {
	id, err := watchedStore.Store.NewID(ctx)
	if err != nil && ctx.Err() == nil && !errors.Is(err, eventstore.ErrClosed) {
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
