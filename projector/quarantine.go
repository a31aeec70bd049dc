package projector

import (
	"context"
	"errors"
	"fmt"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/query/readmodel"
)

// Quarantined gives the records that are quarantined, by id, with the entry that
// stopped each.
func (p *Projector) Quarantined(ctx context.Context) ([]readmodel.Quarantined, error) {
	return p.index.Quarantined(ctx)
}

// Retry projects the present state of a record and ends its quarantine. It may
// be called while the projector runs, in this process or another one. Errors:
// eventstore.ErrNotFound for an unknown record, readmodel.ErrRefused when it
// cannot be projected still; then it stays quarantined.
func (p *Projector) Retry(ctx context.Context, store eventstore.Store, id calendar.ID) error {
	if err := heal(ctx, p.index, store, id); err != nil {
		return err
	}
	return p.refresh(ctx)
}

func heal(ctx context.Context, index readmodel.Index, store eventstore.Store, id calendar.ID) error {
	var written calendar.Position
	for {
		s, err := load(ctx, store, id)
		if err != nil {
			return err
		}
		if s.Position == written {
			return nil
		}
		reach, err := headOf(ctx, store)
		if err != nil {
			return fmt.Errorf("retry record %d: %w", id, err)
		}
		d, err := document(s.Kind, s.ID, s.Version, s.Position, s.Record)
		if err == nil {
			var errs []error
			if errs, err = writeOnce(ctx, index, readmodel.Batch{Documents: []readmodel.Document{d}, Reach: reach}); err != nil {
				return fmt.Errorf("retry record %d: %w", id, err)
			}
			err = errs[0]
		}
		if err != nil {
			still := readmodel.Batch{Reach: reach, Quarantined: []readmodel.Quarantined{{ID: id, Position: s.Position, Reason: err.Error()}}}
			if _, werr := writeOnce(ctx, index, still); werr != nil {
				return fmt.Errorf("retry record %d: %w", id, werr)
			}
			if !errors.Is(err, readmodel.ErrRefused) {
				err = fmt.Errorf("%w: %w", readmodel.ErrRefused, err)
			}
			return fmt.Errorf("retry record %d: %w", id, err)
		}
		if _, err := writeOnce(ctx, index, readmodel.Batch{Healed: []calendar.ID{id}}); err != nil {
			return fmt.Errorf("retry record %d: %w", id, err)
		}
		// An entry that the running projector passed over before it could see the
		// end of the quarantine is in the store by now: look once more.
		written = s.Position
	}
}

func load(ctx context.Context, store eventstore.Store, id calendar.ID) (eventstore.State, error) {
	states, err := store.Load(ctx, id)
	if err != nil {
		return eventstore.State{}, fmt.Errorf("load record %d: %w", id, err)
	}
	if len(states) != 1 || states[0].Version == 0 || !hasDocument(states[0].Kind) {
		return eventstore.State{}, fmt.Errorf("record %d: %w", id, eventstore.ErrNotFound)
	}
	return states[0], nil
}
