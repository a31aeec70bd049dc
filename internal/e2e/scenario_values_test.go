package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Order of checks, bodies, values, slugs, dates, images, limits.

func orderOfChecks(scene *scene) {
	caller, author := scene.editor, scene.as("author")
	long := "/events?search=" + strings.Repeat("x", 17<<10)
	wrong := scene.nobody.with("Authorization", "Bearer wrong")
	// Reads: 1 route, 2 credentials, 3 parameters, 4 record, 5 rights, 6 position, page, 304.
	wrong.get(long).code(414, "rest_uri_too_long")
	wrong.get("/nothing").code(404, "rest_no_route")
	wrong.do("PUT", "/events", nil).code(405, "rest_method_not_allowed")
	wrong.get("/events/99999999?multilang_language=de").code(401, "incorrect_password")
	scene.nobody.get("/events/99999999?multilang_language=de").bad("multilang_language")
	draft := author.event(newWord(), obj{"status": "draft"})
	scene.nobody.get(draft.Path() + "?multilang_language=de").bad("multilang_language")
	scene.nobody.with("If-None-Match", "*").get(draft).code(403, "event-not-accessible")
	scene.nobody.with("If-None-Match", "*").get("/events?page=5&search="+newWord()).code(404, "event-archive-page-not-found")
	// Writes: route, credentials, general right, body, missing, key, values, record, right, If-Match, handler.
	caller.post("/events", raw{"application/json", strings.Repeat(" ", 1<<20+1)}).code(413, "rest_body_too_large")
	caller.with("Idempotency-Key", "ä").post("/events?multilang_language=de", raw{"application/json", "{"}).code(400, "rest_invalid_json")
	caller.with("Idempotency-Key", "ä").post("/events?multilang_language=de", obj{"featured": "x"}).code(400, "rest_missing_callback_param")
	caller.with("Idempotency-Key", "ä").post("/events?multilang_language=de", eventBody("", obj{"end_date": "2020-01-01", "tags": 99999999})).
		bad("Idempotency-Key", "multilang_language", "title", "end_date", "tags")
	key := "order-" + newWord()
	tag := caller.with("Idempotency-Key", key).add("tags", newWord())
	caller.with("Idempotency-Key", key).patch("/tags/99999999", nil).code(422, "rest_idempotency_key_reused")
	caller.with("Idempotency-Key", key).post("/tags", obj{"description": 5}).code(400, "rest_missing_callback_param")
	author.with("If-Match", `"99-x"`).patch("/events/99999999", nil).code(404, "rest-event-not-found")
	foreign := caller.event(newWord(), nil)
	author.with("If-Match", `"99-x"`).patch(foreign, obj{"end_date": "2020-01-01"}).code(403, "rest_forbidden")
	caller.with("If-Match", `"99-x"`).patch(foreign, obj{"end_date": "2020-01-01"}).code(412, "rest_precondition_failed")
	caller.patch(foreign, obj{"end_date": "2020-01-01"}).bad("end_date")
	caller.with("If-Match", `"99-x"`).patch(tag, obj{"parent": 5}).code(412, "rest_precondition_failed")
	caller.patch(tag, obj{"parent": 5}).code(400, "rest_taxonomy_not_hierarchical")
	caller.patch("/tags/99999999", obj{"parent": 5}).code(404, "tag-not-found")
	caller.remove(foreign)
	caller.with("If-Match", `"99-x"`).delete(foreign).code(412, "rest_precondition_failed")
	author.delete(foreign).code(403, "rest_forbidden")
}

func bodies(scene *scene) {
	caller := scene.editor
	made := caller.event(newWord(), obj{"categories": newWord()})
	path := made.Path()
	title := func(want string, a *answer) { scene.t.Helper(); a.want(200).field("title", want) }
	a, b := newWord(), newWord()
	title(a, caller.do("PATCH", path, raw{"application/json", `{"title":"` + a + `"}`}))
	title(b, caller.do("PATCH", path, raw{"application/ld+json; charset=utf-8", `{"title":"` + b + `"}`}))
	title(a, caller.do("PATCH", path, raw{"", `{"title":"` + a + `"}`}))
	title(b, caller.do("PATCH", path, raw{"Application/JSON; charset=UTF-8", `{"title":"lost","title":"` + b + `"}`})) // of equal keys the last
	title(a, caller.do("PATCH", path, url.Values{"title": {"lost", a}}))                                               // of equal names too
	for _, form := range []any{url.Values{"cost": {"$5,50", "$10"}}, raw{"text/plain", ""}} {                          // of a list all, which the documentation says of costs
		caller.do("PATCH", path+"?cost=%245,50&cost=%2410", form).want(200).field("cost", "$5,50 – $10")
		caller.patch(path, obj{"cost": ""}).field("cost", "")
	}
	title(b, caller.do("PATCH", path, raw{
		"multipart/form-data; boundary=x",
		"--x\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\n" + b + "\r\n--x\r\nContent-Disposition: form-data; name=\"description\"; filename=\"a.txt\"\r\n\r\nfile\r\n--x--\r\n",
	}))
	caller.read(path).field("description", "")                                                          // a file part is ignored
	title(b, caller.do("PATCH", path, raw{"text/plain", `{"title":"lost"}`}))                           // so is a body of another type
	title(a, caller.do("PATCH", path+"?title="+a, nil))                                                 // body fields in the query
	title(b, caller.do("PATCH", path+"?title="+a, obj{"title": b}))                                     // the body wins
	title(b, caller.do("PATCH", path+"?&&unknown=1&", obj{"unknown": obj{"x": 1}, "url": 5, "id": -1})) // unknown and computed names
	title(a, caller.do("PATCH", path+"?title=lost&title="+a, raw{"text/xml", "<x/>"}))
	caller.do("DELETE", caller.add("tags", newWord()).Path(), raw{"application/json", "{"}).want(200) // ignored on DELETE
	check := caller.unchanged(path)
	for _, broken := range []string{"{", "[]", `"x"`, "null", "1", `{"title":"a"} x`, `{"title":}`, "{'title':'x'}", "\xff", "{\"title\":\"\xc3\x28\"}"} {
		for _, target := range []string{path, "/events/99999999"} {
			caller.do("PATCH", target, raw{"application/json", broken}).code(400, "rest_invalid_json").
				field("data.json_error_code", 4).having("data.json_error_message").lacks("goroutine", "unmarshal", "Go ")
		}
		caller.post("/events", raw{"application/json", broken}).code(400, "rest_invalid_json")
	}
	caller.do("PATCH", path, raw{"multipart/form-data; boundary=x", "--x\r\nbroken"}).want(400)
	check()
	// There is no method override.
	caller.with("X-HTTP-Method-Override", "DELETE").do("POST", path+"?_method=DELETE", obj{"_method": "DELETE"}).want(200).field("status", "publish")
	// A body on GET is ignored.
	caller.do("GET", path, obj{"multilang_language": "de", "password": 5}).want(200)
}

// scalars: what a spelling of a value means; httpapi tries which are taken, of every field.
func scalars(scene *scene) {
	caller := scene.editor
	event := caller.event(newWord(), nil)
	for sent, want := range map[any]bool{true: true, 1: true, "1": true, "YES": true, "On": true, 0: false, "False": false, "no": false, "OFF": false} {
		caller.update(event, obj{"featured": !want}).field("featured", !want)
		caller.update(event, obj{"featured": sent}).field("featured", want)
	}
	author := scene.svc.User("other-author").User.String()
	for _, good := range []string{`"` + author + `"`, author + ".0", author + "e0"} {
		caller.do("PATCH", event, raw{"application/json", `{"author":` + good + `}`}).want(200).field("author", author)
	}
	caller.patch(event, obj{"post_parent": event.ID()}).bad("post_parent")
	// An array for a parameter that is no list.
	for _, param := range []string{"page", "search", "start_date", "featured"} {
		scene.nobody.get("/events?" + param + "[]=1").bad(param)
	}
	// Empty parameters of reads that count as not sent.
	scene.nobody.read(event.Path() + "?_fields=&password=").having("title")
	scene.nobody.read("?context=")
	scene.nobody.read("/events?_fields=&search=" + newWord())
}

func costs(scene *scene) {
	caller := scene.editor
	made := caller.event(newWord(), nil)
	data, err := os.ReadFile(filepath.Join("testdata", "costs.json")) // sent, shown, symbol, its position, values
	must(scene.t, err)
	var rows [][5]any
	must(scene.t, json.Unmarshal(data, &rows))
	for _, row := range rows {
		want := obj{"cost": row[1], "cost_details": obj{
			"currency_symbol": row[2], "currency_code": "", "currency_position": row[3], "values": row[4],
		}}
		caller.update(made, obj{"cost": row[0]}).fields(want)
		caller.under("fr").read(made).fields(want)
		caller.list("events", "include", made.ID().String()).field("events.0.cost", row[1])
	}
	caller.update(made, obj{"cost": "5"})
	check := caller.unchanged(made)
	for _, bad := range []any{true, false, obj{"a": 1}, -1, list{-1}, list{true}, list{obj{}}, list{list{"5"}}} {
		caller.patch(made, obj{"cost": bad}).bad("cost")
	}
	check()
}

func limits(scene *scene) {
	caller := scene.editor
	many := make([]string, 1001)
	for i := range many {
		many[i] = fmt.Sprint(i + 1)
	}
	scene.nobody.get("/events?include=" + strings.Join(many, ",")).bad("include")
	scene.nobody.list("events", "include", strings.Join(many[:1000], ",")).head("Link", "") // too long for a header
	scene.nobody.get("/events?search=" + strings.Repeat("x", 501)).bad("search")
	scene.nobody.list("events", "search", strings.Repeat("y", 500)).field("total", 0)
	// Request line and body; the sizes of fields are rows of a table of httpapi.
	made := caller.event(newWord(), nil)
	for _, method := range []string{"GET", "DELETE"} {
		caller.do(method, made.Path()+"?password="+strings.Repeat("x", 256), nil).bad("password")
	}
	caller.do("DELETE", made.Path()+"?password="+strings.Repeat("x", 255), nil).want(200)
	caller.update(made, nil)
	scene.nobody.get("/events?x="+strings.Repeat("x", 16<<10)).code(414, "rest_uri_too_long")
	scene.nobody.read("/events?x=" + strings.Repeat("x", 15<<10))
	caller.update(made, raw{"application/json", `{"title":"` + newWord() + `","x":"` + strings.Repeat("x", 1<<20-100) + `"}`})
	caller.patch(made, raw{"application/json", `{"x":"` + strings.Repeat("x", 1<<20) + `"}`}).code(413, "rest_body_too_large")
	caller.patch(made, raw{"text/plain", strings.Repeat("x", 1<<20+1)}).code(413, "rest_body_too_large")
}

func htmlSafety(scene *scene) {
	const evil = `"><script>evil()</script>`
	// What callers send comes back as data of JSON, never as anything else.
	for _, text := range []string{
		"/events?search=" + url.QueryEscape(evil), "/events?start_date=" + url.QueryEscape(evil), "/tags?slug=" + url.QueryEscape(evil),
		"/events/by-slug/" + url.PathEscape(evil), "/" + url.PathEscape(evil), "/events?categories=" + url.QueryEscape(evil), "?namespace=" + url.QueryEscape(evil),
	} {
		for _, accept := range []string{"application/json", "application/problem+json", "text/html"} {
			got := scene.nobody.with("Accept", accept).get(text).head("X-Content-Type-Options", "nosniff")
			if media := got.Header.Get("Content-Type"); !strings.HasPrefix(media, "application/") || !strings.Contains(media, "json") {
				scene.t.Errorf("%s: Content-Type %s", got.Request, media)
			}
			got.Get(".")
			if link := got.Header.Get("Link"); strings.Contains(link, "script>") {
				scene.t.Errorf("%s: Link %s", got.Request, link)
			}
		}
	}
}
