package sqlite

import (
	"context"
	"errors"
	"fmt"

	"daybook/eventstore"
)

// Create makes a store as Open does and fills it, whole or not at all, with what another
// one holds. Errors: eventstore.ErrNotEmpty; those of eventstore.Restore.
func Create(ctx context.Context, path string, from *eventstore.Copy) error {
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	if err = eventstore.ErrNotEmpty; s.signal.Head().Position == 0 && s.readOnly == nil {
		err = s.write(ctx, func(context.Context) error { return eventstore.Restore(ctx, target{s}, from) }) // the context ends the reading
	}
	if err != nil {
		err = fmt.Errorf("create event store %s: %w", path, err)
	}
	return errors.Join(err, s.Close())
}

// target implements eventstore.Target in a transaction.
type target struct{ *Store }

func (t target) InsertCommit(ctx context.Context, g *eventstore.Group) error {
	return t.inserting(ctx, func(do statement) { insertLog(do, g) })
}

func (t target) InsertRecords(ctx context.Context, c eventstore.Changes) error {
	return t.inserting(ctx, func(do statement) { insertRecords(do, c) })
}

func (t target) InsertRest(ctx context.Context, redacted []eventstore.Entry, receipts []eventstore.Receipt, checkpoints []eventstore.Checkpoint, uuid [16]byte) error {
	return t.inserting(ctx, func(do statement) {
		for i := range redacted {
			insertRedacted(do, &redacted[i])
		}
		for i := range receipts {
			insertReceipt(do, &receipts[i])
		}
		for i := range checkpoints {
			insertCheckpoint(do, &checkpoints[i])
		}
		do("UPDATE identity SET uuid = ?", uuid[:])
	})
}
