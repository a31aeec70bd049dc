package sqlite_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// wholeLog is all that a log holds.
type wholeLog struct {
	Entries []eventstore.Entry
	Leaves  [][32]byte
	Commits []eventstore.Commit
	UUID    [16]byte
}

func logOf(t *testing.T, s *sqlite.Store) (l wholeLog) {
	t.Helper()
	var errs [4]error
	l.Entries, errs[0] = s.ReadStored(t.Context(), 0, 100)
	l.Leaves, errs[1] = s.Leaves(t.Context(), 0, 100)
	l.Commits, errs[2] = s.Commits(t.Context(), 0, 100)
	l.UUID, errs[3] = s.UUID(t.Context())
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return l
}

// TestFill is HISTORY 20.41 of the store: a part of a log is a store that verifies, has
// the entries that count with their leaves, a beginning of it also with the same commits,
// and goes on.
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
	own := logOf(t, from)
	for name, tt := range map[string]struct {
		at      eventstore.Point
		entries []calendar.Position // as they were
		same    int                 // commits, one for each entry
		finding eventstore.Finding
	}{
		"all":                    {eventstore.Point{Position: 10}, []calendar.Position{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 10, eventstore.FoundRedacted},
		"prefix of an erased":    {eventstore.Point{Position: 2}, []calendar.Position{1, 2, 4, 9}, 2, eventstore.FoundRedacted},
		"prefix":                 {eventstore.Point{Position: 6}, []calendar.Position{1, 2, 3, 4, 5, 6, 9}, 6, eventstore.FoundRedacted},
		"time":                   {eventstore.Point{Time: now.Add(time.Hour)}, []calendar.Position{1, 2, 3, 4, 5, 6, 7, 9, 10}, 7, eventstore.FoundRedacted},
		"import only":            {eventstore.Point{Time: now.Add(-24 * time.Hour)}, []calendar.Position{5, 6, 7, 10}, 0, eventstore.FoundIntact},
		"version of lower times": {eventstore.Point{Time: now.Add(-48 * time.Hour)}, []calendar.Position{5, 6, 10}, 0, eventstore.FoundIntact},
		"nothing":                {eventstore.Point{Time: now.Add(-49 * time.Hour)}, nil, 0, eventstore.FoundIntact},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			to, part, err := filled(t, from, tt.at)
			if err != nil {
				t.Fatal(err)
			}
			want := wholeLog{Commits: own.Commits[:tt.same], UUID: own.UUID}
			for i, p := range tt.entries {
				e := own.Entries[p-1]
				e.Position = calendar.Position(i + 1)
				if e.Redacted != nil {
					e.Redacted = &eventstore.Redacted{By: calendar.Position(slices.Index(tt.entries, e.Redacted.By) + 1), Hashes: e.Redacted.Hashes}
				}
				want.Entries, want.Leaves = append(want.Entries, e), append(want.Leaves, own.Leaves[p-1])
			}
			got := logOf(t, to)
			got.Commits = got.Commits[:tt.same]
			if diff := cmp.Diff(want, got, storetest.Alike); diff != "" {
				t.Errorf("the log (-want +got):\n%s", diff)
			}
			if f := verify(t, to); f.Finding != tt.finding || int(f.Entries) != len(tt.entries) || part.Entries != f.Entries || int(part.Same) != tt.same {
				t.Errorf("got %+v, %d entries, %d as they were", f, part.Entries, part.Same)
			}
			states, err := to.Records(ctx, calendar.KindTag, 0, 10)
			if err != nil {
				t.Fatal(err)
			}
			for i := range states { // past slugs are not verified
				r, _ := calendar.DecodeRecord(states[i].Record)
				if id, err := to.SlugAt(ctx, r.Kind, r.Slug(), eventstore.Point{Position: part.Entries}); err != nil || id != r.ID {
					t.Errorf("slug %s is that of %d, %v", r.Slug(), id, err)
				}
			}
			id, err := to.NewIDs(ctx, 1)
			if err != nil {
				t.Fatal(err)
			}
			d, _ := storetest.Draft(t, nil, calendar.Change{Name: "tag.created", Kind: calendar.KindTag, ID: id, Fields: calendar.Fields{"slug": "new"}}, now)
			if res := to.Append(ctx, []eventstore.Append{{Drafts: []eventstore.Draft{d}, Time: now}})[0]; res.Err != nil || res.Position != part.Entries+1 {
				t.Errorf("append: %+v", res)
			}
			if err := to.Fill(ctx, part, nil); !errors.Is(err, eventstore.ErrNotEmpty) {
				t.Errorf("filled twice: %v", err)
			}
			if f := verify(t, to); f.Err() != nil {
				t.Errorf("after an append: %v", f.Err())
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
