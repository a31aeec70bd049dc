package main

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
)

// vocabulary is what generated list requests are made of: what a calendar holds.
type vocabulary struct {
	events, venues, organizers, categories, tags []map[string]any
	words                                        []string
}

// readVocabulary takes records of all kinds and the words of titles from a
// calendar.
func readVocabulary(t *testing.T, s *server) *vocabulary {
	t.Helper()
	v := &vocabulary{}
	take := func(collection, params string, pages int) (out []map[string]any) {
		for page := range pages {
			list := s.want(200, "GET", fmt.Sprintf("/%s?per_page=100&page=%d&%s", collection, page*5+1, params), s.token, "")
			for _, r := range list[collection].([]any) {
				out = append(out, r.(map[string]any))
			}
			if list["total_pages"].(float64) <= float64(page*5+5) {
				break
			}
		}
		return out
	}
	v.events = take("events", "ends_after=1900-01-01", 10)
	v.venues = take("venues", "", 4)
	v.organizers = take("organizers", "", 4)
	v.categories = take("categories", "hide_empty=false", 1)
	v.tags = take("tags", "hide_empty=false", 1)
	for _, e := range v.events {
		v.words = append(v.words, strings.Fields(e["title"].(string))...)
	}
	if len(v.events) == 0 || len(v.venues) == 0 || len(v.organizers) == 0 || len(v.categories) == 0 || len(v.tags) == 0 {
		t.Fatalf("the calendar lacks a kind: %d events, %d venues, %d organizers, %d categories, %d tags",
			len(v.events), len(v.venues), len(v.organizers), len(v.categories), len(v.tags))
	}
	return v
}

// generator makes list requests of a vocabulary; the same seed makes the same.
type generator struct {
	*rand.Rand
	*vocabulary
}

// listRequest is a path with its query below the host, and whether it is sent
// with credentials.
type listRequest struct {
	path  string
	known bool
}

func newGenerator(v *vocabulary, seed uint64) *generator {
	return &generator{rand.New(rand.NewPCG(seed, 1)), v}
}

func (g *generator) one(of []map[string]any) map[string]any { return of[g.IntN(len(of))] }

func (g *generator) oneOf(of ...string) string { return of[g.IntN(len(of))] }

func (g *generator) now(one int) bool { return g.IntN(one) == 0 }

// ids gives a comma text of some ids.
func (g *generator) ids(of []map[string]any, most int) string {
	var out []string
	for range 1 + g.IntN(most) {
		out = append(out, idOf(g.one(of)))
	}
	return strings.Join(out, ",")
}

// term names a term by id, slug or name.
func (g *generator) term(of []map[string]any) string {
	r := g.one(of)
	switch g.IntN(3) {
	case 0:
		return idOf(r)
	case 1:
		return r["slug"].(string)
	default:
		return r["name"].(string)
	}
}

func (g *generator) date() string {
	d := time.Date(2014, 1, 1+g.IntN(14*365), g.IntN(24), g.IntN(60), g.IntN(60), 0, time.UTC)
	return d.Format(g.oneOf(time.DateOnly, time.DateOnly, time.DateTime, time.RFC3339, "2006-01-02T15:04:05-07:00", "January 2, 2006"))
}

func (g *generator) search() string {
	word := func() string {
		w := g.words[g.IntN(len(g.words))]
		if g.now(3) && len(w) > 3 {
			w = strings.ToValidUTF8(w[:2+g.IntN(len(w)-2)], "")
		}
		if g.now(4) {
			w = strings.ToUpper(w)
		}
		return w
	}
	text := word()
	switch g.IntN(6) {
	case 0:
		text += " " + word()
	case 1:
		text += " -" + word()
	case 2:
		e := strings.Fields(g.one(g.events)["title"].(string))
		at := g.IntN(len(e))
		text = `"` + strings.Join(e[at:min(at+2, len(e))], " ") + `"`
	case 3:
		text = g.oneOf("the conf", "développeurs", "éte", "東京", "京", "日本語", "conférence musique", "días", "react -native", `"web dev" days`, "a", "-a", "...")
	}
	return text
}

// next makes one request; about one in twenty is refused by the service.
func (g *generator) next() listRequest {
	collection := g.oneOf("events", "events", "events", "events", "venues", "organizers", "categories", "tags")
	q := url.Values{}
	set := func(one int, name string, value func() string) {
		if g.now(one) {
			q.Set(name, value())
		}
	}
	set(2, "per_page", func() string { return g.oneOf("1", "3", "10", "25", "50", "100", "1000", "0") })
	set(4, "page", func() string { return strconv.Itoa(1 + g.IntN(9)*g.IntN(7)) })
	set(3, "search", g.search)
	set(5, "multilang_language", func() string { return g.oneOf("en", "fr", "es", "cn", "cn", "de") })
	set(12, "_fields", func() string { return g.oneOf("id,title", "id,venue,name,organizer", "slug", "nothing") })
	switch collection {
	case "events":
		g.eventParams(set)
	case "venues", "organizers":
		set(4, "event", func() string { return idOf(g.one(g.events)) })
		set(4, "has_events", func() string { return g.oneOf("true", "false") })
		set(5, "only_with_upcoming", func() string { return g.oneOf("true", "false", "1") })
	default:
		of := g.tags
		if collection == "categories" {
			of = g.categories
		}
		set(4, "include", func() string { return g.ids(of, 6) })
		set(5, "exclude", func() string { return g.ids(of, 4) })
		set(3, "order", func() string { return g.oneOf("asc", "desc", "ASC") })
		set(2, "orderby", func() string {
			return g.oneOf("name", "id", "slug", "count", "description", "include", "none", "other")
		})
		set(3, "hide_empty", func() string { return g.oneOf("true", "false") })
		set(8, "parent", func() string { return idOf(g.one(g.categories)) })
		set(6, "post", func() string { return idOf(g.one(g.events)) })
		set(9, "slug", func() string { return g.one(of)["slug"].(string) })
	}
	r := listRequest{known: g.now(3)}
	if collection != "categories" && collection != "tags" {
		set(6, "status", func() string {
			if !r.known && !g.now(4) {
				return "publish"
			}
			return g.oneOf("publish", "draft", "private", "publish,draft,pending", "future", "trash", "any")
		})
	}
	r.path = g.oneOf("", "", "", "/fr", "/es", "/cn") + "/api/calendar/events/v1/" + collection
	if len(q) > 0 {
		r.path += "?" + q.Encode()
	}
	return r
}

func (g *generator) eventParams(set func(one int, name string, value func() string)) {
	if g.now(2) {
		set(1, "ends_after", func() string { return "1900-01-01" })
	}
	for _, name := range []string{"start_date", "end_date", "starts_before", "starts_after", "ends_before", "ends_after"} {
		set(7, name, g.date)
	}
	set(4, "strict_dates", func() string { return g.oneOf("true", "false") })
	set(5, "categories", func() string { return g.term(g.categories) })
	set(7, "tags", func() string { return g.term(g.tags) })
	set(7, "venue", func() string { return g.ids(g.venues, 5) })
	set(9, "organizer", func() string { return g.ids(g.organizers, 3) })
	set(10, "featured", func() string { return g.oneOf("true", "false") })
	set(12, "ticketed", func() string { return g.oneOf("true", "false") })
	set(12, "include", func() string { return g.ids(g.events, 8) })
	set(14, "post_parent", func() string { return idOf(g.one(g.events)) })
	if g.now(6) {
		// Cities of the calendar, and some far from everything.
		places := [][2]string{{"45.7640", "4.8357"}, {"48.8566", "2.3522"}, {"40.4168", "-3.7038"}, {"31.2304", "121.4737"}, {"0", "180"}, {"-90", "0"}}
		p := places[g.IntN(len(places))]
		set(1, "geoloc_lat", func() string { return p[0] })
		set(1, "geoloc_lng", func() string { return p[1] })
		set(2, "geoloc_radius", func() string { return g.oneOf("1", "25", "400", "9000", "20000") })
	} else {
		set(10, "geoloc", func() string { return g.oneOf("true", "false") })
	}
}
