package eventstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/eventstore/sqlite"
	"daybook/eventstore/storetest"
	"daybook/eventstore/verify"
)

// copied makes a store of a Copy, which has to be sound.
func copied(ctx context.Context, t *testing.T, c *eventstore.Copy) (eventstore.Store, error) {
	t.Helper()
	dir := t.TempDir()
	if err := sqlite.Create(ctx, dir, c); err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	if found, err := verify.Store(ctx, store, nil); err != nil || found.Err() != nil {
		t.Errorf("the copy is not sound: %v, %v", err, found.Err())
	}
	return store, nil
}

// source is a store that tags are written into, at times that go back as well.
type source struct {
	*testing.T
	eventstore.Store

	now  time.Time
	tags map[calendar.ID]*calendar.Record
}

func newSource(t *testing.T) *source {
	t.Helper()
	return &source{T: t, Store: memstore.New(), now: time.Date(2026, 5, 1, 9, 30, 0, 0, time.UTC), tags: map[calendar.ID]*calendar.Record{}}
}

func (source *source) tag(id calendar.ID, slug string, after time.Duration, secret []byte) {
	source.Helper()
	change := calendar.Change{Name: "tag.created", Kind: calendar.KindTag, ID: id, Home: calendar.LangEN, Fields: calendar.Fields{"slug": slug}, Secret: secret}
	if source.tags[id] != nil {
		change.Name = "tag.updated"
	}
	instant := source.now.Add(after)
	draft, next := storetest.Draft(source, source.tags[id], change, instant)
	source.write(eventstore.Append{Drafts: []eventstore.Draft{draft}, Time: instant})
	source.tags[id] = next
}

func (source *source) erase(id calendar.ID) {
	source.Helper()
	change, err := calendar.Erase(source.tags[id])
	if err != nil {
		source.Fatal(err)
	}
	draft, _ := storetest.Draft(source, source.tags[id], change, source.now)
	draft.Secret = []byte{}
	source.write(eventstore.Append{Drafts: []eventstore.Draft{draft}, Time: source.now, Redact: []calendar.ID{id}})
}

func (source *source) write(a eventstore.Append) {
	source.Helper()
	if res := source.Append(source.Context(), a); res.Err != nil {
		source.Fatal(res.Err)
	}
}

// TestRestore is HISTORY 20.41 of a log: a copy has the entries that count with their
// leaves, a beginning of the log also the same commits, and what follows from them.
func TestRestore(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	from := newSource(t)
	from.tag(1, "one", 0, nil)                          // 1
	from.tag(1, "uno", 0, []byte("erased"))             // 2
	from.tag(2, "two", 0, nil)                          // 3
	from.tag(1, "un", 0, nil)                           // 4
	from.tag(3, "three", time.Hour, []byte("kept"))     // 5
	from.tag(3, "drei", 2*time.Hour, nil)               // 6
	from.tag(4, "four", -24*time.Hour, []byte{})        // 7, an import
	from.tag(4, "vier", 3*time.Hour, []byte("too new")) // 8
	from.erase(1)                                       // 9
	from.tag(3, "trois", -48*time.Hour, nil)            // 10, an import
	for _, size := range []calendar.Position{4, 10} {
		from.write(eventstore.Append{Checkpoint: &eventstore.Checkpoint{Size: size, Origin: "o", Note: []byte("o\n"), Time: from.now, Keys: "k"}})
	}
	entries := func(store eventstore.Store) []eventstore.Entry {
		t.Helper()
		read, err := store.Read(ctx, eventstore.Range{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		return read
	}
	own := entries(from)
	all := []calendar.Position{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for name, tt := range map[string]struct {
		point   eventstore.Point    // none: the whole store
		entries []calendar.Position // as they were
		same    calendar.Position   // commits, one for each entry
	}{
		"store":                  {eventstore.Point{}, all, 10},
		"all":                    {eventstore.Point{Position: 10}, all, 10},
		"prefix of an erased":    {eventstore.Point{Position: 2}, []calendar.Position{1, 2, 4, 9}, 2},
		"prefix":                 {eventstore.Point{Position: 6}, []calendar.Position{1, 2, 3, 4, 5, 6, 9}, 6},
		"time":                   {eventstore.Point{Time: from.now.Add(time.Hour)}, []calendar.Position{1, 2, 3, 4, 5, 6, 7, 9, 10}, 7},
		"import only":            {eventstore.Point{Time: from.now.Add(-24 * time.Hour)}, []calendar.Position{5, 6, 7, 10}, 0},
		"version of lower times": {eventstore.Point{Time: from.now.Add(-48 * time.Hour)}, []calendar.Position{5, 6, 10}, 0},
		"nothing":                {eventstore.Point{Time: from.now.Add(-49 * time.Hour)}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			part := &eventstore.Copy{From: from, Until: tt.point}
			to, err := copied(ctx, t, part)
			if err != nil {
				t.Fatal(err)
			}
			var want []eventstore.Entry
			for i, position := range tt.entries {
				entry := own[position-1]
				if entry.Position = calendar.Position(i + 1); entry.Position > tt.same {
					entry.Commit = eventstore.Commit{}
				}
				if entry.Redacted != nil {
					entry.Redacted = &eventstore.Redacted{By: calendar.Position(slices.Index(tt.entries, entry.Redacted.By) + 1), Hashes: entry.Redacted.Hashes}
				}
				want = append(want, entry)
			}
			got := entries(to)
			for i := range got[min(int(tt.same), len(got)):] { // they are committed otherwise
				got[int(tt.same)+i].Commit = eventstore.Commit{}
			}
			if diff := cmp.Diff(want, got, storetest.Alike); diff != "" {
				t.Errorf("the copy (-want +got):\n%s", diff)
			}
			if int(part.Entries) != len(tt.entries) || part.Same != tt.same {
				t.Errorf("%d entries, %d as they were", part.Entries, part.Same)
			}
			if tt.same > 0 {
				was, err := from.Head(ctx, eventstore.Point{Position: tt.same})
				head, isErr := to.Head(ctx, eventstore.Point{Position: tt.same})
				if err != nil || isErr != nil || was.Mark != head.Mark {
					t.Errorf("entry %d has the mark %v, %v, %v, want %v", tt.same, head.Mark, err, isErr, was.Mark)
				}
			}
			found, err := to.Find(ctx, eventstore.Lookup{Signed: eventstore.Range{Limit: 100}})
			if whole := tt.point == (eventstore.Point{}); err != nil || len(found.Signed) == 2 != whole {
				t.Errorf("%d checkpoints, %v", len(found.Signed), err)
			}
		})
	}
	if _, err := copied(t.Context(), t, &eventstore.Copy{From: from, Until: eventstore.Point{Position: 11}}); !errors.Is(err, eventstore.ErrAhead) {
		t.Errorf("a part ahead of the log: %v", err)
	}
}

// TestRestoreTwoOfASlug: by times that fall two records may have one slug, which no store
// can hold.
func TestRestoreTwoOfASlug(t *testing.T) {
	t.Parallel()
	from := newSource(t)
	from.tag(1, "jazz", 0, nil)
	from.tag(1, "blues", time.Hour, nil)
	from.tag(2, "jazz", 0, nil)
	for point, want := range map[eventstore.Point]calendar.ID{{Time: from.now}: 1, {Position: 3}: 0} {
		_, err := copied(t.Context(), t, &eventstore.Copy{From: from, Until: point})
		claim, ok := errors.AsType[*eventstore.ClaimError](err)
		if ok != (want > 0) || ok && (claim.Claim.Key != "jazz" || claim.Holder != want) {
			t.Errorf("at %v: %v", point, err)
		}
	}
}

// TestRestorePages: the commits of a log that is copied page by page have the hashes that
// they had, and records hold what their last entries say.
func TestRestorePages(t *testing.T) {
	t.Parallel()
	from := newSource(t)
	for n := range 600 {
		from.tag(calendar.ID(n%400+1), fmt.Sprint("tag-", n), 0, nil)
	}
	from.tag(500, "tag-0", 0, nil)
	head, err := from.Head(t.Context(), eventstore.Point{})
	if err != nil {
		t.Fatal(err)
	}
	store, err := copied(t.Context(), t, &eventstore.Copy{From: from})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := store.Head(t.Context(), eventstore.Point{}); err != nil || got.Mark != head.Mark {
		t.Errorf("got the mark %v, %v, want %v", got.Mark, err, head.Mark)
	}
}

// TestRestoreErasedMeanwhile: a copy does not hold what is blank without its erasure.
func TestRestoreErasedMeanwhile(t *testing.T) {
	t.Parallel()
	from := newSource(t)
	from.tag(1, "one", 0, nil)
	from.tag(2, "two", 0, nil)
	c := &eventstore.Copy{From: from, Progress: func(done, _ calendar.Position) {
		if done == 1 {
			from.erase(1)
		}
	}}
	if _, err := copied(t.Context(), t, c); !errors.Is(err, eventstore.ErrUnavailable) {
		t.Errorf("erased meanwhile: %v", err)
	}
}

// TestRestoreMeanwhile: what is signed after a copy was begun is not in it, and leaves that
// do not give the chain are damage.
func TestRestoreMeanwhile(t *testing.T) {
	t.Parallel()
	from := newSource(t)
	from.tag(1, "one", 0, nil)
	c := &eventstore.Copy{From: from, Progress: func(_, _ calendar.Position) {
		from.tag(2, "two", 0, nil)
		from.write(eventstore.Append{Checkpoint: &eventstore.Checkpoint{Size: 2, Origin: "o", Note: []byte("o\n"), Time: from.now}})
	}}
	if store, err := copied(t.Context(), t, c); err != nil || c.Entries != 1 {
		t.Errorf("%d entries, %v", c.Entries, err)
	} else if found, err := store.Find(t.Context(), eventstore.Lookup{Signed: eventstore.Range{Limit: 1}}); err != nil || len(found.Signed) > 0 {
		t.Errorf("%d checkpoints, %v", len(found.Signed), err)
	}
	if _, err := copied(t.Context(), t, &eventstore.Copy{From: unchained{from}}); !errors.Is(err, eventstore.ErrDamaged) {
		t.Errorf("leaves of another chain: %v", err)
	}
}

// unchained is a store whose leaves do not give its chain.
type unchained struct{ eventstore.Store }

func (unchained unchained) Read(ctx context.Context, r eventstore.Range) ([]eventstore.Entry, error) {
	page, err := unchained.Store.Read(ctx, r)
	page = slices.Clone(page)
	for i := range page {
		page[i].Commit.Hash[0]++
	}
	return page, err
}

// flawed is a store that cannot read an entry, or has none at a position.
type flawed struct {
	eventstore.Store

	entry, missing calendar.Position
}

func (flawed flawed) Read(ctx context.Context, r eventstore.Range) ([]eventstore.Entry, error) {
	page, err := flawed.Store.Read(ctx, r)
	for i := range page {
		if page[i].Position == flawed.entry {
			return nil, fmt.Errorf("one of a page: %w", eventstore.ErrDamaged)
		}
	}
	return slices.DeleteFunc(slices.Clone(page), func(entry eventstore.Entry) bool { return entry.Position == flawed.missing }), err
}

// TestLog: what cannot be read is named, after all that comes before it.
func TestLog(t *testing.T) {
	t.Parallel()
	from := newSource(t)
	for id := range calendar.ID(5) {
		from.tag(id+1, fmt.Sprint("tag-", id), 0, nil)
	}
	for name, tt := range map[string]struct {
		store flawed
		read  int
		want  string
	}{
		"whole":            {flawed{Store: from}, 5, ""},
		"an entry":         {flawed{Store: from, entry: 4}, 3, "entry 4: event store damaged: one of a page"},
		"the first":        {flawed{Store: from, entry: 1}, 0, "entry 1: event store damaged: one of a page"},
		"a missing entry":  {flawed{Store: from, missing: 4}, 3, "entry 4: event store damaged: it is missing, the next one is 5"},
		"the last missing": {flawed{Store: from, missing: 5}, 4, "entry 5: event store damaged: it is missing"},
	} {
		read := 0
		var last error
		for _, err := range eventstore.Log(t.Context(), tt.store, 5) {
			if last = err; err == nil {
				read++
			}
		}
		if read != tt.read || (last != nil) != (tt.want != "") || last != nil && !strings.HasPrefix(last.Error(), tt.want) {
			t.Errorf("%s: %d entries, %v, want %q", name, read, last, tt.want)
		}
	}
	for range eventstore.Log(t.Context(), from, 0) {
		t.Error("an entry beyond the end is read")
	}
}
