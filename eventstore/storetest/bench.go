package storetest

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

// benchWords are those of the texts of events for benchmarks.
var benchWords = strings.Fields(`quay harbor river garden market concert reading festival workshop picnic theatre gallery
orchestra quartet sculpture lantern parade regatta marathon cinema the of and with for at by in on a Kameltin Brasosvos Dungarlei
Shafenulm Ostwilpra Quikarro Melgarsha Tinvosdun every evening morning children music dance bring chair ticket free entry doors
open seven half past until late`)

// EventAppend is a create of an event of real weight as command makes it: texts of
// 0.7 to 2 kB that are another for each id, a venue, an organizer, categories, tags, and
// an idempotency key when it is keyed. Texts of one length would fill the pages of a
// store by chance, three rows a page or four.
func EventAppend(b testing.TB, id calendar.ID, keyed bool) eventstore.Append {
	b.Helper()
	now := time.Date(2026, 5, 1, 9, 30, 0, 0, time.UTC)
	rng := rand.New(rand.NewPCG(uint64(id), 11))
	text := func(characters int) calendar.Text { // about
		characters = characters/2 + rng.IntN(characters)
		var t strings.Builder
		for t.Len() < characters {
			t.WriteString(benchWords[rng.IntN(len(benchWords))] + " ")
		}
		return calendar.Text{calendar.LangEN: t.String()[:characters-1] + "."}
	}
	some := func(from, n int) calendar.ID { return calendar.ID(from + rng.IntN(n)) }
	wall := func(hour int) calendar.Wall {
		return calendar.WallOf(now.AddDate(0, 0, int(id%500)).Add(time.Duration(hour) * time.Hour))
	}
	c := calendar.Change{
		Name: "event.created", Kind: calendar.KindEvent, ID: id, Home: calendar.LangEN,
		Fields: calendar.Fields{
			"title":       calendar.Text{calendar.LangEN: fmt.Sprintf("Quay concert and picnic %d", id)},
			"description": text(880), "excerpt": text(460),
			"slug":   fmt.Sprintf("quay-concert-and-picnic-%d", id),
			"status": "publish", "author": calendar.ID(7),
			"timezone": "America/New_York", "start_date": wall(0), "end_date": wall(2), "utc_start_date": wall(4), "utc_end_date": wall(6),
			"cost": []string{"$12"}, "website": fmt.Sprintf("https://tickets.example/2026/quay-concert-and-picnic?event=%d", id),
			"venue": []calendar.ID{some(1_000_000, 200)}, "organizer": []calendar.ID{some(2_000_000, 100)},
			"categories": []calendar.ID{some(3_000_000, 20)}, "tags": []calendar.ID{some(4_000_000, 50), 4_000_050},
		},
	}
	d, _ := Draft(b, nil, c, now)
	a := eventstore.Append{
		Drafts: []eventstore.Draft{d},
		Time:   now, Actor: 7, Cause: eventstore.Cause{Client: "bench", Request: "r"},
	}
	if keyed {
		key := fmt.Sprintf("key-%d", id)
		a.Receipt = &eventstore.Receipt{User: 7, Key: key, Fingerprint: sha256.Sum256([]byte(key)), Record: id, Version: 1}
	}
	return a
}
