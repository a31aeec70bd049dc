package conferences_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/internal/access"
	"daybook/internal/conferences"
	"daybook/internal/htmltext"
	"daybook/internal/importer"
	"daybook/internal/testkit"
)

// now lies behind all changes of the history.
var now = time.Date(2027, time.January, 1, 0, 0, 0, 0, time.UTC)

// TestHistory imports the whole history and compares the end with a fold that
// knows nothing of the service.
func TestHistory(t *testing.T) {
	t.Parallel()
	history := testkit.History(t)
	var lines bytes.Buffer
	if err := conferences.Convert(&lines, history); err != nil {
		t.Fatal(err)
	}
	if _, err := history.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	live, impossible, err := conferences.Expected(history)
	if err != nil {
		t.Fatal(err)
	}
	if len(live) != 6787 {
		t.Fatalf("%d conferences live after the history, want 6787", len(live))
	}

	store := memstore.New()
	t.Cleanup(func() { _ = store.Close() })
	clean := htmltext.New()
	commands, err := command.New(store, &calendar.Rules{Site: time.UTC, Clean: clean}, testkit.PlainHasher{},
		command.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	users := access.New(store)
	admin, err := users.Ensure(t.Context(), "importing", calendar.Administrator, 0)
	if err != nil {
		t.Fatal(err)
	}
	run := func() importer.Report {
		im, err := importer.New(store, commands, users, importer.Options{Source: "conferences", Caller: admin})
		if err != nil {
			t.Fatal(err)
		}
		r, err := im.Run(t.Context(), bytes.NewReader(lines.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	report := run()
	var got, want []string
	for _, r := range report.Refused {
		got = append(got, r.Key)
	}
	for _, i := range impossible {
		want = append(want, fmt.Sprintf("event:%d", i.ID))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("refused lines (-want +got):\n%s\n%+v", d, report.Refused)
	}
	if n := int64(len(report.Refused)) * 100; n >= report.Lines {
		t.Errorf("%d of %d lines were refused, want less than 1 %%", len(report.Refused), report.Lines)
	}
	compare(t, store, clean, live)
	compareFacets(t, all(t.Context(), t, store))

	head, err := store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if again := run(); again.Applied != 0 {
		t.Errorf("the second run applied %d lines", again.Applied)
	}
	if h, err := store.Head(t.Context()); err != nil || h != head {
		t.Errorf("the second run moved the head from %d to %d, %v", head, h, err)
	}
}

// compare holds the records of the store against the live conferences.
func compare(t *testing.T, store eventstore.Store, clean calendar.Cleaner, live map[int64]*conferences.Live) {
	t.Helper()
	records := all(t.Context(), t, store)
	events := 0
	for _, r := range records {
		if r.Kind == calendar.KindEvent && r.Status(now) == calendar.StatusPublish {
			events++
		}
	}
	if events != len(live) {
		t.Errorf("%d published events, want %d", events, len(live))
	}
	name := func(id calendar.ID) string {
		s, _ := records[id].Name(calendar.LangEN)
		return s
	}
	for _, l := range live {
		claim := calendar.ImportClaim("conferences", fmt.Sprintf("event:%d", l.ID))
		holders, _, err := store.Find(t.Context(), []calendar.Claim{claim}, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := records[holders[0]]
		if r == nil {
			t.Errorf("conference %d is missing", l.ID)
			continue
		}
		got := conferences.Live{
			ID: l.ID, Title: r.Fields.Text("title")[calendar.LangEN], Website: r.Fields.String("website"),
			Start: r.Fields.Wall("start_date").String(), End: r.Fields.Wall("end_date").String(),
			Description: r.Fields.Text("description")[calendar.LangEN],
			Created:     r.Fields.Wall("date_utc").UTC(), Changed: r.Changed, Changes: int(r.Version),
		}
		for _, id := range r.Fields.IDs("venue") {
			got.Place = conferences.Place{City: records[id].Fields.String("city"), Country: records[id].Fields.String("country")}
			if name(id) != got.Place.Name() {
				t.Errorf("venue %d is named %q", id, name(id))
			}
		}
		for _, id := range r.Fields.IDs("categories") {
			got.Topic = name(id)
		}
		for _, id := range r.Fields.IDs("tags") {
			got.Tags = append(got.Tags, name(id))
		}
		if _, err := fmt.Sscanf(records[r.Author()].Fields.String("name"), "author-%d", &got.Author); err != nil {
			t.Errorf("author of conference %d: %v", l.ID, err)
		}
		want := *l
		want.Description = clean.HTML(want.Description)
		want.Start += " 00:00:00"
		want.End += " 23:59:59"
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("conference %d (-want +got):\n%s", l.ID, d)
		}
		if !slices.Equal(r.Langs(), []calendar.Lang{calendar.LangEN}) || r.Fields.String("timezone") != "UTC" || !r.Fields.Bool("all_day") {
			t.Errorf("conference %d: %v", l.ID, r.Fields)
		}
	}
}

// all gives all records of a store by id.
func all(ctx context.Context, t *testing.T, store eventstore.Store) map[calendar.ID]*calendar.Record {
	t.Helper()
	out := map[calendar.ID]*calendar.Record{}
	for after := calendar.ID(0); ; {
		states, err := store.Records(ctx, 0, after, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if len(states) == 0 {
			return out
		}
		for _, s := range states {
			r, err := calendar.DecodeRecord(s.Record)
			if err != nil {
				t.Fatal(err)
			}
			out[r.ID] = r
			after = r.ID
		}
	}
}
