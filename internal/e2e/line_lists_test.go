package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"daybook/calendar"
)

// Lines 27 to 30, 37 to 40 and 42: lists, their links and their filters.

func emptyList(scene *scene) {
	text := newWord()
	for _, collection := range collections {
		for _, who := range []string{"nobody", "editor"} {
			got := scene.as(who).list(collection, "search", text).head("X-Total", "0").head("X-TotalPages", "0").head("Link", "")
			got.keys("", collection, "rest_url", "total", "total_pages").fields(obj{collection: list{}, "total": 0, "total_pages": 0})
			if got.position() == "" || !strings.HasPrefix(got.ETag(), `W/"`) {
				scene.t.Errorf("%s: Daybook-Position %q, ETag %q", got.Request, got.position(), got.ETag())
			}
		}
		got := scene.nobody.under("fr").list(collection, "search", text, "page", "1").fields(obj{collection: list{}, "total": 0})
		want := scene.svc.Base + "/fr" + root + "/" + collection + "/?per_page=10&"
		switch collection {
		case "events":
			want += "start_date=2026-05-01%2000%3A00%3A00&end_date=2028-05-01%2023%3A59%3A59&"
		case "categories", "tags":
			want = scene.svc.Base + "/fr" + root + "/" + collection + "/?"
		}
		got.field("rest_url", want+"search="+text)
	}
}

func pastTheEnd(scene *scene) {
	caller := scene.editor
	for _, collection := range collections {
		text := newWord()
		caller.add(collection, text+" a")
		caller.add(collection, text+" b")
		for _, language := range []string{"en", "fr"} {
			nobody := scene.nobody.under(language)
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
					got.field("previous_rest_url", scene.svc.Base+segment+root+"/"+collection+"/"+previous+"search="+text+"&hide_empty=0")
				} else {
					got.code(404, singular(collection)+"-archive-page-not-found").without("events", "venues", "organizers")
				}
			}
		}
		// Also where nothing is found at all.
		got := scene.nobody.get("/" + collection + pairs("search", newWord(), "page", "2"))
		if collection == "categories" || collection == "tags" {
			got.want(200).fields(obj{collection: list{}, "total": 0, "total_pages": 0})
		} else {
			got.code(404, singular(collection)+"-archive-page-not-found")
		}
		for _, bad := range []string{"0", "1.5", ""} {
			scene.nobody.get("/"+collection+pairs("page", bad, "per_page", bad)).bad("page", "per_page")
		}
		scene.nobody.get("/" + collection + "?page=1000000001").bad("page")
		scene.nobody.list(collection, "page", "1e0", "per_page", "2.0", "search", text, "hide_empty", "no").field("total", 2)
	}
}

func perPageLowered(scene *scene) {
	ed := scene.editor
	text := newWord()
	tag := ed.add("tags", newWord())
	const n = 103
	var group sync.WaitGroup
	for part := range 4 {
		group.Go(func() {
			for i := part; i < n; i += 4 {
				ed.post("/venues", obj{"venue": fmt.Sprintf("%s %d", text, i)})
				ed.post("/events", eventBody(fmt.Sprintf("%s %d", text, i), obj{"tags": tag.ID()}))
			}
		})
	}
	group.Wait()
	for _, collection := range []string{"events", "venues"} {
		window := ""
		if collection == "events" {
			window = "start_date=2026-05-01%2000%3A00%3A00&end_date=2028-05-01%2023%3A59%3A59&"
		}
		base := scene.svc.Base + root + "/" + collection + "/?"
		for _, c := range []*caller{ed, scene.nobody} {
			got := c.list(collection, "per_page", "500", "search", text).fields(obj{
				"total": n, "total_pages": 2, "rest_url": base + "per_page=100&" + window + "search=" + text,
				"next_rest_url": base + "page=2&per_page=100&" + window + "search=" + text,
			}).without("previous_rest_url").head("X-Total", "103").head("X-TotalPages", "2")
			wantLen(got, collection, 100)
			next := got.String("next_rest_url")
			second := c.read("/" + strings.TrimPrefix(next, scene.svc.Base)).fields(obj{
				"total": n, "rest_url": next, "previous_rest_url": got.String("rest_url"),
			}).without("next_rest_url")
			wantLen(second, collection, 3)
			seen := map[calendar.ID]bool{}
			for _, id := range append(got.IDs(), second.IDs()...) {
				seen[id] = true
			}
			if len(seen) != n {
				scene.t.Errorf("%s: two pages hold %d records, want %d", collection, len(seen), n)
			}
			c.get("/"+collection+pairs("per_page", "500", "search", text, "page", "3")).code(404, singular(collection)+"-archive-page-not-found")
			// The default is ten.
			ten := c.list(collection, "search", text).fields(obj{"total": n, "total_pages": 11})
			wantLen(ten, collection, 10)
			wantLen(c.list(collection, "search", text, "page", "11"), collection, 3)
		}
	}
	ed.list("tags", "include", tag.ID().String()).field("tags.0.count", n)
	scene.nobody.read(tag).field("count", n)
}

func unknownInFilters(scene *scene) {
	caller := scene.editor
	text := newWord()
	venue := caller.add("venues", text)
	event := caller.event(text, nil)
	for _, who := range []string{"nobody", "editor"} {
		c := scene.as(who)
		for target := range strings.FieldsSeq(strings.NewReplacer("VENUE", venue.ID().String(), "EVENT", event.ID().String(), "NAME", text).Replace(`
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
		c.get("/events"+pairs("categories", venue.ID().String()+",99999997")).bad("categories").naming("categories", venue.ID().String())
		c.list("events", "include", "99999999").found()
		c.list("events", "venue", venue.ID().String()).found()
		// All bad parameters are named at once.
		c.get("/events?categories=99999999&tags=99999999&venue=99999999&start_date=x&page=0&featured=2").
			bad("categories", "tags", "venue", "start_date", "page", "featured").
			fields(obj{"data.details.featured.code": "rest_invalid_type", "data.details.featured.data.param": "featured"}).
			without("data.details.categories")
	}
	scene.nobody.list("tags", "parent", "99999999", "search", text).found() // unknown on tags
}
