package readmodel

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"daybook/calendar"
)

// Titles asks for the first names of the documents that a filter admits, each once, however
// many have its words.
type Titles struct {
	Kind   calendar.Kind // events
	Filter Filter
	Lang   calendar.Lang // in which names are shown
	Sort   []Sort        // as that of a Query
	Limit  int
	Fields []string // that are wanted of the records; nil: all. The caller must not change it
}

// Title is a name: the first record in order that has it, with the wanted fields at least,
// and how many have it.
type Title struct {
	Record *calendar.Record
	Count  int
}

// Query asks for the documents in the order of the names.
func (q *Titles) Query(limit int) Query {
	return Query{Kind: q.Kind, Filter: q.Filter, Sort: q.Sort, Limit: limit}
}

// CheckTitles is Check for Index.Titles.
func CheckTitles(q Titles) error {
	if q.Kind != calendar.KindEvent {
		return fmt.Errorf("%w: names of %s", ErrQuery, q.Kind.Collection())
	}
	return Check(q.Query(q.Limit))
}

// TitleOf gives the words of the shown name of a record, and the language that they are in.
func TitleOf(r *calendar.Record, l calendar.Lang) ([]string, calendar.Lang) {
	name, in := r.Name(l)
	return Tokens(name), in
}

// TitleKey names the words of a name: equal ones have equal words.
func TitleKey(words []string) string { return strings.Join(words, " ") }

// TitlesOf states the meaning of Titles over the documents that the filter admits.
func TitlesOf(q Titles, docs []Document) []Title {
	sorted := slices.Clone(docs)
	slices.SortFunc(sorted, func(a, b Document) int { return Compare(q.Sort, &a, &b) })
	var out []Title
	at := map[string]int{}
	for i := range sorted {
		words, _ := TitleOf(sorted[i].Record, q.Lang)
		key := TitleKey(words)
		if _, known := at[key]; !known {
			at[key] = len(out)
			out = append(out, Title{Record: sorted[i].Record})
		}
		out[at[key]].Count++
	}
	return out[:min(len(out), q.Limit)]
}

// foldTitle returns a title in the form in which titles are compared: folded, with runs of
// white space as one blank. All signs stay.
func foldTitle(title string) string { return strings.Join(strings.Fields(Fold(title)), " ") }

// titleKey is a number of 63 bits that events share whose names in a language are equal,
// see foldTitle.
func titleKey(l calendar.Lang) Field {
	return Field{Name: FieldTitleKey(l), Type: TypeNumber, From: []string{"title"}, number: func(r *calendar.Record) (int64, bool) {
		name, _ := r.Name(l)
		sum := sha256.Sum256([]byte(foldTitle(name)))
		return int64(binary.BigEndian.Uint64(sum[:]) & math.MaxInt64), true
	}}
}
