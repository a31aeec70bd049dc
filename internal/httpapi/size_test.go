package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/internal/httpapi"
	"daybook/internal/testkit/world"
	"daybook/query"
)

// TestLargeAnswers: no answer has more bytes than the setting says. What is refused can
// be had in parts, and a write is answered all the same.
func TestLargeAnswers(t *testing.T) {
	t.Parallel()
	const most = 1 << 20
	w := world.New(t, world.Options{HTTP: httpapi.Options{Options: query.Options{MaxAnswer: most}}, Unchecked: true})
	editor, nobody := w.As(calendar.Editor), w.As(calendar.Anonymous)
	var ids []calendar.ID
	for i := range 30 {
		ids = append(ids, editor.Create(calendar.KindVenue, obj{"venue": fmt.Sprint("Hall ", i), "description": strings.Repeat("x", 50_000)}).ID())
	}
	within := func(response *world.Response) *world.Response {
		t.Helper()
		if len(response.Body) > most {
			t.Errorf("%s: %d bytes", response.Request, len(response.Body))
		}
		return response
	}
	made := editor.Event("Fair", obj{"slug": "fair", "tags": "open", "organizer": obj{"organizer": "Trust"}, "venue": ids})
	path := made.Path()
	for _, response := range []*world.Response{made, editor.With("If-Match", made.ETag()).Update(path, obj{"cost": "5"})} {
		if within(response); response.Has("venue") || response.Has("venues") || response.Has("organizer") || !response.Has("tags.0.id") || response.String("title") != "Fair" || response.ETag() == "" || response.Position() == 0 {
			t.Errorf("%s: %.300s", response.Request, response.Body)
		}
	}
	for i := range 4 { // each is small enough, together they are not
		editor.Event(fmt.Sprint("Few ", i), obj{"start_date": "2026-05-03", "end_date": "2026-05-03", "venue": ids[:8]}).WantField("venues.7.venue", "Hall 7")
	}
	for _, client := range []*world.Client{nobody, editor} {
		for _, query := range []string{"/events/by-slug/fair", path, path + "?_fields=title,venues"} {
			within(client.Get(query)).WantBad("_fields")
		}
		for _, query := range []string{"/events", "/venues?per_page=30", "/events?per_page=3"} {
			within(client.Get(query)).WantBad("per_page", "_fields")
		}
		within(client.Read(path+"?_fields=title,organizer")).WantField("organizer.0.organizer", "Trust")
		within(client.Read("/events?_fields=title,tags")).WantField("events.0.title", "Few 0")
		within(client.Read("/venues?per_page=10"))
		within(client.Read("/venues?per_page=30&_fields=venue")).WantField("total", 30)
		within(client.Read("/events?page=1&per_page=1")).WantField("events.0.venues.7.venue", "Hall 7")
	}
	editor.Update(path, obj{"venue": ids[:2]}).WantField("venues.1.venue", "Hall 1")
	within(nobody.Read(path)).WantField("venues.1.venue", "Hall 1")
}
