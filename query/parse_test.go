package query

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"daybook/calendar"
	"daybook/internal/texts"
	"daybook/query/readmodel"
)

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	s, _, _, _ := setup(t, world(t))
	ev, ve, ca, ta := calendar.KindEvent, calendar.KindVenue, calendar.KindCategory, calendar.KindTag
	type refused = map[string]calendar.Reason
	many := strings.Repeat("1,", 1000) + strings.Join(strings.Split("abcdefghij", ""), ",")
	for i := range 1000 {
		many += ",x" + calendar.ID(i).String()
	}
	for _, tt := range []struct {
		name string
		kind calendar.Kind
		who  calendar.Caller
		in   calendar.Input
		want refused
	}{
		{"page 0", ev, anonymous, input("page=0"), refused{"page": calendar.ReasonRange}},
		{"page too large", ev, anonymous, input("page=1000000001"), refused{"page": calendar.ReasonRange}},
		{"page beyond any number", ta, anonymous, input("page=99999999999999999999"), refused{"page": calendar.ReasonRange}},
		{"page is no number", ve, anonymous, input("page=2.5"), refused{"page": calendar.ReasonTypeInteger}},
		{"per_page 0", ca, anonymous, input("per_page=0"), refused{"per_page": calendar.ReasonTooSmall}},
		{"per_page negative", ev, anonymous, input("per_page=-3"), refused{"per_page": calendar.ReasonTooSmall}},
		{"per_page far below", ev, anonymous, input("per_page=-1e30"), refused{"per_page": calendar.ReasonTooSmall}},
		{"page far beyond", ev, anonymous, input("page=1e30"), refused{"page": calendar.ReasonRange}},
		{"per_page is no number", ev, anonymous, input("per_page=ten"), refused{"per_page": calendar.ReasonTypeInteger}},
		{"language", ta, anonymous, input("multilang_language=de"), refused{"multilang_language": calendar.ReasonNotInEnum}},
		{"empty language", ta, anonymous, input("multilang_language="), refused{"multilang_language": calendar.ReasonNotInEnum}},
		{"search 0", ve, anonymous, input("search=0"), refused{"search": calendar.ReasonZero}},
		{"search too long", ev, anonymous, input("search=" + strings.Repeat("é", 501)), refused{"search": calendar.ReasonTooLong}},
		{"search of too many words", ev, anonymous, input("search=" + numbered(readmodel.MaxWords+1, "w%d ")), refused{"search": calendar.ReasonTooMuch}},
		{"search without too many words", ve, anonymous, input("search=" + numbered(readmodel.MaxWords+1, "-w%d ")), refused{"search": calendar.ReasonTooMuch}},
		{"search of too many quoted texts", ev, anonymous, input("search=" + numbered(readmodel.MaxRows+1, `"of w%d" `)), refused{"search": calendar.ReasonTooMuch}},
		{"search of too many runs", calendar.KindOrganizer, anonymous, input("search=音乐 会活 动欢 迎参 加地 点晚 间演 出北 京城"), refused{"search": calendar.ReasonTooMuch}},
		{"boolean", ev, anonymous, input("featured=2"), refused{"featured": calendar.ReasonTypeBool}},
		{"unknown category", ev, anonymous, input("categories=jazz,polka"), refused{"categories": calendar.ReasonUnknownCategory}},
		{"a tag is no category", ev, anonymous, input("categories=40"), refused{"categories": calendar.ReasonUnknownCategory}},
		{"unknown tag", ev, anonymous, input("tags=12345"), refused{"tags": calendar.ReasonUnknownTag}},
		{"unknown venue", ev, anonymous, input("venue=50,100"), refused{"venue": calendar.ReasonUnknownVenue}},
		{"venue by name", ev, anonymous, input("venue=River Hall"), refused{"venue": calendar.ReasonUnknownVenue}},
		{"unknown organizer", ev, anonymous, input("organizer=50"), refused{"organizer": calendar.ReasonUnknownOrganizer}},
		{"include takes ids", ev, anonymous, input("include=100,x"), refused{"include": calendar.ReasonTypeID}},
		{"include 0", ev, anonymous, input("include=0"), refused{"include": calendar.ReasonTypeID}},
		{"post_parent unknown", ev, anonymous, input("post_parent=50"), refused{"post_parent": calendar.ReasonUnknownEvent}},
		{"post_parent is no id", ev, anonymous, input("post_parent=-1"), refused{"post_parent": calendar.ReasonTypeID}},
		{"list without an element", ev, anonymous, input("tags=, ,"), refused{"tags": calendar.ReasonEmpty}},
		{"array without an element", ev, anonymous, calendar.Input{"tags": []any{"", " "}}, refused{"tags": calendar.ReasonEmpty}},
		{"array for a single value", ev, anonymous, calendar.Input{"featured": []any{"1"}}, refused{"featured": calendar.ReasonTypeBool}},
		{"array for a text", ve, anonymous, calendar.Input{"search": []any{"a"}}, refused{"search": calendar.ReasonTypeText}},
		{"nested names", ev, anonymous, calendar.Input{"venue": map[string]any{"id": "50"}, "start_date": map[string]any{}}, refused{
			"venue": calendar.ReasonTypeList, "start_date": calendar.ReasonTypeDate,
		}},
		{"nested in an array", ev, anonymous, calendar.Input{"tags": []any{"40", map[string]any{"id": "41"}}}, refused{"tags": calendar.ReasonTypeList}},
		{"too many elements", ev, anonymous, input("tags=" + many), refused{"tags": calendar.ReasonTooMany}},

		{"latitude alone", ev, anonymous, input("geoloc_lat=42"), refused{"geoloc_lng": calendar.ReasonPairMissing}},
		{"longitude alone", ev, anonymous, input("geoloc_lng=42"), refused{"geoloc_lat": calendar.ReasonPairMissing}},
		{"latitude out of range", ev, anonymous, input("geoloc_lat=90.01&geoloc_lng=0"), refused{"geoloc_lat": calendar.ReasonRange}},
		{"longitude out of range", ev, anonymous, input("geoloc_lat=0&geoloc_lng=-180.5"), refused{"geoloc_lng": calendar.ReasonRange}},
		{"no number", ev, anonymous, input("geoloc_lat=north&geoloc_lng=NaN"), refused{
			"geoloc_lat": calendar.ReasonTypeNumber, "geoloc_lng": calendar.ReasonTypeNumber,
		}},
		{"geoloc=false with coordinates", ev, anonymous, input("geoloc=false&geoloc_lat=1&geoloc_lng=2"), refused{"geoloc": calendar.ReasonGeolocConflict}},
		{"radius 0", ev, anonymous, input("geoloc_radius=0"), refused{"geoloc_radius": calendar.ReasonRangeAbove}},
		{"radius too large", ev, anonymous, input("geoloc_radius=20000.1"), refused{"geoloc_radius": calendar.ReasonRangeAbove}},

		{"status of the anonymous caller", ev, anonymous, input("status=draft"), refused{"status": calendar.ReasonStatusFilter}},
		{"not even beside publish", ev, anonymous, input("status=publish,draft"), refused{"status": calendar.ReasonStatusFilter}},
		{"status of a subscriber", ve, subscriber, input("status=trash"), refused{"status": calendar.ReasonStatusFilter}},
		{"unknown status", ev, editor, input("status=any"), refused{"status": calendar.ReasonStatus}},
		{"unknown status beside a known one", ve, anonymous, input("status=publish,foo"), refused{"status": calendar.ReasonStatus}},
		{"empty status", ev, editor, input("status="), refused{"status": calendar.ReasonEmpty}},

		{"event unknown", ve, editor, input("event=50"), refused{"event": calendar.ReasonUnknownEvent}},
		{"event not readable", ve, anonymous, input("event=103"), refused{"event": calendar.ReasonUnknownEvent}},
		{"event protected", ve, anonymous, input("event=106"), refused{"event": calendar.ReasonUnknownEvent}},
		{"event protected, its author", ve, author, input("event=106"), refused{"event": calendar.ReasonUnknownEvent}},
		{"post protected, an editor", ca, editor, input("post=106"), refused{"post": calendar.ReasonUnknownEvent}},
		{"event trashed", ve, anonymous, input("event=105"), refused{"event": calendar.ReasonUnknownEvent}},
		{"event trashed, of another", ve, author, input("event=105"), refused{"event": calendar.ReasonUnknownEvent}},
		{"post and event are both checked", ca, anonymous, input("post=103&event=104"), refused{
			"post": calendar.ReasonUnknownEvent, "event": calendar.ReasonUnknownEvent,
		}},
		{"post is checked where event wins", ta, anonymous, input("post=999&event=100"), refused{"post": calendar.ReasonUnknownEvent}},
		{"parent 0", ca, anonymous, input("parent=0"), refused{"parent": calendar.ReasonTypeID}},
		{"parent unknown", ca, anonymous, input("parent=40"), refused{"parent": calendar.ReasonUnknownCategory}},
		{"terms take no names", ca, anonymous, input("include=Éclair"), refused{"include": calendar.ReasonUnknownCategory}},
		{"exclude unknown", ta, anonymous, input("exclude=jazz"), refused{"exclude": calendar.ReasonUnknownTag}},
		{"all at once", ev, anonymous, input("page=x&start_date=soonish&tags=no&status=foo&geoloc_lat=1&strict_dates=maybe"), refused{
			"page": calendar.ReasonTypeInteger, "start_date": calendar.ReasonDate, "tags": calendar.ReasonUnknownTag,
			"status": calendar.ReasonStatus, "geoloc_lng": calendar.ReasonPairMissing, "strict_dates": calendar.ReasonTypeBool,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := s.Parse(t.Context(), Request{Kind: tt.kind, Caller: tt.who, Input: tt.in, Lang: calendar.LangEN})
			if d := cmp.Diff(tt.want, problems(t, err)); d != "" {
				t.Errorf("refused (-want +got):\n%s", d)
			}
		})
	}
}

// numbered repeats a part with numbers from 1 on.
func numbered(n int, part string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, part, i+1)
	}
	return b.String()
}

// TestParseTakesSearches: what is said twice and what is left out does not count,
// and a search of terms is one text.
func TestParseTakesSearches(t *testing.T) {
	t.Parallel()
	s, _, _, _ := setup(t, world(t))
	for name, tt := range map[string]struct {
		kind calendar.Kind
		in   string
	}{
		"as many words as may be":  {calendar.KindEvent, numbered(readmodel.MaxRows, `"of w%d" `) + numbered(readmodel.MaxWords-readmodel.MaxRows, "w%d ")},
		"one word again and again": {calendar.KindEvent, strings.Repeat("jazz Jâzz ", 48) + "of the and a"},
		"one text again and again": {calendar.KindVenue, strings.Repeat(`"of the" -"of the" `, 25)},
		"quoted single words":      {calendar.KindVenue, numbered(readmodel.MaxWords, `"w%d" `)},
		"one long word":            {calendar.KindEvent, strings.Repeat("a", 500)},
		"one long quoted text":     {calendar.KindEvent, `"` + strings.Repeat("a ", 249) + `"`},
		"terms":                    {calendar.KindTag, numbered(100, "w%d ")},
	} {
		if _, err := s.Parse(t.Context(), Request{Kind: tt.kind, Caller: anonymous, Input: calendar.Input{"search": tt.in}, Lang: calendar.LangEN}); err != nil {
			t.Errorf("%s: %v", name, err)
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

func TestParseIgnoresUnknown(t *testing.T) {
	t.Parallel()
	s, _, _, _ := setup(t, world(t))
	for k, in := range map[calendar.Kind]string{
		calendar.KindEvent: "order=&orderby=&password=&context=&id=4&foo=[", calendar.KindVenue: "start_date=x&parent=y",
		calendar.KindTag: "parent=&status=x", calendar.KindCategory: "featured=x",
	} {
		c, err := s.Parse(t.Context(), Request{Kind: k, Input: input(in), Lang: calendar.LangEN})
		if err != nil {
			t.Errorf("%s: %v", k, err)
			continue
		}
		for _, l := range c.Links {
			if l.Name != "per_page" && l.Name != "start_date" && l.Name != "end_date" {
				t.Errorf("%s: %s is kept in links", k, l.Name)
			}
		}
	}
}

func TestParsePages(t *testing.T) {
	t.Parallel()
	s, _, _, _ := setup(t, nil)
	for _, tt := range []struct {
		sent          string
		page, perPage int
		fields        []string
	}{
		{"", 1, 10, nil},
		{"page=3&per_page=7", 3, 7, nil},
		{"page=1e0&per_page=2.0", 1, 2, nil},
		{"page=1000000000&per_page=500", 1_000_000_000, 100, nil},
		{"per_page=99999999999999999999", 1, 100, nil},
		{"per_page=1e300", 1, 100, nil},
		{"_fields=id, title,,id", 1, 10, []string{"id", "title"}},
		{"_fields=,", 1, 10, nil},
	} {
		c, err := s.Parse(t.Context(), Request{Kind: calendar.KindEvent, Input: input(tt.sent), Lang: calendar.LangEN})
		if err != nil {
			t.Errorf("%s: %v", tt.sent, err)
			continue
		}
		if c.Page != tt.page || c.PerPage != tt.perPage || !cmp.Equal(c.Fields, tt.fields) {
			t.Errorf("%s: got page %d, per_page %d, fields %v", tt.sent, c.Page, c.PerPage, c.Fields)
		}
	}
}

// Links carry what was sent, in the order of the table (interface 4.3).
func TestLinks(t *testing.T) {
	t.Parallel()
	s, _, _, now := setup(t, world(t))
	*now = time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name string
		kind calendar.Kind
		in   calendar.Input
		page int
		want string
	}{
		{
			"example", calendar.KindEvent, input("categories=jazz,folk&page=2&per_page=2&strict_dates=false"), 2,
			"page=2&per_page=2&start_date=2026-05-01%2000%3A00%3A00&end_date=2028-05-01%2023%3A59%3A59&strict_dates=false&categories=jazz%2Cfolk",
		},
		{
			"strict default", calendar.KindEvent, input("strict_dates=TRUE"), 1,
			"per_page=10&start_date=2026-05-01%2023%3A59%3A00&end_date=2028-05-01%2023%3A59%3A59&strict_dates=TRUE",
		},
		{
			"start_date as sent", calendar.KindEvent, input("start_date=tomorrow 9am"), 1,
			"per_page=10&start_date=tomorrow%209am&end_date=2028-05-01%2023%3A59%3A59",
		},
		{
			"no default beside ends_after", calendar.KindEvent, input("ends_after=now&featured=false&search=a+b&include=4&status=publish&per_page=500"), 1,
			"per_page=100&ends_after=now&search=a%2Bb&featured=false&status=publish&include=4",
		},
		{
			"arrays become comma text", calendar.KindEvent,
			calendar.Input{"include": []any{"4", "", "5", "4"}, "tags": []any{"ete", " Open Air "}},
			1,
			"per_page=10&tags=ete%2COpen%20Air&include=4%2C5",
		},
		{
			"empty elements of a comma text", calendar.KindEvent,
			calendar.Input{"include": ",4,, ,5,4," + strings.Repeat(",", 10000), "tags": "ete, Open Air", "search": "a,,b"},
			1,
			"per_page=10&search=a%2C%2Cb&tags=ete%2C%20Open%20Air&include=4%2C5%2C4",
		},
		{
			"an element with a comma", calendar.KindEvent,
			calendar.Input{"include": "4", "tags": []any{"Jazz, folk", "ete"}},
			3,
			"page=3&per_page=10&tags%5B%5D=Jazz%2C%20folk&tags%5B%5D=ete&include=4",
		},
		{
			"everything else", calendar.KindEvent,
			input("_fields=id,title&multilang_language=fr&ticketed=0&post_parent=100&include=1&geoloc_radius=5&geoloc_lng=2&geoloc_lat=1&geoloc=1&organizer=60&venue=50&starts_before=2030-01-01&starts_after=2030-01-01&ends_before=2030-01-01"), 1,
			"per_page=10&starts_before=2030-01-01&starts_after=2030-01-01&ends_before=2030-01-01&venue=50&organizer=60&geoloc=1&geoloc_lat=1&geoloc_lng=2&geoloc_radius=5&include=1&post_parent=100&ticketed=0&multilang_language=fr&_fields=id%2Ctitle",
		},
		{"empty _fields is not sent", calendar.KindVenue, input("_fields="), 1, "per_page=10"},
		{
			"venues", calendar.KindVenue, input("only_with_upcoming=true&has_events=1&event=100&search=hall&per_page=3"), 2,
			"page=2&per_page=3&search=hall&event=100&has_events=1&only_with_upcoming=true",
		},
		{"terms have no per_page of their own", calendar.KindTag, input("page=4"), 4, "page=4"},
		{
			"terms", calendar.KindCategory, input("slug=x&event=100&post=100&parent=30&hide_empty=0&orderby=count&order=desc&include=30&exclude=folk&search=z&per_page=1000"), 1,
			"per_page=100&search=z&exclude=folk&include=30&order=desc&orderby=count&hide_empty=0&parent=30&post=100&event=100&slug=x",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := s.Parse(t.Context(), Request{Kind: tt.kind, Input: tt.in, Lang: calendar.LangEN})
			if err != nil {
				t.Fatal(err)
			}
			links := LinksTo("", c.Links)
			if got := links.Page(tt.page); got != "?"+tt.want {
				t.Errorf("got  %s\nwant ?%s", got, tt.want)
			}
		})
	}
}

func TestKey(t *testing.T) {
	t.Parallel()
	s, store, _, now := setup(t, world(t))
	key := func(k calendar.Kind, c calendar.Caller, l calendar.Lang, sent string) string {
		t.Helper()
		criteria, err := s.Parse(t.Context(), Request{Kind: k, Caller: c, Lang: l, Input: input(sent)})
		if err != nil {
			t.Fatal(err)
		}
		return criteria.Key
	}
	base := key(calendar.KindEvent, anonymous, calendar.LangEN, "tags=ete")
	for name, other := range map[string]string{
		"subscribers": key(calendar.KindEvent, subscriber, calendar.LangEN, "tags=ete"),
		"unknown":     key(calendar.KindEvent, anonymous, calendar.LangEN, "foo=1&tags=ete"),
		"page 1":      key(calendar.KindEvent, anonymous, calendar.LangEN, "tags=ete&page=1"),
	} {
		if other != base {
			t.Errorf("%s: the answer is the same, the keys are not:\n%s\n%s", name, base, other)
		}
	}
	if a, b := key(calendar.KindEvent, editor, calendar.LangEN, ""), key(calendar.KindEvent, auditor, calendar.LangEN, ""); a != b {
		t.Errorf("those who see all share a key: %s, %s", a, b)
	}
	if a, b := key(calendar.KindTag, anonymous, calendar.LangEN, ""), key(calendar.KindTag, contributor, calendar.LangEN, ""); a != b {
		t.Errorf("terms are the same for everybody: %s, %s", a, b)
	}
	different := map[string]string{base: "base"}
	add := func(name, k string) {
		t.Helper()
		if have, ok := different[k]; ok {
			t.Errorf("%s has the key of %s: %s", name, have, k)
		}
		different[k] = name
	}
	add("contributor", key(calendar.KindEvent, contributor, calendar.LangEN, "tags=ete"))
	add("author", key(calendar.KindEvent, author, calendar.LangEN, "tags=ete"))
	add("editor", key(calendar.KindEvent, editor, calendar.LangEN, "tags=ete"))
	add("language", key(calendar.KindEvent, anonymous, calendar.LangFR, "tags=ete"))
	add("selector", key(calendar.KindEvent, anonymous, calendar.LangEN, "tags=ete&multilang_language=es"))
	add("page", key(calendar.KindEvent, anonymous, calendar.LangEN, "tags=ete&page=2"))
	add("per_page", key(calendar.KindEvent, anonymous, calendar.LangEN, "tags=ete&per_page=11"))
	add("fields", key(calendar.KindEvent, anonymous, calendar.LangEN, "tags=ete&_fields=id"))
	add("filter", key(calendar.KindEvent, anonymous, calendar.LangEN, "tags=ete&featured=1"))
	add("other spelling, other links", key(calendar.KindEvent, anonymous, calendar.LangEN, "tags=Ete"))
	add("kind", key(calendar.KindTag, anonymous, calendar.LangEN, ""))
	add("other kind", key(calendar.KindCategory, anonymous, calendar.LangEN, ""))
	add("now", key(calendar.KindEvent, anonymous, calendar.LangEN, "ends_after=now&strict_dates=1"))
	add("upcoming", key(calendar.KindVenue, anonymous, calendar.LangEN, "only_with_upcoming=1"))
	add("of an event", key(calendar.KindVenue, anonymous, calendar.LangEN, "event=100"))

	*now = now.Add(time.Second)
	add("now, a second later", key(calendar.KindEvent, anonymous, calendar.LangEN, "ends_after=now&strict_dates=1"))
	add("upcoming, a second later", key(calendar.KindVenue, anonymous, calendar.LangEN, "only_with_upcoming=1"))
	if k := key(calendar.KindEvent, anonymous, calendar.LangEN, "tags=ete"); k != base {
		t.Errorf("a second later the default window is another: %s", k)
	}
	store.byID[41] = record(t, calendar.KindTag, 41, "Summer", fields{"slug": "summer"})
	store.byID[45] = record(t, calendar.KindTag, 45, "ete", fields{"slug": "ete"})
	add("the slug names another tag", key(calendar.KindEvent, anonymous, calendar.LangEN, "tags=ete"))
	store.byID[100] = event(t, 100, "Quay concert", "2030-05-10", "2030-05-10", fields{"venue": ids(53)})
	add("the event links to others", key(calendar.KindVenue, anonymous, calendar.LangEN, "event=100"))
	*now = now.Add(24 * time.Hour)
	add("the next day", key(calendar.KindEvent, anonymous, calendar.LangEN, "tags=ete"))
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
