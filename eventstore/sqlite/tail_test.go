package sqlite

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/eventstore"
)

// TestTail holds the tail against a list of all entries.
func TestTail(t *testing.T) {
	t.Parallel()
	var (
		tl   tail
		all  []eventstore.Entry
		read int
	)
	for p := calendar.Position(1); p < 5000; p++ {
		e := eventstore.Entry{Position: p, State: make([]byte, int(p*7919)%20000)}
		all = append(all, e)
		tl.put([]written{{entry: &e}}, [32]byte{byte(p), byte(p >> 8)})
		for _, after := range []calendar.Position{p, p - 1, p - min(p, 3), p - min(p, 200), p - min(p, 2000), 0, p + 5} {
			got, ok := tl.read(after, p, 100)
			if !ok {
				continue
			}
			read++
			want := all[min(int(after), len(all)):]
			want = want[:min(len(want), 100)]
			if len(got) != len(want) {
				t.Fatalf("after %d of %d: got %d entries, want %d", after, p, len(got), len(want))
			}
			for i := range got {
				if got[i].Position != want[i].Position {
					t.Fatalf("after %d of %d: got position %d, want %d", after, p, got[i].Position, want[i].Position)
				}
				at := got[i].Position
				if c := tl.commitsOf(got[0].Position, at); len(c) != i+1 || c[i] != (eventstore.Commit{First: at, Last: at, Hash: [32]byte{byte(at), byte(at >> 8)}}) {
					t.Fatalf("entry %d of %d: commits %v", at, p, c)
				}
			}
		}
		if tl.bytes > tailBytes || len(tl.entries) > tailEntries || len(tl.commits) != len(tl.entries) {
			t.Fatalf("the tail holds %d entries of %d bytes and %d commits", len(tl.entries), tl.bytes, len(tl.commits))
		}
	}
	if got, ok := tl.read(4990, 4995, 100); !ok || len(got) != 5 {
		t.Errorf("got %d entries up to the head, want 5", len(got))
	}
	for _, p := range []calendar.Position{0, 1, 5000} {
		if c := tl.commitsOf(p, p); c != nil {
			t.Errorf("got commits %v of %d, which is not there", c, p)
		}
	}
	if read < 10000 {
		t.Errorf("only %d reads came from the tail", read)
	}
	tl.forget()
	if _, ok := tl.read(4999, 4999, 1); ok {
		t.Error("a forgotten tail answers")
	}
}

// TestRecent: what is given from memory is what lies in the file, with the commits
// that it is of; after a start there is nothing yet.
func TestRecent(t *testing.T) {
	t.Parallel()
	ctx, path := t.Context(), t.TempDir()
	s := openAt(t, path)
	var head calendar.Position
	for i := range 40 {
		group := make([]eventstore.Append, 1+i%3)
		for j := range group {
			id, err := s.NewIDs(ctx, 1)
			if err != nil {
				t.Fatal(err)
			}
			group[j] = eventstore.Append{Time: time.UnixMilli(1), Drafts: []eventstore.Draft{{
				Kind: calendar.KindTag, ID: id, Change: "tag.created", Fields: []byte(`{}`), State: []byte(`{}`), Secret: []byte("s"),
			}}}
		}
		for _, res := range s.Append(ctx, group) {
			if res.Err != nil {
				t.Fatal(res.Err)
			}
			head = res.Position
		}
	}
	for after := range head {
		entries, commits, ok := s.Recent(after, 7)
		want, err := s.ReadStored(ctx, after, 7)
		if err != nil || !ok {
			t.Fatalf("after %d: %t, %v", after, ok, err)
		}
		if diff := cmp.Diff(want, entries); diff != "" {
			t.Fatalf("after %d (-file +memory):\n%s", after, diff)
		}
		all, err := s.Commits(ctx, 0, int(head))
		if err != nil {
			t.Fatal(err)
		}
		last := entries[len(entries)-1].Position
		all = slices.DeleteFunc(all, func(c eventstore.Commit) bool { return c.Last <= after || c.First > last })
		if diff := cmp.Diff(all, commits); diff != "" {
			t.Fatalf("commits after %d (-file +memory):\n%s", after, diff)
		}
	}
	if _, _, ok := s.Recent(head, 7); ok {
		t.Error("there is nothing after the head")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := openAt(t, path).Recent(head-1, 7); ok {
		t.Error("a start knows what was written before")
	}
}

func openAt(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
