package readmodeltest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// want answers a query by the meaning alone.
func want(docs []readmodel.Document, q readmodel.Query) (ids []calendar.ID, groups []*readmodel.Repeats, total int) {
	var in []readmodel.Document
	for i := range docs {
		if docs[i].Record.Kind == q.Kind && !docs[i].Record.Deleted && readmodel.Match(q.Filter, &docs[i]) && readmodel.Match(q.Narrow, &docs[i]) {
			in = append(in, docs[i])
		}
	}
	slices.SortFunc(in, func(a, b readmodel.Document) int { return readmodel.Compare(q.Sort, &a, &b) })
	if q.Collapse != nil {
		in = readmodel.Repeated(q.Collapse, in)
	}
	if q.After != nil {
		q.Offset = slices.IndexFunc(in, func(d readmodel.Document) bool {
			return readmodel.ComparePlaces(q.Sort, readmodel.Place(q.Sort, d.Record), q.After) > 0
		})
		if q.Offset < 0 {
			q.Offset = len(in)
		}
	}
	lo := min(q.Offset, len(in))
	for _, d := range in[lo:min(lo+q.Limit, len(in))] {
		ids = append(ids, d.Record.ID)
		if q.Collapse != nil {
			groups = append(groups, d.Repeats)
		}
	}
	return ids, groups, len(in)
}

func idsOf(docs []readmodel.Document) []calendar.ID {
	if len(docs) == 0 {
		return nil
	}
	ids := make([]calendar.ID, len(docs))
	for i := range docs {
		ids[i] = docs[i].Record.ID
	}
	return ids
}

// differential writes random documents of a kind, again and again, and compares
// random queries with the meaning.
func differential(t testing.TB, x readmodel.Index, k calendar.Kind, rounds, queries int) {
	t.Helper()
	g := newGenerator(uint64(k))
	s := readmodel.SchemaOf(k)
	held := map[calendar.ID]readmodel.Document{}
	position := calendar.Position(0)
	// Some queries are asked again and again, as an index may keep what they find.
	standing := make([]readmodel.Query, 6)
	for i := range standing {
		standing[i] = readmodel.Query{Kind: k, Filter: g.filter(s, 1+i%2), Sort: g.order(s), Limit: 1 + g.IntN(60)}
	}
	ask := func(round int, docs []readmodel.Document, q readmodel.Query) {
		t.Helper()
		ids, groups, total := want(docs, q)
		page := search(t, x, q)
		if page.Total != total {
			t.Fatalf("round %d: %+v: total %d, want %d", round, q, page.Total, total)
		}
		if diff := cmp.Diff(ids, idsOf(page.Documents)); diff != "" {
			t.Fatalf("round %d: %+v: ids (-want +got):\n%s", round, q, diff)
		}
		wantTallies(t, page.Tallied, docs, q)
		for i, g := range groups {
			if diff := cmp.Diff(g, page.Documents[i].Repeats); diff != "" {
				t.Fatalf("round %d: %+v: group %d (-want +got):\n%s", round, q, i, diff)
			}
		}
	}
	for round := range rounds {
		var b readmodel.Batch
		for range 1 + g.IntN(150) {
			position++
			id := calendar.ID(1000*int64(k) + 1 + g.Int64N(250))
			d := document(g.record(k, id), position)
			if was, ok := held[id]; ok {
				d = document(g.change(was.Record), position)
			}
			held[id] = d
			b.Documents = append(b.Documents, d)
		}
		b.Mark = At(position)
		write(t, x, b)
		docs := make([]readmodel.Document, 0, len(held))
		for _, d := range held {
			docs = append(docs, d)
		}
		for range queries {
			q := readmodel.Query{
				Kind: k, Filter: g.filter(s, 2), Sort: g.order(s), Limit: 1 + g.IntN(60), Offset: g.IntN(3) * g.IntN(60),
			}
			if k.IsPost() && g.chance(30) {
				g.rank(s, &q)
			}
			if k == calendar.KindEvent && g.chance(20) {
				q.Collapse = g.collapse(s)
			} else if g.chance(40) && !slices.ContainsFunc(q.Sort, func(by readmodel.Sort) bool { return by.Rank == nil && s.Field(by.Field).Type == readmodel.TypeKeyword }) {
				q.Offset, q.After = 0, readmodel.Place(q.Sort, docs[g.IntN(len(docs))].Record)
			}
			if k == calendar.KindEvent && g.chance(40) {
				q = g.withTallies(s, q)
			}
			ask(round, docs, q)
		}
		for _, q := range standing {
			q.Offset = g.IntN(3) * g.IntN(60)
			ask(round, docs, q)
			if k == calendar.KindEvent {
				ask(round, docs, g.withTallies(s, q))
				q.Collapse = g.collapse(s)
				ask(round, docs, q)
				q.Collapse = nil
			}
			for i := range s.Fields {
				if f := &s.Fields[i]; f.Type == readmodel.TypeIDs {
					counts := countsOf(docs, q, f)
					wantCounts(t, x, k, f.Name, q.Filter, counts)
					wantSome(t, x, q, f.Name, counts)
				}
			}
		}
	}
}

// wantSome compares the counts of some ids where an index tells them.
func wantSome(t testing.TB, x readmodel.Index, q readmodel.Query, field string, all map[calendar.ID]int) {
	t.Helper()
	c, ok := x.(readmodel.Counter)
	if !ok {
		return
	}
	some, want := []calendar.ID{1, 1_000_000}, map[calendar.ID]int{}
	for id := range all {
		if id%2 == 1 {
			some = append(some, id)
		}
	}
	for _, id := range some {
		if n := all[id]; n > 0 {
			want[id] = n
		}
	}
	got, err := c.CountsOf(t.Context(), q.Kind, field, q.Filter, some)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Fatalf("counts of some %s with %+v: %v (-want +got):\n%s", field, q.Filter, err, diff)
	}
}

// countsOf counts the values of an id field by the meaning alone.
func countsOf(docs []readmodel.Document, q readmodel.Query, f *readmodel.Field) map[calendar.ID]int {
	out := map[calendar.ID]int{}
	for i := range docs {
		if r := docs[i].Record; r.Kind == q.Kind && !r.Deleted && readmodel.Match(q.Filter, &docs[i]) {
			ids := slices.Clone(f.IDs(r))
			slices.Sort(ids)
			for _, id := range slices.Compact(ids) {
				out[id]++
			}
		}
	}
	return out
}

// change makes a newer state of a record: all new, one field new, or gone.
func (g generator) change(r *calendar.Record) *calendar.Record {
	fresh := g.record(r.Kind, r.ID)
	fresh.Version = r.Version + 1
	switch {
	case g.chance(10):
		fresh.Deleted = true
	case g.chance(50) && !r.Deleted:
		changed := *r
		changed.Version++
		changed.Fields = calendar.Fields{}
		for name, v := range r.Fields {
			changed.Fields[name] = v
			if w, ok := fresh.Fields[name]; ok && g.chance(20) && name != r.Kind.NameField() {
				changed.Fields[name] = w
			}
		}
		return &changed
	}
	return fresh
}
