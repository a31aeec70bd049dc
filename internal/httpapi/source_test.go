package httpapi_test

import (
	"net/http"
	"testing"

	"daybook/calendar"
	"daybook/internal/httpapi"
	"daybook/internal/testkit/world"
)

// TestCalendarLimit: a calendar widget gets so many events at most; what the index counts at
// the ends of the range and is not in it does not count.
func TestCalendarLimit(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{Unchecked: true, HTTP: httpapi.Options{CalendarLimit: 2}})
	editor, nobody := w.As(calendar.Editor), w.As(calendar.Anonymous)
	add := func(start, end string) { editor.Event("Concert", obj{"start_date": start, "end_date": end}) }
	add("2030-05-09 22:00:00", "2030-05-10 00:00:00") // ends where the range begins
	add("2030-05-10 10:00:00", "2030-05-10 11:00:00")
	add("2030-05-10 12:00:00", "2030-05-10 13:00:00")
	const source = "/events/calendar?start=2030-05-10&end=2030-05-11"
	if got := nobody.Get(source).Want(http.StatusOK).Header.Get("X-Total"); got != "2" {
		t.Errorf("%s events, want 2", got)
	}
	for n := 3; n <= 6; n++ { // from five on by the index alone
		add("2030-05-10 14:00:00", "2030-05-10 15:00:00")
		nobody.Get(source).WantCode(http.StatusBadRequest, "rest_selection_too_large")
	}
}

// TestAddressesAreUTF8: an address that is no UTF-8 leads nowhere.
func TestAddressesAreUTF8(t *testing.T) {
	t.Parallel()
	nobody := world.New(t, world.Options{Unchecked: true}).As(calendar.Anonymous)
	for _, path := range []string{"/events/by-slug/%ff", "/events/by-slug/jazz%C3", "/%ff", "/venues/by-slug/%ED%A0%80"} {
		nobody.Get(path).WantCode(http.StatusNotFound, "rest_no_route")
	}
}
