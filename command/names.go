package command

import (
	"slices"

	"golang.org/x/text/unicode/norm"

	"daybook/calendar"
	"daybook/internal/htmltext"
)

// showsName reports whether the name shown in a language has the key.
func showsName(r *calendar.Record, l calendar.Lang, key string) bool {
	shown, _ := r.Name(l)
	return htmltext.NameKey(shown) == key
}

func nameOf(k calendar.Kind, key string) calendar.Name {
	return calendar.Name{Space: "name/" + k.String(), Key: key}
}

// spellings returns the names under which records of a key are stored: the key itself
// first, then its decomposed form, which names had that were stored as they were sent.
func spellings(n calendar.Name) []calendar.Name {
	old := calendar.Name{Space: n.Space, Key: calendar.Fold(norm.NFD.String(n.Key))}
	if old == n {
		return []calendar.Name{n}
	}
	return []calendar.Name{n, old}
}

// ascending returns all ids, each once.
func ascending(lists ...[]calendar.ID) []calendar.ID {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(lists...))))
}
