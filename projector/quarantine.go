package projector

import (
	"context"
	"errors"
	"fmt"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/query/readmodel"
)

// Retry projects the present state of a record and ends its quarantine. It may
// be called while a projector runs, in this process or another one. Errors:
// eventstore.ErrNotFound for an unknown record, readmodel.ErrRefused when it
// cannot be projected still; then it stays quarantined.
func Retry(ctx context.Context, store eventstore.Store, index readmodel.Index, id calendar.ID) error {
	for written := calendar.Position(0); ; {
		position, err := retry(ctx, store, index, id, written)
		if err != nil {
			return fmt.Errorf("retry record %d: %w", id, err)
		}
		// An entry that the running projector passed over before it could see the
		// end of the quarantine is in the store by now: look again.
		if position == written {
			return nil
		}
		written = position
	}
}

// retry projects the state of a record, unless it is of the entry that was written, and
// returns its position.
func retry(ctx context.Context, store eventstore.Store, index readmodel.Index, id calendar.ID, written calendar.Position) (calendar.Position, error) {
	states, err := store.Load(ctx, id)
	if err != nil {
		return 0, err
	}
	state := &states[0]
	if state.Version == 0 || !hasDocument(state.Kind) {
		return 0, eventstore.ErrNotFound
	}
	if state.Position == written {
		return written, nil
	}
	head, err := store.Head(ctx, eventstore.Point{})
	if err != nil {
		return 0, err
	}
	found, err := offer(ctx, index, states, head.Mark)
	if err != nil {
		return 0, err
	}
	end := readmodel.Batch{Healed: []calendar.ID{id}}
	refused := found.refused
	if refused != nil {
		end = readmodel.Batch{Reach: head.Mark, Quarantined: found.quarantined}
		if !errors.Is(refused, readmodel.ErrRefused) {
			refused = fmt.Errorf("%w: %w", readmodel.ErrRefused, refused)
		}
	}
	if _, err := writeOnce(ctx, index, end); err != nil {
		return 0, err
	}
	return state.Position, refused
}
