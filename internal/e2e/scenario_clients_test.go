package e2e

import (
	"io"
	"net/http"
	"strings"
	"time"
)

// What clients meet over time: keys that are kept, tokens that are withdrawn,
// bodies of unknown length, lists right after writes.

func keysLast(s *scene) {
	s = s.alone(settings{})
	ed := s.editor
	w := newWord()
	// It is published within the day; its status stays that of the first answer.
	sent := eventBody(w, obj{"venue": obj{"venue": w}, "tags": w, "date": "2026-05-01 20:00:00"})
	first := ed.with("Idempotency-Key", w).create("events", sent).field("status", "future")
	change := ed.with("Idempotency-Key", w+"-u").update(first, obj{"title": w + " later"})
	ed.remove(first)
	s.svc.clock.Add(24*time.Hour - time.Second)
	again := ed.with("Idempotency-Key", w).create("events", sent).head("Idempotency-Replayed", "true")
	same(s.t, first, again, "count")
	same(s.t, change, ed.with("Idempotency-Key", w+"-u").update(first, obj{"title": w + " later"}), "count")
	ed.counting("events", w, 1) // the trashed one
	ed.counting("venues", w, 1)
}

// keysOutlast: a repeated request gets the record of the first time, whatever became of
// it and of what it links to, with the links, counts and so the ETag of now.
func keysOutlast(s *scene) {
	ed, author, contributor := s.editor, s.as("author"), s.as("contributor")
	w := newWord()
	tag := ed.add("tags", w+" loud")
	category := ed.add("categories", w+" art")
	venue := ed.add("venues", w+" hall")
	organizer := ed.add("organizers", w+" club")
	parent := ed.event(w+" season", nil)
	type sent struct {
		by         *caller
		path       string
		body       obj
		first      *answer
		collection string
	}
	var all []sent
	post := func(by *caller, collection string, body obj) {
		key := w + "-" + itoa(int64(len(all)))
		first := by.with("Idempotency-Key", key).create(collection, body).head("Idempotency-Replayed", "")
		all = append(all, sent{by.with("Idempotency-Key", key), "/" + collection, body, first, collection})
	}
	post(ed, "events", eventBody(w, obj{"tags": list{tag.id()}, "categories": category.id(), "venue": venue.id(), "organizer": organizer.id()}))
	post(author, "events", eventBody(w, obj{"tags": w + " loud", "image": "https://img.example/" + w + ".jpg"}))
	post(contributor, "events", eventBody(w, obj{"categories": list{w + " art"}, "tags": list{w + "-loud"}}))
	post(ed, "events", eventBody(w, obj{"post_parent": parent.id(), "author": s.svc.users["author"].id}))
	post(ed, "categories", obj{"name": w + " opera", "parent": category.id()})
	post(ed, "tags", obj{"name": w + " free"})
	post(ed, "venues", obj{"venue": w + " barn", "image": "https://img.example/" + w + ".jpg"})
	post(ed, "organizers", obj{"organizer": w + " guild", "author": s.svc.users["author"].id})
	change := ed.with("Idempotency-Key", w+"-u").update(all[0].first.path(), obj{"tags": tag.idText()})
	ed.event(w+" beside", obj{"tags": list{tag.id()}, "categories": category.id()}) // they count one more
	ed.update(all[0].first.path(), obj{"title": w + " later", "tags": list{}, "venue": list{}})
	linked := []string{"venue", "venues", "organizer", "categories", "tags", "json_ld"}
	for range 3 {
		ed.update(venue, obj{"venue": w + " hall", "city": newWord()})
		ed.update(organizer, obj{"phone": newWord()})
		ed.update(tag, obj{"name": w + " loud", "description": newWord()})
		ed.update(category, obj{"description": newWord()})
	}
	city := newWord()
	ed.update(venue, obj{"city": city})
	now := all[0].by.post(all[0].path, all[0].body).want(201).head("Idempotency-Replayed", "true")
	same(s.t, all[0].first, now, linked...)
	now.field("venue.city", city)
	if now.header.Get("ETag") == all[0].first.header.Get("ETag") {
		s.t.Errorf("%s: the ETag stayed", now.request)
	}
	for _, gone := range map[string]*answer{"tags": tag, "categories": category, "venues": venue, "organizers": organizer, "events": parent} {
		ed.remove(gone)
	}
	for _, again := range all {
		got := again.by.post(again.path, again.body).want(201).head("Idempotency-Replayed", "true")
		same(s.t, again.first, got, linked...)
		if again.collection == "events" {
			got.field("tags", list{}).field("categories", list{})
		} else if string(again.first.body) != string(got.body) {
			s.t.Errorf("%s: other bytes", got.request)
		}
		for _, name := range []string{"Daybook-Position", "Location"} {
			got.head(name, again.first.header.Get(name))
		}
		again.by.post(again.path, obj{}).code(400, "rest_missing_callback_param")
		again.by.patch("/tags/"+tag.idText(), obj{"name": 5}).want(map[bool]int{true: 422, false: 403}[again.by.name == "editor"])
	}
	same(s.t, change, ed.with("Idempotency-Key", w+"-u").update(all[0].first.path(), obj{"tags": tag.idText()}).head("Idempotency-Replayed", "true"), linked...)
	// Without a key, or with another one, the same is refused now.
	ed.post("/events", all[0].body).bad("tags", "categories")
	author.with("Idempotency-Key", w+"-new").post("/events", all[1].body).bad("tags")
}

func withdrawnTokens(s *scene) {
	s = s.alone(settings{})
	old := s.as("author")
	made := old.event(newWord(), nil)
	draft := old.event(newWord(), obj{"status": "draft"})
	s.svc.withdraw(s.t, "author")
	for _, a := range []*answer{
		old.get("/events"), old.get(made), old.get("/doc"), old.post("/events", eventBody(newWord(), nil)),
		old.patch(made, obj{"title": "x"}), old.delete(made), old.get(draft),
	} {
		if a.status != 401 || a.header.Get("WWW-Authenticate") == "" {
			s.t.Errorf("%s: status %d, want 401 with WWW-Authenticate", a.request, a.status)
		}
	}
	s.nobody.read(made).field("title", made.str("title"))
	s.editor.read(draft).field("status", "draft")
	s.svc.renew(s.t, "author")
	s.as("author").read(draft).field("status", "draft")
	old.get("/events").want(401)
}

// streamed hides the length of a body, so the client sends it in chunks.
type streamed struct{ io.Reader }

func chunkedBodies(s *scene) {
	send := func(text string) (status int) {
		s.t.Helper()
		r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.svc.url+root+"/tags", streamed{strings.NewReader(text)})
		if err != nil {
			s.t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+s.svc.users["editor"].token)
		res, err := s.svc.client.Do(r)
		if err != nil {
			s.t.Fatal(err)
		}
		defer res.Body.Close()
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			s.t.Fatal(err)
		}
		return res.StatusCode
	}
	w := newWord()
	if status := send(`{"name":"` + w + `"}`); status != 201 {
		s.t.Errorf("a body in chunks: status %d, want 201", status)
	}
	s.editor.counting("tags", w, 1)
	if status := send(`{"name":"` + strings.Repeat("x", 2<<20) + `"}`); status != 413 {
		s.t.Errorf("2 MiB in chunks: status %d, want 413", status)
	}
	if status := send(""); status != 400 {
		s.t.Errorf("no chunk: status %d, want 400", status)
	}
}
