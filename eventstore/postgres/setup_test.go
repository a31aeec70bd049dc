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
	return engines.URL(tb, engines.EnginePostgres)
}

// schema gives a name for a schema of the test's own, which is dropped when the
// test ends.
func schema(tb testing.TB) string {
	tb.Helper()
	_, name := engines.Postgres(tb)
	return name
}

// with gives a URL with more parameters.
func with(tb testing.TB, at string, params ...string) string {
	tb.Helper()
	u, err := url.Parse(at)
	if err != nil {
		tb.Fatal(err)
	}
	q := u.Query()
	for _, p := range params {
		name, value, _ := strings.Cut(p, "=")
		q.Set(name, value)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// admin gives a connection of the superuser that ends with the test.
func admin(tb testing.TB) *pgx.Conn {
	tb.Helper()
	c, err := pgx.Connect(tb.Context(), server(tb))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close(context.WithoutCancel(tb.Context())) })
	return c
}

func sqlExec(tb testing.TB, c *pgx.Conn, text string) {
	tb.Helper()
	if _, err := c.Exec(tb.Context(), text); err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
}

// open opens a store and closes it when the test ends. Tests run next to each
// other on one server, so each has a few connections only, and time.
func open(tb testing.TB, at string, o postgres.Options) *postgres.Store {
	tb.Helper()
	o.Timeout, o.ReadTimeout = cmp.Or(o.Timeout, time.Minute), cmp.Or(o.ReadTimeout, 30*time.Second)
	if o.PoolSize == 0 {
		o.PoolSize = 4
	}
	s, err := postgres.Open(tb.Context(), at, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("Close: %v", err)
		}
	})
	return s
}

// harness opens stores. The longest that it may wait is that of the suite.
func harness(open func(tb testing.TB, schema string) storetest.Store) storetest.Harness {
	var schemas sync.Map // by store
	in := func(tb testing.TB, name string) storetest.Store {
		tb.Helper()
		s := open(tb, name)
		schemas.Store(s, name)
		return s
	}
	return storetest.Harness{
		Open: func(tb testing.TB) storetest.Store {
			tb.Helper()
			return in(tb, schema(tb))
		},
		Reopen: func(tb testing.TB, s storetest.Store) storetest.Store {
			tb.Helper()
			if err := s.Close(); err != nil {
				tb.Fatalf("Close: %v", err)
			}
			name, _ := schemas.Load(s)
			return in(tb, name.(string))
		},
		Stray: func(tb testing.TB, s storetest.Store, h eventstore.Held) {
			tb.Helper()
			name, _ := schemas.Load(s)
			insert := "INSERT INTO " + name.(string) + ".%s (digest, record, space, key) VALUES (sha256('%s'), %d, '%s', '%s')"
			for _, c := range h.Claims {
				sqlExec(tb, admin(tb), fmt.Sprintf(insert, "claims", c.Key, h.ID, c.Space, c.Key))
			}
			for _, n := range h.Names {
				sqlExec(tb, admin(tb), fmt.Sprintf(insert, "names", n.Key, h.ID, n.Space, n.Key))
			}
		},
		Patience: time.Minute,
	}
}

// position returns where the log of a store stands.
func position(ctx context.Context, s eventstore.Store) (calendar.Position, error) {
	h, err := s.Head(ctx, eventstore.Point{})
	return h.Position, err
}

// tag makes an Append that creates or updates a tag: version 1 is the first.
func tag(tb testing.TB, id calendar.ID, version int64, slug string) eventstore.Append {
	tb.Helper()
	now := time.Date(2026, 5, 1, 9, 30, 0, 0, time.UTC)
	var r *calendar.Record
	var d eventstore.Draft
	for v := range version {
		c := calendar.Change{Name: "tag.updated", Kind: calendar.KindTag, ID: id, Fields: calendar.Fields{"slug": fmt.Sprintf("%s-%d", slug, v)}}
		if v == 0 {
			c.Name, c.Home = "tag.created", calendar.LangEN
			c.Fields["name"] = calendar.Text{calendar.LangEN: "Name of " + slug}
		}
		d, r = storetest.Draft(tb, r, c, now)
	}
	return eventstore.Append{Drafts: []eventstore.Draft{d}, Time: now, Actor: 7, Cause: eventstore.Cause{Client: "test"}}
}

// because is tag with a reason of its own: the same version in two histories.
func because(tb testing.TB, id calendar.ID, version int64, reason string) eventstore.Append {
	tb.Helper()
	a := tag(tb, id, version, fmt.Sprintf("tag-%d", id))
	a.Cause.Reason = reason
	return a
}

// write appends a version of a tag, which fails the test when it is refused.
func write(tb testing.TB, s *postgres.Store, id calendar.ID, version int64, reason string) {
	tb.Helper()
	if res := s.Append(tb.Context(), []eventstore.Append{because(tb, id, version, reason)})[0]; res.Err != nil {
		tb.Fatalf("version %d of %d: %v", version, id, res.Err)
	}
}

// wantEntries wants a log that verifies.
func wantEntries(t *testing.T, s eventstore.Store, want int) {
	t.Helper()
	if _, n, err := storetest.Verify(t.Context(), s, nil); err != nil || n != calendar.Position(want) {
		t.Errorf("Verify: %d entries, want %d, %v", n, want, err)
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
