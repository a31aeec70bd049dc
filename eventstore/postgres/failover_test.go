package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/postgres"
	"daybook/eventstore/storetest"
	"daybook/internal/testkit/engines"
)

// because is tag with a reason of its own: the same version in two histories.
func because(t *testing.T, id calendar.ID, version int64, reason string) eventstore.Append {
	t.Helper()
	a := tag(t, id, version, fmt.Sprintf("tag-%d", id))
	a.Cause.Reason = reason
	return a
}

// write appends a version of a tag, which fails the test when it is refused.
func write(t *testing.T, s *postgres.Store, id calendar.ID, version int64, reason string) {
	t.Helper()
	if res := s.Append(t.Context(), []eventstore.Append{because(t, id, version, reason)})[0]; res.Err != nil {
		t.Fatalf("version %d of %d: %v", version, id, res.Err)
	}
}

// eventually tries until something holds: servers change places meanwhile.
func eventually(t *testing.T, what string, try func() error) {
	t.Helper()
	limit := time.After(time.Minute)
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-limit:
			t.Fatalf("%s: %v", what, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// watched says when its head was read.
type watched struct {
	eventstore.Store
	read chan<- struct{}
}

func (w watched) Head(ctx context.Context, p eventstore.Point) (eventstore.Head, error) {
	h, err := w.Store.Head(ctx, p)
	w.read <- struct{}{}
	return h, err
}

// TestFailover: a standby that lacks the last entries is promoted while a store
// lives on. It tells by its epoch, its head and who waits, and takes nothing that
// was decided before; what is read from then on is the present history.
func TestFailover(t *testing.T) {
	t.Parallel()
	primary := engines.StartPostgres(t)
	standby := primary.Standby("second")
	proxy := engines.NewProxy(t, primary.URL())
	var log lockedBuffer
	s := open(t, proxy.URL, postgres.Options{Log: log.logger()})
	write(t, s, 1, 1, "kept")
	primary.CaughtUp(standby)
	standby.Cut()
	write(t, s, 1, 2, "lost")
	write(t, s, 2, 1, "lost-too")
	epoch := s.Epoch()
	lost, err := s.Head(t.Context(), eventstore.Point{Position: 3})
	if err != nil {
		t.Fatal(err)
	}
	waiting, read := make(chan error, 1), make(chan struct{}, 100)
	go func() {
		_, err := eventstore.Wait(t.Context(), watched{s, read}, 3)
		waiting <- err
	}()
	<-read
	first, err := s.NewIDs(t.Context(), 40) // more than the log of the server is ahead of the sequence
	if err != nil {
		t.Fatal(err)
	}
	primary.Kill9()
	standby.Promote()
	proxy.Switch(standby.URL())

	eventually(t, "read after the failover", func() error { _, err := s.Load(t.Context(), 1); return err })
	if got := s.Epoch(); got.History != epoch.History+1 {
		t.Errorf("epoch is %d after %d", got, epoch)
	}
	if err := <-waiting; !errors.Is(err, eventstore.ErrHistory) {
		t.Errorf("who waited got %v", err)
	}
	if head, err := position(t.Context(), s); err != nil || head != 1 {
		t.Errorf("head is %d, %v", head, err)
	}
	if states, err := s.Load(t.Context(), 1, 2); err != nil || states[0].Version != 1 || states[1].Version != 0 {
		t.Errorf("records: %+v, %v", states, err)
	}
	if err := eventstore.CheckMark(t.Context(), s, lost.Mark); !errors.Is(err, eventstore.ErrHistory) {
		t.Errorf("the lost mark: %v", err)
	}
	late := because(t, 1, 3, "late") // decided on the lost version 2
	late.Epoch = epoch
	if res := s.Append(t.Context(), []eventstore.Append{late})[0]; !errors.Is(res.Err, eventstore.ErrConflict) {
		t.Errorf("what was decided before: %v", res.Err)
	}
	again := because(t, 1, 2, "again") // fits by its version, but was decided before
	again.Epoch = epoch
	if res := s.Append(t.Context(), []eventstore.Append{again})[0]; !errors.Is(res.Err, eventstore.ErrConflict) {
		t.Errorf("what was decided before and fits: %v", res.Err)
	}
	again.Epoch = s.Epoch()
	if res := s.Append(t.Context(), []eventstore.Append{again})[0]; res.Err != nil || res.Position != 2 {
		t.Errorf("what was decided after: %+v", res)
	}
	// An id from before is used, so it is not given again.
	write(t, s, first+39, 1, "given-before")
	if next, err := s.NewIDs(t.Context(), 1); err != nil || next <= first+39 {
		t.Errorf("next id is %d after %d, %v", next, first+39, err)
	}
	if _, n, err := storetest.Verify(t.Context(), s, nil); err != nil || n != 3 {
		t.Errorf("Verify: %d entries, %v", n, err)
	}
	if n := strings.Count(log.String(), "another history"); n != 1 {
		t.Errorf("the log tells %d times:\n%s", n, log.String())
	}
}

// TestFailoverInACommit: the server is another one by the time of a commit that was
// decided before, and nothing was read since. Its version and claims fit.
func TestFailoverInACommit(t *testing.T) {
	t.Parallel()
	for name, together := range map[string]bool{"independent": false, "decided one by one": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, in := server(t), schema(t)
			s := open(t, at, postgres.Options{Schema: in, PollOnly: true})
			other := open(t, at, postgres.Options{Schema: in, PollOnly: true})
			write(t, s, 1, 1, "one")
			write(t, other, 1, 2, "lost")
			epoch := s.Epoch()
			if states, err := s.Load(t.Context(), 1); err != nil || states[0].Version != 2 { // all that s knows of it
				t.Fatalf("%+v, %v", states, err)
			}
			// The last commit is another one, under the open connections.
			sqlExec(t, admin(t), rewrite(in))
			late := because(t, 1, 3, "late")
			late.Epoch = epoch
			appends := []eventstore.Append{late}
			if together {
				appends = append(appends, late)
			}
			for _, res := range s.Append(t.Context(), appends) {
				if !errors.Is(res.Err, eventstore.ErrConflict) {
					t.Errorf("what was decided before: %v", res.Err)
				}
			}
			if got := s.Epoch(); got.History != epoch.History+1 {
				t.Errorf("epoch is %d after %d", got, epoch)
			}
			if head, err := position(t.Context(), s); err != nil || head != 2 {
				t.Errorf("head is %d, %v", head, err)
			}
		})
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

// TestBackupPutBack: an older backup is put back under a running store.
func TestBackupPutBack(t *testing.T) {
	t.Parallel()
	server := engines.StartPostgres(t)
	s := open(t, server.URL(), postgres.Options{})
	write(t, s, 1, 1, "kept")
	backup := server.Dump("daybook")
	write(t, s, 1, 2, "lost")
	write(t, s, 2, 1, "lost-too")
	epoch := s.Epoch()
	server.Restore("daybook", backup)
	eventually(t, "the poll alone finds the other history", func() error {
		if got := s.Epoch(); got.History <= epoch.History { // between DROP and the backup there is no store, which is told apart or not
			return fmt.Errorf("epoch is %v after %v", got, epoch)
		}
		return nil
	})
	eventually(t, "head", func() error { _, err := position(t.Context(), s); return err })
	write(t, s, 1, 2, "other")
	write(t, s, 2, 1, "lost-too")
	if _, n, err := storetest.Verify(t.Context(), s, nil); err != nil || n != 3 {
		t.Errorf("Verify: %d entries, %v", n, err)
	}
}
