package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/postgres"
	"daybook/eventstore/storetest"
	"daybook/internal/testkit/engines"
)

// proxied gives a proxy before the shared server.
func proxied(t *testing.T) (*engines.Proxy, string) {
	t.Helper()
	p := engines.NewProxy(t, server(t))
	return p, p.URL
}

// calls are one call of each kind that goes to the server.
func calls(s *postgres.Store, appended calendar.ID) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"append": func(ctx context.Context) error {
			a, err := tagAppend(appended, 1, fmt.Sprintf("tag-%d", appended))
			if err != nil {
				return err
			}
			err = s.Append(ctx, []eventstore.Append{a})[0].Err
			if errors.Is(err, eventstore.ErrConflict) { // the try before was written
				return nil
			}
			return err
		},
		"head": func(ctx context.Context) error { _, err := position(ctx, s); return err },
		"load": func(ctx context.Context) error { _, err := s.Load(ctx, 1); return err },
		"history": func(ctx context.Context) error {
			_, err := s.Read(ctx, eventstore.Range{Record: 1, Limit: 10})
			return err
		},
		"ids":   func(ctx context.Context) error { _, err := s.NewIDs(ctx, 1); return err },
		"lease": func(ctx context.Context) error { _, err := s.Acquire(ctx, "relay", "a", time.Minute); return err },
		"sync":  s.Sync,
		"key":   func(ctx context.Context) error { _, err := s.Receipt(ctx, 1, "k"); return err },
	}
}

// TestServerFallsSilent: the connections that are open swallow what is sent, new ones
// are fine. No call takes longer than its time, and soon all of them work again.
func TestServerFallsSilent(t *testing.T) {
	t.Parallel()
	proxy, at := proxied(t)
	const read, write, slack = 2 * time.Second, 4 * time.Second, time.Minute
	s := open(t, at, postgres.Options{Schema: schema(t), PoolSize: 8, ReadTimeout: read, Timeout: write})
	round := func(id calendar.ID, fail func(name string, err error)) {
		var wg sync.WaitGroup
		for range 3 {
			for name, call := range calls(s, id) {
				wg.Go(func() {
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
		wg.Wait()
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
	if _, n, err := storetest.Verify(t.Context(), s, nil); err != nil || n < 2 {
		t.Errorf("Verify: %d entries, %v", n, err)
	}
}

// TestSilentConnections: connections that no one used for a while are tried before
// they are trusted, so no one's call fails when they are gone without a word.
func TestSilentConnections(t *testing.T) {
	t.Parallel()
	proxy, at := proxied(t)
	s := open(t, at, postgres.Options{Schema: schema(t), PollOnly: true, ReadTimeout: time.Minute, Timeout: 2 * time.Minute})
	var wg sync.WaitGroup
	for range 8 {
		for name, call := range calls(s, 1) {
			wg.Go(func() {
				if err := call(t.Context()); err != nil {
					t.Errorf("before: %s: %v", name, err)
				}
			})
		}
	}
	wg.Wait()
	for n := range 3 {
		proxy.Swallow(false)
		<-time.After(1500 * time.Millisecond)
		for name, call := range calls(s, calendar.ID(n+2)) {
			wg.Go(func() {
				if err := call(t.Context()); err != nil {
					t.Errorf("round %d: %s: %v", n, name, err)
				}
			})
		}
		wg.Wait()
	}
}

// TestServerIsAway: while nothing is heard of the server, on new connections neither,
// calls end in their time; when it is back they work.
func TestServerIsAway(t *testing.T) {
	t.Parallel()
	proxy, at := proxied(t)
	s := open(t, at, postgres.Options{Schema: schema(t), ReadTimeout: time.Second, Timeout: 2 * time.Second})
	proxy.Swallow(true)
	for name, call := range calls(s, 1) {
		if err := call(t.Context()); !errors.Is(err, eventstore.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	proxy.Swallow(false)
	for name, call := range calls(s, 1) {
		eventually(t, name, func() error { return call(t.Context()) })
	}
}

// TestCloseEnds: Close ends in its time, whatever hangs.
func TestCloseEnds(t *testing.T) {
	t.Parallel()
	proxy, at := proxied(t)
	s := open(t, at, postgres.Options{Schema: schema(t), ReadTimeout: time.Second, Timeout: 2 * time.Second})
	if _, err := position(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	proxy.Swallow(true)
	var wg sync.WaitGroup
	first := make(chan error, 100)
	for _, call := range calls(s, 1) {
		wg.Go(func() { first <- call(t.Context()) })
	}
	if err := <-first; !errors.Is(err, eventstore.ErrUnavailable) { // others hang for longer
		t.Errorf("got %v", err)
	}
	began := time.Now()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("Close took %s", took)
	}
	wg.Wait()
}

// TestSeveralHosts: of several hosts the one that takes writes is found, whatever
// their order, and no standby is read.
func TestSeveralHosts(t *testing.T) {
	t.Parallel()
	primary := engines.StartPostgres(t)
	standby := primary.Standby("second")
	write(t, open(t, primary.URL(), postgres.Options{}), 1, 1, "one")
	primary.CaughtUp(standby)
	hosts := strings.TrimSuffix(standby.URL(), "/postgres") + "," + strings.TrimPrefix(primary.URL(), "postgres://postgres@")
	s := open(t, hosts, postgres.Options{})
	write(t, s, 1, 2, "two")
	if states, err := s.Load(t.Context(), 1); err != nil || states[0].Version != 2 {
		t.Errorf("%+v, %v", states, err)
	}
	// A server that is a standby and behind is no other history.
	standby.Cut()
	write(t, s, 1, 3, "three")
	proxy := engines.NewProxy(t, primary.URL())
	var log lockedBuffer
	through := open(t, proxy.URL, postgres.Options{Log: log.logger()})
	epoch := through.Epoch()
	proxy.Switch(standby.URL())
	eventually(t, "the standby is refused", func() error {
		if _, err := position(t.Context(), through); !errors.Is(err, eventstore.ErrUnavailable) || !strings.Contains(err.Error(), "standby") {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
	if through.Epoch() != epoch {
		t.Errorf("a standby that lags was taken for another history:\n%s", log.String())
	}
	proxy.Switch(primary.URL())
	eventually(t, "the primary again", func() error { _, err := position(t.Context(), through); return err })
}
