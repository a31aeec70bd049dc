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

// document returns the document of a stored state, readmodel.ErrRefused where it cannot be
// read.
func document(state eventstore.State) (readmodel.Document, error) {
	record, err := calendar.DecodeRecord(state.Record)
	if err == nil && (record.Kind != state.Kind || record.ID != state.ID || record.Version != state.Version) {
		err = fmt.Errorf("it is that of %s %d at version %d", record.Kind, record.ID, record.Version)
	}
	if err != nil {
		return readmodel.Document{}, fmt.Errorf("%w: state of %s %d at version %d: %w", readmodel.ErrRefused, state.Kind, state.ID, state.Version, err)
	}
	return readmodel.Document{Position: state.Position, Record: record, Body: state.Record}, nil
}

// writeOutcome is what came of states that were offered to an index.
type writeOutcome struct {
	documents   int // that were written
	waiting     int // states behind one of their record that cannot be read
	quarantined []readmodel.Quarantined
	refused     error // readmodel.ErrRefused: why one of them is
}

// offer writes the documents of states, which are in order. A record stops at its first
// state that cannot be read or is refused; those of quarantined ones wait.
func offer(ctx context.Context, index readmodel.Index, states []eventstore.State, reach calendar.Mark, quarantined map[calendar.ID]bool) (writeOutcome, error) {
	var outcome writeOutcome
	stopped := map[calendar.ID]readmodel.Quarantined{}
	stop := func(id calendar.ID, position calendar.Position, reason error) {
		outcome.refused = reason
		stopped[id] = readmodel.Quarantined{ID: id, Position: position, Reason: reason.Error()}
	}
	batch := readmodel.Batch{Reach: reach}
	for i := range states {
		state := &states[i]
		if !hasDocument(state.Kind) {
			continue
		}
		if _, stops := stopped[state.ID]; stops || quarantined[state.ID] {
			outcome.waiting++
		} else if d, err := document(*state); err != nil {
			stop(state.ID, state.Position, err)
		} else {
			batch.Documents = append(batch.Documents, d)
		}
	}
	if len(batch.Documents) > 0 {
		errs, err := index.Write(ctx, batch)
		if err != nil {
			return outcome, err
		}
		for i, err := range slices.Backward(errs) {
			switch document := &batch.Documents[i]; {
			case err == nil:
				outcome.documents++
			case errors.Is(err, readmodel.ErrRefused):
				stop(document.Record.ID, document.Position, err)
			default:
				return outcome, fmt.Errorf("document of record %d: %w", document.Record.ID, err)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(stopped)) {
		outcome.quarantined = append(outcome.quarantined, stopped[id])
	}
	return outcome, nil
}

// quarantine returns which records an index has quarantined.
func quarantine(ctx context.Context, index readmodel.Index) (map[calendar.ID]bool, error) {
	list, err := index.Quarantined(ctx)
	result := make(map[calendar.ID]bool, len(list))
	for _, quarantined := range list {
		result[quarantined.ID] = true
	}
	return result, err
}
