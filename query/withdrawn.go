package query

import (
	"slices"

	"daybook/calendar"
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

// of returns those of a kind.
func (w *Withdrawn) of(k calendar.Kind) []calendar.ID {
	if w == nil {
		return nil
	}
	return w.ids[k]
}

func (w *Withdrawn) has(k calendar.Kind, id calendar.ID) bool {
	_, found := slices.BinarySearch(w.of(k), id)
	return found
}
