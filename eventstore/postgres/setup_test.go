package postgres_test

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
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
	at := os.Getenv("DAYBOOK_TEST_POSTGRES")
	if at == "" {
		engines.Require(tb, "postgres", "DAYBOOK_TEST_POSTGRES is not set")
	}
	return at
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

// schema gives a name for a schema of the test's own, which is dropped when the
// test ends.
func schema(tb testing.TB) string {
	tb.Helper()
	name := "t_" + strings.ToLower(rand.Text()[:12])
	at := server(tb)
	tb.Cleanup(func() {
		ctx := context.WithoutCancel(tb.Context())
		c, err := pgx.Connect(ctx, at)
		if err != nil {
			tb.Error(err)
			return
		}
		defer func() { _ = c.Close(ctx) }()
		if _, err := c.Exec(ctx, "DROP SCHEMA IF EXISTS "+name+" CASCADE"); err != nil {
			tb.Error(err)
		}
	})
	return name
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

// harness opens stores at a URL. The longest that it may wait is that of the
// suite.
func harness(at string, o postgres.Options) storetest.Harness {
	var schemas sync.Map // by store
	in := func(tb testing.TB, name string) storetest.Store {
		tb.Helper()
		o := o
		o.Schema = name
		s := open(tb, at, o)
		schemas.Store(storetest.Store(s), name)
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
	a, err := tagAppend(id, version, slug)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

func tagAppend(id calendar.ID, version int64, slug string) (eventstore.Append, error) {
	now := time.Date(2026, 5, 1, 9, 30, 0, 0, time.UTC)
	var r *calendar.Record
	d := eventstore.Draft{Kind: calendar.KindTag, ID: id}
	for v := range version {
		c := calendar.Change{Name: "tag.updated", Kind: d.Kind, ID: id, Fields: calendar.Fields{"slug": fmt.Sprintf("%s-%d", slug, v)}}
		if v == 0 {
			c.Name, c.Home = "tag.created", calendar.LangEN
			c.Fields["name"] = calendar.Text{calendar.LangEN: "Name of " + slug}
		}
		var err error
		if r, err = calendar.Apply(r, c, now); err != nil {
			return eventstore.Append{}, err
		}
		if d.Fields, err = calendar.EncodeChange(c); err != nil {
			return eventstore.Append{}, err
		}
		d.Change, d.Expected = c.Name, v
	}
	var err error
	if d.State, err = calendar.EncodeRecord(r); err != nil {
		return eventstore.Append{}, err
	}
	d.Claims, d.Names = calendar.Claims(r), calendar.Names(r)
	return eventstore.Append{Drafts: []eventstore.Draft{d}, Time: now, Actor: 7, Cause: eventstore.Cause{Client: "test"}}, nil
}
