package command_test

import (
	"strings"
	"testing"

	"daybook/calendar"
)

func containsAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

func TestLinks(t *testing.T) {
	t.Parallel()
	two := []write{venue("a", `{"venue":"Hall"}`), venue("b", `{"venue":"Barn","status":"draft"}`), event("e", "")}
	var forms []scenario
	for in, want := range map[string]string{
		`{{a}}`: `[{{a}}]`, `"{{a}}"`: `[{{a}}]`, `[{{a}}]`: `[{{a}}]`, `"{{b}},{{a}}"`: `[{{b}},{{a}}]`, `{"id":{{a}},"venue":"x"}`: `[{{a}}]`,
		`[{{a}},"{{a}}",{{b}}]`: `[{{a}},{{b}}]`, `{"venue":"hall","city":"Rome"}`: `[{{a}}]`, `[{{b}},{"venue":"HALL"},{"id":"{{b}}"}]`: `[{{b}},{{a}}]`,
		`[]`: `null`, `0`: `null`, `""`: `null`, `null`: `null`, `{}`: `null`, `[0,"",{{a}}]`: `[{{a}}]`,
	} {
		forms = append(forms, scenario{
			name: "venue " + in, given: append(two[:3:3], write{op: "update event", on: "e", by: editor, in: `{"venue":[{{b}}]}`}),
			when: write{op: "update event", on: "e", by: editor, in: `{"venue":` + in + `}`}, entries: 1, fields: `{"venue":` + want + `}`,
		})
	}
	run(t, append(forms, []scenario{
		{
			name: "an inline venue is made with the event", given: two,
			when: event("f", `"venue":[{{a}},{"venue":"New Hall","city":"Rome"}],"organizer":[{"organizer":"Trust"}]`), entries: 3,
			then: func(b *bench) {
				t := b.t
				e := b.stored("f")
				made := b.load(e.Fields.IDs("venue")[1])
				b.checkFields(made, `{"venue":{"en":"New Hall"},"city":"Rome","status":"publish","slug":"new-hall","author":4}`)
				if got := b.load(e.Fields.IDs("organizer")[0]); got.Kind != calendar.KindOrganizer {
					t.Errorf("organizer is a %s", got.Kind)
				}
			},
		},
		{
			name: "a draft of the name is not linked", given: two,
			when: event("f", `"venue":{"venue":"Barn"}`), entries: 2,
		},
		{
			name: "two of a name are one", given: two,
			when: event("f", `"venue":[{"venue":"New"},{"venue":"NEW","city":"Rome"}]`), entries: 2,
			then: func(b *bench) {
				t := b.t
				if got := len(b.stored("f").Fields.IDs("venue")); got != 1 {
					t.Errorf("%d venues linked", got)
				}
			},
		},
		{
			name: "two names of one slug", given: two,
			when: event("f", `"venue":[{"venue":"New!"},{"venue":"New"}]`), entries: 3,
			then: func(b *bench) {
				ids := b.stored("f").Fields.IDs("venue")
				b.checkFields(b.load(ids[0]), `{"slug":"new"}`)
				b.checkFields(b.load(ids[1]), `{"slug":"new-2"}`)
			},
		},
		{
			name: "statuses of inline records are scaled too",
			when: write{op: "create event", as: "f", by: contributor, in: `{"title":"x","start_date":"2026-07-04","end_date":"2026-07-04","venue":{"venue":"New","status":"publish"}}`}, entries: 2,
			then: func(b *bench) {
				b.checkFields(b.load(b.stored("f").Fields.IDs("venue")[0]), `{"status":"pending"}`)
			},
		},
		{
			name:    "all or nothing: a refused event makes no venue, tag or image",
			when:    event("", `"venue":{"venue":"New"},"tags":["new"],"image":"https://a.example/b.png","end_date":"2026-01-01"`),
			refused: "rest_invalid_param end_date=end_before_start",
		},
		{
			name: "nor does an update whose record refuses", given: []write{event("e", "")},
			when:    write{op: "update event", on: "e", by: editor, in: `{"venue":{"venue":"New"},"tags":["new"],"end_date":"2026-01-01"}`},
			refused: "rest_invalid_param end_date=end_before_start",
		},
		{
			name: "nor one that may not", given: []write{event("e", "")},
			when: write{op: "update event", on: "e", by: author, in: `{"venue":{"venue":"New"}}`}, refused: "rest_forbidden",
		},
		{
			name: "a bad field of an inline venue", given: two,
			when: event("", `"venue":{"venue":"New","geo_lat":1},"organizer":{"organizer":"T","author":99}`), refused: "rest_invalid_param venue=inline organizer=inline",
		},
		{
			name: "a bad field of an inline venue alone", given: two,
			when: event("", `"venue":{"venue":"New","geo_lat":1}`), refused: "rest_invalid_param venue=inline",
		},
		{
			name: "a bad field of an inline venue whose name is there", given: two,
			when: event("", `"venue":{"venue":"Hall","geo_lat":1},"organizer":{"organizer":"T","author":99}`), refused: "rest_invalid_param venue=inline organizer=inline",
		},
		{
			name: "an unknown image of an inline venue whose name is there", given: two,
			when: event("", `"venue":[{"venue":"hall","image":99}]`), refused: "rest_invalid_param venue=inline",
		},
		{
			name: "a bad field of the second of a name", given: two,
			when: event("", `"venue":[{"venue":"New"},{"venue":"NEW","image":99}]`), refused: "rest_invalid_param venue=inline",
		},
		{
			name: "an image by URL of a venue that is there is not registered", given: two,
			when: event("", `"venue":[{"venue":"hall","image":"https://a.example/b.png"}]`), entries: 1,
		},
		{name: "the id of another kind", given: two, when: event("", `"venue":{{e}}`), refused: "rest_invalid_param venue=unknown_venue"},
		{
			name: "an image by URL is registered once",
			when: event("f", `"image":"https://a.example/b.JPG","venue":{"venue":"V","image":"https://a.example/b.JPG"}`), entries: 3,
			then: func(b *bench) {
				t := b.t
				e := b.stored("f")
				image := b.load(e.Fields.ID("image"))
				b.checkFields(image, `{"url":"https://a.example/b.JPG","extension":"jpg"}`)
				if v := b.load(e.Fields.IDs("venue")[0]); v.Fields.ID("image") != image.ID {
					t.Errorf("venue has image %d, event %d", v.Fields.ID("image"), image.ID)
				}
				b.must(write{op: "create organizer", as: "o", by: author, in: `{"organizer":"T","image":"https://a.example/b.JPG"}`})
				b.must(write{op: "create organizer", as: "p", by: contributor, in: `{"organizer":"T","image":` + image.ID.String() + `}`})
				for _, name := range []string{"o", "p"} {
					if got := b.stored(name).Fields.ID("image"); got != image.ID {
						t.Errorf("organizer %s has image %d, want %d", name, got, image.ID)
					}
				}
			},
		},
		{
			name:    "a contributor's URL is refused, a registered one too",
			given:   []write{organizer("", `{"organizer":"T","image":"https://a.example/b.png"}`)},
			when:    write{op: "create organizer", by: contributor, in: `{"organizer":"U","image":"https://a.example/b.png"}`},
			refused: "rest_invalid_param image=image_url_right",
		},
		{name: "the id of a record is no image", given: two, when: event("", `"image":{{a}}`), refused: "rest_invalid_param image=unknown_image"},
		{name: "image cleared", given: []write{event("e", `"image":"https://a.example/b.png"`)}, when: write{op: "update event", on: "e", by: editor, in: `{"image":false}`}, entries: 1, fields: `{"image":null,"image_url":null}`},
	}...))
}

func TestTerms(t *testing.T) {
	t.Parallel()
	terms := []write{
		term("tag", "air", `{"name":"Open Air","slug":"outside"}`), term("tag", "n", `{"name":"2026"}`),
		term("category", "jazz", `{"name":"Jazz"}`), event("e", `"tags":[{{air}}],"categories":"Jazz"`),
	}
	run(t, []scenario{
		{name: "by slug, name and id", given: terms, when: event("f", `"tags":["OUTSIDE","open air",{{n}}],"categories":"{{jazz}},jazz"`), entries: 1, fields: `{"tags":[{{air}},{{n}}],"categories":[{{jazz}}]}`},
		{name: "digits as text are next a slug or a name", given: terms, when: event("f", `"tags":["2026"]`), entries: 1, fields: `{"tags":[{{n}}]}`},
		{name: "digits as a number are an id only", given: terms, when: event("", `"tags":[2026]`), refused: "rest_invalid_param tags=unknown_tag"},
		{name: "digits never make a term", given: terms, when: event("", `"tags":["2027"]`), refused: "rest_invalid_param tags=unknown_tag"},
		{
			name: "ids that no record can have", given: terms,
			when:    event("", `"image":"99999999999999999999","tags":[0],"categories":-4,"venue":-5,"organizer":"99999999999999999999"`),
			refused: "rest_invalid_param image=unknown_image categories=unknown_category tags=unknown_tag venue=unknown_venue organizer=unknown_organizer",
		},
		{name: "the id of a category is no tag", given: terms, when: event("", `"tags":[{{jazz}}]`), refused: "rest_invalid_param tags=unknown_tag"},
		{name: "an object", given: terms, when: event("", `"tags":[{"name":"x"}]`), refused: "rest_invalid_param tags=entry"},
		{
			name: "an editor makes tags by name, each once", given: terms, when: event("f", `"tags":["New","new","Newer"]`), entries: 3,
			then: func(b *bench) {
				t := b.t
				ids := b.stored("f").Fields.IDs("tags")
				if len(ids) != 2 {
					t.Fatalf("tags %v", ids)
				}
				b.checkFields(b.load(ids[0]), `{"name":{"en":"New"},"slug":"new"}`)
			},
		},
		{
			name: "an author does not", given: terms,
			when:    write{op: "create event", by: author, in: `{"title":"x","start_date":"2026-07-04","end_date":"2026-07-04","tags":["New"]}`},
			refused: "rest_invalid_param tags=term_right",
		},
		{
			name: "but categories", given: terms,
			when: write{op: "create event", by: author, in: `{"title":"x","start_date":"2026-07-04","end_date":"2026-07-04","categories":"Folk & more"}`}, entries: 2,
		},
		{
			name: "a contributor neither", given: terms,
			when:    write{op: "create event", by: contributor, in: `{"title":"x","start_date":"2026-07-04","end_date":"2026-07-04","categories":"Folk"}`},
			refused: "rest_invalid_param categories=term_right",
		},
		{name: "empty text removes all", given: terms, when: write{op: "update event", on: "e", by: editor, in: `{"categories":""}`}, entries: 1, fields: `{"categories":null,"tags":[{{air}}]}`},
		{
			name:  "names are compared as shown in the language of the request",
			given: append(terms[:4:4], write{op: "update tag", on: "air", by: editor, lang: "fr", in: `{"name":"Plein air"}`}),
			when:  write{op: "update event", on: "e", by: editor, lang: "fr", in: `{"tags":["plein AIR","Open air"]}`}, entries: 2,
		},
		{
			name: "a deleted term is made again", given: append(terms[:4:4], write{op: "delete tag", on: "air", by: editor}),
			when: write{op: "update event", on: "e", by: editor, in: `{"tags":["Open air"]}`}, entries: 2,
		},
		{
			name: "term_exists names the lowest id", given: terms,
			when: term("tag", "", `{"name":"OPEN air"}`), refused: "term_exists",
			then: func(b *bench) {
				t := b.t
				_, err := b.do(term("tag", "", `{"name":"OPEN air"}`))
				if e := asError(t, err); e.TermID != b.named["air"] {
					t.Errorf("term id %d, want %d", e.TermID, b.named["air"])
				}
			},
		},
		{name: "categories of a name under another parent", given: terms, when: term("category", "c", `{"name":"jazz","parent":{{jazz}}}`), entries: 1, fields: `{"slug":"jazz-jazz"}`},
		{name: "and under the same", given: append(terms[:4:4], term("category", "c", `{"name":"Sub","parent":{{jazz}}}`)), when: term("category", "", `{"name":"sub","parent":"{{jazz}}"}`), refused: "term_exists"},
		{name: "updates may make equal names", given: terms, when: write{op: "update tag", on: "n", by: editor, in: `{"name":"Open air"}`}, entries: 1},
		{name: "a parent of a tag", given: terms, when: term("tag", "", `{"name":"New","parent":0}`), refused: "rest_taxonomy_not_hierarchical"},
		{name: "on update too, after the record", given: terms, when: write{op: "update tag", on: "n", by: editor, in: `{"parent":{{air}}}`}, refused: "rest_taxonomy_not_hierarchical"},
		{name: "an unknown parent", given: terms, when: term("category", "", `{"name":"New","parent":{{air}}}`), refused: "rest_invalid_param parent=unknown_category"},
		{
			name: "a cycle becomes a root", given: append(terms[:4:4], term("category", "sub", `{"name":"Sub","parent":{{jazz}}}`)),
			when: write{op: "update category", on: "jazz", by: editor, in: `{"parent":{{sub}}}`}, entries: 1, fields: `{"parent":null}`,
		},
	})
}

func TestEqualPlaces(t *testing.T) {
	t.Parallel()
	hall := venue("v", `{"venue":"Hall","city":"Rome","date":"2020-01-01"}`)
	run(t, []scenario{
		{
			name: "an equal one is answered", given: []write{hall},
			when: write{op: "create venue", as: "w", by: author, in: `{"venue":"HALL","city":"Rome","slug":"other"}`}, fields: `{"slug":"hall"}`,
			then: func(b *bench) {
				t := b.t
				if b.named["v"] != b.named["w"] {
					t.Errorf("made %d, want %d", b.named["w"], b.named["v"])
				}
			},
		},
		{name: "other data make another", given: []write{hall}, when: venue("w", `{"venue":"Hall","city":"Paris"}`), entries: 1, fields: `{"slug":"hall-2"}`},
		{name: "so does another status", given: []write{hall}, when: venue("w", `{"venue":"Hall","city":"Rome","status":"draft"}`), entries: 1},
		{name: "and another home language", given: []write{hall}, when: write{op: "create venue", by: editor, lang: "fr", in: `{"venue":"Hall","city":"Rome"}`}, entries: 1},
		{
			name: "texts of other languages count", given: []write{hall, {op: "update venue", on: "v", by: editor, lang: "fr", in: `{"venue":"Salle"}`}},
			when: venue("w", `{"venue":"Hall","city":"Rome"}`), entries: 1,
		},
		{name: "a trashed one does not", given: []write{hall, {op: "delete venue", on: "v", by: editor}}, when: venue("w", `{"venue":"Hall","city":"Rome"}`), entries: 1},
		{name: "with a new image it is another", given: []write{organizer("", `{"organizer":"T"}`)}, when: organizer("", `{"organizer":"T","image":"https://a.example/x.png"}`), entries: 2},
	})
}
