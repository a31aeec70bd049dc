package feed_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/feed"
	"daybook/eventstore/memstore"
)

// remembering is a store that has its newest entries in memory.
type remembering struct {
	*memstore.Store

	newest int // how many
	given  int
}

func (s *remembering) Recent(after calendar.Position, limit int) ([]eventstore.Entry, []eventstore.Commit, bool) {
	ctx := context.Background()
	head, err := s.Head(ctx)
	if err != nil || after >= head || int(head-after) > s.newest {
		return nil, nil, false
	}
	entries, err := s.ReadAll(ctx, after, limit)
	if err != nil {
		return nil, nil, false
	}
	commits, err := s.Commits(ctx, 0, int(head))
	first, last := entries[0].Position, entries[len(entries)-1].Position
	commits = slices.DeleteFunc(commits, func(c eventstore.Commit) bool { return c.Last < first || c.First > last })
	s.given += len(entries)
	return entries, commits, err == nil
}

// TestFollower: a reader beside the store gets every entry once, in order and with its
// mark, from memory what is there, and hears of what is written while he waits.
func TestFollower(t *testing.T) {
	t.Parallel()
	s := &remembering{Store: memstore.New(), newest: 30}
	head := add(t, s, 100)
	f, err := feed.NewFollower(s)
	if err != nil {
		t.Fatal(err)
	}
	var at eventstore.Mark
	read := func(limit int) {
		t.Helper()
		entries, to, err := f.Read(within(t), at, limit)
		if err != nil || len(entries) == 0 || len(entries) > limit {
			t.Fatalf("%d entries after %s: %v", len(entries), at, err)
		}
		want, err := s.ReadAll(t.Context(), at.Position, len(entries))
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			want[i].Secret, want[i].Salts = nil, eventstore.Salts{}
		}
		if diff := cmp.Diff(want, entries); diff != "" {
			t.Fatalf("after %s (-store +follower):\n%s", at, diff)
		}
		if mark, err := s.Mark(t.Context(), to.Position); err != nil || mark != to || to.Position != entries[len(entries)-1].Position {
			t.Fatalf("mark %s, want %s, %v", to, mark, err)
		}
		at = to
	}
	for at.Position < head {
		read(7)
	}
	if s.given == 0 || s.given > s.newest {
		t.Errorf("%d entries came from memory, which has %d", s.given, s.newest)
	}
	written := make(chan calendar.Position)
	go func() { written <- add(t, s, 1) }()
	read(100)
	if head = <-written; at.Position != head {
		t.Errorf("stands at %d of %d", at.Position, head)
	}
	at = eventstore.Mark{} // begins anew
	read(5)

	// Another history is told, whether the reader stands in it or ahead of it.
	old, err := s.Mark(t.Context(), 50)
	if err != nil {
		t.Fatal(err)
	}
	s.Rewind(20)
	add(t, s, 60)
	for range 2 {
		if _, _, err := f.Read(within(t), old, 10); !errors.Is(err, eventstore.ErrHistory) {
			t.Errorf("in a history that is lost: %v", err)
		}
	}
	s.Rewind(20)
	if _, _, err := f.Read(within(t), old, 10); !errors.Is(err, eventstore.ErrHistory) {
		t.Errorf("ahead of the store: %v", err)
	}
	if at, err = s.Mark(t.Context(), 20); err != nil {
		t.Fatal(err)
	}
	add(t, s, 3)
	read(10)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := f.Read(ended, at, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended wait: %v", err)
	}
	if _, _, err := f.Read(t.Context(), at, 0); err == nil {
		t.Error("no entries may be asked for")
	}
}

// TestFollowerMeetsAnotherHistory: while it waits, too.
func TestFollowerMeetsAnotherHistory(t *testing.T) {
	t.Parallel()
	s := &remembering{Store: memstore.New(), newest: 30}
	add(t, s, 10)
	f, err := feed.NewFollower(s)
	if err != nil {
		t.Fatal(err)
	}
	at, err := s.Mark(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan error)
	go func() {
		_, _, err := f.Read(within(t), at, 10)
		told <- err
	}()
	s.Rewind(5)
	if err := <-told; !errors.Is(err, eventstore.ErrHistory) {
		t.Errorf("got %v", err)
	}
}

// TestHeads: where the reader follows the store itself, entries travel without what
// they hold; whoever reads the stream all the same gets them whole, from the store.
func TestHeads(t *testing.T) {
	t.Parallel()
	s := &remembering{Store: memstore.New(), newest: 30}
	e := embedded(t, t.TempDir())
	actor(t, relay(t, s, e.JetStream(), feed.RelayOptions{Sole: true}).Run)
	until(t, e.JetStream(), add(t, s.Store, 1))
	src := source(t, s.Store, e.JetStream(), feed.SourceOptions{})
	mustReadAll(t, s.Store, src, 0, 1)
	head := add(t, s.Store, 20)
	until(t, e.JetStream(), head)
	m, err := stream(within(t), t, e.JetStream()).GetMsg(within(t), uint64(head))
	check(t, err)
	if got := m.Header.Get(feed.HeaderOmitted); got != "fields,state" {
		t.Errorf("%s is %q of a message of %d bytes, want fields,state", feed.HeaderOmitted, got, len(m.Data))
	}
	mustReadAll(t, s.Store, src, 1, head)
}
