package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"daybook/eventstore"
	"daybook/eventstore/postgres"
	"daybook/internal/testkit/engines"
)

// TestFailover: a standby that lacks the last entries is promoted while a store
// lives on. Until then it is not read, and is no other history. Then the store tells by its
// epoch, its head and who waits, and takes nothing that was decided before.
func TestFailover(t *testing.T) {
	t.Parallel()
	primary := engines.StartPostgres(t)
	standby := primary.Standby("second")
	proxy := engines.NewProxy(t, primary.URL())
	store := open(t, proxy.URL, postgres.Options{})
	write(t, store, 1, 1, "kept")
	primary.CaughtUp(standby)
	standby.Cut()
	// Of several hosts the one that takes writes is found, whatever their order.
	write(t, open(t, strings.TrimSuffix(standby.URL(), "/postgres")+","+strings.TrimPrefix(primary.URL(), "postgres://postgres@"), postgres.Options{}), 1, 2, "lost")
	write(t, store, 2, 1, "lost-too")
	epoch := store.Epoch()
	proxy.Switch(standby.URL())
	eventually(t, "the standby is refused", func() error {
		if _, err := position(t.Context(), store); !errors.Is(err, eventstore.ErrUnavailable) || !strings.Contains(err.Error(), "standby") {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
	proxy.Switch(primary.URL())
	var lost eventstore.Head
	eventually(t, "the primary again", func() (err error) {
		lost, err = store.Head(t.Context(), eventstore.Point{})
		return err
	})
	if lost.Position != 3 || store.Epoch() != epoch {
		t.Errorf("a standby that lags was taken for another history: head %d", lost.Position)
	}
	first, err := store.NewID(t.Context())
	for range 39 { // more than the log of the server is ahead of the sequence
		if err == nil {
			_, err = store.NewID(t.Context())
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	primary.Kill9()
	standby.Promote()
	proxy.Switch(standby.URL())

	eventually(t, "read after the failover", func() error { _, err := store.Load(t.Context(), 1); return err })
	if got := store.Epoch(); got.History != epoch.History+1 {
		t.Errorf("epoch is %d after %d", got, epoch)
	}
	select {
	case <-lost.Moved: // who waits looks again
	case <-time.After(time.Minute):
		t.Error("who waits hears nothing of the other history")
	}
	if head, err := position(t.Context(), store); err != nil || head != 1 {
		t.Errorf("head is %d, %v", head, err)
	}
	if states, err := store.Load(t.Context(), 1, 2); err != nil || states[0].Version != 1 || states[1].Version != 0 {
		t.Errorf("records: %+v, %v", states, err)
	}
	if err := eventstore.CheckMark(t.Context(), store, lost.Mark); !errors.Is(err, eventstore.ErrHistory) {
		t.Errorf("the lost mark: %v", err)
	}
	for _, version := range []int64{3, 2} { // decided on the lost version 2; fits by its version
		before := because(t, 1, version, "decided before")
		before.Epoch = epoch
		if res := store.Append(t.Context(), before); !errors.Is(res.Err, eventstore.ErrConflict) {
			t.Errorf("what was decided before: %v", res.Err)
		}
	}
	again := because(t, 1, 2, "again")
	again.Epoch = store.Epoch()
	if res := store.Append(t.Context(), again); res.Err != nil || res.Position != 2 {
		t.Errorf("what was decided after: %+v", res)
	}
	// An id from before is used, so it is not given again.
	write(t, store, first+39, 1, "given-before")
	if next, err := store.NewID(t.Context()); err != nil || next <= first+39 {
		t.Errorf("next id is %d after %d, %v", next, first+39, err)
	}
	wantEntries(t, store, 3)
}

// TestFailoverInACommit: the server is another one by the time of a commit that was
// decided before, and nothing was read since. Its version and claims fit.
func TestFailoverInACommit(t *testing.T) {
	t.Parallel()
	at, in := server(t), schema(t)
	store := open(t, at, postgres.Options{Schema: in, PollOnly: true})
	write(t, store, 1, 1, "one")
	write(t, open(t, at, postgres.Options{Schema: in, PollOnly: true}), 1, 2, "lost")
	late := because(t, 1, 3, "late")
	late.Epoch = store.Epoch()
	if states, err := store.Load(t.Context(), 1); err != nil || states[0].Version != 2 { // all that store knows of it
		t.Fatalf("%+v, %v", states, err)
	}
	// The last commit is another one, under the open connections.
	sqlExec(t, admin(t), rewrite(in))
	for _, res := range store.Together(t.Context(), []eventstore.Append{late, late}) {
		if !errors.Is(res.Err, eventstore.ErrConflict) {
			t.Errorf("what was decided before: %v", res.Err)
		}
	}
	if head, err := position(t.Context(), store); err != nil || head != 2 || store.Epoch().History != late.Epoch.History+1 {
		t.Errorf("head is %d, %v, epoch %d after %d", head, err, store.Epoch(), late.Epoch)
	}
}

// rewrite puts another history in place of the last entry, in one transaction, as a
// backup that is put back and written on does.
func rewrite(schema string) string {
	return strings.ReplaceAll(`BEGIN; SET LOCAL session_replication_role = replica;
		ALTER TABLE @.entries DISABLE TRIGGER ALL; ALTER TABLE @.commits DISABLE TRIGGER ALL;
		UPDATE @.entries SET reason = 'of another history', leaf = sha256('other') WHERE position = 2;
		UPDATE @.commits SET hash = (SELECT sha256(c.hash || int8send(2) || sha256('other')) FROM @.commits c WHERE c.last = 1) WHERE first = 2;
		ALTER TABLE @.entries ENABLE ALWAYS TRIGGER entries_append_only; ALTER TABLE @.commits ENABLE ALWAYS TRIGGER commits_append_only; COMMIT`,
		"@", schema)
}
