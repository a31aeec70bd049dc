package httpapi_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/internal/httpapi"
	"daybook/internal/testkit/world"
)

// TestLargeAnswers: no answer has more bytes than the setting says. What is refused can
// be had in parts, and a write is answered all the same.
func TestLargeAnswers(t *testing.T) {
	t.Parallel()
	const most = 1 << 20
	w := world.New(t, world.Options{HTTP: httpapi.Options{MaxAnswer: most}, Unchecked: true})
	editor := w.As(calendar.Editor)
	clients := map[string]*world.Client{"anonymous": w.As(calendar.Anonymous), "editor": editor}
	var ids []string
	for i := range 30 {
		ids = append(ids, strconv.Itoa(int(editor.Post("/venues", obj{
			"venue": fmt.Sprint("Hall ", i), "description": strings.Repeat("x", 50_000),
		}).Want(http.StatusCreated).ID())))
	}
	within := func(r *world.Response) *world.Response {
		t.Helper()
		if len(r.Body) > most {
			t.Errorf("%s: %d bytes", r.Request, len(r.Body))
		}
		return r
	}
	dates := obj{"title": "Fair", "slug": "fair", "start_date": "2026-06-01", "end_date": "2026-06-02", "tags": "open", "organizer": obj{"organizer": "Trust"}}
	dates["venue"] = ids
	made := within(editor.Post("/events", dates).Want(http.StatusCreated))
	path := made.Path(calendar.KindEvent)
	few := within(editor.Event("Few", obj{"venue": ids[:8]}))
	for what, r := range map[string]*world.Response{
		"created": made, "updated": within(editor.With("If-Match", made.ETag()).Update(path, obj{"cost": "5"})),
	} {
		if r.Has("venue") || r.Has("venues") || r.Has("organizer") || !r.Has("tags.0.id") || r.String("title") != "Fair" || r.ETag() == "" || r.Position() == 0 {
			t.Errorf("%s: %.300s", what, r.Body)
		}
	}
	few.WantField("venues.7.venue", "Hall 7")
	for name, c := range clients {
		within(c.Get("/events/by-slug/fair")).WantBad("_fields")
		within(c.Get(path)).WantBad("_fields")
		within(c.Get(path + "?_fields=title,venues")).WantBad("_fields")
		within(c.Read(path+"?_fields=title,organizer")).WantField("organizer.0.organizer", "Trust")
		within(c.Get("/events")).WantBad("per_page", "_fields")
		within(c.Read("/events?_fields=title,tags")).WantField("events.0.title", "Few")
		within(c.Get("/venues?per_page=30")).WantBad("per_page", "_fields")
		within(c.Read("/venues?per_page=10"))
		if r := within(c.Read("/venues?per_page=30&_fields=venue")); r.Len("venues") != 30 {
			t.Errorf("%s: %d venues", name, r.Len("venues"))
		}
		within(c.Read("/events?page=1&per_page=1")).WantField("events.0.venues.7.venue", "Hall 7")
	}
	// Each of these is small enough; together they are not.
	for i := range 3 {
		editor.Event(fmt.Sprint("More ", i), obj{"start_date": "2026-05-03", "end_date": "2026-05-03", "venue": ids[:8]})
	}
	within(clients["anonymous"].Get("/events?per_page=3")).WantBad("per_page", "_fields")
	within(clients["anonymous"].Read("/events?per_page=1"))
	editor.Update(path, obj{"venue": ids[:2]}).WantField("venues.1.venue", "Hall 1")
	within(clients["anonymous"].Read(path)).WantField("venues.1.venue", "Hall 1")
}
