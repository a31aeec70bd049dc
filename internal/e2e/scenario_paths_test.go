package e2e

import (
	"strings"
	"time"

	"daybook/calendar"
	"daybook/internal/httpapi"
	"daybook/internal/testkit/world"
	"daybook/query"
)

// Roots, links, headers, positions.

func baseURL(scene *scene) {
	scene = scene.alone(world.Options{HTTP: httpapi.Options{BaseURL: "https://calendar.example.org:8080/site/"}})
	const base = "https://calendar.example.org:8080/site"
	caller := scene.editor
	made := caller.event("Quay", obj{"venue": obj{"venue": "Hall"}, "tags": "sea"})
	made.head("Location", base+root+made.Path()).fields(obj{
		"global_id": "calendar.example.org:8080/site?id=" + made.ID().String(), "url": base + "/event/quay/", "website": base + "/event/quay/",
		"rest_url": base + root + made.Path(), "venue.url": base + "/venue/hall/", "tags.0.urls.collection": base + root + "/tags",
	})
	draft := caller.event("Draft", obj{"status": "draft"})
	draft.field("url", base+"/?event="+draft.ID().String())
	// The service answers requests with and without the path.
	for _, text := range []string{"/" + root, "//site" + root} {
		got := scene.nobody.read(text+made.Path()).field("url", base+"/event/quay/")
		same(scene.t, made, got, "json_ld", "count")
		scene.nobody.read(text+"/events?per_page=5").field("rest_url", base+root+"/events/?per_page=5&start_date=2026-05-01%2000%3A00%3A00&end_date=2028-05-01%2023%3A59%3A59")
		scene.nobody.read(text).field("routes./calendar/events/v1._links.self.0.href", base+root)
		scene.nobody.read(text+"/doc").field("servers.0.url", base+root)
	}
	french := scene.nobody.read("//site/fr" + root + made.Path())
	french.fields(obj{"url": base + "/fr/event/quay/", "rest_url": base + "/fr" + root + made.Path(), "global_id": made.Get("global_id")})
	caller.under("fr").read(draft).field("url", base+"/?event="+draft.ID().String())
	// Anyone who asks under whatever name gets the links of the setting.
	scene.nobody.with("Host", "other.example", "X-Forwarded-Host", "third.example").read(made).lacks("other.example", "third.example")
	scene.nobody.get("//other"+root).code(404, "rest_no_route")
	scene.nobody.get("//site/site"+root).code(404, "rest_no_route")
}

func furtherNames(scene *scene) {
	scene = scene.alone(world.Options{HTTP: httpapi.Options{
		Options: query.Options{PerPageMax: 60},
		Prefix:  "rest", Prefixes: []string{"api", "wp/json"}, Namespaces: []string{"agenda/v2", "calendar/events"},
		TotalHeaders: [][2]string{{"X-Count", "X-Count-Pages"}},
		Currency:     calendar.Currency{Symbol: "$", Position: "prefix", Code: "EUR"}, ReadMaxAge: 30,
	}})
	caller := scene.editor
	made := caller.do("POST", "//wp/json/agenda/v2/events", eventBody("Quay", obj{"cost": "5", "categories": "Jazz"})).want(201)
	made.head("Location", scene.svc.Base+"/wp/json/agenda/v2"+made.Path())
	for _, prefix := range []string{"rest", "api", "wp/json"} {
		for _, namespace := range []string{"calendar/events/v1", "agenda/v2", "calendar/events"} {
			for _, segment := range []string{"", "/fr"} {
				site := scene.svc.Base + segment
				api := site + "/" + prefix + "/" + namespace
				path := "/" + segment + "/" + prefix + "/" + namespace
				got := scene.nobody.read(path + "/events/by-slug/quay").fields(obj{
					"rest_url": api + made.Path(), "url": site + "/event/quay/", "categories.0.urls.collection": api + "/categories",
					"json_ld.offers.priceCurrency": "EUR",
				})
				same(scene.t, made, got, "json_ld", "count", "rest_url", "url", "website", "categories")
				scene.nobody.read(path+"/events?per_page=500").head("Cache-Control", "public, max-age=30, stale-while-revalidate=30").head("X-Total", "1").head("X-Count", "1").head("X-Count-Pages", "1").
					field("rest_url", api+"/events/?per_page=60&start_date=2026-05-01%2000%3A00%3A00&end_date=2028-05-01%2023%3A59%3A59")
				index := scene.nobody.read(path).field("namespace", namespace)
				if routes, _ := index.Get("routes").(obj); routes["/"+namespace+"/events"] == nil {
					scene.t.Errorf("%s: routes %v", index.Request, routes)
				}
				scene.nobody.read(path + "?namespace=" + namespace)
				doc := scene.nobody.read(path+"/doc").field("servers.0.url", api)
				if prefix != "rest" || namespace != "calendar/events/v1" {
					doc.field("servers.0.x-extension", true)
				}
				if namespace != "agenda/v2" {
					scene.nobody.get(path+"?namespace=agenda/v2").code(404, "rest_invalid_namespace")
				}
			}
		}
	}
	scene.nobody.read("//rest/calendar/events/v1/events").
		head("Access-Control-Expose-Headers", "X-Total, X-TotalPages, X-Count, X-Count-Pages, Link, ETag, Daybook-Position, Idempotency-Replayed, Location, Allow, Retry-After, WWW-Authenticate, Memento-Datetime, Content-Location, Content-Disposition, Last-Modified")
	for _, text := range []string{"//rest", "//rest/agenda", "//wp/agenda/v2/events", "//agenda/v2/events", "//rest/agenda/v2/v2"} {
		scene.nobody.get(text).code(404, "rest_no_route")
	}
}

func forwarded(scene *scene) {
	untrusted := scene.nobody.with("X-Forwarded-Proto", "https", "X-Forwarded-Host", "evil.example", "X-Forwarded-Prefix", "/p")
	untrusted.read("").lacks("evil.example", "https://")
	scene.nobody.with("Host", "shown.example:81").read("").field("routes./calendar/events/v1._links.self.0.href", "http://shown.example:81"+root)

	trusting := scene.alone(world.Options{HTTP: httpapi.Options{TrustForwarded: true}})
	made := trusting.as("editor").event("Quay", nil)
	got := trusting.nobody.with("X-Forwarded-Proto", "HTTPS, http", "X-Forwarded-Host", "cal.example:444, inner", "X-Forwarded-Prefix", "/p/").read(made)
	got.fields(obj{
		"url": "https://cal.example:444/p/event/quay/", "rest_url": "https://cal.example:444/p" + root + made.Path(),
		"global_id": "cal.example:444/p?id=" + made.ID().String(),
	})
	trusting.nobody.with("X-Forwarded-Proto", "gopher", "X-Forwarded-Host", `a"<b>`).read(made).field("url", trusting.svc.Base+"/event/quay/")
}

func slashes(scene *scene) {
	caller := scene.editor
	word := newWord()
	made := caller.event(word, nil)
	tag := caller.add("tags", word)
	for _, text := range []string{"", "/doc", "/events", "/venues", "/tags", made.Path(), made.bySlug(), tag.Path()} {
		query := ""
		if text == "/events" || text == "/venues" || text == "/tags" {
			query = "?search=" + word // of the records that nobody else writes meanwhile
		}
		plain := scene.nobody.read(text + query)
		for _, variant := range []string{text + "/", "/" + root + "/" + text, "/" + root + strings.ReplaceAll(text, "/", "//") + "//"} {
			same(scene.t, plain, scene.nobody.read(variant+query))
		}
	}
	same(scene.t, scene.nobody.get(made), scene.nobody.read("///api///calendar/events//v1"+made.Path()+"/"))
	caller.do("PATCH", made.Path()+"/", nil).want(200)
	caller.do("POST", "/events//", eventBody(newWord(), nil)).want(201)
	same(scene.t, scene.nobody.get(made), scene.nobody.read("/%65vents/"+made.ID().String()))
	// %2F is part of the slug, and slugs are compared in lower case.
	scene.nobody.get("/events/by-slug/a%2Fb").code(404, "rest-event-not-found")
	scene.nobody.read("/events/by-slug/"+strings.ToUpper(made.String("slug"))).field("id", made.ID())
	for _, text := range []string{
		"//", "//api", "//fr", "//fr/api", "//api/calendar", "//api/calendar/events", "//api/calendar/events/v2/events", "//de" + root, "//index.html",
		"/event", "/events/abc", "/events/1.5", "/events/by-slug", "/events/by-slug//", "/doc/x", "/categories/by-slug/x", "/Events", "/events/1/x", "//fr/fr" + root,
		"//api/fr/calendar/events/v1", "/events/..%2f..", "/events/%00",
	} {
		for _, method := range []string{"GET", "POST", "OPTIONS", "DELETE"} {
			caller.do(method, text, nil).code(404, "rest_no_route")
		}
		scene.nobody.do("HEAD", text, nil).want(404)
	}
	scene.nobody.get("//fr/nothing").code(404, "rest_no_route").head("Content-Language", "fr")
}

func headAndOptions(scene *scene) {
	caller := scene.editor
	text := newWord()
	made := caller.event(text, nil)
	tag := caller.add("tags", newWord())
	const (
		read   = "GET, HEAD, OPTIONS"
		list   = "GET, HEAD, POST, OPTIONS"
		single = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
	)
	for _, p := range []struct{ path, key, all string }{
		{"", "", read},
		{"/doc", "/doc", read},
		{"/events?search=" + text, "/events", list},
		{made.Path(), `/events/(?P<id>\d+)`, single},
		{made.bySlug(), `/events/by-slug/(?P<slug>[^/]+)`, single},
		{tag.Path(), `/tags/(?P<id>\d+)`, single},
	} {
		for _, language := range []string{"en", "cn"} {
			c := scene.nobody.under(language)
			get := c.read(p.path)
			head := c.do("HEAD", p.path, nil).want(200)
			if len(head.Body) != 0 {
				scene.t.Errorf("%s: a body of %d bytes", head.Request, len(head.Body))
			}
			for _, name := range []string{
				"Content-Type", "Content-Language", "ETag", "Last-Modified", "X-Total", "X-TotalPages", "Link", "Vary", "Allow",
				"Access-Control-Allow-Origin", "X-Content-Type-Options", "Cache-Control",
			} {
				if strings.Contains(p.path, "search") && name == "ETag" {
					continue // other tests write meanwhile
				}
				head.head(name, get.Header.Get(name))
			}
			get.head("Allow", read)
			// OPTIONS needs no credentials and has the entry of the index.
			options := c.do("OPTIONS", p.path, nil).want(200).head("Allow", p.all).head("Access-Control-Allow-Origin", "*")
			index := c.read("")
			options.field("", index.Get("routes").(obj)["/calendar/events/v1"+p.key])
		}
		open := p.all
		for who, want := range map[string]string{"subscriber": read, "auditor": read, "editor": open, "administrator": open} {
			scene.as(who).read(p.path).head("Allow", want)
		}
		if strings.HasPrefix(p.path, "/tags") {
			open = read
		}
		scene.as("author").read(p.path).head("Allow", open)
		scene.as("contributor").read(p.path).head("Allow", open)
	}
	scene.as("author").get("/categories").head("Allow", list)
	scene.as("contributor").get("/categories").head("Allow", read)
	scene.nobody.do("OPTIONS", "/events/99999999", nil).want(200).head("Allow", single)
	scene.nobody.with("Authorization", "Bearer wrong").do("OPTIONS", "/events", nil).code(401, "incorrect_password")
	scene.nobody.do("OPTIONS", "/events?multilang_language=de", nil).bad("multilang_language")
	scene.nobody.do("OPTIONS", "/events?multilang_language=fr", nil).want(200).head("Content-Language", "fr")
}

func crossOrigin(scene *scene) {
	const expose = "X-Total, X-TotalPages, Link, ETag, Daybook-Position, Idempotency-Replayed, Location, Allow, Retry-After, WWW-Authenticate, Memento-Datetime, Content-Location, Content-Disposition, Last-Modified"
	const allow = "Authorization, Accept, Content-Type, If-Match, If-None-Match, Idempotency-Key, Daybook-Min-Position, Accept-Datetime, Daybook-Reason, Last-Event-ID"
	scene = scene.alone(world.Options{HTTP: httpapi.Options{AllowedOrigins: []string{"https://good.example"}}})
	caller := scene.editor
	made := caller.event("Quay", nil)
	for _, origin := range []string{"https://good.example", "https://other.example"} {
		good := origin == "https://good.example"
		for _, text := range []string{"", "/doc", "/events", made.Path(), "/events/99999999", "/nothing"} {
			scene.nobody.with("Origin", origin).get(text).head("Access-Control-Allow-Origin", "*").head("Access-Control-Expose-Headers", expose).
				head("Access-Control-Allow-Credentials", "")
		}
		write := caller.with("Origin", origin).patch(made, nil)
		refused := scene.nobody.with("Origin", origin).patch(made, nil)
		if good {
			write.want(200)
			refused.want(401)
		} else {
			write.code(403, "rest_forbidden_origin")
			refused.code(403, "rest_forbidden_origin")
		}
		for _, a := range []*answer{write, refused} {
			if good {
				a.head("Access-Control-Allow-Origin", origin).head("Access-Control-Expose-Headers", expose)
			} else {
				a.head("Access-Control-Allow-Origin", "").head("Access-Control-Expose-Headers", "")
			}
		}
		preflight := func(method, path, headers string) *answer {
			return scene.nobody.with("Origin", origin, "Access-Control-Request-Method", method, "Access-Control-Request-Headers", headers).
				do("OPTIONS", path, nil).want(200).head("Access-Control-Allow-Origin", "*").head("Access-Control-Max-Age", "600")
		}
		preflight("GET", "/events", "x-requested-with, authorization").head("Access-Control-Allow-Headers", allow+", x-requested-with")
		methods, collection := "GET, HEAD, OPTIONS", "GET, HEAD, OPTIONS"
		if good {
			methods, collection = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS", "GET, HEAD, POST, OPTIONS"
		}
		preflight("PATCH", made.Path(), "x-requested-with").head("Access-Control-Allow-Headers", allow).head("Access-Control-Allow-Methods", methods)
		preflight("POST", "/events", "content-type").head("Access-Control-Allow-Headers", allow).head("Access-Control-Allow-Methods", collection)
	}
	caller.update(made, nil).head("Access-Control-Allow-Origin", "")
}

func positions(scene *scene) {
	scene = scene.alone(world.Options{Wait: 150 * time.Millisecond})
	ed, nobody := scene.editor, scene.nobody
	first := ed.event("Quay", nil)
	at := first.position()
	nobody.with("Daybook-Min-Position", at).list("events").found(first).head("Daybook-Position", at)
	ed.list("events").found(first).head("Daybook-Position", at)
	// An event with inline records makes several entries; its position is the last.
	second := ed.event("Sea", obj{"venue": obj{"venue": "Hall"}, "tags": "tide"})
	nobody.with("Daybook-Min-Position", second.position()).list("venues").field("total", 1)
	gone := ed.remove(first)
	nobody.with("Daybook-Min-Position", gone.position()).list("events").found(second)
	for _, c := range []*caller{nobody, ed} {
		c.with("Daybook-Min-Position", "99999999").get("/events").code(503, "rest_position_not_reached").head("Retry-After", "2")
		c.with("Daybook-Min-Position", strings.Repeat("9", 40)).get("/tags").code(503, "rest_position_not_reached")
		for _, bad := range []string{"x", "-1", "1.5", " 1 2"} {
			c.with("Daybook-Min-Position", bad).get("/events").bad("Daybook-Min-Position").field("data.details", list{})
			c.with("Daybook-Min-Position", bad).get("/events?page=0").bad("Daybook-Min-Position", "page")
			c.with("Daybook-Min-Position", bad).read(second) // ignored elsewhere
			c.with("Daybook-Min-Position", bad).read("/doc")
		}
		c.with("Daybook-Min-Position", "").read("/events")
		c.with("Daybook-Min-Position", "99999999").read(second)
		// The page comes after the position.
		c.with("Daybook-Min-Position", "99999999").get("/events?page=99").code(503, "rest_position_not_reached")
	}
	ed.with("Daybook-Min-Position", "x").update(second, nil)

	// While the feed is held back, single reads are new and anonymous lists old.
	shown := ed.list("events").found(second).position()
	release := scene.svc.hold()
	third := ed.event("Third", nil)
	nobody.read(third).field("title", "Third")
	nobody.read(third.bySlug()).field("id", third.ID())
	nobody.with("Daybook-Min-Position", "").list("events").found(second).head("Daybook-Position", shown)
	nobody.with("Daybook-Min-Position", third.position()).get("/events").code(503, "rest_position_not_reached")
	ed.list("events").found(second).head("Daybook-Position", shown) // waits in vain, then answers what it has
	release()
	nobody.list("events").found(second, third).head("Daybook-Position", third.position())
	ed.list("events").found(second, third)
}
