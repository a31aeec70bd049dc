package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/ground/migration"
)

func openStore(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "events.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// plain makes an Append of one new record of noise, which cannot be packed; the store
// does not look inside.
func plain(id calendar.ID, payload int) eventstore.Append {
	noise := make([]byte, (payload+1)/2)
	_, _ = rand.NewChaCha8([32]byte{byte(id), byte(id >> 8)}).Read(noise) // never fails
	return eventstore.Append{
		Time: time.UnixMilli(1),
		Drafts: []eventstore.Draft{{
			Kind: calendar.KindTag, ID: id, Change: "tag.created", Fields: []byte(`{}`),
			State:  fmt.Appendf(nil, `"%x"`, noise),
			Claims: []calendar.Claim{{Space: "slug/tag", Key: id.String()}},
		}},
	}
}

// TestFullDisk: a store that cannot write says so, loses nothing that it
// acknowledged, and goes on when there is room.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	limit := func(pages int) {
		t.Helper()
		// The committer is idle: nobody appends.
		if _, err := s.writer.conn.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
			t.Fatal(err)
		}
	}
	if res := s.Append(t.Context(), []eventstore.Append{plain(1, 10)}); res[0].Err != nil {
		t.Fatal(res[0].Err)
	}
	limit(1) // what the file has now
	full := s.Append(t.Context(), []eventstore.Append{plain(2, 100_000), plain(3, 100_000)})
	for i, res := range full {
		if !errors.Is(res.Err, eventstore.ErrUnavailable) {
			t.Errorf("append %d on a full disk: %v, want ErrUnavailable", i, res.Err)
		}
	}
	states, err := s.Load(t.Context(), 1, 2, 3)
	if err != nil || states[0].Version != 1 || states[1].Version != 0 || states[2].Version != 0 {
		t.Errorf("states after it: %+v, %v", states, err)
	}
	limit(1 << 20)
	if res := s.Append(t.Context(), []eventstore.Append{plain(2, 100_000)}); res[0].Err != nil || res[0].Position != 2 {
		t.Errorf("append when there is room again: %+v", res[0])
	}
	commits, err := s.Commits(t.Context(), 0, 10)
	if err != nil || len(commits) != 2 || commits[1].Last != 2 {
		t.Errorf("commits are %+v, %v", commits, err)
	}
}

// TestOneBadItem: what the engine refuses for one item alone does not harm the
// others of its group, and every commit is told with its size and its end.
func TestOneBadItem(t *testing.T) {
	t.Parallel()
	var told []string
	began := 0
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "events.db"), Options{Observe: func() func(eventstore.Committed) {
		began++
		return func(c eventstore.Committed) {
			told = append(told, fmt.Sprint(c.Appends, " ", c.Entries, " ", c.Head, " ", c.Err != nil))
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if _, err := s.writer.conn.ExecContext(t.Context(), `CREATE TRIGGER refuse BEFORE INSERT ON records WHEN NEW.id = 3
		BEGIN SELECT RAISE(ABORT, 'refused'); END`); err != nil {
		t.Fatal(err)
	}
	var appends []eventstore.Append
	for id := calendar.ID(1); id <= 5; id++ {
		appends = append(appends, plain(id, 10))
	}
	next := calendar.Position(1)
	for i, res := range s.Append(t.Context(), appends) {
		if i == 2 {
			if res.Err == nil || errors.Is(res.Err, eventstore.ErrUnavailable) {
				t.Errorf("the bad one: %+v", res)
			}
			continue
		}
		if res.Err != nil || res.Position != next {
			t.Errorf("append %d: %+v, want position %d", i, res, next)
		}
		next++
	}
	if head, err := s.Head(t.Context()); err != nil || head != 4 {
		t.Errorf("head is %d, %v", head, err)
	}
	s.Append(t.Context(), []eventstore.Append{plain(5, 10), plain(6, 10)}) // 5 is there already
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{"5 0 0 true", "1 1 1 false", "1 1 2 false", "1 0 2 true", "1 1 3 false", "1 1 4 false", "2 1 5 false"}
	if !slices.Equal(told, want) || began != len(want) {
		t.Errorf("of %d commits told %q, want %q", began, told, want)
	}
}

// TestCloseDrains: appends that were taken are finished, later ones refused.
func TestCloseDrains(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events.db")
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	results := make([]eventstore.Result, 200)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			results[i] = s.Append(context.WithoutCancel(t.Context()), []eventstore.Append{plain(calendar.ID(i+1), 100)})[0]
		})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	s, err = Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	done := 0
	for i, res := range results {
		states, err := s.Load(t.Context(), calendar.ID(i+1))
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case res.Err == nil && states[0].Position == res.Position:
			done++
		case errors.Is(res.Err, eventstore.ErrClosed) && states[0].Version == 0:
		default:
			t.Errorf("append %d: %+v, the state is %+v", i, res, states[0])
		}
	}
	if head, err := s.Head(t.Context()); err != nil || int(head) != done {
		t.Errorf("head is %d, %v, %d appends were answered", head, err, done)
	}
}

// A later step is applied to a file that has the earlier ones, whole or not at
// all.
func TestLaterMigration(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	steps, err := migration.Read(schemaFiles)
	if err != nil {
		t.Fatal(err)
	}
	bad := migration.Step{Number: len(steps) + 1, Name: "bad", Text: "CREATE TABLE later (a); CREATE TABLE later (a)", Checksum: "x"}
	if err := migrate(t.Context(), s.writer.conn, append(slices.Clip(steps), bad), false); err == nil {
		t.Error("a bad step was applied")
	}
	good := migration.Step{Number: len(steps) + 1, Name: "good", Text: "CREATE TABLE later (a INTEGER) STRICT", Checksum: "x"}
	if err := migrate(t.Context(), s.writer.conn, append(slices.Clip(steps), good), false); err != nil {
		t.Errorf("the next step: %v", err)
	}
	if err := migrate(t.Context(), s.writer.conn, steps, false); err == nil {
		t.Error("the older program opens the newer file")
	}
}

func TestCache(t *testing.T) {
	t.Parallel()
	state := func(id calendar.ID, version int64) *eventstore.Held {
		return &eventstore.Held{State: eventstore.State{ID: id, Version: version, Record: make([]byte, 100)}}
	}
	c := newCache(3 * heldSize(state(1, 1)))
	for id := calendar.ID(1); id <= 3; id++ {
		c.put(state(id, 1))
	}
	c.get(1) // 2 is now the one not used for the longest time
	c.put(state(4, 1))
	for id, want := range map[calendar.ID]bool{1: true, 2: false, 3: true, 4: true} {
		if got := c.get(id) != nil; got != want {
			t.Errorf("record %d is kept: %t, want %t", id, got, want)
		}
	}
	// What was read before a write does not replace it, evicted or not.
	c.begin(5)
	c.put(state(5, 2))
	c.end(5, state(5, 1))
	if got := c.get(5); got == nil || got.Version != 2 {
		t.Errorf("record 5 is %+v", got)
	}
	c.begin(6)
	c.put(state(6, 2))
	for id := calendar.ID(7); id < 10; id++ {
		c.put(state(id, 1))
	}
	c.end(6, state(6, 1))
	if got := c.get(6); got != nil {
		t.Errorf("record 6 came back at version %d", got.Version)
	}
	c.begin(6)
	c.end(6, state(6, 2))
	if got := c.get(6); got == nil || len(c.misses) != 0 {
		t.Errorf("record 6 is %+v, %d reads are under way", got, len(c.misses))
	}
	c.begin(11)
	c.clear()
	c.end(11, state(11, 1))
	if c.get(6) != nil || c.get(11) != nil || c.bytes != 0 {
		t.Errorf("after clear %d bytes are kept", c.bytes)
	}
}

// A commit is in the file a moment before the head moves to it. A reader that
// was given it would find itself ahead of the store.
func TestReadStaysBehindTheHead(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	for id := range calendar.ID(3) {
		if res := s.Append(t.Context(), []eventstore.Append{plain(id+1, 10)}); res[0].Err != nil {
			t.Fatal(res[0].Err)
		}
	}
	s.signal = eventstore.Signal{}
	s.signal.Move(2)
	for after, want := range []int{2, 1, 0} {
		entries, err := s.ReadAll(t.Context(), calendar.Position(after), 10)
		if err != nil || len(entries) != want {
			t.Errorf("after %d: got %d entries and %v, want %d", after, len(entries), err, want)
		}
	}
	s.signal.Move(3)
	if entries, err := s.ReadAll(t.Context(), 0, 10); err != nil || len(entries) != 3 {
		t.Errorf("got %d entries and %v, want 3", len(entries), err)
	}
}
