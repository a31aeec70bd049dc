package readmodel_test

import (
	"slices"
	"strings"
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
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"jazz", "jazz", 0},
		{"jzaz", "jazz", 1},
		{"jazx", "jazz", 1},
		{"azz", "jazz", 1},
		{"xjazz", "jazz", 1},
		{"kazz", "jazz", 1},
		{"ajzz", "jazz", 1},
		{"conecrt", "concert", 1},
		{"sinphony", "symphony", 2},
		{"symhpnoy", "symphony", 2},
		{"ca", "abc", 3}, // no letter is part of two: two when it may
		{"музика", "музыка", 1},
		{"", "ab", 2},
		{"", "", 0},
	} {
		for _, pair := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			if got := readmodel.Typos(pair[0], pair[1], 5); got != c.want {
				t.Errorf("%q and %q: %d typos, want %d", pair[0], pair[1], got, c.want)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.RuneFrom([]rune("abcéж")), 0, 12, -1)
		a, b, most := word.Draw(t, "a"), word.Draw(t, "b"), rapid.IntRange(0, 4).Draw(t, "most")
		if got, want := readmodel.Typos(a, b, most), min(table(a, b), most+1); got != want {
			t.Fatalf("%q and %q: %d typos up to %d, want %d", a, b, got, most, want)
		}
	})
	long := strings.Repeat("x", 500)
	if got := readmodel.Typos(long[:120], long[:118], 2); got != 2 {
		t.Errorf("long words: %d typos", got)
	}
}

// Listings 3.3, 8.32: which words may have how many.
func TestMostTypos(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]int{
		"jaz": 0, "jazz": 1, "conecrt": 1, "symphony": 2, "été": 0, "fête": 1, "Øresundsbroen": 2, "ﬁne": 1, // folded
		"jazz1": 0, "2026": 0, `"symphony"`: 0, "-symphony": 0, "音乐会音乐会音乐会": 0, "콘서트콘서트콘서트": 0, "": 0,
		"jaz symphony": 2, `"symphony" jazz`: 1, "музыка": 1, "symphony-orchestra": 0,
	} {
		steps := readmodel.ParseSearch(query, calendar.LangEN).Steps()
		if got := readmodel.Spellings[steps[len(steps)-1]].Typos; got != want {
			t.Errorf("%q: %d typos, want %d", query, got, want)
		}
	}
	for query, want := range map[string][]int{
		"": {0}, "-jazz": {0}, "jaz": {0}, "the jaz": {0, 1}, "a b": {0, 1}, "jazz": {0, 1, 2}, "symphony": {0, 1, 2, 3}, "r&b": {0, 1}, `"r b"`: {0},
		"音乐会": {0}, "音乐会议": {0, 1}, "音・乐": {0, 1}, "5月": {0},
	} {
		if got := readmodel.ParseSearch(query, calendar.LangEN).Steps(); !slices.Equal(got, want) {
			t.Errorf("%q: steps %d, want %d", query, got, want)
		}
	}
}

func event(title, description string, l calendar.Lang) *readmodel.Document {
	f := calendar.Fields{"title": textIn(l, title), "description": textIn(l, description)}
	return &readmodel.Document{Record: &calendar.Record{ID: 1, Kind: calendar.KindEvent, Home: l, Fields: f}}
}

func textIn(l calendar.Lang, s string) (t calendar.Text) {
	t[l] = s
	return t
}

var eventTexts = []string{readmodel.TextName, readmodel.TextDescription, readmodel.TextExcerpt}

// LISTINGS 3.3, 8.32, 8.33: which texts a search fits with typos.
func TestMatchTypos(t *testing.T) {
	t.Parallel()
	d := event("Jazz concert", "A symphony by night, with 음악회 and 音乐会・大阪 at 10 km", calendar.LangEN)
	var query, fits string
	eachRow(t, "typos.txt", func() {
		for step := range readmodel.Spellings {
			f := readmodel.Text{Fields: eventTexts, Search: readmodel.ParseSearch(query, calendar.LangEN), Spelling: readmodel.Spellings[step]}
			if got := readmodel.Match(f, d); got != (fits[step] == 'y') {
				t.Errorf("%q at step %d: fits %v", query, step, got)
			}
		}
	}, &query, &fits)
	for _, l := range calendar.Langs { // the same in all languages
		f := readmodel.Text{Fields: eventTexts, Search: readmodel.ParseSearch("jzaz", l), Spelling: readmodel.Spelling{Typos: 1}}
		if !readmodel.Match(f, event("Jazz", "", l)) || !readmodel.Match(f, d) {
			t.Errorf("%s: no typo", l)
		}
	}
}

// A stem has the first letter of its word, in every language: searches lean on it.
func TestStemsBeginAsTheirWords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.RuneFrom([]rune("abcdeghilmnoqrstuvxyzñ")), 1, 12, -1).Draw(t, "word")
		for _, l := range calendar.Langs {
			a, _ := utf8.DecodeRuneInString(word)
			if b, _ := utf8.DecodeRuneInString(readmodel.Stem(word, l)); a != b {
				t.Fatalf("%s: the stem of %q is %q", l, word, readmodel.Stem(word, l))
			}
		}
	})
}
