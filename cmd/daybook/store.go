package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/postgres"
	"daybook/eventstore/sqlite"
	"daybook/internal/status"
)

// openStore opens the event store that the settings name. The one in the data
// directory needs the directory's lock.
func (backend *backend) openStore(ctx context.Context, existing bool) (eventstore.Store, error) {
	if backend.Store == "" {
		return backend.openFile(ctx, existing)
	}
	options := backend.Database
	options.Log, options.Observe, options.Existing = backend.log, backend.watchedCommits, existing
	store, err := postgres.Open(ctx, backend.Store, options)
	if errors.Is(err, eventstore.ErrNoStore) {
		err = fmt.Errorf("the schema %s of %s holds no event store; daybook serve or daybook migrate makes one, --store-schema names another", options.Schema, redactedURLs(backend.Store))
	}
	if err != nil {
		return nil, err
	}
	backend.leases, backend.close = store, store.Close
	return store, nil
}

// openFile opens the event store in the data directory. One without entries is
// refused where other files say that there were some, unless a new log is to begin.
func (backend *backend) openFile(ctx context.Context, existing bool) (eventstore.Store, error) {
	left := backend.leftOfLog()
	lost := left != "" && !backend.NewLog
	store, err := sqlite.Open(ctx, backend.Data, sqlite.Options{Observe: backend.watchedCommits, Existing: existing || lost})
	if err == nil && lost {
		head, headErr := store.Head(ctx, eventstore.Point{})
		if headErr != nil || head.Position == 0 {
			err = errors.Join(cmp.Or(headErr, eventstore.ErrNoStore), store.Close())
		}
	}
	switch {
	case err == nil:
		backend.file, backend.close = store, store.Close
		return store, nil
	case !errors.Is(err, eventstore.ErrNoStore):
		return nil, fmt.Errorf("event store in %s: %w", backend.Data, err)
	}
	if file, err := os.OpenFile(left, os.O_CREATE, 0o600); err == nil { // the engine has deleted its index
		_ = file.Close()
	}
	return nil, backend.noStore()
}

// leftOfLog returns the path of a file that only a log with entries leaves behind, "" where
// none exists: a store without entries next to it has lost them.
func (config *config) leftOfLog() string {
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

// noStore is the error of a data directory without a store, where a file may be left of a log.
func (config *config) noStore() error {
	left := config.leftOfLog()
	if left == "" {
		return fmt.Errorf("%s holds no event store; daybook serve makes one, --data names another", config.Data)
	}
	return fmt.Errorf("%s holds no entries, but %s is left of a log: put %s back, or a backup of it into an empty directory; "+
		"daybook user add NAME --role administrator --new-log begins another log here", config.Data, left, sqlite.FileName)
}

// lookEvery is how often the process looks at its health.
const lookEvery = 5 * time.Second

// Why a service is degraded by what its store does. It stays ready.
const (
	whyNoWrites = "store takes no writes"
	whyNoReads  = "store cannot be read" // while its head is known
)

// failing returns why the store does not do what it is there for, "" when it does: whether it
// takes writes by the last of them.
func (backend *backend) failing(ctx context.Context) (why, cause string) {
	ctx, cancel := context.WithTimeout(ctx, status.Wait)
	defer cancel()
	_, err := backend.events.Load(ctx, math.MaxInt64) // in no cache
	switch {
	case errors.Is(err, eventstore.ErrUnavailable):
		return whyNoReads, ""
	case backend.unwritten.Load():
		return whyNoWrites, ""
	default:
		return "", ""
	}
}

// watchedStore notes when ids cannot be taken: a create fails there, before its commit.
type watchedStore struct {
	eventstore.Store

	wrote func(error)
}

// NewID implements eventstore.Store.
func (watchedStore watchedStore) NewID(ctx context.Context) (calendar.ID, error) {
	id, err := watchedStore.Store.NewID(ctx)
	if errors.Is(err, eventstore.ErrUnavailable) {
		watchedStore.wrote(err)
	}
	return id, err
}

// watchedCommits is the observer of commits, which tell whether the store takes writes. One
// without entries proves nothing.
func (backend *backend) watchedCommits() func(eventstore.Committed) {
	end := func(eventstore.Committed) {}
	if backend.hooks.Commits != nil {
		end = backend.hooks.Commits()
	}
	return func(committed eventstore.Committed) {
		if end(committed); committed.Err != nil || committed.Entries > 0 {
			backend.wrote(committed.Err)
		}
	}
}

// wrote notes whether a write failed.
func (backend *backend) wrote(err error) {
	switch before := backend.unwritten.Swap(err != nil); {
	case err != nil && !before:
		backend.log.Error("event store takes no writes", "error", err)
	case err == nil && before:
		backend.log.Info("event store takes writes again")
	}
}
