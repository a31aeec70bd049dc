package query

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"daybook/calendar"
	"daybook/internal/texts"
)

// TestSpellingsAreLookedUpOnce: a list of one term in a thousand spellings costs
// the store as much as the term.
func TestSpellingsAreLookedUpOnce(t *testing.T) {
	t.Parallel()
	service, store, _, _ := setup(t, append(world(t), record(t, calendar.KindTag, 48, "Contemporary music", fields{"slug": "contemporary-music"})))
	for _, text := range []string{"contemporary-music", "contemporary music"} {
		var spellings []any
		for i := range calendar.MaxElements {
			data := []byte(text)
			for bit := range 10 {
				data[bit] -= byte(i >> bit & 1 * ('a' - 'A'))
			}
			spellings = append(spellings, string(data))
		}
		store.asked.Store(0)
		_, err := service.Parse(t.Context(), Request{Kind: calendar.KindEvent, Input: calendar.Input{"tags": spellings}, Lang: calendar.LangEN})
		if n := store.asked.Load(); err != nil || n > 2 {
			t.Errorf("%s: %v, %d looked up, want at most 2", text, err, n)
		}
	}
}

// Whatever is sent, it is refused by name or makes criteria that run.
func TestParseAnything(t *testing.T) {
	t.Parallel()
	service, _, _, _ := setup(t, world(t))
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom(strings.Split(
		`|0|1|2|100|true|no|now|-3 days|2030-05-10|2030-05-10T00:00:00Z|jazz|folk,40|publish,draft|trash|-12.5|1e3|asc|count|include|fr|"a b" -c|id,title`, "|")))
	asAny := func(s string) any { return s }
	value := rapid.OneOf(
		rapid.Map(text, asAny),
		rapid.Map(rapid.SliceOfN(rapid.Map(text, asAny), 0, 4), func(values []any) any { return values }),
		rapid.SampledFrom([]any{nil, true, map[string]any{"a": "b"}, []any{[]any{"x"}}}),
	)
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(calendar.Kinds[:]).Draw(t, "kind")
		input := calendar.Input{}
		for range rapid.IntRange(0, 4).Draw(t, "sent") {
			name := rapid.SampledFrom(Params(kind.Collection())).Draw(t, "param").Name
			input[name] = value.Draw(t, name)
		}
		who := rapid.SampledFrom([]string{"anonymous", "contributor", "editor"}).Draw(t, "who")
		criteria, err := service.Parse(t.Context(), Request{Kind: kind, Input: input, Lang: calendar.LangEN, Caller: callers[who]})
		if err != nil {
			problem, ok := asError(err)
			if !ok || problem.Code != calendar.CodeInvalidParam || len(problem.Fields) == 0 {
				t.Fatalf("%v: %v", input, err)
			}
			for _, fieldError := range problem.Fields {
				if texts.Messages["reason."+string(fieldError.Reason)] == (calendar.Text{}) {
					t.Fatalf("%s: refused for %q", fieldError.Field, fieldError.Reason)
				}
			}
			return
		}
		list, err := service.Run(t.Context(), criteria)
		if problem, ok := asError(err); ok && problem.Code == calendar.CodePageNotFound && criteria.Page > 1 && kind.IsPost() {
			return
		}
		if err != nil || criteria.Key == "" || criteria.Page < 1 || criteria.PerPage < 1 || criteria.PerPage > 100 || len(list.Views) > criteria.PerPage || list.Total < len(list.Views) {
			t.Fatalf("%v: %+v, %+v, %v", input, criteria, list, err)
		}
	})
}

// TestReadCostBands: up to 20 rising numbers above 0 (LISTINGS 6).
func TestReadCostBands(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"10,25,50,100": "free 0-10 10-25 25-50 50-100 100- unknown", " 0.5, 1.25 ": "free 0-0.5 0.5-1.25 1.25- unknown", "7": "free 0-7 7- unknown",
	} {
		bands, err := ReadCostBands(text)
		words := make([]string, len(bands))
		for i, band := range bands {
			words[i] = band.word
		}
		if got := strings.Join(words, " "); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "10,10", "10,9.99", "1,,2", "-1", "1e3", "1.234", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21"} {
		if _, err := ReadCostBands(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
