package e2e

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
)

// Lines 27 to 30, 37 to 40 and 42: lists, their links and their filters.

func emptyList(s *scene) {
	text := newWord()
	for _, collection := range collections {
		for _, who := range []string{"", "editor"} {
			got := s.as(who).list(collection, "search", text).head("X-Total", "0").head("X-TotalPages", "0").head("Link", "")
			got.keys("", collection, "rest_url", "total", "total_pages").fields(obj{collection: list{}, "total": 0, "total_pages": 0})
			if got.position() == "" || !strings.HasPrefix(got.etag(), `W/"`) {
				s.t.Errorf("%s: Daybook-Position %q, ETag %q", got.request, got.position(), got.etag())
			}
		}
		got := s.nobody.under("fr").list(collection, "search", text, "page", "1").fields(obj{collection: list{}, "total": 0})
		want := s.svc.url + "/fr" + root + "/" + collection + "/?per_page=10&"
		switch collection {
		case "events":
			want += "start_date=2026-05-01%2000%3A00%3A00&end_date=2028-05-01%2023%3A59%3A59&"
		case "categories", "tags":
			want = s.svc.url + "/fr" + root + "/" + collection + "/?"
		}
		got.field("rest_url", want+"search="+text)
	}
}

func pastTheEnd(s *scene) {
	caller := s.editor
	for _, collection := range collections {
		text := newWord()
		caller.add(collection, text+" a")
		caller.add(collection, text+" b")
		for _, language := range []string{"en", "fr"} {
			nobody := s.nobody.under(language)
			one := nobody.list(collection, "search", text, "hide_empty", "0").fields(obj{"total": 2, "total_pages": 1}).without("next_rest_url", "previous_rest_url")
			wantLen(one, collection, 2)
			for _, page := range []string{"2", "3", "1000000000"} {
				got := nobody.get("/" + collection + pairs("search", text, "page", page, "hide_empty", "0"))
				if collection == "categories" || collection == "tags" {
					before, _ := strconv.Atoi(page)
					got.want(200).fields(obj{collection: list{}, "total": 2, "total_pages": 1}).without("next_rest_url").head("X-Total", "2")
					segment := ""
					if language == "fr" {
						segment = "/fr"
					}
					previous := fmt.Sprintf("?page=%d&", before-1)
					if before == 2 {
						previous = "?"
					}
					got.field("previous_rest_url", s.svc.url+segment+root+"/"+collection+"/"+previous+"search="+text+"&hide_empty=0")
				} else {
					got.code(404, singular(collection)+"-archive-page-not-found").without("events", "venues", "organizers")
				}
			}
		}
		// Also where nothing is found at all.
		got := s.nobody.get("/" + collection + pairs("search", newWord(), "page", "2"))
		if collection == "categories" || collection == "tags" {
			got.want(200).fields(obj{collection: list{}, "total": 0, "total_pages": 0})
		} else {
			got.code(404, singular(collection)+"-archive-page-not-found")
		}
		for _, bad := range []string{"0", "1.5", ""} {
			s.nobody.get("/"+collection+pairs("page", bad, "per_page", bad)).bad("page", "per_page")
		}
		s.nobody.get("/" + collection + "?page=1000000001").bad("page")
		s.nobody.list(collection, "page", "1e0", "per_page", "2.0", "search", text, "hide_empty", "no").field("total", 2)
	}
}

func perPageLowered(s *scene) {
	ed := s.editor
	text := newWord()
	tag := ed.add("tags", newWord())
	const n = 103
	var wg sync.WaitGroup
	for part := range 4 {
		wg.Go(func() {
			for i := part; i < n; i += 4 {
				ed.post("/venues", obj{"venue": fmt.Sprintf("%s %d", text, i)})
				ed.post("/events", eventBody(fmt.Sprintf("%s %d", text, i), obj{"tags": tag.id()}))
			}
		})
	}
	wg.Wait()
	for _, collection := range []string{"events", "venues"} {
		window := ""
		if collection == "events" {
			window = "start_date=2026-05-01%2000%3A00%3A00&end_date=2028-05-01%2023%3A59%3A59&"
		}
		base := s.svc.url + root + "/" + collection + "/?"
		for _, c := range []*caller{ed, s.nobody} {
			got := c.list(collection, "per_page", "500", "search", text).fields(obj{
				"total": n, "total_pages": 2, "rest_url": base + "per_page=100&" + window + "search=" + text,
				"next_rest_url": base + "page=2&per_page=100&" + window + "search=" + text,
			}).without("previous_rest_url").head("X-Total", "103").head("X-TotalPages", "2")
			wantLen(got, collection, 100)
			next := got.str("next_rest_url")
			second := c.read("=" + strings.TrimPrefix(next, s.svc.url)).fields(obj{
				"total": n, "rest_url": next, "previous_rest_url": got.str("rest_url"),
			}).without("next_rest_url")
			wantLen(second, collection, 3)
			seen := map[int64]bool{}
			for _, id := range append(got.ids(collection), second.ids(collection)...) {
				seen[id] = true
			}
			if len(seen) != n {
				s.t.Errorf("%s: two pages hold %d records, want %d", collection, len(seen), n)
			}
			c.get("/"+collection+pairs("per_page", "500", "search", text, "page", "3")).code(404, singular(collection)+"-archive-page-not-found")
			// The default is ten.
			ten := c.list(collection, "search", text).fields(obj{"total": n, "total_pages": 11})
			wantLen(ten, collection, 10)
			wantLen(c.list(collection, "search", text, "page", "11"), collection, 3)
		}
	}
	ed.list("tags", "include", tag.idText()).field("tags.0.count", n)
	s.nobody.read(tag).field("count", n)
}

func linksKeep(s *scene) {
	caller := s.editor
	text := newWord()
	jazz := caller.create("categories", obj{"name": "Jazz " + text, "slug": "jazz-" + text})
	folk := caller.create("categories", obj{"name": "Folk, old " + text, "slug": "folk-" + text})
	tag := caller.add("tags", text)
	venue := caller.add("venues", text)
	for i := range 5 {
		caller.event(fmt.Sprintf("Été & %s %d", text, i), obj{
			"categories": []int64{jazz.id(), folk.id()}, "tags": tag.id(), "venue": venue.id(), "organizer": obj{"organizer": fmt.Sprint(text, i)},
		})
	}
	base := s.svc.url + root + "/events/?"
	const window = "start_date=2026-05-01%2000%3A00%3A00&end_date=2028-05-01%2023%3A59%3A59"
	got := s.nobody.read("/events?categories=jazz-" + text + ",folk-" + text + "&page=2&per_page=2&strict_dates=false&unknown=1&featured=false&search=%C3%A9t%C3%A9%20" + text + "&tags[]=" + tag.idText())
	rest := window + "&strict_dates=false&search=%C3%A9t%C3%A9%20" + text + "&categories=jazz-" + text + "%2Cfolk-" + text + "&tags=" + tag.idText() + "&featured=false"
	got.fields(obj{
		"total": 5, "total_pages": 3, "rest_url": base + "page=2&per_page=2&" + rest,
		"next_rest_url": base + "page=3&per_page=2&" + rest, "previous_rest_url": base + "per_page=2&" + rest,
	})
	wantLen(got, "events", 2)
	link := func(page, rel string) string {
		return "<" + base + page + "per_page=2&" + rest + `>; rel="` + rel + `"`
	}
	for _, want := range []string{link("page=3&", "next"), link("", "prev"), link("", "first"), link("page=3&", "last")} {
		if !strings.Contains(got.header.Get("Link"), want) {
			s.t.Errorf("Link %q lacks %q", got.header.Get("Link"), want)
		}
	}
	if n := strings.Count(got.header.Get("Link"), "rel="); n != 4 {
		s.t.Errorf("Link has %d members, want 4: %s", n, got.header.Get("Link"))
	}
	// Walking the links walks all records once.
	var all []int64
	for next := "/events" + pairs("search", text, "per_page", "2", "venue", venue.idText()); next != ""; {
		page := s.nobody.read(next)
		all = append(all, page.ids("events")...)
		next = ""
		if value, ok := page.lookup("next_rest_url"); ok {
			next = "=" + strings.TrimPrefix(value.(string), s.svc.url)
		}
	}
	if len(all) != 5 {
		s.t.Errorf("walked %v, want 5 events", all)
	}
	// An element with a comma keeps its list form; page 1 has no page.
	s.nobody.read("/events?page=1&per_page=5&categories[]="+url.QueryEscape("folk, OLD "+text)).
		field("total", 5).field("rest_url", base+"per_page=5&"+window+"&categories%5B%5D=folk%2C%20OLD%20"+text).
		without("previous_rest_url", "next_rest_url")
	// Words of dates stay as sent; a default is resolved; status is not added.
	s.editor.read("/events?start_date=today&search="+text+"&per_page=5").
		field("rest_url", base+"per_page=5&start_date=today&end_date=2028-05-01%2023%3A59%3A59&search="+text)
	s.nobody.read("/events?ends_after=now&strict_dates=true&search="+text+"&per_page=5").
		field("rest_url", base+"per_page=5&ends_after=now&strict_dates=true&search="+text)
	for _, collection := range []string{"venues", "organizers"} {
		s.nobody.read("/"+collection+"?only_with_upcoming=yes&search="+text+"&per_page=1&has_events=1&multilang_language=en").
			field("rest_url", s.svc.url+root+"/"+collection+"/?per_page=1&search="+text+"&has_events=1&only_with_upcoming=yes&multilang_language=en")
	}
	term := s.nobody.get("/categories?hide_empty=0&orderby=slug&order=desc&search=" + text + "&per_page=1&exclude[]=" + tag.idText() + "x" + "&page=1")
	term.bad("exclude")
	term = s.nobody.read("/categories?hide_empty=0&orderby=slug&order=desc&search=" + text + "&per_page=1&include[]=" + jazz.idText() + "&include[]=folk-" + text)
	terms := s.svc.url + root + "/categories/?"
	termRest := "search=" + text + "&include=" + jazz.idText() + "%2Cfolk-" + text + "&order=desc&orderby=slug&hide_empty=0"
	term.fields(obj{"total": 2, "rest_url": terms + "per_page=1&" + termRest, "next_rest_url": terms + "page=2&per_page=1&" + termRest, "categories.0.id": jazz.id()})
	s.nobody.read("/tags?search="+text+"&parent=5").field("rest_url", s.svc.url+root+"/tags/?search="+text)
}

func includeEvents(s *scene) {
	caller := s.editor
	past := caller.event(newWord(), obj{"start_date": "2001-01-01", "end_date": "2001-01-01", "date": "2026-01-03 00:00:00"})
	far := caller.event(newWord(), obj{"start_date": "2090-01-01", "end_date": "2090-01-01", "date": "2026-01-01 00:00:00", "featured": true})
	near := caller.event(newWord(), obj{"date": "2026-01-02 00:00:00"})
	hidden := caller.event(newWord(), obj{"hide_from_listings": true})
	draft := caller.event(newWord(), obj{"status": "draft"})
	trashed := caller.event(newWord(), nil)
	caller.remove(trashed)
	all := texts(near.id(), hidden.id(), past.id(), draft.id(), 99999999, trashed.id(), far.id(), near.id())
	for _, language := range []string{"en", "fr"} {
		s.nobody.under(language).list("events", "include", all).found(far, near, past)
	}
	caller.list("events", "include", all).found(far, near, past, draft)
	s.as("author").list("events", "include", all).found(far, near, past)
	// Every date filter is ignored but still checked; other filters apply.
	s.nobody.list("events", "include", all, "start_date", "2026-01-01", "ends_before", "2000-01-01", "strict_dates", "1").found(far, near, past)
	s.nobody.get("/events" + pairs("include", all, "start_date", "2026-02-30")).bad("start_date")
	s.nobody.list("events", "include", all, "featured", "true").found(far)
	s.nobody.list("events", "include", all, "search", newWord()).found()
	caller.list("events", "include", all, "status", "draft").found(draft)
	s.nobody.get("/events?include=x").bad("include")
	s.nobody.get("/events?include=0").bad("include")
	s.nobody.get("/events?include=").bad("include")
	s.nobody.list("events", "include[]", past.idText(), "per_page", "1").field("rest_url", s.svc.url+root+"/events/?per_page=1&include="+past.idText())
	s.nobody.read("/events?include[]="+past.idText()+"&include[]="+far.idText()).found(far, past)
}

func hiddenEvents(s *scene) {
	text := newWord()
	made := s.as("author").event(text, obj{"hide_from_listings": true, "tags": s.editor.add("tags", text).id(), "venue": obj{"venue": text}})
	made.field("hide_from_listings", true)
	for _, who := range []string{"", "subscriber", "contributor", "author", "editor", "administrator", "auditor"} {
		c := s.as(who)
		c.list("events", "search", text).found()
		c.list("events", "include", made.idText()).found()
		c.list("events", "status", "publish", "tags", text, "starts_after", "2000-01-01").found()
		c.list("events", "venue", itoa(made.num("venue.id")), "ends_after", "2000-01-01").found()
		c.read(made).field("hide_from_listings", true)
		c.read(made.bySlug()).field("id", made.id())
		c.list("tags", "search", text).found() // count 0: hidden events are not counted
		c.list("venues", "search", text, "has_events", "true").found()
		c.list("venues", "search", text, "has_events", "false").field("total", 1)
		c.list("venues", "search", text, "only_with_upcoming", "true").found()
		// The lookups by event know it.
		c.list("venues", "event", made.idText()).field("venues.0.id", made.num("venue.id"))
		c.list("tags", "post", made.idText()).field("tags.0.name", text).field("tags.0.count", 0)
	}
	ed := s.editor
	ed.list("events", "search", text, "status", allStatuses).found()
	ed.update(made, obj{"hide_from_listings": "off"})
	s.nobody.list("events", "search", text).found(made)
	s.nobody.list("tags", "search", text).field("tags.0.count", 1)
}

func termFilters(s *scene) {
	ed := s.editor
	text := newWord()
	music := ed.add("categories", "Music "+text)
	jazz := ed.create("categories", obj{"name": "Jazz " + text, "parent": music.id()})
	bebop := ed.create("categories", obj{"name": "Bebop " + text, "parent": jazz.id()})
	other := ed.add("categories", "Other "+text)
	x, y, z := ed.add("tags", "X "+text), ed.add("tags", "Y "+text), ed.add("tags", "Z "+text)
	at := func(day string, more obj) *answer {
		more["start_date"], more["end_date"] = "2026-07-"+day, "2026-07-"+day
		return ed.event(newWord(), more)
	}
	m := at("01", obj{"categories": music.id(), "tags": x.id()})
	j := at("02", obj{"categories": jazz.id(), "tags": []int64{x.id(), y.id()}})
	b := at("03", obj{"categories": bebop.id(), "tags": y.id()})
	o := at("04", obj{"categories": other.id(), "tags": z.id()})
	for _, language := range []string{"en", "fr", "es", "cn"} {
		c := s.nobody.under(language)
		c.list("events", "categories", music.idText()).found(m, j, b)
		c.list("events", "categories", "jazz-"+text).found(j, b)
		c.list("events", "categories", strings.ToUpper("bebop "+text)).found(b)
		c.list("events", "categories", "bebop-"+text+", "+other.idText()).found(b, o)
		c.list("events", "tags", "x-"+text+",y "+text).found(m, j, b)
		c.list("events", "tags", z.idText()).found(o)
		c.list("events", "categories", music.idText(), "tags", y.idText()).found(j, b)
		c.read("/events?tags[]="+x.idText()+"&tags[]="+z.idText()).found(m, j, o)
		c.read("/events?tags="+x.idText()+"&tags="+z.idText()).found(m, j, o)
	}
	// The count of a term is that of its own listed events.
	s.nobody.list("categories", "search", text).fields(obj{"total": 4, "categories.0.name": "Bebop " + text, "categories.2.name": "Music " + text, "categories.2.count": 1})
	s.nobody.list("categories", "parent", music.idText()).found(jazz)
	s.nobody.list("tags", "post", j.idText(), "orderby", "id", "order", "DESC").found(y, x)
	// Moving a category moves its events; deleting it gives its children to its parent.
	ed.update(bebop, obj{"parent": other.id()})
	s.nobody.list("events", "categories", music.idText()).found(m, j)
	s.nobody.list("events", "categories", other.idText()).found(b, o)
	deep := ed.create("categories", obj{"name": "Deep " + text, "parent": jazz.id()})
	ed.remove(jazz).fields(obj{"id": jazz.id(), "name": "Jazz " + text, "parent": music.id()})
	s.nobody.read(deep).field("parent", music.id())
	s.nobody.read(j).field("categories", list{})
	s.nobody.list("events", "categories", music.idText()).found(m)
	s.nobody.get("/events?categories=" + jazz.idText()).bad("categories")
	// A category becomes no descendant of itself.
	ed.update(music, obj{"parent": deep.id()}).field("parent", 0)
	ed.update(music, obj{"parent": music.id()}).field("parent", 0)
}

func unknownInFilters(s *scene) {
	ed := s.editor
	text := newWord()
	venue := ed.add("venues", text)
	event := ed.event(text, nil)
	for _, who := range []string{"", "editor"} {
		c := s.as(who)
		for target := range strings.FieldsSeq(strings.NewReplacer("VENUE", venue.idText(), "EVENT", event.idText(), "NAME", text).Replace(`
			/events?categories=99999999 /events?categories=no-NAME /events?categories=VENUE /events?tags=99999999
			/events?tags=no-NAME /events?tags= /events?tags=%2C /events?venue=99999999 /events?venue=NAME /events?venue=EVENT
			/events?organizer=99999999 /events?organizer=VENUE /events?organizer=0 /events?post_parent=99999999
			/events?post_parent=VENUE /events?post_parent=x /categories?parent=99999999 /categories?parent=0
			/categories?parent=EVENT /categories?include=99999999 /categories?exclude=no-NAME /categories?post=99999999
			/tags?include=no-NAME /tags?exclude=99999999 /tags?event=VENUE /tags?post=99999999 /venues?event=99999999
			/venues?event=VENUE /organizers?event=99999999 /events?featured=2 /events?ticketed= /events?strict_dates=x
			/venues?has_events=2 /organizers?only_with_upcoming= /tags?hide_empty=x /tags?order= /tags?orderby= /tags?slug=
			/events?search= /venues?search=0 /tags?search=0 /events?multilang_language=de`)) {
			_, query, _ := strings.Cut(target, "?")
			param, _, _ := strings.Cut(query, "=")
			c.get(target).bad(param)
		}
		c.get("/events"+pairs("categories", venue.idText()+",99999997")).bad("categories").naming("categories", venue.idText())
		c.list("events", "include", "99999999").found()
		c.list("events", "venue", venue.idText()).found()
		// All bad parameters are named at once.
		c.get("/events?categories=99999999&tags=99999999&venue=99999999&start_date=x&page=0&featured=2").
			bad("categories", "tags", "venue", "start_date", "page", "featured").
			fields(obj{"data.details.featured.code": "rest_invalid_type", "data.details.featured.data.param": "featured"}).
			without("data.details.categories")
	}
	s.nobody.list("tags", "parent", "99999999", "search", text).found() // unknown on tags
}

func coordinates(s *scene) {
	caller := s.editor
	tag := caller.add("tags", newWord()).idText()
	at := func(day string, more obj) *answer {
		more["start_date"], more["end_date"], more["tags"] = "2026-07-"+day, "2026-07-"+day, tag
		return caller.event(newWord(), more)
	}
	near := caller.create("venues", obj{"venue": newWord(), "geo_lat": 42.3554, "geo_lng": -71.0501})
	far := caller.create("venues", obj{"venue": newWord(), "geo_lat": 42.3554, "geo_lng": -72.0501}) // about 82 km west
	nowhere := caller.add("venues", newWord())
	a := at("01", obj{"venue": near.id()})
	b := at("02", obj{"venue": far.id()})
	c := at("03", obj{"venue": nowhere.id()})
	d := at("04", obj{})
	e := at("05", obj{"venue": []int64{nowhere.id(), near.id()}})
	for query, want := range map[string][]*answer{
		"geoloc=true": {a, b, e}, "geoloc=false": {c, d}, "geoloc_radius=5": {a, b, c, d, e},
		"geoloc_lat=42.36&geoloc_lng=-71.05": {a, e}, "geoloc_lat=42.36&geoloc_lng=-71.05&geoloc=1": {a, e},
		"geoloc_lat=42.36&geoloc_lng=-71.05&geoloc_radius=81": {a, e}, "geoloc_lat=42.36&geoloc_lng=-71.05&geoloc_radius=83.5": {a, b, e},
	} {
		s.nobody.read("/events?tags=" + tag + "&" + query).found(want...)
	}
	s.nobody.list("events", "tags", tag, "geoloc_lat", "-42", "geoloc_lng", "108", "geoloc_radius", "20000").field("total", 3)
	nobody := s.nobody
	for query, bad := range map[string]string{
		"geoloc_lat=1": "geoloc_lng", "geoloc_lng=1": "geoloc_lat", "geoloc_lat=1&geoloc=true": "geoloc_lng", "geoloc=false&geoloc_lat=1&geoloc_lng=1": "geoloc",
		"geoloc_lat=90.1&geoloc_lng=1": "geoloc_lat", "geoloc_lat=1&geoloc_lng=-180.5": "geoloc_lng", "geoloc=maybe": "geoloc",
		"geoloc_lat=1&geoloc_lng=1&geoloc_radius=0": "geoloc_radius", "geoloc_lat=1&geoloc_lng=1&geoloc_radius=20000.1": "geoloc_radius",
	} {
		nobody.get("/events?" + query).bad(bad)
	}
	// A venue that moves takes its events with it; a trashed one gives no place.
	caller.update(far, obj{"geo_lng": -71.06})
	nobody.list("events", "tags", tag, "geoloc_lat", "42.36", "geoloc_lng", "-71.05").found(a, b, e)
	caller.remove(near)
	nobody.list("events", "tags", tag, "geoloc", "true").found(b)
	nobody.list("events", "tags", tag, "geoloc", "false").found(a, c, d, e)
	caller.patch(far, obj{"geo_lat": nil}).bad("geo_lat")
	caller.post("/venues", obj{"venue": newWord(), "geo_lat": 1}).bad("geo_lng")
	caller.post("/venues", obj{"venue": newWord(), "geo_lat": 91, "geo_lng": "x"}).bad("geo_lat", "geo_lng")
}
