package readmodeltest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// want answers a query by the meaning alone.
func want(docs []readmodel.Document, q readmodel.Query) (ids []calendar.ID, total int) {
	var in []readmodel.Document
	for i := range docs {
		if docs[i].Record.Kind == q.Kind && !docs[i].Record.Deleted && readmodel.Match(q.Filter, &docs[i]) {
			in = append(in, docs[i])
		}
	}
	slices.SortFunc(in, func(a, b readmodel.Document) int { return readmodel.Compare(q.Sort, &a, &b) })
	lo := min(q.Offset, len(in))
	for _, d := range in[lo:min(lo+q.Limit, len(in))] {
		ids = append(ids, d.Record.ID)
	}
	return ids, len(in)
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
			ids, total := want(docs, q)
			page := search(t, x, q)
			if page.Total != total {
				t.Fatalf("round %d: %+v: total %d, want %d", round, q, page.Total, total)
			}
			if diff := cmp.Diff(ids, idsOf(page.Documents)); diff != "" {
				t.Fatalf("round %d: %+v: ids (-want +got):\n%s", round, q, diff)
			}
		}
	}
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
