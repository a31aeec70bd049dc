package readmodel

import (
	"cmp"
	"context"
	"slices"

	"daybook/calendar"
)

// Tally asks what the documents that a filter admits have in a field, each document
// counted once for each value. The caller must not change it once it was asked: an index
// may know its lists by where they are.
type Tally struct {
	// Field is a field of numbers.
	Field string
	// Groups of its values are counted besides the values: a document counts
	// once in each group of which it has a value. A value is in one group at most.
	Groups [][]calendar.ID
	// Parts are counted by themselves: the documents that each of them admits. None has a
	// search in it.
	Parts []Filter
}

// Tallied is the answer to a Tally. The caller must not change it.
type Tallied struct {
	Values []Value // of the field, ascending; none with a count of 0
	Groups []int   // by place
	Parts  []int   // by place
}

// Value is how many documents have a value.
type Value struct {
	Value int64
	N     int
}

// CountOf returns the count of a value, 0 for one that is not there.
func CountOf(values []Value, value int64) int {
	at, ok := slices.BinarySearchFunc(values, value, func(v Value, value int64) int { return cmp.Compare(v.Value, value) })
	if !ok {
		return 0
	}
	return values[at].N
}

// Counts returns, for each value of a field of numbers (FieldVenue, FieldCategories …), how
// many documents of a kind a filter admits that have it. Values without any are absent, and
// so are all but ids, unless these are nil.
func Counts(ctx context.Context, v View, k calendar.Kind, field string, f Filter, ids []calendar.ID) (map[calendar.ID]int, error) {
	if ids != nil {
		f = Both(In{field, ids}, f) // few documents have them
	}
	page, err := v.Search(ctx, Query{Kind: k, Filter: f, Tallies: []Selection{{Tallies: []Tally{{Field: field}}}}})
	if err != nil {
		return nil, err
	}
	values := page.Tallied[0][0].Values
	counts := map[calendar.ID]int{}
	for _, v := range values {
		if ids == nil {
			counts[calendar.ID(v.Value)] = v.N
		}
	}
	for _, id := range ids {
		if n := CountOf(values, int64(id)); n > 0 {
			counts[id] = n
		}
	}
	return counts, nil
}

// Selection is what is asked of the documents that a filter admits.
type Selection struct {
	Filter  Filter
	Tallies []Tally
}

// TallyOf states the meaning of a Tally over the documents that the filter admits.
func TallyOf(t *Tally, docs []Document) Tallied {
	out := Tallied{Groups: make([]int, len(t.Groups)), Parts: make([]int, len(t.Parts))}
	counts := map[int64]int{}
	for i := range docs {
		d := &docs[i]
		for at, part := range t.Parts {
			if Match(part, d) {
				out.Parts[at]++
			}
		}
		if t.Field == "" {
			continue
		}
		numbers := SchemaOf(d.Record.Kind).Field(t.Field).Numbers(d.Record)
		for _, n := range numbers {
			counts[n]++
		}
		for at, group := range t.Groups {
			if slices.ContainsFunc(group, func(id calendar.ID) bool { return slices.Contains(numbers, int64(id)) }) {
				out.Groups[at]++
			}
		}
	}
	for v, n := range counts {
		out.Values = append(out.Values, Value{v, n})
	}
	SortValues(out.Values)
	return out
}

// SortValues puts values in ascending order.
func SortValues(values []Value) {
	slices.SortFunc(values, func(a, b Value) int { return cmp.Compare(a.Value, b.Value) })
}

// Searches reports whether a filter has a search in it.
func Searches(f Filter) bool {
	switch f := f.(type) {
	case Text:
		return true
	case Not:
		return Searches(f.Filter)
	case And:
		return slices.ContainsFunc(f, Searches)
	case Or:
		return slices.ContainsFunc(f, Searches)
	}
	return false
}

// Both admits what two filters admit; nil admits everything.
func Both(a, b Filter) Filter {
	if b == nil {
		return a
	}
	out := And{}
	for _, f := range []Filter{a, b} {
		if parts, ok := f.(And); ok {
			out = append(out, parts...)
		} else if f != nil {
			out = append(out, f)
		}
	}
	return out
}

// Collapse has a query give one document for each group of those that are equal in a
// number, and count groups: the first of the group in the order of the query. Documents
// without the number, and those that Alone admits, are groups of their own.
type Collapse struct {
	Field string
	Alone Filter // has no search in it; nil: none is
}

// Repeats is a group of documents of an event, see Collapse.
type Repeats struct {
	Count       int
	IDs         []calendar.ID // the first MostRepeats of them, in the order of the query
	First, Last calendar.Wall // the earliest and the latest start; NoWall where none has one
}

// MostRepeats is how many ids of a group are told.
const MostRepeats = 100

// Add adds a document to the group, the next one in order; it has a start, or NoWall.
func (r *Repeats) Add(id calendar.ID, start calendar.Wall) {
	if r.Count++; len(r.IDs) < MostRepeats {
		r.IDs = append(r.IDs, id)
	}
	if start == calendar.NoWall {
		return
	}
	if r.Count == 1 || r.First == calendar.NoWall {
		r.First, r.Last = start, start
	}
	r.First, r.Last = min(r.First, start), max(r.Last, start)
}

// Repeated states the meaning of a Collapse: the documents that are given of some in
// order, each with its group.
func Repeated(c *Collapse, docs []Document) []Document {
	var out []Document
	groups := map[int64]*Repeats{}
	for i := range docs {
		r := docs[i].Record
		numbers := SchemaOf(r.Kind).Field(c.Field).Numbers(r)
		has := len(numbers) > 0 && (c.Alone == nil || !Match(c.Alone, &docs[i]))
		var g *Repeats
		if has {
			g = groups[numbers[0]]
		}
		if g == nil {
			g = &Repeats{First: calendar.NoWall, Last: calendar.NoWall}
			out = append(out, docs[i])
			out[len(out)-1].Repeats = g
		}
		if has {
			groups[numbers[0]] = g
		}
		g.Add(r.ID, r.Fields.Wall("start_date"))
	}
	return out
}
