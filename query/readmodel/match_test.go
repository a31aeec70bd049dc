package readmodel_test

import (
	"crypto/sha256"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// documents makes documents of a kind with the ids 1, 2, 3 …
func documents(k calendar.Kind, fields ...calendar.Fields) []readmodel.Document {
	out := make([]readmodel.Document, len(fields))
	for i, f := range fields {
		out[i].Record = &calendar.Record{ID: calendar.ID(1 + i), Kind: k, Home: calendar.LangEN, Fields: f}
	}
	return out
}

func idsOf(docs []readmodel.Document) (ids []calendar.ID) {
	for i := range docs {
		ids = append(ids, docs[i].Record.ID)
	}
	return ids
}

func ids(list ...calendar.ID) []calendar.ID { return list }

func between(field string, lo, hi int64) readmodel.Filter {
	return readmodel.Range{Field: field, Min: &lo, Max: &hi}
}

func is(field, value string) readmodel.Filter { return readmodel.Term{Field: field, Value: value} }

func in(field string, list ...calendar.ID) readmodel.Filter {
	return readmodel.In{Field: field, IDs: list}
}

type admitted struct {
	f   readmodel.Filter
	ids []calendar.ID
}

func wantAdmitted(t *testing.T, docs []readmodel.Document, table []admitted) {
	t.Helper()
	for _, c := range table {
		got := idsOf(slices.DeleteFunc(slices.Clone(docs), func(d readmodel.Document) bool { return !readmodel.Match(c.f, &d) }))
		if !slices.Equal(got, c.ids) {
			t.Errorf("%T %+v admits %v, want %v", c.f, c.f, got, c.ids)
		}
	}
}

func TestMatchEvents(t *testing.T) {
	t.Parallel()
	featured, ticketed := is(readmodel.FieldFeatured, "true"), is(readmodel.FieldTicketed, "true")
	start := func(lo, hi *int64) readmodel.Filter {
		return readmodel.Range{Field: readmodel.FieldStart, Min: lo, Max: hi}
	}
	wantAdmitted(t, documents(calendar.KindEvent,
		calendar.Fields{"status": "publish", "featured": true, "start_date": calendar.Wall(-100), "venue": ids(10, 11), "author": calendar.ID(7)},
		calendar.Fields{"status": "draft", "featured": false, "ticketed": true, "start_date": calendar.Wall(0), "venue": ids(11)},
		calendar.Fields{"status": "trash", "former_status": "publish", "start_date": calendar.Wall(100), "date_utc": calendar.NoWall},
		calendar.Fields{"featured": true, "ticketed": true, "date_utc": calendar.Wall(5), "post_parent": calendar.ID(1)},
	), []admitted{
		{nil, ids(1, 2, 3, 4)},
		{readmodel.And{}, ids(1, 2, 3, 4)},
		{readmodel.Or{}, nil},
		{readmodel.And{featured, ticketed}, ids(4)},
		{readmodel.Or{featured, ticketed}, ids(1, 2, 4)},
		{readmodel.And{readmodel.Not{Filter: featured}, readmodel.Or{ticketed, readmodel.Or{}}}, ids(2)},
		{is(readmodel.FieldFeatured, "false"), ids(2, 3)}, // what is absent is false
		{is(readmodel.FieldStatus, "Publish"), nil},
		{is(readmodel.FieldStatus, ""), nil},
		{is(readmodel.FieldFormerStatus, "publish"), ids(3)},
		{in(readmodel.FieldVenue, 10, 11, 12), ids(1, 2)},
		{in(readmodel.FieldVenue), nil},
		{in(readmodel.FieldID, 3, 99, 1), ids(1, 3)},
		{in(readmodel.FieldAuthor, 7), ids(1)},
		{in(readmodel.FieldPostParent, 1), ids(4)},
		{start(new(int64(-100)), new(int64(0))), ids(1, 2)}, // both bounds are in
		{start(new(int64(1)), new(int64(99))), nil},
		{start(nil, new(int64(0))), ids(1, 2)},
		{start(new(int64(1)), nil), ids(3)},
		{start(nil, nil), ids(1, 2, 3)},
		{readmodel.Range{Field: readmodel.FieldPublished, Max: new(int64(1 << 40))}, ids(4)},
		{readmodel.Exists{Field: readmodel.FieldPublished}, ids(4)},
		{readmodel.Exists{Field: readmodel.FieldVenue}, ids(1, 2)},
		{readmodel.Exists{Field: readmodel.FieldStatus}, ids(1, 2, 3)},
		{readmodel.Exists{Field: readmodel.TextName}, nil},
	})
}

// TestMatchDerived: what follows from the times, the costs and the texts of an event.
func TestMatchDerived(t *testing.T) {
	t.Parallel()
	times := func(start, end int64, allDay bool) calendar.Fields {
		return calendar.Fields{
			"start_date": calendar.Wall(start), "end_date": calendar.Wall(end), "all_day": allDay,
			"utc_start_date": calendar.Wall(start + 7*3600), "utc_end_date": calendar.Wall(end + 7*3600),
		}
	}
	wantAdmitted(t, documents(calendar.KindEvent,
		times(0, 3600, false),           // Thursday, January 1970, 00:00, an hour
		times(-1, 3600, false),          // Wednesday, December 1969, 23:59, an hour and a second
		times(86_400, 3*86_400-1, true), // Friday, January 1970, two days
		calendar.Fields{},               // none of them
	), []admitted{
		{in(readmodel.FieldMonth, calendar.ID(readmodel.MonthOf(1970, 1)), 5), ids(1, 3)},
		{between(readmodel.FieldMonth, 0, readmodel.MonthOf(1969, 12)), ids(2)},
		{in(readmodel.FieldWeekday, 4, 5), ids(1, 3)},
		{between(readmodel.FieldWeekday, 1, 3), ids(2)},
		{in(readmodel.FieldMinute, 0), ids(1)},
		{between(readmodel.FieldMinute, 1, 1439), ids(2)},
		{readmodel.Exists{Field: readmodel.FieldMinute}, ids(1, 2)},
		{readmodel.Exists{Field: readmodel.FieldDuration}, ids(1, 2, 3)},
		{between(readmodel.FieldDuration, 0, 3600), ids(1)},
		{between(readmodel.FieldDuration, 3601, 2*86_400-1), ids(2)},
		{in(readmodel.FieldDuration, 2*86_400), ids(3)},
		{readmodel.Not{Filter: between(readmodel.FieldMinute, 0, 1439)}, ids(3, 4)},
	})
	var costs []calendar.Fields
	for _, c := range [][]string{
		{"0"}, {"Gratuït"}, {"免費", "0.00"}, {"0–30"}, {"pay what you want"}, {}, {"10.9999"}, {"25"}, {"1234.567"}, {"99999999999999999999"},
	} {
		costs = append(costs, calendar.Fields{"cost": c, "title": calendar.Text{calendar.LangES: "Verano"}})
	}
	wantAdmitted(t, documents(calendar.KindEvent, costs...), []admitted{
		{between(readmodel.FieldCost, readmodel.CostFree, readmodel.CostFree), ids(1, 2, 3)},
		{between(readmodel.FieldCost, 0, 1098), ids(4)},
		{between(readmodel.FieldCost, 0, 1099), ids(4, 7)},
		{between(readmodel.FieldCost, 1100, 2500), ids(8)},
		{between(readmodel.FieldCost, 1<<53, math.MaxInt64), ids(10)},
		{readmodel.Not{Filter: readmodel.Exists{Field: readmodel.FieldCost}}, ids(5, 6, 9)},
		{in(readmodel.FieldLanguages, readmodel.LanguageID(calendar.LangFR), readmodel.LanguageID(calendar.LangCN)), nil},
		{in(readmodel.FieldLanguages, readmodel.LanguageID(calendar.LangES)), ids(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)},
	})
}

func TestMatchPlaces(t *testing.T) {
	t.Parallel()
	point := func(lat, lng float64, city string) calendar.Fields {
		return calendar.Fields{"geo_lat": lat, "geo_lng": lng, "city": city}
	}
	near := func(lat, lng, km float64) readmodel.Filter {
		return readmodel.Near{Field: readmodel.FieldPoint, Lat: lat, Lng: lng, Km: km}
	}
	box := func(west, south, east, north float64) readmodel.Filter {
		return readmodel.Box{Field: readmodel.FieldPoint, West: west, South: south, East: east, North: north}
	}
	city := func(text string) readmodel.Filter { return is(readmodel.FieldCityKey, readmodel.PlaceKey(text)) }
	wantAdmitted(t, documents(calendar.KindVenue,
		point(48.8584, 2.2945, "München"),    // Paris
		point(51.5007, -0.1246, "munchen"),   // London, 340.6 km from Paris
		point(0, 179.9, "New  York"),         // 3 and 4: 22.2 km from each other over the date line
		point(0, -179.9, ""),                 //
		point(89.9, 0, "L’Aquila"),           // 5 and 6: 22.2 km from each other over the pole
		point(89.9, 180, "l'aquila"),         //
		point(60, 10, "Stoke\u2011on–Trent"), // 7 and 8: 55.6 km from each other, not 111
		point(60, 11, ""),                    //
		calendar.Fields{},                    // nowhere
	), []admitted{
		{near(48.8584, 2.2945, 0.001), ids(1)},
		{near(48.8584, 2.2945, 340), ids(1)},
		{near(48.8584, 2.2945, 341), ids(1, 2)},
		{near(0, 179.9, 22), ids(3)},
		{near(0, -179.9, 22.3), ids(3, 4)},
		{near(90, -77, 11.2), ids(5, 6)},
		{near(60, 10, 55), ids(7)},
		{near(60, 10, 56), ids(7, 8)},
		{near(0, 0, 20_016), ids(1, 2, 3, 4, 5, 6, 7, 8)},
		{box(-180, -90, 180, 90), ids(1, 2, 3, 4, 5, 6, 7, 8)},
		{box(10, 60, 11, 60), ids(7, 8)},
		{box(10.1, 59, 10.9, 61), nil},
		{box(179, -1, -179, 1), ids(3, 4)},
		{box(5, 0, 2.2945, 90), ids(1, 2, 3, 4, 5, 6, 7, 8)},
		{readmodel.Exists{Field: readmodel.FieldPoint}, ids(1, 2, 3, 4, 5, 6, 7, 8)},
		{city("MÜNCHEN"), ids(1, 2)},
		{city(" new york"), ids(3)},
		{city("new"), nil},
		{city("LʼAquila"), ids(5, 6)},
		{city("Laquila"), nil},
		{city("stoke-on-trent"), ids(7)},
		{city(""), nil},
	})
}

// TestMatchTexts: which texts of a record are shown, and searched.
func TestMatchTexts(t *testing.T) {
	t.Parallel()
	name := readmodel.FieldNameLower
	tag := func(l calendar.Lang, value string) readmodel.Filter {
		return readmodel.Contains{Fields: []string{name(l), readmodel.FieldSlug}, Value: value}
	}
	names := documents(calendar.KindTag,
		calendar.Fields{"name": calendar.Text{calendar.LangFR: "Fête du Fleuve", calendar.LangEN: "River feast"}, "slug": "river-feast"},
		calendar.Fields{"name": textIn(calendar.LangEN, "Cafe\u0301  Neu"), "slug": "outside"}, // as names were stored before
	)
	names[0].Record.Home = calendar.LangFR
	wantAdmitted(t, names, []admitted{
		{tag(calendar.LangEN, "café N"), ids(2)},
		{tag(calendar.LangES, "FÊTE"), ids(1)}, // shown in the home language; case aside, accents not
		{tag(calendar.LangFR, "fete"), nil},
		{tag(calendar.LangEN, "fleuve"), nil},   // not shown
		{tag(calendar.LangFR, "feast"), ids(1)}, // the slug is one for all languages
		{tag(calendar.LangEN, "-"), ids(1)},     // no splitting
		{readmodel.Contains{Value: "a"}, nil},   // in no field
		{is(readmodel.FieldSlug, "side"), nil},
		{is(name(calendar.LangES), "fête du fleuve"), ids(1)},
		{is(name(calendar.LangEN), "river feast"), ids(1)},
	})
	search := func(l calendar.Lang, query string, fields ...string) readmodel.Filter {
		if fields == nil {
			fields = eventTexts
		}
		return readmodel.Text{Fields: fields, Search: readmodel.ParseSearch(query, l)}
	}
	texts := documents(calendar.KindEvent,
		calendar.Fields{
			"title":       calendar.Text{calendar.LangFR: "Nuit blanche", calendar.LangEN: "White night"},
			"description": calendar.Text{calendar.LangFR: "<p>Au bord du fleuve</p>", calendar.LangES: "Junto al agua"},
		},
		calendar.Fields{"title": textIn(calendar.LangFR, "a <river> of 2 &amp; 3"), "description": textIn(calendar.LangFR, "study bailando chevaux"), "slug": "slugged"},
	)
	texts[0].Record.Home, texts[1].Record.Home = calendar.LangFR, calendar.LangFR
	wantAdmitted(t, texts, []admitted{
		{search(calendar.LangFR, "nuit fleuve"), ids(1)},
		{search(calendar.LangFR, "white"), nil},
		{search(calendar.LangEN, "white fleuve"), ids(1)}, // each field falls back by itself
		{search(calendar.LangEN, "blanche"), nil},
		{search(calendar.LangES, "nuit agua"), ids(1)},
		{search(calendar.LangES, "fleuve"), nil},
		{search(calendar.LangCN, `"au bord"`), ids(1)},
		{search(calendar.LangCN, `"blanche au"`), nil}, // quotes stay in one field
		{search(calendar.LangES, "-fleuve"), ids(1, 2)},
		{search(calendar.LangFR, "nuit", readmodel.TextDescription), nil},
		{readmodel.Text{Search: readmodel.ParseSearch("nuit", calendar.LangFR)}, nil}, // in no field
		{search(calendar.LangEN, "river amp"), ids(2)},                                // a name is no HTML
		{search(calendar.LangEN, "slugged"), nil},
		// The language of the text decides about stems, not that of the request.
		{search(calendar.LangEN, "cheval"), ids(2)},
		{search(calendar.LangEN, "studying"), nil},
		{search(calendar.LangES, "bailar"), nil},
	})
}

func TestCompare(t *testing.T) {
	t.Parallel()
	docs := documents(calendar.KindEvent,
		calendar.Fields{"date_utc": calendar.NoWall, "date": calendar.Wall(5), "venue": ids(3)},
		calendar.Fields{"date_utc": calendar.Wall(-30), "date": calendar.Wall(5), "venue": ids(2, 1)},
		calendar.Fields{"date": calendar.Wall(4), "venue": ids(9)},
		calendar.Fields{"date_utc": calendar.Wall(70), "date": calendar.Wall(1)},
	)
	published := readmodel.FieldPublished
	for _, c := range []struct {
		order []readmodel.Sort
		ids   []calendar.ID
	}{
		{nil, ids(1, 2, 3, 4)},
		{[]readmodel.Sort{{Field: readmodel.FieldID, Desc: true}}, ids(4, 3, 2, 1)},
		{[]readmodel.Sort{{Field: published}, {Field: readmodel.FieldDate}}, ids(2, 4, 3, 1)},
		{[]readmodel.Sort{{Field: published, Desc: true}, {Field: readmodel.FieldDate}}, ids(4, 2, 3, 1)}, // those without are last
		{[]readmodel.Sort{{Field: published, Tail: true}, {Field: readmodel.FieldID, Desc: true}}, ids(2, 4, 1, 3)},
		{[]readmodel.Sort{{Field: readmodel.FieldVenue, Least: map[calendar.ID]int64{1: 4, 2: 7, 3: 5}}}, ids(2, 1, 3, 4)},
		{[]readmodel.Sort{{Field: readmodel.FieldVenue, Least: map[calendar.ID]int64{1: 4, 2: 7, 3: 5}, Desc: true}}, ids(1, 2, 3, 4)},
	} {
		sorted := slices.Clone(docs)
		slices.SortFunc(sorted, func(a, b readmodel.Document) int { return readmodel.Compare(c.order, &a, &b) })
		if got := idsOf(sorted); !slices.Equal(got, c.ids) {
			t.Errorf("%+v: %v, want %v", c.order, got, c.ids)
		}
	}
	tags := documents(calendar.KindTag)
	for i, name := range []string{"Zebra", "éclair", "Echo", "apple", "Écho", "音乐", "Ähre"} {
		tags = append(tags, readmodel.Document{Record: &calendar.Record{ID: calendar.ID(1 + i), Kind: calendar.KindTag, Home: calendar.LangFR, Fields: calendar.Fields{"name": textIn(calendar.LangFR, name)}}})
	}
	byName := []readmodel.Sort{{Field: readmodel.FieldNameKey(calendar.LangEN)}}
	slices.SortFunc(tags, func(a, b readmodel.Document) int { return readmodel.Compare(byName, &a, &b) })
	if got, want := idsOf(tags), ids(7, 4, 3, 5, 2, 1, 6); !slices.Equal(got, want) {
		t.Errorf("by name: %v, want %v", got, want)
	}
}

func TestTallyOf(t *testing.T) {
	t.Parallel()
	day := func(d calendar.Wall) calendar.Wall { return d * 86_400 }
	docs := documents(calendar.KindEvent,
		calendar.Fields{"venue": ids(10), "start_date": day(0), "featured": true},
		calendar.Fields{"venue": ids(11), "start_date": day(1), "featured": true},
		calendar.Fields{"venue": ids(10, 11, 12), "start_date": day(31), "featured": true},
		calendar.Fields{"venue": ids(12, 12), "start_date": day(31)},
		calendar.Fields{"start_date": day(365)},
	)
	january := readmodel.MonthOf(1970, 1)
	for _, c := range []struct {
		of   readmodel.Tally
		want readmodel.Tallied
	}{
		{readmodel.Tally{Field: readmodel.FieldMonth}, readmodel.Tallied{Values: []readmodel.Value{{january, 2}, {january + 1, 2}, {january + 12, 1}}}},
		{
			readmodel.Tally{Field: readmodel.FieldVenue, Groups: [][]calendar.ID{{10, 12}, {11}, {99}}},
			readmodel.Tallied{Values: []readmodel.Value{{10, 2}, {11, 2}, {12, 2}}, Groups: []int{3, 2, 0}},
		},
		{
			readmodel.Tally{Parts: []readmodel.Filter{is(readmodel.FieldFeatured, "true"), in(readmodel.FieldVenue, 10, 12), readmodel.Or{}, readmodel.And{}}},
			readmodel.Tallied{Parts: []int{3, 3, 0, 5}},
		},
	} {
		if diff := cmp.Diff(c.want, readmodel.TallyOf(&c.of, docs), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.of, diff)
		}
	}
}

// TestRepeated: what repeats are.
func TestRepeated(t *testing.T) {
	t.Parallel()
	event := func(title string, start calendar.Wall, venue ...calendar.ID) calendar.Fields {
		return calendar.Fields{"title": textIn(calendar.LangEN, title), "venue": venue, "start_date": start}
	}
	docs := documents(calendar.KindEvent,
		event("Open Mic", 30, 7, 8), event("open, MÍC!", 10, 7, 8), event("Mic open", 20, 7, 8), event("Open mic", 40, 8, 7), event("Open mic", 50, 7, 8),
		event("Open mic", calendar.NoWall, 7, 8),
	)
	docs[4].Record.Fields["protected"] = true
	got := readmodel.Repeated(&readmodel.Collapse{Field: readmodel.FieldRepeats, Alone: is(readmodel.FieldProtected, "true")}, docs)
	if want := ids(1, 3, 4, 5); !slices.Equal(idsOf(got), want) {
		t.Errorf("groups of %v, want %v", idsOf(got), want)
	}
	if diff := cmp.Diff(&readmodel.Repeats{Count: 3, IDs: ids(1, 2, 6), First: 10, Last: 30}, got[0].Repeats); diff != "" {
		t.Errorf("group (-want +got):\n%s", diff)
	}
}

func TestTitlesOf(t *testing.T) {
	t.Parallel()
	var fields []calendar.Fields
	for i, title := range []string{"Jazz night", "Rock", "jazz NIGHT!", "Night jazz"} {
		fields = append(fields, calendar.Fields{"title": textIn(calendar.LangEN, title), "start_date": calendar.Wall(-i)})
	}
	docs := documents(calendar.KindEvent, fields...)
	got := readmodel.TitlesOf(readmodel.Titles{Lang: calendar.LangFR, Sort: []readmodel.Sort{{Field: readmodel.FieldStart}}, Limit: 2}, docs)
	want := []readmodel.Title{{Record: docs[3].Record, Count: 1}, {Record: docs[2].Record, Count: 2}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("titles (-want +got):\n%s", diff)
	}
}

func TestLeaf(t *testing.T) {
	t.Parallel()
	if got, want := readmodel.Leaf(calendar.KindVenue, 7, 3, []byte(`{"a":1}`)), sha256.Sum256([]byte(`venue 7 3 {"a":1}`)); got != want {
		t.Errorf("leaf %x, want %x", got, want)
	}
}

// TestCheck: what does not fit the schema is refused; every engine asks Check.
func TestCheck(t *testing.T) {
	t.Parallel()
	search, unknown := readmodel.Text{Fields: eventTexts, Search: readmodel.ParseSearch("x", calendar.LangEN)}, is("nonsense", "x")
	least, one := map[calendar.ID]int64{1: 1}, []readmodel.Key{{N: 1, Has: true}}
	byID := []readmodel.Sort{{Field: readmodel.FieldID}}
	bad := []readmodel.Query{
		{},
		{Kind: calendar.KindTag, Sort: []readmodel.Sort{{Field: readmodel.FieldSlug, Tail: true}}},
		{Kind: calendar.KindTag, Filter: readmodel.Text{Fields: []string{readmodel.TextDescription}}},
		{Kind: calendar.KindVenue, Filter: readmodel.Range{Field: readmodel.FieldStart}},
		{Kind: calendar.KindTag, Beside: readmodel.And{}},
	}
	of := func(queries ...readmodel.Query) {
		for _, q := range queries {
			q.Kind = calendar.KindEvent
			bad = append(bad, q)
		}
	}
	of([]readmodel.Query{
		{Offset: -1},
		{Limit: -1},
		{Narrow: unknown},
		{Spans: unknown},
		{Beside: search},
		{Sort: byID, After: one, Offset: 1},
		{Sort: byID, After: []readmodel.Key{}},
		{Sort: byID, After: []readmodel.Key{{}}},
		{Sort: []readmodel.Sort{{Field: readmodel.FieldStart}}, After: one},
		{Sort: []readmodel.Sort{{Field: readmodel.FieldID}, {Field: readmodel.FieldVenue, Least: least}}},
		{Sort: []readmodel.Sort{{Field: readmodel.FieldStart, Least: least}}},
		{Sort: []readmodel.Sort{{Field: readmodel.FieldStatus}}},
		{Sort: []readmodel.Sort{{Field: "nothing"}}},
		{Sort: []readmodel.Sort{{Field: readmodel.FieldWeekday}}},
		{Collapse: &readmodel.Collapse{Field: readmodel.FieldStatus}},
		{Collapse: &readmodel.Collapse{Field: readmodel.FieldRepeats, Alone: search}},
		{Collapse: &readmodel.Collapse{Field: readmodel.FieldRepeats, Alone: unknown}},
		{Tallies: []readmodel.Selection{{Filter: unknown}}},
	}...)
	long := search
	for range readmodel.MaxWords + 1 {
		long.Search.Must = append(long.Search.Must, readmodel.Piece{Tokens: []string{"x"}})
	}
	rows := search
	for range readmodel.MaxRows + 1 {
		rows.Search.Not = append(rows.Search.Not, []readmodel.Piece{{Tokens: []string{"x", "y"}, InRow: true}})
	}
	for _, f := range []readmodel.Filter{
		unknown, long, rows,
		is(readmodel.FieldFeatured, "yes"),
		readmodel.Near{Field: readmodel.FieldPoint},
		readmodel.Box{Field: readmodel.FieldPoint},
		in(readmodel.FieldCost),
		in(readmodel.FieldParent),
		readmodel.Text{Fields: []string{readmodel.TextCity}},
		readmodel.Contains{Fields: []string{readmodel.TextName}},
		readmodel.And{readmodel.Or{readmodel.Not{Filter: readmodel.Exists{Field: "nothing"}}}},
		readmodel.Not{},
	} {
		of(readmodel.Query{Filter: f})
	}
	for _, tally := range []readmodel.Tally{
		{Field: "nonsense"},
		{Field: readmodel.FieldStatus},
		{Field: readmodel.FieldStart},
		{Field: readmodel.FieldID},
		{Field: readmodel.FieldMonth, Groups: [][]calendar.ID{{1}}},
		{Groups: [][]calendar.ID{{1}}},
		{Parts: []readmodel.Filter{nil}},
		{Parts: []readmodel.Filter{search}},
	} {
		of(readmodel.Query{Tallies: []readmodel.Selection{{Tallies: []readmodel.Tally{tally}}}})
	}
	for _, q := range bad {
		if err := readmodel.Check(q); !errors.Is(err, readmodel.ErrQuery) {
			t.Errorf("%+v: %v, want ErrQuery", q, err)
		}
	}
	for _, field := range []string{readmodel.FieldStatus, "nonsense"} {
		if err := readmodel.CheckCounts(calendar.KindEvent, field, nil); !errors.Is(err, readmodel.ErrQuery) {
			t.Errorf("counts of %s: %v, want ErrQuery", field, err)
		}
	}
}
