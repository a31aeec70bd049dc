package e2e

import (
	"net/url"
	"slices"
	"strings"
)

// Lines 51 to 55: trash and passwords.

func deleting(s *scene) {
	caller := s.editor
	for _, collection := range posts {
		for _, bySlug := range []bool{false, true} {
			w := newWord()
			made := caller.create(collection, body(collection, w, obj{"description": "D"}))
			path := made.path()
			if bySlug {
				path = made.bySlug()
			}
			gone := caller.remove(path).fields(obj{"status": "trash", "slug": w + "__trashed", "id": made.id()})
			gone.field("url", s.svc.url+"/?"+singular(collection)+"="+made.idText())
			except := []string{"status", "slug", "url", "modified", "modified_utc"}
			if collection == "events" {
				except = append(except, "website")
			}
			same(s.t, made, gone, except...)
			if gone.position() == "" || !strings.HasPrefix(gone.etag(), `"2-`) {
				s.t.Errorf("%s: Daybook-Position %q, ETag %q", gone.request, gone.position(), gone.etag())
			}
			inTrash := singular(collection) + "-is-in-trash"
			caller.delete(made).code(410, inTrash)
			caller.delete("/"+collection+"/by-slug/"+w+"__trashed").code(410, inTrash)
			caller.delete("/"+collection+"/by-slug/"+w).code(404, notFound(collection))
			caller.get("/"+collection+"/by-slug/"+w).code(404, notFound(collection))
			for _, who := range []string{"", "author", "editor"} {
				for _, p := range []string{made.path(), "/" + collection + "/by-slug/" + w + "__trashed"} {
					got := s.as(who).get(p)
					switch {
					case collection == "events":
						got.code(403, "event-no-longer-available")
					case who == "editor":
						got.want(200).field("status", "trash").field("id", made.id())
					default:
						got.code(403, singular(collection)+"-not-accessible")
					}
				}
			}
			s.nobody.list(collection, "search", w).found()
			caller.list(collection, "search", w).found()
			caller.list(collection, "search", w, "status", "trash").field("total", 1)
			// The plain slug is free.
			caller.add(collection, w).field("slug", w)
		}
	}
	for _, collection := range []string{"categories", "tags"} {
		w := newWord()
		made := caller.create(collection, obj{"name": w, "description": "D"})
		event := caller.event(w, obj{collection: made.id()})
		caller.list(collection, "search", w).field(collection+".0.count", 1)
		gone := caller.remove(made.path() + "?force=true")
		same(s.t, made, gone, "count")
		gone.field("count", 1)
		caller.delete(made).code(404, notFound(collection))
		caller.get(made).code(404, notFound(collection))
		caller.patch(made, nil).code(404, notFound(collection))
		s.nobody.read(event).field(collection, list{})
		s.nobody.list(collection, "search", w, "hide_empty", "0").found()
		again := caller.create(collection, obj{"name": w}).field("slug", w)
		if again.id() == made.id() {
			s.t.Errorf("%s: the id %d was used again", collection, made.id())
		}
		s.nobody.read(event).field(collection, list{})
	}
}

func restoring(s *scene) {
	caller := s.editor
	for _, collection := range posts {
		for _, status := range []string{"publish", "draft", "future"} {
			text := newWord()
			more := obj{"status": status, "slug": text}
			if status == "future" {
				more["date"] = "2027-01-01"
			}
			made := caller.create(collection, body(collection, "Name "+text, more)).field("slug", text)
			for i, change := range []any{nil, obj{}, obj{"description": "D"}} {
				caller.remove(made).field("slug", text+"__trashed")
				path := made.path()
				if i == 1 {
					path = "/" + collection + "/by-slug/" + text + "__trashed"
				}
				got := caller.do(updateMethods[i], path, change).want(200).fields(obj{"status": status, "slug": text, "id": made.id()})
				if i < 2 {
					same(s.t, made, got, "modified", "modified_utc")
				}
				caller.read("/" + collection + "/by-slug/" + text).fields(obj{"id": made.id(), "status": status})
			}
			// To the status that is sent.
			caller.remove(made)
			caller.update(made, obj{"status": "private"}).fields(obj{"status": "private", "slug": text})
			// Never to trash.
			check := caller.unchanged(made)
			caller.patch(made, obj{"status": "trash"}).bad("status")
			caller.patch(made.bySlug()+"?status=trash", nil).bad("status")
			check()
		}
		caller.post("/"+collection, body(collection, newWord(), obj{"status": "trash"})).bad("status")
		// A slug that was taken meanwhile gets a number.
		text := newWord()
		old := caller.add(collection, text).field("slug", text)
		caller.remove(old)
		caller.create(collection, body(collection, text, obj{"description": "New"})).field("slug", text)
		caller.update(old, nil).fields(obj{"slug": text + "-2", "status": "publish"})
		// A refused update leaves it in the trash.
		caller.remove(old).field("slug", text+"-2__trashed")
		caller.patch(old, obj{"description": 5}).bad("description")
		caller.delete(old).code(410, singular(collection)+"-is-in-trash")
	}
}

func trashedOrganizer(s *scene) {
	ed := s.editor
	for _, c := range []struct{ field, collection, shown string }{
		{"organizer", "organizers", "organizer"}, {"venue", "venues", "venues"},
	} {
		tag := ed.add("tags", newWord()).idText()
		a := ed.add(c.collection, "A "+newWord())
		b := ed.add(c.collection, "B "+newWord())
		both := ed.event(newWord(), obj{c.field: []int64{a.id(), b.id()}, "tags": tag})
		alone := ed.event(newWord(), obj{c.field: a.id(), "tags": tag})
		etags := []string{s.nobody.read(both).etag(), s.nobody.read(alone).etag()}
		modified := s.nobody.read(both).header.Get("Last-Modified")

		ed.remove(a)
		for _, caller := range []*caller{s.nobody, s.as("auditor").under("cn")} {
			wantIDs(caller.read(both), c.shown, []int64{b.id()})
			wantIDs(caller.read(alone), c.shown, nil)
			listed := caller.list("events", "tags", tag).found(both, alone)
			listed.field("events.0."+c.shown+".0.id", b.id()).field("events.1."+c.shown, list{})
			caller.list("events", "tags", tag, c.field, a.idText()).found() // it finds nothing
			caller.list("events", "tags", tag, c.field, b.idText()).found(both)
		}
		got := s.nobody.read(both)
		if got.etag() == etags[0] || got.etag()[:3] != etags[0][:3] {
			s.t.Errorf("%s: ETag %s then %s: another mark, the same version", got.request, etags[0], got.etag())
		}
		got.head("Last-Modified", modified) // nothing was written to the event
		// An update that does not send the field keeps what no one sees.
		ed.update(both, obj{"description": "x"})
		ed.update(alone, nil)

		ed.update(a, nil).field("status", "publish")
		wantIDs(s.nobody.read(both), c.shown, []int64{a.id(), b.id()})
		wantIDs(s.nobody.read(alone), c.shown, []int64{a.id()})
		s.nobody.list("events", "tags", tag, c.field, a.idText()).found(both, alone)
		if tag := s.nobody.read(alone).etag(); tag == etags[1] {
			s.t.Errorf("ETag %s after two more versions", tag)
		}
		// A draft is embedded for those who may read it only.
		ed.update(a, obj{"status": "private"})
		wantIDs(s.nobody.read(both), c.shown, []int64{b.id()})
		wantIDs(s.as("auditor").read(both), c.shown, []int64{a.id(), b.id()})
		s.nobody.list("events", "tags", tag, c.field, a.idText()).found()
		ed.list("events", "tags", tag, c.field, a.idText()).found(both, alone)
		// Sending the field replaces what no one sees, too.
		ed.update(both, obj{c.field: b.id()})
		ed.update(a, obj{"status": "publish"})
		wantIDs(s.nobody.read(both), c.shown, []int64{b.id()})
	}
}

func protectedEvent(s *scene) {
	author, ed := s.as("author"), s.editor
	w := newWord()
	tag := ed.add("tags", newWord())
	const secret = "Sésame 42 +&?"
	made := author.event("Title "+w, obj{
		"description": "Hidden " + newWord(), "excerpt": "E", "cost": "5", "website": "https://secret.example", "image": "https://img.example/s.png",
		"venue": obj{"venue": newWord(), "geo_lat": 1, "geo_lng": 1}, "organizer": obj{"organizer": newWord()}, "tags": tag.id(), "categories": newWord(),
		"featured": true, "ticketed": true, "event_status": "cancelled", "event_status_reason": "Hidden storm",
	})
	open := s.nobody.read(made)
	plain := author.update(made, obj{"password": secret}).without("password").lacks("Sésame", "argon2", "protected")
	same(s.t, made, plain, "modified", "modified_utc", "count")

	for _, who := range []string{"", "author2"} {
		c := s.as(who)
		for _, p := range []string{
			made.path(), made.path() + "?password=",
			made.bySlug(), made.bySlug() + pairs("password", secret),
		} {
			c.get(p).code(403, "event-password-protected").lacks("Hidden", w)
			c.do("HEAD", p, nil).want(403)
		}
		c.get(made.path()+pairs("password", "wrong")).code(403, "event-password-protected").lacks("Hidden", w)
		got := c.read(made.path() + pairs("password", secret)).lacks("Sésame")
		same(s.t, open, got, "modified", "modified_utc", "count")
		blanked := obj{
			"description": "", "excerpt": "", "cost": "", "website": "", "image": false, "all_day": nil, "show_map": nil, "show_map_link": nil,
			"hide_from_listings": nil, "sticky": nil, "featured": nil, "ticketed": nil, "event_status_reason": "", "post_parent": 0, "categories": list{}, "tags": list{},
			"venue": list{}, "venues": list{}, "organizer": list{}, "custom_fields": list{},
			"cost_details": obj{"currency_symbol": "", "currency_code": "", "currency_position": "", "values": list{}},
		}
		for _, params := range [][]string{{"search", w}, {"search", w, "password", secret}, {"include", made.idText()}} {
			found := c.list("events", params...).found(made).lacks("Hidden", "secret.example", "s.png")
			found.keys("events.0", eventKeys...)
			for name, value := range blanked {
				found.field("events.0."+name, value)
			}
			for _, name := range []string{"title", "slug", "url", "rest_url", "author", "status", "event_status", "start_date", "utc_end_date", "timezone", "date", "id", "languages"} {
				found.field("events.0."+name, plain.at(name))
			}
		}
		// It is searched by its title only and left out by filters that would tell.
		c.list("events", "search", w+" hidden").found()
		c.list("events", "tags", tag.idText()).found()
		for _, filter := range []string{
			"featured=true", "featured=false", "ticketed=false", "event_status=cancelled", "geoloc=true", "geoloc=false", "geoloc_lat=1&geoloc_lng=1",
			"venue=" + itoa(made.num("venue.id")), "organizer=" + itoa(made.num("organizer.0.id")), "categories=" + itoa(made.num("categories.0.id")),
		} {
			c.read("/events?search=" + w + "&" + filter).found()
		}
	}
	for _, who := range []string{"author", "editor", "administrator", "auditor"} {
		for _, p := range []string{made.path(), made.bySlug(), made.path() + "?password=wrong"} {
			same(s.t, open, s.as(who).read(p).lacks("Sésame", "argon2"), "modified", "modified_utc", "count")
		}
		got := s.as(who).list("events", "search", w+" hidden").found(made).lacks("Sésame", "argon2")
		got.field("events.0.website", "https://secret.example").field("events.0.featured", true)
	}
	// Writes need the right, not the password.
	s.as("author2").patch(made.path()+pairs("password", secret), nil).code(403, "rest_forbidden")
	ed.update(made, obj{"title": "Other " + w})
	s.nobody.get(made).code(403, "event-password-protected")
	// It is changed, and removed.
	ed.update(made, obj{"password": "new"})
	s.nobody.get(made.path()+pairs("password", secret)).code(403, "event-password-protected")
	s.nobody.read(made.path() + "?password=new")
	ed.update(made, obj{"password": nil})
	s.nobody.read(made).field("featured", true)
	s.nobody.list("events", "tags", tag.idText()).found(made)
	// Trashed comes before protected, not accessible too.
	ed.update(made, obj{"password": "new", "status": "private"})
	s.nobody.get(made.path()+"?password=new").code(403, "event-not-accessible")
	ed.remove(made.path() + "?password=wrong")
	s.nobody.get(made.path()+"?password=new").code(403, "event-no-longer-available")
}

func passwordByID(s *scene) {
	caller := s.editor
	made := caller.event(newWord(), nil)
	for _, method := range updateMethods {
		caller.do(method, made.bySlug(), obj{"password": "slug"}).want(200)
		caller.do(method, made.bySlug()+"?password=slug", nil).want(200)
		s.nobody.read(made).field("status", "publish")
	}
	for _, empty := range []any{"", " ", nil} { // as if not sent
		s.nobody.read(caller.event(newWord(), obj{"password": empty}).path()).field("status", "publish")
	}
	keyed, body := caller.with("Idempotency-Key", newWord()), eventBody(newWord(), obj{"password": "born secret"})
	once := keyed.create("events", body)
	keyed.create("events", body).head("Idempotency-Replayed", "true").field("id", once.id()).lacks("born secret")
	body["password"] = "another"
	keyed.post("/events", body).want(422)
	form := url.Values{"title": {newWord()}, "start_date": {"2030-05-10"}, "end_date": {"2030-05-10"}, "password": {"born secret"}}
	query := eventBody(newWord(), nil)
	for _, made := range []*answer{
		caller.event(newWord(), obj{"password": "born secret"}),
		caller.do("POST", "/events", form).want(201),
		caller.do("POST", "/events"+pairs("password", "born secret"), query).want(201),
		s.as("author").event(newWord(), obj{"password": "born secret"}),
	} {
		made.without("password").lacks("born secret", "argon2", "protected")
		for _, text := range []string{made.path(), made.bySlug(), made.path() + "?password=wrong"} {
			s.nobody.get(text).code(403, "event-password-protected")
		}
		s.nobody.read(made.path()+pairs("password", "born secret")).field("status", "publish")
		history := s.as("auditor").read(made.path()+"/history").lacks("born secret", "argon2")
		changes, _ := history.at("entries.0.changes").([]any)
		if !slices.ContainsFunc(changes, func(value any) bool {
			c, _ := value.(obj)
			return c["field"] == "password" && c["before"] == nil && c["after"] == true && c["sentence"] == "password: set"
		}) {
			s.t.Errorf("the history of a new protected event does not tell its password: %v", changes)
		}
	}
	caller.do("POST", made, url.Values{"password": {"by id"}}).want(200)
	s.nobody.get(made).code(403, "event-password-protected")
	caller.do("PUT", made.bySlug(), obj{"password": ""}).want(200) // removes nothing
	s.nobody.get(made).code(403, "event-password-protected")
	s.nobody.read(made.path() + "?password=by+id")
	caller.update(made, obj{"title": newWord()}) // not sent: unchanged
	s.nobody.get(made).code(403, "event-password-protected")
	caller.update(made.path()+"?password=", nil) // a body field in the query
	s.nobody.read(made).field("status", "publish")
}
