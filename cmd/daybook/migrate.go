package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/postgres"
	"daybook/eventstore/sqlite"
)

// runMigrate brings the schema of a PostgreSQL event store to the present form as
// the role that owns it, so that the service can run as one that owns nothing.
func runMigrate(ctx context.Context, c *console, s *settings, args []string) error {
	switch {
	case len(args) != 0:
		return usageError("takes no argument, not %q", args)
	case s.to != "" && s.store != "":
		return usageError("--to carries the store of a data directory, --store names another one")
	case s.to != "":
		return carry(ctx, c, s)
	case s.store == "":
		return usageError("needs --store postgres://…, or --to postgres://… to carry the store of a data directory there; the event store in a data directory is brought to the present form when it is opened")
	}
	err := postgres.Migrate(ctx, s.store, postgres.Options{Schema: s.storeSchema, ServiceRole: s.serviceRole})
	if err != nil {
		return fmt.Errorf("schema %s: %w", s.storeSchema, err)
	}
	if s.serviceRole == "" {
		_, err = fmt.Fprintf(c.out, "schema %s has the present form\n", s.storeSchema)
		return err
	}
	_, err = fmt.Fprintf(c.out, "schema %s has the present form, and role %s its rights\n", s.storeSchema, s.serviceRole)
	return err
}

// carry takes the event store of the data directory whole into an empty one in
// PostgreSQL, in one transaction, and verifies both. The directory stays as it is.
func carry(ctx context.Context, c *console, s *settings) (err error) {
	if err := wantStore(s); err != nil {
		return err
	}
	var lock *os.File
	err = whileLocked(ctx, holderWait, func(context.Context) (err error) {
		lock, err = lockData(s.data, false, "migrate")
		return err
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	from, err := openFile(ctx, s, sqlite.Options{Existing: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := postgres.Open(ctx, s.to, postgres.Options{Schema: s.storeSchema, ServiceRole: s.serviceRole, PollOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	var bar *progress
	at := ""
	end := func() {
		if bar != nil {
			bar.done()
		}
	}
	hash, n, err := eventstore.Copy(ctx, from, to, func(step string, done, total calendar.Position) {
		if step != at {
			end()
			at, bar = step, newProgress(c, step, "entries")
		}
		bar.set(int(done), int(total))
	})
	end()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.out, "%d entries were carried as they were written; chain head %x\n"+
		"Serve with --store from now on; the store in %s is not written any more.\n", n, hash, s.data)
	return err
}
