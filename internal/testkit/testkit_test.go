package testkit

import (
	"net/http"
	"testing"

	"daybook/calendar"
)

// TestWorld walks one record of each kind through the service, every answer
// held against the served documentation.
func TestWorld(t *testing.T) {
	t.Parallel()
	w := New(t, Options{})
	editor, nobody := w.As(calendar.Editor), w.As(calendar.Anonymous)

	venue := editor.Create(calendar.KindVenue, Object{"venue": "River Hall", "geo_lat": 42.3554, "geo_lng": -71.0501})
	event := editor.Event("Quay concert & picnic", Object{
		"venue": venue.ID(), "organizer": []any{Object{"organizer": "Arts Trust"}}, "categories": "Jazz", "cost": "$5 - 12",
	}).WantField("title", "Quay concert &amp; picnic").WantField("venue.id", venue.ID()).WantField("categories.0.name", "Jazz")

	read := nobody.Get(event.Path(calendar.KindEvent)).Want(http.StatusOK)
	if !read.Has("json_ld.location.json_ld") && !read.Has("json_ld.location.name") {
		t.Error("no json_ld on a single read")
	}
	if nobody.Get("/events").Want(http.StatusOK).WantField("total", 1).Has("events.0.json_ld") {
		t.Error("json_ld in a list")
	}
	for _, k := range calendar.Kinds {
		nobody.Get("/"+k.Collection()).Want(http.StatusOK).WantField("total", map[calendar.Kind]int{
			calendar.KindEvent: 1, calendar.KindVenue: 1, calendar.KindOrganizer: 1, calendar.KindCategory: 1,
		}[k])
	}
	editor.Patch(event.Path(calendar.KindEvent), Object{"title": "Later"}).Want(http.StatusOK).WantField("slug", "quay-concert-picnic")
	editor.Delete(event.Path(calendar.KindEvent)).Want(http.StatusOK).WantField("status", "trash")
	editor.Delete(event.Path(calendar.KindEvent)).WantCode(http.StatusGone, "event-is-in-trash")
	nobody.Get("/events").Want(http.StatusOK).WantField("total", 0)
	nobody.Get("").Want(http.StatusOK)
	nobody.Get("/doc").Want(http.StatusOK)
}
