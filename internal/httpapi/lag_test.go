package httpapi_test

import (
	"testing"
	"time"

	"daybook/calendar"
)

// TestSharedReadWhileListsLag: an anonymous read that others share does not
// outlive the moment at which an embedded record is published, also while the
// read model does not know that record yet.
func TestSharedReadWhileListsLag(t *testing.T) {
	t.Parallel()
	world, editor, nobody := newWorld(t)
	defer world.Hold()()
	venue := editor.Create(calendar.KindVenue, obj{"venue": "Hall", "status": "future", "date_utc": "2026-05-01 13:00:00"})
	path := editor.Event("Concert", obj{"venue": venue.ID()}).Path()
	nobody.Get(path).WantField("venue", []any{})
	world.Clock.Add(time.Hour)
	nobody.Get(path).WantField("venue.venue", "Hall")
}
