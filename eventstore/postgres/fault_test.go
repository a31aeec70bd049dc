package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/postgres"
	"daybook/eventstore/storetest"
	"daybook/internal/lease"
)

// TestOpenTogether: processes that start at the same time on an empty database
// make one schema.
func TestOpenTogether(t *testing.T) {
	t.Parallel()
	at, name := server(t), schema(t)
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			s, err := postgres.Open(t.Context(), at, postgres.Options{Schema: name, PoolSize: 1, PollOnly: true})
			if err == nil {
				err = s.Append(t.Context(), []eventstore.Append{tag(t, calendar.ID(i+1), 1, fmt.Sprintf("tag-%d", i))})[0].Err
				err = errors.Join(err, s.Close())
			}
			errs[i] = err
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	s := open(t, at, postgres.Options{Schema: name})
	if _, n, err := storetest.Verify(t.Context(), s, nil); err != nil || n != 8 {
		t.Errorf("Verify: %d entries, %v", n, err)
	}
}

// TestOpenRefused: what is not a schema of this version is told apart and left
// alone.
func TestOpenRefused(t *testing.T) {
	t.Parallel()
	at := server(t)
	c := admin(t)
	for name, tt := range map[string]struct{ damage, says string }{
		"newer":   {"UPDATE @.form SET checksum = 'x'", "another version of daybook"},
		"foreign": {"DROP TABLE @.form", "belongs to another program"},
	} {
		in := schema(t)
		s := open(t, at, postgres.Options{Schema: in})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		sqlExec(t, c, strings.ReplaceAll(tt.damage, "@", in))
		if _, err := postgres.Open(t.Context(), at, postgres.Options{Schema: in}); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: got %v, want %q", name, err, tt.says)
		}
	}
	for name, o := range map[string]postgres.Options{
		"schema": {Schema: "Day book"},
		"pg_":    {Schema: "pg_daybook"},
		"role":   {ServiceRole: `a"b`},
	} {
		if _, err := postgres.Open(t.Context(), at, o); err == nil {
			t.Errorf("%s: options %+v were taken", name, o)
		}
	}
	if _, err := postgres.Open(t.Context(), "postgres://nobody@127.0.0.1:1/none", postgres.Options{}); !errors.Is(err, eventstore.ErrUnavailable) {
		t.Errorf("no server: got %v, want ErrUnavailable", err)
	}
}

// TestTwoProcesses: two stores on one schema append at the same time, and a
// reader of either sees every position once, in order.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	at, name := server(t), schema(t)
	stores := []*postgres.Store{
		open(t, at, postgres.Options{Schema: name}),
		open(t, at, postgres.Options{Schema: name, PollOnly: true}),
	}
	const writers, each = 8, 15
	const total = 2 * writers * each
	var wg sync.WaitGroup
	for i, s := range stores {
		wg.Go(func() { // reads while they write
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			for at := calendar.Position(0); at < total; {
				page, err := s.Read(ctx, eventstore.Range{After: uint64(at), Limit: 20})
				if err == nil && len(page) == 0 {
					_, err = eventstore.Wait(ctx, s, at)
				}
				if err != nil {
					t.Errorf("reader %d at %d: %v", i, at, err)
					return
				}
				for _, e := range page {
					if e.Position != at+1 {
						t.Errorf("reader %d: entry %d follows %d", i, e.Position, at)
						return
					}
					at = e.Position
				}
			}
		})
		for w := range writers {
			wg.Go(func() {
				for n := range each {
					id, err := s.NewIDs(t.Context(), 1)
					if err != nil {
						t.Errorf("NewIDs: %v", err)
						return
					}
					a, err := tagAppend(id, 1, fmt.Sprintf("tag-%d-%d-%d", i, w, n))
					if err != nil {
						t.Error(err)
						return
					}
					if res := s.Append(t.Context(), []eventstore.Append{a})[0]; res.Err != nil {
						t.Errorf("append: %v", res.Err)
						return
					}
					// The other store sees it at once.
					states, err := stores[1-i].Load(t.Context(), id)
					if err != nil || states[0].Version != 1 {
						t.Errorf("the other store has record %d at %d, %v", id, states[0].Version, err)
					}
				}
			})
		}
	}
	wg.Wait()
	if _, n, err := storetest.Verify(t.Context(), stores[0], nil); err != nil || n != total {
		t.Errorf("Verify: %d entries, %v", n, err)
	}
}

// TestOneWinner: of writers in two processes on one version, one slug and one
// key, one wins each, and no commit runs into another one.
func TestOneWinner(t *testing.T) {
	t.Parallel()
	at, name := server(t), schema(t)
	o := postgres.Options{Schema: name, Observe: func() func(eventstore.Committed) {
		return func(c eventstore.Committed) {
			if c.Err != nil {
				t.Errorf("commit: %v", c.Err)
			}
		}
	}}
	stores := []*postgres.Store{open(t, at, o), open(t, at, o)}
	for round := range 100 {
		var wins, claims, receipts atomic.Int32
		var wg sync.WaitGroup
		for w := range 8 {
			wg.Go(func() {
				s := stores[w%2]
				fresh := tag(t, calendar.ID(1000*round+w+1), 1, fmt.Sprintf("slug-%d", round))
				keyed := tag(t, calendar.ID(1000*round+w+101), 1, fmt.Sprintf("keyed-%d-%d", round, w))
				keyed.Receipt = &eventstore.Receipt{User: 7, Key: fmt.Sprintf("key-%d", round), Record: 1}
				results := s.Append(t.Context(), []eventstore.Append{fresh, keyed})
				e, lost := errors.AsType[*eventstore.ClaimError](results[0].Err)
				switch {
				case results[0].Err == nil:
					wins.Add(1)
				case lost && e.Holder > 0:
					claims.Add(1)
				default:
					t.Errorf("append: %v", results[0].Err)
				}
				if results[1].Err != nil {
					t.Errorf("keyed append: %v", results[1].Err)
				}
				if results[1].Receipt == nil {
					receipts.Add(1)
				}
			})
		}
		wg.Wait()
		if wins.Load() != 1 || claims.Load() != 7 || receipts.Load() != 1 {
			t.Errorf("round %d: %d hold the slug, %d lost it, %d wrote with the key", round, wins.Load(), claims.Load(), receipts.Load())
		}
	}
}

// kill ends the server's processes of one application.
func kill(t *testing.T, c *pgx.Conn, application string) int {
	t.Helper()
	var n int
	const end = "SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = $1"
	if err := c.QueryRow(t.Context(), end, application).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestKilledConnections: connections end again and again while appends run.
// Nothing that was acknowledged is lost, nothing is written twice, and anyone who
// is told that it failed finds it absent or whole.
func TestKilledConnections(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skipf("%s did not run: it is slow and -short is set", t.Name())
	}
	name := schema(t)
	s := open(t, with(t, server(t), "application_name="+name), postgres.Options{Schema: name})
	c := admin(t)
	const writers, each, kills, most = 8, 25, 5, 100_000 // as many as it takes for so many kills
	var done atomic.Bool
	var failed, killed, written, held atomic.Int32
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := 0; !t.Failed() && (n < each || killed.Load() < kills && n < most); n++ {
				written.Add(1)
				id := calendar.ID(w*most + n + 1)
				a := tag(t, id, 1, fmt.Sprintf("tag-%d", id))
				for try := 0; ; try++ {
					res := s.Append(t.Context(), []eventstore.Append{a})[0]
					if res.Err == nil {
						held.Add(1)
						break
					}
					failed.Add(1)
					if errors.Is(res.Err, eventstore.ErrConflict) && try > 0 {
						held.Add(1)
						break // the try before was written
					}
					if !errors.Is(res.Err, eventstore.ErrUnavailable) || try > 50 {
						t.Errorf("append: %v", res.Err)
						break
					}
				}
			}
		})
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		tick := time.NewTicker(40 * time.Millisecond)
		defer tick.Stop()
		last := int32(-1)
		for n := 0; ; n++ {
			<-tick.C
			if done.Load() || t.Failed() {
				break
			}
			now := held.Load()
			if now == last && n%25 != 0 { // a slow machine gets to write between two kills
				continue
			}
			last = now
			killed.Add(int32(kill(t, c, name)))
		}
	}()
	wg.Wait()
	done.Store(true)
	<-over
	if n := killed.Load(); n < kills {
		t.Errorf("%d connections were killed, want %d", n, kills)
	}
	if _, entries, err := storetest.Verify(t.Context(), open(t, server(t), postgres.Options{Schema: name}), nil); err != nil || entries != calendar.Position(written.Load()) {
		t.Errorf("Verify: %d entries, want %d, %v", entries, written.Load(), err)
	}
	t.Logf("%d connections killed, %d appends of %d told that they failed", killed.Load(), failed.Load(), written.Load())
}

// TestListensAgain: a store that lost its connection for listening sees what
// others append, and listens again.
func TestListensAgain(t *testing.T) {
	t.Parallel()
	at, name := server(t), schema(t)
	writer := open(t, at, postgres.Options{Schema: name, PollOnly: true})
	var log lockedBuffer
	reader := open(t, at, postgres.Options{Schema: name, ListenURL: with(t, at, "application_name="+name), Log: log.logger()})
	c := admin(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var pid int
	for round := range calendar.ID(3) {
		for before := pid; pid == before; { // until it listens again
			const look = `SELECT coalesce(max(pid), $2) FROM pg_stat_activity
				WHERE application_name = $1 AND query LIKE 'LISTEN%' AND state = 'idle' AND pid <> $2`
			if err := c.QueryRow(ctx, look, name, before).Scan(&pid); err != nil {
				t.Fatal(err)
			}
		}
		if res := writer.Append(ctx, []eventstore.Append{tag(t, round+1, 1, fmt.Sprintf("tag-%d", round))})[0]; res.Err != nil {
			t.Fatal(res.Err)
		}
		if head, err := eventstore.Wait(ctx, reader, calendar.Position(round)); err != nil {
			t.Errorf("Wait: %d, %v", head.Position, err)
		}
		if kill(t, c, name) != 1 {
			t.Error("the listening connection was not there")
		}
	}
	if !strings.Contains(log.String(), "not listened to") {
		t.Errorf("the log says %q", log.String())
	}
}

// TestLeases: one holder at a time, by the clock of the database.
func TestLeases(t *testing.T) {
	t.Parallel()
	at, name := server(t), schema(t)
	a, b := open(t, at, postgres.Options{Schema: name}), open(t, at, postgres.Options{Schema: name})
	ctx := t.Context()
	acquire := func(s *postgres.Store, holder string, span time.Duration) (lease.Lease, bool) {
		t.Helper()
		l, err := s.Acquire(ctx, "relay", holder, span)
		if err != nil {
			t.Fatalf("Acquire: %v", err)
		}
		return l, l.Holder == holder
	}
	l, ok := acquire(a, "a", time.Hour)
	if !ok || l.Holder != "a" || l.Epoch != 1 || l.Left <= 59*time.Minute || l.Left > time.Hour {
		t.Errorf("first: %+v, %t", l, ok)
	}
	if l, ok := acquire(b, "b", time.Minute); ok || l.Holder != "a" || l.Epoch != 1 || l.Left <= 59*time.Minute {
		t.Errorf("of another: %+v, %t", l, ok)
	}
	if l, ok := acquire(b, "b", 0); ok || l.Holder != "a" || l.Left <= 59*time.Minute {
		t.Errorf("ended by another: %+v, %t", l, ok)
	}
	if l, ok := acquire(a, "a", 100*time.Millisecond); !ok || l.Epoch != 1 || l.Left > 100*time.Millisecond {
		t.Errorf("renewed: %+v, %t", l, ok)
	}
	deadline, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for ok = false; !ok; { // until it ends by itself
		if deadline.Err() != nil {
			t.Fatal("the lease did not end")
		}
		l, ok = acquire(b, "b", time.Hour)
	}
	if l.Epoch != 2 || l.Holder != "b" {
		t.Errorf("taken over: %+v", l)
	}
	if l, ok := acquire(b, "b", 0); !ok || l.Epoch != 2 || l.Left != 0 {
		t.Errorf("ended: %+v, %t", l, ok)
	}
	if l, ok := acquire(a, "a", time.Hour); !ok || l.Epoch != 3 {
		t.Errorf("after a release: %+v, %t", l, ok)
	}
	var wins atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			l, err := []*postgres.Store{a, b}[i%2].Acquire(ctx, "race", fmt.Sprint(i), time.Hour)
			if err != nil {
				t.Errorf("Acquire: %v", err)
			}
			if l.Holder == fmt.Sprint(i) {
				wins.Add(1)
			}
		})
	}
	wg.Wait()
	if wins.Load() != 1 {
		t.Errorf("%d have the lease", wins.Load())
	}
}

// TestLongKeys: claims and names may be longer than an index takes.
func TestLongKeys(t *testing.T) {
	t.Parallel()
	s := open(t, server(t), postgres.Options{Schema: schema(t)})
	a := tag(t, 1, 1, "jazz")
	claim := calendar.Claim{Space: "image-url", Key: "https://example.org/" + randomText(8<<10)}
	name := calendar.Name{Space: "name/tag", Key: randomText(4 << 10)}
	a.Drafts[0].Claims, a.Drafts[0].Names = []calendar.Claim{claim}, []calendar.Name{name}
	a.Receipt = &eventstore.Receipt{User: 7, Key: randomText(4 << 10), Record: 1}
	if res := s.Append(t.Context(), []eventstore.Append{a})[0]; res.Err != nil {
		t.Fatal(res.Err)
	}
	found, err := s.Find(t.Context(), eventstore.Lookup{Claims: []calendar.Claim{claim}, Names: []calendar.Name{name}})
	if err != nil || found.Holders[0] != 1 || len(found.Named[0]) != 1 {
		t.Errorf("Find: %+v, %v", found, err)
	}
	if res := s.Append(t.Context(), []eventstore.Append{a})[0]; res.Err != nil || res.Receipt == nil {
		t.Errorf("again: %+v", res)
	}
}

// randomText gives text that does not compress to a size that an index takes.
func randomText(n int) string {
	var b bytes.Buffer
	for i := uint64(88172645463325252); b.Len() < n; {
		i ^= i << 13
		i ^= i >> 7
		i ^= i << 17
		fmt.Fprintf(&b, "%016x", i)
	}
	return b.String()[:n]
}

// TestOldReceipts: receipts that are older than what Options say are purged without
// a commit, many of them, and also where the clock was wrong when they were kept.
func TestOldReceipts(t *testing.T) {
	t.Parallel()
	at, name := server(t), schema(t)
	s := open(t, at, postgres.Options{Schema: name, PurgeEvery: time.Millisecond})
	c := admin(t)
	sqlExec(t, c, strings.ReplaceAll(`INSERT INTO @.receipts
		SELECT sha256(int8send(n)), 7, n || '', sha256(''), 1, 1, 0, (extract(epoch FROM now()) * 1000)::bigint + hours * 3600000::bigint
		FROM (SELECT n, CASE WHEN n <= 5000 THEN -25 WHEN n <= 7500 THEN 100000 WHEN n <= 7510 THEN -23 ELSE 23 END hours FROM generate_series(1, 7520) n) r`,
		"@", name))
	eventually(t, "old ones and those of a time to come", func() error {
		var all, near int
		const look = "SELECT count(*), count(*) FILTER (WHERE abs(kept - extract(epoch FROM now()) * 1000) < 24 * 3600000::bigint) FROM @.receipts"
		if err := c.QueryRow(t.Context(), strings.ReplaceAll(look, "@", name)).Scan(&all, &near); err != nil {
			return err
		}
		if all != 2520 || near != all {
			return fmt.Errorf("%d are kept, %d of them near now", all, near)
		}
		return nil
	})
	if head, err := position(t.Context(), s); err != nil || head != 0 {
		t.Errorf("head is %d, %v", head, err)
	}
}

// TestLeaseAheadOfTheClock: a lease that lies further ahead than it was taken for was
// taken before the clock of the database went back, and has ended.
func TestLeaseAheadOfTheClock(t *testing.T) {
	t.Parallel()
	at, name := server(t), schema(t)
	s := open(t, at, postgres.Options{Schema: name})
	c := admin(t)
	if l, err := s.Acquire(t.Context(), "relay", "a", 5*time.Second); err != nil || l.Holder != "a" {
		t.Fatalf("%+v, %v", l, err)
	}
	sqlExec(t, c, "UPDATE "+name+".leases SET until = until + interval '1 hour'")
	l, err := s.Acquire(t.Context(), "relay", "b", 5*time.Second)
	if err != nil || l.Holder != "b" || l.Left > 5*time.Second {
		t.Errorf("%+v, %v", l, err)
	}
	if l, err := s.Acquire(t.Context(), "relay", "b", 0); err != nil || l.Left != 0 {
		t.Errorf("%+v, %v", l, err)
	}
	// A lease that was taken for long is no such thing.
	if l, err := s.Acquire(t.Context(), "relay", "a", time.Hour); err != nil || l.Holder != "a" {
		t.Fatalf("%+v, %v", l, err)
	}
	if l, err := s.Acquire(t.Context(), "relay", "b", 5*time.Second); err != nil || l.Holder != "a" {
		t.Errorf("a long lease was taken away: %v", err)
	}
}
