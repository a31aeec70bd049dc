package postgres_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/postgres"
	"daybook/internal/testkit/engines"
)

// calls are one call of each kind that goes to the server.
func calls(t *testing.T, store *postgres.Store, appended calendar.ID) map[string]func(context.Context) error {
	t.Helper()
	a := because(t, appended, 1, "call")
	return map[string]func(context.Context) error{
		"append": func(ctx context.Context) error {
			err := store.Append(ctx, a).Err
			if errors.Is(err, eventstore.ErrConflict) { // the try before was written
				return nil
			}
			return err
		},
		"head": func(ctx context.Context) error { _, err := position(ctx, store); return err },
		"load": func(ctx context.Context) error { _, err := store.Load(ctx, 1); return err },
		"history": func(ctx context.Context) error {
			_, err := store.Read(ctx, eventstore.Range{Record: 1, Limit: 10})
			return err
		},
		"ids":   func(ctx context.Context) error { _, err := store.NewID(ctx); return err },
		"lease": func(ctx context.Context) error { _, err := store.Acquire(ctx, "relay", "a", time.Minute); return err },
		"sync":  store.Sync,
		"key":   func(ctx context.Context) error { _, err := store.Receipt(ctx, 1, "k"); return err },
	}
}

// TestServerFallsSilent: the connections that are open swallow what is sent, new ones
// are fine. No call takes longer than its time, and soon all of them work again.
func TestServerFallsSilent(t *testing.T) {
	t.Parallel()
	proxy := engines.NewProxy(t, server(t))
	const read, write, slack = 2 * time.Second, 4 * time.Second, time.Minute
	store := open(t, proxy.URL, postgres.Options{Schema: schema(t), PoolSize: 8, ReadTimeout: read, Timeout: write})
	round := func(id calendar.ID, fail func(name string, err error)) {
		var group sync.WaitGroup
		for range 3 {
			for name, call := range calls(t, store, id) {
				group.Go(func() {
					began := time.Now()
					if err := call(t.Context()); err != nil {
						fail(name, err)
					}
					limit := read
					if name == "append" || name == "sync" {
						limit = write
					}
					if took := time.Since(began); took > limit+slack {
						t.Errorf("%s took %s, its limit is %s", name, took, limit)
					}
				})
			}
		}
		group.Wait()
	}
	round(1, func(name string, err error) { t.Errorf("before: %s: %v", name, err) }) // the pool is full now
	proxy.Swallow(false)
	round(2, func(name string, err error) {
		if !errors.Is(err, eventstore.ErrUnavailable) {
			t.Errorf("when it falls silent: %s: %v", name, err)
		}
	})
	// Whatever had to find out has found out.
	round(3, func(name string, err error) { t.Errorf("after: %s: %v", name, err) })
}

// TestServerIsAway: while nothing is heard of the server, on new connections neither,
// calls end in their time, and so does Close; when it is back they work.
func TestServerIsAway(t *testing.T) {
	t.Parallel()
	proxy := engines.NewProxy(t, server(t))
	store := open(t, proxy.URL, postgres.Options{Schema: schema(t), ReadTimeout: time.Second, Timeout: 2 * time.Second})
	proxy.Swallow(true)
	var group sync.WaitGroup
	for name, call := range calls(t, store, 1) {
		group.Go(func() {
			if err := call(t.Context()); !errors.Is(err, eventstore.ErrUnavailable) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	group.Wait()
	proxy.Swallow(false)
	for name, call := range calls(t, store, 1) {
		eventually(t, name, func() error { return call(t.Context()) })
	}
	proxy.Swallow(true)
	began := time.Now()
	if err := store.Close(); err != nil || time.Since(began) > time.Minute {
		t.Errorf("Close: %v after %s", err, time.Since(began))
	}
}
