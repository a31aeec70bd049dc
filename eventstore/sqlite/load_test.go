package sqlite_test

import (
	"path/filepath"
	"slices"
	"testing"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/sqlite"
)

// TestLoadFromTheFile: records that are not in memory are each found at all of their
// places, with their own states, and what is unknown is nothing.
func TestLoadFromTheFile(t *testing.T) {
	t.Parallel()
	const records = 40
	path := filepath.Join(t.TempDir(), "events.db")
	s := open(t, path, sqlite.Options{})
	var ids []calendar.ID
	states := map[calendar.ID]string{}
	for i := range records {
		a, err := twoRecords(calendar.ID(2*i + 2))
		if err != nil {
			t.Fatal(err)
		}
		a.Drafts = a.Drafts[:1]
		if res := s.Append(t.Context(), []eventstore.Append{a}); res[0].Err != nil {
			t.Fatal(res[0].Err)
		}
		states[a.Drafts[0].ID] = string(a.Drafts[0].State)
		ids = append(ids, a.Drafts[0].ID, a.Drafts[0].ID-1, a.Drafts[0].ID) // the second is unknown
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(ids)
	for _, n := range []int{len(ids), 1, 2, 17} {
		s := open(t, path, sqlite.Options{})
		got, err := s.Load(t.Context(), ids[:n]...)
		if err != nil || len(got) != n {
			t.Fatalf("%d states, %v; want %d", len(got), err, n)
		}
		for i := range got {
			want, known := states[ids[i]]
			if string(got[i].Record) != want || known && (got[i].ID != ids[i] || got[i].Version != 1) || !known && got[i].Version != 0 {
				t.Errorf("of %d, at %d: got %d at version %d, want %d", n, i, got[i].ID, got[i].Version, ids[i])
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
