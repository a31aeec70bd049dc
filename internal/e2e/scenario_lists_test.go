package e2e

import (
	"fmt"
	"maps"
	"strings"
	"sync"

	"daybook/calendar"
)

// Equal posts, orders, filters, languages in lists, and the clock.

func equalPosts(scene *scene) {
	caller := scene.editor
	for _, collection := range []string{"venues", "organizers"} {
		text := newWord()
		name := nameField(collection)
		full := func(more obj) obj {
			out := body(collection, "Hall & "+text, obj{"phone": "1", "description": "D", "website": "https://a.example", "image": "https://img.example/" + text + ".jpg"})
			maps.Copy(out, more)
			return out
		}
		first := caller.create(collection, full(nil)).field("slug", "hall-"+text)
		check := caller.unchanged(first)
		// Id, author, dates and slug aside, case of the name aside.
		for _, more := range []obj{
			{},
			{name: "HALL &amp; " + strings.ToUpper(text)},
			{"date": "2020-01-01"},
			{"slug": "other-" + text},
			{"author": scene.svc.User("author").User},
			{"id": 5},
			{"description": " D "},
			{"multilang_language": "en"},
			{"status": "publish"},
		} {
			again := caller.create(collection, full(more))
			same(scene.t, first, again)
			again.head("ETag", first.ETag()).head("Location", scene.svc.Base+root+first.Path())
		}
		check()
		caller.counting(collection, text, 1)
		// Every other difference makes a new one.
		for i, more := range []obj{
			{"phone": "2"},
			{"description": "d"},
			{"phone": nil},
			{"image": nil},
			{"status": "private"},
			{"date": "2027-01-01"},
			{"excerpt": "E"},
			{"multilang_language": "fr"},
		} {
			other := caller.create(collection, full(more)).field("slug", "hall-"+text+"-"+fmt.Sprint(i+2))
			if other.ID() == first.ID() {
				scene.t.Errorf("%s: %v made no new record", collection, more)
			}
		}
		// A contributor's is never published, so it is always new.
		scene.as("contributor").add(collection, "Hall & "+text).field("status", "draft")
		// Texts in other languages count too, and none of the trash.
		caller.under("es").update(first, obj{name: "Sala " + text})
		fresh := caller.create(collection, full(nil))
		caller.remove(fresh)
		next := caller.create(collection, full(nil))
		if fresh.ID() == first.ID() || next.ID() == fresh.ID() {
			scene.t.Errorf("%s: ids %d, %d, %d", collection, first.ID(), fresh.ID(), next.ID())
		}
		// The key of such a request is kept.
		key := "equal-" + text
		keyed := caller.with("Idempotency-Key", key).create(collection, full(nil)).head("Idempotency-Replayed", "")
		caller.update(next, obj{"phone": "2"})
		same(scene.t, keyed, caller.with("Idempotency-Key", key).create(collection, full(nil)).head("Idempotency-Replayed", "true"))
	}
	// Events and terms are never merged.
	text := newWord()
	if first, second := caller.event(text, nil), caller.event(text, nil); first.ID() == second.ID() {
		scene.t.Error("equal events were merged")
	}
}

func equalPostsAtOnce(scene *scene) {
	caller := scene.editor
	for _, collection := range collections {
		w := newWord()
		var (
			group sync.WaitGroup
			got   [6]*answer
		)
		for i := range got {
			group.Go(func() { got[i] = caller.post("/"+collection, body(collection, w, nil)) })
		}
		group.Wait()
		ids := map[calendar.ID]bool{}
		slugs := map[string]bool{}
		refused := 0
		for _, a := range got {
			if a.Status == 400 {
				a.code(400, "term_exists")
				refused++
				continue
			}
			a.want(201)
			ids[a.ID()], slugs[a.String("slug")] = true, true
		}
		want := map[string]int{"events": 6, "venues": 1, "organizers": 1, "categories": 1, "tags": 1}[collection]
		wantRefused := 0
		if collection == "categories" || collection == "tags" {
			wantRefused = 5
		}
		if len(ids) != want || len(slugs) != want || refused != wantRefused {
			scene.t.Errorf("%s: %d records, %d slugs, %d refused, want %d records", collection, len(ids), len(slugs), refused, want)
		}
		caller.counting(collection, w, want)
		// Inline records and terms by name, too.
		value := newWord()
		for i := range got {
			group.Go(func() {
				got[i] = caller.post("/events", eventBody(value, obj{"venue": obj{"venue": value}, "organizer": obj{"organizer": value}, "tags": value, "categories": value}))
			})
		}
		group.Wait()
		for _, a := range got {
			a.want(201).field("venue.venue", value).field("tags.0.name", value)
		}
		for _, linked := range []string{"venues", "organizers", "tags", "categories"} {
			caller.counting(linked, value, 1)
		}
	}
}
