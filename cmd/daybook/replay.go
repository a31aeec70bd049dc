package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"daybook/eventstore"
	"daybook/eventstore/sqlite"
	"daybook/internal/history"
)

type auditReplay struct {
	Until string `required:"" commandline:"" placeholder:"POINT" help:"end of the replay, in the form of as_of for lists: a date or position:N"`
	Into  string `required:"" commandline:"" placeholder:"DIR" type:"directory" help:"empty directory for the new store"`
}

// wantEmpty refuses a directory that holds anything but what is named; one that is not
// there is empty.
func wantEmpty(dir, but string) error {
	found, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, entry := range found {
		if entry.Name() != but {
			return fmt.Errorf("%s must be empty, it holds %s", dir, entry.Name())
		}
	}
	return nil
}

// work fills a store in a directory within dir, which takes its place when it is
// whole: of a run that was cut off there is no store, and dir is not empty.
func (cmd *auditReplay) work(ctx context.Context, console *console) (err error) {
	dir := cmd.Into
	point, err := console.pointOf(ctx, history.New(console.events, time.Now), cmd.Until, false)
	if err != nil {
		return err
	}
	if err := wantEmpty(dir, ""); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	at, err := os.MkdirTemp(dir, "replay-")
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
	if err := wantEmpty(dir, filepath.Base(at)); err != nil { // another run was quicker
		return err
	}
	if err := os.Rename(filepath.Join(at, sqlite.FileName), filepath.Join(dir, sqlite.FileName)); err != nil {
		return err
	}
	if file, err := os.Open(dir); err == nil {
		_ = file.Sync() // not every file system can; then the rename lasts when it lasts
		_ = file.Close()
	}
	fmt.Fprintf(console.out, "%s until %s in %s; chain head %x\n", counted(int(part.Entries), "entry", "entries"), point, dir, found.Head)
	if part.Same < part.Entries {
		fmt.Fprintf(console.out, "renumbered: from entry %d on positions are others than in the log, proofs of it end before that\n", part.Same+1)
	}
	return nil
}
