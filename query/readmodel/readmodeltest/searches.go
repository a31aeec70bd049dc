package readmodeltest

import (
	"fmt"
	"strings"

	"daybook/calendar"
	"daybook/query/readmodel"
)

var eventTexts = []string{readmodel.TextName, readmodel.TextDescription, readmodel.TextExcerpt}

func textIn(language calendar.Lang, query string, fields ...string) readmodel.Text {
	return readmodel.Text{Fields: fields, Search: readmodel.ParseSearch(query, language)}
}

// phrases writes each text as the description of an event and searches it.
func phrases(pair *indexPair, language calendar.Lang) {
	list := readPhrases(pair, language)
	for i, phrase := range list {
		pair.addRecord(&calendar.Record{
			ID: calendar.ID(1 + i), Kind: calendar.KindEvent, Version: 1, Home: language, Changed: Now,
			Fields: calendar.Fields{"title": in(language, "0000"), "description": in(language, phrase.text)},
		})
	}
	pair.write()
	for i, phrase := range list {
		page := pair.find(calendar.KindEvent, readmodel.And{
			readmodel.In{Field: readmodel.FieldID, IDs: []calendar.ID{calendar.ID(1 + i)}}, textIn(language, phrase.query, eventTexts...),
		})
		if fits := page.Total == 1; fits != phrase.fits {
			pair.Errorf("%s: fits %v", phrase.line, fits)
		}
	}
}

func exactTotals(pair *indexPair) {
	const n = 10_050 // engines like to stop counting at 10,000
	for id := range calendar.ID(n) {
		pair.add(calendar.KindTag, 1+id, calendar.Fields{"slug": "tag"})
		if id%2000 == 0 {
			pair.write()
		}
	}
	pair.write()
	pair.search(readmodel.Query{Kind: calendar.KindTag, Sort: byID, Offset: 9_000, Limit: 2, Tallies: []readmodel.Tally{{Field: readmodel.FieldID}}})
	ids := make([]calendar.ID, 70_000) // more than a search server takes in one part of a query
	for i := range ids {
		ids[i] = calendar.ID(70_000 - i)
	}
	pair.search(readmodel.Query{Kind: calendar.KindTag, Filter: readmodel.In{Field: readmodel.FieldID, IDs: ids}})
}

// placesWithoutValues: a page may start after a document that lacks keys of the order.
func placesWithoutValues(pair *indexPair) {
	for id := range calendar.ID(4) {
		fields := calendar.Fields{}
		if id%2 == 0 {
			fields["date"] = base
		}
		pair.add(calendar.KindVenue, 1+id, fields)
	}
	pair.write()
	for _, desc := range []bool{false, true} {
		order := readmodel.By(desc, readmodel.FieldID, readmodel.FieldDate, readmodel.FieldID)
		order[0].Least = map[calendar.ID]int64{1: 5, 2: 3}
		for _, placed := range pair.search(readmodel.Query{Kind: calendar.KindVenue, Sort: order, Limit: 4}).Documents {
			pair.search(readmodel.Query{Kind: calendar.KindVenue, Sort: order, Limit: 4, After: readmodel.Place(order, placed.Record)})
		}
	}
}

// joinedSpellings: words that are written joined or apart find each other where they may,
// and never after a minus; two letters that are swapped are one typo.
func joinedSpellings(pair *indexPair) {
	titles := strings.Split(spellings, "|")
	for i, title := range titles {
		pair.add(calendar.KindEvent, calendar.ID(1+i), calendar.Fields{"title": in(calendar.LangEN, "A "+title)})
	}
	pair.add(calendar.KindEvent, 1000, calendar.Fields{"title": in(calendar.LangEN, "harbour")})
	pair.write()
	swapped := textIn(calendar.LangEN, "harbuor", eventTexts...)
	swapped.Typos = 1
	pair.find(calendar.KindEvent, swapped)
	for _, title := range titles {
		for _, sign := range []string{"", "-"} {
			for _, joined := range []bool{false, true} {
				text := textIn(calendar.LangEN, sign+title, eventTexts...)
				text.Joined = joined
				pair.find(calendar.KindEvent, text)
			}
		}
	}
}

// largestSearches: a search at the limits is answered, whatever its pieces are.
func largestSearches(pair *indexPair) {
	words := make([]string, readmodel.MaxWords)
	for i := range words {
		words[i] = fmt.Sprintf("musicals%d", i)
	}
	text := strings.Join(words, " ")
	pair.add(calendar.KindVenue, 1, calendar.Fields{"description": in(calendar.LangEN, text)})
	pair.add(calendar.KindVenue, 2, calendar.Fields{"description": in(calendar.LangEN, "none of them")})
	long, characters := strings.Repeat("a", 480), strings.Repeat("音乐会", 100)
	for i, name := range []string{long + "b", strings.Repeat("ab", 250), "short", strings.Repeat("音乐", 400)} {
		pair.add(calendar.KindTag, calendar.ID(10+i), calendar.Fields{"name": in(calendar.LangEN, name), "slug": "s"})
	}
	for i, name := range []string{characters + "jazzy", characters + "jarring", characters, characters[:300] + "・" + characters[300:]} {
		pair.add(calendar.KindOrganizer, calendar.ID(20+i), calendar.Fields{"description": in(calendar.LangEN, name)})
	}
	pair.write()
	for _, value := range []string{long, long[:64], strings.Repeat("ba", 200), strings.Repeat("乐音", 250), "*?\\"} {
		pair.find(calendar.KindTag, readmodel.Contains{Fields: []string{readmodel.FieldNameLower.In(calendar.LangEN), readmodel.FieldSlug}, Value: value})
	}
	for _, query := range []string{characters + "jazz", "-" + characters + "jazz -" + characters[3:] + "jar", characters, strings.Repeat("é", 500)} {
		pair.find(calendar.KindOrganizer, textIn(calendar.LangEN, query, readmodel.SchemaOf(calendar.KindOrganizer).Texts...))
	}
	for _, language := range calendar.Langs {
		for _, query := range []string{
			text + " " + text, "-" + strings.Join(words, " -"), `"` + text + `"`, strings.Join(words, "-"),
			`"` + strings.Join(words, `" "`) + `"`, strings.Join(words[:16], " ") + ` "` + strings.Join(words[16:], " ") + `"`,
		} {
			for _, spelling := range []readmodel.Spelling{{}, {Typos: readmodel.MaxTypos, Joined: true}} {
				search := textIn(language, query, readmodel.SchemaOf(calendar.KindVenue).Texts...)
				search.Spelling = spelling
				page := pair.search(readmodel.Query{
					Kind: calendar.KindVenue, Filter: search, Limit: 2,
					Sort: append([]readmodel.Sort{{Rank: &readmodel.Relevance{Text: search}, Desc: true}}, byID...),
				})
				if page.Total != 1 {
					pair.Errorf("%s: %q: %d venues, want 1", language, query, page.Total)
				}
			}
		}
	}
}
