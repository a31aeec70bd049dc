package readmodel_test

import (
	"slices"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// table is the optimal string alignment as its definition has it, with all rows.
func table(a, b string) int {
	x, y := []rune(a), []rune(b)
	d := make([][]int, len(x)+1)
	for i := range d {
		d[i] = make([]int, len(y)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			replaced := d[i-1][j-1]
			if x[i-1] != y[j-1] {
				replaced++
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, replaced)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(x)][len(y)]
}

// LISTINGS 3.3, 8.32: what a typo is.
func TestTypos(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.RuneFrom([]rune("abcéж")), 0, 12, -1)
		a, b, most := word.Draw(t, "a"), word.Draw(t, "b"), rapid.IntRange(0, 4).Draw(t, "most")
		if got, want := readmodel.Typos([]rune(a), []rune(b), most), min(table(a, b), most+1); got != want {
			t.Fatalf("%q and %q: %d typos up to %d, want %d", a, b, got, most, want)
		}
	})
}

// Which words may have how many.
func TestMostTypos(t *testing.T) {
	t.Parallel()
	var query string
	var most int
	var want []int
	eachRow(t, "steps.txt", func() {
		steps := readmodel.ParseSearch(query, calendar.LangEN).Steps()
		if got := readmodel.Spellings[steps[len(steps)-1]].Typos; most >= 0 && got != most || want != nil && !slices.Equal(steps, want) {
			t.Errorf("%q: %d typos, want %d; steps %v, want %v", query, got, most, steps, want)
		}
		want = nil
	}, &query, &most, &want)
}

func event(title, description string, lang calendar.Lang) *calendar.Record {
	fields := calendar.Fields{"title": textIn(lang, title), "description": textIn(lang, description)}
	return &calendar.Record{ID: 1, Kind: calendar.KindEvent, Home: lang, Fields: fields}
}

func textIn(lang calendar.Lang, text string) (t calendar.Text) {
	t[lang] = text
	return t
}

var eventTexts = []string{readmodel.TextName, readmodel.TextDescription, readmodel.TextExcerpt}

// LISTINGS 3.3, 8.32, 8.33: which texts a search fits with typos.
func TestMatchTypos(t *testing.T) {
	t.Parallel()
	record := event("Jazz concert", "A symphony by night, with 음악회 and 音乐会・大阪 at 10 km", calendar.LangEN)
	var query, fits string
	eachRow(t, "typos.txt", func() {
		for step := range readmodel.Spellings {
			text := readmodel.Text{Fields: eventTexts, Search: readmodel.ParseSearch(query, calendar.LangEN), Spelling: readmodel.Spellings[step]}
			if got := readmodel.Match(text, record); got != (fits[step] == 'y') {
				t.Errorf("%q at step %d: fits %v", query, step, got)
			}
		}
	}, &query, &fits)
	for _, lang := range calendar.Langs { // the same in all languages
		text := readmodel.Text{Fields: eventTexts, Search: readmodel.ParseSearch("jzaz", lang), Spelling: readmodel.Spelling{Typos: 1}}
		if !readmodel.Match(text, event("Jazz", "", lang)) || !readmodel.Match(text, record) {
			t.Errorf("%s: no typo", lang)
		}
	}
}

// A stem has the first letter of its word, in every language: searches lean on it.
func TestStemsBeginAsTheirWords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.RuneFrom([]rune("abcdeghilmnoqrstuvxyzñ")), 1, 12, -1).Draw(t, "word")
		for _, lang := range calendar.Langs {
			a, _ := utf8.DecodeRuneInString(word)
			if b, _ := utf8.DecodeRuneInString(readmodel.Stem(word, lang)); a != b {
				t.Fatalf("%s: the stem of %q is %q", lang, word, readmodel.Stem(word, lang))
			}
		}
	})
}
