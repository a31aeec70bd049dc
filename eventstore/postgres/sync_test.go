package postgres_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"daybook/eventstore"
	"daybook/eventstore/postgres"
	"daybook/internal/testkit/engines"
)

// TestSynchronousStandby: while the synchronous standby is away nothing is answered
// as written, in no way: not by the attempt that was cut off, not because its entries
// are found, not by its receipt, in this process or in another one. When the standby
// is back all of it is.
func TestSynchronousStandby(t *testing.T) {
	t.Parallel()
	primary := engines.StartPostgres(t)
	standby := primary.Standby("second")
	write(t, open(t, primary.URL(), postgres.Options{}), 1, 1, "before")
	opened := func() *postgres.Store { return open(t, primary.URL(), postgres.Options{Timeout: 2 * time.Second}) }
	s, other := opened(), opened()
	standby.Kill9()
	primary.Exec("ALTER SYSTEM SET synchronous_standby_names = 'second'", "SELECT pg_reload_conf()")
	eventually(t, "commits wait for the standby", func() error {
		if err := s.Sync(t.Context()); !errors.Is(err, eventstore.ErrUnavailable) {
			return errors.New("they do not")
		}
		return nil
	})

	keyed := because(t, 2, 1, "cut off")
	keyed.Receipt = &eventstore.Receipt{ReceiptKey: eventstore.ReceiptKey{User: 7, Key: "k"}, Record: 2, Version: 1}
	if res := s.Append(t.Context(), keyed); !errors.Is(res.Err, eventstore.ErrUnavailable) {
		t.Errorf("the first attempt: %+v", res)
	}
	if states, err := other.Load(t.Context(), 2); err != nil || states[0].Version != 1 {
		t.Fatalf("what was cut off is not visible, so this shows nothing: %+v, %v", states, err)
	}
	tries := map[*postgres.Store][]eventstore.Append{s: {keyed, {}}, other: {keyed, keyed}}
	var group sync.WaitGroup
	for store, calls := range tries {
		group.Go(func() {
			for _, a := range calls {
				if res := store.Append(t.Context(), a); !errors.Is(res.Err, eventstore.ErrUnavailable) {
					t.Errorf("again: %+v", res)
				}
			}
			if receipt, err := store.Receipt(t.Context(), 7, "k"); !errors.Is(err, eventstore.ErrUnavailable) {
				t.Errorf("the receipt: %+v, %v", receipt, err)
			}
			if lease, err := store.Acquire(t.Context(), "relay", "a", time.Minute); err != nil || lease.Holder != "a" {
				t.Errorf("a lease waits for the standby: %+v, %v", lease, err)
			}
		})
	}
	group.Wait()
	standby.Start()
	for store, calls := range tries {
		for _, a := range calls {
			eventually(t, "again", func() error { return store.Append(t.Context(), a).Err })
		}
	}
	wantEntries(t, s, 2)
}

// TestCommitCancelled: the server answers a commit whose wait for the standby was
// cancelled by hand as if it were whole; whatever the role says, the store hears of it.
func TestCommitCancelled(t *testing.T) {
	t.Parallel()
	primary := engines.StartPostgres(t)
	primary.Exec("ALTER ROLE postgres SET client_min_messages = 'error'")
	primary.Exec("ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "SELECT pg_reload_conf()")
	open(t, primary.URL()+"?options=-csynchronous_commit%3Dlocal", postgres.Options{}) // makes the schema
	store := open(t, primary.URL(), postgres.Options{Timeout: time.Minute})
	go func() {
		conn, err := pgx.Connect(t.Context(), primary.URL())
		for err == nil { // until the test is over
			<-time.After(50 * time.Millisecond)
			_, err = conn.Exec(t.Context(), "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
		}
	}()
	if res := store.Append(t.Context(), tag(t, 1, 1, "one")); !errors.Is(res.Err, eventstore.ErrUnavailable) {
		t.Errorf("append: %+v", res)
	}
	if err := store.Sync(t.Context()); !errors.Is(err, eventstore.ErrUnavailable) {
		t.Errorf("sync: %v", err)
	}
}
