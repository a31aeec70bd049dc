package readmodeltest

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/query/readmodel"
)

func filterCases() []testCase {
	return []testCase{
		{"keywords and booleans", keywordsAndBooleans},
		{"ids", ids},
		{"ranges", ranges},
		{"near", near},
		{"boxes", boxes},
		{"numbers that follow from others", followingNumbers},
		{"costs and languages", costsAndLanguages},
		{"keys of places", placeKeys},
		{"exists", exists},
		{"contains", contains},
		{"and, or, not", combined},
		{"counts", counts},
		{"bad queries", badQueries},
	}
}

func keywordsAndBooleans(t testing.TB, x readmodel.Index) {
	var b build
	b.add(calendar.KindEvent, 1, calendar.Fields{"status": "publish", "featured": true})
	b.add(calendar.KindEvent, 2, calendar.Fields{"status": "draft", "featured": false})
	b.add(calendar.KindEvent, 3, calendar.Fields{"status": "trash", "former_status": "publish"})
	b.add(calendar.KindVenue, 4, calendar.Fields{"status": "publish"})
	b.write(t, x)
	wantIDs(t, x, calendar.KindEvent, readmodel.Term{Field: readmodel.FieldStatus, Value: "publish"}, 1)
	wantIDs(t, x, calendar.KindEvent, readmodel.Term{Field: readmodel.FieldStatus, Value: "Publish"})
	wantIDs(t, x, calendar.KindEvent, readmodel.Term{Field: readmodel.FieldFormerStatus, Value: "publish"}, 3)
	wantIDs(t, x, calendar.KindEvent, readmodel.Term{Field: readmodel.FieldFeatured, Value: "true"}, 1)
	// A flag that a record does not have counts as false.
	wantIDs(t, x, calendar.KindEvent, readmodel.Term{Field: readmodel.FieldFeatured, Value: "false"}, 2, 3)
	wantIDs(t, x, calendar.KindVenue, readmodel.Term{Field: readmodel.FieldStatus, Value: "publish"}, 4)
}

func ids(t testing.TB, x readmodel.Index) {
	var b build
	b.add(calendar.KindEvent, 1, calendar.Fields{"venue": []calendar.ID{10, 11}, "author": calendar.ID(7)})
	b.add(calendar.KindEvent, 2, calendar.Fields{"venue": []calendar.ID{11}, "post_parent": calendar.ID(1)})
	b.add(calendar.KindEvent, 3, calendar.Fields{"tags": []calendar.ID{11}})
	b.add(calendar.KindCategory, 20, calendar.Fields{"slug": "a"})
	b.add(calendar.KindCategory, 21, calendar.Fields{"slug": "b", "parent": calendar.ID(20)})
	b.write(t, x)
	venue := func(ids ...calendar.ID) readmodel.Filter { return readmodel.In{Field: readmodel.FieldVenue, IDs: ids} }
	wantIDs(t, x, calendar.KindEvent, venue(10), 1)
	wantIDs(t, x, calendar.KindEvent, venue(11), 1, 2)
	wantIDs(t, x, calendar.KindEvent, venue(10, 11, 12), 1, 2)
	wantIDs(t, x, calendar.KindEvent, venue(12))
	wantIDs(t, x, calendar.KindEvent, venue())
	wantIDs(t, x, calendar.KindEvent, readmodel.In{Field: readmodel.FieldTags, IDs: []calendar.ID{11}}, 3)
	wantIDs(t, x, calendar.KindEvent, readmodel.In{Field: readmodel.FieldID, IDs: []calendar.ID{3, 99, 1, 20}}, 1, 3)
	wantIDs(t, x, calendar.KindEvent, readmodel.In{Field: readmodel.FieldAuthor, IDs: []calendar.ID{7}}, 1)
	wantIDs(t, x, calendar.KindEvent, readmodel.In{Field: readmodel.FieldPostParent, IDs: []calendar.ID{1}}, 2)
	wantIDs(t, x, calendar.KindCategory, readmodel.In{Field: readmodel.FieldParent, IDs: []calendar.ID{20}}, 21)
}

func ranges(t testing.TB, x readmodel.Index) {
	var b build
	for i, start := range []calendar.Wall{-100, 0, 100, 100, 200} {
		b.add(calendar.KindEvent, calendar.ID(1+i), calendar.Fields{"start_date": start, "date_utc": calendar.NoWall})
	}
	b.add(calendar.KindEvent, 6, calendar.Fields{"date_utc": calendar.Wall(5)})
	b.write(t, x)
	start := func(lo, hi *int64) readmodel.Filter {
		return readmodel.Range{Field: readmodel.FieldStart, Min: lo, Max: hi}
	}
	wantIDs(t, x, calendar.KindEvent, start(new(int64(0)), new(int64(100))), 2, 3, 4)
	wantIDs(t, x, calendar.KindEvent, start(new(int64(1)), new(int64(99))))
	wantIDs(t, x, calendar.KindEvent, start(new(int64(100)), new(int64(100))), 3, 4)
	wantIDs(t, x, calendar.KindEvent, start(new(int64(101)), new(int64(99))))
	wantIDs(t, x, calendar.KindEvent, start(nil, new(int64(0))), 1, 2)
	wantIDs(t, x, calendar.KindEvent, start(new(int64(101)), nil), 5)
	wantIDs(t, x, calendar.KindEvent, start(new(int64(201)), nil))
	wantIDs(t, x, calendar.KindEvent, start(nil, new(int64(-101))))
	wantIDs(t, x, calendar.KindEvent, start(nil, nil), 1, 2, 3, 4, 5)
	// What was never published has no time of publication.
	wantIDs(t, x, calendar.KindEvent, readmodel.Range{Field: readmodel.FieldPublished, Max: new(int64(1 << 40))}, 6)
}

func near(t testing.TB, x readmodel.Index) {
	var b build
	for i, p := range [][2]float64{
		{48.8584, 2.2945},   // 1 Paris
		{51.5007, -0.1246},  // 2 London, 340.6 km from Paris
		{0, 179.9},          // 3 and 4: 22.2 km from each other over the date line
		{0, -179.9},         // 4
		{89.9, 0},           // 5 and 6: 22.2 km from each other over the pole
		{89.9, 180},         // 6
		{60, 10},            // 7
		{60, 11},            // 8: 55.6 km from 7, not 111
		{-33.8568, 151.215}, // 9 Sydney
	} {
		b.add(calendar.KindVenue, calendar.ID(1+i), calendar.Fields{"geo_lat": p[0], "geo_lng": p[1]})
	}
	b.add(calendar.KindVenue, 10, calendar.Fields{})
	b.write(t, x)
	within := func(lat, lng, km float64) readmodel.Filter {
		return readmodel.Near{Field: readmodel.FieldPoint, Lat: lat, Lng: lng, Km: km}
	}
	wantIDs(t, x, calendar.KindVenue, within(48.8584, 2.2945, 0.001), 1)
	wantIDs(t, x, calendar.KindVenue, within(48.8584, 2.2945, 340), 1)
	wantIDs(t, x, calendar.KindVenue, within(48.8584, 2.2945, 341), 1, 2)
	wantIDs(t, x, calendar.KindVenue, within(0, 179.9, 22), 3)
	wantIDs(t, x, calendar.KindVenue, within(0, 179.9, 22.3), 3, 4)
	wantIDs(t, x, calendar.KindVenue, within(0, -179.9, 22.3), 3, 4)
	wantIDs(t, x, calendar.KindVenue, within(89.9, 0, 22.3), 5, 6)
	wantIDs(t, x, calendar.KindVenue, within(90, -77, 11.2), 5, 6)
	wantIDs(t, x, calendar.KindVenue, within(60, 10, 55), 7)
	wantIDs(t, x, calendar.KindVenue, within(60, 10, 56), 7, 8)
	wantIDs(t, x, calendar.KindVenue, within(48.8584, 2.2945, 16950), 1, 2, 3, 4, 5, 6, 7, 8)
	wantIDs(t, x, calendar.KindVenue, within(0, 0, 20000), 1, 2, 5, 6, 7, 8, 9)
	wantIDs(t, x, calendar.KindVenue, within(0, 1, 20010), 1, 2, 3, 4, 5, 6, 7, 8, 9)
}

func boxes(t testing.TB, x readmodel.Index) {
	var b build
	for i, p := range [][2]float64{{48.8584, 2.2945}, {10, 20}, {10, 30}, {-17, 179.9}, {-17, -179.9}, {90, 0}, {0, 180}} {
		b.add(calendar.KindVenue, calendar.ID(1+i), calendar.Fields{"geo_lat": p[0], "geo_lng": p[1]})
	}
	b.add(calendar.KindVenue, 10, calendar.Fields{})
	b.write(t, x)
	in := func(west, south, east, north float64) readmodel.Filter {
		return readmodel.Box{Field: readmodel.FieldPoint, West: west, South: south, East: east, North: north}
	}
	wantIDs(t, x, calendar.KindVenue, in(-180, -90, 180, 90), 1, 2, 3, 4, 5, 6, 7)
	wantIDs(t, x, calendar.KindVenue, in(20, 10, 30, 10), 2, 3)
	wantIDs(t, x, calendar.KindVenue, in(20, 10, 20, 10), 2)
	wantIDs(t, x, calendar.KindVenue, in(20.1, 9, 29.9, 11))
	wantIDs(t, x, calendar.KindVenue, in(179, -18, -179, -16), 4, 5)
	wantIDs(t, x, calendar.KindVenue, in(25, -90, 15, 90), 1, 3, 4, 5, 6, 7)
	wantIDs(t, x, calendar.KindVenue, in(-1, 89.9, 1, 90), 6)
	wantIDs(t, x, calendar.KindVenue, in(170, -1, 180, 1), 7)
}

func followingNumbers(t testing.TB, x readmodel.Index) {
	var b build
	for i, e := range []struct {
		start, end int64
		allDay     bool
	}{
		{0, 3600, false},                // 1: Thursday, January 1970, 00:00, an hour
		{-1, 3600, false},               // 2: Wednesday, December 1969, 23:59, an hour and a second
		{86_400 + 719*60 + 59, 0, true}, // 3: Friday, January 1970
	} {
		f := calendar.Fields{
			"start_date": calendar.Wall(e.start), "end_date": calendar.Wall(e.end), "all_day": e.allDay,
			"utc_start_date": calendar.Wall(e.start + 7*3600), "utc_end_date": calendar.Wall(e.end + 7*3600),
		}
		if e.allDay {
			f["start_date"], f["end_date"] = calendar.Wall(86_400), calendar.Wall(3*86_400-1)
		}
		b.add(calendar.KindEvent, calendar.ID(1+i), f)
	}
	b.add(calendar.KindEvent, 4, calendar.Fields{}) // has none of them
	b.write(t, x)
	in := func(field string, ids ...calendar.ID) readmodel.Filter { return readmodel.In{Field: field, IDs: ids} }
	between := func(field string, lo, hi int64) readmodel.Filter {
		return readmodel.Range{Field: field, Min: &lo, Max: &hi}
	}
	wantIDs(t, x, calendar.KindEvent, in(readmodel.FieldMonth, calendar.ID(readmodel.MonthOf(1970, 1)), 5), 1, 3)
	wantIDs(t, x, calendar.KindEvent, between(readmodel.FieldMonth, 0, readmodel.MonthOf(1969, 12)), 2)
	wantIDs(t, x, calendar.KindEvent, in(readmodel.FieldWeekday, 4, 5), 1, 3)
	wantIDs(t, x, calendar.KindEvent, between(readmodel.FieldWeekday, 1, 3), 2)
	wantIDs(t, x, calendar.KindEvent, in(readmodel.FieldMinute, 0), 1)
	wantIDs(t, x, calendar.KindEvent, between(readmodel.FieldMinute, 1, 1439), 2)
	wantIDs(t, x, calendar.KindEvent, readmodel.Exists{Field: readmodel.FieldMinute}, 1, 2)
	wantIDs(t, x, calendar.KindEvent, readmodel.Exists{Field: readmodel.FieldDuration}, 1, 2, 3)
	wantIDs(t, x, calendar.KindEvent, between(readmodel.FieldDuration, 0, 3600), 1)
	wantIDs(t, x, calendar.KindEvent, between(readmodel.FieldDuration, 3601, 2*86_400-1), 2)
	wantIDs(t, x, calendar.KindEvent, in(readmodel.FieldDuration, 2*86_400), 3)
	wantIDs(t, x, calendar.KindEvent, readmodel.Not{Filter: between(readmodel.FieldMinute, 0, 1439)}, 3, 4)
}

func costsAndLanguages(t testing.TB, x readmodel.Index) {
	var b build
	for i, c := range [][]string{
		{"0"}, {"Gratuït"}, {"免費", "0.00"}, {"0–30"}, {"pay what you want"}, {}, {"10.9999"}, {"25"}, {"1234.567"}, {"99999999999999999999"},
	} {
		b.add(calendar.KindEvent, calendar.ID(1+i), calendar.Fields{"cost": c})
	}
	b.record(&calendar.Record{ID: 20, Kind: calendar.KindEvent, Version: 1, Home: calendar.LangFR, Changed: Now, Fields: calendar.Fields{
		"title": in(calendar.LangFR, "Été"), "excerpt": in(calendar.LangES, "Verano"),
	}})
	b.write(t, x)
	between := func(lo, hi int64) readmodel.Filter {
		return readmodel.Range{Field: readmodel.FieldCost, Min: &lo, Max: &hi}
	}
	wantIDs(t, x, calendar.KindEvent, between(readmodel.CostFree, readmodel.CostFree), 1, 2, 3)
	wantIDs(t, x, calendar.KindEvent, between(0, 1098), 4)
	wantIDs(t, x, calendar.KindEvent, between(0, 1099), 4, 7)
	wantIDs(t, x, calendar.KindEvent, between(1100, 2500), 8)
	wantIDs(t, x, calendar.KindEvent, between(1<<53, math.MaxInt64), 10)
	wantIDs(t, x, calendar.KindEvent, readmodel.Not{Filter: readmodel.Exists{Field: readmodel.FieldCost}}, 5, 6, 9, 20)
	languages := func(of ...calendar.Lang) readmodel.Filter {
		f := readmodel.In{Field: readmodel.FieldLanguages}
		for _, l := range of {
			f.IDs = append(f.IDs, readmodel.LanguageID(l))
		}
		return f
	}
	wantIDs(t, x, calendar.KindEvent, languages(calendar.LangES), 20)
	wantIDs(t, x, calendar.KindEvent, languages(calendar.LangFR, calendar.LangCN), 20)
	wantIDs(t, x, calendar.KindEvent, readmodel.Not{Filter: languages(calendar.LangEN)}, 20)
}

func placeKeys(t testing.TB, x readmodel.Index) {
	var b build
	b.add(calendar.KindVenue, 1, calendar.Fields{"city": "München", "country": "Deutschland"})
	b.add(calendar.KindVenue, 2, calendar.Fields{"city": "munchen"})
	b.add(calendar.KindVenue, 3, calendar.Fields{"city": "New  York"})
	b.add(calendar.KindVenue, 4, calendar.Fields{})
	b.add(calendar.KindVenue, 5, calendar.Fields{"city": "L’Aquila"})
	b.add(calendar.KindVenue, 6, calendar.Fields{"city": "l'aquila"})
	b.add(calendar.KindVenue, 7, calendar.Fields{"city": "Stoke\u2011on–Trent"})
	b.write(t, x)
	at := func(field, text string) readmodel.Filter {
		return readmodel.Term{Field: field, Value: readmodel.PlaceKey(text)}
	}
	wantIDs(t, x, calendar.KindVenue, at(readmodel.FieldCityKey, "MÜNCHEN"), 1, 2)
	wantIDs(t, x, calendar.KindVenue, at(readmodel.FieldCityKey, " new york"), 3)
	wantIDs(t, x, calendar.KindVenue, at(readmodel.FieldCityKey, "new"))
	wantIDs(t, x, calendar.KindVenue, at(readmodel.FieldCityKey, "LʼAquila"), 5, 6)
	wantIDs(t, x, calendar.KindVenue, at(readmodel.FieldCityKey, "Laquila"))
	wantIDs(t, x, calendar.KindVenue, at(readmodel.FieldCityKey, "stoke-on-trent"), 7)
	wantIDs(t, x, calendar.KindVenue, at(readmodel.FieldCountryKey, "deutschland"), 1)
	wantIDs(t, x, calendar.KindVenue, at(readmodel.FieldCountryKey, ""))
}

func exists(t testing.TB, x readmodel.Index) {
	var b build
	b.add(calendar.KindVenue, 1, calendar.Fields{"geo_lat": 1.0, "geo_lng": 2.0, "city": "Rome", "author": calendar.ID(7)})
	b.add(calendar.KindVenue, 2, calendar.Fields{"status": "draft", "date_utc": calendar.NoWall})
	b.add(calendar.KindVenue, 3, calendar.Fields{"description": in(calendar.LangES, "<p>Hola</p>"), "date_utc": calendar.Wall(9)})
	b.write(t, x)
	for field, ids := range map[string][]calendar.ID{
		readmodel.FieldPoint: {1}, readmodel.TextCity: {1}, readmodel.FieldAuthor: {1}, readmodel.FieldStatus: {2},
		readmodel.FieldPublished: {3}, readmodel.TextDescription: {3}, readmodel.TextName: {1, 2, 3}, readmodel.FieldID: {1, 2, 3},
	} {
		wantIDs(t, x, calendar.KindVenue, readmodel.Exists{Field: field}, ids...)
	}
}

func contains(t testing.TB, x readmodel.Index) {
	var b build
	b.record(&calendar.Record{ID: 1, Kind: calendar.KindTag, Version: 1, Home: calendar.LangFR, Changed: Now, Fields: calendar.Fields{
		"name": calendar.Text{calendar.LangFR: "Fête du Fleuve", calendar.LangEN: "River feast"}, "slug": "river-feast",
	}})
	b.add(calendar.KindTag, 2, calendar.Fields{"name": in(calendar.LangEN, "Open Air"), "slug": "outside"})
	b.record(&calendar.Record{ID: 3, Kind: calendar.KindTag, Version: 1, Home: calendar.LangCN, Changed: Now, Fields: calendar.Fields{
		"name": in(calendar.LangCN, "音乐会"), "slug": "yin-le-hui",
	}})
	b.add(calendar.KindTag, 4, calendar.Fields{"name": in(calendar.LangEN, "Cafe\u0301  Neu"), "slug": "coffee"}) // as names were stored before
	b.write(t, x)
	find := func(l calendar.Lang, value string) readmodel.Filter {
		return readmodel.Contains{Fields: []string{readmodel.FieldNameLower(l), readmodel.FieldSlug}, Value: value}
	}
	wantIDs(t, x, calendar.KindTag, find(calendar.LangEN, "PEN a"), 2)
	wantIDs(t, x, calendar.KindTag, find(calendar.LangEN, "café n"), 4)
	wantIDs(t, x, calendar.KindTag, find(calendar.LangES, "pen"), 2)  // shown in the home language
	wantIDs(t, x, calendar.KindTag, find(calendar.LangFR, "FÊTE"), 1) // case aside, accents not
	wantIDs(t, x, calendar.KindTag, find(calendar.LangFR, "fete"))
	wantIDs(t, x, calendar.KindTag, find(calendar.LangEN, "fleuve"))   // not shown
	wantIDs(t, x, calendar.KindTag, find(calendar.LangFR, "feast"), 1) // the slug is one for all languages
	wantIDs(t, x, calendar.KindTag, find(calendar.LangEN, "-"), 1, 3)  // no splitting
	wantIDs(t, x, calendar.KindTag, find(calendar.LangCN, "音会"))
	wantIDs(t, x, calendar.KindTag, find(calendar.LangCN, "乐会"), 3)
	wantIDs(t, x, calendar.KindTag, readmodel.Contains{Value: "a"}) // in no field
	wantIDs(t, x, calendar.KindTag, readmodel.Term{Field: readmodel.FieldSlug, Value: "outside"}, 2)
	wantIDs(t, x, calendar.KindTag, readmodel.Term{Field: readmodel.FieldSlug, Value: "side"})
	wantIDs(t, x, calendar.KindTag, readmodel.Term{Field: readmodel.FieldNameLower(calendar.LangES), Value: "fête du fleuve"}, 1)
	wantIDs(t, x, calendar.KindTag, readmodel.Term{Field: readmodel.FieldNameLower(calendar.LangEN), Value: "river feast"}, 1)
}

func combined(t testing.TB, x readmodel.Index) {
	var b build
	for i := range 4 {
		b.add(calendar.KindEvent, calendar.ID(1+i), calendar.Fields{"featured": i&1 != 0, "ticketed": i&2 != 0})
	}
	b.write(t, x)
	featured := readmodel.Term{Field: readmodel.FieldFeatured, Value: "true"}
	ticketed := readmodel.Term{Field: readmodel.FieldTicketed, Value: "true"}
	wantIDs(t, x, calendar.KindEvent, nil, 1, 2, 3, 4)
	wantIDs(t, x, calendar.KindEvent, readmodel.And{}, 1, 2, 3, 4)
	wantIDs(t, x, calendar.KindEvent, readmodel.Or{})
	wantIDs(t, x, calendar.KindEvent, readmodel.And{featured, ticketed}, 4)
	wantIDs(t, x, calendar.KindEvent, readmodel.Or{featured, ticketed}, 2, 3, 4)
	wantIDs(t, x, calendar.KindEvent, readmodel.Not{Filter: featured}, 1, 3)
	wantIDs(t, x, calendar.KindEvent, readmodel.Not{Filter: readmodel.Or{featured, ticketed}}, 1)
	wantIDs(t, x, calendar.KindEvent, readmodel.Not{Filter: readmodel.Not{Filter: readmodel.And{}}}, 1, 2, 3, 4)
	wantIDs(t, x, calendar.KindEvent, readmodel.And{readmodel.Not{Filter: featured}, readmodel.Or{ticketed, readmodel.Or{}}}, 3)
}

func counts(t testing.TB, x readmodel.Index) {
	var b build
	b.add(calendar.KindEvent, 1, calendar.Fields{"status": "publish", "tags": []calendar.ID{30, 31}})
	b.add(calendar.KindEvent, 2, calendar.Fields{"status": "publish", "tags": []calendar.ID{31}})
	b.add(calendar.KindEvent, 3, calendar.Fields{"status": "draft", "tags": []calendar.ID{31, 32}})
	b.add(calendar.KindEvent, 4, calendar.Fields{"status": "publish"})
	b.add(calendar.KindTag, 31, calendar.Fields{"slug": "a"})
	gone := b.add(calendar.KindCategory, 40, calendar.Fields{"slug": "b", "parent": calendar.ID(41)})
	b.add(calendar.KindCategory, 41, calendar.Fields{"slug": "c"})
	b.add(calendar.KindCategory, 42, calendar.Fields{"slug": "d", "parent": calendar.ID(41)})
	b.write(t, x)
	published := readmodel.Term{Field: readmodel.FieldStatus, Value: "publish"}
	wantCounts(t, x, calendar.KindEvent, readmodel.FieldTags, published, map[calendar.ID]int{30: 1, 31: 2})
	wantCounts(t, x, calendar.KindEvent, readmodel.FieldTags, nil, map[calendar.ID]int{30: 1, 31: 3, 32: 1})
	wantCounts(t, x, calendar.KindEvent, readmodel.FieldVenue, nil, map[calendar.ID]int{})
	wantCounts(t, x, calendar.KindEvent, readmodel.FieldID, published, map[calendar.ID]int{1: 1, 2: 1, 4: 1})
	wantCounts(t, x, calendar.KindCategory, readmodel.FieldParent, nil, map[calendar.ID]int{41: 2})
	b.delete(gone)
	b.write(t, x)
	wantCounts(t, x, calendar.KindCategory, readmodel.FieldParent, nil, map[calendar.ID]int{41: 1})
}

func wantCounts(t testing.TB, x readmodel.Index, k calendar.Kind, field string, f readmodel.Filter, want map[calendar.ID]int) {
	t.Helper()
	got, err := x.Counts(t.Context(), k, field, f)
	if err != nil {
		t.Fatalf("counts of %s: %v", field, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counts of %s with %+v (-want +got):\n%s", field, f, diff)
	}
}

func badQueries(t testing.TB, x readmodel.Index) {
	for _, q := range []readmodel.Query{
		{Kind: 0},
		{Kind: calendar.KindEvent, Offset: -1},
		{Kind: calendar.KindEvent, Limit: -1},
		{Kind: calendar.KindEvent, Sort: []readmodel.Sort{{Field: readmodel.FieldStatus}}},
		{Kind: calendar.KindEvent, Sort: []readmodel.Sort{{Field: "nothing"}}},
		{Kind: calendar.KindEvent, Filter: readmodel.Term{Field: "nothing", Value: "x"}},
		{Kind: calendar.KindEvent, Filter: readmodel.Term{Field: readmodel.FieldFeatured, Value: "yes"}},
		{Kind: calendar.KindEvent, Filter: readmodel.Near{Field: readmodel.FieldPoint, Km: 1}},
		{Kind: calendar.KindVenue, Filter: readmodel.Range{Field: readmodel.FieldStart}},
		{Kind: calendar.KindEvent, Filter: readmodel.Box{Field: readmodel.FieldPoint}},
		{Kind: calendar.KindEvent, Filter: readmodel.In{Field: readmodel.FieldCost}},
		{Kind: calendar.KindEvent, Sort: []readmodel.Sort{{Field: readmodel.FieldWeekday}}},
		{Kind: calendar.KindTag, Sort: []readmodel.Sort{{Field: readmodel.FieldSlug, Tail: true}}},
		{Kind: calendar.KindTag, Filter: readmodel.In{Field: readmodel.FieldParent}},
		{Kind: calendar.KindTag, Filter: readmodel.Text{Fields: []string{readmodel.TextDescription}, Search: readmodel.ParseSearch("x", calendar.LangEN)}},
		{Kind: calendar.KindEvent, Filter: readmodel.Text{Fields: []string{readmodel.TextCity}, Search: readmodel.ParseSearch("x", calendar.LangEN)}},
		{Kind: calendar.KindEvent, Filter: readmodel.Contains{Fields: []string{readmodel.TextName}, Value: "x"}},
		{Kind: calendar.KindEvent, Filter: readmodel.And{readmodel.Or{readmodel.Not{Filter: readmodel.Exists{Field: "nothing"}}}}},
		{Kind: calendar.KindEvent, Filter: readmodel.Not{}},
	} {
		_, err := x.Search(t.Context(), q)
		wantErr(t, "search", err, readmodel.ErrQuery)
	}
	_, err := x.Counts(t.Context(), calendar.KindEvent, readmodel.FieldStatus, nil)
	wantErr(t, "counts of a keyword", err, readmodel.ErrQuery)
	_, err = x.Counts(t.Context(), calendar.KindEvent, readmodel.FieldVenue, readmodel.Exists{Field: "nothing"})
	wantErr(t, "counts with a bad filter", err, readmodel.ErrQuery)
}
