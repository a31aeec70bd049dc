package e2e

import "strings"

// Lines 57 and 58: languages.

func writeUnderFrench(s *scene) {
	ed := s.editor
	fr := ed.under("fr")
	for _, collection := range collections {
		w := newWord()
		name := nameField(collection)
		more := obj{"description": "English words"}
		post := collection != "categories" && collection != "tags"
		if post {
			more["excerpt"] = "English excerpt"
		}
		made := ed.create(collection, body(collection, "English "+w, more)).fields(obj{"language": "en", "languages": list{"en"}})
		// Before there is French, French shows the home language.
		fr.read(made).fields(obj{name: "English " + w, "language": "en", "languages": list{"en"}}).head("Content-Language", "fr")
		shown := func(text string) string {
			if post {
				return "<p>" + text + "</p>"
			}
			return text
		}
		fr.update(made, obj{name: "Français " + w}).
			fields(obj{name: "Français " + w, "description": shown("English words"), "language": "fr", "languages": list{"en", "fr"}, "slug": made.at("slug")})
		ed.read(made).fields(obj{name: "English " + w, "description": shown("English words"), "language": "en", "languages": list{"en", "fr"}})
		ed.under("es").read(made).fields(obj{name: "English " + w, "language": "en"}).head("Content-Language", "es")
		// Field by field.
		fr.update(made, obj{"description": "Mots"}).field("description", shown("Mots"))
		ed.under("cn").update(made, obj{"description": "词"}).
			fields(obj{name: "English " + w, "language": "en", "description": shown("词"), "languages": list{"en", "cn", "fr"}})
		ed.read(made).field("description", shown("English words"))
		// Clearing removes the text of that language only.
		fr.update(made, obj{"description": ""}).field("description", shown("English words"))
		ed.under("cn").update(made, obj{"description": nil}).field("languages", list{"en", "fr"})
		ed.update(made, obj{"description": ""})
		fr.update(made, obj{"description": "Mots encore"})
		english := ed.read(made).field("languages", list{"en", "fr"})
		if value, there := english.lookup("description"); there && value != "" {
			s.t.Errorf("%s: description %q without an English text", english.request, value)
		}
		// The selector does the same as the root.
		ed.update(made.path()+"?multilang_language=es", obj{name: "Español " + w}).fields(obj{name: "Español " + w, "language": "es"}).
			head("Content-Language", "es")
		ed.update(made, obj{name: "Encore " + w, "multilang_language": "fr"}).field(name, "Encore "+w).head("Content-Language", "fr")
		fr.read(made).field(name, "Encore "+w)
		ed.read(made).field(name, "English "+w).field("languages", list{"en", "fr", "es"})
		fr.patch(made, obj{name: ""}).bad(name)

		// A record that is made under /fr/ has French as its home.
		home := fr.create(collection, body(collection, "Été "+w, obj{"description": "Chaud"})).fields(obj{"language": "fr", "languages": list{"fr"}, "slug": "ete-" + w})
		ed.read(home).fields(obj{name: "Été " + w, "description": shown("Chaud"), "language": "fr"}).head("Content-Language", "en")
		ed.update(home, obj{name: "Summer " + w}).fields(obj{name: "Summer " + w, "languages": list{"fr", "en"}, "slug": "ete-" + w})
		fr.read(home).field(name, "Été "+w)
		ed.under("es").read(home).field(name, "Été "+w) // the home language, not English
	}
	// Other fields are common.
	event := ed.event(newWord(), obj{"cost": "5", "featured": true})
	fr.update(event, obj{"cost": "7", "featured": false, "start_date": "2026-06-10 11:00", "slug": "commun-" + newWord(), "venue": obj{"venue": "Salle " + newWord()}})
	french := fr.read(event)
	english := ed.read(event)
	for _, field := range []string{"cost", "featured", "start_date", "utc_start_date", "slug", "tags", "id", "languages"} {
		english.field(field, french.at(field))
	}
	english.fields(obj{"cost": "$7", "featured": false, "start_date": "2026-06-10 11:00:00", "venue.language": "fr", "languages": list{"en"}})
	if english.etag() == french.etag() {
		s.t.Error("the ETag is the same under two roots")
	}
}

func linksAndLanguages(s *scene) {
	ed := s.editor
	w := newWord()
	parent := ed.add("categories", "Parent "+w)
	cat := ed.create("categories", obj{"name": "Cat " + w, "parent": parent.id()})
	venue := ed.add("venues", "Venue "+w)
	organizer := ed.add("organizers", "Organizer "+w)
	made := ed.event("Event "+w, obj{"categories": cat.id(), "tags": w, "venue": venue.id(), "organizer": organizer.id()})
	other := ed.event("Event two "+w, nil)
	ed.under("fr").update(made, obj{"title": "Événement " + w})
	tag := made.num("tags.0.id")
	for _, language := range []string{"en", "fr", "es", "cn"} {
		site := s.svc.url
		if language != "en" {
			site += "/" + language
		}
		api := site + root
		for _, selector := range []string{"", "en", "fr", "es", "cn"} {
			q, text := "", language
			if selector != "" {
				q, text = "?multilang_language="+selector, selector
			}
			tagOf := map[string]string{"en": "en", "fr": "fr", "es": "es", "cn": "zh-Hans"}[text]
			title := "Event " + w
			if text == "fr" {
				title = "Événement " + w
			}
			for _, c := range []*caller{s.nobody.under(language), ed.under(language)} {
				got := c.read(made.path()+q).head("Content-Language", tagOf).fields(obj{
					"title": title, "rest_url": api + "/events/" + made.idText(), "url": site + "/event/event-" + w + "/",
					"json_ld.url": site + "/event/event-" + w + "/", "website": site + "/event/event-" + w + "/", "venue.url": site + "/venue/venue-" + w + "/",
					"organizer.0.url": site + "/organizer/organizer-" + w + "/",
					"categories.0.urls": obj{
						"self": api + "/categories/" + cat.idText(), "collection": api + "/categories", "up": api + "/categories/" + parent.idText(),
					},
					"tags.0.urls": obj{"self": api + "/tags/" + itoa(tag), "collection": api + "/tags"},
					"global_id":   strings.TrimPrefix(s.svc.url, "http://") + "?id=" + made.idText(),
				})
				if language != "en" {
					got.lacks(s.svc.url + "/event/")
				}
				c.read(cat.path()+q).field("url", site+"/events/category/cat-"+w+"/").field("urls.self", api+"/categories/"+cat.idText())
				c.read("/tags/"+itoa(tag)+q).field("url", site+"/events/tag/"+w+"/")
				params := []string{"include", texts(made.id(), other.id()), "per_page", "1"}
				rest := "per_page=1&include=" + made.idText() + "%2C" + other.idText()
				if selector != "" {
					params = append(params, "multilang_language", selector)
					rest += "&multilang_language=" + selector
				}
				found := c.list("events", params...).head("Content-Language", tagOf)
				found.fields(obj{
					"events.0.title": title, "events.0.rest_url": api + "/events/" + made.idText(), "rest_url": api + "/events/?" + rest,
					"next_rest_url": api + "/events/?page=2&" + rest,
				})
				if link := found.header.Get("Link"); !strings.Contains(link, "<"+api+"/events/?page=2&"+rest+`>; rel="next"`) {
					s.t.Errorf("%s: Link %s", found.request, link)
				}
			}
		}
		for _, path := range []string{"", "/doc", "/events", made.path(), "/venues", venue.path(), "/tags", cat.path(), made.bySlug()} {
			for _, bad := range []string{"de", "EN", "", "zh-Hans", "en,fr"} {
				refused := s.nobody.under(language).get(path + pairs("multilang_language", bad)).bad("multilang_language")
				refused.head("Content-Language", map[string]string{"en": "en", "fr": "fr", "es": "es", "cn": "zh-Hans"}[language])
				refused.field("data.details.multilang_language.code", "rest_not_in_enum")
			}
		}
		s.nobody.under(language).get("/nothing").code(404, "rest_no_route")
		fresh := ed.under(language).event(newWord(), nil)
		fresh.head("Location", api+fresh.path())
	}
	// There is no /en/ root, and Accept-Language is not read.
	s.nobody.get("=/en"+root+"/events").code(404, "rest_no_route")
	s.nobody.with("Accept-Language", "fr").read(made).field("title", "Event "+w).head("Content-Language", "en")
	// Messages are in the language of the request.
	messages := map[string]bool{}
	for _, language := range []string{"en", "fr", "es", "cn"} {
		refused := s.nobody.under(language).get("/events/99999999").code(404, "rest-event-not-found")
		messages[refused.str("message")] = true
		same(s.t, refused, s.nobody.get("/events/99999999?multilang_language="+language))
		bad := ed.under(language).post("/events", obj{"title": "", "start_date": "x", "end_date": "2026-01-01"}).bad("title", "start_date")
		messages[bad.str("message")] = true
		messages[bad.str("data.params.start_date")] = true
	}
	if len(messages) != 12 {
		s.t.Errorf("%d different messages in four languages, want 12: %v", len(messages), messages)
	}
}
