package e2e

import (
	"encoding/base64"
	"net/url"
	"strings"
)

// Lines 43 to 50 and 56: who may do what.

func statusFilter(scene *scene) {
	text := newWord()
	statuses := []string{"publish", "future", "draft", "pending", "private"}
	for _, collection := range posts {
		made := map[string]map[string]*answer{}
		for _, who := range []string{"contributor", "author", "editor"} {
			made[who] = map[string]*answer{}
			for _, status := range append(statuses, "trash") {
				more := obj{"status": status}
				switch status {
				case "future":
					more["date"] = "2027-01-01"
				case "trash":
					more["status"] = "draft"
				}
				maker := scene.as(who)
				if who == "contributor" {
					maker = scene.editor
					more["author"] = scene.svc.User("contributor").User
				}
				a := maker.create(collection, body(collection, text+" "+who+" "+status, more))
				if status == "trash" {
					maker.remove(a)
				}
				made[who][status] = a
			}
		}
		total := func(who, status string, want int) {
			scene.t.Helper()
			params := []string{"search", text, "per_page", "100"}
			if status != "" {
				params = append(params, "status", status)
			}
			scene.as(who).list(collection, params...).field("total", want)
		}
		for _, who := range []string{"nobody", "subscriber"} {
			total(who, "publish", 3)
			for _, status := range []string{"draft", "publish,draft", "trash", "any", ""} {
				scene.as(who).get("/" + collection + pairs("status", status)).bad("status")
			}
			scene.as(who).get("/" + collection + "?status[]=publish&status[]=draft").bad("status")
		}
		for _, who := range []string{"contributor", "author"} {
			total(who, "publish", 3) // published posts of all
			for _, status := range append(statuses[1:], "trash") {
				scene.as(who).list(collection, "search", text, "status", status).found(made[who][status])
			}
			total(who, allStatuses, 8)
			total(who, "", 7) // 3 published, 4 own others, no trash
		}
		for _, who := range []string{"editor", "auditor"} {
			for _, status := range append(statuses, "trash") {
				total(who, status, 3)
			}
			total(who, "", 15)
			total(who, allStatuses, 18)
			scene.as(who).get("/" + collection + pairs("status", "foo")).bad("status")
		}
		// Trashed records are listed as what they are.
		scene.editor.list(collection, "search", text+" author trash", "status", "trash").field(collection+".0.status", "trash")
	}
}

func unknownRecords(scene *scene) {
	caller := scene.editor
	event := caller.event(newWord(), nil)
	tag := caller.add("tags", newWord())
	gone := caller.add("tags", newWord())
	caller.remove(gone)
	for _, collection := range collections {
		alien := event
		if collection == "events" {
			alien = tag
		}
		paths := []string{"/99999999", "/0", "/" + alien.ID().String(), "/" + scene.svc.User("editor").User.String(), "/00", "/99999999999999999999999"}
		if collection != "categories" && collection != "tags" {
			paths = append(paths, "/by-slug/no-"+newWord(), "/by-slug/"+newWord()+"__trashed", "/by-slug/%F0%9F%98%80")
		} else {
			paths = append(paths, "/"+gone.ID().String())
		}
		for _, text := range paths {
			for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
				caller.do(method, "/"+collection+text, obj{}).code(404, notFound(collection))
				caller.under("fr").do(method, "/"+collection+text, nil).code(404, notFound(collection))
			}
			scene.nobody.get("/"+collection+text).code(404, notFound(collection))
			caller.do("HEAD", "/"+collection+text, nil).want(404)
		}
		for _, text := range []string{"/-1", "/1x", "/x", "/by-slug", "/by-slug/a/b", "/1/2"} {
			caller.get("/"+collection+text).code(404, "rest_no_route")
			caller.do("DELETE", "/"+collection+text, nil).code(404, "rest_no_route")
		}
	}
	caller.get("/tags/by-slug/"+tag.String("slug")).code(404, "rest_no_route")
	caller.read(event).field("status", "publish") // nothing of this touched it
}

func rightsBeforeValues(scene *scene) {
	for _, collection := range collections {
		foreign := scene.as("author").create
		if collection == "tags" {
			foreign = scene.editor.create
		}
		made := foreign(collection, body(collection, newWord(), nil))
		check := scene.editor.unchanged(made)
		bad := obj{nameField(collection): "", "description": 5, "multilang_language": "de"}
		for _, value := range []any{bad, raw{"application/json", "{"}, obj{}} {
			for _, method := range updateMethods {
				scene.nobody.do(method, made.Path(), value).code(401, "rest_forbidden").
					head("WWW-Authenticate", `Basic realm="daybook", charset="UTF-8" | Bearer realm="daybook"`)
				for _, who := range []string{"subscriber", "auditor"} {
					scene.as(who).do(method, made.Path(), value).code(403, "rest_forbidden")
				}
			}
			scene.nobody.post("/"+collection, value).code(401, "rest_forbidden")
			scene.as("subscriber").post("/"+collection, value).code(403, "rest_forbidden")
			scene.nobody.delete("/"+collection+"/99999999").code(401, "rest_forbidden")
			scene.as("subscriber").delete("/"+collection+"/99999999").code(403, "rest_forbidden")
		}
		if collection == "categories" || collection == "tags" {
			scene.as("contributor").patch(made, bad).code(403, "rest_forbidden")
			if collection == "tags" {
				scene.as("author").patch(made, bad).code(403, "rest_forbidden")
				scene.as("author").post("/tags", obj{"name": newWord()}).code(403, "rest_forbidden")
				scene.as("author").delete(made).code(403, "rest_forbidden")
			}
		} else {
			// A bad value comes before the unknown record, and that before the right on it.
			for _, who := range []string{"contributor", "other-author"} {
				scene.as(who).patch(made, bad).bad(nameField(collection), "description", "multilang_language")
				scene.as(who).patch("/"+collection+"/99999999", bad).bad(nameField(collection), "description", "multilang_language")
				scene.as(who).patch("/"+collection+"/99999999", nil).code(404, notFound(collection))
				scene.as(who).with("If-Match", `"9-9"`).patch(made, nil).code(403, "rest_forbidden")
				scene.as(who).delete(made).code(403, "rest_forbidden")
			}
		}
		check()
	}
}

func wrongCredentials(scene *scene) {
	token := scene.svc.User("editor").Token
	basic := func(text string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(text)) }
	made := scene.editor.event(newWord(), nil)
	for _, c := range []struct{ header, code string }{
		{basic("nobody-here:" + token), "invalid_username"},
		{basic("editor:wrong"), "incorrect_password"},
		{basic("author:" + token), "incorrect_password"},
		{"Bearer wrong", "incorrect_password"},
		{"Bearer " + token + "x", "incorrect_password"},
		{"Digest " + token, "rest_invalid_credentials"},
		{"Token " + token, "rest_invalid_credentials"},
		{"Basic !!!", "rest_invalid_credentials"},
		{basic("no colon"), "rest_invalid_credentials"},
		{token, "rest_invalid_credentials"},
		{"Basic", "rest_invalid_credentials"},
	} {
		for _, p := range []struct{ method, path string }{
			{"GET", ""},
			{"GET", "/doc"},
			{"GET", "/events"},
			{"GET", "/events?page=0"},
			{"GET", made.Path()},
			{"GET", made.bySlug()},
			{"GET", "/events/99999999"},
			{"POST", "/events"},
			{"PATCH", made.Path()},
			{"DELETE", made.Path()},
			{"GET", "/tags"},
			{"POST", "/venues"},
		} {
			got := scene.nobody.with("Authorization", c.header).do(p.method, p.path, nil).code(401, c.code)
			got.head("WWW-Authenticate", `Basic realm="daybook", charset="UTF-8" | Bearer realm="daybook"`).head("Cache-Control", "no-store, private")
		}
		scene.nobody.with("Authorization", c.header).do("HEAD", "/events", nil).want(401)
	}
	for _, header := range []string{basic("editor:" + token), "Bearer " + token, "bEARER " + token, "basic " + basic("editor:" + token)[6:]} {
		got := scene.nobody.with("Authorization", header).event(newWord(), obj{"status": "draft"})
		got.field("author", scene.svc.User("editor").User.String()).head("WWW-Authenticate", "").head("Cache-Control", "no-store, private")
	}
	scene.nobody.read(made).head("Cache-Control", "public, no-cache")
	scene.editor.read(made).field("status", "publish")
}

func missingAlone(scene *scene) {
	caller := scene.editor
	missing := func(a *answer, names ...string) {
		scene.t.Helper()
		a.code(400, "rest_missing_callback_param").field("data", obj{"status": 400, "params": names})
	}
	missing(caller.post("/events", obj{"website": "nonsense", "featured": "maybe"}), "title", "start_date", "end_date")
	missing(caller.post("/events", obj{"title": newWord(), "end_date": "x"}), "start_date")
	missing(caller.post("/events", obj{"title": nil, "start_date": "2026-06-10", "end_date": nil}), "title", "end_date")
	missing(caller.post("/events", nil), "title", "start_date", "end_date")
	missing(caller.post("/venues", obj{"website": "nonsense"}), "venue")
	missing(caller.post("/organizers", obj{"email": "nonsense"}), "organizer")
	missing(caller.post("/categories", obj{"parent": "x"}), "name")
	missing(caller.post("/tags", obj{"parent": 5}), "name")
	missing(caller.under("fr").post("/tags", obj{}), "name")
	// Empty is not missing.
	caller.post("/events", obj{"title": "", "start_date": "", "end_date": ""}).bad("title", "start_date", "end_date").field("data.details", list{})

	made := caller.event(newWord(), nil)
	caller.patch(made, obj{"title": nil, "start_date": nil, "end_date": ""}).bad("title", "start_date", "end_date")
	got := caller.patch(made, obj{
		"website": "nonsense", "featured": "maybe", "cost": obj{}, "status": "trash", "tags": 99999999, "image": "x", "author": 99999999, "title": 5,
		"multilang_language": "de",
	}).bad("website", "featured", "cost", "status", "tags", "image", "author", "title", "multilang_language")
	for name, code := range map[string]string{
		"featured": "rest_invalid_type", "title": "rest_invalid_type", "multilang_language": "rest_not_in_enum",
	} {
		got.field("data.details."+name+".code", code).field("data.details."+name+".data.param", name).having("data.details." + name + ".message")
	}
	got.without("data.details.website", "data.details.tags", "data.details.author", "data.details.image")
	caller.patch(made, obj{"website": "nonsense"}).bad("website").field("data.details", list{})
	caller.post("/organizers", obj{"organizer": newWord(), "email": "a b@c.d", "website": "ftp://x"}).bad("email", "website")
	for _, mail := range []string{"a", "a@b", "a@@b.c", `"a"@b.c`, "a@b.c (x)", "a@.c", "@b.c", strings.Repeat("a", 250) + "@b.example"} {
		caller.post("/organizers", obj{"organizer": newWord(), "email": mail}).bad("email")
	}
}

func bySlugRights(scene *scene) {
	for _, collection := range posts {
		made := scene.as("author").add(collection, newWord())
		other := scene.as("author").add(collection, newWord())
		check, checkOther := scene.editor.unchanged(made), scene.editor.unchanged(other)
		for who, status := range map[string]int{"nobody": 401, "subscriber": 403, "contributor": 403, "other-author": 403, "auditor": 403} {
			for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
				scene.as(who).do(method, made, obj{"description": "x"}).code(status, "rest_forbidden")
				scene.as(who).do(method, made.bySlug()+"?id="+other.ID().String(), obj{"id": other.ID()}).code(status, "rest_forbidden")
			}
		}
		check()
		// An id or slug next to the path never changes which record is meant.
		mine := scene.as("other-author").add(collection, newWord())
		author2 := scene.as("other-author")
		for _, path := range []string{mine.Path(), mine.bySlug()} {
			for _, more := range []string{"?id=" + made.ID().String(), "?id=99999999"} {
				author2.do("POST", path+more, obj{"id": made.ID(), "description": "Mine"}).want(200).field("id", mine.ID())
				author2.do("PUT", path+more, url.Values{"id": {made.ID().String()}}).want(200).field("id", mine.ID())
				author2.read(path+more).field("id", mine.ID())
			}
		}
		check()
		scene.nobody.read(made.Path()+"?slug="+mine.String("slug")).field("id", made.ID())
		scene.nobody.read(made.bySlug()+"?slug="+mine.String("slug")).field("id", made.ID())
		// A slug in the body renames; one that is taken gets a number.
		fresh := newWord()
		renamed := author2.do("PATCH", mine.bySlug(), obj{"slug": fresh, "id": other.ID()}).want(200).fields(obj{"id": mine.ID(), "slug": fresh})
		author2.get(mine.bySlug()).code(404, notFound(collection))
		author2.do("PATCH", renamed.bySlug(), obj{"slug": made.String("slug")}).want(200).field("slug", made.String("slug")+"-2")
		scene.nobody.read(made.bySlug()).field("id", made.ID())
		author2.update(mine.Path()+"?slug="+fresh, nil).field("slug", fresh)
		check()
		checkOther()
		// DELETE takes no id from elsewhere.
		author2.do("DELETE", "/"+collection+"/by-slug/"+fresh+"?id="+other.ID().String(), obj{"id": other.ID()}).want(200).field("id", mine.ID())
		checkOther()
	}
}

func contributors(scene *scene) {
	caller, ed := scene.as("contributor"), scene.editor
	me := scene.svc.User("contributor").User.String()
	for _, collection := range posts {
		for sent, want := range map[string]string{
			"publish": "pending", "future": "pending", "draft": "draft", "pending": "pending", "private": "private",
		} {
			caller.create(collection, body(collection, newWord(), obj{"status": sent, "date": "2027-01-01"})).field("status", want).field("author", me)
			made := caller.add(collection, newWord()).field("status", "draft")
			caller.update(made, obj{"status": sent}).field("status", want)
		}
		// Own published and scheduled posts are closed, to delete too.
		for _, status := range []string{"publish", "future"} {
			made := caller.add(collection, newWord())
			more := obj{"status": status}
			if status == "future" {
				more["date"] = "2027-01-01"
			}
			ed.update(made, more).field("status", status).field("author", me)
			check := ed.unchanged(made)
			for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
				caller.do(method, made.Path(), obj{"description": "x"}).code(403, "rest_forbidden")
			}
			caller.patch(made, obj{"status": "draft"}).code(403, "rest_forbidden")
			caller.read(made).field("status", status)
			check()
			ed.update(made, obj{"status": "private"})
			caller.update(made, obj{"description": "x"}).field("status", "private")
			caller.remove(made).field("status", "trash")
			caller.update(made, nil).field("status", "private") // it counts with its former status
		}
		// A trashed post that was published stays closed.
		closed := caller.add(collection, newWord())
		ed.update(closed, obj{"status": "publish"})
		ed.remove(closed)
		caller.patch(closed, nil).code(403, "rest_forbidden")
		// Authors and images of others.
		for _, who := range []string{"contributor", "author"} {
			scene.as(who).post("/"+collection, body(collection, newWord(), obj{"author": scene.svc.User("editor").User})).bad("author")
			scene.as(who).create(collection, body(collection, newWord(), obj{"author": scene.svc.User(who).User}))
		}
		ed.create(collection, body(collection, newWord(), obj{"author": me})).field("author", me)
		ed.post("/"+collection, body(collection, newWord(), obj{"author": 99999999})).bad("author")
		known := ed.create(collection, body(collection, newWord(), obj{"image": "https://img.example/known.png"}))
		caller.post("/"+collection, body(collection, newWord(), obj{"image": "https://img.example/known.png"})).bad("image")
		caller.create(collection, body(collection, newWord(), obj{"image": known.Int("image.id")})).field("image", known.Get("image"))
		scene.as("author").create(collection, body(collection, newWord(), obj{"image": "https://img.example/known.png"})).field("image", known.Get("image"))
	}
	// Inline records scale too.
	w := newWord()
	made := caller.event(newWord(), obj{"venue": obj{"venue": w, "status": "publish"}, "organizer": obj{"organizer": w}})
	made.field("venue.status", "pending").field("organizer.0.status", "draft")
	scene.as("other-editor").list("venues", "search", w).field("venues.0.author", me)
}
