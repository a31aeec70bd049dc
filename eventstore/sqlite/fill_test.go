package sqlite_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/sqlite"
	"daybook/eventstore/storetest"
)

// filled fills an empty store with what counts at a point of another one.
func filled(t *testing.T, from *sqlite.Store, at eventstore.Point) (*sqlite.Store, *eventstore.Part, error) {
	t.Helper()
	to := open(t, filepath.Join(t.TempDir(), "daybook.db"), sqlite.Options{})
	part, err := eventstore.NewPart(t.Context(), from, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	return to, part, to.Fill(t.Context(), part, nil)
}

// TestFill is HISTORY 20.41 of the store: a part of a log is a store that verifies, a
// beginning of it with the same leaves and commits, and shows what counted.
func TestFill(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	from := open(t, filepath.Join(t.TempDir(), "daybook.db"), sqlite.Options{})
	erasure := eraseLog(t, from) // venue 1 at 1, 2 and 4, tag 2 at 3
	now := erasure.Time
	tags := map[calendar.ID]*calendar.Record{}
	tag := func(id calendar.ID, slug string, after time.Duration, secret []byte) {
		t.Helper()
		c := calendar.Change{Name: "tag.created", Kind: calendar.KindTag, ID: id, Home: calendar.LangEN, Fields: calendar.Fields{"slug": slug}, Secret: secret}
		if tags[id] != nil {
			c.Name = "tag.updated"
		}
		d, next := storetest.Draft(t, tags[id], c, now.Add(after))
		if res := from.Append(ctx, []eventstore.Append{{Drafts: []eventstore.Draft{d}, Time: now.Add(after)}})[0]; res.Err != nil {
			t.Fatal(res.Err)
		}
		tags[id] = next
	}
	tag(3, "three", time.Hour, []byte("kept"))                                // 5
	tag(3, "drei", 2*time.Hour, nil)                                          // 6
	tag(4, "four", -24*time.Hour, []byte{})                                   // 7, an import
	tag(4, "vier", 3*time.Hour, []byte("too new"))                            // 8
	if res := from.Erase(ctx, erasure); res.Err != nil || res.Position != 9 { // at now
		t.Fatalf("Erase: %+v", res)
	}
	tag(3, "trois", -48*time.Hour, nil) // 10, an import
	for name, tt := range map[string]struct {
		at      eventstore.Point
		entries []calendar.Position // as they were
		same    calendar.Position
		finding eventstore.Finding
		secret  string // of tag 3
	}{
		"all":                    {eventstore.Point{Position: 10}, []calendar.Position{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 10, eventstore.FoundRedacted, "kept"},
		"prefix of an erased":    {eventstore.Point{Position: 2}, []calendar.Position{1, 2, 4, 9}, 2, eventstore.FoundRedacted, ""},
		"prefix":                 {eventstore.Point{Position: 6}, []calendar.Position{1, 2, 3, 4, 5, 6, 9}, 6, eventstore.FoundRedacted, "kept"},
		"time":                   {eventstore.Point{Time: now.Add(time.Hour)}, []calendar.Position{1, 2, 3, 4, 5, 6, 7, 9, 10}, 7, eventstore.FoundRedacted, "kept"},
		"import only":            {eventstore.Point{Time: now.Add(-24 * time.Hour)}, []calendar.Position{5, 6, 7, 10}, 0, eventstore.FoundIntact, "kept"},
		"version of lower times": {eventstore.Point{Time: now.Add(-48 * time.Hour)}, []calendar.Position{5, 6, 10}, 0, eventstore.FoundIntact, "kept"},
		"nothing":                {eventstore.Point{Time: now.Add(-49 * time.Hour)}, nil, 0, eventstore.FoundIntact, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			to, part, err := filled(t, from, tt.at)
			if err != nil {
				t.Fatal(err)
			}
			found := verify(t, to)
			if found.Finding != tt.finding || int(found.Entries) != len(tt.entries) || part.Entries != found.Entries || part.Same != tt.same {
				t.Errorf("got %+v, %d entries, %d as they were", found, part.Entries, part.Same)
			}
			log, err := from.ReadStored(ctx, 0, 100)
			if err != nil {
				t.Fatal(err)
			}
			got, err := to.ReadStored(ctx, 0, 100)
			if err != nil {
				t.Fatal(err)
			}
			leaves, err := from.Leaves(ctx, 0, 100)
			if err != nil {
				t.Fatal(err)
			}
			own, err := to.Leaves(ctx, 0, 100)
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range tt.entries {
				want := log[p-1]
				want.Position = calendar.Position(i + 1)
				if want.Redacted != nil {
					by := slices.Index(tt.entries, want.Redacted.By) + 1
					want.Redacted = &eventstore.Redacted{By: calendar.Position(by), Hashes: want.Redacted.Hashes}
				}
				if diff := cmp.Diff(want, got[i]); diff != "" || own[i] != leaves[p-1] {
					t.Errorf("entry %d (was %d), leaf %x: %s", i+1, p, own[i], diff)
				}
			}
			if was, err := from.UUID(ctx); err != nil {
				t.Error(err)
			} else if id, err := to.UUID(ctx); err != nil || id != was {
				t.Errorf("UUID %x, %v, want %x", id, err, was)
			}
			before, err := from.Commits(ctx, 0, 100)
			if err != nil {
				t.Fatal(err)
			}
			commits, err := to.Commits(ctx, 0, 100)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before[:tt.same], commits[:min(int(tt.same), len(commits))], cmpopts.EquateEmpty()); diff != "" { // one for each entry
				t.Errorf("commits: %s", diff)
			}
			ids := []calendar.ID{2, 3, 4}
			then, err := from.At(ctx, tt.at, ids...)
			if err != nil {
				t.Fatal(err)
			}
			states, err := to.Load(ctx, ids...)
			if err != nil {
				t.Fatal(err)
			}
			for i := range ids {
				if states[i].Version != then[i].Version || string(states[i].Record) != string(then[i].State) {
					t.Errorf("record %d: %s, want %s", ids[i], states[i].Record, then[i].State)
				}
				if slug := "slug/tag"; states[i].Version > 0 {
					r, _ := calendar.DecodeRecord(then[i].State)
					holders, _, err := to.Find(ctx, []calendar.Claim{{Space: slug, Key: r.Slug()}}, nil)
					if err != nil || holders[0] != ids[i] {
						t.Errorf("slug %s: %v, %v", r.Slug(), holders, err)
					}
					if at, err := to.SlugAt(ctx, calendar.KindTag, r.Slug(), eventstore.Point{Position: part.Entries}); err != nil || at != ids[i] {
						t.Errorf("slug %s then: %d, %v", r.Slug(), at, err)
					}
				}
			}
			if string(states[1].Secret) != tt.secret {
				t.Errorf("secret %q, want %q", states[1].Secret, tt.secret)
			}
			// It goes on as a store.
			c := calendar.Change{Name: "tag.created", Kind: calendar.KindTag, Home: calendar.LangEN, Fields: calendar.Fields{"slug": "new"}}
			if c.ID, err = to.NewIDs(ctx, 1); err != nil {
				t.Fatal(err)
			}
			d, _ := storetest.Draft(t, nil, c, now)
			if res := to.Append(ctx, []eventstore.Append{{Drafts: []eventstore.Draft{d}, Time: now}})[0]; res.Err != nil || res.Position != part.Entries+1 {
				t.Errorf("append: %+v", res)
			}
			if err := to.Fill(ctx, part, nil); !errors.Is(err, eventstore.ErrNotEmpty) {
				t.Errorf("filled twice: %v", err)
			}
			if found := verify(t, to); found.Err() != nil {
				t.Errorf("after an append: %v", found.Err())
			}
		})
	}
}

// TestFillTwoOfASlug: by times that fall two records may have one slug, which no store
// can hold.
func TestFillTwoOfASlug(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	from := open(t, filepath.Join(t.TempDir(), "daybook.db"), sqlite.Options{})
	now := time.Date(2026, 5, 1, 9, 30, 0, 0, time.UTC)
	var first *calendar.Record
	for i, c := range []calendar.Change{
		{Name: "tag.created", ID: 1, Fields: calendar.Fields{"slug": "jazz"}},
		{Name: "tag.updated", ID: 1, Fields: calendar.Fields{"slug": "blues"}},
		{Name: "tag.created", ID: 2, Fields: calendar.Fields{"slug": "jazz"}},
	} {
		c.Kind, c.Home = calendar.KindTag, calendar.LangEN
		at := now.Add(time.Duration(i%2) * time.Hour)
		before := first
		if c.ID == 2 {
			before = nil
		}
		d, after := storetest.Draft(t, before, c, at)
		if res := from.Append(ctx, []eventstore.Append{{Drafts: []eventstore.Draft{d}, Time: at}})[0]; res.Err != nil {
			t.Fatal(res.Err)
		}
		if c.ID == 1 {
			first = after
		}
	}
	_, _, err := filled(t, from, eventstore.Point{Time: now})
	if claim, ok := errors.AsType[*eventstore.ClaimError](err); !ok || claim.Claim.Key != "jazz" || claim.Holder != 1 {
		t.Errorf("two of a slug: %v", err)
	}
	if to, _, err := filled(t, from, eventstore.Point{Position: 3}); err != nil || verify(t, to).Finding != eventstore.FoundIntact {
		t.Errorf("by position: %v", err)
	}
}
