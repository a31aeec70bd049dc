package readmodeltest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/query/readmodel"
)

func pageCases() []testCase {
	return []testCase{
		{"order of events", orderOfEvents},
		{"order of names", orderOfNames},
		{"missing values", missingValues},
		{"paging", paging},
		{"exact totals", exactTotals},
		{"whole documents", wholeDocuments},
		{"get", get},
		{"walk", walk},
		{"places", Places},
		{"beside walks", besideWalks},
		{"reads of one state", still},
		{"titles", titles},
	}
}

func orderOfEvents(t testing.TB, x readmodel.Index) {
	var b build
	for i, p := range [][2]calendar.Wall{{300, 10}, {100, 20}, {100, 10}, {-50, 99}, {100, 20}, {100, 30}, {300, 5}} {
		b.add(calendar.KindEvent, calendar.ID(1+i), calendar.Fields{"start_date": p[0], "date": p[1]})
	}
	b.write(t, x)
	order := func(start, date, id bool) readmodel.Query {
		return readmodel.Query{Kind: calendar.KindEvent, Limit: 10, Sort: []readmodel.Sort{
			{Field: readmodel.FieldStart, Desc: start}, {Field: readmodel.FieldDate, Desc: date}, {Field: readmodel.FieldID, Desc: id},
		}}
	}
	wantPage(t, x, order(false, false, false), 7, 4, 3, 2, 5, 6, 7, 1)
	wantPage(t, x, order(false, false, true), 7, 4, 3, 5, 2, 6, 7, 1)
	wantPage(t, x, order(false, true, false), 7, 4, 6, 2, 5, 3, 1, 7)
	wantPage(t, x, order(true, false, false), 7, 7, 1, 3, 2, 5, 6, 4)
	wantPage(t, x, order(true, true, true), 7, 1, 7, 6, 5, 2, 3, 4)
	q := order(false, false, false)
	q.Sort = []readmodel.Sort{{Field: readmodel.FieldID, Desc: true}}
	wantPage(t, x, q, 7, 7, 6, 5, 4, 3, 2, 1)
	// Pages may begin and end inside of equal starts.
	for offset := range 7 {
		q := order(false, false, false)
		q.Offset, q.Limit = offset, 2
		wantPage(t, x, q, 7, []calendar.ID{4, 3, 2, 5, 6, 7, 1}[offset:min(7, offset+2)]...)
	}
}

func orderOfNames(t testing.TB, x readmodel.Index) {
	var b build
	for i, name := range []string{"Zebra", "éclair", "Echo", "apple", "Écho", "音乐", "Ähre"} {
		b.add(calendar.KindTag, calendar.ID(1+i), calendar.Fields{"name": in(calendar.LangEN, name), "slug": fmt.Sprintf("s%d", 9-i)})
	}
	b.record(&calendar.Record{ID: 8, Kind: calendar.KindTag, Version: 1, Home: calendar.LangFR, Changed: Now, Fields: calendar.Fields{
		"name": calendar.Text{calendar.LangFR: "zoo", calendar.LangEN: "aaa"}, "slug": "t",
	}})
	b.write(t, x)
	names := func(l calendar.Lang, desc bool) readmodel.Query {
		return readmodel.Query{Kind: calendar.KindTag, Limit: 10, Sort: []readmodel.Sort{
			{Field: readmodel.FieldNameKey(l), Desc: desc}, {Field: readmodel.FieldID},
		}}
	}
	wantPage(t, x, names(calendar.LangEN, false), 8, 8, 7, 4, 3, 5, 2, 1, 6)
	wantPage(t, x, names(calendar.LangEN, true), 8, 6, 1, 2, 3, 5, 4, 7, 8)
	wantPage(t, x, names(calendar.LangES, false), 8, 7, 4, 3, 5, 2, 1, 8, 6)
	wantPage(t, x, readmodel.Query{
		Kind: calendar.KindTag, Limit: 10, Sort: []readmodel.Sort{{Field: readmodel.FieldSlug}, {Field: readmodel.FieldID}},
	}, 8, 7, 6, 5, 4, 3, 2, 1, 8)
}

func missingValues(t testing.TB, x readmodel.Index) {
	var b build
	b.add(calendar.KindVenue, 1, calendar.Fields{"date_utc": calendar.NoWall, "date": calendar.Wall(5)})
	b.add(calendar.KindVenue, 2, calendar.Fields{"date_utc": calendar.Wall(-30), "date": calendar.Wall(5)})
	b.add(calendar.KindVenue, 3, calendar.Fields{"date": calendar.Wall(4)})
	b.add(calendar.KindVenue, 4, calendar.Fields{"date_utc": calendar.Wall(70), "date": calendar.Wall(1)})
	b.write(t, x)
	order := func(desc bool) readmodel.Query {
		return readmodel.Query{Kind: calendar.KindVenue, Limit: 10, Sort: []readmodel.Sort{
			{Field: readmodel.FieldPublished, Desc: desc}, {Field: readmodel.FieldDate}, {Field: readmodel.FieldID},
		}}
	}
	wantPage(t, x, order(false), 4, 2, 4, 3, 1)
	wantPage(t, x, order(true), 4, 4, 2, 3, 1)
	q := order(true)
	q.Offset, q.Limit = 1, 2
	wantPage(t, x, q, 4, 2, 3)
	q.Offset = 3
	wantPage(t, x, q, 4, 1)
	wantPage(t, x, readmodel.Query{Kind: calendar.KindVenue, Limit: 9, Sort: []readmodel.Sort{
		{Field: readmodel.FieldPublished}, {Field: readmodel.FieldID, Desc: true},
	}}, 4, 2, 4, 3, 1)
	for _, desc := range []bool{false, true} {
		by := []readmodel.Sort{{Field: readmodel.FieldPublished, Desc: desc, Tail: true}, {Field: readmodel.FieldID, Desc: true}}
		ids := []calendar.ID{2, 4, 1, 3}
		if desc {
			ids = []calendar.ID{4, 2, 1, 3}
		}
		for offset := range ids {
			wantPage(t, x, readmodel.Query{Kind: calendar.KindVenue, Sort: by, Offset: offset, Limit: 2}, 4, ids[offset:min(4, offset+2)]...)
		}
	}
}

func paging(t testing.TB, x readmodel.Index) {
	var b build
	for id := range calendar.ID(25) {
		b.add(calendar.KindEvent, 1+id, calendar.Fields{"featured": id%2 == 0, "start_date": calendar.Wall(-id)})
	}
	b.write(t, x)
	f := readmodel.Term{Field: readmodel.FieldFeatured, Value: "true"}
	page := func(offset, limit int) readmodel.Query {
		return readmodel.Query{Kind: calendar.KindEvent, Filter: f, Sort: byID, Offset: offset, Limit: limit}
	}
	wantPage(t, x, page(0, 3), 13, 1, 3, 5)
	wantPage(t, x, page(3, 3), 13, 7, 9, 11)
	wantPage(t, x, page(12, 3), 13, 25)
	wantPage(t, x, page(13, 3), 13)
	wantPage(t, x, page(500, 3), 13)
	wantPage(t, x, page(0, 0), 13)
	wantPage(t, x, page(5, 0), 13)
}

func exactTotals(t testing.TB, x readmodel.Index) {
	const n = 10_050 // engines like to stop counting at 10,000
	var b build
	for id := range calendar.ID(n) {
		b.add(calendar.KindTag, 1+id, calendar.Fields{"slug": fmt.Sprintf("tag-%d", id)})
		if len(b.docs) == 2000 {
			b.write(t, x)
		}
	}
	b.write(t, x)
	wantPage(t, x, readmodel.Query{Kind: calendar.KindTag, Sort: byID, Offset: 9_000, Limit: 2}, n, 9_001, 9_002)
	wantPage(t, x, readmodel.Query{
		Kind: calendar.KindTag, Filter: readmodel.Not{Filter: readmodel.In{Field: readmodel.FieldID, IDs: []calendar.ID{1, 2, 3}}}, Sort: byID, Limit: 1,
	}, n-3, 4)
}

func wholeDocuments(t testing.TB, x readmodel.Index) {
	var b build
	b.add(calendar.KindEvent, 5, calendar.Fields{
		"title": calendar.Text{"音乐会", "River <Jazz> & more", "Fête", ""}, "description": in(calendar.LangEN, "<p>a \"quote\"</p>\n<p>😀</p>"),
		"start_date": calendar.Wall(1_900_000_000), "venue": []calendar.ID{88, 89}, "featured": true, "cost": []string{"$5"},
	})
	b.add(calendar.KindEvent, 6, calendar.Fields{"title": in(calendar.LangEN, "same")})
	written := b.docs
	b.write(t, x)
	p := search(t, x, readmodel.Query{Kind: calendar.KindEvent, Sort: byID, Limit: 10})
	if diff := cmp.Diff(written, p.Documents); diff != "" {
		t.Errorf("documents (-written +read):\n%s", diff)
	}
	if p.Position != b.next {
		t.Errorf("page shows position %d, want %d", p.Position, b.next)
	}
}

func get(t testing.TB, x readmodel.Index) {
	var b build
	b.add(calendar.KindEvent, 5, calendar.Fields{"venue": []calendar.ID{6}})
	b.add(calendar.KindVenue, 6, calendar.Fields{"city": "Boston"})
	gone := b.add(calendar.KindTag, 7, calendar.Fields{"slug": "a"})
	b.add(calendar.KindImage, 8, calendar.Fields{"url": "https://img.example/a.jpg"})
	want := map[calendar.ID]readmodel.Document{5: b.docs[0], 6: b.docs[1], 8: b.docs[3]}
	b.delete(gone)
	b.write(t, x)
	got, err := x.Get(t.Context(), []calendar.ID{6, 99, 5, 7, 8, 6})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("documents by id (-want +got):\n%s", diff)
	}
	if got, err = x.Get(t.Context(), nil); err != nil || len(got) != 0 {
		t.Errorf("nothing asked for: %v, %v", got, err)
	}
}

func walk(t testing.TB, x readmodel.Index) {
	const n = 3*readmodel.WalkStep + 7
	var b build
	for id := range calendar.ID(n) {
		b.add(calendar.KindEvent, 1+id, calendar.Fields{"featured": id%5 != 0, "start_date": calendar.Wall(-id / 3), "date": calendar.Wall(id % 2)})
	}
	b.write(t, x)
	q := readmodel.Query{
		Kind: calendar.KindEvent, Filter: readmodel.Term{Field: readmodel.FieldFeatured, Value: "true"}, Offset: 3, Limit: 2,
		Sort: []readmodel.Sort{{Field: readmodel.FieldStart}, {Field: readmodel.FieldDate}, {Field: readmodel.FieldID}},
	}
	w, err := x.Walk(t.Context(), q)
	if err != nil {
		t.Fatalf("walk: %v", err)
	}
	defer w.Close()
	all := q
	all.Offset, all.Limit = 0, n
	want := search(t, x, all)
	if w.Total() != want.Total || w.Position() != want.Position {
		t.Errorf("walk: total %d at %d, want %d at %d", w.Total(), w.Position(), want.Total, want.Position)
	}
	// What is written now is not in it.
	b.add(calendar.KindEvent, n+1, calendar.Fields{"featured": true, "start_date": calendar.Wall(-n)})
	b.docs = append(b.docs, document(&calendar.Record{
		ID: 2, Kind: calendar.KindEvent, Version: 2, Home: calendar.LangEN, Changed: Now,
		Fields: calendar.Fields{"title": in(calendar.LangEN, "other"), "featured": false, "start_date": calendar.Wall(5)},
	}, b.next+1))
	b.next++
	b.write(t, x)
	for range 2 {
		var got []readmodel.Document
		if err := w.Each(t.Context(), func(some []readmodel.Document) error {
			if len(some) == 0 || len(some) > readmodel.WalkStep {
				t.Errorf("a step of %d documents", len(some))
			}
			got = append(got, some...)
			return nil
		}); err != nil {
			t.Fatalf("walk: %v", err)
		}
		if diff := cmp.Diff(idsOf(want.Documents), idsOf(got)); diff != "" {
			t.Errorf("walk: ids (-want +got):\n%s", diff)
		}
		if len(got) > 0 && string(got[0].Body) != string(want.Documents[0].Body) {
			t.Errorf("walk: body %s, want %s", got[0].Body, want.Documents[0].Body)
		}
	}
	steps := 0
	if err := w.Each(t.Context(), func([]readmodel.Document) error {
		steps++
		return errStop
	}); !errors.Is(err, errStop) || steps != 1 {
		t.Errorf("walk that is stopped: %v after %d steps", err, steps)
	}
	q.Filter = readmodel.Term{Field: "nonsense", Value: "x"}
	_, err = x.Walk(t.Context(), q)
	wantErr(t, "walk of an unknown field", err, readmodel.ErrQuery)
}

var errStop = errors.New("stop")

// Places checks pages behind places, in all kinds of orders, and orders by the least number
// of ids (LISTINGS 3.1, 3.7). It needs pages of 15 documents.
func Places(t testing.TB, x readmodel.Index) {
	const n, limit = 90, 15
	var b build
	for id := range calendar.ID(n) {
		f := calendar.Fields{"start_date": calendar.Wall(id / 4 * 10), "date": calendar.Wall(100 - id%3), "date_utc": calendar.Wall(id % 7)}
		if id%5 == 0 {
			f["date_utc"] = calendar.NoWall
		}
		switch {
		case id%2 == 0: // more than are put in order at once
			f["venue"] = []calendar.ID{4}
		case id%9 == 0:
		default:
			f["venue"] = []calendar.ID{1 + id%11, 1 + id%6, 1 + id%11}
		}
		b.add(calendar.KindEvent, 1+id, f)
	}
	docs := b.docs
	b.write(t, x)
	least := map[calendar.ID]int64{1: 5, 2: 700, 3: 5, 4: 60, 5: 0, 6: 61, 7: -3, 8: 700, 99: 1}
	orders := make([][]readmodel.Sort, 0, 8)
	for _, desc := range []bool{false, true} {
		start := []readmodel.Sort{{Field: readmodel.FieldStart, Desc: desc}, {Field: readmodel.FieldDate, Desc: desc}, {Field: readmodel.FieldID, Desc: desc}}
		orders = append(
			orders, start,
			append([]readmodel.Sort{{Field: readmodel.FieldVenue, Desc: desc, Least: least}}, start...),
			[]readmodel.Sort{{Field: readmodel.FieldPublished, Desc: desc, Tail: true}, {Field: readmodel.FieldID, Desc: true}},
			[]readmodel.Sort{{Field: readmodel.FieldPublished, Desc: desc}, {Field: readmodel.FieldDate, Desc: !desc}, {Field: readmodel.FieldID}},
		)
	}
	for _, by := range orders {
		q := readmodel.Query{Kind: calendar.KindEvent, Sort: by, Limit: n, Filter: readmodel.Not{Filter: readmodel.In{Field: readmodel.FieldID, IDs: []calendar.ID{3, 50}}}}
		all, _, total := want(docs, q)
		q.Limit = limit
		page := func(from int) []calendar.ID { return all[min(from, len(all)):min(from+limit, len(all))] }
		for _, offset := range []int{0, 1, 14, 19, 20, 45, 70, 87, 88, 100} {
			q.Offset = offset
			wantPage(t, x, q, total, orNone(page(offset))...)
		}
		q.Offset = 0
		for i := 0; i < len(all); i += 6 {
			q.After = readmodel.Place(by, docs[all[i]-1].Record)
			wantPage(t, x, q, total, orNone(page(i+1))...)
			// Nothing needs to stand at the place.
			for key := range q.After {
				if q.After[key].Has {
					q.After[key].N++
					behind, _, _ := want(docs, q)
					wantPage(t, x, q, total, behind...)
					q.After[key].N--
				}
			}
		}
		walked(t, x, q, all...)
	}
	for _, q := range []readmodel.Query{
		{Sort: byID, After: []readmodel.Key{{N: 1, Has: true}}, Offset: 1},
		{Sort: byID, After: []readmodel.Key{}},
		{Sort: byID, After: []readmodel.Key{{}}},
		{Sort: []readmodel.Sort{{Field: readmodel.FieldStart}}, After: []readmodel.Key{{N: 1, Has: true}}},
		{Sort: []readmodel.Sort{{Field: readmodel.FieldID}, {Field: readmodel.FieldVenue, Least: least}}},
		{Sort: []readmodel.Sort{{Field: readmodel.FieldStart, Least: least}}},
	} {
		q.Kind = calendar.KindEvent
		_, err := x.Search(t.Context(), q)
		wantErr(t, fmt.Sprintf("%+v", q), err, readmodel.ErrQuery)
	}
}

func orNone(ids []calendar.ID) []calendar.ID {
	if len(ids) == 0 {
		return nil
	}
	return ids
}

// besideWalks: what a calendar needs before and behind its events (LISTINGS 1.6).
func besideWalks(t testing.TB, x readmodel.Index) {
	var b build
	day := func(n int64) calendar.Wall { return calendar.WallOf(Now) + calendar.Wall(n*86_400) }
	for i, e := range []struct {
		zone       string
		start, end int64
		f          calendar.Fields
	}{
		{"Europe/Paris", 3, 5, nil},
		{"Europe/Paris", 1, 2, nil},
		{"Europe/Paris", -900, 900, calendar.Fields{"all_day": true}},
		{"Asia/Tokyo", 7, 70, nil},
		{"Asia/Tokyo", 8, 9, calendar.Fields{"featured": true}}, // not in the walk
		{"UTC", 1, 1, nil},
		{"UTC+5.5", 1, 1, nil},
		{"America/New_York", 1, 1, calendar.Fields{"utc_end_date": day(1) + 1}}, // no moment of the clock
		{"Asia/Kolkata", 4, 4, calendar.Fields{"status": "trash", "featured": true}},
		{"Asia/Kolkata", 4, 4, calendar.Fields{"status": "trash"}},
	} {
		zone, _ := calendar.ParseZone(e.zone)
		f := calendar.Fields{"timezone": e.zone, "start_date": day(e.start), "end_date": day(e.end), "featured": false, "status": "publish"}
		for name, from := range map[string]string{"utc_start_date": "start_date", "utc_end_date": "end_date"} {
			f[name] = calendar.Wall(calendar.WallToInstant(f.Wall(from), zone.Location).Unix())
		}
		maps.Copy(f, e.f)
		b.add(calendar.KindEvent, calendar.ID(1+i), f)
	}
	b.write(t, x)
	is := func(field, value string) readmodel.Filter { return readmodel.Term{Field: field, Value: value} }
	q := readmodel.Query{
		Kind: calendar.KindEvent, Sort: byID, Filter: readmodel.And{is(readmodel.FieldFeatured, "false"), is(readmodel.FieldStatus, "publish")},
		Spans: readmodel.Not{Filter: is(readmodel.FieldAllDay, "true")}, Beside: is(readmodel.FieldStatus, "trash"),
	}
	w, err := x.Walk(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	want := map[string]readmodel.Span{"Europe/Paris": {Start: day(1), End: day(5)}, "Asia/Tokyo": {Start: day(7), End: day(70)}}
	if diff := cmp.Diff(want, w.Spans()); diff != "" || w.Total() != 7 {
		t.Errorf("%d documents, spans (-want +got):\n%s", w.Total(), diff)
	}
	// They are of the state of the walk.
	b.add(calendar.KindEvent, 30, calendar.Fields{"status": "trash"})
	b.write(t, x)
	var beside []calendar.ID
	if err := w.Beside(t.Context(), func(some []readmodel.Document) error {
		beside = append(beside, idsOf(some)...)
		return nil
	}); err != nil || !slices.Equal(beside, []calendar.ID{9, 10}) {
		t.Errorf("beside the walk: %v, %v", beside, err)
	}
	for _, bad := range []readmodel.Query{
		{Kind: calendar.KindEvent, Beside: readmodel.Text{Fields: []string{readmodel.TextName}, Search: readmodel.ParseSearch("x", calendar.LangEN)}},
		{Kind: calendar.KindEvent, Spans: is("nonsense", "x")},
		{Kind: calendar.KindTag, Beside: readmodel.And{}},
	} {
		_, err := x.Walk(t.Context(), bad)
		wantErr(t, fmt.Sprintf("%+v", bad), err, readmodel.ErrQuery)
	}
}

// still reads several times, and writes between the reads of the first calls.
func still(t testing.TB, x readmodel.Index) {
	const writes = 3
	var b build
	b.add(calendar.KindEvent, 1, calendar.Fields{"venue": []calendar.ID{2}})
	b.add(calendar.KindVenue, 2, calendar.Fields{"city": "Boston"})
	b.write(t, x)
	type state struct {
		events, venues, seen int
		at                   calendar.Position
	}
	var first, second state
	read := func(ctx context.Context) (s state) {
		events, err := x.Search(ctx, readmodel.Query{Kind: calendar.KindEvent, Sort: []readmodel.Sort{{Field: readmodel.FieldStart}, {Field: readmodel.FieldID}}, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		venues, err := x.Counts(ctx, calendar.KindVenue, readmodel.FieldID, readmodel.Exists{Field: readmodel.FieldCityKey})
		if err != nil {
			t.Fatal(err)
		}
		found, err := x.Get(ctx, []calendar.ID{1, 2, 11, 12, 13, 21, 22, 23})
		if err != nil {
			t.Fatal(err)
		}
		shown, err := x.Visible(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if shown.Position != events.Position {
			t.Errorf("a page of position %d, visible is %d", events.Position, shown.Position)
		}
		return state{len(events.Documents), len(venues), len(found), events.Position}
	}
	calls := 0
	var w readmodel.Walk
	err := x.Still(t.Context(), func(ctx context.Context) (err error) {
		calls++
		first = read(ctx)
		if calls <= writes {
			b.add(calendar.KindEvent, calendar.ID(10+calls), calendar.Fields{})
			b.add(calendar.KindVenue, calendar.ID(20+calls), calendar.Fields{"city": "Boston"})
			b.write(t, x) //nolint:contextcheck // writes are of no reading
		}
		second = read(ctx)
		for range 2 { // the first one ends before
			if w != nil {
				w.Close()
			}
			if w, err = x.Walk(ctx, readmodel.Query{Kind: calendar.KindEvent, Sort: byID}); err != nil {
				t.Fatal(err)
			}
		}
		third := read(ctx)
		if third != second || w.Total() != second.events {
			t.Errorf("a walk over %d beside a read of %+v", w.Total(), third)
		}
		return nil
	})
	// The walk goes on, of the same state.
	b.add(calendar.KindEvent, 30, calendar.Fields{})
	b.write(t, x)
	walked := 0
	if err := w.Each(t.Context(), func(some []readmodel.Document) error {
		walked += len(some)
		return nil
	}); err != nil || walked != first.events {
		t.Errorf("a walk over %d, want %d: %v", walked, first.events, err)
	}
	w.Close()
	if err != nil || first != second || first.events == 0 || first.events != first.venues || first.seen != first.events+first.venues {
		t.Errorf("two reads of one state: %+v and %+v, %v", first, second, err)
	}
	if err := x.Still(t.Context(), func(context.Context) error { return errStop }); !errors.Is(err, errStop) {
		t.Errorf("reads that fail: %v", err)
	}
	if got := search(t, x, readmodel.Query{Kind: calendar.KindEvent, Sort: byID, Limit: 100}); len(got.Documents) != 2+min(calls, writes) {
		t.Errorf("%d events after %d writes", len(got.Documents), 1+min(calls, writes))
	}
}

// titles asks for the names of many events of few names, in several languages.
func titles(t testing.TB, x readmodel.Index) {
	names := []string{"Jazz night", "jazz NIGHT!", "Jazz", "Night of jazz", "Jazzy evening", "Nuit du jazz", "爵士乐 之夜", "jazz music jazz", ""}
	var b build
	for i := range 90 {
		r := b.add(calendar.KindEvent, calendar.ID(1+i), calendar.Fields{
			"title": in(calendar.Langs[i%3], names[i*7%len(names)]), "start_date": calendar.Wall(1000 * ((i * 37) % 90 / 2)), "featured": i%4 != 0,
		})
		r.Home = calendar.Langs[i%3]
		if i%5 == 0 {
			text := r.Fields.Text("title")
			text[calendar.LangFR] = names[i*5%len(names)]
			r.Fields["title"] = text
		}
		b.docs[len(b.docs)-1] = document(r, b.next)
	}
	all := slices.Clone(b.docs)
	b.write(t, x)
	fields := []string{"title", "start_date"}
	type row struct {
		ID    calendar.ID
		Home  calendar.Lang
		Title calendar.Text
		Start calendar.Wall
		Count int
	}
	rows := func(of []readmodel.Title) (out []row) {
		for _, t := range of {
			r := t.Record
			out = append(out, row{r.ID, r.Home, r.Fields.Text("title"), r.Fields.Wall("start_date"), t.Count})
		}
		return out
	}
	order := []readmodel.Sort{{Field: readmodel.FieldStart}, {Field: readmodel.FieldDate}, {Field: readmodel.FieldID}}
	featured := readmodel.Term{Field: readmodel.FieldFeatured, Value: "true"}
	for _, l := range calendar.Langs {
		for search, typos := range map[string]int{"": 0, "jaz": 0, "jazz": 0, "jazz night": 0, "nihgt": 1, `"of jazz"`: 0, "-jazz": 0, "爵士": 0} {
			for _, limit := range []int{2, 20} {
				name := readmodel.Text{Fields: []string{readmodel.TextName}, Search: readmodel.ParseSearch(search, l), Typos: typos}
				q := readmodel.Titles{Kind: calendar.KindEvent, Filter: featured, Lang: l, Sort: order, Limit: limit, Fields: fields}
				if search != "" {
					q.Filter = readmodel.And{featured, name}
					q.Sort = append([]readmodel.Sort{{Rank: &readmodel.Relevance{Text: name}, Desc: true}}, order...)
				}
				var docs []readmodel.Document
				for i := range all {
					if readmodel.Match(q.Filter, &all[i]) {
						docs = append(docs, all[i])
					}
				}
				got, at, err := x.Titles(t.Context(), q)
				if err != nil || at != b.next {
					t.Fatalf("titles %q: position %d, %v", search, at, err)
				}
				if diff := cmp.Diff(rows(readmodel.TitlesOf(q, docs)), rows(got)); diff != "" {
					t.Errorf("titles %q in %s, %d of them (-want +got):\n%s", search, l, limit, diff)
				}
			}
		}
	}
	// What has changed has its new fields, and its old ones with the others.
	lead, _, err := x.Titles(t.Context(), readmodel.Titles{Kind: calendar.KindEvent, Sort: order, Limit: 1, Fields: fields})
	if err != nil {
		t.Fatal(err)
	}
	first := *all[slices.IndexFunc(all, func(d readmodel.Document) bool { return d.Record.ID == lead[0].Record.ID })].Record
	first.Version++
	first.Fields = maps.Clone(first.Fields)
	first.Fields["title"], first.Fields["start_date"], first.Fields["featured"], first.Fields["slug"] = in(first.Home, "Zydeco"), calendar.Wall(1), true, "zydeco"
	b.record(&first)
	b.write(t, x)
	for _, fields := range [][]string{fields, {"slug", "title", "start_date"}, nil, fields} {
		got, _, err := x.Titles(t.Context(), readmodel.Titles{
			Kind: calendar.KindEvent, Sort: order, Limit: 1, Lang: first.Home, Fields: fields,
			Filter: readmodel.Text{Fields: []string{readmodel.TextName}, Search: readmodel.ParseSearch("zydeco", first.Home)},
		})
		want := []row{{first.ID, first.Home, in(first.Home, "Zydeco"), 1, 1}}
		if diff := cmp.Diff(want, rows(got)); err != nil || diff != "" {
			t.Errorf("titles after a change: %v (-want +got):\n%s", err, diff)
		} else if (fields == nil || len(fields) > 2) && got[0].Record.Slug() != "zydeco" {
			t.Errorf("titles with %v: slug %q", fields, got[0].Record.Slug())
		}
	}
	_, _, err = x.Titles(t.Context(), readmodel.Titles{Kind: calendar.KindVenue, Limit: 1})
	wantErr(t, "titles of venues", err, readmodel.ErrQuery)
	_, _, err = x.Titles(t.Context(), readmodel.Titles{Kind: calendar.KindEvent, Filter: readmodel.Term{Field: "nonsense", Value: "x"}, Sort: order, Limit: 1})
	wantErr(t, "titles of an unknown field", err, readmodel.ErrQuery)
}
