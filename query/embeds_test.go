package query

import (
	"errors"
	"strings"
	"testing"

	"daybook/calendar"
)

// TestHeavyLinks: an event that links to more text than an answer may have is given up
// before all of it is loaded, in lists as in views; what is not wanted is not loaded.
func TestHeavyLinks(t *testing.T) {
	t.Parallel()
	text := calendar.Text{calendar.LangEN: strings.Repeat("x", 100_000)}
	links := make([]calendar.ID, 0, 1000)
	records := make([]*calendar.Record, 0, 1001)
	for id := calendar.ID(1000); id < 2000; id++ {
		records = append(records, record(t, calendar.KindVenue, id, "Hall", fields{"description": text}))
		links = append(links, id)
	}
	fair := event(t, 1, "Fair", "2030-05-10 10:00:00", "2030-05-10 12:00:00", fields{"venue": links})
	s, store, index, _ := setup(t, append(records, fair))

	if _, err := s.View(t.Context(), anonymous, fair, calendar.LangEN, EmbedAll, Moment{}); !errors.Is(err, ErrTooLarge) || store.loaded > loadedAtOnce {
		t.Errorf("view: %v after %d records", err, store.loaded)
	}
	if _, _, err := list(t, s, calendar.KindEvent, anonymous, input("")); !errors.Is(err, ErrTooLarge) || index.asked["documents"] > loadedAtOnce {
		t.Errorf("list: %v after %d records", err, index.asked["documents"])
	}
	store.loaded, index.asked["documents"] = 0, 0
	if v, err := s.View(t.Context(), anonymous, fair, calendar.LangEN, EmbedsOf([]string{"title", "tags"}), Moment{}); err != nil || store.loaded > 0 || v.Venues != nil {
		t.Errorf("view without venues: %v after %d records", err, store.loaded)
	}
	l, _, err := list(t, s, calendar.KindEvent, anonymous, input("_fields=title"))
	if err != nil || index.asked["documents"] > 0 || len(l.Views) != 1 {
		t.Errorf("list without venues: %v after %d records", err, index.asked["documents"])
	}
	// What the caller does not see counts for nothing.
	for _, r := range records {
		if r.ID >= 1010 && r.Kind == calendar.KindVenue {
			r.Fields["status"] = string(calendar.StatusDraft)
		}
	}
	index.put(records[:1000]...)
	if v, err := s.View(t.Context(), anonymous, fair, calendar.LangEN, EmbedAll, Moment{}); err != nil || len(v.Venues) != 10 {
		t.Errorf("view of drafts: %v, %d venues", err, len(v.Venues))
	}
	if l, _, err := list(t, s, calendar.KindEvent, anonymous, input("")); err != nil || len(l.Views[0].Venues) != 10 {
		t.Errorf("list of drafts: %v", err)
	}
}
