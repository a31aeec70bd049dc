package eventstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"daybook/calendar"
)

// ErrNotEmpty says that a store that is to take over another one holds something.
var ErrNotEmpty = errors.New("event store is not empty")

// KeptReceipt is a receipt with when it was kept, by the clock of the store.
type KeptReceipt struct {
	Receipt

	Kept time.Time
}

// Dumper is a store that can be carried whole into another one. With what a
// Verifier gives, this is all that a store holds but leases.
type Dumper interface {
	Verifier
	// Receipts gives up to limit receipts after a cursor, 0 at first, and the
	// cursor behind them.
	Receipts(ctx context.Context, after int64, limit int) ([]KeptReceipt, int64, error)
}

// Restorer is a store that can take over what another one holds.
type Restorer interface {
	Verifier
	// Restore takes over all that a store holds up to its present head, with the
	// same positions, versions, times, leaves and commits, secrets and receipts
	// included. It does so whole or not at all. progress, when not nil, is told
	// how many entries are carried. Errors: ErrNotEmpty, ErrUnavailable,
	// ErrClosed, those of the other store.
	Restore(ctx context.Context, from Dumper, progress func(done, total calendar.Position)) error
}

// Copy carries a store into an empty one, and verifies both: the one before it
// is read, the other after it is written. It gives the hash of the last commit
// and the number of entries, which are the same in both. Nobody may append to
// the first meanwhile; when somebody did, that is an error.
//
// progress, when not nil, is told what is done ("verify", "copy", "verify copy")
// and how far it is.
func Copy(ctx context.Context, from Dumper, to Restorer, progress func(step string, done, total calendar.Position)) (hash [32]byte, entries calendar.Position, err error) {
	step := func(name string) func(done, total calendar.Position) {
		if progress == nil {
			return nil
		}
		return func(done, total calendar.Position) { progress(name, done, total) }
	}
	head, err := to.Head(ctx)
	if err != nil {
		return hash, 0, err
	}
	if head > 0 {
		return hash, 0, fmt.Errorf("%w: it has %d entries", ErrNotEmpty, head)
	}
	before, err := Verify(ctx, from, step("verify"))
	if err == nil {
		err = before.Err()
	}
	if err != nil {
		return hash, 0, fmt.Errorf("verify the store that is copied: %w", err)
	}
	if err := to.Restore(ctx, from, step("copy")); err != nil {
		return hash, 0, fmt.Errorf("copy: %w", err)
	}
	after, err := Verify(ctx, to, step("verify copy"))
	if err == nil {
		err = after.Err()
	}
	switch {
	case err != nil:
		return hash, 0, fmt.Errorf("verify the copy: %w", err)
	case after.Entries != before.Entries:
		return hash, 0, fmt.Errorf("the store that was copied went on from %d to %d: drop the copy and copy again", before.Entries, after.Entries)
	case after.Hash != before.Hash:
		return hash, 0, fmt.Errorf("%w: the chain of the copy ends with %x, that of the other store with %x", ErrDamaged, after.Hash, before.Hash)
	}
	return after.Hash, after.Entries, nil
}
