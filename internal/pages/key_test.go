package pages

import (
	"net/url"
	"testing"
	"time"

	"daybook/calendar"
)

// TestKey: a page is named by all that it depends on beside the state of the calendar, so
// that one with another host, day or brand is never taken for it (PAGES P6.1).
func TestKey(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 22, 30, 0, 0, time.UTC)
	key := func(path, query, base, mark string, now time.Time) string {
		route, ok := Find(path)
		if !ok {
			t.Fatal(path)
		}
		r := Request{Route: route, Base: base, Query: values(t, query), Input: calendar.Input{}}
		r.Tidy()
		return (&Pages{o: Options{Site: time.UTC, Now: func() time.Time { return now }}, mark: mark}).Key(&r)
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
