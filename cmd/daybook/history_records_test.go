package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/sqlite"
	"daybook/internal/htmltext"
)

// afterHistory lies behind all changes of the history.
var afterHistory = time.Date(2027, time.January, 1, 0, 0, 0, 0, time.UTC)

// compareRecords compares the records of a data directory with the live conferences.
func compareRecords(t *testing.T, data string, live map[string]*conference) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), data, sqlite.Options{})
	must(t, err)
	records := recordsOf(t, store)
	compareFields(t, store, records, live)
	must(t, store.Close())
}

// recordsOf returns all records of a store by id.
func recordsOf(t *testing.T, store eventstore.Store) map[calendar.ID]*calendar.Record {
	t.Helper()
	out := map[calendar.ID]*calendar.Record{}
	for after := calendar.ID(0); ; {
		states, err := store.Records(t.Context(), 0, after, 1000)
		must(t, err)
		if len(states) == 0 {
			return out
		}
		for _, s := range states {
			r, err := calendar.DecodeRecord(s.Record)
			must(t, err)
			out[r.ID] = r
			after = r.ID
		}
	}
}

// compareFields compares the fields of each published event with those of its conference.
func compareFields(t *testing.T, store eventstore.Store, records map[calendar.ID]*calendar.Record, live map[string]*conference) {
	t.Helper()
	clean := htmltext.New()
	events := 0
	for _, r := range records {
		if r.Kind == calendar.KindEvent && r.Status(afterHistory) == calendar.StatusPublish {
			events++
		}
	}
	if events != len(live) {
		t.Errorf("%d published events, want %d", events, len(live))
	}
	name := func(id calendar.ID) string {
		s, _ := records[id].Name(calendar.LangEN)
		return s
	}
	for key, l := range live {
		found, err := store.Find(t.Context(), eventstore.Lookup{Claims: []calendar.Claim{calendar.ImportClaim("conferences", key)}})
		must(t, err)
		r := records[found.Holders[0]]
		if r == nil {
			t.Errorf("conference %s is missing", key)
			continue
		}
		got := conference{
			title: r.Fields.Text("title")[calendar.LangEN], website: r.Fields.String("website"),
			start: r.Fields.Wall("start_date").String(), end: r.Fields.Wall("end_date").String(),
			description: r.Fields.Text("description")[calendar.LangEN], author: records[r.Author()].Fields.String("name"),
			created: r.Fields.Wall("date_utc").UTC(), changed: r.Changed, changes: int(r.Version),
		}
		for _, id := range r.Fields.IDs("venue") {
			venue := records[id].Fields
			got.venue = strings.TrimSuffix(venue.String("city")+", "+venue.String("country"), ", ")
			if name(id) != got.venue {
				t.Errorf("venue %d is named %q", id, name(id))
			}
		}
		for _, id := range r.Fields.IDs("categories") {
			got.topic = name(id)
		}
		for _, id := range r.Fields.IDs("tags") {
			got.tags = append(got.tags, name(id))
		}
		want := *l
		want.description = clean.HTML(want.description)
		want.start += " 00:00:00"
		want.end += " 23:59:59"
		if d := cmp.Diff(want, got, cmp.AllowUnexported(conference{})); d != "" {
			t.Errorf("conference %s (-want +got):\n%s", key, d)
		}
		if !slices.Equal(r.Langs(), []calendar.Lang{calendar.LangEN}) || r.Fields.String("timezone") != "UTC" || !r.Fields.Bool("all_day") {
			t.Errorf("conference %s: %v", key, r.Fields)
		}
	}
}
