package conferences_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/internal/access"
	"daybook/internal/htmltext"
	"daybook/internal/importer"
	"daybook/internal/testkit/conferences"
	"daybook/internal/testkit/engines"
	"daybook/internal/testkit/world"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
)

// now lies behind all changes of the history.
var now = time.Date(2027, time.January, 1, 0, 0, 0, 0, time.UTC)

// TestHistory imports the whole history and compares the end with a fold that
// knows nothing of the service.
func TestHistory(t *testing.T) {
	t.Parallel()
	history := engines.History(t)
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
	commands, err := command.New(store, &calendar.Rules{Site: time.UTC, Clean: clean}, world.PlainHasher{},
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
	findMisspelt(t, all(t.Context(), t, store))
	suggestNames(t, all(t.Context(), t, store))

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

// findMisspelt searches events by one word of their title with one typo in it, with typos
// on: LISTINGS 3.3, 8.32. What is typed has four letters, as shorter words have no typos.
func findMisspelt(t *testing.T, records map[calendar.ID]*calendar.Record) {
	t.Helper()
	index, err := memindex.New(memindex.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b readmodel.Batch
	var events []*calendar.Record
	for _, r := range records {
		if r.Kind != calendar.KindEvent || r.Deleted {
			continue
		}
		body, err := calendar.EncodeRecord(r)
		if err != nil {
			t.Fatal(err)
		}
		b.Documents = append(b.Documents, readmodel.Document{Position: 1, Record: r, Body: body})
		events = append(events, r)
	}
	if _, err := index.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(events, func(a, b *calendar.Record) int { return int(a.ID - b.ID) })
	g := rand.New(rand.NewPCG(12, 1))
	fields := []string{readmodel.TextName, readmodel.TextDescription, readmodel.TextExcerpt}
	searched, found := 0, 0
	for i := 0; i < len(events); i += 3 {
		title, _ := events[i].Name(calendar.LangEN)
		words := slices.DeleteFunc(readmodel.Tokens(title), func(w string) bool {
			return len([]rune(w)) < 4 || strings.ContainsFunc(w, unicode.IsDigit)
		})
		if len(words) == 0 {
			continue
		}
		r := []rune(words[g.IntN(len(words))])
		at := g.IntN(len(r))
		switch kind := g.IntN(4); {
		case kind == 0:
			r = slices.Insert(r, at, rune('a'+g.IntN(26)))
		case kind == 1 && len(r) > 4:
			r = slices.Delete(r, at, at+1)
		case kind == 2 && at > 0:
			r[at], r[at-1] = r[at-1], r[at]
		default:
			r[at] = rune('a' + g.IntN(26))
		}
		searched++
		page, err := index.Search(t.Context(), readmodel.Query{Kind: calendar.KindEvent, Filter: readmodel.And{
			readmodel.In{Field: readmodel.FieldID, IDs: []calendar.ID{events[i].ID}},
			readmodel.Text{Fields: fields, Search: readmodel.ParseSearch(string(r), calendar.LangEN), Typos: readmodel.MaxTypos},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if found += page.Total; page.Total == 0 {
			t.Logf("%q does not find %q", string(r), title)
		}
	}
	if searched < 2000 || found*100 < searched*99 {
		t.Errorf("%d of %d events were found by a word with a typo, want 99 %% of at least 2000", found, searched)
	}
	t.Logf("%d of %d events were found by a word with a typo", found, searched)
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
