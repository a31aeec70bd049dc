package projector

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/query/readmodel"
)

// hasDocument reports whether records of a kind are in the read model. Users are in no
// answer, and images are shown from the records that have them.
func hasDocument(kind calendar.Kind) bool { return slices.Contains(calendar.Kinds[:], kind) }

// stateOf returns the state of a record that an entry left.
func stateOf(entry *eventstore.Entry) eventstore.State {
	return eventstore.State{Kind: entry.Kind, ID: entry.ID, Version: entry.Version, Position: entry.Position, Record: entry.State}
}

// document returns the document of a stored state.
func document(state eventstore.State) (readmodel.Document, error) {
	record, err := calendar.DecodeRecord(state.Record)
	if err != nil {
		return readmodel.Document{}, fmt.Errorf("state of %s %d at version %d: %w", state.Kind, state.ID, state.Version, err)
	}
	if record.Kind != state.Kind || record.ID != state.ID || record.Version != state.Version {
		return readmodel.Document{}, fmt.Errorf("state of %s %d at version %d is that of %s %d at version %d",
			state.Kind, state.ID, state.Version, record.Kind, record.ID, record.Version)
	}
	return readmodel.Document{Position: state.Position, Record: record, Body: state.Record}, nil
}

// writeOutcome is what came of states that were offered to an index.
type writeOutcome struct {
	documents   int // that were written
	waiting     int // states behind one of their record that cannot be read
	quarantined []readmodel.Quarantined
	refused     error // why one of them is
}

// offer writes the documents of states, which are in order. A record stops at its first
// state that cannot be read or is refused.
func offer(ctx context.Context, index readmodel.Index, states []eventstore.State, reach calendar.Mark) (writeOutcome, error) {
	var out writeOutcome
	stopped := map[calendar.ID]readmodel.Quarantined{}
	stop := func(id calendar.ID, position calendar.Position, reason error) {
		out.refused = reason
		stopped[id] = readmodel.Quarantined{ID: id, Position: position, Reason: reason.Error()}
	}
	batch := readmodel.Batch{Reach: reach}
	for i := range states {
		state := &states[i]
		if _, waits := stopped[state.ID]; waits {
			out.waiting++
		} else if d, err := document(*state); err != nil {
			stop(state.ID, state.Position, err)
		} else {
			batch.Documents = append(batch.Documents, d)
		}
	}
	if len(batch.Documents) > 0 {
		errs, err := writeOnce(ctx, index, batch)
		if err != nil {
			return out, err
		}
		for i, refused := range slices.Backward(errs) {
			if refused == nil {
				out.documents++
			} else {
				stop(batch.Documents[i].Record.ID, batch.Documents[i].Position, refused)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(stopped)) {
		out.quarantined = append(out.quarantined, stopped[id])
	}
	return out, nil
}

// writeOnce writes a batch; an error that is no refusal fails it whole.
func writeOnce(ctx context.Context, index readmodel.Index, batch readmodel.Batch) ([]error, error) {
	errs, err := index.Write(ctx, batch)
	if err != nil {
		return nil, err
	}
	for i, err := range errs {
		if err != nil && !errors.Is(err, readmodel.ErrRefused) {
			return nil, fmt.Errorf("document of record %d: %w", batch.Documents[i].Record.ID, err)
		}
	}
	return errs, nil
}
