package postgres_test

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/postgres"
	"daybook/eventstore/storetest"
	"daybook/internal/testkit/engines"
)

// server returns the URL of the server for tests, as its superuser.
func server(tb testing.TB) string {
	tb.Helper()
	return engines.URL(tb, engines.Postgres)
}

// schema gives a name for a schema of the test's own, which is dropped when the
// test ends.
func schema(tb testing.TB) string {
	tb.Helper()
	_, name := engines.Shared(tb, engines.Postgres)
	return name
}

// with gives a URL with more parameters.
func with(tb testing.TB, at string, params ...string) string {
	tb.Helper()
	address, err := url.Parse(at)
	if err != nil {
		tb.Fatal(err)
	}
	values := address.Query()
	for _, text := range params {
		name, value, _ := strings.Cut(text, "=")
		values.Set(name, value)
	}
	address.RawQuery = values.Encode()
	return address.String()
}

// admin gives a connection of the superuser that ends with the test.
func admin(tb testing.TB) *pgx.Conn {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), server(tb))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close(context.WithoutCancel(tb.Context())) })
	return conn
}

func sqlExec(tb testing.TB, conn *pgx.Conn, text string) {
	tb.Helper()
	if _, err := conn.Exec(tb.Context(), text); err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
}

// open opens a store and closes it when the test ends. Tests run next to each
// other on one server, so each has a few connections only, and time.
func open(tb testing.TB, at string, options postgres.Options) *postgres.Store {
	tb.Helper()
	options.Timeout, options.ReadTimeout = cmp.Or(options.Timeout, time.Minute), cmp.Or(options.ReadTimeout, 30*time.Second)
	if options.PoolSize == 0 {
		options.PoolSize = 4
	}
	store, err := postgres.Open(tb.Context(), at, options)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := store.Close(); err != nil {
			tb.Errorf("Close: %v", err)
		}
	})
	return store
}

// harness opens stores. The longest that it may wait is that of the suite.
func harness(open func(tb testing.TB, schema string) storetest.Store) storetest.Harness {
	var schemas sync.Map // by store
	in := func(tb testing.TB, name string) storetest.Store {
		tb.Helper()
		store := open(tb, name)
		schemas.Store(store, name)
		return store
	}
	return storetest.Harness{
		Open: func(tb testing.TB) storetest.Store {
			tb.Helper()
			return in(tb, schema(tb))
		},
		Reopen: func(tb testing.TB, store storetest.Store) storetest.Store {
			tb.Helper()
			if err := store.Close(); err != nil {
				tb.Fatalf("Close: %v", err)
			}
			name, _ := schemas.Load(store)
			return in(tb, name.(string))
		},
		Stray: func(tb testing.TB, store storetest.Store, held eventstore.Held) {
			tb.Helper()
			name, _ := schemas.Load(store)
			insert := "INSERT INTO " + name.(string) + ".%s (digest, record, space, key) VALUES (sha256('%s'), %d, '%s', '%s')"
			for _, claim := range held.Claims {
				sqlExec(tb, admin(tb), fmt.Sprintf(insert, "claims", claim.Key, held.ID, claim.Space, claim.Key))
			}
			for _, n := range held.Names {
				sqlExec(tb, admin(tb), fmt.Sprintf(insert, "names", n.Key, held.ID, n.Space, n.Key))
			}
		},
		Patience: time.Minute,
	}
}

// position returns where the log of a store stands.
func position(ctx context.Context, store eventstore.Store) (calendar.Position, error) {
	head, err := store.Head(ctx, eventstore.Point{})
	return head.Position, err
}

// tag makes an Append that creates or updates a tag: version 1 is the first.
func tag(tb testing.TB, id calendar.ID, version int64, slug string) eventstore.Append {
	tb.Helper()
	now := time.Date(2026, 5, 1, 9, 30, 0, 0, time.UTC)
	var record *calendar.Record
	var draft eventstore.Draft
	for v := range version {
		change := calendar.Change{Name: "tag.updated", Kind: calendar.KindTag, ID: id, Fields: calendar.Fields{"slug": fmt.Sprintf("%s-%d", slug, v)}}
		if v == 0 {
			change.Name, change.Home = "tag.created", calendar.LangEN
			change.Fields["name"] = calendar.Text{calendar.LangEN: "Name of " + slug}
		}
		draft, record = storetest.Draft(tb, record, change, now)
	}
	return eventstore.Append{Drafts: []eventstore.Draft{draft}, Time: now, Actor: 7, Cause: eventstore.Cause{Client: "test"}}
}

// because is tag with a reason of its own: the same version in two histories.
func because(tb testing.TB, id calendar.ID, version int64, reason string) eventstore.Append {
	tb.Helper()
	a := tag(tb, id, version, fmt.Sprintf("tag-%d", id))
	a.Cause.Reason = reason
	return a
}

// write appends a version of a tag, which fails the test when it is refused.
func write(tb testing.TB, store *postgres.Store, id calendar.ID, version int64, reason string) {
	tb.Helper()
	if res := store.Append(tb.Context(), because(tb, id, version, reason)); res.Err != nil {
		tb.Fatalf("version %d of %d: %v", version, id, res.Err)
	}
}

// wantEntries wants a log that verifies.
func wantEntries(t *testing.T, store eventstore.Store, want int) {
	t.Helper()
	if position, err := storetest.Verify(t.Context(), store); err != nil || position != calendar.Position(want) {
		t.Errorf("Verify: %d entries, want %d, %v", position, want, err)
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
