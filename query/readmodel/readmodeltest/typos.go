package readmodeltest

import (
	"math/rand/v2"
	"testing"

	"daybook/calendar"
	"daybook/query/readmodel"
)

func typoCases() []testCase {
	return []testCase{
		{"typos", typos},
		{"typos of any words", typosOfAnyWords},
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
			wantIDs(t, x, calendar.KindEvent, readmodel.And{only, readmodel.Text{Fields: eventTexts, Lang: l, Query: query, Typos: step}}, ids...)
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
	wantErr(t, "three typos", searchErr(t, x, readmodel.Text{Fields: eventTexts, Query: "jazz", Typos: 3}), readmodel.ErrQuery)
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
		f := readmodel.Text{Fields: eventTexts, Lang: calendar.LangFR, Query: word(), Typos: 1 + g.IntN(2)}
		ids, _, total := want(docs, readmodel.Query{Kind: calendar.KindEvent, Filter: f, Sort: byID, Limit: len(docs)})
		wantPage(t, x, readmodel.Query{Kind: calendar.KindEvent, Filter: f, Sort: byID, Limit: len(docs)}, total, ids...)
		found += total
	}
	if found < 50 {
		t.Errorf("only %d words were near", found)
	}
}
