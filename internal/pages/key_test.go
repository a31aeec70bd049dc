package pages

import (
	"net/url"
	"testing"
	"time"

	"daybook/calendar"
)

// TestKey: a page is named by all that it depends on besides the state of the calendar, so
// that one with another host, day or brand is never taken for it (PAGES P6.1).
func TestKey(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 22, 30, 0, 0, time.UTC)
	key := func(path, query, base, mark string, now time.Time) string {
		route, ok := Find(path)
		if !ok {
			t.Fatal(path)
		}
		request := Request{Route: route, Base: base, Query: values(t, query), Input: calendar.Input{}}
		request.Tidy()
		return (&Pages{options: Options{Site: time.UTC, Now: func() time.Time { return now }}, assets: &assets{mark: mark}}).Key(&request)
	}
	const base = "https://calendar.example.org"
	plain := key("/events/", "", base, "a", now)
	if key("/events/", "search=&x=", base, "a", now.Add(time.Minute)) != plain {
		t.Error("empty parameters or a minute make another page")
	}
	for name, other := range map[string]string{
		"path": key("/fr/events/", "", base, "a", now), "query": key("/events/", "search=x", base, "a", now), "zone": key("/events/", "tz=UTC", base, "a", now),
		"host": key("/events/", "", "https://other.example.org", "a", now), "brand": key("/events/", "", base, "b", now), "day": key("/events/", "", base, "a", now.Add(2*time.Hour)),
		"unknown": key("/events/", "x=1", base, "a", now), "moved": key("/events", "", base, "a", now),
	} {
		if other == plain {
			t.Errorf("another %s is the same page", name)
		}
	}
	if key("/events/", "tz=Asia/Tokyo", base, "a", now) == key("/events/", "tz=Asia/Tokyo", base, "a", now.Add(-10*time.Hour)) {
		t.Error("another day of the zone is the same page")
	}
}

func values(t *testing.T, query string) url.Values {
	t.Helper()
	v, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestRedirectsAreShared: requests with one key share an answer, and yet each keeps its own
// query.
func TestRedirectsAreShared(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ path, query, other, location, want string }{
		{"/events", "x=1", "y=2", "/events/", "/events/?y=2"},
		{"/event/QUAY", "", "tz=", "/event/quay/", "/event/quay/?tz="},
		{"/events/", "multilang_language=fr&x=1", "y=%202&multilang_language=fr", "/fr/events/", "/fr/events/?y=%202"},
	} {
		route, _ := Find(tt.path)
		request := Request{Route: route, Query: values(t, tt.query), Input: calendar.Input{}}
		request.Tidy()
		answer, err := (&Pages{}).Serve(t.Context(), &request)
		if err != nil || answer.Location != tt.location || answer.Target(tt.other) != tt.want {
			t.Errorf("%s?%s: %v leads to %s, with %s to %s", tt.path, tt.query, err, answer.Location, tt.other, answer.Target(tt.other))
		}
	}
}
