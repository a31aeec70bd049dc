package command_test

import (
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

// scenario is given–when–then: what was written before, one write, and what
// comes of it.
type scenario struct {
	name  string
	given []write
	when  write
	// refused is the code with its fields; "" when the write goes through.
	refused string
	entries int    // how many entries the write appends
	fields  string // JSON: fields of the record after it
	then    func(b *bench)
}

func run(t *testing.T, scenarios []scenario) {
	t.Helper()
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			for _, w := range s.given {
				b.must(w)
			}
			before := b.head()
			res, err := b.do(s.when)
			if got := refusal(err); got != s.refused {
				t.Fatalf("refusal:\n got %q\nwant %q", got, s.refused)
			}
			if got := int(b.head() - before); got != s.entries {
				t.Errorf("the write made %d entries, want %d", got, s.entries)
			}
			if err == nil && s.entries > 0 && res.Position != b.head() {
				t.Errorf("position %d, want the head %d", res.Position, b.head())
			}
			if s.fields != "" {
				b.checkFields(res.Record, s.fields)
			}
			if s.then != nil {
				s.then(b)
			}
		})
	}
}

// event is a create of an event that is fine.
func event(as string, more string) write {
	if more != "" {
		more = "," + more
	}
	return write{op: "create event", as: as, by: editor, in: `{"title":"Concert","start_date":"2026-07-04 18:30","end_date":"2026-07-04 21:00"` + more + `}`}
}

func venue(as, in string) write {
	return write{op: "create venue", as: as, by: editor, in: in}
}

func organizer(as, in string) write {
	return write{op: "create organizer", as: as, by: editor, in: in}
}

func term(kind, as, in string) write {
	return write{op: "create " + kind, as: as, by: editor, in: in}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	run(t, []scenario{
		{
			name: "an event with its defaults",
			when: event("e", ""), entries: 1,
			fields: `{"title":{"en":"Concert"},"slug":"concert","status":"publish","author":4,"timezone":"America/New_York",
				"start_date":"2026-07-04 18:30:00","utc_start_date":"2026-07-04 22:30:00","all_day":false,
				"date":"2026-05-01 06:00:00","date_utc":"2026-05-01 10:00:00","venue":null}`,
		},
		{
			name:    "missing fields are reported alone, null counts as missing",
			when:    write{op: "create event", by: editor, in: `{"start_date":null,"featured":"2"}`},
			refused: "rest_missing_callback_param title start_date end_date",
		},
		{
			name: "invalid fields come all at once, the links too",
			when: write{op: "create event", by: author, in: `{"title":"","start_date":"2026-02-30","end_date":"2026-07-04","website":"no","featured":"2",
				"venue":99,"organizer":[98],"categories":[97],"tags":["96"],"post_parent":95,"image":94,"author":93}`},
			refused: "rest_invalid_param author=other_author title=empty start_date=date website=url featured=type_bool " +
				"image=unknown_image categories=unknown_category tags=unknown_tag venue=unknown_venue organizer=unknown_organizer post_parent=unknown_event",
		},
		{
			name:    "end before start is named together with others",
			when:    write{op: "create event", by: author, in: `{"title":"x","start_date":"2026-07-04","end_date":"2026-07-03","featured":"2"}`},
			refused: "rest_invalid_param featured=type_bool end_date=end_before_start",
		},
		{
			name:    "a coordinate without the other, together with a bad name",
			when:    venue("", `{"venue":"0","geo_lat":1}`),
			refused: "rest_invalid_param venue=zero geo_lng=pair_missing",
		},
		{
			name:    "problems of headers are among the others",
			when:    write{op: "create venue", by: editor, in: `{"venue":""}`, extra: []calendar.FieldError{{Field: "Idempotency-Key", Reason: calendar.ReasonHeaderKey}}},
			refused: "rest_invalid_param Idempotency-Key=header_key venue=empty",
		},
		{
			name:    "a bad language is one of them",
			when:    venue("", `{"venue":"","multilang_language":"de"}`),
			refused: "rest_invalid_param multilang_language=not_in_enum venue=empty",
		},
		{name: "anonymous with a bad value", when: write{op: "create venue", by: anonymous, in: `{"venue":""}`}, refused: "rest_unauthorized"},
		{
			name: "another author, by an editor",
			when: write{op: "create venue", by: editor, in: `{"venue":"Hall","author":"3"}`}, entries: 1, fields: `{"author":3}`,
		},
		{
			name:    "an author who does not exist, or is no user",
			given:   []write{venue("v", `{"venue":"Hall"}`)},
			when:    write{op: "create venue", by: editor, in: `{"venue":"Other","author":{{v}}}`},
			refused: "rest_invalid_param author=unknown_user",
		},
		{
			name:  "slugs are numbered, the one that was sent too",
			given: []write{event("", ""), event("", `"slug":"Concert"`)},
			when:  event("e", ""), entries: 1, fields: `{"slug":"concert-3"}`,
		},
		{
			name: "an id in the body means nothing",
			when: event("e", `"id":3,"password":""`), entries: 1, fields: `{"protected":null}`,
			then: func(b *bench) {
				t := b.t
				if ok, err := b.CheckPassword(t.Context(), b.named["e"], "x"); !ok || err != nil {
					t.Errorf("CheckPassword of an open event: %v, %v", ok, err)
				}
			},
		},
		{
			name: "a password of a new event",
			when: event("e", `"password":"geheim"`), entries: 1, fields: `{"protected":true}`,
			then: func(b *bench) {
				t := b.t
				for password, want := range map[string]bool{"geheim": true, "Geheim": false, "": false} {
					if ok, err := b.CheckPassword(t.Context(), b.named["e"], password); ok != want || err != nil {
						t.Errorf("CheckPassword(%q): %v, %v", password, ok, err)
					}
				}
			},
		},
		{
			name: "at a moment of its own",
			when: write{op: "create venue", by: editor, in: `{"venue":"Old"}`, as: "v", at: time.Date(2018, 7, 16, 12, 0, 0, 0, time.UTC)}, entries: 1,
			fields: `{"date_utc":"2018-07-16 12:00:00","modified_utc":"2018-07-16 12:00:00"}`,
			then: func(b *bench) {
				t := b.t
				h, err := b.store.Read(t.Context(), eventstore.Range{Record: b.named["v"], Limit: 1})
				if err != nil || h[0].Time.Year() != 2018 || h[0].Actor != editor.ID || h[0].Cause.Client != "test" {
					t.Errorf("entry %+v, %v", h, err)
				}
			},
		},
	})
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	run(t, []scenario{
		{
			name: "bad values come before the record and the right", given: []write{event("e", "")},
			when:    write{op: "update event", on: "e", by: contributor, in: `{"featured":"2","venue":1}`},
			refused: "rest_invalid_param featured=type_bool venue=unknown_venue",
		},
		{
			name: "the record before the right", given: []write{event("e", "")},
			when: write{op: "update event", on: "999", by: contributor, in: `{}`}, refused: "not-found",
		},
		{
			name: "the id of another kind", given: []write{event("e", "")},
			when: write{op: "update venue", on: "e", by: editor}, refused: "not-found",
		},
		{name: "an unknown slug", when: write{op: "update venue", on: "/nope", by: editor}, refused: "not-found"},
		{name: "a user is no venue", when: write{op: "update venue", on: "4", by: editor}, refused: "not-found"},
		{
			name: "of another's post by an author", given: []write{event("e", "")},
			when: write{op: "update event", on: "e", by: author, ifMatch: []int64{7}}, refused: "rest_forbidden",
		},
		{
			name: "by slug needs the same right, and slugs of paths know no case", given: []write{event("e", "")},
			when: write{op: "update event", on: "/CONCERT", by: author}, refused: "rest_forbidden",
		},
		{
			name: "by slug, ids in the body mean nothing, slug renames", given: []write{event("e", ""), event("f", "")},
			when: write{op: "update event", on: "/concert", by: editor, in: `{"id":{{f}},"slug":"Gig","password":"x"}`}, entries: 1,
			fields: `{"slug":"gig","protected":null}`,
		},
		{
			name: "a password", given: []write{event("e", "")},
			when: write{op: "update event", on: "e", by: editor, in: `{"password":"geheim"}`}, entries: 1, fields: `{"protected":true}`,
			then: func(b *bench) {
				t := b.t
				for password, want := range map[string]bool{"geheim": true, "Geheim": false, "": false} {
					if ok, err := b.CheckPassword(t.Context(), b.named["e"], password); ok != want || err != nil {
						t.Errorf("CheckPassword(%q): %v, %v", password, ok, err)
					}
				}
				entries, err := b.store.Read(t.Context(), eventstore.Range{Limit: 100})
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range entries {
					if s := string(e.Fields) + string(e.State); containsAny(s, "geheim", "hash of", "password") {
						t.Errorf("entry %d shows the password: %s", e.Position, s)
					}
				}
				b.must(write{op: "update event", on: "e", by: editor, in: `{"title":"n"}`})
				if ok, _ := b.CheckPassword(t.Context(), b.named["e"], "geheim"); !ok {
					t.Error("an update without password lost it")
				}
				b.must(write{op: "update event", on: "e", by: editor, in: `{"password":""}`})
				if ok, _ := b.CheckPassword(t.Context(), b.named["e"], "other"); !ok {
					t.Error("an empty password did not open the event")
				}
			},
		},
		{
			name: "the selector wins over the root", given: []write{event("e", "")},
			when: write{op: "update event", on: "e", by: editor, lang: "fr", in: `{"title":"音乐会","multilang_language":"cn"}`}, entries: 1,
			fields: `{"title":{"en":"Concert","cn":"音乐会"}}`,
		},
		{
			name: "a stale If-Match", given: []write{event("e", ""), {op: "update event", on: "e", by: editor}},
			when: write{op: "update event", on: "e", by: editor, ifMatch: []int64{1, 7}}, refused: "rest_precondition_failed",
		},
		{
			name: "an empty If-Match fits never", given: []write{event("e", "")},
			when: write{op: "update event", on: "e", by: editor, ifMatch: []int64{}}, refused: "rest_precondition_failed",
		},
		{
			name: "If-Match with a star, and one of a list", given: []write{event("e", ""), {op: "update event", on: "e", by: editor, ifMatch: []int64{0}}},
			when: write{op: "update event", on: "e", by: editor, ifMatch: []int64{9, 2}}, entries: 1,
		},
	})
}

func TestDelete(t *testing.T) {
	t.Parallel()
	run(t, []scenario{
		{
			name: "a post goes to the trash", given: []write{event("e", "")},
			when: write{op: "delete event", on: "e", by: editor}, entries: 1, fields: `{"status":"trash","slug":"concert__trashed"}`,
		},
		{
			name: "and is found there by its new slug", given: []write{event("e", ""), {op: "delete event", on: "/concert", by: editor}},
			when: write{op: "delete event", on: "/concert__trashed", by: editor}, refused: "is-in-trash",
		},
		{
			name: "not by the old one", given: []write{event("e", ""), {op: "delete event", on: "e", by: editor}},
			when: write{op: "delete event", on: "/concert", by: editor}, refused: "not-found",
		},
		{
			name: "a term is gone for good", given: []write{term("tag", "t", `{"name":"Open air"}`), {op: "delete tag", on: "t", by: editor}},
			when: write{op: "delete tag", on: "t", by: editor}, refused: "not-found",
		},
		{
			name: "a term is answered as it was before", given: []write{term("tag", "t", `{"name":"Open air"}`)},
			when: write{op: "delete tag", on: "t", by: editor}, entries: 1, fields: `{"name":{"en":"Open air"},"slug":"open-air"}`,
			then: func(b *bench) {
				t := b.t
				if !b.stored("t").Deleted {
					t.Error("the tag is not deleted")
				}
				b.must(term("tag", "u", `{"name":"Open air"}`))
				b.checkFields(b.stored("u"), `{"slug":"open-air"}`)
			},
		},
		{
			name: "child categories move up",
			given: []write{
				term("category", "top", `{"name":"Music"}`), term("category", "mid", `{"name":"Jazz","parent":{{top}}}`),
				term("category", "a", `{"name":"Bop","parent":{{mid}}}`), term("category", "b", `{"name":"Swing","parent":"{{mid}}"}`),
			},
			when: write{op: "delete category", on: "mid", by: editor}, entries: 3, fields: `{"parent":{{top}}}`,
			then: func(b *bench) {
				t := b.t
				b.checkFields(b.stored("a"), `{"parent":{{top}}}`)
				b.checkFields(b.stored("b"), `{"parent":{{top}}}`)
				b.must(write{op: "delete category", on: "top", by: editor})
				b.checkFields(b.stored("a"), `{"parent":null}`)
				if v := b.stored("a").Version; v != 3 {
					t.Errorf("version of the child %d, want 3", v)
				}
			},
		},
		{name: "If-Match", given: []write{venue("v", `{"venue":"Hall"}`)}, when: write{op: "delete venue", on: "v", by: editor, ifMatch: []int64{2}}, refused: "rest_precondition_failed"},
		{name: "the right", given: []write{venue("v", `{"venue":"Hall"}`)}, when: write{op: "delete venue", on: "v", by: author}, refused: "rest_forbidden"},
		{name: "password as text", given: []write{event("e", "")}, when: write{op: "delete event", on: "e", by: editor, in: `{"password":["a"]}`}, refused: "rest_invalid_param password=type_text"},
		{name: "anonymous", given: []write{event("e", "")}, when: write{op: "delete event", on: "e"}, refused: "rest_unauthorized"},
	})
}
