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
	"daybook/eventstore/verify"
)

// created makes a store of what counts at a point of another one.
func created(t *testing.T, from *sqlite.Store, at eventstore.Point) (*sqlite.Store, *eventstore.Copy, error) {
	t.Helper()
	dir := t.TempDir()
	part, err := eventstore.NewPart(t.Context(), from, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Create(t.Context(), dir, part); err != nil {
		return nil, nil, err
	}
	return open(t, dir, sqlite.Options{}), part, nil
}

// wholeLog is all that a log holds.
type wholeLog struct {
	Entries []eventstore.Entry
	Commits []eventstore.Commit
	UUID    [16]byte
}

func logOf(t *testing.T, s *sqlite.Store) (l wholeLog) {
	t.Helper()
	var errs [3]error
	var h eventstore.Head
	l.Entries, errs[0] = s.Read(t.Context(), eventstore.Range{Limit: 100})
	l.Commits, errs[1] = s.Commits(t.Context(), 1, 100)
	h, errs[2] = s.Head(t.Context(), eventstore.Point{})
	l.UUID = h.UUID
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return l
}

// TestCreate is HISTORY 20.41 of the store: a part of a log is a store that verifies, has
// the entries that count with their leaves, a beginning of it also with the same commits,
// and goes on.
func TestCreate(t *testing.T) {
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
	tag(3, "three", time.Hour, []byte("kept"))                                                         // 5
	tag(3, "drei", 2*time.Hour, nil)                                                                   // 6
	tag(4, "four", -24*time.Hour, []byte{})                                                            // 7, an import
	tag(4, "vier", 3*time.Hour, []byte("too new"))                                                     // 8
	if res := from.Append(ctx, []eventstore.Append{erasure})[0]; res.Err != nil || res.Position != 9 { // at now
		t.Fatalf("erase: %+v", res)
	}
	tag(3, "trois", -48*time.Hour, nil) // 10, an import
	own := logOf(t, from)
	for name, tt := range map[string]struct {
		at      eventstore.Point
		entries []calendar.Position // as they were
		same    int                 // commits, one for each entry
		result  verify.Result
	}{
		"all":                    {eventstore.Point{Position: 10}, []calendar.Position{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 10, verify.Redacted},
		"prefix of an erased":    {eventstore.Point{Position: 2}, []calendar.Position{1, 2, 4, 9}, 2, verify.Redacted},
		"prefix":                 {eventstore.Point{Position: 6}, []calendar.Position{1, 2, 3, 4, 5, 6, 9}, 6, verify.Redacted},
		"time":                   {eventstore.Point{Time: now.Add(time.Hour)}, []calendar.Position{1, 2, 3, 4, 5, 6, 7, 9, 10}, 7, verify.Redacted},
		"import only":            {eventstore.Point{Time: now.Add(-24 * time.Hour)}, []calendar.Position{5, 6, 7, 10}, 0, verify.Intact},
		"version of lower times": {eventstore.Point{Time: now.Add(-48 * time.Hour)}, []calendar.Position{5, 6, 10}, 0, verify.Intact},
		"nothing":                {eventstore.Point{Time: now.Add(-49 * time.Hour)}, nil, 0, verify.Intact},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			to, part, err := created(t, from, tt.at)
			if err != nil {
				t.Fatal(err)
			}
			want := wholeLog{Commits: own.Commits[:tt.same], UUID: own.UUID}
			var leaves [][32]byte
			for i, p := range tt.entries {
				e := own.Entries[p-1]
				e.Position = calendar.Position(i + 1)
				if e.Redacted != nil {
					e.Redacted = &eventstore.Redacted{By: calendar.Position(slices.Index(tt.entries, e.Redacted.By) + 1), Hashes: e.Redacted.Hashes}
				}
				want.Entries, leaves = append(want.Entries, e), append(leaves, own.Commits[p-1].Leaves[0])
			}
			got := logOf(t, to)
			for i := range got.Commits {
				if got.Commits[i].Leaves[0] != leaves[i] {
					t.Errorf("the leaf of entry %d is another one", i+1)
				}
			}
			got.Commits = got.Commits[:tt.same]
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("the log (-want +got):\n%s", diff)
			}
			if f := found(t, to); f.Result != tt.result || int(f.Entries) != len(tt.entries) || part.Entries != f.Entries || int(part.Same) != tt.same {
				t.Errorf("got %+v, %d entries, %d as they were", f, part.Entries, part.Same)
			}
			states, err := to.Records(ctx, calendar.KindTag, 0, 10)
			if err != nil {
				t.Fatal(err)
			}
			for i := range states { // past slugs are not verified
				r, _ := calendar.DecodeRecord(states[i].Record)
				if id, err := eventstore.SlugAt(ctx, to, r.Kind, r.Slug(), eventstore.Point{Position: part.Entries}); err != nil || id != r.ID {
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
			if f := found(t, to); f.Err() != nil {
				t.Errorf("after an append: %v", f.Err())
			}
		})
	}
}

// TestCreateTwoOfASlug: by times that fall two records may have one slug, which no store
// can hold.
func TestCreateTwoOfASlug(t *testing.T) {
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
	_, _, err := created(t, from, eventstore.Point{Time: now})
	if claim, ok := errors.AsType[*eventstore.ClaimError](err); !ok || claim.Claim.Key != "jazz" || claim.Holder != 1 {
		t.Errorf("two of a slug: %v", err)
	}
	if to, _, err := created(t, from, eventstore.Point{Position: 3}); err != nil || found(t, to).Result != verify.Intact {
		t.Errorf("by position: %v", err)
	}
}

// TestCreateWhole: the copy of a whole store has its receipts and checkpoints, too, and
// what is there is not overwritten.
func TestCreateWhole(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	from := open(t, t.TempDir(), sqlite.Options{})
	erasure := eraseLog(t, from)
	signed := eventstore.Checkpoint{Size: 3, Origin: "o", Note: []byte("note\n"), Time: time.UnixMilli(5).UTC(), Keys: "k"}
	for _, a := range []eventstore.Append{erasure, {Checkpoint: &signed}} {
		if res := from.Append(ctx, []eventstore.Append{a})[0]; res.Err != nil {
			t.Fatal(res.Err)
		}
	}
	whole, err := eventstore.NewCopy(ctx, from)
	if err != nil {
		t.Fatal(err)
	}
	whole.Receipts = from.Receipts(ctx)
	dir := t.TempDir()
	if err := sqlite.Create(ctx, dir, whole); err != nil {
		t.Fatal(err)
	}
	to := open(t, dir, sqlite.Options{})
	if diff := cmp.Diff(logOf(t, from), logOf(t, to), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the log (-want +got):\n%s", diff)
	}
	if err := damage(t, to); err != nil {
		t.Error(err)
	}
	for _, key := range []string{"k", "l"} {
		want, err := from.Receipt(ctx, 7, key)
		if err != nil || want == nil {
			t.Fatalf("receipt %s: %+v, %v", key, want, err)
		}
		if got, err := to.Receipt(ctx, 7, key); err != nil || !cmp.Equal(want, got) {
			t.Errorf("receipt %s: got %+v, %v, want %+v", key, got, err, want)
		}
	}
	if got, err := eventstore.CheckpointAt(ctx, to, 0); err != nil || !cmp.Equal(got, signed) {
		t.Errorf("checkpoint: %+v, %v", got, err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Create(ctx, dir, whole); !errors.Is(err, eventstore.ErrNotEmpty) {
		t.Errorf("filled twice: %v", err)
	}
}
