package readmodel_test

import (
	"html"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"daybook/calendar"
	"daybook/query/readmodel"
)

func TestHighlightName(t *testing.T) {
	t.Parallel()
	var lang, query, name, want string
	var step int
	eachRow(t, "highlights.txt", func() {
		l, _ := calendar.ParseLang(lang)
		highlighter := readmodel.Highlighter{Search: readmodel.ParseSearch(query, l), Spelling: readmodel.Spellings[step]}
		if got := highlighter.Name(name, l); got != want {
			t.Errorf("%q in %q: %q, want %q", query, name, got, want)
		}
	}, &lang, &query, &step, &name, &want)
}

func TestHighlightSnippet(t *testing.T) {
	t.Parallel()
	var name, query, text, want string
	var length int
	eachRow(t, "snippets.txt", func() {
		highlighter := readmodel.Highlighter{Search: readmodel.ParseSearch(query, calendar.LangEN)}
		if got := highlighter.Snippet(text, calendar.LangEN, length); got != want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, want)
		}
	}, &name, &query, &text, &length, &want)
}

// Whatever the text: a snippet is a part of it with nothing but marks added, it is not too
// long, and there is one exactly if a piece fits.
func TestHighlightAnyText(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"jazz", "jazzy", "Straße", "½", "ﬁ", "é", "e\u0301", "か\u3099", "か\u200d\u3099", "ｶ", "ﾞ", "音乐", "会", "음악", "ᄒ", "ᅡ", "\u11ab", "हिन्दी", "ς",
		"\u00ad", "\ufeff", "<b>", "\u20e3", "\u0600", "👩\u200d👧", "\u200d", "🇫", "\u0ac7", "&", `"`, " ", "  ", "\n", ".", "-", "İ", "1", "\xff", "nights", "the",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ToValidUTF8(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 60).Draw(t, "text"), rapid.SampledFrom([]string{"", " "}).Draw(t, "by")), "\ufffd")
		query := rapid.SampledFrom([]string{"jazz", "jzaz night", "音乐", `"jazz night"`, "が", "음악", "e", "strasse 1", "fi -jazz", "हिन्दी", "nihgts"}).Draw(t, "query")
		lang := rapid.SampledFrom(calendar.Langs[:]).Draw(t, "language")
		length := rapid.IntRange(40, 120).Draw(t, "length")
		step := rapid.IntRange(0, 3).Draw(t, "step")
		highlighter := readmodel.Highlighter{Search: readmodel.ParseSearch(query, lang), Spelling: readmodel.Spellings[step]}
		plain := func(s string) string {
			return html.UnescapeString(strings.NewReplacer("<mark>", "", "</mark>", "").Replace(s))
		}
		fits := false
		for _, piece := range readmodel.ParseSearch(query, lang).Must {
			fits = fits || readmodel.Match(readmodel.Text{Fields: eventTexts[:1], Search: readmodel.ParseSearch(`"`+strings.Join(piece.Tokens, " ")+`"`, lang)}, event(text, "", lang))
		}
		shown := strings.Join(strings.Fields(text), " ")
		if got := highlighter.Name(text, lang); got != "" && plain(got) != shown {
			t.Fatalf("%q gives %q", text, got)
		} else if fits && got == "" {
			t.Fatalf("%q: no mark for %q", text, query)
		}
		got := highlighter.Snippet(text, lang, length)
		part := plain(strings.TrimSuffix(strings.TrimPrefix(got, "…"), "…"))
		if !strings.Contains(shown, part) || utf8.RuneCountInString(part) > length {
			t.Fatalf("%q: %q, of at most %d characters", shown, got, length)
		}
		for _, marked := range []string{highlighter.Name(text, lang), got} {
			if !endsBetweenClusters(marked) {
				t.Fatalf("%q: %q cuts a grapheme cluster", text, marked)
			}
		}
		if got != "" && !strings.Contains(got, "<mark>") {
			t.Fatalf("%q: %q has no mark", shown, got)
		}
		if (got == "") != (highlighter.Name(shown, lang) == "") {
			t.Fatalf("%q: %q, and as a name %q", shown, got, highlighter.Name(shown, lang))
		}
	})
}

// endsBetweenClusters reports whether every mark begins and ends between grapheme clusters.
func endsBetweenClusters(marked string) bool {
	places := map[int]bool{}
	var text strings.Builder
	for i, part := range strings.Split(strings.ReplaceAll(marked, "</mark>", "<mark>"), "<mark>") {
		if i > 0 {
			places[text.Len()] = true
		}
		text.WriteString(html.UnescapeString(part))
	}
	at, rest, state := 0, text.String(), -1
	for rest != "" {
		delete(places, at)
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		at += len(cluster)
	}
	delete(places, at)
	return len(places) == 0
}
