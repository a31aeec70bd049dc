package query

import (
	"slices"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// Withdrawn are records that lists of the past hold and a caller gets no more: they are
// left out, embedded ones too. Nil are none.
type Withdrawn struct {
	ids  [calendar.KindTag + 1][]calendar.ID // ascending
	hash calendar.Hash
}

// Add adds a record; ids of a kind come in ascending order, the kinds in any.
func (w *Withdrawn) Add(k calendar.Kind, id calendar.ID) {
	w.ids[k] = append(w.ids[k], id)
	w.hash += calendar.HashStart.Number(uint64(k)).Number(uint64(id)) // in any order of the kinds
}

// sum names the records.
func (w *Withdrawn) sum() uint64 {
	if w == nil {
		return 0
	}
	return uint64(w.hash)
}

func (w *Withdrawn) has(k calendar.Kind, id calendar.ID) bool {
	if w == nil {
		return false
	}
	_, found := slices.BinarySearch(w.ids[k], id)
	return found
}

// without returns the ids that stay.
func (w *Withdrawn) without(k calendar.Kind, ids []calendar.ID) []calendar.ID {
	if w == nil || len(w.ids[k]) == 0 {
		return ids
	}
	out := make([]calendar.ID, 0, len(ids))
	for _, id := range ids {
		if !w.has(k, id) {
			out = append(out, id)
		}
	}
	return out
}

// leaveOut adds to the filter of a list of a kind that they are not in it.
func (w *Withdrawn) leaveOut(f readmodel.And, k calendar.Kind) readmodel.And {
	if w == nil || len(w.ids[k]) == 0 {
		return f
	}
	return append(f, not(withIDs(w.ids[k])))
}
