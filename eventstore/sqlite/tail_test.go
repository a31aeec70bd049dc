package sqlite

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/storetest"
)

// TestRecent: what is given from memory is what lies in the file, with the commits that it
// is of, and memory is bounded; after a start there is nothing yet.
func TestRecent(t *testing.T) {
	t.Parallel()
	ctx, path := t.Context(), t.TempDir()
	s := openAt(t, path)
	var id calendar.ID
	for round := range 24 {
		group := make([]eventstore.Append, 1+round%3)
		for i := range group {
			group[i].Time = time.UnixMilli(1)
			for range 1 + 5*round { // at first memory is full by their number, later by their bytes
				id++
				state := fmt.Appendf(nil, "%q", strings.Repeat("s", 1+round/16*int(id*7919)%20000))
				group[i].Drafts = append(group[i].Drafts, eventstore.Draft{
					Kind: calendar.KindTag, ID: id, Change: "tag.created", Fields: []byte(`{}`), State: state, Secret: []byte("s"),
				})
			}
		}
		for _, res := range s.Append(ctx, group) {
			if res.Err != nil {
				t.Fatal(res.Err)
			}
		}
		if s.tail.bytes > tailBytes || len(s.tail.entries) > tailEntries || len(s.tail.commits) > len(s.tail.entries) {
			t.Fatalf("memory holds %d entries of %d bytes and %d commits", len(s.tail.entries), s.tail.bytes, len(s.tail.commits))
		}
		head := calendar.Position(id)
		commits, err := s.Commits(ctx, 0, int(head))
		if err != nil {
			t.Fatal(err)
		}
		first := s.tail.entries[0].Position
		for _, after := range []calendar.Position{0, first - min(first, 2), first - 1, head / 2, head - min(head, 150), head - min(head, 3), head - 1} {
			entries, of, ok := s.Recent(after, 20)
			if ok != (after+1 >= first) {
				t.Errorf("after %d: %d entries, %t; memory begins at %d", after, len(entries), ok, first)
			}
			if !ok {
				continue
			}
			want, err := s.ReadStored(ctx, after, 20)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, entries, storetest.Alike); diff != "" {
				t.Fatalf("after %d (-file +memory):\n%s", after, diff)
			}
			last := entries[len(entries)-1].Position
			whole := slices.DeleteFunc(slices.Clone(commits), func(c eventstore.Commit) bool { return c.Last <= after || c.First > last })
			if diff := cmp.Diff(whole, of); diff != "" {
				t.Fatalf("commits after %d (-file +memory):\n%s", after, diff)
			}
		}
		for _, after := range []calendar.Position{head, head + 5} {
			if _, _, ok := s.Recent(after, 7); ok {
				t.Errorf("there is something after %d of %d", after, head)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := openAt(t, path).Recent(calendar.Position(id)-1, 7); ok {
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
