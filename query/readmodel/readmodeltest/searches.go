package readmodeltest

import (
	"fmt"
	"strings"

	"daybook/calendar"
	"daybook/query/readmodel"
)

func searchCases() []testCase {
	return []testCase{
		{"exact totals", exactTotals},
		{"the largest searches", largestSearches},
		{"bad queries", badQueries},
	}
}

var eventTexts = []string{readmodel.TextName, readmodel.TextDescription, readmodel.TextExcerpt}

func textIn(l calendar.Lang, query string, fields ...string) readmodel.Text {
	return readmodel.Text{Fields: fields, Search: readmodel.ParseSearch(query, l)}
}

// phrases writes each text as the description of an event and searches it.
func phrases(p *pair, l calendar.Lang) {
	list, err := Phrases(l)
	if err != nil {
		p.Fatal(err)
	}
	for i, phrase := range list {
		p.addRecord(&calendar.Record{
			ID: calendar.ID(1 + i), Kind: calendar.KindEvent, Version: 1, Home: l, Changed: Now,
			Fields: calendar.Fields{"title": in(l, "0000"), "description": in(l, phrase.Text)},
		})
	}
	p.write()
	for i, phrase := range list {
		page := p.find(calendar.KindEvent, readmodel.And{
			readmodel.In{Field: readmodel.FieldID, IDs: []calendar.ID{calendar.ID(1 + i)}}, textIn(l, phrase.Query, eventTexts...),
		})
		if fits := page.Total == 1; fits != phrase.Fits {
			p.Errorf("%v: fits %v, want %v", phrase, fits, phrase.Fits)
		}
	}
}

func exactTotals(p *pair) {
	const n = 10_050 // engines like to stop counting at 10,000
	for id := range calendar.ID(n) {
		p.add(calendar.KindTag, 1+id, calendar.Fields{"slug": "tag"})
		if id%2000 == 0 {
			p.write()
		}
	}
	p.write()
	p.search(readmodel.Query{Kind: calendar.KindTag, Sort: byID, Offset: 9_000, Limit: 2})
}

// largestSearches: a search at the limits is answered.
func largestSearches(p *pair) {
	var words, other strings.Builder
	for i := range readmodel.MaxWords - readmodel.MaxRows {
		fmt.Fprintf(&words, "musicals%d ", i)
	}
	rows := make([]string, readmodel.MaxRows)
	for i := range rows {
		rows[i] = fmt.Sprintf("playing%d nationally acting", i)
		fmt.Fprintf(&other, "acting nationally playing%d ", i)
	}
	for i, text := range []string{strings.Join(rows, " "), other.String()} {
		p.add(calendar.KindVenue, calendar.ID(1+i), calendar.Fields{"description": in(calendar.LangEN, words.String()+text)})
	}
	p.write()
	must := words.String() + `"` + strings.Join(rows, `" "`) + `"`
	without := words.String() + `-"` + strings.Join(rows, `" -"`) + `"`
	for _, l := range calendar.Langs {
		for _, query := range []string{must + " " + must, without} {
			if total := p.find(calendar.KindVenue, textIn(l, query, readmodel.SchemaOf(calendar.KindVenue).Texts()...)).Total; total != 1 {
				p.Errorf("%s: %q: %d venues, want 1", l, query, total)
			}
		}
	}
}

// badQueries: what readmodel.Check refuses is refused, whatever is asked.
func badQueries(p *pair) {
	unknown := readmodel.Term{Field: "nonsense", Value: "x"}
	for _, q := range []readmodel.Query{
		{Offset: -1},
		{Filter: unknown},
		{Narrow: unknown},
		{Beside: unknown},
		{Sort: []readmodel.Sort{{Field: readmodel.FieldStatus}}},
		{Collapse: &readmodel.Collapse{Field: readmodel.FieldStatus}},
		{Tallies: []readmodel.Selection{{Filter: unknown}}},
	} {
		q.Kind = calendar.KindEvent
		p.search(q)
		q.Offset, q.Tallies = 0, nil
		p.walk(q)
		p.titles(readmodel.Titles{Kind: q.Kind, Filter: q.Filter, Sort: q.Sort})
		p.counts(q.Kind, readmodel.FieldVenue, q.Filter)
	}
	p.titles(readmodel.Titles{Kind: calendar.KindVenue})
	p.counts(calendar.KindEvent, readmodel.FieldStatus, nil)
}
