package e2e

import (
	"fmt"
	"maps"
	"net/url"
	"strings"
)

// Lines 1 to 9: updates and dates.

func updatesAreOne(scene *scene) {
	caller := scene.editor
	changes := map[string]obj{
		"events": {
			"description": "One\nTwo", "start_date": "2026-06-11 09:00", "end_date": "2026-06-11 10:00", "cost": "5 - 7",
			"website": "https://a.example/x", "featured": true, "timezone": "Europe/Rome",
		},
		"venues":     {"city": "Ghent", "geo_lat": 51.05, "geo_lng": "3.72", "show_map": "no"},
		"organizers": {"email": "a@b.example", "phone": "12 34", "description": "Words"},
		"categories": {"description": "Words"},
		"tags":       {"description": "Words"},
	}
	for _, collection := range collections {
		change := obj{nameField(collection): "Common " + newWord()}
		maps.Copy(change, changes[collection])
		var first *answer
		for _, method := range updateMethods {
			for _, way := range []string{"id", "slug"} {
				if way == "slug" && (collection == "categories" || collection == "tags") {
					continue
				}
				made := caller.add(collection, newWord())
				path := made.Path()
				if way == "slug" {
					path = made.bySlug()
				}
				got := caller.do(method, path, change).want(200)
				got.field("id", made.ID()).without("json_ld").field("slug", made.String("slug"))
				if !strings.HasPrefix(got.ETag(), `"2-`) {
					scene.t.Errorf("%s: ETag %s, want version 2", got.Request, got.ETag())
				}
				if first == nil {
					first = got
				}
				same(scene.t, first, got, "id", "slug", "url", "urls", "rest_url", "global_id", "global_id_lineage")
				stored := caller.read(made)
				same(scene.t, got, stored, "json_ld")

				for i, empty := range []any{
					nil,
					obj{},
					raw{"application/json", ""},
					raw{"", ""},
					raw{"application/json", "  \n"},
					raw{"application/x-www-form-urlencoded", ""},
					url.Values{},
					raw{"text/plain", "not read"},
				} {
					again := caller.do(method, path, empty).want(200)
					same(scene.t, got, again)
					if want := `"` + fmt.Sprint(i+3) + "-"; !strings.HasPrefix(again.ETag(), want) {
						scene.t.Errorf("%s: ETag %s, want version %d: an empty update is a write too", again.Request, again.ETag(), i+3)
					}
				}
			}
		}
	}
}

func titleAlone(scene *scene) {
	caller := scene.editor
	for _, c := range []struct {
		status string
		more   obj
	}{
		{"publish", obj{"all_day": true}},
		{"publish", obj{"date": "2020-02-03 04:05:06"}},
		{"future", obj{"date": "2027-02-03 04:05:06"}},
		{"draft", obj{"slug": "kept-" + newWord()}},
		{"pending", obj{"date": "2020-02-03 04:05:06"}},
		{"private", nil},
	} {
		more := obj{
			"status": c.status, "timezone": "Asia/Tokyo", "show_map": false, "show_map_link": false,
			"hide_from_listings": true, "sticky": true, "featured": true, "ticketed": true, "event_status": "postponed", "event_status_reason": "Snow", "cost": []string{"$5", "$10"},
			"website": "https://quay.example/?a=1&b=2", "image": "https://img.example/" + newWord() + ".jpg",
			"tags": []string{newWord(), newWord()}, "categories": newWord(),
			"venue":     []any{obj{"venue": newWord()}, obj{"venue": newWord()}},
			"organizer": []any{obj{"organizer": newWord()}, obj{"organizer": newWord()}},
			"excerpt":   "Short", "description": "<p>Long</p>", "author": scene.svc.User("author").User,
			"post_parent": caller.event(newWord(), nil).ID(),
		}
		maps.Copy(more, c.more)
		made := caller.event("Before "+newWord(), more).field("status", c.status).field("timezone", "Asia/Tokyo")
		if made.len("tags") != 2 || made.len("venues") != 2 || made.len("organizer") != 2 || made.len("categories") != 1 {
			scene.t.Fatalf("links are missing\n%s", made.Body)
		}
		path := made.Path()
		for _, method := range updateMethods {
			title := "After " + newWord()
			got := caller.do(method, path, obj{"title": title}).want(200).field("title", title)
			same(scene.t, made, got, "title", "modified", "modified_utc")
			got.field("modified", "2026-05-01 12:00:00").field("modified_utc", "2026-05-01 12:00:00")
			same(scene.t, got, caller.read(path), "json_ld")
		}
	}
	// The same for the other kinds.
	for collection, more := range map[string]obj{
		"venues": {
			"address": "12 Quay St", "city": "Boston", "country": "United States", "province": "P", "state": "MA", "zip": "02110",
			"phone": "+1 555 0100", "website": "https://river.example", "show_map": "false", "show_map_link": false,
			"image": "https://img.example/v.jpg", "geo_lat": 42.3554, "geo_lng": -71.0501, "description": "D", "excerpt": "E",
			"status": "private", "date": "2020-02-03 04:05:06",
		},
		"organizers": {
			"phone": "1", "website": "https://arts.example", "email": "hello@arts.example", "image": "https://img.example/o.jpg",
			"description": "D", "excerpt": "E", "status": "pending",
		},
		"categories": {"description": "D", "parent": caller.add("categories", newWord()).ID()},
		"tags":       {"description": "D", "slug": newWord()},
	} {
		made := caller.create(collection, body(collection, newWord(), more))
		for field, value := range more {
			if field != "image" && field != "parent" && field != "show_map" && field != "description" && field != "excerpt" {
				made.field(field, value)
			}
		}
		name := newWord()
		got := caller.update(made, obj{nameField(collection): name}).field(nameField(collection), name)
		same(scene.t, made, got, nameField(collection), "modified", "modified_utc")
	}
}

func impossibleDates(scene *scene) {
	caller := scene.editor
	made := caller.event(newWord(), nil)
	check := caller.unchanged(made)
	for _, value := range []any{"2026-02-30", "2026", "soonish", 20260610} { // all forms are rows of a table of package calendar
		for _, field := range []string{"start_date", "end_date"} {
			text := newWord()
			caller.post("/events", eventBody(text, obj{field: value})).bad(field)
			caller.none("events", text)
			caller.patch(made, obj{field: value}).bad(field)
		}
		caller.patch(made, obj{"date": value}).bad("date")
		caller.patch(made, obj{"start_date": value, "end_date": value}).bad("start_date", "end_date")
	}
	for _, zone := range []any{"UTC+99", "CEST", 5} {
		caller.patch(made, obj{"timezone": zone}).bad("timezone")
		caller.post("/events", eventBody(newWord(), obj{"timezone": zone})).bad("timezone")
	}
	check()
	for _, value := range []string{"2026-02-30", "2026", "soonish"} {
		for _, param := range []string{"start_date", "end_date", "starts_before", "starts_after", "ends_before", "ends_after"} {
			scene.nobody.get("/events" + pairs(param, value)).bad(param)
		}
	}
	caller.event(newWord(), obj{"start_date": "1970-01-01 00:00:00", "end_date": "1970-01-01 00:00:00"}).fields(obj{
		"start_date": "1970-01-01 00:00:00", "utc_end_date": "1970-01-01 00:00:00",
	})
	caller.event(newWord(), obj{"start_date": "0001-01-01", "end_date": "9999-12-31 23:59:59"}).fields(obj{
		"start_date": "0001-01-01 00:00:00", "end_date": "9999-12-31 23:59:59",
		"start_date_details": obj{"year": "0001", "month": "01", "day": "01", "hour": "00", "minutes": "00", "seconds": "00"},
	})
	// The forms of 2.4, words in the zone of the event. It is Friday, 12:00 UTC.
	for sent, want := range map[string]string{
		"2026-12-01T09:30:15": "2026-12-01 09:30:15", "2026-12-01 12:30:05 pm": "2026-12-01 12:30:05", "now": "2026-05-01 21:00:00", "tomorrow 9am": "2026-05-02 09:00:00",
		"+1 month": "2026-06-01 21:00:00", "friday": "2026-05-01 00:00:00", "December 1, 2026": "2026-12-01 00:00:00",
	} {
		caller.update(made, obj{"timezone": "Asia/Tokyo", "start_date": sent, "end_date": "2027-01-01"}).field("start_date", want)
	}
}
