package e2e

import (
	"strings"

	"daybook/internal/testkit/table"
)

// Line 41: search.

func searching(scene *scene) {
	caller := scene.editor
	tag := caller.add("tags", newWord()).ID().String()
	at := func(day, title, description, excerpt string) *answer {
		return caller.event(title, obj{
			"start_date": "2026-07-" + day, "end_date": "2026-07-" + day, "description": description, "excerpt": excerpt, "tags": tag,
		})
	}
	a := at("01", "Open air concerts by the sea", "<p>Bring a <em>folding</em> chair.</p>", "Running late")
	b := at("02", "Crème brûlée workshop", "Baking for beginners, 2026 edition", "")
	c := at("03", "音乐会在上海", "新年 concert", "")
	d := at("04", "The Art of the Sea", "nothing else", "")
	e := at("05", "The Gospel Choir: R&B and Hip-Hop", "Don't miss it, says Wi-Fi", "")
	f := at("06", "The Who tribute", "5月 by Jon・Doe", "")
	named := map[string]*answer{"a": a, "b": b, "c": c, "d": d, "e": e, "f": f}
	for _, row := range table.Rows(scene.t, "search.txt") {
		names := strings.Fields(row[1])
		want := make([]*answer, len(names))
		for i, name := range names {
			want[i] = named[name]
		}
		for _, who := range []string{"nobody", "editor"} {
			scene.as(who).list("events", "tags", tag, "search", row[0]).found(want...)
		}
	}
	for sent, joined := range map[string]bool{"hiphop": true, "wifi": true, "wi fi": false, "hip-hop": false} { // listings 3.3, 8.33
		scene.nobody.list("events", "tags", tag, "search", sent, "typos", "auto").found(e).fields(obj{"typos": 0, "joined": joined})
	}
	// Each language has the words of its texts, and those of the home language where it has none.
	caller.under("fr").update(d, obj{"title": "L'art de la mer", "description": "Les enfants chantaient"})
	other := caller.under("fr").event("Chevaux et forêts", obj{"tags": tag, "start_date": "2026-07-07", "end_date": "2026-07-07"})
	for _, x := range []struct {
		language, sent string
		want           []*answer
	}{
		{"fr", "enfant", []*answer{d}},
		{"fr", "gospel sea", nil},
		{"fr", "FORÊT chevaux", []*answer{other}},
		{"es", "art sea", []*answer{d}},
		{"es", "chevaux", []*answer{other}},
		{"en", "enfants", nil},
	} {
		scene.nobody.under(x.language).list("events", "tags", tag, "search", x.sent).found(x.want...)
		scene.editor.under("es").list("events", "tags", tag, "search", x.sent, "multilang_language", x.language).found(x.want...)
	}
	// Venues and organizers: their details too. Slugs and linked names never.
	text := newWord()
	hall := caller.create("venues", obj{
		"venue": "Hall " + text, "address": "Quayside " + text + " road", "city": "Málaga", "country": "Spain", "zip": "29001", "phone": "+34 952",
		"website": "https://hall.example", "description": "By the harbour", "slug": "slugword-" + text,
	})
	for _, sent := range []string{"hall", "quayside", "malaga", "spain", "29001", "952", "harbour", "hall malaga harbour"} {
		scene.nobody.list("venues", "search", text+" "+sent).found(hall)
	}
	scene.nobody.list("venues", "search", text+" slugword").found()
	trust := caller.create("organizers", obj{"organizer": "Trust " + text, "email": "hello@arts.example", "phone": "555 0100"})
	for _, sent := range []string{"trust", "hello", "arts", "0100"} {
		scene.nobody.list("organizers", "search", text+" "+sent).found(trust)
	}
	linked := caller.event("Linked", obj{"venue": hall.ID(), "organizer": trust.ID()})
	scene.nobody.list("events", "search", text).found()
	caller.update(linked, obj{"excerpt": text})
	scene.nobody.list("events", "search", text).found(linked)
	// Terms: the text as a whole, as part of name or slug.
	jazz := caller.create("tags", obj{"name": "Cool Jazz " + text, "slug": "blue-" + text, "description": "Swing"})
	for sent, want := range map[string][]*answer{
		"ol jazz " + text: {jazz}, "JAZZ " + text: {jazz}, "lue-" + text: {jazz}, "jazz cool " + text: nil, "swing " + text: nil,
	} {
		scene.nobody.list("tags", "hide_empty", "0", "search", sent).found(want...)
	}
}
