package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"daybook/internal/testkit/world"
)

// Lines 59 and 60: preconditions, keys, errors and the documentation.

func preconditionsAndKeys(scene *scene) {
	preconditions(scene)
	keys(scene)
	notModified(scene.alone(world.Options{})) // any write gives lists another ETag
}

func preconditions(scene *scene) {
	caller := scene.editor
	for _, collection := range collections {
		made := caller.add(collection, newWord())
		path := made.Path()
		stale := made.ETag()
		fresh := caller.update(path, obj{"description": "1"}).ETag()
		check := caller.unchanged(path)
		for _, tag := range []string{stale, "W/" + stale, `"1-x"`, `"7-x", "9-y"`, `"0-a"`, "nonsense", `"nonsense"`} {
			for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
				caller.with("If-Match", tag).do(method, path, obj{"description": "lost"}).code(412, "rest_precondition_failed")
			}
		}
		check()
		for i, tag := range []string{fresh, `"3-other"`, `W/"4-x"`, `"1-a", "5-b"`, "*"} {
			got := caller.with("If-Match", tag).update(path, obj{"description": "1"})
			if !strings.HasPrefix(got.ETag(), `"`+fmt.Sprint(i+3)+"-") {
				scene.t.Errorf("%s: If-Match %s gave ETag %s", got.Request, tag, got.ETag())
			}
			read := caller.read(path)
			if read.ETag() != got.ETag() {
				scene.t.Errorf("%s: ETag of the write %s, of the read %s", got.Request, got.ETag(), read.ETag())
			}
		}
		// On a collection it is ignored, so is an empty one.
		caller.with("If-Match", stale).add(collection, newWord())
		caller.with("If-Match", "*").remove(path)
	}
	// Of writers that name one version one wins.
	made := caller.event(newWord(), nil)
	var (
		group sync.WaitGroup
		got   [8]int
	)
	for i := range got {
		group.Go(func() {
			got[i] = caller.with("If-Match", made.ETag()).patch(made, obj{"cost": i + 1}).Status
		})
	}
	group.Wait()
	slices.Sort(got[:])
	if got[0] != 200 || got[1] != 412 || got[7] != 412 {
		scene.t.Errorf("eight writers on one version: %v", got)
	}
}

func keys(scene *scene) {
	caller := scene.editor
	for _, collection := range collections {
		text := newWord()
		key := "key-" + text
		sent := body(collection, text, nil)
		first := caller.with("Idempotency-Key", key).create(collection, sent).head("Idempotency-Replayed", "")
		// The record changes; the answer is that of the first time.
		caller.update(first, obj{"description": "later"})
		again := caller.with("Idempotency-Key", key).create(collection, sent).head("Idempotency-Replayed", "true")
		same(scene.t, first, again)
		for _, name := range []string{"ETag", "Daybook-Position", "Location"} {
			again.head(name, first.Header.Get(name))
		}
		caller.counting(collection, text, 1)
		reused := func(a *answer) { a.code(422, "rest_idempotency_key_reused") }
		reused(caller.with("Idempotency-Key", key).post("/"+collection, body(collection, text+" other", nil)))
		reused(caller.with("Idempotency-Key", key).post("/"+collection+"?description=x", sent))
		reused(caller.under("fr").with("Idempotency-Key", key).post("/"+collection, sent))
		reused(caller.with("Idempotency-Key", key).patch(first, sent))
		caller.counting(collection, text, 1)
		// Keys belong to one user.
		other := scene.as("other-editor").with("Idempotency-Key", key).add(collection, text+" other")
		if other.ID() == first.ID() {
			scene.t.Errorf("%s: one record for the keys of two users", collection)
		}
		// Updates.
		one := caller.with("Idempotency-Key", key+"u").update(first, obj{"description": "keyed"})
		two := caller.with("Idempotency-Key", key+"u").update(first, obj{"description": "keyed"}).head("Idempotency-Replayed", "true")
		same(scene.t, one, two)
		two.head("ETag", one.ETag()).head("Daybook-Position", one.position())
		reused(caller.with("Idempotency-Key", key+"u").do("PUT", first, obj{"description": "keyed"}))
		// Refused requests are not kept.
		caller.with("Idempotency-Key", key+"r").post("/"+collection, obj{}).code(400, "rest_missing_callback_param")
		caller.with("Idempotency-Key", key+"r").add(collection, newWord()).head("Idempotency-Replayed", "")
		// On DELETE it is ignored.
		caller.with("Idempotency-Key", key).remove(first).head("Idempotency-Replayed", "")
	}
	// Bad keys; an empty one counts as not sent.
	for _, bad := range []string{strings.Repeat("k", 256), "käse", "a\tb"} {
		caller.with("Idempotency-Key", bad).post("/tags", obj{"name": newWord()}).bad("Idempotency-Key")
	}
	caller.with("Idempotency-Key", "bad\tkey").post("/organizers", obj{"organizer": newWord(), "email": "no"}).bad("Idempotency-Key", "email")
	caller.with("Idempotency-Key", strings.Repeat("k", 255)).add("tags", newWord())
	caller.with("Idempotency-Key", "").add("tags", newWord())
	// Requests at the same time write once.
	text := newWord()
	var (
		group sync.WaitGroup
		got   [6]*answer
	)
	for i := range got {
		group.Go(func() {
			got[i] = caller.with("Idempotency-Key", "rush-"+text).post("/events", eventBody(text, obj{"venue": obj{"venue": text}}))
		})
	}
	group.Wait()
	for _, a := range got {
		a.want(201)
		same(scene.t, got[0], a)
	}
	caller.counting("events", text, 1)
	caller.counting("venues", text, 1)
}

func notModified(scene *scene) {
	ed := scene.editor
	text := newWord()
	tag := ed.add("tags", text)
	venue := ed.add("venues", text)
	made := ed.event(text, obj{"tags": tag.ID(), "venue": venue.ID()})
	ed.list("tags", "search", text).field("tags.0.count", 1) // reads of the event show it, too
	scene.svc.settle()
	fits := func(c *caller, path, etag string) {
		scene.t.Helper()
		for _, sent := range []string{etag, "W/" + strings.TrimPrefix(etag, "W/"), `"other", ` + etag, "*"} {
			for _, method := range []string{"GET", "HEAD"} {
				got := c.with("If-None-Match", sent).do(method, path, nil).want(304).head("ETag", etag)
				if len(got.Body) > 0 {
					scene.t.Errorf("%s: 304 with a body", got.Request)
				}
			}
		}
		c.with("If-None-Match", `"other", "1-1"`).read(path).head("ETag", etag)
	}
	for _, c := range []*caller{scene.nobody, ed, ed.under("fr")} {
		for _, path := range []string{made.Path(), made.bySlug(), venue.Path(), tag.Path(), "", "/doc", "/events?search=" + text, "/tags?hide_empty=0&search=" + text} {
			first := c.read(path)
			fits(c, path, first.ETag())
			if strings.Contains(path, "?") || path == "" || path == "/doc" {
				if !strings.HasPrefix(first.ETag(), `W/"`) {
					scene.t.Errorf("%s: ETag %s is not weak", first.Request, first.ETag())
				}
			} else if !strings.HasPrefix(first.ETag(), `"1-`) || first.Header.Get("Last-Modified") != "Fri, 01 May 2026 12:00:00 GMT" {
				scene.t.Errorf("%s: ETag %s, Last-Modified %q", first.Request, first.ETag(), first.Header.Get("Last-Modified"))
			}
		}
	}
	// The mark changes with all that the answer depends on.
	path := made.Path()
	seen := map[string]string{}
	differs := func(what string, a *answer) {
		scene.t.Helper()
		if before, there := seen[a.ETag()]; there {
			scene.t.Errorf("ETag %s for %s and for %s", a.ETag(), before, what)
		}
		seen[a.ETag()] = what
	}
	list := "/events?search=" + text
	differs("plain", scene.nobody.read(path))
	differs("under fr", scene.nobody.under("fr").read(path))
	differs("in es", scene.nobody.read(path+"?multilang_language=es"))
	differs("fields", scene.nobody.read(path+"?_fields=id"))
	differs("list", scene.nobody.read(list))
	ed.update(venue, obj{"city": "Ghent"})
	differs("another embedded record", scene.nobody.read(path))
	differs("list after it", scene.nobody.read(list))
	ed.event(newWord(), obj{"tags": tag.ID()})
	ed.list("tags", "search", text).field("tags.0.count", 2) // the count has followed
	differs("another count", scene.nobody.read(path))
	ed.update(path, nil)
	differs("another version", scene.nobody.read(path))
	differs("list after that", scene.nobody.read(list))
	// If-Modified-Since is not evaluated; If-None-Match does nothing on writes.
	scene.nobody.with("If-Modified-Since", "Fri, 01 May 2037 12:00:00 GMT").read(path)
	ed.with("If-None-Match", "*").update(path, nil)
	scene.nobody.with("If-None-Match", "*").get("/events/99999999").want(404)
	scene.nobody.with("If-None-Match", "*").get("/events?page=9&search=" + text).want(404)
	scene.nobody.with("If-None-Match", "*").get("/events?page=0").want(400)
}

func errorsAndDocumentation(scene *scene) {
	ed := scene.editor
	venue := ed.add("venues", newWord())
	ed.remove(venue)
	tag := ed.add("tags", newWord())
	ask := func(c *caller) []*answer {
		return []*answer{
			c.get("/nothing"), c.do("PUT", "/events", nil), c.get("/events?page=0&featured=x"), c.get("/events/99999999"),
			c.delete(venue), c.post("/events", nil), c.post("/events", raw{"application/json", "{"}),
			c.post("/tags", obj{"name": tag.String("name")}), c.post("/tags", obj{"name": newWord(), "parent": 1}),
			c.get("/tags?namespace=x&search="), c.get("?namespace=other"), c.with("Authorization", "Bearer wrong").get("/events"),
			c.with("If-Match", `"99-x"`).patch(tag, nil), c.get("/events?page=5&search=" + newWord()),
			c.with("Daybook-Min-Position", "x").get("/events"), c.post("/events", raw{"application/json", strings.Repeat(" ", 1<<20+1)}),
		}
	}
	for _, language := range []string{"en", "fr"} {
		plainAnswers := ask(ed.under(language))
		for _, accept := range []string{"application/problem+json", "text/html, application/problem+json;q=0.9"} {
			for i, problem := range ask(ed.under(language).with("Accept", accept)) {
				p := plainAnswers[i]
				if p.Status < 400 {
					scene.t.Fatalf("%s: status %d", p.Request, p.Status)
				}
				p.head("Content-Type", "application/json; charset=utf-8").keys("", "code", "message", "data").field("data.status", p.Status)
				problem.want(p.Status)
				if got := problem.Header.Get("Content-Type"); !strings.HasPrefix(got, "application/problem+json") {
					scene.t.Errorf("%s: Content-Type %s", problem.Request, got)
				}
				path := strings.Fields(problem.Request)
				instance, _, _ := strings.Cut(path[len(path)-1], "?")
				want := obj{
					"type": "urn:daybook:error:" + p.String("code"), "title": http.StatusText(p.Status), "status": p.Status,
					"detail": p.Get("message"), "code": p.Get("code"), "instance": instance,
				}
				for name, value := range p.Get("data").(obj) {
					if name != "status" {
						want[name] = value
					}
				}
				if p.String("code") == "rest_taxonomy_not_hierarchical" || p.String("code") == "term_exists" {
					want["detail"] = problem.Get("detail")
				}
				problem.field("", want)
			}
		}
	}
	ed.post("/tags", obj{"name": strings.ToUpper(tag.String("name"))}).code(400, "term_exists").field("data", obj{"status": 400, "term_id": tag.ID()})
	ed.post("/events", raw{"application/json", "{"}).code(400, "rest_invalid_json").field("data.json_error_code", 4).having("data.json_error_message")
	// What it says of each operation, httpapi has in golden files; answers are held against it throughout.
	for _, language := range []string{"en", "fr"} {
		url := scene.svc.Base + map[string]string{"fr": "/fr"}[language] + root
		scene.nobody.under(language).read("/doc?x=1").head("Content-Language", language).fields(obj{"openapi": "3.1.0", "info.version": "1.0.0", "servers": list{obj{"url": url}}}).
			having("info.title", "info.description", "components.securitySchemes.basic", "components.securitySchemes.bearer")
	}
}
