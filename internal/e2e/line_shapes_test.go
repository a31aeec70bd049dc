package e2e

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"daybook/calendar"
)

// Lines 10, 11 and 20 to 26: what records look like.

// eventKeys are the keys of every event; json_ld comes with single reads.
var eventKeys = []string{
	"id", "global_id", "global_id_lineage", "author", "status", "date", "date_utc", "modified", "modified_utc", "url", "rest_url",
	"title", "description", "excerpt", "slug", "image", "all_day", "start_date", "end_date", "start_date_details", "end_date_details",
	"utc_start_date", "utc_end_date", "utc_start_date_details", "utc_end_date_details", "timezone", "timezone_abbr", "cost",
	"cost_details", "website", "show_map", "show_map_link", "hide_from_listings", "sticky", "featured", "ticketed", "event_status", "event_status_reason", "post_parent",
	"categories", "tags", "venue", "venues", "organizer", "custom_fields", "language", "languages",
}

var (
	placeKeys = []string{
		"id", "author", "status", "date", "date_utc", "modified", "modified_utc", "url", "slug", "global_id", "global_id_lineage",
		"language", "languages",
	}
	venueKeys     = append([]string{"venue", "show_map", "show_map_link"}, placeKeys...)
	organizerKeys = append([]string{"organizer"}, placeKeys...)
	termKeys      = []string{"id", "name", "slug", "description", "taxonomy", "count", "url", "urls", "language", "languages"}
	nestedKeys    = []string{"id", "name", "slug", "description", "taxonomy", "count", "parent", "urls", "language", "languages"}
)

func answerTypes(scene *scene) {
	author := scene.as("author")
	made := author.event(newWord(), obj{
		"start_date": "2026-06-01 09:05:07", "cost": []any{5, "10.50"}, "timezone": "America/New_York",
		"image": "https://img.example/x.PNG?y=1",
	})
	made.fields(obj{
		"author": scene.svc.User("author").User.String(), "cost_details.values": list{"5", "10.50"}, "cost": "$5 – $10.50",
		"cost_details":             obj{"currency_symbol": "", "currency_code": "", "currency_position": "", "values": list{"5", "10.50"}},
		"start_date_details":       obj{"year": "2026", "month": "06", "day": "01", "hour": "09", "minutes": "05", "seconds": "07"},
		"utc_start_date_details":   obj{"year": "2026", "month": "06", "day": "01", "hour": "13", "minutes": "05", "seconds": "07"},
		"end_date_details.minutes": "00", "image.extension": "png", "image.url": "https://img.example/x.PNG?y=1",
		"post_parent": 0, "custom_fields": list{}, "language": "en", "languages": list{"en"},
		"global_id": strings.TrimPrefix(scene.svc.Base, "http://") + "?id=" + made.ID().String(),
	}).keys("image", "url", "id", "extension")
	if made.ID() <= 0 || made.Int("image.id") <= 0 || made.Get("image.id") == made.Get("id") {
		scene.t.Errorf("ids %v and %v: one sequence serves all kinds and images", made.ID(), made.Int("image.id"))
	}
	same(scene.t, made, author.read(made), "json_ld")
	author.create("venues", obj{"venue": newWord(), "geo_lat": "51.5", "geo_lng": -0.25}).fields(obj{
		"author": scene.svc.User("author").User.String(), "geo_lat": 51.5, "geo_lng": -0.25, "show_map": true, "show_map_link": true,
	})
	author.add("organizers", newWord()).field("author", scene.svc.User("author").User.String())
	author.add("categories", newWord()).fields(obj{"count": 0, "parent": 0, "taxonomy": "event_category"})
}

func venueShape(scene *scene) {
	caller := scene.editor
	a := caller.add("venues", "A "+newWord())
	b := caller.add("venues", "B "+newWord())
	o := caller.add("organizers", newWord())

	none := caller.event(newWord(), nil).fields(obj{"venue": list{}, "venues": list{}, "organizer": list{}, "tags": list{}, "categories": list{}})
	caller.read(none).fields(obj{"venue": list{}, "venues": list{}, "organizer": list{}, "tags": list{}, "categories": list{}})

	tag := newWord()
	made := caller.event(newWord(), obj{"venue": []calendar.ID{b.ID(), a.ID()}, "organizer": o.ID(), "tags": tag})
	for _, got := range []*answer{made, caller.read(made)} {
		got.field("venue.id", b.ID()).field("venues.0.id", b.ID()).field("venues.1.id", a.ID()).field("organizer.0.id", o.ID()).field("tags.0.name", tag)
		if got.len("venues") != 2 || got.len("organizer") != 1 || got.len("tags") != 1 {
			scene.t.Errorf("%s: links\n%s", got.Request, got.Body)
		}
	}
	made.field("venue", made.Get("venues.0")).keys("venue", venueKeys...).keys("organizer.0", organizerKeys...).keys("tags.0", nestedKeys...)
	caller.list("events", "tags", tag).fields(obj{"events.0.venue.id": b.ID(), "events.0.venues.1.id": a.ID(), "events.0.organizer.0.id": o.ID()})
}

func emptyFields(scene *scene) {
	caller := scene.editor
	venue := caller.add("venues", newWord()).keys("", venueKeys...)
	organizer := caller.add("organizers", newWord()).keys("", organizerKeys...)
	caller.read(venue).keys("", append([]string{"json_ld"}, venueKeys...)...)
	caller.read(organizer).keys("", append([]string{"json_ld"}, organizerKeys...)...)
	caller.add("tags", newWord()).keys("", termKeys...).keys("urls", "self", "collection").field("description", "")
	parent := caller.add("categories", newWord()).keys("", append([]string{"parent"}, termKeys...)...).keys("urls", "self", "collection")
	caller.create("categories", obj{"name": newWord(), "parent": parent.ID()}).keys("urls", "self", "collection", "up").field(
		"urls.up", scene.svc.Base+root+"/categories/"+parent.ID().String())

	// What is filled appears, what is cleared goes again.
	full := obj{
		"description": "D", "excerpt": "E", "address": "A", "city": "C", "country": "US", "province": "P", "state": "S", "zip": "Z",
		"phone": "1", "website": "https://w.example", "image": "https://img.example/a.gif", "geo_lat": 1.5, "geo_lng": 2.5,
	}
	filled := caller.update(venue, full).having("stateprovince")
	cleared := obj{}
	for name := range full {
		filled.having(name)
		cleared[name] = ""
	}
	filled.field("stateprovince", "S")
	caller.update(venue, obj{"country": "Belgium"}).field("stateprovince", "P")
	caller.update(venue, obj{"stateprovince": "Own"}).field("stateprovince", "Own")
	cleared["stateprovince"] = nil
	caller.update(venue, cleared).keys("", venueKeys...)

	made := caller.event(newWord(), obj{"description": nil, "excerpt": "", "cost": "", "website": nil, "image": "", "categories": []int{}}).
		keys("", eventKeys...)
	empty := obj{
		"image": false, "description": "", "excerpt": "", "cost": "",
		"cost_details": obj{"currency_symbol": "", "currency_code": "", "currency_position": "", "values": list{}}, "venue": list{},
	}
	made.fields(empty)
	caller.read(made).keys("", append([]string{"json_ld"}, eventKeys...)...).fields(empty)
	caller.list("events", "include", made.ID().String()).keys("events.0", eventKeys...)
	withImage := caller.update(made, obj{"image": "https://img.example/a.gif"})
	withImage.field("image", obj{"url": "https://img.example/a.gif", "id": withImage.Int("image.id"), "extension": "gif"})
	caller.update(made, obj{"image": false}).field("image", false)
}

func websiteFallsBack(scene *scene) {
	caller := scene.editor
	text := newWord()
	made := caller.event(text, nil).fields(obj{"website": scene.svc.Base + "/event/" + text + "/", "url": scene.svc.Base + "/event/" + text + "/"})
	path := made.Path()
	scene.nobody.under("fr").read(path).field("website", scene.svc.Base+"/fr/event/"+text+"/")
	caller.update(path, obj{"website": " https://quay.example/?a=1&amp;b=2 "}).fields(obj{
		"website": "https://quay.example/?a=1&amp;b=2", "url": scene.svc.Base + "/event/" + text + "/",
	})
	caller.update(path, obj{"website": "https://例え.jp/道"}).field("website", "https://例え.jp/道")
	for _, empty := range []any{"", nil, "  "} {
		caller.update(path, obj{"website": "https://a.example"}).field("website", "https://a.example")
		caller.update(path, obj{"website": empty}).field("website", scene.svc.Base+"/event/"+text+"/")
	}
	draft := caller.event(newWord(), obj{"status": "draft"})
	draft.field("website", scene.svc.Base+"/?event="+draft.ID().String())
}

func writingBack(scene *scene) {
	caller := scene.editor
	text := newWord()
	title := `Fish & "Chips" – it's — “here” ` + text
	shown := strings.ReplaceAll(title, "&", "&amp;")
	for _, collection := range collections {
		made := caller.add(collection, title).field(nameField(collection), shown)
		caller.read(made).field(nameField(collection), shown)
		got := caller.update(made, obj{nameField(collection): shown}).field(nameField(collection), shown)
		same(scene.t, made, got)
	}
	for sent, shown := range map[string]string{
		"AT&T &lt;3 " + text:              "AT&amp;T &lt;3 " + text,
		"a &amp;amp; b " + text:           "a &amp;amp; b " + text,
		"<b>Bold</b> <i>move</i> " + text: "Bold move " + text,
		"x\n y\tz " + text:                "x y z " + text,
		"&notanentity " + text:            "&amp;notanentity " + text,
		"Café &eacute; " + text:           "Café é " + text,
	} {
		made := caller.event(sent, nil).field("title", shown)
		caller.update(made, obj{"title": shown}).field("title", shown)
	}
	// A whole answer, written back.
	place := caller.create("venues", obj{"venue": `Hall & "Co" ` + text, "address": "1 <b>A</b> & B", "website": "https://v.example/?a=1&b=2", "city": " Two   words "}).
		fields(obj{"address": "1 A &amp; B", "website": "https://v.example/?a=1&b=2", "city": "Two words"})
	trust := caller.create("organizers", obj{"organizer": `Trust & Co ` + text, "email": "a@b.example", "phone": "<1> & 2"})
	made := caller.event(`Quay <em>&amp;</em> "sea" `+text, obj{
		"venue": place.ID(), "organizer": trust.ID(), "description": "One & two\nThree\n\n<b>Four</b> &lt;5&gt;", "excerpt": "A & B",
		"cost": "5 - 12 EUR", "website": "https://q.example/?a=1&b=2", "timezone": "America/New_York", "date": "2026-03-02 09:15",
		"featured": true,
	})
	whole := obj{}
	maps.Copy(whole, made.Get(".").(obj))
	delete(whole, "image") // an object or false, not what the field takes as text
	same(scene.t, made, caller.do("PUT", made, whole).want(200), "modified", "modified_utc")
	same(scene.t, place, caller.do("PUT", place, place.Get(".")).want(200))
	same(scene.t, trust, caller.do("PUT", trust, trust.Get(".")).want(200))
	term := caller.create("categories", obj{"name": "R & <i>B</i> " + newWord(), "description": "a & b\n\nc"})
	same(scene.t, term, caller.do("PUT", term, term.Get(".")).want(200))
	caller.post("/events", eventBody("<p> </p>&nbsp;", nil)).bad("title")
	caller.post("/events", eventBody("0", nil)).bad("title")
}

func noScripts(scene *scene) {
	const attack = `<p onclick="evil()">Good</p><script>evil()</script><SCRIPT src=//evil.example></SCRIPT>` +
		`<img src="https://img.example/a.png" onerror=evil()><a href="javascript:evil()" title="t">link</a><style>p{evil}</style>` +
		`<svg/onload=evil()><iframe src="https://evil.example"></iframe><a href=" java&#115;cript:evil()">x</a><div style="evil" class="evil" id="evil">D</div>`
	for _, who := range []string{"contributor", "author", "editor", "administrator"} {
		caller := scene.as(who)
		for _, collection := range collections {
			if collection == "tags" && (who == "contributor" || who == "author") || collection == "categories" && who == "contributor" {
				continue
			}
			more := obj{"description": attack}
			if slices.Contains(posts, collection) {
				more["excerpt"] = attack
			}
			if collection == "venues" {
				more["address"], more["city"] = attack, attack
			}
			name := "Name<script>evil()</script> <b onclick=evil()>" + newWord() + "</b>"
			made := caller.create(collection, body(collection, name, more))
			updated := caller.update(made, more)
			for _, a := range []*answer{made, updated, caller.read(made), scene.editor.under("fr").read(made)} {
				clean(a, a.Get("."), "")
				if got := a.String("description"); !strings.Contains(got, "<p>Good</p>") || !strings.Contains(got, `<img src="https://img.example/a.png"`) {
					scene.t.Errorf("%s: description %q has lost what is safe", a.Request, got)
				}
				if got := a.String(nameField(collection)); !strings.HasPrefix(got, "Name ") {
					scene.t.Errorf("%s: name %q", a.Request, got)
				}
			}
		}
	}
}

var unsafe = regexp.MustCompile(`(?i)<script|evil|onclick|onerror|onload|javascript:|<style|<iframe|<svg|\bstyle=|\bclass=`)

// clean looks into every text of an answer.
func clean(answer *answer, value any, path string) {
	answer.Helper()
	switch x := value.(type) {
	case obj:
		for name, inner := range x {
			clean(answer, inner, path+"."+name)
		}
	case list:
		for _, inner := range x {
			clean(answer, inner, path)
		}
	case string:
		if found := unsafe.FindString(x); found != "" {
			answer.Errorf("%s: %s holds %q: %q", answer.Request, path, found, x)
		}
	}
}

func paragraphs(scene *scene) {
	caller := scene.editor
	for _, c := range []struct{ sent, shown string }{
		{"One\nTwo\n\nThree", "<p>One<br />\nTwo</p>\n<p>Three</p>"},
		{"One", "<p>One</p>"},
		{"  One \r\n\r\n\r\n Two ", "<p>One</p>\n<p>Two</p>"},
		{"<b>One</b> & two", "<p><b>One</b> & two</p>"},
		{"", ""},
		{"<p>One</p>\nTwo\n\nThree", "<p>One</p>\nTwo\n\nThree"},
		{"<ul><li>a</li></ul>", "<ul><li>a</li></ul>"},
		{"<h2>T</h2>x", "<h2>T</h2>x"},
	} {
		for _, collection := range posts {
			made := caller.create(collection, body(collection, newWord(), obj{"description": c.sent, "excerpt": c.sent}))
			if collection != "events" && c.sent == "" {
				made.without("description", "excerpt")
				continue
			}
			made.field("description", c.shown).field("excerpt", c.shown)
			caller.read(made).field("description", c.shown).field("excerpt", c.shown)
		}
	}
	for _, collection := range []string{"categories", "tags"} {
		made := caller.create(collection, obj{"name": newWord(), "description": "  One\nTwo\n\nThree <i>x</i> "}).
			field("description", "One\nTwo\n\nThree <i>x</i>")
		caller.read(made).field("description", "One\nTwo\n\nThree <i>x</i>")
		event := caller.event(newWord(), obj{collection: made.ID()})
		event.field(collection+".0.description", "One\nTwo\n\nThree <i>x</i>")
	}
}

func jsonLD(scene *scene) {
	ed := scene.editor
	text := newWord()
	venue := ed.create("venues", obj{
		"venue": "Hall " + text, "address": "12 Quay St", "city": "Boston", "state": "MA", "zip": "02110", "country": "US", "phone": "+1",
		"website": "https://v.example", "geo_lat": 42.5, "geo_lng": -71.25, "description": "By the <b>water</b>",
	})
	second := ed.add("venues", "Second "+text)
	organizer := ed.create("organizers", obj{"organizer": "Trust " + text, "email": "a@b.example"})
	made := ed.event("Quay & sea "+text, obj{
		"venue": []calendar.ID{venue.ID(), second.ID()}, "organizer": organizer.ID(), "timezone": "America/New_York", "cost": "$5 - 12",
		"description": "Long", "excerpt": "Short", "image": "https://img.example/" + text + ".jpg", "date": "2026-03-02 09:15:00",
	})
	page := scene.svc.Base + "/event/quay-sea-" + text + "/"
	var first *answer
	for _, path := range []string{made.Path(), made.bySlug(), made.Path()} {
		for _, c := range []*caller{scene.nobody, ed} {
			got := c.read(path).fields(obj{
				"json_ld.@context": "https://schema.org", "json_ld.@type": "Event", "json_ld.url": page,
				"json_ld.image":               "https://img.example/" + text + ".jpg",
				"json_ld.startDate":           "2026-06-10T10:00:00-04:00",
				"json_ld.endDate":             "2026-06-10T12:00:00-04:00",
				"json_ld.eventStatus":         "https://schema.org/EventScheduled",
				"json_ld.eventAttendanceMode": "https://schema.org/OfflineEventAttendanceMode", "json_ld.performer": "Organization",
				"json_ld.location.@type": "Place", "json_ld.location.name": "Hall " + text, "json_ld.organizer.@type": "Person",
				"json_ld.location.address": obj{
					"@type": "PostalAddress", "streetAddress": "12 Quay St", "addressLocality": "Boston", "addressRegion": "MA",
					"postalCode": "02110", "addressCountry": "US",
				},
				"json_ld.location.geo": obj{"@type": "GeoCoordinates", "latitude": 42.5, "longitude": -71.25},
				"json_ld.offers": obj{
					"@type": "Offer", "price": "5", "priceCurrency": "USD", "url": page, "category": "primary", "availability": "inStock",
					"validFrom": "2026-03-02T00:00:00+00:00",
				},
				"venue.json_ld.@type": "Place", "venue.json_ld.telephone": "+1", "venue.json_ld.sameAs": "https://v.example",
				"venues.1.json_ld.name": "Second " + text, "organizer.0.json_ld.email": "a@b.example", "organizer.0.json_ld.@type": "Person",
			}).without("venues.1.json_ld.geo", "venues.1.json_ld.telephone", "organizer.0.json_ld.telephone", "tags.0.json_ld")
			if first == nil {
				first = got
			}
			same(scene.t, first, got)
		}
	}
	for _, path := range []string{venue.Path(), venue.bySlug()} {
		scene.nobody.read(path).fields(obj{
			"json_ld.@type": "Place", "json_ld.@context": "https://schema.org", "json_ld.name": "Hall " + text,
			"json_ld.url": scene.svc.Base + "/venue/hall-" + text + "/",
		})
	}
	scene.nobody.read(second).keys("json_ld", "@context", "@type", "name", "url")
	for _, path := range []string{organizer.Path(), organizer.bySlug()} {
		scene.nobody.read(path).keys("json_ld", "@context", "@type", "name", "url", "email")
	}
	plain := ed.event(newWord(), nil)
	scene.nobody.read(plain).without("json_ld.offers", "json_ld.location", "json_ld.organizer", "json_ld.description", "json_ld.image")
}

func noJSONLD(scene *scene) {
	caller := scene.editor
	text := newWord()
	venue := caller.add("venues", text)
	organizer := caller.add("organizers", text)
	tag := caller.add("tags", text)
	made := caller.event(text, obj{"venue": venue.ID(), "organizer": organizer.ID(), "tags": tag.ID(), "categories": text})
	const key = `"json_ld"`
	made.lacks(key)
	venue.lacks(key)
	organizer.lacks(key)
	for _, collection := range posts {
		found := scene.nobody.list(collection, "search", text).field("total", 1).lacks(key)
		path := "/" + collection + "/" + found.IDs()[0].String()
		scene.nobody.read(path).having("json_ld")
		for _, method := range updateMethods {
			caller.do(method, path, obj{"description": "x"}).want(200).lacks(key)
		}
		scene.nobody.read(path+"?_fields=id,json_ld").keys("", "id", "json_ld")
	}
	scene.nobody.list("categories", "search", text).field("total", 1).lacks(key)
	scene.nobody.list("tags", "search", text).field("total", 1).lacks(key)
	scene.nobody.read(tag).lacks(key)
	for _, a := range []*answer{caller.delete(made), caller.delete(venue), caller.delete(organizer), caller.delete(tag)} {
		a.want(200).lacks(key)
	}
}
