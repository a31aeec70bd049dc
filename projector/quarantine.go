package projector

import (
	"context"
	"errors"
	"fmt"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/query/readmodel"
)

// ErrNotFound says that Retry knows no such record.
var ErrNotFound = errors.New("record not found")

// Retry projects the present state of a record and ends its quarantine. It may
// be called while a projector runs, in this process or another one. Errors:
// ErrNotFound for an unknown record, readmodel.ErrRefused when it
// cannot be projected still; then it stays quarantined.
func Retry(ctx context.Context, store eventstore.Store, index readmodel.Index, id calendar.ID) error {
	// An entry that the running projector passed over before it could see the end of the
	// quarantine is in the store by the second time.
	for range 2 {
		if err := retry(ctx, store, index, id); err != nil {
			return fmt.Errorf("retry record %d: %w", id, err)
		}
	}
	return nil
}

func retry(ctx context.Context, store eventstore.Store, index readmodel.Index, id calendar.ID) error {
	states, err := store.Load(ctx, id)
	if err != nil {
		return err
	}
	if states[0].Version == 0 || !hasDocument(states[0].Kind) {
		return ErrNotFound
	}
	head, err := store.Head(ctx, eventstore.Point{})
	if err != nil {
		return err
	}
	found, err := offer(ctx, index, states, head.Mark, nil)
	if err != nil {
		return err
	}
	end := readmodel.Batch{Healed: []calendar.ID{id}}
	if found.refused != nil {
		end = readmodel.Batch{Reach: head.Mark, Quarantined: found.quarantined}
	}
	if _, err = index.Write(ctx, end); err != nil {
		return err
	}
	return found.refused
}
