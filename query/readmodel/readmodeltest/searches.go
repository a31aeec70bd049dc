package readmodeltest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/query/readmodel"
)

func searchCases() []testCase {
	all := slices.Grow([]testCase{
		{"shown texts", shownTexts},
		{"fields of a search", fieldsOfASearch},
		{"details of venues", detailsOfVenues},
		{"stems of the language of the text", stemsOfTheText},
		{"the largest searches", largestSearches},
	}, len(calendar.Langs))
	for _, l := range calendar.Langs {
		all = append(all, testCase{"phrases " + l.String(), func(t testing.TB, x readmodel.Index) {
			t.Helper()
			phrases(t, x, l)
		}})
	}
	return all
}

// phrases writes each text as the description of an event and searches it.
func phrases(t testing.TB, x readmodel.Index, l calendar.Lang) {
	t.Helper()
	list, err := Phrases(l)
	if err != nil {
		t.Fatal(err)
	}
	var b build
	for i, p := range list {
		b.record(&calendar.Record{
			ID: calendar.ID(1 + i), Kind: calendar.KindEvent, Version: 1, Home: l, Changed: Now,
			Fields: calendar.Fields{"title": in(l, "0000"), "description": in(l, p.Text)},
		})
	}
	b.write(t, x)
	for i, p := range list {
		page := search(t, x, readmodel.Query{Kind: calendar.KindEvent, Filter: readmodel.And{
			readmodel.In{Field: readmodel.FieldID, IDs: []calendar.ID{calendar.ID(1 + i)}},
			readmodel.Text{Fields: eventTexts, Search: readmodel.ParseSearch(p.Query, l)},
		}})
		if fits := page.Total == 1; fits != p.Fits {
			t.Errorf("%v: fits %v, want %v", p, fits, p.Fits)
		}
	}
}

var eventTexts = []string{readmodel.TextName, readmodel.TextDescription, readmodel.TextExcerpt}

func textIn(l calendar.Lang, query string, fields ...string) readmodel.Filter {
	return readmodel.Text{Fields: fields, Search: readmodel.ParseSearch(query, l)}
}

func shownTexts(t testing.TB, x readmodel.Index) {
	var b build
	b.record(&calendar.Record{ID: 1, Kind: calendar.KindEvent, Version: 1, Home: calendar.LangFR, Changed: Now, Fields: calendar.Fields{
		"title":       calendar.Text{calendar.LangFR: "Nuit blanche", calendar.LangEN: "White night"},
		"description": calendar.Text{calendar.LangFR: "Au bord du fleuve", calendar.LangES: "Junto al agua"},
	}})
	b.write(t, x)
	for _, c := range []struct {
		l     calendar.Lang
		query string
		fits  bool
	}{
		{calendar.LangFR, "nuit fleuve", true},
		{calendar.LangFR, "white", false},
		{calendar.LangFR, "agua", false},
		{calendar.LangEN, "white", true},
		{calendar.LangEN, "blanche", false},
		{calendar.LangEN, "white fleuve", true}, // each field falls back by itself
		{calendar.LangEN, "agua", false},
		{calendar.LangES, "nuit agua", true},
		{calendar.LangES, "fleuve", false},
		{calendar.LangES, "white", false},
		{calendar.LangCN, "nuit fleuve", true},
		{calendar.LangCN, "white", false},
		{calendar.LangEN, `"au bord"`, true},
		{calendar.LangES, `"au bord"`, false},
		{calendar.LangES, "-fleuve", true},
	} {
		var ids []calendar.ID
		if c.fits {
			ids = []calendar.ID{1}
		}
		wantIDs(t, x, calendar.KindEvent, textIn(c.l, c.query, eventTexts...), ids...)
	}
}

func fieldsOfASearch(t testing.TB, x readmodel.Index) {
	var b build
	b.add(calendar.KindEvent, 1, calendar.Fields{
		"title": in(calendar.LangEN, "River jazz"), "description": in(calendar.LangEN, "Music by night"), "excerpt": in(calendar.LangEN, "Free"),
		"slug": "slugged", "website": "https://site.example",
	})
	b.add(calendar.KindEvent, 2, calendar.Fields{"title": in(calendar.LangEN, "Music"), "description": in(calendar.LangEN, "jazz")})
	b.write(t, x)
	wantIDs(t, x, calendar.KindEvent, textIn(calendar.LangEN, "jazz music", eventTexts...), 1, 2)
	wantIDs(t, x, calendar.KindEvent, textIn(calendar.LangEN, "jazz free night", eventTexts...), 1)
	wantIDs(t, x, calendar.KindEvent, textIn(calendar.LangEN, `"jazz music"`, eventTexts...)) // quotes stay in one field
	wantIDs(t, x, calendar.KindEvent, textIn(calendar.LangEN, "jazz", readmodel.TextName), 1)
	wantIDs(t, x, calendar.KindEvent, textIn(calendar.LangEN, "music", readmodel.TextName), 2)
	wantIDs(t, x, calendar.KindEvent, textIn(calendar.LangEN, "-jazz", readmodel.TextName), 2)
	wantIDs(t, x, calendar.KindEvent, textIn(calendar.LangEN, "slugged", eventTexts...))
	wantIDs(t, x, calendar.KindEvent, textIn(calendar.LangEN, "site", eventTexts...))
	wantIDs(t, x, calendar.KindEvent, textIn(calendar.LangEN, "jazz"))
	wantIDs(t, x, calendar.KindEvent, readmodel.Not{Filter: textIn(calendar.LangEN, "river", eventTexts...)}, 2)
	wantIDs(t, x, calendar.KindEvent, readmodel.Or{
		readmodel.And{readmodel.In{Field: readmodel.FieldID, IDs: []calendar.ID{1}}, textIn(calendar.LangEN, "river", eventTexts...)},
		readmodel.And{readmodel.In{Field: readmodel.FieldID, IDs: []calendar.ID{2}}, textIn(calendar.LangEN, "music", readmodel.TextName)},
	}, 1, 2)
	// A name is no HTML.
	b.add(calendar.KindEvent, 3, calendar.Fields{"title": in(calendar.LangEN, "a <river> of 2 &amp; 3")})
	b.write(t, x)
	wantIDs(t, x, calendar.KindEvent, textIn(calendar.LangEN, "river", readmodel.TextName), 1, 3)
	wantIDs(t, x, calendar.KindEvent, textIn(calendar.LangEN, "amp", readmodel.TextName), 3)
}

func detailsOfVenues(t testing.TB, x readmodel.Index) {
	var b build
	b.record(&calendar.Record{ID: 1, Kind: calendar.KindVenue, Version: 1, Home: calendar.LangES, Changed: Now, Fields: calendar.Fields{
		"venue": in(calendar.LangES, "Sala"), "address": "12 Quay St", "city": "Córdoba", "country": "Argentina", "province": "Centro",
		"state": "CBA", "stateprovince": "Norte", "zip": "X5000", "phone": "+54 351 555-0100", "website": "https://sala.example/agenda",
	}})
	b.add(calendar.KindOrganizer, 2, calendar.Fields{"email": "hello@arts.example", "phone": "0101", "website": "https://arts.example"})
	b.write(t, x)
	all := readmodel.SchemaOf(calendar.KindVenue).Texts()
	for _, l := range calendar.Langs {
		for _, query := range []string{"quay", "cordoba", "argent", "centros", "cba", "norte", "x5000", "351 0100", "agenda", `"555 0100"`, "sala quay norte"} {
			wantIDs(t, x, calendar.KindVenue, textIn(l, query, all...), 1)
		}
	}
	wantIDs(t, x, calendar.KindVenue, textIn(calendar.LangEN, "quay", readmodel.TextCity))
	wantIDs(t, x, calendar.KindVenue, textIn(calendar.LangEN, `"cordoba argentina"`, all...))
	organizer := readmodel.SchemaOf(calendar.KindOrganizer).Texts()
	for _, query := range []string{"hello", "arts", "0101", `"hello arts example"`} {
		wantIDs(t, x, calendar.KindOrganizer, textIn(calendar.LangFR, query, organizer...), 2)
	}
}

// largestSearches: a search at the limits is answered, one beyond them is refused
// by every index alike.
func largestSearches(t testing.TB, x readmodel.Index) {
	var words, other strings.Builder
	for i := range readmodel.MaxWords - readmodel.MaxRows {
		fmt.Fprintf(&words, "musicals%d ", i)
	}
	rows := make([]string, readmodel.MaxRows)
	for i := range rows {
		rows[i] = fmt.Sprintf("playing%d nationally acting", i)
		fmt.Fprintf(&other, "acting nationally playing%d ", i)
	}
	text := words.String() + strings.Join(rows, " ")
	var b build
	b.add(calendar.KindVenue, 1, calendar.Fields{"venue": in(calendar.LangEN, "Hall"), "description": in(calendar.LangEN, text)})
	b.add(calendar.KindVenue, 2, calendar.Fields{"venue": in(calendar.LangEN, "Hall"), "description": in(calendar.LangEN, words.String()+other.String())})
	b.write(t, x)
	all := readmodel.SchemaOf(calendar.KindVenue).Texts()
	must := words.String() + `"` + strings.Join(rows, `" "`) + `"`
	without := words.String() + `-"` + strings.Join(rows, `" -"`) + `"`
	for _, l := range calendar.Langs {
		wantIDs(t, x, calendar.KindVenue, textIn(l, must+" "+must, all...), 1)
		wantIDs(t, x, calendar.KindVenue, textIn(l, without, all...), 2)
		for _, query := range []string{must + " zebra", must + ` "one zebra"`, without + " -zebra", strings.Repeat(`-"of the" `, 8) + must} {
			_, err := x.Search(t.Context(), readmodel.Query{Kind: calendar.KindVenue, Filter: textIn(l, query, all...)})
			if !errors.Is(err, readmodel.ErrQuery) {
				t.Errorf("%s: %q: %v, want %v", l, query, err, readmodel.ErrQuery)
			}
		}
	}
}

// stemsOfTheText: the language of a text decides about stems, not that of the
// request.
func stemsOfTheText(t testing.TB, x readmodel.Index) {
	var b build
	for i, l := range calendar.Langs {
		b.record(&calendar.Record{ID: calendar.ID(1 + i), Kind: calendar.KindEvent, Version: 1, Home: l, Changed: Now, Fields: calendar.Fields{
			"title": in(l, "study"), "description": in(l, "bailando"), "excerpt": in(l, "chevaux"),
		}})
	}
	b.write(t, x)
	for _, l := range calendar.Langs {
		wantIDs(t, x, calendar.KindEvent, textIn(l, "study", eventTexts...), 1, 2, 3, 4)
		wantIDs(t, x, calendar.KindEvent, textIn(l, "studying", eventTexts...), 2)
		wantIDs(t, x, calendar.KindEvent, textIn(l, "cheval", eventTexts...), 3)
		wantIDs(t, x, calendar.KindEvent, textIn(l, "bailar", eventTexts...), 4)
		wantIDs(t, x, calendar.KindEvent, textIn(l, `"bailar"`, eventTexts...), 4)
	}
}
