package command_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"daybook/calendar"
	"daybook/eventstore"
)

// checkInvariants checks what holds after any writes: positions are dense,
// every state is the fold of the record's changes, slugs are unique in their
// kind, and categories form a forest of live parents.
func checkInvariants(ctx context.Context, t rapid.TB, store eventstore.Store) {
	t.Helper()
	entries, err := allEntries(ctx, store)
	if err != nil {
		t.Fatal(err)
	}
	records := map[calendar.ID]*calendar.Record{}
	for i, entry := range entries {
		if entry.Position != calendar.Position(i+1) {
			t.Fatalf("entry %d has position %d", i+1, entry.Position)
		}
		home := calendar.LangEN
		state, err := calendar.DecodeRecord(entry.State)
		if err != nil {
			t.Fatal(err)
		}
		if entry.Version == 1 {
			home = state.Home
		}
		change, err := calendar.DecodeChange(entry.Change, entry.ID, home, entry.Fields)
		if err != nil {
			t.Fatal(err)
		}
		folded, err := calendar.Apply(records[entry.ID], change, entry.Time)
		if err != nil {
			t.Fatal(err)
		}
		if text := cmp.Diff(folded, state, cmpopts.IgnoreFields(calendar.Record{}, "Sum")); text != "" {
			t.Fatalf("entry %d: the state is not the fold (-fold +state):\n%s", entry.Position, text)
		}
		records[entry.ID] = folded
	}
	slugs := map[calendar.Claim]calendar.ID{}
	for id, record := range records {
		for _, claim := range calendar.Claims(record) {
			if other, taken := slugs[claim]; taken {
				t.Errorf("%d and %d claim %v", id, other, claim)
			}
			slugs[claim] = id
		}
		if record.Kind.IsPost() && record.Slug() == "" && (record.Fields.String("status") == "publish" || record.Fields.String("status") == "private") {
			t.Errorf("%s %d has no slug", record.Kind, id)
		}
		if record.Kind != calendar.KindCategory || record.Deleted {
			continue
		}
		seen := map[calendar.ID]bool{id: true}
		for at := record; at.Fields.ID("parent") != 0; {
			at = records[at.Fields.ID("parent")]
			if at == nil || at.Deleted || at.Kind != calendar.KindCategory {
				t.Fatalf("category %d stands below one that is not there", id)
			}
			if seen[at.ID] {
				t.Fatalf("category %d stands in a cycle", id)
			}
			seen[at.ID] = true
		}
	}
	claims := slices.Collect(maps.Keys(slugs))
	found, err := store.Find(ctx, eventstore.Lookup{Claims: claims})
	if err != nil {
		t.Fatal(err)
	}
	for i, claim := range claims {
		if found.Holders[i] != slugs[claim] {
			t.Errorf("claim %v is held by %d, want %d", claim, found.Holders[i], slugs[claim])
		}
	}
}

// allEntries returns the log.
func allEntries(ctx context.Context, store eventstore.Store) (all []eventstore.Entry, err error) {
	for {
		page, err := store.Read(ctx, eventstore.Range{After: uint64(len(all)), Limit: 1000})
		if err != nil || len(page) == 0 {
			return all, err
		}
		all = append(all, page...)
	}
}

// TestRandomWrites runs random sequences of writes; whatever is refused, the
// invariants hold, refused writes append nothing, and no error is internal.
func TestRandomWrites(t *testing.T) {
	t.Parallel()
	kinds := []string{"event", "venue", "organizer", "category", "tag"}
	callers := []calendar.Caller{contributor, author, editor, admin, editor, editor}
	rapid.Check(t, func(rt *rapid.T) {
		bench := setup(t)
		names := rapid.SampledFrom([]string{"Hall", "hall", "Hall!", "Jazz", "0", "", "音乐", "Hall 2", "7"})
		ids := func(label string) string {
			head := int(bench.head())
			return fmt.Sprint(rapid.IntRange(1, head+2).Draw(rt, label))
		}
		for range rapid.IntRange(1, 25).Draw(rt, "writes") {
			kind := rapid.SampledFrom(kinds).Draw(rt, "kind")
			w := write{
				op: rapid.SampledFrom([]string{"create", "create", "update", "update", "delete"}).Draw(rt, "op") + " " + kind,
				by: rapid.SampledFrom(callers).Draw(rt, "caller"), lang: rapid.SampledFrom([]string{"en", "en", "fr"}).Draw(rt, "lang"),
			}
			if !strings.HasPrefix(w.op, "create") {
				w.on = ids("target")
			}
			in := map[string]string{}
			put := func(name, value string) {
				if rapid.Bool().Draw(rt, name) {
					in[name] = value
				}
			}
			name := map[string]string{"event": "title", "category": "name", "tag": "name"}[kind]
			if name == "" {
				name = kind
			}
			in[name] = `"` + names.Draw(rt, "name") + `"`
			if strings.HasPrefix(w.op, "update") && rapid.Bool().Draw(rt, "no name") {
				delete(in, name)
			}
			put("slug", `"`+names.Draw(rt, "slug")+`"`)
			put("status", rapid.SampledFrom([]string{`"publish"`, `"draft"`, `"private"`, `"future"`}).Draw(rt, "status"))
			if kind == "event" {
				in["start_date"], in["end_date"] = `"2026-07-04"`, `"2026-07-05 12:00"`
				put("venue", `[`+ids("venue id")+`,{"venue":"`+names.Draw(rt, "inline")+`"}]`)
				put("organizer", `{"organizer":"`+names.Draw(rt, "inline organizer")+`"}`)
				put("tags", `["`+names.Draw(rt, "tag name")+`","`+names.Draw(rt, "tag name")+`"]`)
				put("categories", `[`+ids("category id")+`]`)
				put("image", `"https://a.example/`+ids("image")+`.png"`)
			}
			if kind == "category" {
				put("parent", ids("parent"))
			}
			var parts []string
			for f, v := range in {
				parts = append(parts, `"`+f+`":`+v)
			}
			w.in = "{" + strings.Join(parts, ",") + "}"
			before := bench.head()
			res, err := bench.do(w)
			switch {
			case err == nil && !res.Existing && bench.head() <= before:
				rt.Fatalf("%s %s wrote nothing", w.op, w.in)
			case err == nil && res.Position != bench.head():
				rt.Fatalf("%s %s: position %d, head %d", w.op, w.in, res.Position, bench.head())
			case err != nil && bench.head() != before:
				rt.Fatalf("%s %s was refused and wrote", w.op, w.in)
			case strings.HasPrefix(refusal(err), "internal"), refusal(err) == "rest_unavailable":
				rt.Fatalf("%s %s %s: %v", w.op, w.on, w.in, err)
			}
		}
		checkInvariants(t.Context(), rt, bench.store)
	})
}
