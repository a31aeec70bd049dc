package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/postgres"
	"daybook/eventstore/storetest"
)

// smallLog writes n tags in one commit each, with a secret and a second version.
func smallLog(t *testing.T, s *postgres.Store, n int) {
	t.Helper()
	for i := range n {
		first, second := tag(t, calendar.ID(i+1), 1, fmt.Sprintf("tag-%d", i)), tag(t, calendar.ID(i+1), 2, fmt.Sprintf("tag-%d", i))
		first.Cause.Reason, first.Cause.Request = "règle", "r"
		second.Drafts[0].Secret = []byte("secret of it")
		for _, res := range s.Append(t.Context(), []eventstore.Append{first, second}) {
			if res.Err != nil {
				t.Fatal(res.Err)
			}
		}
	}
}

// TestFlippedBytes: one bit that is changed anywhere in an entry, its leaf, a
// commit or a present state is found.
func TestFlippedBytes(t *testing.T) {
	t.Parallel()
	name := schema(t)
	s := open(t, server(t), postgres.Options{Schema: name})
	smallLog(t, s, 3)
	c := admin(t)
	for _, table := range []string{"entries", "commits"} {
		sqlExec(t, c, "ALTER TABLE "+name+"."+table+" DISABLE TRIGGER ALL")
	}
	flips := 0
	for _, table := range []struct {
		name, key string
		keys      []int64
		columns   []string
	}{
		{"entries", "position", []int64{1, 4, 6}, []string{
			"position", "kind", "record", "version", "time", "actor", "change", "leaf", "client", "request", "reason", "fields", "state", "secret", "salts",
		}},
		{"commits", "first", []int64{1, 5}, []string{"first", "last", "hash"}},
		{"records", "position", []int64{2, 6}, []string{"kind", "version", "position", "secret"}},
	} {
		for _, key := range table.keys {
			for _, column := range table.columns {
				for _, set := range flipsOf(t, c, name+"."+table.name, table.key, key, column) {
					found, err := tryFlip(t, s, c, name+"."+table.name, table.key, key, column, set)
					if err != nil {
						t.Fatal(err)
					}
					if !found {
						t.Errorf("%s.%s of %d: %v is not found", table.name, column, key, set)
					}
					flips++
				}
			}
		}
	}
	if _, _, err := storetest.Verify(t.Context(), s, nil); err != nil {
		t.Errorf("Verify after all was put back: %v", err)
	}
	if flips < 150 {
		t.Errorf("only %d changes were tried", flips)
	}
}

// flipsOf gives values that differ from the stored one by a bit.
func flipsOf(t *testing.T, c *pgx.Conn, table, keyColumn string, key int64, column string) []any {
	t.Helper()
	var value any
	query := fmt.Sprintf("SELECT %s FROM %s WHERE %s = $1", column, table, keyColumn)
	if err := c.QueryRow(t.Context(), query, key).Scan(&value); err != nil {
		t.Fatalf("%s of %d: %v", column, key, err)
	}
	var out []any
	switch v := value.(type) {
	case nil:
	case int64:
		for _, bit := range []int{0, 3, 40} {
			out = append(out, v^1<<bit)
		}
	case string:
		for at := 0; at < len(v); at += 1 + len(v)/3 {
			b := []byte(v)
			b[at] ^= 1
			out = append(out, string(b))
		}
	case []byte:
		for at := 0; at < len(v); at += 1 + len(v)/5 {
			b := bytes.Clone(v)
			b[at] ^= 1 << (at % 8)
			out = append(out, b)
		}
	default:
		t.Fatalf("%s of %d is a %T", column, key, value)
	}
	return out
}

// tryFlip stores a value in a transaction of its own, reports whether Verify finds
// it, and puts the old one back.
func tryFlip(t *testing.T, s *postgres.Store, c *pgx.Conn, table, keyColumn string, key int64, column string, flipped any) (bool, error) {
	t.Helper()
	var old any
	if err := c.QueryRow(t.Context(), fmt.Sprintf("SELECT %s FROM %s WHERE %s = $1", column, table, keyColumn), key).Scan(&old); err != nil {
		return false, err
	}
	set := fmt.Sprintf("UPDATE %s SET %s = $1 WHERE %s = $2", table, column, keyColumn)
	if _, err := c.Exec(t.Context(), set, flipped, key); err != nil {
		if e, ok := errors.AsType[*pgconn.PgError](err); ok && strings.HasPrefix(e.Code, "23") {
			return true, nil // a constraint refuses it, so it cannot be stored
		}
		return false, err
	}
	moved := key
	if id, ok := flipped.(int64); ok && column == keyColumn {
		moved = id
	}
	_, _, err := storetest.Verify(t.Context(), s, nil)
	if _, err := c.Exec(t.Context(), set, old, moved); err != nil {
		return false, err
	}
	if err != nil && !errors.Is(err, eventstore.ErrDamaged) {
		return false, fmt.Errorf("%s.%s of %d: the error is %w", table, column, key, err)
	}
	return err != nil, nil
}

// refused reports whether a statement gets one of the errors by their SQLSTATE.
func refused(ctx context.Context, c *pgx.Conn, text string) error {
	_, err := c.Exec(ctx, text)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "42501" {
		return nil
	}
	return fmt.Errorf("%s: got %w, want insufficient_privilege", text, errors.Join(err, errors.New("not refused so")))
}

// TestAppendOnly: the database refuses to change what was written, to a
// superuser who says that this is a replica too.
func TestAppendOnly(t *testing.T) {
	t.Parallel()
	name := schema(t)
	s := open(t, server(t), postgres.Options{Schema: name})
	smallLog(t, s, 2)
	c := admin(t)
	sqlExec(t, c, "SET session_replication_role = replica")
	for _, text := range []string{
		"UPDATE @.entries SET actor = 1 WHERE position = 2", "DELETE FROM @.entries WHERE position = 4", "TRUNCATE @.entries",
		"UPDATE @.commits SET last = 9", "DELETE FROM @.commits", "TRUNCATE @.commits",
	} {
		if err := refused(t.Context(), c, strings.ReplaceAll(text, "@", name)); err != nil {
			t.Error(err)
		}
	}
	if _, n, err := storetest.Verify(t.Context(), s, nil); err != nil || n != 4 {
		t.Errorf("Verify: %d entries, %v", n, err)
	}
}

// TestServiceRole: migrations run as the owner, and the service as a role that
// reads and appends and can do nothing else.
func TestServiceRole(t *testing.T) {
	t.Parallel()
	at, name := server(t), schema(t)
	c := admin(t)
	owner, service, login := name+"_owner", name+"_service", name+"_login"
	sqlExec(t, c, "CREATE ROLE "+owner+" LOGIN")
	sqlExec(t, c, "CREATE ROLE "+service+" NOLOGIN")
	sqlExec(t, c, "CREATE ROLE "+login+" LOGIN IN ROLE "+service)
	sqlExec(t, c, "CREATE SCHEMA "+name+" AUTHORIZATION "+owner)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		a, err := pgx.Connect(ctx, at)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = a.Close(ctx) }()
		for _, text := range []string{
			"DROP SCHEMA " + name + " CASCADE", "DROP OWNED BY " + service, "DROP ROLE " + login, "DROP ROLE " + service, "DROP ROLE " + owner,
		} {
			if _, err := a.Exec(ctx, text); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
	})
	as := func(role string) string {
		return strings.Replace(at, "postgres://postgres@", "postgres://"+role+"@", 1)
	}
	o := postgres.Options{Schema: name, ServiceRole: service}
	if _, err := postgres.Open(t.Context(), as(login), postgres.Options{Schema: name}); err == nil || !strings.Contains(err.Error(), "its owner has to make") {
		t.Errorf("the service before the owner: %v", err)
	}
	if err := postgres.Migrate(t.Context(), as(owner), o); err != nil {
		t.Fatal(err)
	}
	s := open(t, as(login), postgres.Options{Schema: name})
	smallLog(t, s, 2)
	if id, err := s.NewIDs(t.Context(), 5); err != nil || id != 3 {
		t.Errorf("NewIDs gave %d, %v", id, err)
	}
	if l, err := s.Acquire(t.Context(), "relay", "a", time.Hour); err != nil || l.Holder != "a" {
		t.Errorf("Acquire: %+v, %v", l, err)
	}
	if l, err := s.Acquire(t.Context(), "relay", "a", 0); err != nil || l.Left != 0 {
		t.Errorf("Acquire for nothing: %+v, %v", l, err)
	}
	for _, note := range []string{"o\n", "o\nw\n"} {
		signed := eventstore.Append{Checkpoint: &eventstore.Checkpoint{Size: 2, Origin: "o", Note: []byte(note)}}
		if res := s.Append(t.Context(), []eventstore.Append{signed})[0]; res.Err != nil {
			t.Error(res.Err)
		}
	}
	for _, p := range []eventstore.Point{{Position: 2}, {Time: time.Now()}} {
		if id, err := eventstore.SlugAt(t.Context(), s, calendar.KindTag, "tag-0-1", p); err != nil || id != 1 {
			t.Errorf("SlugAt(%v): %d, %v", p, id, err)
		}
		if counted, err := s.Head(t.Context(), p); err != nil || counted.Position < 2 {
			t.Errorf("Head(%v): %v, %v", p, counted.Mark, err)
		}
	}
	if _, n, err := storetest.Verify(t.Context(), s, nil); err != nil || n != 4 {
		t.Errorf("Verify: %d entries, %v", n, err)
	}
	if res := s.Append(t.Context(), []eventstore.Append{erasure(2, 2)})[0]; res.Err != nil {
		t.Error(res.Err)
	}
	bare, err := pgx.Connect(t.Context(), as(login))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = bare.Close(context.WithoutCancel(t.Context())) }()
	for _, text := range []string{
		"UPDATE @.entries SET actor = 1", "DELETE FROM @.entries", "TRUNCATE @.entries", "DELETE FROM @.commits", "UPDATE @.commits SET last = 9",
		"DELETE FROM @.records", "UPDATE @.records SET kind = 'venue'", "UPDATE @.claims SET record = 1", "UPDATE @.receipts SET record = 1",
		"ALTER TABLE @.entries DISABLE TRIGGER ALL", "DROP TABLE @.entries", "CREATE TABLE @.x ()", "UPDATE @.form SET checksum = ''", "UPDATE @.identity SET uuid = gen_random_uuid()",
		"UPDATE @.entries SET state = '' WHERE position = 3", "INSERT INTO @.redacted SELECT * FROM @.redacted", "DELETE FROM @.redacted",
		"DELETE FROM @.slugs", "UPDATE @.slugs SET record = 1", "DELETE FROM @.checkpoints", "UPDATE @.checkpoints SET size = 9",
	} {
		if err := refused(t.Context(), bare, strings.ReplaceAll(text, "@", name)); err != nil {
			t.Error(err)
		}
	}
}

// TestEntryBehindTheLastCommit: an entry that somebody put behind the last commit is
// found, with its present state and without.
func TestEntryBehindTheLastCommit(t *testing.T) {
	t.Parallel()
	name := schema(t)
	s := open(t, server(t), postgres.Options{Schema: name})
	smallLog(t, s, 2)
	c := admin(t)
	sqlExec(t, c, strings.ReplaceAll(`INSERT INTO @.entries SELECT 5, 99, 1, time, actor, kind, 'tag.created', leaf, client, request, reason, fields, state, secret, salts
		FROM @.entries WHERE position = 1`, "@", name))
	for _, what := range []string{"alone", "with a state"} {
		_, _, err := storetest.Verify(t.Context(), s, nil)
		if !errors.Is(err, eventstore.ErrDamaged) || !strings.Contains(err.Error(), "entry 5:") {
			t.Errorf("%s: got %v", what, err)
		}
		sqlExec(t, c, strings.ReplaceAll("INSERT INTO @.records VALUES (99, 'tag', 1, 5, NULL) ON CONFLICT DO NOTHING", "@", name))
	}
}
