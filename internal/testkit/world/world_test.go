package world

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"daybook/calendar"
)

// TestWorld walks one record of each kind through the service, every answer
// held against the served documentation.
func TestWorld(t *testing.T) {
	t.Parallel()
	world := New(t, Options{})
	editor, nobody := world.As(calendar.Editor), world.As(calendar.Anonymous)

	venue := editor.Create(calendar.KindVenue, Object{"venue": "River Hall", "geo_lat": 42.3554, "geo_lng": -71.0501})
	event := editor.Event("Quay concert & picnic", Object{
		"venue": venue.ID(), "organizer": []any{Object{"organizer": "Arts Trust"}}, "categories": "Jazz", "cost": "$5 - 12",
	}).WantField("title", "Quay concert &amp; picnic").WantField("venue.id", venue.ID()).WantField("categories.0.name", "Jazz")

	read := nobody.Get(event.Path()).Want(http.StatusOK)
	if !read.Has("json_ld.location.json_ld") && !read.Has("json_ld.location.name") {
		t.Error("no json_ld on a single read")
	}
	if nobody.Get("/events").Want(http.StatusOK).WantField("total", 1).Has("events.0.json_ld") {
		t.Error("json_ld in a list")
	}
	for _, kind := range calendar.Kinds {
		nobody.Get("/"+kind.Collection()).Want(http.StatusOK).WantField("total", map[calendar.Kind]int{
			calendar.KindEvent: 1, calendar.KindVenue: 1, calendar.KindOrganizer: 1, calendar.KindCategory: 1,
		}[kind])
	}
	editor.Do(http.MethodPatch, event.Path(), Object{"title": "Later"}).Want(http.StatusOK).WantField("slug", "quay-concert-picnic")
	editor.Do(http.MethodDelete, event.Path(), nil).Want(http.StatusOK).WantField("status", "trash")
	editor.Do(http.MethodDelete, event.Path(), nil).WantCode(http.StatusGone, "event-is-in-trash")
	nobody.Get("/events").Want(http.StatusOK).WantField("total", 0)
	nobody.Get("").Want(http.StatusOK)
	nobody.Get("/doc").Want(http.StatusOK)
}

// TestConformityHasTeeth: answers that are not as documented are found.
func TestConformityHasTeeth(t *testing.T) {
	t.Parallel()
	world := New(t, Options{})
	documentation := world.Document()
	good := world.As(calendar.Anonymous).Get("/tags").Want(http.StatusOK)
	for name, tc := range map[string]struct {
		path, body string
		status     int
		bad        bool
	}{
		"good":                 {"/tags", string(good.Body), 200, false},
		"wrong key":            {"/tags", `{"tag":[],"rest_url":"x","total":0,"total_pages":0}`, 200, true},
		"text for a number":    {"/tags", `{"tags":[],"rest_url":"x","total":"0","total_pages":0}`, 200, true},
		"unknown key in event": {"/events/5", `{"id":5,"foo":1}`, 200, true},
		"undocumented status":  {"/tags", string(good.Body), 202, true},
		"undocumented path":    {"/other", `{}`, 200, true},
		"error without code":   {"/tags", `{"message":"x","data":{"status":400}}`, 400, true},
		"the same key in one":  {"/tags", strings.Replace(string(good.Body), `"tags":[`, `"tags":[{"id":1},`, 1), 200, true},
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, Root+tc.path, nil)
		if err := documentation.Check(request, &Response{Status: tc.status, Header: good.Header, Body: []byte(tc.body)}); (err != nil) != tc.bad {
			t.Errorf("%s: found %v", name, err)
		}
	}
}
