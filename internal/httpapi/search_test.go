package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/internal/testkit/world"
)

// titlesOf gives the titles of a list in its order.
func titlesOf(t *testing.T, r *world.Response) (out []string) {
	t.Helper()
	for i := range r.Want(http.StatusOK).Len("events") {
		out = append(out, r.String(fmt.Sprintf("events.%d.title", i)))
	}
	return out
}

// LISTINGS 8.32, 8.33, 8.42: typos over HTTP, under every root.
func TestTypos(t *testing.T) {
	t.Parallel()
	w, editor, _ := newWorld(t)
	jazz := editor.Event("Jazz", obj{"description": "by <b>night</b>"})
	editor.Event("Jzaz", nil)
	editor.Event("Symphony concert", nil)
	editor.Event("Symphany", obj{"excerpt": "not this one"})
	locked := editor.Event("Concert behind doors", obj{"description": "a sinfonietta"})
	editor.Update(locked.Path(calendar.KindEvent), obj{"password": "x"})
	for _, l := range calendar.Langs {
		nobody := w.As(calendar.Anonymous).Under(l)
		for _, c := range []struct {
			query string
			step  int // -1: no key
			want  string
		}{
			{"search=jzaz", -1, "Jzaz"},
			{"search=jzaz&typos=off", 0, "Jzaz"},
			{"search=jzaz&typos=FALSE", 0, "Jzaz"},
			{"search=jzaz&typos=auto", 0, "Jzaz"}, // an exact hit is never mixed with others
			{"search=jzaz&typos=on", 2, "Jazz Jzaz"},
			{"search=jzaz&typos=yes", 2, "Jazz Jzaz"},
			{"search=jaz&typos=auto", 0, "Jazz"},
			{"search=jazx&typos=auto", 1, "Jazz"},
			{"search=jazx+nihgt&typos=auto", 1, "Jazz"},
			{"search=symhpany&typos=auto", 1, "Symphany"}, // at one typo, before two
			{"search=symhpany&typos=on", 2, "Symphony concert,Symphany"},
			{"search=sinphony&typos=auto", 2, "Symphony concert"},
			{"search=sinphony+cnocert&typos=auto", 2, "Symphony concert"},
			{"search=jzz&typos=on", 2, ""},
			{"search=jzz&typos=auto", 0, ""},
			{"search=nothingatall&typos=auto", 0, ""},
			{"search=%22jazx%22&typos=on", 2, ""},
			{"search=concert+-symphany&typos=on", 2, "Symphony concert,Concert behind doors"},
			{"search=cnocert+doors&typos=on", 2, "Concert behind doors"},
			{"search=sinfonieta&typos=on", 2, ""},           // blanked: its title only
			{"search=jzaz&typos=auto&include=1", 1, "Jazz"}, // all filters count
			{"typos=on", 0, "Jazz Jzaz,Symphony concert,Symphany,Concert behind doors"},
			{"typos=auto", 0, "Jazz Jzaz,Symphony concert,Symphany,Concert behind doors"},
		} {
			query := strings.Replace(c.query, "include=1", "include="+jazz.ID().String(), 1)
			r := nobody.Get("/events?" + query)
			got := strings.Join(titlesOf(t, r), ",")
			want := strings.ReplaceAll(c.want, "Jazz Jzaz", "Jazz,Jzaz")
			if got != want {
				t.Errorf("%s %s: %q, want %q", l, c.query, got, want)
			}
			if step, has := r.Lookup("typos"); has != (c.step >= 0) || has && fmt.Sprint(step) != fmt.Sprint(c.step) {
				t.Errorf("%s %s: typos %v, want %d", l, c.query, step, c.step)
			}
			if c.step >= 0 && !strings.Contains(r.String("rest_url"), "typos=") {
				t.Errorf("%s %s: %s", l, c.query, r.String("rest_url"))
			}
			if l != calendar.LangES {
				continue
			}
			ndjson := nobody.Get("/events.ndjson?" + query)
			if n := strings.Count(string(ndjson.Want(http.StatusOK).Body), "\n"); n != r.Len("events") || ndjson.Header.Get("X-Total") != fmt.Sprint(n) {
				t.Errorf("%s %s: %d lines of %d", l, c.query, n, r.Len("events"))
			}
			source := nobody.Get("/events/calendar?start=2026-01-01&end=2030-01-01&" + query)
			if n := len(source.Want(http.StatusOK).JSON().([]any)); n != r.Len("events") && query == c.query {
				t.Errorf("%s %s: %d entries, want %d", l, c.query, n, r.Len("events"))
			}
		}
	}
	nobody := w.As(calendar.Anonymous)
	for _, query := range []string{"typos=", "typos=maybe", "typos=AUTO", "typos=2"} {
		nobody.Get("/events?search=jazz&" + query).WantBad("typos")
	}
	nobody.Read("/venues?typos=maybe")
}

// LISTINGS 8.34, 8.42: highlights over HTTP.
func TestHighlight(t *testing.T) {
	t.Parallel()
	_, editor, nobody := newWorld(t)
	long := strings.TrimSpace(strings.Repeat("word ", 60))
	editor.Event("Jazz & blues <3", obj{
		"excerpt":     "All that jazzy\n\nstuff",
		"description": "<p>" + long + "</p><ul><li>The <em>ja</em>zz\n nights</li><li>&lt;jazz&gt;</li></ul>",
	})
	locked := editor.Event("Jazz behind doors", obj{"description": "jazz"})
	editor.Update(locked.Path(calendar.KindEvent), obj{"password": "x"})
	editor.Event("Other", obj{"description": "jazz"})
	within := func(r *world.Response, list, key string) (out []any) {
		t.Helper()
		for i := range r.Want(http.StatusOK).Len(list) {
			h, _ := r.Lookup(fmt.Sprintf("%s.%d.%s", list, i, key))
			out = append(out, h)
		}
		return out
	}
	of := func(r *world.Response) []any {
		t.Helper()
		return within(r, "events", "highlight")
	}
	marked := func(pairs ...string) any {
		m := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	description := func(first string) string {
		return first + " The <mark>jazz</mark> nights &lt;<mark>jazz</mark>&gt;"
	}
	ahead := "…" + strings.TrimSpace(strings.Repeat("word ", 11)) // 54 characters, and 5 to the mark
	for _, c := range []struct {
		query string
		want  []any
	}{
		{"search=jazz&highlight=true", []any{
			marked("title", "<mark>Jazz</mark> &amp; blues &lt;3", "excerpt", "All that <mark>jazzy</mark> stuff", "description", description(ahead)),
			marked("title", "<mark>Jazz</mark> behind doors"),
			marked("description", "<mark>jazz</mark>"),
		}},
		{"search=jazz&highlight=1&highlight_length=40", []any{
			marked("title", "<mark>Jazz</mark> &amp; blues &lt;3", "excerpt", "All that <mark>jazzy</mark> stuff", "description", "…word word word word word word The <mark>jazz</mark>…"),
			marked("title", "<mark>Jazz</mark> behind doors"),
			marked("description", "<mark>jazz</mark>"),
		}},
		{"search=%22jazz+night%22&highlight=true&_fields=highlight", []any{marked("description", ahead+" The <mark>jazz nights</mark> &lt;jazz&gt;")}},
		{"search=jzaz+bleus&highlight=true&typos=auto", []any{
			marked("title", "<mark>Jazz</mark> &amp; <mark>blues</mark> &lt;3", "description", description(ahead)),
		}},
		{"search=-blues&highlight=true", []any{marked(), marked()}},
		{"search=jazz&highlight=false", []any{nil, nil, nil}},
		{"search=jazz", []any{nil, nil, nil}},
		{"search=jazz&highlight=true&_fields=id", []any{nil, nil, nil}},
		{"highlight=true", []any{nil, nil, nil}},
	} {
		if diff := cmp.Diff(c.want, of(nobody.Get("/events?"+c.query))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.query, diff)
		}
		if strings.Contains(c.query, "_fields") {
			continue
		}
		for _, as := range [][3]string{{".jsonfeed", "items", "_daybook.highlight"}, {".geojson", "features", "properties.highlight"}} {
			for _, pages := range []string{"", "&per_page=10"} {
				if diff := cmp.Diff(c.want, within(nobody.Get("/events"+as[0]+"?"+c.query+pages), as[1], as[2])); diff != "" {
					t.Errorf("%s%s%s (-want +got):\n%s", as[0], c.query, pages, diff)
				}
			}
		}
	}
	lines := string(nobody.Read("/events.ndjson?search=jazx&typos=on&highlight=true&_fields=highlight").Body)
	if n := strings.Count(lines, `"title":"<mark>Jazz</mark>`); n != 2 {
		t.Errorf("NDJSON: %s", lines)
	}
	for _, query := range []string{"highlight=", "highlight=maybe"} {
		nobody.Get("/events?" + query).WantBad("highlight")
	}
	for _, query := range []string{"highlight_length=", "highlight_length=39", "highlight_length=1001", "highlight_length=x"} {
		nobody.Get("/events?" + query).WantBad("highlight_length")
	}
	for _, c := range []string{"highlight_length=40", "highlight_length=1000"} {
		nobody.Read("/events?highlight=true&search=jazz&" + c)
	}
	for _, l := range calendar.Langs { // the key is as safe under every root
		if got := of(nobody.Under(l).Get("/events?search=jazz&highlight=true"))[1]; !cmp.Equal(got, marked("title", "<mark>Jazz</mark> behind doors")) {
			t.Errorf("%s: %v", l, got)
		}
	}
}

// LISTINGS 8.29, 8.31: the best first, over HTTP.
func TestRelevance(t *testing.T) {
	t.Parallel()
	w, editor, _ := newWorld(t)
	at := func(day int) obj {
		return obj{"start_date": fmt.Sprintf("2026-06-%02d 10:00:00", day), "end_date": fmt.Sprintf("2026-06-%02d 12:00:00", day)}
	}
	with := func(o obj, name, value string) obj {
		o[name] = value
		return o
	}
	editor.Event("Other 2", with(at(1), "description", "jazz nights"))
	editor.Event("Other 1", with(at(2), "description", "<p>jazz</p><p>night</p>"))
	editor.Event("Night talk", with(at(3), "excerpt", "about jazz"))
	editor.Event("Night of jazz", at(5))
	editor.Event("Nights: jazz", at(4))
	editor.Event("A jazz night", at(6))
	editor.Event("Jazz night", at(8))
	editor.Event("JAZZ, night!", at(7))
	locked := editor.Event("Jazz behind", with(at(9), "description", "jazz night"))
	editor.Update(locked.Path(calendar.KindEvent), obj{"password": "x"})
	want := []string{"JAZZ, night!", "Jazz night", "A jazz night", "Night of jazz", "Nights: jazz", "Night talk", "Other 1", "Other 2"}
	for _, l := range calendar.Langs {
		nobody := w.As(calendar.Anonymous).Under(l)
		for _, order := range []string{"", "&order=desc", "&order=DESC"} {
			if diff := cmp.Diff(want, titlesOf(t, nobody.Get("/events?search=jazz+night&sort=relevance"+order))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", l, diff)
			}
		}
		pages := append(
			titlesOf(t, nobody.Get("/events?search=jazz+night&sort=relevance&per_page=3")),
			append(titlesOf(t, nobody.Get("/events?search=jazz+night&sort=relevance&per_page=3&page=2")),
				titlesOf(t, nobody.Get("/events?search=jazz+night&sort=relevance&per_page=3&page=3"))...)...,
		)
		if diff := cmp.Diff(want, pages); diff != "" {
			t.Errorf("%s: pages (-want +got):\n%s", l, diff)
		}
	}
	nobody := w.As(calendar.Anonymous)
	lines := strings.Split(strings.TrimSpace(string(nobody.Read("/events.ndjson?search=jazz+night&sort=relevance&_fields=title").Body)), "\n")
	for i, title := range want {
		if lines[i] != `{"title":"`+title+`"}` {
			t.Errorf("line %d: %s, want %s", i, lines[i], title)
		}
	}
	if got := titlesOf(t, nobody.Get("/events?search=jzaz+nigth&sort=relevance&typos=on&per_page=2")); got[0] != "Night of jazz" || got[1] != "A jazz night" {
		t.Errorf("with typos: %q", got)
	}
	// Blanked, it is ranked by its title; who may read it sees more.
	if got := titlesOf(t, nobody.Get("/events?search=jazz&sort=relevance")); got[5] != "Jazz behind" || got[6] != "Other 2" {
		t.Errorf("one word: %q", got)
	}
	if got := titlesOf(t, editor.Get("/events?search=jazz+night&sort=relevance")); got[5] != "Night talk" || got[6] != "Jazz behind" {
		t.Errorf("by an editor: %q", got)
	}
	// Without a search it is the order of all lists.
	if diff := cmp.Diff(titlesOf(t, nobody.Get("/events")), titlesOf(t, nobody.Get("/events?sort=relevance"))); diff != "" {
		t.Errorf("without a search (-default +got):\n%s", diff)
	}
	nobody.Get("/events?search=jazz&sort=relevance&order=asc").WantBad("order")
	nobody.Get("/events?search=jazz&sort=relevance&order=").WantBad("order")
	editor.Event("The jazziest jazz of all", with(at(10), "description", strings.Repeat("jazz night ", 200)))
	editor.Event("Unrelated", at(11))
	got := titlesOf(t, nobody.Get("/events?search=jazz+night&sort=relevance"))
	if diff := cmp.Diff(want, append(got[:6:6], got[7:]...)); diff != "" {
		t.Errorf("after another one came (-want +got):\n%s", diff)
	}
}
