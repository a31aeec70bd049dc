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
func hasDocument(k calendar.Kind) bool { return slices.Contains(calendar.Kinds[:], k) }

// stateOf returns the state of a record that an entry left.
func stateOf(e *eventstore.Entry) eventstore.State {
	return eventstore.State{Kind: e.Kind, ID: e.ID, Version: e.Version, Position: e.Position, Record: e.State}
}

// document returns the document of a stored state.
func document(s eventstore.State) (readmodel.Document, error) {
	r, err := calendar.DecodeRecord(s.Record)
	if err != nil {
		return readmodel.Document{}, fmt.Errorf("state of %s %d at version %d: %w", s.Kind, s.ID, s.Version, err)
	}
	if r.Kind != s.Kind || r.ID != s.ID || r.Version != s.Version {
		return readmodel.Document{}, fmt.Errorf("state of %s %d at version %d is that of %s %d at version %d",
			s.Kind, s.ID, s.Version, r.Kind, r.ID, r.Version)
	}
	return readmodel.Document{Position: s.Position, Record: r, Body: s.Record}, nil
}

// offered is what came of states that were offered to an index.
type offered struct {
	documents   int // that were written
	waiting     int // states behind one of their record that cannot be read
	quarantined []readmodel.Quarantined
	refused     error // why one of them is
}

// offer writes the documents of states, which are in order. A record stops at its first
// state that cannot be read or is refused.
func offer(ctx context.Context, index readmodel.Index, states []eventstore.State, reach calendar.Mark) (offered, error) {
	var out offered
	stopped := map[calendar.ID]readmodel.Quarantined{}
	stop := func(id calendar.ID, at calendar.Position, reason error) {
		out.refused = reason
		stopped[id] = readmodel.Quarantined{ID: id, Position: at, Reason: reason.Error()}
	}
	b := readmodel.Batch{Reach: reach}
	for i := range states {
		s := &states[i]
		if _, waits := stopped[s.ID]; waits {
			out.waiting++
		} else if d, err := document(*s); err != nil {
			stop(s.ID, s.Position, err)
		} else {
			b.Documents = append(b.Documents, d)
		}
	}
	if len(b.Documents) > 0 {
		errs, err := writeOnce(ctx, index, b)
		if err != nil {
			return out, err
		}
		for i, refused := range slices.Backward(errs) {
			if refused == nil {
				out.documents++
			} else {
				stop(b.Documents[i].Record.ID, b.Documents[i].Position, refused)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(stopped)) {
		out.quarantined = append(out.quarantined, stopped[id])
	}
	return out, nil
}

// writeOnce writes a batch; an error that is no refusal fails it whole.
func writeOnce(ctx context.Context, index readmodel.Index, b readmodel.Batch) ([]error, error) {
	errs, err := index.Write(ctx, b)
	if err != nil {
		return nil, err
	}
	for i, err := range errs {
		if err != nil && !errors.Is(err, readmodel.ErrRefused) {
			return nil, fmt.Errorf("document of record %d: %w", b.Documents[i].Record.ID, err)
		}
	}
	return errs, nil
}
