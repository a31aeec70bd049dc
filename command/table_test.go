package command_test

import (
	"testing"
	"time"

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
	for _, scenario := range scenarios {
		t.Run(scenario.name, func(t *testing.T) {
			t.Parallel()
			bench := setup(t)
			for _, write := range scenario.given {
				bench.must(write)
			}
			before := bench.head()
			res, err := bench.do(scenario.when)
			if got := refusal(err); got != scenario.refused {
				t.Fatalf("refusal:\n got %q\nwant %q", got, scenario.refused)
			}
			if got := int(bench.head() - before); got != scenario.entries {
				t.Errorf("the write made %d entries, want %d", got, scenario.entries)
			}
			if err == nil && scenario.entries > 0 && res.Position != bench.head() {
				t.Errorf("position %d, want the head %d", res.Position, bench.head())
			}
			if scenario.fields != "" {
				bench.checkFields(res.Record, scenario.fields)
			}
			if scenario.then != nil {
				scenario.then(bench)
			}
		})
	}
}

// event is a create of an event that is fine.
func event(as string, more string) write {
	if more != "" {
		more = "," + more
	}
	return write{op: "create event", as: as, caller: editor, in: `{"title":"Concert","start_date":"2026-07-04 18:30","end_date":"2026-07-04 21:00"` + more + `}`}
}

func venue(as, in string) write {
	return write{op: "create venue", as: as, caller: editor, in: in}
}

func organizer(as, in string) write {
	return write{op: "create organizer", as: as, caller: editor, in: in}
}

func term(kind, as, in string) write {
	return write{op: "create " + kind, as: as, caller: editor, in: in}
}

// TestWrites: what internal/e2e does not ask for.
func TestWrites(t *testing.T) {
	t.Parallel()
	run(t, []scenario{
		{
			name: "an event with its defaults",
			when: event("e", ""), entries: 1,
			fields: `{"title":{"en":"Concert"},"slug":"concert","status":"publish","author":4,"timezone":"America/New_York",
				"start_date":"2026-07-04 18:30:00","utc_start_date":"2026-07-04 22:30:00","all_day":false,
				"date":"2026-05-01 06:00:00","date_utc":"2026-05-01 10:00:00","venue":null}`,
		},
		{name: "missing fields are named in logs", when: write{op: "create event", caller: editor, in: `{"title":"x"}`}, refused: "rest_missing_callback_param start_date end_date"},
		{
			name: "invalid fields come all at once, the links too",
			when: write{op: "create event", caller: author, in: `{"title":"","start_date":"2026-02-30","end_date":"2026-07-04","website":"no","featured":"2",
				"venue":99,"organizer":[98],"categories":[97],"tags":["96"],"post_parent":95,"image":94,"author":93}`},
			refused: "rest_invalid_param author=other_author title=empty start_date=date website=url featured=type_bool " +
				"image=unknown_image categories=unknown_category tags=unknown_tag venue=unknown_venue organizer=unknown_organizer post_parent=unknown_event",
		},
		{
			name:    "a coordinate without the other, together with a bad name",
			when:    venue("", `{"venue":"0","geo_lat":1}`),
			refused: "rest_invalid_param venue=zero geo_lng=pair_missing",
		},
		{
			name:    "an author who does not exist, or is no user",
			given:   []write{venue("v", `{"venue":"Hall"}`)},
			when:    write{op: "create venue", caller: editor, in: `{"venue":"Other","author":{{v}}}`},
			refused: "rest_invalid_param author=unknown_user",
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
			name: "at a moment of its own",
			when: write{op: "create venue", caller: editor, in: `{"venue":"Old"}`, as: "v", instant: time.Date(2018, 7, 16, 12, 0, 0, 0, time.UTC)}, entries: 1,
			fields: `{"date_utc":"2018-07-16 12:00:00","modified_utc":"2018-07-16 12:00:00"}`,
			then: func(b *bench) {
				t := b.t
				h, err := b.store.Read(t.Context(), eventstore.Range{Record: b.named["v"], Limit: 1})
				if err != nil || h[0].Time.Year() != 2018 || h[0].Actor != editor.ID || h[0].Cause.Client != "test" {
					t.Errorf("entry %+v, %v", h, err)
				}
			},
		},
		{
			name: "a password", given: []write{event("e", "")},
			when: write{op: "update event", on: "e", caller: editor, in: `{"password":"geheim"}`}, entries: 1, fields: `{"protected":true}`,
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
				for _, entry := range entries {
					if text := string(entry.Fields) + string(entry.State); containsAny(text, "geheim", "hash of", "password") {
						t.Errorf("entry %d shows the password: %s", entry.Position, text)
					}
				}
				b.must(write{op: "update event", on: "e", caller: editor, in: `{"title":"n"}`})
				if ok, _ := b.CheckPassword(t.Context(), b.named["e"], "geheim"); !ok {
					t.Error("an update without password lost it")
				}
				b.must(write{op: "update event", on: "e", caller: editor, in: `{"password":""}`})
				if ok, _ := b.CheckPassword(t.Context(), b.named["e"], "other"); !ok {
					t.Error("an empty password did not open the event")
				}
			},
		},
		{
			name: "the selector wins over the root", given: []write{event("e", "")},
			when: write{op: "update event", on: "e", caller: editor, lang: "fr", in: `{"title":"音乐会","multilang_language":"cn"}`}, entries: 1,
			fields: `{"title":{"en":"Concert","cn":"音乐会"}}`,
		},
		{name: "password as text", given: []write{event("e", "")}, when: write{op: "delete event", on: "e", caller: editor, in: `{"password":["a"]}`}, refused: "rest_invalid_param password=type_text"},
	})
}
