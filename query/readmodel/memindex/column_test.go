package memindex

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/query/readmodel"
	"daybook/query/readmodel/readmodeltest"
)

// TestColumn: documents of none, one, two and more values, more values than a cell tells
// apart, and what is left over of those that changed.
func TestColumn(t *testing.T) {
	t.Parallel()
	const docs, values = 1000, 34_000
	rng := rand.New(rand.NewPCG(1, 2))
	c := &column{numbers: map[int64]uint32{}}
	c.room(docs)
	for v := range int64(values) { // in no order
		c.number(v * 7919 % values)
	}
	held := make([][]int64, docs)
	set := make(bitset, wordsFor(docs))
	for range 4 * docs {
		o := uint32(rng.IntN(docs))
		c.clear(o)
		held[o] = nil
		for range rng.IntN(5) {
			v := int64(rng.IntN(values))
			if rng.IntN(2) == 0 {
				v %= 10
			}
			if !slices.Contains(held[o], v) {
				held[o] = append(held[o], v)
				c.add(o, v)
			}
		}
		c.tidy()
		set[o>>6] ^= 1 << (o & 63)
	}
	if 2*c.loose > len(c.lists) {
		t.Errorf("%d of %d are loose", c.loose, len(c.lists))
	}
	want := map[int64]int{}
	set.each(func(o uint32) bool {
		for _, v := range held[o] {
			want[v]++
		}
		return true
	})
	counted := c.count(set)
	got := map[int64]int{}
	for _, v := range counted.list() {
		got[v.Value] = v.N
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if !slices.IsSortedFunc(counted.list(), func(a, b readmodel.Value) int { return int(a.Value - b.Value) }) {
		t.Error("values in no order")
	}
}

// TestTalliesFollow: what is counted in kept results, in windows of them and in others is
// right after documents came, went and changed, with values that nobody had before.
func TestTalliesFollow(t *testing.T) {
	t.Parallel()
	const n = 150
	rng := rand.New(rand.NewPCG(3, 1))
	x, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := readmodeltest.NewCorpus(n, 3)
	held := map[calendar.ID]readmodel.Document{}
	ids := func(most, from, among int) []calendar.ID {
		out := make([]calendar.ID, rng.IntN(most+1))
		for i := range out {
			out[i] = calendar.ID(from + rng.IntN(among))
		}
		return out
	}
	from := int64(calendar.Wall(readmodeltest.Now.Unix()))
	late := readmodel.Range{Field: readmodel.FieldStart, Min: &from}
	filters := []readmodel.Filter{
		readmodeltest.Listed(), // kept
		append(readmodeltest.Listed(), late),
		append(readmodeltest.Listed(), readmodel.Range{Field: readmodel.FieldStart, Max: &from}),
		append(readmodeltest.Listed(), readmodel.Not{Filter: readmodel.Range{Field: readmodel.FieldStart, Min: &from}}),
		append(readmodeltest.Listed(), readmodel.Range{Field: readmodel.FieldEnd, Min: &from}, readmodel.In{Field: readmodel.FieldTags, IDs: []calendar.ID{1, 2}}),
		late,
	}
	tree := readmodel.In{Field: readmodel.FieldCategories, IDs: []calendar.ID{1, 2, 3, 4}}
	about := []readmodel.Tally{
		{Field: readmodel.FieldCategories, Parts: []readmodel.Filter{tree, readmodel.In{Field: readmodel.FieldCategories, IDs: []calendar.ID{2, 3}}}},
		{Field: readmodel.FieldVenue, Groups: [][]calendar.ID{{1, 2, 3}, {4, 9}, {5, 6, 7, 8}}},
		{Field: readmodel.FieldTags},
		{Field: readmodel.FieldMonth, Parts: []readmodel.Filter{tree, featured}},
		{Field: readmodel.FieldWeekday},
		{Field: readmodel.FieldMinute, Parts: []readmodel.Filter{readmodel.Term{Field: readmodel.FieldAllDay, Value: "true"}}},
	}
	for round := range 4 {
		var b readmodel.Batch
		for range n {
			d := c.Event(rng.IntN(n))
			r := *d.Record
			r.Fields = maps.Clone(r.Fields)
			r.Fields["categories"], r.Fields["venue"], r.Fields["tags"] = ids(4, 1, 6), ids(2, 1, 9), ids(5, 1+500*round, 2*n)
			r.Fields["all_day"] = rng.IntN(5) == 0
			r.Deleted = rng.IntN(4) == 0
			d.Record = &r
			if d.Body, err = calendar.EncodeRecord(&r); err != nil {
				t.Fatal(err)
			}
			held[r.ID] = d
			b.Documents = append(b.Documents, d)
		}
		b.Mark = readmodeltest.At(b.Documents[n-1].Position)
		if _, err := x.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		for _, f := range filters {
			var in []readmodel.Document
			for _, d := range held {
				if !d.Record.Deleted && readmodel.Match(f, &d) {
					in = append(in, d)
				}
			}
			want := make([]readmodel.Tallied, len(about))
			for i := range about {
				want[i] = readmodel.TallyOf(&about[i], in)
			}
			for range 3 { // anew, kept, as it was
				got, err := x.Search(t.Context(), readmodel.Query{Kind: calendar.KindEvent, Filter: f, Tallies: []readmodel.Selection{{Tallies: about}}})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got.Tallied[0]); diff != "" {
					t.Fatalf("round %d: %+v (-want +got):\n%s", round, f, diff)
				}
			}
		}
		k := x.kinds[calendar.KindEvent]
		for field, c := range k.columns.of {
			if k.computed(field) {
				continue
			}
			if most := 2*len(k.links[field].values) + chunkSize; len(c.values) > most {
				t.Errorf("round %d: %d values of %s, at most %d wanted", round, len(c.values), field, most)
			}
		}
	}
}

var featured = readmodel.Term{Field: readmodel.FieldFeatured, Value: "true"}
