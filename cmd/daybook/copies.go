package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/postgres"
	"daybook/eventstore/sqlite"
	"daybook/eventstore/verify"
)

type migrateCommand struct {
	storeSettings

	ServiceRole string `placeholder:"ROLE" pattern:"^[A-Za-z_][A-Za-z0-9_-]{0,62}$" must:"be letters, digits, _ and -, beginning with a letter or _" help:"database role that gets the rights of the service, and no others"`
	To          string `placeholder:"URL" type:"urls" schemes:"postgres,postgresql" must:"be a postgres:// URL" secret:"" help:"postgres://… of an empty store, as the owner of its schema, into which the store in --data is copied"`
}

// Run brings the schema of a PostgreSQL event store to the present form as the role that
// owns it, so that the service can run as one that owns nothing.
func (migrateCommand *migrateCommand) Run(ctx context.Context, console *console) error {
	switch {
	case migrateCommand.To != "" && console.Store != "":
		return usageError("--to carries the store of a data directory, --store names another one")
	case migrateCommand.To != "":
		return perform(ctx, console, migrateCommand)
	case console.Store == "":
		return usageError("needs --store postgres://…, or --to postgres://… to carry the store of a data directory there; the event store in a data directory is brought to the present form when it is opened")
	}
	options := console.Database
	options.Log, options.ServiceRole = console.logger("warn"), migrateCommand.ServiceRole
	err := postgres.Migrate(ctx, console.Store, options)
	if err != nil {
		return fmt.Errorf("schema %s: %w", options.Schema, err)
	}
	return console.print("migrated", options)
}

// work takes the event store of the data directory whole into an empty one in
// PostgreSQL, in one transaction, and verifies both. The directory stays as it is.
func (migrateCommand *migrateCommand) work(ctx context.Context, console *console) error {
	if console.status != nil {
		return fmt.Errorf("%s is %w by the service, which has to end first", console.Data, errLocked)
	}
	before, err := verified(ctx, console, console.file)
	if err != nil {
		return fmt.Errorf("verify the store that is copied: %w", err)
	}
	options := console.Database
	options.ServiceRole, options.PollOnly = migrateCommand.ServiceRole, true
	whole := &eventstore.Copy{From: console.file, Receipts: console.file.Receipts(ctx)}
	after, err := copied(ctx, console, whole, func() (closingStore, error) {
		if err := postgres.Restore(ctx, migrateCommand.To, options, whole); err != nil {
			return nil, err
		}
		return postgres.Open(ctx, migrateCommand.To, options)
	})
	switch {
	case err != nil:
		return fmt.Errorf("copy: %w", err)
	case after.Entries != before.Entries || after.Head != before.Head:
		return fmt.Errorf("%w: the copy has %d entries and chain head %x, the other store %d and %x",
			eventstore.ErrDamaged, after.Entries, after.Head, before.Entries, before.Head)
	}
	return console.finish(nil, "%d entries were carried as they were written; chain head %x\n"+
		"Serve with --store from now on; the store in %s is not written any more.\n", after.Entries, after.Head, console.Data)
}

type closingStore interface {
	eventstore.Store
	Close() error
}

// copied makes a store that is a copy of another one, and verifies it.
func copied(ctx context.Context, console *console, whole *eventstore.Copy, create func() (closingStore, error)) (found verify.Findings, err error) {
	show, end := progress[calendar.Position](console, "copy", "entries")
	whole.Progress = show
	store, err := create()
	end()
	if err == nil {
		found, err = verified(ctx, console, store)
		err = errors.Join(err, store.Close())
	}
	return found, err
}

// verified verifies a store, and fails when it is not as it was written.
func verified(ctx context.Context, console *console, store eventstore.Store) (verify.Findings, error) {
	show, end := progress[calendar.Position](console, "verify", "entries")
	defer end()
	found, err := verify.Store(ctx, store, show)
	return found, cmp.Or(err, found.Err())
}

type auditReplay struct {
	Until string `required:"" commandline:"" placeholder:"POINT" help:"end of the replay, in the form of as_of for lists: a date or position:N"`
	Into  string `required:"" commandline:"" placeholder:"DIR" type:"directory" help:"empty directory for the new store"`
}

// wantEmpty refuses a directory that holds something else than one name.
func wantEmpty(directory, but string) error {
	found, err := os.ReadDir(directory)
	for _, entry := range found {
		if entry.Name() != but {
			return fmt.Errorf("%s must be empty, it holds %s", directory, entry.Name())
		}
	}
	return err
}

// work fills a store in a directory within directory, which takes its place when it is
// whole: of a run that was cut off there is no store, and directory is not empty.
func (auditReplay *auditReplay) work(ctx context.Context, console *console) (err error) {
	directory := auditReplay.Into
	point, err := console.pointOf(ctx, auditReplay.Until, false)
	if err != nil {
		return err
	}
	if err := cmp.Or(os.MkdirAll(directory, 0o700), wantEmpty(directory, "")); err != nil {
		return err
	}
	at, err := os.MkdirTemp(directory, "replay-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(at)) }()
	part := &eventstore.Copy{From: console.events, Until: eventstore.Point{Position: point.Position, Time: point.Time}}
	found, err := copied(ctx, console, part, func() (closingStore, error) {
		if err := sqlite.Create(ctx, at, part); err != nil {
			return nil, err
		}
		return sqlite.Open(ctx, at, sqlite.Options{})
	})
	claim, twice := errors.AsType[*eventstore.ClaimError](err)
	switch {
	case twice:
		return fmt.Errorf("at %s record %d and another one have the same %s %q by the times of their entries, which one store cannot hold; "+
			"--until position:N takes what the log held", point, claim.Holder, claim.Claim.Space, claim.Claim.Key)
	case err != nil:
		return err
	}
	if err := wantEmpty(directory, filepath.Base(at)); err != nil { // another run was quicker, and its store stays
		return err
	}
	if err := os.Rename(filepath.Join(at, sqlite.FileName), filepath.Join(directory, sqlite.FileName)); err != nil {
		return err
	}
	if file, err := os.Open(directory); err == nil {
		_ = file.Sync() // not every file system can; then the rename lasts when it lasts
		_ = file.Close()
	}
	fmt.Fprintf(console.output, "%s until %s in %s; chain head %x\n", counted(part.Entries, "entry", "entries"), point, directory, found.Head)
	if part.Same < part.Entries {
		fmt.Fprintf(console.output, "renumbered: from entry %d on positions are others than in the log, proofs of it end before that\n", part.Same+1)
	}
	return nil
}
