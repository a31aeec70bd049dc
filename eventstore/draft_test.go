package eventstore_test

import (
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

// BenchmarkDraft makes the draft of a new event with a long description, and checks it.
func BenchmarkDraft(b *testing.B) {
	c := calendar.Change{Name: "event.created", Kind: calendar.KindEvent, ID: 412, Fields: calendar.Fields{
		"author": calendar.ID(7), "status": "publish", "slug": "quay-concert-picnic",
		"title":       calendar.Text{calendar.LangEN: "Quay concert & picnic"},
		"description": calendar.Text{calendar.LangEN: strings.Repeat("Bring a chair, the band plays from half past six. ", 18)},
		"all_day":     false, "show_map": true, "show_map_link": true, "hide_from_listings": false, "sticky": false, "featured": true,
		"timezone": "America/New_York", "cost": []string{"$5", "$12"}, "website": "https://quay.example/?a=1&b=2",
		"categories": []calendar.ID{31}, "tags": []calendar.ID{45, 46}, "venue": []calendar.ID{88}, "organizer": []calendar.ID{90},
	}}
	at := time.Date(2026, 3, 5, 23, 0, 10, 0, time.UTC)
	b.ReportAllocs()
	for b.Loop() {
		d, _, err := eventstore.NewDraft(nil, c, at)
		if err != nil {
			b.Fatal(err)
		}
		a := eventstore.Append{Drafts: []eventstore.Draft{d}, Time: at, Actor: 7}
		if err := a.Check(); err != nil {
			b.Fatal(err)
		}
	}
}
