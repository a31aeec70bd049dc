package httpapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/internal/httpapi"
	"daybook/internal/testkit/world"
)

// BenchmarkFeed sends whole feeds of events of real weight.
func BenchmarkFeed(b *testing.B) {
	w := world.New(b, world.Options{Unchecked: true, HTTP: httpapi.Options{AnswerBytes: -1}})
	editor := w.As(calendar.Editor)
	venue := editor.Create(calendar.KindVenue, obj{"venue": "River Hall", "city": "Boston", "geo_lat": 42.36, "geo_lng": -71.05}).ID()
	text := "<p>" + strings.Repeat("Bring a chair &amp; a friend, and stay for the late set. ", 40) + "</p>\n<p>Doors open early.</p>"
	const events = 5000
	for i := range events {
		editor.Event(fmt.Sprintf("Concert %d", i), obj{
			"venue": venue, "description": text, "timezone": "America/New_York", "start_date": fmt.Sprintf("2026-%02d-10 10:00:00", 6+i%6), "end_date": "2026-12-31 12:00:00",
		})
	}
	for _, format := range append([]string{"ndjson"}, feedFormats...) {
		b.Run(format, func(b *testing.B) {
			for b.Loop() {
				r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, world.Root+"/events."+format, nil)
				counted := &counting{header: http.Header{}}
				w.Handler.ServeHTTP(counted, r)
				b.SetBytes(int64(counted.n))
			}
		})
	}
}

// counting counts what it is sent.
type counting struct {
	header http.Header
	n      int
}

func (c *counting) Header() http.Header { return c.header }
func (c *counting) WriteHeader(int)     {}
func (c *counting) Write(p []byte) (int, error) {
	c.n += len(p)
	return len(p), nil
}
