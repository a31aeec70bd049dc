package command_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/verify"
)

// checkInvariants checks what holds after any writes: what verify checks, every published post
// has a slug, and categories form a forest of live parents.
func checkInvariants(ctx context.Context, t rapid.TB, store eventstore.Store) {
	t.Helper()
	if findings, err := verify.Store(ctx, store, nil); err != nil || findings.Err() != nil {
		t.Fatalf("verify: %+v, %v", findings, err)
	}
	categories := map[calendar.ID]*calendar.Record{}
	for _, kind := range calendar.Kinds {
		all, err := store.Records(ctx, kind, 0, 10_000)
		if err != nil {
			t.Fatal(err)
		}
		for _, held := range all {
			record, err := calendar.DecodeRecord(held.Record)
			if err != nil {
				t.Fatal(err)
			}
			if status := record.Fields.String("status"); record.Slug() == "" && (status == "publish" || status == "private") {
				t.Errorf("%s %d has no slug", kind, record.ID)
			}
			if kind == calendar.KindCategory && !record.Deleted {
				categories[record.ID] = record
			}
		}
	}
	for id, record := range categories {
		for steps := 0; record.Fields.ID("parent") != 0; steps++ {
			if record = categories[record.Fields.ID("parent")]; record == nil || steps > len(categories) {
				t.Fatalf("category %d stands below one that is not there, or in a cycle", id)
			}
		}
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
				op:     rapid.SampledFrom([]string{"create", "create", "update", "update", "delete"}).Draw(rt, "op") + " " + kind,
				caller: rapid.SampledFrom(callers).Draw(rt, "caller"), lang: rapid.SampledFrom([]string{"en", "en", "fr"}).Draw(rt, "lang"),
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
