package httpapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/internal/testkit"
)

// BenchmarkRequests is the cost of whole requests without a network: the default
// list from the cache, 304, a window that nobody asked for before, one record.
func BenchmarkRequests(b *testing.B) {
	w := testkit.New(b, testkit.Options{Unchecked: true})
	editor := w.As(calendar.Editor)
	for i := range 500 {
		editor.Event(fmt.Sprint("Event ", i), testkit.Object{
			"description": "Bring a chair.\nAnd a friend.", "categories": "Jazz", "tags": "Open air",
			"venue": testkit.Object{"venue": "River Hall"}, "organizer": testkit.Object{"organizer": "Arts Trust"}, "cost": "$5 - 12",
		})
	}
	id := editor.Event("One", nil).ID()
	etag := w.As(calendar.Anonymous).Get("/events").ETag()
	for name, path := range map[string]func(i int) (string, string){
		"cached list": func(int) (string, string) { return "/events", "" },
		"304":         func(int) (string, string) { return "/events", etag },
		"new window": func(i int) (string, string) {
			return fmt.Sprintf("/events?start_date=2026-05-%02d&end_date=%d-12-31", 1+i%20, 2027+i/20%5000), ""
		},
		"single": func(int) (string, string) { return "/events/" + id.String(), "" },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				target, tag := path(i)
				r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, testkit.Root+target, nil)
				if tag != "" {
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
	w := testkit.New(b, testkit.Options{Unchecked: true})
	editor := w.As(calendar.Editor)
	linked := testkit.Object{
		"description": strings.Repeat("Bring a chair, the band plays from half past six. ", 18), "categories": "Jazz", "tags": "Open air",
		"venue": testkit.Object{"venue": "River Hall", "description": strings.Repeat("By the river. ", 60)}, "organizer": testkit.Object{"organizer": "Arts Trust"},
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
