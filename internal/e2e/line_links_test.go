package e2e

import (
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Lines 12 to 19: links of events.

func linkForms(s *scene) {
	caller := s.editor
	for _, c := range []struct{ field, collection, shown string }{
		{"venue", "venues", "venues"}, {"organizer", "organizers", "organizer"},
	} {
		a := caller.add(c.collection, "A "+newWord())
		b := caller.add(c.collection, "B "+newWord())
		x, y := a.id(), b.id()
		made := caller.event(newWord(), nil)
		for _, form := range []struct {
			sent any
			want []int64
		}{
			{x, []int64{x}},
			{a.idText(), []int64{x}},
			{[]int64{x}, []int64{x}},
			{[]int64{y, x}, []int64{y, x}},
			{a.idText() + "," + b.idText(), []int64{x, y}},
			{b.idText() + " , " + a.idText(), []int64{y, x}},
			{obj{"id": x}, []int64{x}},
			{obj{"id": a.idText(), c.field: "Ignored " + newWord(), "website": "no url"}, []int64{x}},
			{list{obj{"id": y}, x, b.idText(), "", 0, nil, list{}, obj{}}, []int64{y, x}}, // equal ones count once, empty ones are skipped
			{list{x, x, a.idText()}, []int64{x}},
		} {
			created := caller.event(newWord(), obj{c.field: form.sent})
			wantIDs(created, c.shown, form.want)
			updated := caller.update(made, obj{c.field: form.sent})
			wantIDs(updated, c.shown, form.want)
			wantIDs(caller.read(made), c.shown, form.want)
			caller.update(made, obj{c.field: nil})
		}
		// Inline, alone, in a list, and mixed.
		w, v := newWord(), newWord()
		one := caller.event(newWord(), obj{c.field: obj{c.field: "New " + w, "phone": "1", "description": "D"}})
		made1 := one.ids(c.shown)[0]
		caller.read("/" + c.collection + "/" + itoa(made1)).fields(obj{c.field: "New " + w, "phone": "1", "status": "publish", "slug": "new-" + w})
		mixed := caller.update(made, obj{c.field: list{obj{c.field: "Other " + v}, b.idText(), obj{"id": x}, made1}})
		if got := mixed.ids(c.shown); len(got) != 4 || got[1] != y || got[2] != x || got[3] != made1 {
			s.t.Errorf("%s: mixed list gave %v", c.field, got)
		}
		mixed.field(c.shown+".0."+c.field, "Other "+v)
		caller.counting(c.collection, w, 1)
		caller.counting(c.collection, v, 1)
		// Two inline objects of the same name make one record.
		twin := newWord()
		wantLen(caller.event(newWord(), obj{c.field: list{obj{c.field: twin, "phone": "1"}, obj{c.field: strings.ToUpper(twin)}}}), c.shown, 1)
		caller.counting(c.collection, twin, 1)
		// Forms and query names may nest.
		nested := newWord()
		form := url.Values{
			"title": {newWord()}, "start_date": {"2026-06-10"}, "end_date": {"2026-06-10"},
			c.field + "[0][" + c.field + "]": {"Nested " + nested}, c.field + "[0][phone]": {"77"}, c.field + "[1]": {a.idText()},
		}
		sent := caller.create("events", form).field(c.shown+".0."+c.field, "Nested "+nested).field(c.shown+".0.phone", "77").field(c.shown+".1.id", x)
		wantLen(sent, c.shown, 2)

		check := caller.unchanged(made)
		for sent, named := range map[string]any{
			"99999999": 99999999, made.idText(): made.id(), "nonsense": "nonsense", "99999998": list{x, 99999998},
			"phone": obj{"phone": "1"}, "website": obj{c.field: newWord(), "website": "nonsense"},
		} {
			refused := caller.patch(made, obj{c.field: named}).bad(c.field)
			if sent != "phone" {
				refused.naming(c.field, sent)
			}
		}
		caller.patch(made, obj{c.field: true}).bad(c.field)
		check()
	}
	// An id of the other kind is refused.
	v := caller.add("venues", newWord())
	caller.post("/events", eventBody(newWord(), obj{"organizer": v.id(), "venue": v.id()})).bad("organizer")
}

func wantIDs(a *answer, path string, want []int64) {
	a.t.Helper()
	if got := a.ids(path); !slices.Equal(got, want) {
		a.t.Fatalf("%s: %s %v, want %v", a.request, path, got, want)
	}
}

func wantLen(a *answer, path string, want int) {
	a.t.Helper()
	if got := a.len(path); got != want {
		a.t.Errorf("%s: %d in %s, want %d\n%s", a.request, got, path, want, a.body)
	}
}

func inlineFinds(s *scene) {
	caller := s.editor
	for _, c := range []struct{ field, collection, shown string }{
		{"venue", "venues", "venues"}, {"organizer", "organizers", "organizer"},
	} {
		w := newWord()
		name := "Hall & Größe " + w
		older := caller.create(c.collection, body(c.collection, name, obj{"phone": "1"}))
		caller.create(c.collection, body(c.collection, name, obj{"phone": "2"}))
		check := caller.unchanged(older)
		for _, sent := range []string{name, strings.ToUpper("hall & größe " + w), "  hall &amp; <b>größe</b> " + w + " "} {
			made := caller.event(newWord(), obj{c.field: obj{c.field: sent, "phone": "other", "description": "Other", "status": "draft"}})
			wantIDs(made, c.shown, []int64{older.id()}) // the lowest id
			made.field(c.shown+".0.phone", "1")
			wantIDs(caller.update(made, obj{c.field: list{obj{c.field: sent, "phone": "x"}}}), c.shown, []int64{older.id()})
		}
		check()
		caller.counting(c.collection, w, 2)

		// Drafts, trashed ones and other languages are not found by name.
		d := newWord()
		draft := caller.create(c.collection, body(c.collection, d, obj{"status": "draft"}))
		made := caller.event(newWord(), obj{c.field: obj{c.field: d}})
		if got := made.ids(c.shown); len(got) != 1 || got[0] == draft.id() {
			s.t.Errorf("%s: a draft was linked by name", c.field)
		}
		caller.counting(c.collection, d, 2)
		f := newWord()
		both := caller.add(c.collection, "Common "+f)
		caller.under("fr").update(both, obj{c.field: "Commune " + f})
		wantIDs(caller.under("fr").event(newWord(), obj{c.field: obj{c.field: "commune " + f}}), c.shown, []int64{both.id()})
		fresh := caller.under("fr").event(newWord(), obj{c.field: obj{c.field: "common " + f}})
		if fresh.ids(c.shown)[0] == both.id() {
			s.t.Errorf("%s: found by a name that French does not show", c.field)
		}
		fresh.field(c.shown+".0.language", "fr").field(c.shown+".0.languages", list{"fr"})
	}
}

func refusedLeavesNothing(s *scene) {
	editor, author := s.editor, s.as("author")
	made := author.event(newWord(), nil)
	check := author.unchanged(made)
	for _, c := range []struct {
		who  *caller
		more obj
		bad  []string
	}{
		{editor, obj{"start_date": "soonish"}, []string{"start_date"}},
		{editor, obj{"end_date": "2026-06-09"}, []string{"end_date"}},
		{editor, obj{"website": "nonsense", "featured": "maybe"}, []string{"website", "featured"}},
		{author, obj{"tags": newWord()}, []string{"tags"}},
		{editor, obj{"post_parent": 99999999}, []string{"post_parent"}},
		{editor, obj{"image": "nonsense"}, []string{"image"}},
	} {
		v, o, cat := newWord(), newWord(), newWord()
		more := obj{
			"venue":     list{obj{"venue": "Hall " + v}, obj{"venue": "Second " + v, "city": "Ghent"}},
			"organizer": obj{"organizer": "Trust " + o}, "categories": "Cat " + cat,
		}
		maps.Copy(more, c.more)
		w := newWord()
		c.who.post("/events", eventBody(w, more)).bad(c.bad...)
		c.who.patch(made, more).bad(c.bad...)
		editor.none("events", w)
		editor.none("venues", v)
		editor.none("organizers", o)
		editor.none("categories", cat)
	}
	// One bad inline object refuses all of them.
	v, o, tag := newWord(), newWord(), newWord()
	editor.post("/events", eventBody(newWord(), obj{
		"venue": list{obj{"venue": v}, obj{"venue": "Bad " + v, "website": "nonsense"}}, "organizer": obj{"organizer": o, "email": "no"}, "tags": tag,
	})).bad("venue", "organizer")
	editor.none("venues", v)
	editor.none("organizers", o)
	editor.none("tags", tag)
	check()
	// A stale precondition on an update leaves nothing either.
	v = newWord()
	editor.with("If-Match", `"999-1"`).patch(made, obj{"venue": obj{"venue": v}}).code(412, "rest_precondition_failed")
	editor.none("venues", v)
	check()
}

func unlink(s *scene) {
	caller := s.editor
	v := caller.add("venues", newWord())
	o := caller.add("organizers", newWord())
	made := caller.event(newWord(), obj{"venue": v.id(), "organizer": o.id()})
	for _, empty := range []any{list{}, 0, "", nil, "0", obj{}, "  "} {
		got := caller.update(made, obj{"venue": empty}).fields(obj{"venue": list{}, "venues": list{}})
		wantIDs(got, "organizer", []int64{o.id()})
		caller.update(made, obj{"organizer": empty}).fields(obj{"organizer": list{}, "venue": list{}})
		caller.read(made).fields(obj{"organizer": list{}, "venue": list{}, "venues": list{}})
		caller.event(newWord(), obj{"venue": empty, "organizer": empty}).fields(obj{"organizer": list{}, "venue": list{}})
		caller.update(made, obj{"venue": v.id(), "organizer": o.id()}).fields(obj{"venue.id": v.id(), "organizer.0.id": o.id()})
	}
	caller.do("POST", made, url.Values{"venue": {""}, "organizer": {"0"}}).want(200).
		fields(obj{"organizer": list{}, "venue": list{}})
	caller.read(v).field("status", "publish") // the records themselves stay
}

func unknownTags(s *scene) {
	editor, author, contributor := s.editor, s.as("author"), s.as("contributor")
	made := author.event(newWord(), nil)
	draft := contributor.event(newWord(), nil)
	for _, unknown := range []any{[]int{99999999}, "99999999", []string{"99999999"}, 99999999} {
		editor.post("/events", eventBody(newWord(), obj{"tags": unknown})).bad("tags").naming("tags", "99999999")
		editor.patch(made, obj{"tags": unknown}).bad("tags").naming("tags", "99999999")
		editor.patch(made, obj{"categories": unknown}).bad("categories").naming("categories", "99999999")
	}
	editor.none("tags", "99999999")
	editor.patch(made, obj{"tags": made.id()}).bad("tags") // an id of another kind

	w := newWord()
	author.patch(made, obj{"tags": "Open " + w}).bad("tags").naming("tags", "Open "+w)
	author.post("/events", eventBody(newWord(), obj{"tags": []string{"Open " + w}})).bad("tags").naming("tags", "Open "+w)
	contributor.patch(draft, obj{"tags": "Open " + w}).bad("tags").naming("tags", "Open "+w)
	editor.none("tags", w)
	got := editor.update(made, obj{"tags": "Open " + w + ", Second " + w})
	got.fields(obj{"tags.0.name": "Open " + w, "tags.0.slug": "open-" + w, "tags.1.name": "Second " + w, "tags.0.parent": 0, "tags.0.taxonomy": "event_tag"})
	editor.counting("tags", w, 2)
	// Now the author may name it.
	wantIDs(author.update(made, obj{"tags": "open-" + w}), "tags", []int64{got.num("tags.0.id")})

	c := newWord()
	contributor.patch(draft, obj{"categories": "Cat " + c}).bad("categories").naming("categories", "Cat "+c)
	editor.none("categories", c)
	author.update(made, obj{"categories": "Cat " + c}).field("categories.0.name", "Cat "+c).field("categories.0.parent", 0)
	editor.counting("categories", c, 1)
}

func tagsByName(s *scene) {
	caller := s.editor
	w := newWord()
	tag := caller.create("tags", obj{"name": "Open & Air " + w, "slug": "other-" + w})
	number := "77" + itoa(tag.id()) + "001"
	digits := caller.add("tags", number)
	for _, c := range []struct {
		sent any
		want []int64
	}{
		{"Open & Air " + w, []int64{tag.id()}},
		{"open &amp; AIR " + w, []int64{tag.id()}},
		{"OTHER-" + w, []int64{tag.id()}},
		{[]any{tag.id(), "other-" + w, tag.idText()}, []int64{tag.id()}},
		{tag.idText(), []int64{tag.id()}},
		{number, []int64{digits.id()}}, // digits that are no id: slug and name
		{[]string{number}, []int64{digits.id()}},
	} {
		wantIDs(caller.event(newWord(), obj{"tags": c.sent}), "tags", c.want)
	}
	caller.patch(caller.event(newWord(), nil).path(), obj{"tags": []any{77123123123}}).bad("tags")
	caller.counting("tags", w, 1)
	for _, bad := range []any{obj{"name": "x"}, list{obj{"id": tag.id()}}, list{list{tag.id()}}, true, list{true}, 2.5} {
		v := newWord()
		caller.post("/events", eventBody(v, obj{"tags": bad})).bad("tags")
		caller.post("/events", eventBody(v, obj{"categories": bad})).bad("categories")
		caller.none("events", v)
	}
	// Elements of an array are not split, comma text is.
	a, b := newWord(), newWord()
	whole := caller.event(newWord(), obj{"tags": []string{a + ", " + b}})
	whole.field("tags.0.name", a+", "+b)
	wantLen(whole, "tags", 1)
	wantLen(caller.event(newWord(), obj{"tags": a + "x, ," + b + "x"}), "tags", 2)
}

func emptyCategories(s *scene) {
	caller := s.editor
	made := caller.event(newWord(), nil)
	for _, field := range []string{"categories", "tags"} {
		for _, empty := range []any{"", nil, list{}, list{""}, " , "} {
			wantLen(caller.update(made, obj{field: newWord() + "," + newWord()}), field, 2)
			caller.update(made, obj{field: empty}).field(field, list{})
			caller.read(made).field(field, list{})
		}
		kept := caller.update(made, obj{field: newWord()})
		wantIDs(caller.update(made, obj{"title": newWord()}), field, kept.ids(field))
		caller.do("POST", made.path()+"?"+field+"=", nil).want(200).field(field, list{})
	}
}
