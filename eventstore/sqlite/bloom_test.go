package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"

	"daybook/calendar"
	"daybook/eventstore"
)

// TestBloomFilter: what is kept is never lacking, and little else passes.
func TestBloomFilter(t *testing.T) {
	t.Parallel()
	const n = 100_000
	s := newBloomFilter()
	claim := func(i int) calendar.Claim { return calendar.Claim{Space: "slug/event", Key: fmt.Sprintf("quay-%d", i)} }
	for i := range n {
		keep(s, claim(i))
	}
	if lacks(s, claim(n)) {
		t.Error("an unfilled filter answers")
	}
	s.ready.Store(true)
	wrong := 0
	for i := range n {
		if lacks(s, claim(i)) {
			t.Fatalf("claim %d is lacking", i)
		}
		if !lacks(s, claim(n+i)) {
			wrong++
		}
	}
	if wrong > 20 {
		t.Errorf("%d of %d free claims pass", wrong, n)
	}
}

// TestBloomFilterOfAFile: a store that is opened again knows the claims and keys of
// its file, and lets nobody take them twice.
func TestBloomFilterOfAFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events.db")
	keyed := func(id calendar.ID) eventstore.Append {
		a := plain(id, 10)
		a.Receipt = &eventstore.Receipt{User: 7, Key: "k", Record: id, Version: 1, Time: a.Time}
		return a
	}
	for round := range 3 {
		s, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		<-s.filled
		if !s.filter.ready.Load() {
			t.Fatal("the filter was not filled")
		}
		res := s.Append(t.Context(), []eventstore.Append{keyed(1)})[0]
		if res.Err != nil || (res.Receipt != nil) != (round > 0) {
			t.Errorf("round %d: the keyed append gives %+v", round, res)
		}
		other := plain(2, 10)
		other.Drafts[0].Claims = []calendar.Claim{{Space: "slug/tag", Key: "1"}}
		if res := s.Append(t.Context(), []eventstore.Append{other})[0]; res.Err == nil {
			t.Errorf("round %d: a claim has two holders", round)
		}
		holders, _, err := s.Find(t.Context(), []calendar.Claim{{Space: "slug/tag", Key: "1"}, {Space: "slug/tag", Key: "2"}}, nil)
		if err != nil || holders[0] != 1 || holders[1] != 0 {
			t.Errorf("round %d: holders are %v, %v", round, holders, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
