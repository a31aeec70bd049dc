package query

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"daybook/calendar"
	"daybook/internal/texts"
	"daybook/query/readmodel"
)

// numbered repeats a part with numbers from 1 on.
func numbered(n int, part string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, part, i+1)
	}
	return b.String()
}

// TestLimits: what is said twice and what is left out does not count, and a search of terms
// is one text.
func TestLimits(t *testing.T) {
	t.Parallel()
	s, _, _, _ := setup(t, world(t))
	ev, ve := calendar.KindEvent, calendar.KindVenue
	for _, tt := range []struct {
		kind        calendar.Kind
		param, text string
		refused     calendar.Reason
	}{
		{ev, "search", numbered(readmodel.MaxWords/4, `"of w%d" `) + numbered(readmodel.MaxWords/2, "w%d "), ""},
		{ev, "search", strings.Repeat("jazz Jâzz ", 48) + "of the and a", ""},
		{ve, "search", numbered(readmodel.MaxWords, `"w%d" `), ""},
		{ev, "search", strings.Repeat("音", 500), ""},
		{ev, "search", strings.Repeat("音・", readmodel.MaxWords), ""},
		{calendar.KindTag, "search", numbered(100, "w%d "), ""},
		{ev, "include", ",4,, ,5,4," + strings.Repeat(",", 10_000), ""},
		{ev, "search", strings.Repeat("é", 501), calendar.ReasonTooLong},
		{ev, "search", numbered(readmodel.MaxWords+1, "w%d "), calendar.ReasonTooMuch},
		{ve, "search", numbered(readmodel.MaxWords+1, "-w%d "), calendar.ReasonTooMuch},
		{ev, "search", `"` + strings.Repeat("a ", readmodel.MaxWords+1) + `"`, calendar.ReasonTooMuch},
		{ev, "tags", strings.Repeat("1,", 1000) + numbered(calendar.MaxElements, "x%d,"), calendar.ReasonTooMany},
	} {
		_, err := s.Parse(t.Context(), Request{Kind: tt.kind, Input: calendar.Input{tt.param: tt.text}, Lang: calendar.LangEN})
		if tt.refused == "" && err != nil || tt.refused != "" && problems(t, err)[tt.param] != tt.refused {
			t.Errorf("%s=%.60s of %d bytes: %v, want %q", tt.param, tt.text, len(tt.text), err, tt.refused)
		}
	}
}

// TestSpellingsAreLookedUpOnce: a list of one term in a thousand spellings costs
// the store as much as the term.
func TestSpellingsAreLookedUpOnce(t *testing.T) {
	t.Parallel()
	music := record(t, calendar.KindTag, 48, "Contemporary music", fields{"slug": "contemporary-music"})
	s, store, _, _ := setup(t, append(world(t), music))
	spelled := func(text string) calendar.Input {
		var list []any
		for i := range calendar.MaxElements {
			b := []byte(text)
			for bit := range 10 {
				if i>>bit&1 == 1 {
					b[bit] -= 'a' - 'A'
				}
			}
			list = append(list, string(b))
		}
		return calendar.Input{"tags": list}
	}
	for _, text := range []string{"contemporary-music", "contemporary music"} {
		store.looked = 0
		_, err := s.Parse(t.Context(), Request{Kind: calendar.KindEvent, Caller: anonymous, Input: spelled(text), Lang: calendar.LangEN})
		if err != nil || store.looked > 2 {
			t.Errorf("%s: %v, %d looked up, want at most 2", text, err, store.looked)
		}
	}
}

// Sent empty, every parameter is refused but _fields.
func TestParseRefusesEmpty(t *testing.T) {
	t.Parallel()
	s, _, _, _ := setup(t, world(t))
	for _, k := range calendar.Kinds {
		for _, p := range Params(k) {
			for _, empty := range []any{"", " \u00a0\t", nil} {
				in := calendar.Input{p.Name: empty}
				if k == calendar.KindEvent && p.Name == "order" { // it is only read with sort
					in["sort"] = "start"
				}
				_, err := s.Parse(t.Context(), Request{Kind: k, Caller: editor, Input: in, Lang: calendar.LangEN})
				if p.Name == "_fields" {
					if err != nil {
						t.Errorf("%s: empty _fields: %v", k, err)
					}
					continue
				}
				got := problems(t, err)
				if strings.HasPrefix(p.Name, "geoloc_l") { // its partner is missing
					delete(got, map[string]string{"geoloc_lat": "geoloc_lng", "geoloc_lng": "geoloc_lat"}[p.Name])
				}
				if len(got) != 1 || got[p.Name] == "" {
					t.Errorf("%s %s=%q: %v", k, p.Name, empty, got)
				}
			}
		}
	}
}

// TestLinks: links carry what was sent, in the order of the table (interface 4.3), and the
// rows of testdata/links.txt name what else is read.
func TestLinks(t *testing.T) {
	t.Parallel()
	s, _, _, now := setup(t, world(t))
	*now = time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)
	for _, line := range readLines(t, "links.txt") {
		row, want, _ := strings.Cut(line, " =>")
		c, err := s.Parse(t.Context(), asked(t, "anonymous "+row))
		if err != nil {
			t.Fatalf("%s: %v", row, err)
		}
		links := LinksTo("", c.Links)
		got := links.Page(c.Page)
		if c.Fields != nil {
			got += fmt.Sprint(" ", c.Fields)
		}
		if want = strings.TrimSpace(want); got != want {
			t.Errorf("%s\n got  %s\n want %s", row, got, want)
		}
	}
}

func TestKey(t *testing.T) {
	t.Parallel()
	s, _, _, now := setup(t, world(t))
	key := func(row string) string {
		t.Helper()
		row, french := strings.CutPrefix(row, "fr ")
		r := asked(t, row)
		if french {
			r.Lang = calendar.LangFR
		}
		criteria, err := s.Parse(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return criteria.Key
	}
	base := key("anonymous event tags=ete")
	for one, other := range map[string]string{
		"subscriber event tags=ete":       "anonymous event tags=ete",
		"anonymous event foo=1&tags=ete":  "anonymous event tags=ete",
		"anonymous event tags=ete&page=1": "anonymous event tags=ete",
		"editor event":                    "auditor event",
		"anonymous tag":                   "contributor tag",
	} {
		if a, b := key(one), key(other); a != b {
			t.Errorf("%s, %s: the answer is the same, the keys are not:\n%s\n%s", one, other, a, b)
		}
	}
	different := map[string]string{}
	differ := func(when string, rows ...string) {
		t.Helper()
		for _, row := range rows {
			k := key(row)
			if have, ok := different[k]; ok {
				t.Errorf("%s, %s has the key of %s: %s", row, when, have, k)
			}
			different[k] = row + ", " + when
		}
	}
	differ("at first", "anonymous event tags=ete", "contributor event tags=ete", "author event tags=ete", "editor event tags=ete", "fr anonymous event tags=ete",
		"anonymous event tags=ete&multilang_language=es", "anonymous event tags=ete&page=2", "anonymous event tags=ete&per_page=11",
		"anonymous event tags=ete&_fields=id", "anonymous event tags=ete&featured=1", "anonymous event tags=Ete", // has other links
		"anonymous tag", "anonymous category", "anonymous event ends_after=now&strict_dates=1", "anonymous venue only_with_upcoming=1", "anonymous venue event=100")

	*now = now.Add(time.Second)
	differ("a second later", "anonymous event ends_after=now&strict_dates=1", "anonymous venue only_with_upcoming=1")
	if k := key("anonymous event tags=ete"); k != base {
		t.Errorf("a second later the default window is another: %s", k)
	}
	*now = now.Add(24 * time.Hour)
	differ("the next day", "anonymous event tags=ete")
}

func TestParseGivesErrorsOfTheStore(t *testing.T) {
	t.Parallel()
	s, store, _, _ := setup(t, world(t))
	store.err = errors.New("store is down")
	for k, sent := range map[calendar.Kind]string{
		calendar.KindEvent: "tags=ete&page=x", calendar.KindVenue: "event=100",
		calendar.KindCategory: "parent=30", calendar.KindTag: "include=40,open-air",
	} {
		_, err := s.Parse(t.Context(), Request{Kind: k, Input: input(sent)})
		if !errors.Is(err, store.err) {
			t.Errorf("%s: got %v", k, err)
		}
	}
}

// Whatever is sent, it is refused by name or makes criteria that run.
func TestParseAnything(t *testing.T) {
	t.Parallel()
	s, _, _, _ := setup(t, world(t))
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"", "0", "1", "2", "100", "true", "no", "now", "-3 days", "2030-05-10", "2030-05-10T00:00:00Z", "jazz", "folk,40", "publish,draft",
		"trash", "-12.5", "1e3", "asc", "count", "include", "fr", "\"a b\" -c", "id,title",
	}))
	value := rapid.OneOf(
		rapid.Map(text, func(s string) any { return s }),
		rapid.Map(rapid.SliceOfN(text, 0, 4), func(l []string) any {
			out := make([]any, len(l))
			for i, e := range l {
				out[i] = e
			}
			return out
		}),
		rapid.SampledFrom([]any{nil, true, map[string]any{"a": "b"}, []any{[]any{"x"}}}),
	)
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom(calendar.Kinds[:]).Draw(t, "kind")
		params := Params(k)
		in := calendar.Input{}
		for range rapid.IntRange(0, 4).Draw(t, "sent") {
			name := params[rapid.IntRange(0, len(params)-1).Draw(t, "param")].Name
			in[name] = value.Draw(t, name)
		}
		who := rapid.SampledFrom([]calendar.Caller{anonymous, contributor, editor}).Draw(t, "who")
		c, err := s.Parse(t.Context(), Request{Kind: k, Input: in, Lang: calendar.LangEN, Caller: who})
		if err != nil {
			e, ok := asError(err)
			if !ok || e.Code != calendar.CodeInvalidParam || len(e.Fields) == 0 {
				t.Fatalf("%v: %v", in, err)
			}
			for _, f := range e.Fields {
				if texts.Messages["reason."+string(f.Reason)] == (calendar.Text{}) {
					t.Fatalf("%s: refused for %q", f.Field, f.Reason)
				}
			}
			return
		}
		if c.Key == "" || c.Page < 1 || c.PerPage < 1 || c.PerPage > 100 {
			t.Fatalf("%v: %+v", in, c)
		}
		l, err := s.Run(t.Context(), c)
		if e, ok := asError(err); ok && e.Code == calendar.CodePageNotFound && c.Page > 1 && k.IsPost() {
			return
		}
		if err != nil {
			t.Fatalf("%v: %v", in, err)
		}
		if len(l.Views) > c.PerPage || l.Total < len(l.Views) {
			t.Fatalf("%v: %d views of %d", in, len(l.Views), l.Total)
		}
	})
}

// TestReadCostBands: up to 20 rising numbers above 0 (LISTINGS 6).
func TestReadCostBands(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"10,25,50,100": "10 25 50 100", " 0.5, 1.25 ": "0.5 1.25", "7": "7",
		"": "", "0": "", "10,10": "", "10,9.99": "", "1,,2": "", "-1": "", "1e3": "", "1.234": "",
		"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20":    "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20",
		"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21": "",
	} {
		bounds, err := ReadCostBands(text)
		if got := strings.Join(bounds, " "); got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}
