package memindex_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"daybook/calendar"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
	"daybook/query/readmodel/readmodeltest"
)

// categories are the first ones.
func categories(n int) []calendar.ID {
	ids := make([]calendar.ID, n)
	for i := range ids {
		ids[i] = readmodeltest.CorpusCategory + calendar.ID(i)
	}
	return ids
}

// windows are lists of all events but for the first and the last, and of those that have
// a value.
func windows(held map[calendar.ID]readmodel.Document) []readmodel.Filter {
	var starts []int64
	for _, d := range held {
		if d.Record.Kind == calendar.KindEvent && !d.Record.Deleted {
			starts = append(starts, int64(d.Record.Fields.Wall(readmodel.FieldStart)))
		}
	}
	lo, hi, never := slices.Min(starts), slices.Max(starts), int64(math.MinInt64)
	behind, before := lo+1, hi-1
	from, to := lo+(hi-lo)/3, lo+(hi-lo)/2
	out := []readmodel.Filter{
		append(readmodeltest.Listed(), readmodel.Range{Field: readmodel.FieldStart, Min: &from}, readmodel.Range{Field: readmodel.FieldEnd, Max: &to}),
		append(readmodeltest.Listed(), readmodel.Range{Field: readmodel.FieldStart, Min: &from, Max: &to}, readmodel.Range{Field: readmodel.FieldPublished, Min: &never}),
		append(readmodeltest.Listed(), readmodel.Range{Field: readmodel.FieldEnd, Min: &to}),
		append(
			readmodeltest.Listed(), readmodel.Range{Field: readmodel.FieldStart, Min: &from},
			readmodel.In{Field: readmodel.FieldCategories, IDs: categories(10)},
		),
	}
	for _, r := range []readmodel.Range{
		{Field: readmodel.FieldStart, Min: &lo, Max: &hi},
		{Field: readmodel.FieldStart, Min: &behind, Max: &hi},
		{Field: readmodel.FieldStart, Min: &lo, Max: &before},
		{Field: readmodel.FieldStart, Max: &hi},
		{Field: readmodel.FieldPublished, Min: &never},
	} {
		out = append(out, append(readmodeltest.Listed(), r))
	}
	return out
}

// TestKeptPages: pages of lists that are asked for again and again, over several chunks
// of the order, are right after documents came, went and moved.
func TestKeptPages(t *testing.T) {
	t.Parallel()
	const n = 3000
	rng := rand.New(rand.NewPCG(5, 1))
	x, err := memindex.New(memindex.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := readmodeltest.NewCorpus(n, 3)
	held := map[calendar.ID]readmodel.Document{}
	write := func(b readmodel.Batch) error {
		for i, d := range b.Documents {
			if d.Record.ID%7 == 0 { // never published: a window of all times does not admit it
				r := *d.Record
				r.Fields = maps.Clone(r.Fields)
				delete(r.Fields, readmodel.FieldPublished)
				b.Documents[i].Record, d.Record = &r, &r
			}
			held[d.Record.ID] = d
		}
		_, err := x.Write(t.Context(), b)
		return err
	}
	if err := c.Fill(write); err != nil {
		t.Fatal(err)
	}
	for range 6 {
		for _, sort := range [][]readmodel.Sort{readmodeltest.ByStart(), {{Field: readmodel.FieldDate, Desc: true}, {Field: readmodel.FieldID, Desc: true}}} {
			var live []readmodel.Document
			for _, d := range held {
				if d.Record.Kind == calendar.KindEvent && !d.Record.Deleted {
					live = append(live, d)
				}
			}
			slices.SortFunc(live, func(a, b readmodel.Document) int { return readmodel.Compare(sort, &a, &b) })
			for _, f := range append(windows(held), readmodeltest.Listed(), readmodeltest.Window(0)) {
				var want []readmodel.Document
				for _, d := range live {
					if readmodel.Match(f, &d) {
						want = append(want, d)
					}
				}
				for range 8 {
					offset := rng.IntN(len(want))
					page, err := x.Search(t.Context(), readmodel.Query{Kind: calendar.KindEvent, Filter: f, Sort: sort, Offset: offset, Limit: 10})
					if err != nil || page.Total != len(want) {
						t.Fatalf("total %d, %v; want %d", page.Total, err, len(want))
					}
					got, right := page.Documents, want[offset:min(offset+10, len(want))]
					if !slices.EqualFunc(got, right, func(a, b readmodel.Document) bool { return a.Record.ID == b.Record.ID }) {
						t.Fatalf("from %d of %d by %s: %d documents, other ones than there should be", offset, len(want), sort[0].Field, len(got))
					}
				}
			}
		}
		var b readmodel.Batch
		for range 300 {
			d := c.Event(rng.IntN(n + 200))
			if rng.IntN(5) == 0 {
				r := *d.Record
				r.Deleted = true
				d.Record = &r
			}
			b.Documents = append(b.Documents, d)
		}
		last := b.Documents[len(b.Documents)-1]
		b.Mark = readmodeltest.At(last.Position)
		if err := write(b); err != nil {
			t.Fatal(err)
		}
	}
	counts, err := x.Counts(t.Context(), calendar.KindEvent, readmodel.FieldTags, readmodeltest.Listed())
	if err != nil {
		t.Fatal(err)
	}
	some, err := x.CountsOf(t.Context(), calendar.KindEvent, readmodel.FieldTags, readmodeltest.Listed(), slices.Collect(maps.Keys(counts)))
	if err != nil || !maps.Equal(some, counts) {
		t.Errorf("%d counts of all, %d of each, %v", len(counts), len(some), err)
	}
}
