package readmodeltest

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/query/readmodel"
)

func typoCases() []testCase {
	return []testCase{
		{"typos", typos},
		{"typos of any words", typosOfAnyWords},
		{"relevance", relevance},
	}
}

// typos: LISTINGS 3.3, 8.32.
func typos(t testing.TB, x readmodel.Index) {
	var b build
	b.add(calendar.KindEvent, 1, calendar.Fields{
		"title":       in(calendar.LangEN, "Jazz concert"),
		"description": in(calendar.LangEN, "<p>A symphony by night, with 음악회 and 音乐会, 2026 and the Øresund</p>"),
	})
	b.record(&calendar.Record{ID: 2, Kind: calendar.KindEvent, Version: 1, Home: calendar.LangFR, Changed: Now, Fields: calendar.Fields{
		"title": calendar.Text{calendar.LangFR: "Chevaux", calendar.LangEN: "Horses"},
	}})
	b.write(t, x)
	wants := func(l calendar.Lang, query, fits string, id calendar.ID) {
		t.Helper()
		for step := range readmodel.MaxTypos + 1 {
			var ids []calendar.ID
			if fits[step] == 'y' {
				ids = []calendar.ID{id}
			}
			only := readmodel.In{Field: readmodel.FieldID, IDs: []calendar.ID{id}}
			wantIDs(t, x, calendar.KindEvent, readmodel.And{only, readmodel.Text{Fields: eventTexts, Search: readmodel.ParseSearch(query, l), Typos: step}}, ids...)
		}
	}
	for query, fits := range map[string]string{ // by step 0, 1, 2
		"jaz": "yyy", "jzz": "nnn", "niht": "nyy", "ngt": "nnn",
		"jzaz": "nyy", "jazx": "nyy", "jjazz": "nyy", "ajzz": "nyy", "kazz": "nyy", "kkzz": "nnn",
		"conecrt": "nyy", "cnocret": "nnn", "concerto": "nyy",
		"sinphony": "nny", "symhpnoy": "nny", "symphny": "nyy", "sinphnoy": "nnn",
		"symphonies": "yyy", "smphonies": "nnn", "sym": "yyy", "smy": "nnn", "jazzconcert": "nnn",
		"jzaz conecrt": "nyy", "jzaz sinphony": "nny", "jzaz nothing": "nnn",
		`"jzaz"`: "nnn", `"jazz" conecrt`: "nyy", "-jzaz": "yyy", "-jazz": "nnn", "conecrt -jzaz": "nyy", "conecrt -jazz": "nnn",
		"jazz2": "nnn", "2027": "nnn", "音会乐": "nnn", "음회악": "nnn", "oresnud": "nyy", "ØRESNUD": "nyy", "JZÁZ": "nyy",
	} {
		for _, l := range calendar.Langs {
			wants(l, query, fits, 1)
		}
	}
	wants(calendar.LangFR, "cehvaux", "nyy", 2)
	wants(calendar.LangCN, "cehvaux", "nyy", 2)
	wants(calendar.LangEN, "cehvaux", "nnn", 2) // not shown
	wants(calendar.LangEN, "hroses", "nyy", 2)
	wants(calendar.LangFR, "hroses", "nnn", 2)
	wantErr(t, "three typos", searchErr(t, x, readmodel.Text{Fields: eventTexts, Search: readmodel.ParseSearch("jazz", calendar.LangEN), Typos: 3}), readmodel.ErrQuery)
}

func searchErr(t testing.TB, x readmodel.Index, f readmodel.Filter) error {
	t.Helper()
	_, err := x.Search(t.Context(), readmodel.Query{Kind: calendar.KindEvent, Filter: f})
	return err
}

// typosOfAnyWords compares words of a few letters, so that most are near to some others,
// with the meaning. An engine that has its own distance shows by it that it is the same.
func typosOfAnyWords(t testing.TB, x readmodel.Index) {
	g := rand.New(rand.NewPCG(11, 1))
	letters := []rune("abcéж")
	word := func() string {
		w := make([]rune, 4+g.IntN(9))
		for i := range w {
			w[i] = letters[min(g.IntN(8), 4)]
		}
		return string(w)
	}
	var b build
	for i := range 400 {
		b.add(calendar.KindEvent, calendar.ID(1+i), calendar.Fields{"title": in(calendar.Langs[i%4], word()), "description": in(calendar.LangEN, word())})
	}
	docs := b.docs
	for i := range docs {
		docs[i].Record.Home = calendar.Langs[i%4]
		docs[i] = document(docs[i].Record, docs[i].Position)
	}
	b.write(t, x)
	found := 0
	for range 50 {
		f := readmodel.Text{Fields: eventTexts, Search: readmodel.ParseSearch(word(), calendar.LangFR), Typos: 1 + g.IntN(2)}
		ids, _, total := want(docs, readmodel.Query{Kind: calendar.KindEvent, Filter: f, Sort: byID, Limit: len(docs)})
		wantPage(t, x, readmodel.Query{Kind: calendar.KindEvent, Filter: f, Sort: byID, Limit: len(docs)}, total, ids...)
		found += total
	}
	if found < 50 {
		t.Errorf("only %d words were near", found)
	}
}

// relevance: LISTINGS 3.2, 8.31. The events stand in the order that is wanted.
func relevance(t testing.TB, x readmodel.Index) {
	for group, c := range []struct {
		query string
		typos int
		texts [][2]string // title and description
	}{
		{"jazz night", 0, [][2]string{
			{"Jazz, night!", ""},
			{"A jazz night out", ""},
			{"A club: jazz nights", ""}, // in a row by stem
			{"night of jazz", ""},
			{"night x", "jazz"},
			{"nights", "jazz"},
			{"x", "a jazz night"},
			{"x", "jazz nights"},
			{"x", "jazzy nights"},
		}},
		{"the jazz", 0, [][2]string{{"The jazz", ""}, {"x the jazz", ""}, {"Jazz", ""}, {"x", "jazz"}}},
		{"symphony jazz", 2, [][2]string{
			{"x", "jazzy symphonies"},
			{"symphony jzaz", ""},
			{"x", "symphany jazz"},
			{"symhpany jazz", ""},
			{"x", "sinphony jzaz"},
		}},
		{"音乐会", 0, [][2]string{{"音乐会", ""}, {"北京音乐会", ""}, {"x", "音乐会"}}},
		{`"jazz night" club -rock`, 0, [][2]string{{"jazz night club", "x"}, {"a club", "jazz nights"}, {"x", "jazz night club"}, {"x", "jazz night clubs"}}},
		{"jazz night jazz", 2, [][2]string{{"jazz x", "night"}, {"night x", "jazz"}, {"x", "jazz night"}, {"x", "jazz nigth"}, {"x", "jzaz night"}}},
		{"one two three four five six seven eight nine ten eleven", 0, [][2]string{
			{"ten", "one two three four five six seven eight nine ten eleven"},
			{"eleven", "one two three four five six seven eight nine ten eleven"},
		}},
	} {
		base := calendar.ID(100 * (group + 1))
		var b build
		b.next = calendar.Position(base)
		var ids []calendar.ID
		add := func(id calendar.ID, texts [2]string) {
			b.add(calendar.KindEvent, id, calendar.Fields{"title": in(calendar.LangEN, texts[0]), "description": in(calendar.LangEN, texts[1])})
			ids = append(ids, id)
		}
		for i, texts := range c.texts {
			add(base+calendar.ID(len(c.texts)-i), texts)
		}
		add(base+50, c.texts[len(c.texts)-1]) // alike: the keys tell them apart
		docs := b.docs
		b.write(t, x)
		f := readmodel.Text{Fields: eventTexts, Search: readmodel.ParseSearch(c.query, calendar.LangEN), Typos: c.typos}
		q := readmodel.Query{
			Kind: calendar.KindEvent, Filter: readmodel.And{readmodel.In{Field: readmodel.FieldID, IDs: ids}, f},
			Sort: ranked(&readmodel.Relevance{Text: f}), Limit: 100,
		}
		wantPage(t, x, q, len(ids), ids...)
		q.Offset, q.Limit = 1, 2
		wantPage(t, x, q, len(ids), ids[1:3]...)
		q.Offset = 0
		for i, d := range docs[:len(docs)-1] {
			q.After = readmodel.Place(q.Sort, d.Record)
			wantPage(t, x, q, len(ids), ids[i+1:min(i+3, len(ids))]...)
		}
		q.After = nil
		walked(t, x, q, ids...)
	}
	var b build
	b.next = 2000
	texts := calendar.Fields{"title": in(calendar.LangEN, "zebras"), "description": in(calendar.LangEN, "zebra")}
	b.add(calendar.KindEvent, 2000, texts)
	b.add(calendar.KindEvent, 2001, texts)
	b.record(&calendar.Record{ID: 1999, Kind: calendar.KindEvent, Version: 1, Home: calendar.LangEN, Changed: Now, Fields: calendar.Fields{
		"title": texts["title"], "description": texts["description"], "protected": true,
	}})
	b.write(t, x)
	f := readmodel.Text{Fields: eventTexts, Search: readmodel.ParseSearch("zebra", calendar.LangEN)}
	rank := &readmodel.Relevance{Text: f, Title: readmodel.Term{Field: readmodel.FieldProtected, Value: "true"}}
	wantPage(t, x, readmodel.Query{Kind: calendar.KindEvent, Filter: f, Sort: ranked(rank), Limit: 9}, 3, 2000, 2001, 1999)
	collapsed := readmodel.Query{Kind: calendar.KindEvent, Filter: f, Sort: ranked(rank), Limit: 9, Collapse: &readmodel.Collapse{Field: readmodel.FieldRepeats, Alone: rank.Title}}
	wantPage(t, x, collapsed, 2, 2000, 1999)
	rank.Fields = eventTexts[1:]
	_, err := x.Search(t.Context(), readmodel.Query{Kind: calendar.KindEvent, Filter: f, Sort: ranked(rank), Limit: 9})
	wantErr(t, "a rank without the name", err, readmodel.ErrQuery)
	walked(t, x, readmodel.Query{Kind: calendar.KindEvent, Filter: f, Sort: ranked(&readmodel.Relevance{Text: f})}, 1999, 2000, 2001)
}

func ranked(by *readmodel.Relevance) []readmodel.Sort {
	return append([]readmodel.Sort{{Rank: by, Desc: true}}, byID...)
}

// walked checks which documents a walk gives.
func walked(t testing.TB, x readmodel.Index, q readmodel.Query, ids ...calendar.ID) {
	t.Helper()
	w, err := x.Walk(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var got []calendar.ID
	if err := w.Each(t.Context(), func(docs []readmodel.Document) error {
		got = append(got, idsOf(docs)...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ids, got); diff != "" {
		t.Errorf("walk of %+v (-want +got):\n%s", q, diff)
	}
}
