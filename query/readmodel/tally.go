package readmodel

import (
	"cmp"
	"fmt"
	"slices"

	"daybook/calendar"
)

// Tally asks what the documents that a filter admits have in a field, each document
// counted once for each value. The caller must not change it once it was asked: an index
// may know its lists by where they are.
type Tally struct {
	// Field is an id field or a number that follows from others.
	Field string
	// Groups of values of an id field are counted besides the values: a document counts
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
		f := SchemaOf(d.Record.Kind).Field(t.Field)
		if f.Type == TypeComputed {
			if n, ok := f.Number(d.Record); ok {
				counts[n]++
			}
			continue
		}
		ids := slices.Clone(f.IDs(d.Record))
		slices.Sort(ids)
		for _, id := range slices.Compact(ids) {
			counts[int64(id)]++
		}
		for at, group := range t.Groups {
			if slices.ContainsFunc(group, func(id calendar.ID) bool { return slices.Contains(ids, id) }) {
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

// checkTallies is the part of Check about them.
func (s *Schema) checkTallies(of []Selection) error {
	for i := range of {
		if err := s.check(of[i].Filter); err != nil {
			return err
		}
		for j := range of[i].Tallies {
			t := &of[i].Tallies[j]
			if err := s.checkAll(t.Parts); err != nil {
				return err
			}
			if slices.ContainsFunc(t.Parts, Searches) {
				return fmt.Errorf("%w: a part of a tally with a search", ErrQuery)
			}
			switch {
			case t.Field == "" && t.Groups == nil:
				continue
			case t.Field == FieldID:
				return fmt.Errorf("%w: a tally by id", ErrQuery)
			case t.Groups != nil:
				if err := s.want(t.Field, TypeIDs); err != nil {
					return err
				}
			}
			if err := s.want(t.Field, TypeIDs, TypeComputed); err != nil {
				return err
			}
		}
	}
	return nil
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
		n, has := SchemaOf(r.Kind).Field(c.Field).Number(r)
		has = has && (c.Alone == nil || !Match(c.Alone, &docs[i]))
		g := groups[n]
		if !has || g == nil {
			g = &Repeats{First: calendar.NoWall, Last: calendar.NoWall}
			out = append(out, docs[i])
			out[len(out)-1].Repeats = g
		}
		if has {
			groups[n] = g
		}
		g.Add(r.ID, r.Fields.Wall("start_date"))
	}
	return out
}

// repeatsField is a number of 63 bits that events share that have the same title in their
// home language, see foldTitle, and the same list of venues.
func repeatsField() Field {
	return Field{Name: FieldRepeats, Type: TypeNumber, From: []string{"title", "venue"}, number: func(r *calendar.Record) (int64, bool) {
		key := foldTitle(r.Fields.Text("title")[r.Home])
		for _, id := range r.Fields.IDs("venue") {
			key += "\n" + id.String() // a line break is in no title
		}
		return keyNumber(key)
	}}
}
