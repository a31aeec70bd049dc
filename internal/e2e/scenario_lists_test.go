package e2e

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Equal posts, orders, filters, languages in lists, and the clock.

func equalPosts(s *scene) {
	caller := s.editor
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
			{"author": s.svc.users["author"].id},
			{"id": 5},
			{"description": " D "},
			{"multilang_language": "en"},
			{"status": "publish"},
		} {
			again := caller.create(collection, full(more))
			same(s.t, first, again)
			again.head("ETag", first.etag()).head("Location", s.svc.url+root+first.path())
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
			other := caller.create(collection, full(more)).field("slug", "hall-"+text+"-"+itoa(int64(i+2)))
			if other.id() == first.id() {
				s.t.Errorf("%s: %v made no new record", collection, more)
			}
		}
		// A contributor's is never published, so it is always new.
		s.as("contributor").add(collection, "Hall & "+text).field("status", "draft")
		// Texts in other languages count too, and none of the trash.
		caller.under("es").update(first, obj{name: "Sala " + text})
		fresh := caller.create(collection, full(nil))
		caller.remove(fresh)
		next := caller.create(collection, full(nil))
		if fresh.id() == first.id() || next.id() == fresh.id() {
			s.t.Errorf("%s: ids %d, %d, %d", collection, first.id(), fresh.id(), next.id())
		}
		// The key of such a request is kept.
		key := "equal-" + text
		keyed := caller.with("Idempotency-Key", key).create(collection, full(nil)).head("Idempotency-Replayed", "")
		caller.update(next, obj{"phone": "2"})
		same(s.t, keyed, caller.with("Idempotency-Key", key).create(collection, full(nil)).head("Idempotency-Replayed", "true"))
	}
	// Events and terms are never merged.
	text := newWord()
	if a, b := caller.event(text, nil), caller.event(text, nil); a.id() == b.id() {
		s.t.Error("equal events were merged")
	}
}

func equalPostsAtOnce(s *scene) {
	caller := s.editor
	for _, collection := range collections {
		w := newWord()
		var (
			wg  sync.WaitGroup
			got [6]*answer
		)
		for i := range got {
			wg.Go(func() { got[i] = caller.post("/"+collection, body(collection, w, nil)) })
		}
		wg.Wait()
		ids := map[int64]bool{}
		slugs := map[string]bool{}
		refused := 0
		for _, a := range got {
			if a.status == 400 {
				a.code(400, "term_exists")
				refused++
				continue
			}
			a.want(201)
			ids[a.id()], slugs[a.str("slug")] = true, true
		}
		want := map[string]int{"events": 6, "venues": 1, "organizers": 1, "categories": 1, "tags": 1}[collection]
		wantRefused := 0
		if collection == "categories" || collection == "tags" {
			wantRefused = 5
		}
		if len(ids) != want || len(slugs) != want || refused != wantRefused {
			s.t.Errorf("%s: %d records, %d slugs, %d refused, want %d records", collection, len(ids), len(slugs), refused, want)
		}
		caller.counting(collection, w, want)
		// Inline records and terms by name, too.
		v := newWord()
		for i := range got {
			wg.Go(func() {
				got[i] = caller.post("/events", eventBody(v, obj{"venue": obj{"venue": v}, "organizer": obj{"organizer": v}, "tags": v, "categories": v}))
			})
		}
		wg.Wait()
		for _, a := range got {
			a.want(201).field("venue.venue", v).field("tags.0.name", v)
		}
		for _, linked := range []string{"venues", "organizers", "tags", "categories"} {
			caller.counting(linked, v, 1)
		}
	}
}

func orderOfLists(s *scene) {
	caller := s.editor
	tag := caller.add("tags", newWord()).idText()
	at := func(start, date string, more obj) *answer {
		out := obj{"start_date": start, "end_date": "2026-09-01", "date": date, "tags": tag}
		maps.Copy(out, more)
		return caller.event(newWord(), out)
	}
	c := at("2026-07-02 10:00", "2026-01-02", nil)
	b := at("2026-07-02 10:00", "2026-01-01", obj{"timezone": "Asia/Tokyo"})
	d := at("2026-07-02 10:00", "2026-01-02", obj{"sticky": true, "featured": true})
	a := at("2026-07-02 09:59:59", "2026-03-01", obj{"timezone": "America/New_York"}) // the later instant
	for _, who := range []string{"", "editor"} {
		s.as(who).list("events", "tags", tag).found(a, b, c, d)
		s.as(who).list("events", "include", texts(a.id(), b.id(), c.id(), d.id())).found(b, c, d, a)
		s.as(who).list("events", "tags", tag, "per_page", "2", "page", "2").field("events.0.id", c.id()).field("events.1.id", d.id())
		s.as(who).list("events", "tags", tag, "order", "desc", "orderby", "id").found(a, b, c, d) // unknown on posts
	}
	for _, collection := range []string{"venues", "organizers"} {
		text := newWord()
		one := caller.create(collection, body(collection, text+" a", obj{"date": "2026-01-01"}))
		two := caller.create(collection, body(collection, text+" b", obj{"date": "2026-03-01"}))
		three := caller.create(collection, body(collection, text+" c", obj{"date": "2026-01-01"}))
		s.nobody.list(collection, "search", text).found(two, three, one)
		// The order is that of publication, an update does not change it.
		caller.update(one, obj{"description": "x"})
		s.nobody.list(collection, "search", text).found(two, three, one)
		caller.update(one, obj{"date": "2026-04-01"})
		s.nobody.list(collection, "search", text).found(one, two, three)
	}
}

func listsOfTerms(s *scene) {
	ed := s.editor
	for _, collection := range []string{"categories", "tags"} {
		text := newWord()
		b := ed.create(collection, obj{"name": "Éclair " + text, "slug": "z-" + text, "description": "m"})
		a := ed.create(collection, obj{"name": "apple " + text, "slug": "m-" + text, "description": "z"})
		c := ed.create(collection, obj{"name": "Zebra " + text, "slug": "a-" + text, "description": "a"})
		number := ed.create(collection, obj{"name": "Number " + text, "slug": "880" + c.idText()})
		event := ed.event(text, obj{collection: []int64{a.id(), b.id()}})
		ed.event(text, obj{collection: []int64{b.id()}})
		ed.event(text, obj{collection: []int64{b.id(), c.id()}, "status": "draft"}) // is not counted
		s.nobody.list(collection, "search", text).found(a, b).fields(obj{collection + ".0.count": 1, collection + ".1.count": 2})
		ids := strings.NewReplacer("CA", texts(c.id(), a.id()), "NUMBER", number.str("slug"), "A,", a.idText()+",", "TEXT", text)
		for query, want := range map[string][]*answer{
			"":                                      {a, b, number, c},
			"order=ASC":                             {a, b, number, c},
			"order=anything":                        {c, number, b, a},
			"orderby=id":                            {b, a, c, number},
			"orderby=none":                          {b, a, c, number},
			"orderby=slug":                          {number, c, a, b},
			"orderby=description":                   {number, c, b, a},
			"orderby=nonsense":                      {a, b, number, c},
			"orderby=include":                       {a, b, number, c},
			"include=NUMBER":                        {number}, // digits that are no id are a slug
			"exclude=A,z-TEXT":                      {number, c},
			"slug=A-TEXT":                           {c},
			"slug=a-TEXT,m-TEXT":                    {},
			"include=m-TEXT,a-TEXT":                 {a, c},
			"orderby=include&include=CA":            {c, a},
			"orderby=include&include=CA&order=desc": {a, c},
			"include=CA&exclude=m-TEXT":             {c},
		} {
			s.nobody.read("/" + collection + "?hide_empty=0&search=" + text + "&" + ids.Replace(query)).found(want...)
		}
		s.nobody.list(collection, "search", text, "orderby", "count", "order", "desc").found(b, a)
		for _, param := range []string{"post", "event"} {
			s.nobody.list(collection, param, event.idText()).found(a, b)
			s.nobody.list(collection, param, event.idText(), "search", "apple").found(a)
		}
		// Events that the caller may not see in full count as unknown.
		draft := s.as("author").event(newWord(), obj{"status": "draft", collection: a.id()})
		for who, sees := range map[string]bool{"": false, "author": true, "author2": false, "auditor": true} {
			got := s.as(who).get("/" + collection + "?post=" + draft.idText())
			if sees {
				got.want(200).found(a)
			} else {
				got.bad("post")
			}
		}
		ed.update(event, obj{"password": "p"})
		for _, c := range []*caller{s.nobody, s.editor} {
			c.get("/" + collection + "?event=" + event.idText() + "&password=p").bad("event")
		}
		ed.update(event, obj{"password": nil})
		ed.remove(event)
		s.nobody.get("/" + collection + "?event=" + event.idText()).bad("event")
		ed.list(collection, "event", event.idText()).found(a, b)
		s.nobody.list(collection, "search", text).found(b).field(collection+".0.count", 1)
	}
}

// branches: lists without empty categories hold those above a used one (4.11), and what
// is used by events with a password alone is empty, for every caller (6.3).
func branches(s *scene) {
	ed := s.editor
	text := newWord()
	mk := func(name string, parent *answer) *answer {
		more := obj{"name": name + " " + text}
		if parent != nil {
			more["parent"] = parent.id()
		}
		return ed.create("categories", more)
	}
	arts := mk("Arts", nil)
	music := mk("Music", arts)
	jazz := mk("Jazz", music)
	private := mk("Private", arts)
	mk("Unused", music)
	tag := ed.add("tags", text)
	ed.event(newWord(), obj{"categories": jazz.id()})
	secret := ed.event(newWord(), obj{"categories": list{private.id(), jazz.id()}, "tags": tag.id(), "password": "sesame"})
	for _, who := range []string{"", "author", "editor", "auditor"} {
		c := s.as(who)
		c.list("categories", "search", text).found(arts, jazz, music).fields(obj{"categories.0.count": 0, "categories.1.count": 1, "categories.2.count": 0})
		c.list("categories", "parent", arts.idText()).found(music)
		c.list("categories", "parent", music.idText()).found(jazz)
		c.list("categories", "search", text, "hide_empty", "false").field("total", 5)
		c.list("categories", "search", text, "orderby", "count", "order", "desc").found(jazz, arts, music)
		c.list("tags", "search", text).found()
		c.list("tags", "search", text, "hide_empty", "0").found(tag).field("tags.0.count", 0)
		c.read(tag).field("count", 0)
		c.get("/tags?event=" + secret.idText()).bad("event")
	}
	ed.read(secret).field("tags.0.count", 0)
	ed.update(secret, obj{"password": ""})
	s.nobody.list("tags", "search", text).found(tag).field("tags.0.count", 1)
	s.nobody.list("categories", "parent", arts.idText()).found(music, private)
}

func listsOfPlaces(s *scene) {
	caller := s.editor
	for _, c := range []struct{ field, collection string }{{"venue", "venues"}, {"organizer", "organizers"}} {
		text := newWord()
		mk := func(n string) *answer { return caller.add(c.collection, text+" "+n) }
		none, past, running, coming, hidden, draft, locked := mk("none"), mk("past"), mk("running"), mk("coming"), mk("hidden"), mk("draft"), mk("locked")
		event := func(of *answer, start, end string, more obj) *answer {
			out := obj{c.field: of.id(), "start_date": start, "end_date": end}
			maps.Copy(out, more)
			return caller.event(newWord(), out)
		}
		event(past, "2026-04-01", "2026-05-01 11:59:59", nil)
		event(running, "2026-04-01", "2026-05-01 12:00:00", nil)
		upcoming := event(coming, "2027-01-01", "2027-01-02", obj{"timezone": "Asia/Tokyo"})
		event(hidden, "2027-01-01", "2027-01-02", obj{"hide_from_listings": true})
		drafted := event(draft, "2027-01-01", "2027-01-02", obj{"status": "draft"})
		secret := event(locked, "2027-01-01", "2027-01-02", obj{"password": "sesame"}) // its place is secret, for all
		for _, who := range []string{"", "editor"} {
			ask := func(params ...string) *answer {
				s.t.Helper()
				return s.as(who).list(c.collection, append([]string{"search", text}, params...)...)
			}
			ask("has_events", "true").found(coming, running, past)
			ask("has_events", "0").found(locked, draft, hidden, none)
			ask("only_with_upcoming", "yes").found(coming, running)
			ask("event", upcoming.idText()).found(coming)
			s.as(who).get("/" + c.collection + "?event=" + secret.idText() + "&password=sesame").bad("event")
		}
		s.nobody.get("/" + c.collection + "?event=" + drafted.idText()).bad("event")
		caller.list(c.collection, "event", drafted.idText()).found(draft)
		// What the caller does not see of an event is not related to him.
		caller.update(coming, obj{"status": "private"})
		s.nobody.list(c.collection, "event", upcoming.idText()).found()
		caller.list(c.collection, "event", upcoming.idText()).found(coming)
		s.nobody.list(c.collection, "search", text, "only_with_upcoming", "true").found(running)
	}
}

func eventFilters(s *scene) {
	caller := s.editor
	tag := caller.add("tags", newWord()).idText()
	at := func(day string, more obj) *answer {
		more["start_date"], more["end_date"], more["tags"] = "2026-07-"+day, "2026-07-"+day, tag
		return caller.event(newWord(), more)
	}
	v, o := caller.add("venues", newWord()), caller.add("organizers", newWord())
	parent := caller.event(newWord(), nil)
	a := at("01", obj{"featured": true, "venue": v.id()})
	b := at("02", obj{"ticketed": true, "event_status": "cancelled", "organizer": o.id(), "post_parent": parent.id()})
	c := at("03", obj{"featured": true, "ticketed": true, "venue": v.id(), "organizer": o.id()})
	private := at("04", obj{"status": "private"})
	future := at("05", obj{"date": "2027-01-01"})
	for _, language := range []string{"en", "es"} {
		ask := func(params ...string) *answer {
			s.t.Helper()
			return s.nobody.under(language).list("events", append([]string{"tags", tag}, params...)...)
		}
		ask().found(a, b, c)
		ask("featured", "yes").found(a, c)
		ask("featured", "false").found(b)
		ask("ticketed", "1").found(b, c)
		ask("ticketed", "off").found(a)
		ask("event_status", "cancelled,postponed").found(b)
		ask("event_status", "scheduled").found(a, c)
		ask("featured", "true", "ticketed", "true").found(c)
		ask("venue", v.idText()).found(a, c)
		ask("organizer", o.idText(), "venue", v.idText()).found(c)
		ask("post_parent", parent.idText()).found(b)
		ask("status", "publish").found(a, b, c)
		ask("featured", "false", "featured", "true").found(a, c) // of a name sent twice the last counts
		ask("id", "5", "force", "1", "order", "x").found(a, b, c)
	}
	caller.list("events", "tags", tag).found(a, b, c, private, future)
	caller.list("events", "tags", tag, "status", "private,future").found(private, future)
	caller.remove(parent)
	s.nobody.list("events", "tags", tag, "post_parent", parent.idText()).found(b) // any status
}

func terms(s *scene) {
	caller := s.editor
	text := newWord()
	music := caller.create("categories", obj{"name": "Music & " + text, "description": "D"}).fields(obj{"parent": 0, "slug": "music-" + text, "count": 0})
	jazz := caller.create("categories", obj{"name": "Jazz " + text, "parent": music.idText()}).field("parent", music.id())
	exists := func(a *answer, of *answer) {
		s.t.Helper()
		a.code(400, "term_exists").field("data", obj{"status": 400, "term_id": of.id()})
	}
	exists(caller.post("/categories", obj{"name": "MUSIC &amp; " + text}), music)
	exists(caller.post("/categories", obj{"name": "jazz " + text, "parent": music.id(), "slug": "own-" + text}), jazz)
	// Under another parent it is another category.
	other := caller.add("categories", "Jazz "+text).field("slug", "jazz-"+text+"-2")
	caller.update(other, obj{"parent": music.id()}).field("parent", music.id()) // updates may make equal names
	// The shown name counts: French shows the English name while there is no other.
	exists(caller.under("fr").post("/categories", obj{"name": "music & " + text}), music)
	caller.under("fr").update(music, obj{"name": "Musique " + text})
	exists(caller.under("fr").post("/categories", obj{"name": "musique " + text}), music)
	caller.under("fr").add("categories", "Music & "+text)
	tag := caller.add("tags", "Sea "+text)
	exists(caller.post("/tags", obj{"name": " sea <b>" + text + "</b>"}), tag)
	caller.counting("tags", text, 1)
	caller.patch(jazz, obj{"parent": tag.id()}).bad("parent")
	caller.update(jazz, obj{"parent": ""}).field("parent", 0).without("urls.up")
	for _, parent := range []any{music.id(), 0, "x"} {
		caller.post("/tags", obj{"name": newWord(), "parent": parent}).code(400, "rest_taxonomy_not_hierarchical")
		caller.patch(tag, obj{"parent": parent}).code(400, "rest_taxonomy_not_hierarchical")
	}
	caller.counting("tags", text, 1)
	// In an event: nested shape, by shown name.
	made := caller.event(newWord(), obj{"categories": []int64{music.id(), jazz.id()}, "tags": tag.id()})
	made.field("categories.0.name", "Jazz "+text).field("categories.1.name", "Music &amp; "+text).keys("categories.0", nestedKeys...).field("tags.0.parent", 0)
	caller.under("fr").read(made).field("categories.1.name", "Musique "+text).field("categories.1.language", "fr")
	// Authors keep categories, editors tags; deleting takes them from events.
	s.as("author").update(jazz, obj{"name": "Blues " + text})
	s.as("author").remove(jazz)
	wantLen(caller.read(made), "categories", 1)
	s.as("author").delete(tag).code(403, "rest_forbidden")
}

func languagesInLists(s *scene) {
	caller := s.editor
	text := newWord()
	a := caller.add("tags", "Apple "+text)
	z := caller.add("tags", "Zebra "+text)
	french := caller.under("fr").add("tags", "Maison "+text)
	caller.under("fr").update(a, obj{"name": "Yaourt " + text})
	caller.under("cn").update(z, obj{"name": "斑马 " + text})
	event := caller.event("Sea "+text, obj{"tags": []int64{a.id(), z.id(), french.id()}})
	caller.under("fr").update(event, obj{"title": "Mer " + text, "excerpt": "Court"})
	// All records, sorted by what is shown.
	s.nobody.list("tags", "search", text).found(a, french, z).fields(obj{"tags.1.name": "Maison " + text, "tags.1.language": "fr"})
	s.nobody.under("fr").list("tags", "search", text).found(french, a, z).fields(obj{
		"tags.1.name": "Yaourt " + text, "tags.1.language": "fr", "tags.1.languages": list{"en", "fr"}, "tags.2.name": "Zebra " + text, "tags.2.language": "en",
	})
	s.nobody.under("fr").list("tags", "search", text, "multilang_language", "en").found(a, french, z)
	s.nobody.under("fr").list("tags", "search", "yaourt "+text).found(a)
	s.nobody.list("tags", "search", "yaourt "+text).found()
	s.nobody.under("fr").list("tags", "search", "apple-"+text).found(a) // as part of its slug
	// Terms of an event stand by what is shown.
	s.nobody.read(event).field("tags.0.id", a.id()).field("tags.1.id", french.id())
	s.nobody.under("fr").read(event).field("tags.0.id", french.id()).field("tags.1.id", a.id()).field("tags.1.name", "Yaourt "+text)
	s.nobody.under("fr").list("events", "search", text).field("events.0.tags.0.id", french.id()).field("events.0.title", "Mer "+text).field("events.0.excerpt", "<p>Court</p>")
	s.nobody.under("es").list("events", "search", text).field("events.0.title", "Sea "+text).field("events.0.excerpt", "").field("events.0.languages", list{"en", "fr"})
	// Matching by name uses what is shown; slugs are common.
	for _, c := range []struct {
		language, name string
		ok             bool
	}{
		{"fr", "yaourt " + text, true},
		{"en", "yaourt " + text, false},
		{"fr", "apple " + text, false},
		{"fr", "apple-" + text, true},
		{"es", "maison " + text, true},
	} {
		got := s.nobody.under(c.language).get("/events" + pairs("tags", c.name))
		if c.ok {
			got.want(200).found(event)
		} else {
			got.bad("tags").naming("tags", c.name)
		}
	}
}

func scheduled(s *scene) {
	s = s.alone(settings{})
	caller, nobody := s.editor, s.nobody
	venue := caller.create("venues", obj{"venue": "Hall", "date": "2026-05-01 13:00:00"}).field("status", "future")
	tag := caller.add("tags", "Sea")
	event := caller.event("Quay", obj{"date": "2026-05-01 14:00:00", "tags": tag.id(), "venue": venue.id()}).field("status", "future")
	plain := caller.event("Open", obj{"venue": venue.id()})
	now := func(moment string) {
		at, err := time.Parse(time.DateTime, moment)
		must(s.t, err)
		s.svc.clock.Add(at.Sub(s.svc.clock.Now()))
	}
	versions := []string{caller.read(event).etag()[:3], caller.read(venue).etag()[:3]}
	for _, moment := range []string{"2026-05-01 12:59:59"} {
		now(moment)
		nobody.get(venue).code(403, "venue-not-accessible")
		nobody.get(event).code(403, "event-not-accessible")
		nobody.read(plain).field("venue", list{})
		nobody.list("venues").found()
		nobody.list("events").found(plain)
		nobody.read(tag).field("count", 0)
		nobody.list("events", "venue", venue.idText()).field("total", 0)
	}
	now("2026-05-01 13:00:00")
	nobody.list("venues").found(venue)
	nobody.read(venue).field("status", "publish").field("modified", "2026-05-01 13:00:00")
	nobody.read(plain).field("venue.id", venue.id()).field("venue.status", "publish")
	caller.list("events", "status", "future").found(event)
	now("2026-05-01 13:59:59")
	nobody.list("events").found(plain)
	now("2026-05-01 14:00:00")
	// The same start: the earlier publication stands first.
	nobody.list("events", "venue", venue.idText()).found(plain, event)
	nobody.read(event.bySlug()).field("status", "publish").field("modified", "2026-05-01 14:00:00").field("venue.status", "publish")
	nobody.read(tag).field("count", 1)
	nobody.list("tags").field("tags.0.count", 1)
	caller.list("events", "status", "future").found()
	if got := []string{caller.read(event).etag()[:3], caller.read(venue).etag()[:3]}; !slices.Equal(got, versions) {
		s.t.Errorf("versions %v, were %v: becoming due is no change", got, versions)
	}
	// Its owner may now not move it as a contributor, and an update keeps it published.
	caller.update(event, obj{"title": "Quay two"}).fields(obj{"status": "publish", "date": "2026-05-01 14:00:00", "modified": "2026-05-01 14:00:00"})
	now("2026-05-01 15:00:00")
	caller.update(event, nil).fields(obj{"date": "2026-05-01 14:00:00", "modified": "2026-05-01 15:00:00"})
	nobody.read(event).head("Last-Modified", "Fri, 01 May 2026 15:00:00 GMT")
}

func daysGoBy(s *scene) {
	s = s.alone(settings{})
	caller, nobody := s.editor, s.nobody
	venue := caller.add("venues", "Hall")
	today := caller.event("Today", obj{"start_date": "2026-05-01 09:00", "end_date": "2026-05-01 18:00", "venue": venue.id()})
	tomorrow := caller.event("Tomorrow", obj{"start_date": "2026-05-02 09:00", "end_date": "2026-05-02 10:00"})
	far := caller.event("Far", obj{"start_date": "2028-05-02 09:00", "end_date": "2028-05-02 10:00"})
	nobody.list("events").found(today, tomorrow)
	nobody.list("events", "ends_after", "now", "strict_dates", "1").found(today, tomorrow, far)
	nobody.list("venues", "only_with_upcoming", "1").found(venue)
	s.svc.clock.Add(6 * time.Hour) // 18:00
	nobody.list("events", "ends_after", "now", "strict_dates", "1").found(tomorrow, far)
	nobody.list("venues", "only_with_upcoming", "1").found(venue)
	nobody.list("events").found(today, tomorrow)
	s.svc.clock.Add(time.Second)
	nobody.list("venues", "only_with_upcoming", "1").found()
	s.svc.clock.Add(6*time.Hour - 2*time.Second) // 23:59:59
	nobody.list("events").found(today, tomorrow)
	s.svc.clock.Add(time.Second)
	nobody.list("events").found(tomorrow, far).field("rest_url",
		s.svc.url+root+"/events/?per_page=10&start_date=2026-05-02%2000%3A00%3A00&end_date=2028-05-02%2023%3A59%3A59")
	nobody.read("").field("routes./calendar/events/v1/events.endpoints.0.args.start_date.default", "2026-05-02 23:59:00")
	nobody.list("events", "starts_before", "today").found(today, tomorrow)
	nobody.list("events", "start_date", "yesterday").found(today, tomorrow, far)
}

func leapDay(s *scene) {
	s = s.alone(settings{now: time.Date(2028, time.February, 29, 8, 0, 0, 0, time.UTC)})
	caller := s.editor
	in := caller.event("In", obj{"start_date": "2030-02-28", "end_date": "2030-02-28 23:59:59"})
	caller.event("Out", obj{"start_date": "2030-02-28", "end_date": "2030-03-01"})
	s.nobody.list("events").found(in).field("rest_url",
		s.svc.url+root+"/events/?per_page=10&start_date=2028-02-29%2000%3A00%3A00&end_date=2030-02-28%2023%3A59%3A59")
	for sent, want := range map[string]string{"+1 year": "2029-02-28 08:00:00", "+1 month": "2028-03-29 08:00:00", "-12 months 9am": "2027-02-28 09:00:00"} {
		caller.update(in, obj{"start_date": sent}).field("start_date", want)
	}
}
