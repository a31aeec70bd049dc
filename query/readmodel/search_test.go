package readmodel_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// show writes an expression: words as they are, other pieces in parentheses, quoted ones in
// brackets.
func show(expression readmodel.Expression) string {
	var out []string
	add := func(sign string, pieces []readmodel.Piece) {
		for _, piece := range pieces {
			text := strings.Join(piece.Tokens, " ")
			switch {
			case !piece.Open:
				text = "[" + text + "]"
			case !piece.IsWord():
				text = "(" + text + ")"
			}
			out = append(out, sign+text)
		}
	}
	add("", expression.Must)
	add("-", expression.Not)
	return strings.Join(out, " ")
}

func TestParseSearch(t *testing.T) {
	t.Parallel()
	var lang, query, want string
	eachRow(t, "searches.txt", func() {
		l, _ := calendar.ParseLang(lang)
		if got := show(readmodel.ParseSearch(query, l)); got != want {
			t.Errorf("%s %q: %s, want %s", lang, query, got, want)
		}
	}, &lang, &query, &want)
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Rock'n'Roll, baby!":     "rock n roll baby",
		"Crème BRÛLÉE":           "creme brulee",
		"cre\u0300me":            "creme",
		"Ångström Øl Łódź œuvre": "angstrom ol lodz oeuvre",
		"STRASSE Straße ẞ":       "strasse strasse ss",
		"ΣΊΣΥΦΟΣ Σίσυφος":        "σισυφοσ σισυφοσ",
		"İstanbul ISPARTA":       "istanbul isparta",
		"soft\u00adhyphen":       "softhyphen",
		"ﬁn Ⅷ ² ½":               "fin viii 2 1 2",
		"foo_bar a.b":            "foo bar a b",
		"음악회 한국":                 "음 악 회 | 한 국",
		"ｶﾞｯｺｳ":                  "ガ ッ コ ウ",
		"か\u3099":                "が",
		"音乐1会":                   "音 乐 1 会",
		"हिन्दी में":             "हिन्दी में",
		"😀 a😀b":                  "a b",
		"٢٠٢٦ २ 𝟗 ႑ ５":           "2026 2 9 1 5",
		"1\ufe0f\u20e3 🔟":        "1 10",
		"كـتاب كتاب":             "كتاب كتاب",
		"音\ufe00\U000e0100乐":     "音 乐",
		"":                       "",
	} {
		if diff := cmp.Diff(want, strings.Join(readmodel.Tokens(text), " ")); diff != "" {
			t.Errorf("tokens of %q (-want +got):\n%s", text, diff)
		}
	}
}

// TestLongWords: of a very long word only the beginning counts, in the query as
// in the text; without that a stemmer may need minutes.
func TestLongWords(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("yu", 100_000)
	got := readmodel.Tokens("a " + long + " b")
	if diff := cmp.Diff([]string{"a", long[:120], "b"}, got); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
	record := event(long, "", calendar.LangFR)
	for query, want := range map[string]bool{long[:250]: true, `"` + long[:121] + `"`: true, "uy": false} {
		if got := readmodel.Match(readmodel.Text{Fields: eventTexts, Search: readmodel.ParseSearch(query, calendar.LangFR)}, record); got != want {
			t.Errorf("a query of %d characters fits: %v, want %v", len(query), got, want)
		}
	}
	if got := readmodel.Tokens(strings.Repeat("é", 130)); len(got) != 1 || got[0] != strings.Repeat("e", 120) {
		t.Errorf("tokens %q", got)
	}
}

// TestFoldHolds: a folded text folds to itself, and a part of a text folds as it
// does inside of the whole, whichever way Fold takes.
func TestFoldHolds(t *testing.T) {
	t.Parallel()
	parts := rapid.SampledFrom([]string{"a", "É", "e\u0301", "ß", "ﬁ", "音", "ｶ", "カ\u3099", "한", "Σ", " ", "–", "…", "İ", "ø", "1", "😀", "\xff"})
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(parts, 0, 8).Draw(t, "parts")
		whole := readmodel.Fold(strings.Join(words, " "))
		each := make([]string, len(words))
		for i, text := range words {
			each[i] = readmodel.Fold(text)
		}
		if got := strings.Join(each, " "); got != whole {
			t.Fatalf("%q: %q as a whole, %q by parts", words, whole, got)
		}
		if again := readmodel.Fold(whole); again != whole {
			t.Fatalf("%q folds to %q and then to %q", words, whole, again)
		}
	})
}

func FuzzParseSearch(f *testing.F) {
	for _, text := range []string{`jazz -"the river" -hip-hop`, `"`, `-""-`, "音乐 会", "\xff\"é"} {
		f.Add(text, uint8(1))
	}
	f.Fuzz(func(t *testing.T, query string, l uint8) {
		expression := readmodel.ParseSearch(query, calendar.Lang(l%4))
		for _, piece := range slices.Concat(expression.Must, expression.Not) {
			if len(piece.Tokens) == 0 {
				t.Errorf("%q: piece %+v", query, piece)
			}
			for _, spelled := range piece.Spelled(readmodel.Spelling{Joined: true}) {
				for _, token := range spelled.Tokens {
					if token == "" || !utf8.ValidString(token) || strings.ContainsAny(token, "\" -") {
						t.Errorf("%q: token %q", query, token)
					}
				}
			}
		}
		// Whatever is searched, a text of exactly the words of a search without a
		// minus fits it.
		if len(expression.Not) > 0 || expression.IsZero() {
			return
		}
		if !readmodel.Match(readmodel.Text{Fields: eventTexts, Search: readmodel.ParseSearch(query, calendar.Lang(l%4))}, event(query, "", calendar.LangEN)) {
			t.Errorf("%q does not fit itself: %s", query, fmt.Sprint(expression))
		}
	})
}
