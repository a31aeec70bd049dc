package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/postgres"
	"daybook/eventstore/sqlite"
	"daybook/query/readmodel/memindex"
)

// openStore opens the event store that the settings name. The one in the data
// directory needs the directory's lock.
func (b *backend) openStore(ctx context.Context, existing bool) error {
	if b.s.store != "" {
		progress, end := renewing(b.c, "schema "+b.s.storeSchema)
		store, err := postgres.Open(ctx, b.s.store, postgres.Options{
			Progress: progress, Log: b.log, Schema: b.s.storeSchema, PoolSize: b.s.storePool, ListenURL: b.s.storeListen,
			ReadTimeout: b.s.storeRead, Timeout: b.s.storeAppend, Observe: b.commits.watched(b.hooks.Commits), Existing: existing,
		})
		end()
		if errors.Is(err, eventstore.ErrNoStore) {
			return fmt.Errorf("the schema %s of %s holds no event store; daybook serve or daybook migrate makes one, --store-schema names another", b.s.storeSchema, redactedURLs(b.s.store))
		}
		if err != nil {
			return err
		}
		b.store, b.leases, b.close = store, store, store.Close
		return nil
	}
	store, err := openFile(ctx, b.c, b.s.data, sqlite.Options{
		Observe: b.commits.watched(b.hooks.Commits), Permit: b.permit, Existing: existing,
	})
	if err != nil {
		return err
	}
	b.store, b.close = store, store.Close
	return nil
}

// openFile opens the event store in a data directory. One of a former version is
// brought to the present form, which is shown, because it may take minutes.
func openFile(ctx context.Context, c *console, dir string, o sqlite.Options) (*sqlite.Store, error) {
	progress, end := renewing(c, dir)
	o.Renewing = progress
	store, err := sqlite.Open(ctx, dir, o)
	end()
	if errors.Is(err, eventstore.ErrNoStore) {
		return nil, noStore(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("event store in %s: %w", dir, err)
	}
	return store, nil
}

// renewing shows how far a store of a former version has come to the present form.
func renewing(c *console, where string) (tell func(done, total calendar.Position), end func()) {
	var bar *progress
	tell = func(done, total calendar.Position) {
		if bar == nil {
			fmt.Fprintf(c.err, "the event store in %s is of a former version and gets the present form; until that is done it stays as it is\n", where)
			bar = newProgress(c, "event store", "entries")
		}
		bar.set(int(done), int(total))
	}
	return tell, func() {
		if bar != nil {
			bar.done()
		}
	}
}

// tidy removes from the data directory what a killed process left. It needs the
// directory's lock.
func tidy(ctx context.Context, dir string, log *slog.Logger) {
	removeSocket(dir)
	if err := memindex.RemoveCutOff(filepath.Join(dir, snapshotFile)); err != nil {
		log.WarnContext(ctx, "remains of a snapshot not removed", "error", err)
	}
}
