package httpapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/internal/pages"
	"daybook/internal/testkit/world"
)

// BenchmarkRequests is the cost of whole requests without a network, on events of real
// weight: what is kept, and what is asked for the first time.
func BenchmarkRequests(b *testing.B) {
	w := world.New(b, world.Options{Unchecked: true, Pages: &pages.Options{}})
	editor := w.As(calendar.Editor)
	description := "<p>" + strings.Repeat("An evening by the river, with a chair and a friend. ", 17) + "</p>"
	var one calendar.ID
	for i := range 2000 {
		one = editor.Event(fmt.Sprint("Event ", i), obj{
			"description": description, "excerpt": description[:120], "categories": fmt.Sprintf("Jazz %d,Folk %d", i%7, i%11), "tags": fmt.Sprintf("Open air %d,Late %d", i%13, i%17),
			"venue":     obj{"venue": fmt.Sprint("River Hall ", i%200), "address": "1 Quay", "city": "Boston", "geo_lat": 42.1, "geo_lng": -71.2},
			"organizer": obj{"organizer": fmt.Sprint("Arts Trust ", i%150), "email": "hello@arts.example"}, "cost": "$5 - 12", "website": "https://arts.example/events",
			"start_date": fmt.Sprintf("2030-%02d-%02d 09:00:00", 1+i%12, 1+i/12%28), "end_date": fmt.Sprintf("2030-%02d-%02d 11:00:00", 1+i%12, 1+i/12%28),
		}).ID()
	}
	window := func(i int) string {
		return fmt.Sprintf("?start_date=2030-%02d-%02d%%2009:%02d:%02d&strict_dates=1&end_date=%d-12-31", 1+i%6, 1+i/6%28, i/168%60, i/10080%60, 2031+i%900)
	}
	etag := w.As(calendar.Anonymous).Get("/events?end_date=2031-01-01").ETag()
	for name, path := range map[string]func(i int) (string, string){
		"cached list": func(int) (string, string) { return "/events?end_date=2031-01-01", "" },
		"304":         func(int) (string, string) { return "/events?end_date=2031-01-01", etag },
		"compressed":  func(int) (string, string) { return "/events?end_date=2031-01-01", "zstd" },
		"new window": func(i int) (string, string) {
			return "/events" + window(i), ""
		},
		"new category": func(i int) (string, string) {
			return fmt.Sprintf("/events?categories=jazz-%d&end_date=%d-12-31&start_date=2030-%02d-01", i%7, 2031+i%5000, 1+i%6), ""
		},
		"new search": func(i int) (string, string) {
			return fmt.Sprintf("/events?search=river%%20event%%20%d&end_date=2031-01-01", i%2000), ""
		},
		"terms": func(i int) (string, string) {
			return fmt.Sprintf("/tags?orderby=count&per_page=%d&page=%d", 1+i%90, 1+i/90), ""
		},
		"single": func(int) (string, string) { return "/events/" + one.String(), "" },
		"another event": func(i int) (string, string) {
			return fmt.Sprintf("/events/%d?_fields=id,title,venue,categories,x%d", one-calendar.ID(i%1500), i), ""
		},
		"doc":                       func(int) (string, string) { return "/doc", "" },
		"20 events of a new window": func(i int) (string, string) { return "/events" + window(i) + "&per_page=20", "" },
		"list page of a new window": func(i int) (string, string) { return "page:/events/" + window(i), "" },
		"another event page": func(i int) (string, string) {
			return fmt.Sprintf("page:/event/event-%d/?tz=UTC%%2B%d", i%2000, i/2000%14), ""
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				target, tag := path(i)
				at, page := strings.CutPrefix(target, "page:")
				if !page {
					at = world.Root + target
				}
				r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, at, nil)
				if tag == "zstd" {
					r.Header.Set("Accept-Encoding", tag)
				} else if tag != "" {
					r.Header.Set("If-None-Match", tag)
				}
				rec := &discard{header: http.Header{}}
				w.Handler.ServeHTTP(rec, r)
				if rec.status != http.StatusOK && rec.status != http.StatusNotModified {
					b.Fatalf("%s: %d", target, rec.status)
				}
			}
		})
	}
}

// BenchmarkCreate is the cost of a whole create with links and a long description,
// without a network and with a store in memory.
func BenchmarkCreate(b *testing.B) {
	w := world.New(b, world.Options{Unchecked: true})
	editor := w.As(calendar.Editor)
	linked := obj{
		"description": strings.Repeat("Bring a chair, the band plays from half past six. ", 18), "categories": "Jazz", "tags": "Open air",
		"venue": obj{"venue": "River Hall", "description": strings.Repeat("By the river. ", 60)}, "organizer": obj{"organizer": "Arts Trust"},
	}
	editor.Event("First", linked)
	b.ReportAllocs()
	for b.Loop() {
		editor.Event("Another", linked)
	}
}

// discard is a ResponseWriter that costs nothing.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(status int)      { d.status = status }
