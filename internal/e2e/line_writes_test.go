package e2e

import (
	"maps"
	"net/url"
	"strings"
)

// Lines 1 to 9: updates and dates.

func updatesAreOne(s *scene) {
	caller := s.editor
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
				path := made.path()
				if way == "slug" {
					path = made.bySlug()
				}
				got := caller.do(method, path, change).want(200)
				got.field("id", made.id()).without("json_ld").field("slug", made.str("slug"))
				if !strings.HasPrefix(got.etag(), `"2-`) {
					s.t.Errorf("%s: ETag %s, want version 2", got.request, got.etag())
				}
				if first == nil {
					first = got
				}
				same(s.t, first, got, "id", "slug", "url", "urls", "rest_url", "global_id", "global_id_lineage")
				stored := caller.read(made)
				same(s.t, got, stored, "json_ld")

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
					same(s.t, got, again)
					if want := `"` + itoa(int64(i+3)) + "-"; !strings.HasPrefix(again.etag(), want) {
						s.t.Errorf("%s: ETag %s, want version %d: an empty update is a write too", again.request, again.etag(), i+3)
					}
				}
			}
		}
	}
}

func titleAlone(s *scene) {
	caller := s.editor
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
			"excerpt":   "Short", "description": "<p>Long</p>", "author": s.svc.users["author"].id,
			"post_parent": caller.event(newWord(), nil).id(),
		}
		maps.Copy(more, c.more)
		made := caller.event("Before "+newWord(), more).field("status", c.status).field("timezone", "Asia/Tokyo")
		if made.len("tags") != 2 || made.len("venues") != 2 || made.len("organizer") != 2 || made.len("categories") != 1 {
			s.t.Fatalf("links are missing\n%s", made.body)
		}
		path := made.path()
		for _, method := range updateMethods {
			title := "After " + newWord()
			got := caller.do(method, path, obj{"title": title}).want(200).field("title", title)
			same(s.t, made, got, "title", "modified", "modified_utc")
			got.field("modified", "2026-05-01 12:00:00").field("modified_utc", "2026-05-01 12:00:00")
			same(s.t, got, caller.read(path), "json_ld")
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
		"categories": {"description": "D", "parent": caller.add("categories", newWord()).id()},
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
		same(s.t, made, got, nameField(collection), "modified", "modified_utc")
	}
}

func draftStaysDraft(s *scene) {
	for _, who := range []string{"contributor", "author", "editor"} {
		c := s.as(who)
		for _, collection := range posts {
			for _, status := range []string{"draft", "pending", "private"} {
				made := c.create(collection, body(collection, newWord(), obj{"status": status})).field("status", status)
				if status != "private" {
					made.fields(obj{
						"date": "2026-05-01 12:00:00", "date_utc": "0000-00-00 00:00:00",
						"modified": "2026-05-01 12:00:00", "modified_utc": "0000-00-00 00:00:00",
					})
				}
				for _, method := range updateMethods {
					got := c.do(method, made.path(), obj{nameField(collection): newWord()}).want(200)
					got.field("status", status).field("date_utc", made.str("date_utc")).field("modified_utc", "2026-05-01 12:00:00")
				}
				s.nobody.get(made).code(403, singular(collection)+"-not-accessible")
			}
		}
	}
	// Its date is set when it is published first, and its slug is made then.
	ed := s.editor
	text := newWord()
	draft := ed.event(text, obj{"status": "draft"}).field("slug", "")
	draft.field("url", s.svc.url+"/?event="+draft.idText())
	ed.update(draft, obj{"status": "publish"}).fields(obj{
		"status": "publish", "slug": text, "date": "2026-05-01 12:00:00", "date_utc": "2026-05-01 12:00:00",
		"url": s.svc.url + "/event/" + text + "/",
	})
}

func oneDateAlone(s *scene) {
	caller := s.editor
	for _, method := range updateMethods {
		made := caller.event(newWord(), obj{"timezone": "Europe/Rome"}).fields(obj{
			"start_date": "2026-06-10 10:00:00", "end_date": "2026-06-10 12:00:00",
			"utc_start_date": "2026-06-10 08:00:00", "utc_end_date": "2026-06-10 10:00:00",
		})
		got := caller.do(method, made.path(), obj{"start_date": "2026-06-09 23:30"}).want(200).fields(obj{
			"start_date": "2026-06-09 23:30:00", "end_date": "2026-06-10 12:00:00",
			"utc_start_date": "2026-06-09 21:30:00", "utc_end_date": "2026-06-10 10:00:00",
			"start_date_details": obj{"year": "2026", "month": "06", "day": "09", "hour": "23", "minutes": "30", "seconds": "00"},
		})
		same(s.t, made, got, "start_date", "start_date_details", "utc_start_date", "utc_start_date_details", "modified", "modified_utc")
		later := caller.do(method, made.path(), obj{"end_date": "2026-06-11"}).want(200).fields(obj{
			"end_date": "2026-06-11 00:00:00", "utc_end_date": "2026-06-10 22:00:00",
		})
		same(s.t, got, later, "end_date", "end_date_details", "utc_end_date", "utc_end_date_details")
	}
}

func zoneAlone(s *scene) {
	caller := s.editor
	made := caller.event(newWord(), obj{"timezone": "europe/rome"}).fields(obj{
		"timezone": "Europe/Rome", "timezone_abbr": "CEST", "utc_start_date": "2026-06-10 08:00:00",
	})
	for _, c := range []struct{ sent, zone, abbr, start, end string }{
		{"America/New_York", "America/New_York", "EDT", "2026-06-10 14:00:00", "2026-06-10 16:00:00"},
		{"asia/tokyo", "Asia/Tokyo", "JST", "2026-06-10 01:00:00", "2026-06-10 03:00:00"},
		{"UTC+5.5", "UTC+5.5", "UTC+5.5", "2026-06-10 04:30:00", "2026-06-10 06:30:00"},
		{"-03:30", "-03:30", "-03:30", "2026-06-10 13:30:00", "2026-06-10 15:30:00"},
		{"UTC", "UTC", "UTC", "2026-06-10 10:00:00", "2026-06-10 12:00:00"},
		{"est", "EST", "EST", "2026-06-10 15:00:00", "2026-06-10 17:00:00"},
		{"", "UTC", "UTC", "2026-06-10 10:00:00", "2026-06-10 12:00:00"}, // the site zone
	} {
		got := caller.update(made, obj{"timezone": c.sent}).fields(obj{
			"timezone": c.zone, "timezone_abbr": c.abbr, "utc_start_date": c.start, "utc_end_date": c.end,
		})
		same(s.t, made, got, "timezone", "timezone_abbr", "utc_start_date", "utc_end_date",
			"utc_start_date_details", "utc_end_date_details", "modified", "modified_utc")
		same(s.t, got, caller.read(made), "json_ld")
	}
}

func endBeforeStart(s *scene) {
	caller := s.editor
	for _, more := range []obj{
		{"end_date": "2026-06-10 09:59:59"},
		{"start_date": "2026-06-10 12:00:01"},
		{"start_date": "2026-06-10T10:00:00Z", "end_date": "2026-06-10T11:00:00+02:00"}, // as instants
		{"end_date": "2026-06-09", "all_day": true},
	} {
		text := newWord()
		caller.post("/events", eventBody(text, more)).bad("end_date")
		caller.none("events", text)
	}
	made := caller.event(newWord(), nil)
	path := made.path()
	check := caller.unchanged(path)
	for _, method := range updateMethods {
		for _, change := range []obj{
			{"start_date": "2026-06-10 12:00:01"},
			{"end_date": "2026-06-10 09:59:59"},
			{"end_date": "2026-06-10 09:59:59", "title": "Not kept"},
			{"start_date": "2026-06-11", "end_date": "2026-06-10"},
		} {
			caller.do(method, path, change).bad("end_date")
			caller.do(method, made.bySlug(), change).bad("end_date")
		}
	}
	check()
	caller.update(path, obj{"end_date": "2026-06-10 10:00:00"}).field("end_date", "2026-06-10 10:00:00") // equal is allowed
	caller.event(newWord(), obj{"end_date": "2026-06-10 10:00:00"})
	// In the repeated hour the earlier wall clock is the later instant.
	caller.event(newWord(), obj{
		"timezone": "America/New_York", "start_date": "2026-11-01 01:30", "end_date": "2026-11-01T06:15:00Z",
	}).fields(obj{"utc_start_date": "2026-11-01 05:30:00", "end_date": "2026-11-01 01:15:00", "utc_end_date": "2026-11-01 06:15:00"})
}

func impossibleDates(s *scene) {
	caller := s.editor
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
			s.nobody.get("/events" + pairs(param, value)).bad(param)
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
