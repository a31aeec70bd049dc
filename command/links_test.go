package command_test

import (
	"strings"
	"testing"
)

func containsAny(text string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

func TestLinks(t *testing.T) {
	t.Parallel()
	two := []write{venue("a", `{"venue":"Hall"}`), venue("b", `{"venue":"Barn","status":"draft"}`), event("e", "")}
	run(t, []scenario{
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
			name: "nor one that may not", given: []write{event("e", "")},
			when: write{op: "update event", on: "e", caller: author, in: `{"venue":{"venue":"New"}}`}, refused: "rest_forbidden",
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
		{
			name: "an image by URL is registered once",
			when: event("f", `"image":"https://a.example/b.JPG","venue":{"venue":"V","image":"https://a.example/b.JPG"}`), entries: 3,
			then: func(b *bench) {
				t := b.t
				record := b.stored("f")
				image := b.load(record.Fields.ID("image"))
				b.checkFields(image, `{"url":"https://a.example/b.JPG"}`)
				if v := b.load(record.Fields.IDs("venue")[0]); v.Fields.ID("image") != image.ID {
					t.Errorf("venue has image %d, event %d", v.Fields.ID("image"), image.ID)
				}
				b.must(write{op: "create organizer", as: "o", caller: author, in: `{"organizer":"T","image":"https://a.example/b.JPG"}`})
				b.must(write{op: "create organizer", as: "p", caller: contributor, in: `{"organizer":"T","image":` + image.ID.String() + `}`})
				for _, name := range []string{"o", "p"} {
					if got := b.stored(name).Fields.ID("image"); got != image.ID {
						t.Errorf("organizer %s has image %d, want %d", name, got, image.ID)
					}
				}
			},
		},
		{name: "image cleared", given: []write{event("e", `"image":"https://a.example/b.png"`)}, when: write{op: "update event", on: "e", caller: editor, in: `{"image":false}`}, entries: 1, fields: `{"image":null,"image_url":null}`},
	})
}

func TestTerms(t *testing.T) {
	t.Parallel()
	terms := []write{
		term("tag", "air", `{"name":"Open Air","slug":"outside"}`), term("tag", "n", `{"name":"2026"}`),
		term("category", "jazz", `{"name":"Jazz"}`), event("e", `"tags":[{{air}}],"categories":"Jazz"`),
	}
	run(t, []scenario{
		{
			name: "ids that no record can have", given: terms,
			when:    event("", `"image":"99999999999999999999","tags":[0],"categories":-4,"venue":-5,"organizer":"99999999999999999999"`),
			refused: "rest_invalid_param image=unknown_image categories=unknown_category tags=unknown_tag venue=unknown_venue organizer=unknown_organizer",
		},
		{
			name:  "names are compared as shown in the language of the request",
			given: append(terms[:4:4], write{op: "update tag", on: "air", caller: editor, lang: "fr", in: `{"name":"Plein air"}`}),
			when:  write{op: "update event", on: "e", caller: editor, lang: "fr", in: `{"tags":["plein AIR","Open air"]}`}, entries: 2,
		},
		{
			name: "a deleted term is made again", given: append(terms[:4:4], write{op: "delete tag", on: "air", caller: editor}),
			when: write{op: "update event", on: "e", caller: editor, in: `{"tags":["Open air"]}`}, entries: 2,
		},
	})
}
