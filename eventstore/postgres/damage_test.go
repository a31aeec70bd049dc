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
func smallLog(t *testing.T, store *postgres.Store, n int) {
	t.Helper()
	for i := range n {
		first, second := tag(t, calendar.ID(i+1), 1, fmt.Sprintf("tag-%d", i)), tag(t, calendar.ID(i+1), 2, fmt.Sprintf("tag-%d", i))
		first.Cause.Reason, first.Cause.Request = "règle", "r"
		second.Drafts[0].Secret = []byte("secret of it")
		for _, res := range store.Together(t.Context(), []eventstore.Append{first, second}) {
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
	store := open(t, server(t), postgres.Options{Schema: name})
	smallLog(t, store, 3)
	conn := admin(t)
	for _, table := range []string{"entries", "commits"} {
		sqlExec(t, conn, "ALTER TABLE "+name+"."+table+" DISABLE TRIGGER ALL")
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
				flips += flip(t, store, conn, name+"."+table.name, table.key, key, column)
			}
		}
	}
	wantEntries(t, store, 6)
	if flips < 150 {
		t.Errorf("only %d changes were tried", flips)
	}
}

// flip stores values that differ from the present one by a bit, wants Verify to find each,
// puts the old one back, and returns how many there were.
func flip(t *testing.T, store *postgres.Store, conn *pgx.Conn, table, keyColumn string, key int64, column string) int {
	t.Helper()
	var old any
	if err := conn.QueryRow(t.Context(), fmt.Sprintf("SELECT %s FROM %s WHERE %s = $1", column, table, keyColumn), key).Scan(&old); err != nil {
		t.Fatalf("%s of %d: %v", column, key, err)
	}
	var values []any
	switch v := old.(type) {
	case int64:
		values = []any{v ^ 1, v ^ 1<<3, v ^ 1<<40}
	case string:
		for at := 0; at < len(v); at += 1 + len(v)/3 {
			values = append(values, v[:at]+string(v[at]^1)+v[at+1:])
		}
	case []byte:
		for at := 0; at < len(v); at += 1 + len(v)/5 {
			data := bytes.Clone(v)
			data[at] ^= 1 << (at % 8)
			values = append(values, data)
		}
	}
	set := fmt.Sprintf("UPDATE %s SET %s = $1 WHERE %s = $2", table, column, keyColumn)
	for _, value := range values {
		_, err := conn.Exec(t.Context(), set, value, key)
		if pgError, ok := errors.AsType[*pgconn.PgError](err); ok && strings.HasPrefix(pgError.Code, "23") {
			continue // a constraint refuses it, so it cannot be stored
		}
		moved := any(key)
		if column == keyColumn {
			moved = value
		}
		_, found := storetest.Verify(t.Context(), store)
		if !errors.Is(found, eventstore.ErrDamaged) || err != nil {
			t.Errorf("%s.%s of %d: %v is not found: %v, %v", table, column, key, value, found, err)
		}
		if _, err := conn.Exec(t.Context(), set, old, moved); err != nil {
			t.Fatal(err)
		}
	}
	return len(values)
}

// refused reports whether a statement gets one of the errors by their SQLSTATE.
func refused(ctx context.Context, conn *pgx.Conn, text string) error {
	_, err := conn.Exec(ctx, text)
	if pgError, ok := errors.AsType[*pgconn.PgError](err); ok && pgError.Code == "42501" {
		return nil
	}
	return fmt.Errorf("%s: got %w, want insufficient_privilege", text, errors.Join(err, errors.New("not refused so")))
}

// TestServiceRole: migrations run as the owner, and the service as a role that
// reads and appends and can do nothing else.
func TestServiceRole(t *testing.T) {
	t.Parallel()
	at, name := server(t), schema(t)
	conn := admin(t)
	owner, service, login := name+"_owner", name+"_service", name+"_login"
	sqlExec(t, conn, "CREATE ROLE "+owner+" LOGIN; CREATE ROLE "+service+" NOLOGIN; CREATE ROLE "+login+" LOGIN IN ROLE "+service+"; ALTER SCHEMA "+name+" OWNER TO "+owner)
	dropRoles(t, login, service, owner)
	as := func(role string) string {
		return strings.Replace(at, "postgres://postgres@", "postgres://"+role+"@", 1)
	}
	options := postgres.Options{Schema: name, ServiceRole: service}
	if _, err := postgres.Open(t.Context(), as(login), postgres.Options{Schema: name}); err == nil || !strings.Contains(err.Error(), "its owner has to make") {
		t.Errorf("the service before the owner: %v", err)
	}
	if err := postgres.Migrate(t.Context(), as(owner), options); err != nil {
		t.Fatal(err)
	}
	store := open(t, as(login), postgres.Options{Schema: name})
	smallLog(t, store, 2)
	if id, err := store.NewID(t.Context()); err != nil || id != 3 {
		t.Errorf("NewID gave %d, %v", id, err)
	}
	if lease, err := store.Acquire(t.Context(), "relay", "a", time.Hour); err != nil || lease.Holder != "a" {
		t.Errorf("Acquire: %+v, %v", lease, err)
	}
	signed := eventstore.Append{Checkpoint: &eventstore.Checkpoint{Size: 2, Origin: "o", Note: []byte("o\n")}}
	if res := store.Append(t.Context(), signed); res.Err != nil {
		t.Error(res.Err)
	}
	if id, err := eventstore.SlugAt(t.Context(), store, calendar.KindTag, "tag-0-1", eventstore.Point{Position: 2}); err != nil || id != 1 {
		t.Errorf("SlugAt: %d, %v", id, err)
	}
	wantEntries(t, store, 4)
	if res := store.Append(t.Context(), erasure(2, 2)); res.Err != nil {
		t.Error(res.Err)
	}
	sqlExec(t, conn, "SET SESSION AUTHORIZATION "+login)
	for _, text := range []string{
		"UPDATE @.entries SET actor = 1", "DELETE FROM @.entries", "TRUNCATE @.entries", "DELETE FROM @.commits", "UPDATE @.commits SET last = 9",
		"DELETE FROM @.records", "UPDATE @.records SET kind = 'venue'", "UPDATE @.claims SET record = 1", "UPDATE @.receipts SET record = 1",
		"ALTER TABLE @.entries DISABLE TRIGGER ALL", "DROP TABLE @.entries", "CREATE TABLE @.x ()", "UPDATE @.form SET checksum = ''", "UPDATE @.identity SET uuid = gen_random_uuid()",
		"UPDATE @.entries SET state = '' WHERE position = 3", "INSERT INTO @.redacted SELECT * FROM @.redacted", "DELETE FROM @.redacted",
		"DELETE FROM @.slugs", "UPDATE @.slugs SET record = 1", "DELETE FROM @.checkpoints", "UPDATE @.checkpoints SET size = 9",
	} {
		if err := refused(t.Context(), conn, strings.ReplaceAll(text, "@", name)); err != nil {
			t.Error(err)
		}
	}
}

// TestEntryBehindTheLastCommit: an entry that somebody put behind the last commit is
// found, with its present state and without.
func TestEntryBehindTheLastCommit(t *testing.T) {
	t.Parallel()
	name := schema(t)
	store := open(t, server(t), postgres.Options{Schema: name})
	smallLog(t, store, 2)
	conn := admin(t)
	sqlExec(t, conn, strings.ReplaceAll(`INSERT INTO @.entries SELECT 5, 99, 1, time, actor, kind, 'tag.created', leaf, client, request, reason, fields, state, secret, salts
		FROM @.entries WHERE position = 1`, "@", name))
	for _, what := range []string{"alone", "with a state"} {
		_, err := storetest.Verify(t.Context(), store)
		if !errors.Is(err, eventstore.ErrDamaged) || !strings.Contains(err.Error(), "entry 5:") {
			t.Errorf("%s: got %v", what, err)
		}
		sqlExec(t, conn, strings.ReplaceAll("INSERT INTO @.records VALUES (99, 'tag', 1, 5, NULL) ON CONFLICT DO NOTHING", "@", name))
	}
}
