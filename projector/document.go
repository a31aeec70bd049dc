package projector

import (
	"fmt"
	"slices"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// hasDocument reports whether records of a kind are in the read model. Users are in no
// answer, and images are shown from the records that have them.
func hasDocument(k calendar.Kind) bool { return slices.Contains(calendar.Kinds[:], k) }

// document returns the document of a stored state.
func document(k calendar.Kind, id calendar.ID, version int64, at calendar.Position, state []byte) (readmodel.Document, error) {
	r, err := calendar.DecodeRecord(state)
	if err != nil {
		return readmodel.Document{}, fmt.Errorf("state of %s %d at version %d: %w", k, id, version, err)
	}
	if r.Kind != k || r.ID != id || r.Version != version {
		return readmodel.Document{}, fmt.Errorf("state of %s %d at version %d is that of %s %d at version %d",
			k, id, version, r.Kind, r.ID, r.Version)
	}
	return readmodel.Document{Position: at, Record: r, Body: state}, nil
}
