package e2e

import (
	"encoding/csv"
	"regexp"
	"slices"
	"strings"

	"daybook/calendar"
	"daybook/internal/testkit/table"
	"daybook/internal/testkit/world"
)

// Lists of LISTINGS.md, on every engine.

// listed are events of one tag: 0 to 8 by start, at venues that lie apart.
func listed(scene *scene) (tag string, events []*answer) {
	scene.t.Helper()
	caller := scene.editor
	text := newWord()
	tag = caller.add("tags", text).ID().String()
	venue := func(name, city, country string, lat, lng float64) calendar.ID {
		return caller.create("venues", obj{"venue": name + text, "city": city, "country": country, "geo_lat": lat, "geo_lng": lng}).ID()
	}
	munich := venue("A", "München", "Germany", 48.1, 11.5)
	capital := venue("B", "Washington, D.C.", "USA", 38.9, -77)
	suva := venue("C", "Suva", "Fiji", -18.1, 178.4)
	apia := venue("D", "Apia", "Samoa", -13.8, -171.8)
	unseen := caller.create("venues", obj{"venue": "E" + text, "city": "munchen", "geo_lat": 48.1, "geo_lng": 11.5, "status": "private"}).ID()
	add := func(start, end string, more obj) {
		more["start_date"], more["end_date"], more["tags"] = start, end, tag
		events = append(events, caller.event(text, more))
	}
	add("2026-05-30 09:00:00", "2026-06-02 10:00:00", obj{"venue": munich, "cost": "0"})
	add("2026-05-30 10:00:00", "2026-06-01 00:00:00", obj{"cost": "free"})
	add("2026-06-06 22:30:00", "2026-06-06 23:30:00", obj{"venue": capital, "cost": "Gratis", "timezone": "America/New_York"})
	add("2026-06-07 01:59:59", "2026-06-07 03:00:00", obj{"venue": suva, "cost": "0–30"})
	add("2026-06-08", "2026-06-08", obj{"venue": list{apia, munich}, "all_day": true, "cost": "10"})
	add("2026-07-09 11:59:00", "2026-07-09 13:59:01", obj{"venue": list{unseen, suva}, "cost": "25"})
	add("2026-07-10 12:00:00", "2026-07-10 12:00:00", obj{"cost": "ask"})
	add("2026-08-01 18:00:00", "2026-08-03 18:00:00", obj{"venue": munich, "cost": "0"})
	add("2026-08-05 18:00:00", "2026-08-05 19:00:00", obj{"cost": list{"10.5", "30"}})
	caller.update(events[7].Path(), obj{"password": "sesame"})
	caller.under("es").update(events[5].Path(), obj{"title": "Acto " + text})
	return tag, events
}

// listingFilters are LISTINGS 8.25 to 8.30 and 8.44.
func listingFilters(scene *scene) {
	tag, events := listed(scene)
	for _, language := range []string{"en", "fr"} {
		nobody := scene.nobody.under(language)
		for _, row := range table.Rows(scene.t, "listing_filters.txt") {
			indexes := strings.Fields(row[1])
			want := make([]*answer, len(indexes))
			for i, index := range indexes {
				want[i] = events[index[0]-'0']
			}
			nobody.read("/events?start_date=2026-06-01&tags=" + tag + "&" + row[0]).found(want...)
		}
	}
	for when, want := range map[string][]*answer{ // the clock stands on 1 May 2026
		"this_month": {events[0], events[1]}, "next_month": {events[0], events[2], events[3], events[4]}, "next_7_days": {},
	} {
		scene.nobody.list("events", "tags", tag, "when", when).found(want...)
	}
	far := scene.nobody.list("events", "tags", tag, "sort", "distance", "geoloc_lat", "48.1", "geoloc_lng", "11.5", "geoloc_radius", "20000")
	far.field("events.0.distance", 0).having("events.3.distance")
	if !regexp.MustCompile(`"distance":[0-9]+\.[0-9]{3}[,}]`).Match(far.Body) {
		scene.t.Errorf("no distance has three decimals: %s", far.Body)
	}
	nobody := scene.nobody
	nobody.list("events", "tags", tag).without("events.0.distance")
	for query, param := range map[string]string{
		"bbox=1,2,3": "bbox", "free=maybe": "free", "month=": "month", "city=": "city", "duration_min=5&duration_max=4": "duration_max",
		"when=soon": "when", "sort=distance": "sort", "sort=title": "sort", "sort=start&order=up": "order", "cost_band=5-5": "cost_band", "cursor=": "cursor", "cursor=x": "cursor",
	} {
		nobody.get("/events?" + query).bad(param)
	}
}

// cursorWalk is LISTINGS 8.39 and 8.42 over HTTP.
func cursorWalk(scene *scene) {
	tag, events := listed(scene)
	nobody := scene.nobody
	for _, sort := range []string{"start", "end", "published", "modified", "distance"} {
		params := []string{"tags", tag, "sort", sort, "geoloc_lat", "-18", "geoloc_lng", "178", "geoloc_radius", "20000", "start_date", "2026-05-01", "per_page"}
		if sort != "distance" {
			params = []string{"tags", tag, "sort", sort, "start_date", "2026-06-01", "per_page"}
		}
		whole := nobody.list("events", append(params, "50")...)
		var ids list
		next := pairs(append(params, "2", "cursor", "*")...)
		for steps := 0; next != ""; steps++ {
			a := nobody.read("/events"+next).without("previous_rest_url").field("total", whole.Get("total"))
			for _, value := range a.Get("events").(list) {
				ids = append(ids, value.(obj)["id"])
			}
			link, more := a.Lookup("next_rest_url")
			if _, has := a.Lookup("next_cursor"); has != more || steps > 9 {
				scene.t.Fatalf("%s: step %d has a cursor %t, a link %t", a.Request, steps, has, more)
			}
			if next = ""; more {
				url := link.(string)
				a.head("Link", "<"+url+`>; rel="next"`)
				if !strings.Contains(url, "cursor="+a.String("next_cursor")) {
					scene.t.Errorf("%s: the link %s has another cursor", a.Request, url)
				}
				next = url[strings.IndexByte(url, '?'):]
			} else {
				a.head("Link", "")
			}
		}
		var want list
		for _, value := range whole.Get("events").(list) {
			want = append(want, value.(obj)["id"])
		}
		if !slices.Equal(ids, want) || len(ids) < 4 {
			scene.t.Errorf("sort=%s: the walk gives %v, the list %v", sort, ids, want)
		}
	}
	// In other formats the header has the next step.
	first := nobody.read("/events.csv?tags=" + tag + "&start_date=2026-06-01&per_page=3&cursor=*&_fields=id")
	link := regexp.MustCompile(`^<([^>]*)>; rel="next"$`).FindStringSubmatch(first.Header.Get("Link"))
	if link == nil {
		scene.t.Fatalf("Link is %q", first.Header.Get("Link"))
	}
	var got []string
	for _, a := range []*answer{first, nobody.read("/" + link[1][strings.Index(link[1], root):])} {
		rows, err := csv.NewReader(strings.NewReader(string(a.Body))).ReadAll()
		if err != nil || len(rows) != 4 {
			scene.t.Fatalf("%d rows, %v", len(rows), err)
		}
		for _, row := range rows[1:] {
			got = append(got, row[0])
		}
	}
	for i, e := range slices.Concat(events[2:7], events[8:]) { // the protected one shows no tags
		if got[i] != e.ID().String() {
			scene.t.Errorf("row %d is event %s, want %s", i, got[i], e.ID().String())
		}
	}
	cursor := nobody.list("events", "tags", tag, "per_page", "3", "cursor", "*").String("next_cursor")
	nobody.list("events", "tags", tag, "per_page", "9", "_fields", "id", "cursor", cursor).having("events.4.id").without("events.5.id")
	nobody.get("/events?cursor=" + cursor).bad("cursor")
	nobody.get("/events?tags=" + tag + "&free=true&cursor=" + cursor).bad("cursor")
	nobody.get("/events?tags=" + tag + "&page=2&cursor=" + cursor).bad("cursor")
	nobody.get("/events?tags=" + tag + "&page=1&cursor=*").bad("cursor")
	nobody.read("/venues?cursor=" + cursor) // of no other collection
}

// clusters are LISTINGS 8.19.
func clusters(scene *scene) {
	tag, _ := listed(scene)
	nobody := scene.nobody
	ask := func(params ...string) *answer {
		scene.t.Helper()
		return nobody.get("/events/clusters"+pairs(append([]string{"tags", tag, "start_date", "2026-05-01", "end_date", "2028-01-01"}, params...)...)).
			want(200).head("Content-Type", "application/geo+json")
	}
	// Munich has two events, Washington one, Suva two, Apia one; one event is at two venues.
	at := func(zoom string) map[float64]obj {
		out := map[float64]obj{}
		a := ask("zoom", zoom).head("X-Total", "8").fields(obj{"total": 8, "placed": 5})
		for _, value := range a.Get("features").(list) {
			p := value.(obj)["properties"].(obj)
			out[value.(obj)["geometry"].(obj)["coordinates"].(list)[0].(float64)] = p
		}
		return out
	}
	near := at("8")
	if len(near) != 4 {
		scene.t.Fatalf("%d clusters", len(near))
	}
	for lng, n := range map[float64]float64{11.5: 2, -77: 1, 178.4: 2, -171.8: 1} {
		if p := near[lng]; p == nil || p["point_count"] != n || p["cluster"] != false || p["venue"] == nil {
			scene.t.Errorf("at %v: %v", lng, p)
		}
	}
	caller := scene.editor
	text := newWord()
	for i, lng := range []float64{30, 30.01} {
		v := caller.create("venues", obj{"venue": text + string(rune('a'+i)), "geo_lat": 10, "geo_lng": lng})
		caller.event(text, obj{"tags": tag, "venue": v.ID()})
	}
	both := ask("zoom", "3", "bbox", "29,9,31,11").fields(obj{"total": 10, "placed": 2, "features.0.properties.point_count": 2, "features.0.properties.cluster": true})
	both.without("features.1", "features.0.properties.venue").fields(obj{"features.0.geometry.coordinates": list{30.005, 10}, "features.0.properties.bbox": list{30, 10, 30.01, 10}})
	zoom := both.Get("features.0.properties.expansion_zoom").(float64)
	ask("zoom", world.JSON(scene.t, zoom), "bbox", "29,9,31,11").having("features.1.properties.venue.url").without("features.2")
	ask("zoom", world.JSON(scene.t, zoom-1), "bbox", "29,9,31,11").without("features.1")
	nobody.get("/events/clusters").code(400, "rest_missing_callback_param").field("data.params", list{"zoom"})
	nobody.get("/events/clusters?zoom=23").bad("zoom")
	nobody.get("/events/clusters?zoom=2&bbox=1,2,3").bad("bbox")
}
