package readmodeltest

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"daybook/calendar"
	"daybook/query/readmodel"
)

func tallyCases() []testCase {
	return []testCase{
		{"tally by values", tallyByValues},
		{"tally by groups", tallyByGroups},
		{"tally by parts", tallyByParts},
		{"tallies of selections", talliesOfSelections},
		{"tallies beside a page", talliesBesideAPage},
		{"tallies of the state of the page", talliesOfOneState},
		{"collapse", collapse},
		{"stamp", stamp},
	}
}

func links(list ...calendar.ID) []calendar.ID { return list }

// tally asks one thing of what a filter admits.
func tally(t testing.TB, x readmodel.Index, f readmodel.Filter, about readmodel.Tally) readmodel.Tallied {
	t.Helper()
	return tallies(t, x, f, readmodel.Selection{Tallies: []readmodel.Tally{about}})[0][0]
}

func tallies(t testing.TB, x readmodel.Index, base readmodel.Filter, of ...readmodel.Selection) [][]readmodel.Tallied {
	t.Helper()
	return search(t, x, readmodel.Query{Kind: calendar.KindEvent, Filter: base, Tallies: of}).Tallied
}

func wantTallied(t testing.TB, what string, got, want readmodel.Tallied) {
	t.Helper()
	if diff := cmp.Diff(want.Values, got.Values); diff != "" {
		t.Errorf("%s: values (-want +got):\n%s", what, diff)
	}
	if !slices.Equal(got.Groups, want.Groups) || !slices.Equal(got.Parts, want.Parts) {
		t.Errorf("%s: groups %v and parts %v, want %v and %v", what, got.Groups, got.Parts, want.Groups, want.Parts)
	}
}

func pairs(list ...int) (out []readmodel.Value) {
	for i := 0; i < len(list); i += 2 {
		out = append(out, readmodel.Value{Value: int64(list[i]), N: list[i+1]})
	}
	return out
}

// bands are events for tallies: two of a venue of their own, one of three venues, one
// that names a venue twice.
func bands(t testing.TB, x readmodel.Index) {
	t.Helper()
	var b build
	day := func(d calendar.Wall) calendar.Wall { return d * 86_400 }
	b.add(calendar.KindEvent, 1, calendar.Fields{"venue": links(10), "categories": links(1), "start_date": day(0), "featured": true})
	b.add(calendar.KindEvent, 2, calendar.Fields{"venue": links(11), "categories": links(2), "start_date": day(1), "featured": true})
	b.add(calendar.KindEvent, 3, calendar.Fields{"venue": links(10, 11, 12), "categories": links(1, 2), "start_date": day(31), "featured": true})
	b.add(calendar.KindEvent, 4, calendar.Fields{"venue": links(12, 12), "start_date": day(31), "cost": []string{"5"}})
	b.add(calendar.KindEvent, 5, calendar.Fields{"start_date": day(365), "cost": []string{"15"}})
	gone := b.add(calendar.KindEvent, 6, calendar.Fields{"venue": links(10), "categories": links(1), "start_date": day(0)})
	b.delete(gone)
	b.add(calendar.KindVenue, 7, calendar.Fields{})
	b.write(t, x)
}

var featured = readmodel.Term{Field: readmodel.FieldFeatured, Value: "true"}

func tallyByValues(t testing.TB, x readmodel.Index) {
	bands(t, x)
	wantTallied(t, "venues", tally(t, x, nil, readmodel.Tally{Field: readmodel.FieldVenue}), readmodel.Tallied{Values: pairs(10, 2, 11, 2, 12, 2)})
	wantTallied(t, "venues of featured ones", tally(t, x, featured, readmodel.Tally{Field: readmodel.FieldVenue}), readmodel.Tallied{Values: pairs(10, 2, 11, 2, 12, 1)})
	january := int(readmodel.MonthOf(1970, 1))
	wantTallied(t, "months", tally(t, x, nil, readmodel.Tally{Field: readmodel.FieldMonth}), readmodel.Tallied{
		Values: pairs(january, 2, january+1, 2, january+12, 1),
	})
	wantTallied(t, "weekdays", tally(t, x, nil, readmodel.Tally{Field: readmodel.FieldWeekday}), readmodel.Tallied{Values: pairs(4, 1, 5, 2, 7, 2)})
	wantTallied(t, "none", tally(t, x, readmodel.Or{}, readmodel.Tally{Field: readmodel.FieldVenue}), readmodel.Tallied{})
	for _, bad := range []readmodel.Tally{
		{Field: "nonsense"},
		{Field: readmodel.FieldStatus},
		{Field: readmodel.FieldStart},
		{Field: readmodel.FieldID},
		{Field: readmodel.FieldMonth, Groups: [][]calendar.ID{{1}}},
		{Groups: [][]calendar.ID{{1}}},
		{Parts: []readmodel.Filter{nil}},
		{Parts: []readmodel.Filter{readmodel.Text{Fields: eventTexts, Search: readmodel.ParseSearch("jazz", calendar.LangEN)}}},
	} {
		_, err := x.Search(t.Context(), readmodel.Query{Kind: calendar.KindEvent, Tallies: []readmodel.Selection{{Tallies: []readmodel.Tally{bad}}}})
		wantErr(t, "bad tally", err, readmodel.ErrQuery)
	}
}

func tallyByGroups(t testing.TB, x readmodel.Index) {
	bands(t, x)
	about := readmodel.Tally{Field: readmodel.FieldVenue, Groups: [][]calendar.ID{{10, 12}, {11}, {99}}}
	for range 3 { // the answer about a filter that is asked for again may be kept
		wantTallied(t, "towns", tally(t, x, nil, about), readmodel.Tallied{Values: pairs(10, 2, 11, 2, 12, 2), Groups: []int{3, 2, 0}})
	}
	b := build{next: 100}
	b.add(calendar.KindEvent, 2, calendar.Fields{"venue": links(12), "start_date": calendar.Wall(0)})
	b.write(t, x)
	wantTallied(t, "towns after a move", tally(t, x, nil, about), readmodel.Tallied{Values: pairs(10, 2, 11, 1, 12, 3), Groups: []int{4, 1, 0}})
}

func tallyByParts(t testing.TB, x readmodel.Index) {
	bands(t, x)
	wantTallied(t, "parts", tally(t, x, nil, readmodel.Tally{Parts: []readmodel.Filter{
		featured,
		readmodel.Not{Filter: featured},
		readmodel.Range{Field: readmodel.FieldCost, Max: new(int64(1000))},
		readmodel.In{Field: readmodel.FieldCategories, IDs: links(1, 2)},
		readmodel.Or{},
		readmodel.And{},
		readmodel.In{Field: readmodel.FieldWeekday, IDs: links(7)},
	}}), readmodel.Tallied{Parts: []int{3, 2, 1, 3, 0, 5, 2}})
}

func talliesOfSelections(t testing.TB, x readmodel.Index) {
	bands(t, x)
	venues, months := readmodel.Tally{Field: readmodel.FieldVenue}, readmodel.Tally{Field: readmodel.FieldCategories}
	got := tallies(t, x, featured,
		readmodel.Selection{Filter: readmodel.In{Field: readmodel.FieldCategories, IDs: links(1)}, Tallies: []readmodel.Tally{venues, months}},
		readmodel.Selection{Tallies: []readmodel.Tally{months}},
		readmodel.Selection{Filter: readmodel.And{readmodel.Text{Fields: eventTexts, Search: readmodel.ParseSearch(`"name"`, calendar.LangEN)}, readmodel.Not{Filter: featured}}, Tallies: []readmodel.Tally{months}},
	)
	wantTallied(t, "with the filter of the first", got[0][0], readmodel.Tallied{Values: pairs(10, 2, 11, 1, 12, 1)})
	wantTallied(t, "another one of it", got[0][1], readmodel.Tallied{Values: pairs(1, 2, 2, 1)})
	wantTallied(t, "with the base alone", got[1][0], readmodel.Tallied{Values: pairs(1, 2, 2, 2)})
	wantTallied(t, "of nothing", got[2][0], readmodel.Tallied{})
}

// talliesBesideAPage has pages of all kinds, which know what the tallies do not.
func talliesBesideAPage(t testing.TB, x readmodel.Index) {
	bands(t, x)
	byStart := readmodel.Sort{Field: readmodel.FieldStart}
	id := readmodel.Sort{Field: readmodel.FieldID}
	q := readmodel.Query{
		Kind: calendar.KindEvent, Filter: featured, Narrow: readmodel.In{Field: readmodel.FieldVenue, IDs: links(11)}, Sort: []readmodel.Sort{byStart, id}, Limit: 10,
		Tallies: []readmodel.Selection{{Tallies: []readmodel.Tally{{Field: readmodel.FieldVenue}, {Field: readmodel.FieldVenue, Groups: [][]calendar.ID{{10, 12}}}}}},
	}
	check := func(what string, total int, want ...calendar.ID) {
		t.Helper()
		wantPage(t, x, q, total, want...)
		got := search(t, x, q).Tallied
		if len(got) != 1 || len(got[0]) != 2 {
			t.Fatalf("%s: tallies %v", what, got)
		}
		values := pairs(10, 2, 11, 2, 12, 1)
		wantTallied(t, what, got[0][0], readmodel.Tallied{Values: values})
		wantTallied(t, what+", groups", got[0][1], readmodel.Tallied{Values: values, Groups: []int{2}})
	}
	check("a page", 2, 2, 3)
	q.Limit = 1
	check("a part of it", 2, 2)
	q.After = readmodel.Place(q.Sort, search(t, x, q).Documents[0].Record)
	check("behind a place", 2, 3)
	q.After, q.Offset = nil, 1
	check("the second page", 2, 3)
	q.Offset = 100_000
	check("a page past the end", 2)
	q.Offset, q.Collapse = 0, &readmodel.Collapse{Field: readmodel.FieldRepeats}
	check("groups of repeats", 2, 2)
	q.Limit = 0
	check("their number", 2)
	q.Limit, q.Collapse = 10, nil
	q.Sort = []readmodel.Sort{{Field: readmodel.FieldVenue, Least: map[calendar.ID]int64{10: 1, 11: 2}}, id}
	check("the nearest first", 2, 3, 2)
	q.Sort = []readmodel.Sort{{Rank: &readmodel.Relevance{Text: readmodel.Text{Fields: eventTexts, Search: readmodel.ParseSearch("name", calendar.LangEN)}}, Desc: true}, byStart, id}
	check("the best first", 2, 2, 3)
	q.Narrow, q.Sort = nil, []readmodel.Sort{id}
	check("all", 3, 1, 2, 3)
	q.Narrow = readmodel.Term{Field: "nonsense", Value: "x"}
	_, err := x.Search(t.Context(), q)
	wantErr(t, "bad narrowing", err, readmodel.ErrQuery)
	q.Narrow = readmodel.In{Field: readmodel.FieldVenue, IDs: links(12)}
	w, err := x.Walk(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if w.Total() != 1 {
		t.Errorf("a walk of %d, want 1", w.Total())
	}
}

// talliesOfOneState reads while others write.
func talliesOfOneState(t testing.TB, x readmodel.Index) {
	const writes = 15
	bands(t, x)
	b := build{next: 100}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range calendar.ID(writes) {
			b.add(calendar.KindEvent, 100+i, calendar.Fields{"venue": links(10, 12), "featured": true})
			_, err := x.Write(t.Context(), readmodel.Batch{Documents: b.docs, Mark: At(b.next)})
			if err = errors.Join(err, x.Wait(t.Context(), b.next)); err != nil {
				t.Errorf("write: %v", err)
				return
			}
			b.docs = nil
		}
	}()
	defer func() { <-done }()
	q := readmodel.Query{Kind: calendar.KindEvent, Filter: featured, Sort: byID, Limit: 1, Tallies: []readmodel.Selection{{Tallies: []readmodel.Tally{{
		Field: readmodel.FieldVenue, Groups: [][]calendar.ID{{10, 12}}, Parts: []readmodel.Filter{readmodel.And{}},
	}}}}}
	for i, last := 0, false; !last; i++ {
		select {
		case <-done:
			last = true
		default:
		}
		q.Offset = i % 2 * 100_000 // where an engine may have to ask twice
		page := search(t, x, q)
		// All but one of the events are in the group.
		if got := page.Tallied[0][0]; got.Parts[0] != page.Total || got.Groups[0] != page.Total-1 {
			t.Fatalf("a page of %d, %d are counted, %v of the group", page.Total, got.Parts[0], got.Groups)
		}
	}
}

func collapse(t testing.TB, x readmodel.Index) {
	var b build
	title := func(s string) calendar.Text { return in(calendar.LangEN, s) }
	b.add(calendar.KindEvent, 1, calendar.Fields{"title": title("Open Mic"), "venue": links(7, 8), "start_date": calendar.Wall(30)})
	b.add(calendar.KindEvent, 2, calendar.Fields{"title": title("open, MÍC!"), "venue": links(7, 8), "start_date": calendar.Wall(10)})
	b.add(calendar.KindEvent, 3, calendar.Fields{"title": title("Mic open"), "venue": links(7, 8), "start_date": calendar.Wall(20)})
	b.add(calendar.KindEvent, 4, calendar.Fields{"title": title("Open mic"), "venue": links(8, 7), "start_date": calendar.Wall(40)})
	b.add(calendar.KindEvent, 5, calendar.Fields{"title": title("Open mic"), "venue": links(7, 8), "start_date": calendar.Wall(50), "protected": true})
	b.add(calendar.KindEvent, 6, calendar.Fields{"title": title("Open mic"), "venue": links(7, 8), "start_date": calendar.Wall(20), "featured": true})
	both := title("Open mic")
	both[calendar.LangFR] = "Scène"
	b.record(&calendar.Record{ID: 7, Kind: calendar.KindEvent, Version: 1, Home: calendar.LangFR, Changed: Now, Fields: calendar.Fields{
		"title": both, "venue": links(7, 8), "start_date": calendar.Wall(60),
	}})
	b.write(t, x)
	q := readmodel.Query{
		Kind: calendar.KindEvent, Sort: []readmodel.Sort{{Field: readmodel.FieldStart}, {Field: readmodel.FieldID}}, Limit: 10,
		Collapse: &readmodel.Collapse{Field: readmodel.FieldRepeats, Alone: readmodel.Term{Field: readmodel.FieldProtected, Value: "true"}},
	}
	wantRepeats(t, x, q, 5, 2, 3, 4, 5, 7)
	p := search(t, x, q)
	want := &readmodel.Repeats{Count: 3, IDs: links(2, 6, 1), First: 10, Last: 30}
	if diff := cmp.Diff(want, p.Documents[0].Repeats); diff != "" {
		t.Errorf("group (-want +got):\n%s", diff)
	}
	q.Sort[0].Desc, q.Collapse = true, &readmodel.Collapse{Field: readmodel.FieldRepeats}
	wantRepeats(t, x, q, 4, 7, 5, 4, 3)
	q.Offset, q.Limit = 1, 2
	wantRepeats(t, x, q, 4, 5, 4)
	q.Offset = 5
	wantRepeats(t, x, q, 4)
	q.Offset, q.Filter = 0, featured
	wantRepeats(t, x, q, 1, 6)
	for _, bad := range []readmodel.Collapse{
		{Field: readmodel.FieldStatus},
		{Field: readmodel.FieldRepeats, Alone: readmodel.Text{Fields: eventTexts, Search: readmodel.ParseSearch("x", calendar.LangEN)}},
		{Field: readmodel.FieldRepeats, Alone: readmodel.Term{Field: "nonsense"}},
	} {
		q.Collapse = &bad
		_, err := x.Search(t.Context(), q)
		wantErr(t, "bad collapse", err, readmodel.ErrQuery)
	}
}

// wantRepeats checks the firsts of groups, in a page and in a walk.
func wantRepeats(t testing.TB, x readmodel.Index, q readmodel.Query, total int, want ...calendar.ID) {
	t.Helper()
	wantPage(t, x, q, total, want...)
	w, err := x.Walk(t.Context(), q)
	if err != nil {
		t.Fatalf("walk: %v", err)
	}
	defer w.Close()
	q.Offset, q.Limit = 0, 1000
	all := search(t, x, q)
	var walked []readmodel.Document
	if err := w.Each(t.Context(), func(some []readmodel.Document) error {
		walked = append(walked, some...)
		return nil
	}); err != nil {
		t.Fatalf("walk: %v", err)
	}
	if w.Total() != total || !slices.Equal(idsOf(walked), idsOf(all.Documents)) {
		t.Errorf("walk of %v: %d, %v, want %d, %v", q, w.Total(), idsOf(walked), total, idsOf(all.Documents))
	}
	for i := range walked {
		if diff := cmp.Diff(all.Documents[i].Repeats, walked[i].Repeats); diff != "" {
			t.Errorf("walk of %v: group %d (-page +walk):\n%s", q, i, diff)
		}
	}
}

func stamp(t testing.TB, x readmodel.Index) {
	of := func() readmodel.Stamp {
		t.Helper()
		s, err := x.Stamp(t.Context(), calendar.KindVenue)
		if err != nil {
			t.Fatalf("stamp: %v", err)
		}
		return s
	}
	var b build
	v := b.add(calendar.KindVenue, 1, calendar.Fields{})
	b.write(t, x)
	before := of()
	b.add(calendar.KindEvent, 2, calendar.Fields{"venue": links(1)})
	b.write(t, x)
	if now := of(); now != before {
		t.Errorf("stamp %v after another kind was written, want %v", now, before)
	}
	for _, c := range []struct {
		what  string
		write func()
	}{
		{"a new one", func() { b.add(calendar.KindVenue, 3, calendar.Fields{}) }},
		{"a change", func() { b.add(calendar.KindVenue, 3, calendar.Fields{"city": "Rome"}) }},
		{"a delete", func() { b.delete(v) }}, // of one that was not the last to change
	} {
		before = of()
		c.write()
		b.write(t, x)
		if of() == before {
			t.Errorf("the stamp stays after %s", c.what)
		}
	}
	before = of()
	if err := x.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	if of() == before {
		t.Error("the stamp stays after a reset")
	}
}

// withTallies has a query ask for random tallies.
func (g generator) withTallies(s *readmodel.Schema, q readmodel.Query) readmodel.Query {
	if g.chance(40) {
		q.Narrow = g.filter(s, 1)
	}
	q.Tallies = make([]readmodel.Selection, 1+g.IntN(3))
	for i := range q.Tallies {
		of := &q.Tallies[i]
		if g.chance(60) {
			of.Filter = g.filter(s, 1)
		}
		for range 1 + g.IntN(3) {
			of.Tallies = append(of.Tallies, g.tally(s))
		}
	}
	return q
}

// wantTallies compares the tallies of a query with the meaning.
func wantTallies(t testing.TB, got [][]readmodel.Tallied, docs []readmodel.Document, q readmodel.Query) {
	t.Helper()
	if len(got) != len(q.Tallies) {
		t.Fatalf("%+v: tallies of %d selections, want %d", q, len(got), len(q.Tallies))
	}
	for i := range q.Tallies {
		of := &q.Tallies[i]
		var in []readmodel.Document
		for j := range docs {
			if d := &docs[j]; d.Record.Kind == q.Kind && !d.Record.Deleted && readmodel.Match(q.Filter, d) && readmodel.Match(of.Filter, d) {
				in = append(in, *d)
			}
		}
		for j := range of.Tallies {
			want := readmodel.TallyOf(&of.Tallies[j], in)
			if diff := cmp.Diff(want.Values, got[i][j].Values, cmpopts.EquateEmpty()); diff != "" || !slices.Equal(want.Groups, got[i][j].Groups) || !slices.Equal(want.Parts, got[i][j].Parts) {
				t.Fatalf("%+v of %+v: groups %v, parts %v, want %v, %v; values (-want +got):\n%s",
					of, q, got[i][j].Groups, got[i][j].Parts, want.Groups, want.Parts, diff)
			}
		}
	}
}

func (g generator) tally(s *readmodel.Schema) (out readmodel.Tally) {
	for g.chance(40) {
		if f := g.filter(s, 1); !readmodel.Searches(f) {
			out.Parts = append(out.Parts, f)
		}
	}
	if out.Parts != nil && g.chance(30) {
		return out
	}
	fields := []string{readmodel.FieldVenue, readmodel.FieldCategories, readmodel.FieldTags, readmodel.FieldLanguages}
	if g.chance(30) {
		out.Field = pick(g, []string{readmodel.FieldMonth, readmodel.FieldWeekday, readmodel.FieldMinute, readmodel.FieldDuration})
		return out
	}
	out.Field = pick(g, fields)
	if g.chance(50) {
		out.Groups = make([][]calendar.ID, 1+g.IntN(4))
		for id := range calendar.ID(idRange) {
			at := g.IntN(len(out.Groups) + 1)
			if at < len(out.Groups) {
				out.Groups[at] = append(out.Groups[at], 1+id)
			}
		}
	}
	return out
}

func (g generator) collapse(s *readmodel.Schema) *readmodel.Collapse {
	c := &readmodel.Collapse{Field: readmodel.FieldRepeats}
	if f := g.filter(s, 1); g.chance(60) && !readmodel.Searches(f) {
		c.Alone = f
	}
	return c
}
