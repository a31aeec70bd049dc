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
	caller := s.editor
	text := newWord()
	// It is published within the day; its status stays that of the first answer.
	sent := eventBody(text, obj{"venue": obj{"venue": text}, "tags": text, "date": "2026-05-01 20:00:00"})
	first := caller.with("Idempotency-Key", text).create("events", sent).field("status", "future")
	change := caller.with("Idempotency-Key", text+"-u").update(first, obj{"title": text + " later"})
	caller.remove(first)
	s.svc.clock.Add(24*time.Hour - time.Second)
	again := caller.with("Idempotency-Key", text).create("events", sent).head("Idempotency-Replayed", "true")
	same(s.t, first, again, "count")
	same(s.t, change, caller.with("Idempotency-Key", text+"-u").update(first, obj{"title": text + " later"}), "count")
	caller.counting("events", text, 1) // the trashed one
	caller.counting("venues", text, 1)
}

// keysOutlast: a repeated request gets the record of the first time, whatever became of
// it and of what it links to, with the links, counts and so the ETag of now.
func keysOutlast(s *scene) {
	ed, author, contributor := s.editor, s.as("author"), s.as("contributor")
	text := newWord()
	tag := ed.add("tags", text+" loud")
	category := ed.add("categories", text+" art")
	venue := ed.add("venues", text+" hall")
	organizer := ed.add("organizers", text+" club")
	parent := ed.event(text+" season", nil)
	type sent struct {
		by         *caller
		path       string
		body       obj
		first      *answer
		collection string
	}
	var all []sent
	post := func(by *caller, collection string, body obj) {
		key := text + "-" + itoa(int64(len(all)))
		first := by.with("Idempotency-Key", key).create(collection, body).head("Idempotency-Replayed", "")
		all = append(all, sent{by.with("Idempotency-Key", key), "/" + collection, body, first, collection})
	}
	post(ed, "events", eventBody(text, obj{"tags": list{tag.id()}, "categories": category.id(), "venue": venue.id(), "organizer": organizer.id()}))
	post(author, "events", eventBody(text, obj{"tags": text + " loud", "image": "https://img.example/" + text + ".jpg"}))
	post(contributor, "events", eventBody(text, obj{"categories": list{text + " art"}, "tags": list{text + "-loud"}}))
	post(ed, "events", eventBody(text, obj{"post_parent": parent.id(), "author": s.svc.users["author"].id}))
	post(ed, "categories", obj{"name": text + " opera", "parent": category.id()})
	post(ed, "tags", obj{"name": text + " free"})
	post(ed, "venues", obj{"venue": text + " barn", "image": "https://img.example/" + text + ".jpg"})
	post(ed, "organizers", obj{"organizer": text + " guild", "author": s.svc.users["author"].id})
	change := ed.with("Idempotency-Key", text+"-u").update(all[0].first.path(), obj{"tags": tag.idText()})
	ed.event(text+" beside", obj{"tags": list{tag.id()}, "categories": category.id()}) // they count one more
	ed.update(all[0].first.path(), obj{"title": text + " later", "tags": list{}, "venue": list{}})
	linked := []string{"venue", "venues", "organizer", "categories", "tags", "json_ld"}
	for range 3 {
		ed.update(venue, obj{"venue": text + " hall", "city": newWord()})
		ed.update(organizer, obj{"phone": newWord()})
		ed.update(tag, obj{"name": text + " loud", "description": newWord()})
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
	same(s.t, change, ed.with("Idempotency-Key", text+"-u").update(all[0].first.path(), obj{"tags": tag.idText()}).head("Idempotency-Replayed", "true"), linked...)
	// Without a key, or with another one, the same is refused now.
	ed.post("/events", all[0].body).bad("tags", "categories")
	author.with("Idempotency-Key", text+"-new").post("/events", all[1].body).bad("tags")
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
		request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.svc.url+root+"/tags", streamed{strings.NewReader(text)})
		if err != nil {
			s.t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer "+s.svc.users["editor"].token)
		res, err := s.svc.client.Do(request)
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
