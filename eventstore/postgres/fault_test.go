package postgres_test

import (
	"crypto/rand"
	"encoding/hex"
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
)

// TestOpenTogether: processes that start at the same time on an empty database
// make one schema.
func TestOpenTogether(t *testing.T) {
	t.Parallel()
	at, name := server(t), schema(t)
	errs := make([]error, 8)
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() {
			store, err := postgres.Open(t.Context(), at, postgres.Options{Schema: name, PoolSize: 1, PollOnly: true})
			if err == nil {
				err = store.Append(t.Context(), tag(t, calendar.ID(i+1), 1, fmt.Sprintf("tag-%d", i))).Err
				err = errors.Join(err, store.Close())
			}
			errs[i] = err
		})
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	wantEntries(t, open(t, at, postgres.Options{Schema: name}), 8)
}

// TestOpenRefused: what is not a schema of this version is told apart and left
// alone.
func TestOpenRefused(t *testing.T) {
	t.Parallel()
	at := server(t)
	conn := admin(t)
	for name, tt := range map[string]struct{ damage, says string }{
		"newer":   {"UPDATE @.form SET checksum = 'x'", "another version of daybook"},
		"foreign": {"DROP TABLE @.form", "belongs to another program"},
	} {
		in := schema(t)
		store := open(t, at, postgres.Options{Schema: in})
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		sqlExec(t, conn, strings.ReplaceAll(tt.damage, "@", in))
		if _, err := postgres.Open(t.Context(), at, postgres.Options{Schema: in}); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: got %v, want %q", name, err, tt.says)
		}
	}
	for _, options := range []postgres.Options{{Schema: "Day book"}, {Schema: "pg_daybook"}, {ServiceRole: `a"b`}} {
		if _, err := postgres.Open(t.Context(), at, options); err == nil {
			t.Errorf("options %+v were taken", options)
		}
	}
	if _, err := postgres.Open(t.Context(), "postgres://nobody@127.0.0.1:1/none", postgres.Options{}); !errors.Is(err, eventstore.ErrUnavailable) {
		t.Errorf("no server: got %v, want ErrUnavailable", err)
	}
}

// kill ends the server's processes of one application.
func kill(t *testing.T, conn *pgx.Conn, application string) int {
	t.Helper()
	var n int
	const end = "SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = $1"
	if err := conn.QueryRow(t.Context(), end, application).Scan(&n); err != nil {
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
	store := open(t, with(t, server(t), "application_name="+name), postgres.Options{Schema: name})
	conn := admin(t)
	const writers, each = 8, 40
	var running sync.WaitGroup
	var held atomic.Int32
	for w := range writers {
		running.Go(func() {
			for n := range each {
				id := calendar.ID(w*each + n + 1)
				a := because(t, id, 1, "killed")
				for try := 0; ; try++ {
					err := store.Append(t.Context(), a).Err
					if err == nil || errors.Is(err, eventstore.ErrConflict) && try > 0 { // the try before was written
						held.Add(1)
						break
					}
					if !errors.Is(err, eventstore.ErrUnavailable) || try > 50 {
						t.Errorf("append: %v", err)
						break
					}
				}
			}
		})
	}
	over := make(chan struct{})
	go func() { running.Wait(); close(over) }()
	killed, last := 0, int32(0)
	for tick := time.Tick(40 * time.Millisecond); ; <-tick {
		if now := held.Load(); now != last { // a slow machine gets to write between two kills
			last, killed = now, killed+kill(t, conn, name)
		}
		select {
		case <-over:
			if killed < 3 {
				t.Errorf("only %d connections were killed", killed)
			}
			wantEntries(t, open(t, server(t), postgres.Options{Schema: name}), writers*each)
			return
		default:
		}
	}
}

// TestLeases: one holder at a time, by the clock of the database. A row is who asks for how
// long, and who holds it then, in which epoch, for how long at most.
func TestLeases(t *testing.T) {
	t.Parallel()
	at, name := server(t), schema(t)
	conn := admin(t)
	stores := map[string]*postgres.Store{"a": open(t, at, postgres.Options{Schema: name}), "b": open(t, at, postgres.Options{Schema: name})}
	for i, step := range []struct {
		who    string
		span   time.Duration
		before string // what happens to the lease before
		holder string
		epoch  int
		left   time.Duration
	}{
		{"a", time.Hour, "", "a", 1, time.Hour},
		{"b", time.Minute, "", "a", 1, time.Hour},
		{"b", 0, "", "a", 1, time.Hour},
		{"a", time.Minute, "", "a", 1, time.Minute},
		{"b", time.Hour, "until - interval '1 hour'", "b", 2, time.Hour}, // it ended by itself
		{"b", 0, "", "b", 2, 0},
		{"a", 5 * time.Second, "", "a", 3, 5 * time.Second},
		{"b", time.Hour, "until + interval '1 hour'", "b", 4, time.Hour}, // the clock of the database went back
		{"a", 5 * time.Second, "", "b", 4, time.Hour},                    // a long lease is no such thing
	} {
		if step.before != "" {
			sqlExec(t, conn, "UPDATE "+name+".leases SET until = "+step.before)
		}
		lease, err := stores[step.who].Acquire(t.Context(), "relay", step.who, step.span)
		if err != nil || lease.Holder != step.holder || int(lease.Epoch) != step.epoch || lease.Left > step.left || lease.Left < step.left-30*time.Second {
			t.Errorf("step %d: %+v, %v", i, lease, err)
		}
	}
	var wins atomic.Int32
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			lease, err := stores[string("ab"[i%2])].Acquire(t.Context(), "race", fmt.Sprint(i), time.Hour)
			if err != nil {
				t.Errorf("Acquire: %v", err)
			}
			if lease.Holder == fmt.Sprint(i) {
				wins.Add(1)
			}
		})
	}
	group.Wait()
	if wins.Load() != 1 {
		t.Errorf("%d have the lease", wins.Load())
	}
}

// TestLongKeys: claims and names may be longer than an index takes.
func TestLongKeys(t *testing.T) {
	t.Parallel()
	store := open(t, server(t), postgres.Options{Schema: schema(t)})
	text := func(n int) string { // does not compress to a size that an index takes
		data := make([]byte, n/2)
		_, _ = rand.Read(data)
		return hex.EncodeToString(data)
	}
	a := tag(t, 1, 1, "jazz")
	claim := calendar.Claim{Space: "image-url", Key: "https://example.org/" + text(8<<10)}
	name := calendar.Name{Space: "name/tag", Key: text(4 << 10)}
	a.Drafts[0].Claims, a.Drafts[0].Names = []calendar.Claim{claim}, []calendar.Name{name}
	a.Receipt = &eventstore.Receipt{ReceiptKey: eventstore.ReceiptKey{User: 7, Key: text(4 << 10)}, Record: 1}
	if res := store.Append(t.Context(), a); res.Err != nil {
		t.Fatal(res.Err)
	}
	found, err := store.Find(t.Context(), eventstore.Lookup{Claims: []calendar.Claim{claim}, Names: []calendar.Name{name}})
	if err != nil || found.Holders[0] != 1 || len(found.Named[0]) != 1 {
		t.Errorf("Find: %+v, %v", found, err)
	}
	if res := store.Append(t.Context(), a); res.Err != nil || res.Receipt == nil {
		t.Errorf("again: %+v", res)
	}
}

// TestOldReceipts: receipts that are older than what Options say are purged without
// a commit, many of them, and also where the clock was wrong when they were kept.
func TestOldReceipts(t *testing.T) {
	t.Parallel()
	at, name := server(t), schema(t)
	store := open(t, at, postgres.Options{Schema: name, PurgeEvery: time.Millisecond})
	conn := admin(t)
	sqlExec(t, conn, strings.ReplaceAll(`INSERT INTO @.receipts
		SELECT sha256(int8send(n)), 7, n || '', sha256(''), 1, 1, 0, (extract(epoch FROM now()) * 1000)::bigint + hours * 3600000::bigint
		FROM (SELECT n, CASE WHEN n <= 5000 THEN -25 WHEN n <= 7500 THEN 100000 WHEN n <= 7510 THEN -23 ELSE 23 END hours FROM generate_series(1, 7520) n) r`,
		"@", name))
	eventually(t, "old ones and those of a time to come", func() error {
		var all, near int
		const look = "SELECT count(*), count(*) FILTER (WHERE abs(kept - extract(epoch FROM now()) * 1000) < 24 * 3600000::bigint) FROM @.receipts"
		if err := conn.QueryRow(t.Context(), strings.ReplaceAll(look, "@", name)).Scan(&all, &near); err != nil {
			return err
		}
		if all != 2520 || near != all {
			return fmt.Errorf("%d are kept, %d of them near now", all, near)
		}
		return nil
	})
	if head, err := position(t.Context(), store); err != nil || head != 0 {
		t.Errorf("head is %d, %v", head, err)
	}
}
