package postgres_test

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/postgres"
	"daybook/eventstore/storetest"
	"daybook/internal/ground/migration"
)

// pairsOf gives claims or names as columns. Digests are those of the present version,
// which finds them by these.
func pairsOf[P ~struct{ Space, Key string }](id calendar.ID, pairs []P) (digests [][]byte, records []int64, spaces, keys []string) {
	for _, p := range pairs {
		c := calendar.Claim(p)
		sum := sha256.Sum256(append(binary.BigEndian.AppendUint64(nil, uint64(len(c.Space))), c.Space+c.Key...))
		digests, records, spaces, keys = append(digests, sum[:]), append(records, int64(id)), append(spaces, c.Space), append(keys, c.Key)
	}
	return append([][]byte{}, digests...), append([]int64{}, records...), append([]string{}, spaces...), append([]string{}, keys...)
}

// appendFormer appends a draft as a process of a version before does, by the function
// that it calls, and gives the head before it.
func appendFormer(t *testing.T, c *pgx.Conn, schema, function string, a eventstore.Append) string {
	t.Helper()
	d, e := &a.Drafts[0], a.Entry(0)
	e.Salts = nil
	leaf := eventstore.Leaf(&e)
	id := int64(e.ID)
	released := []int64{}
	if e.Version > 1 {
		released = append(released, id)
	}
	claims, claimRecords, claimSpaces, claimKeys := pairsOf(e.ID, d.Claims)
	names, nameRecords, nameSpaces, nameKeys := pairsOf(e.ID, d.Names)
	args := []any{
		released,
		[]string{e.Kind.String()},
		[]int64{id},
		[]int64{e.Version},
		[]int64{e.Time.UnixMilli()},
		[]int64{int64(e.Actor)},
		[]string{e.Change},
		[][]byte{leaf[:]},
		[]string{e.Cause.Client},
		[]string{e.Cause.Request},
		[]string{e.Cause.Reason},
		[][]byte{e.Fields},
		[][]byte{e.State},
		[][]byte{e.Secret},
		[]bool{true},
		[][]byte{e.Secret},
		claims, claimRecords, claimSpaces, claimKeys, names, nameRecords, nameSpaces, nameKeys, leaf[:],
	}
	lists := "false, 0, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, " +
		strings.Repeat("'{}', ", 13) + "$25"
	switch function {
	case "append":
	case "append_packed":
		numbers := []int64{id, e.Version, e.Time.UnixMilli(), int64(e.Actor), 1}
		numbers = append(append(append(numbers, claimRecords...), nameRecords...), released...)
		texts := []string{e.Kind.String(), e.Change, e.Cause.Client, e.Cause.Request, e.Cause.Reason}
		texts = append(append(append(append(texts, claimSpaces...), claimKeys...), nameSpaces...), nameKeys...)
		bytes := append(append([][]byte{e.Fields, e.State, e.Secret, e.Secret}, claims...), names...)
		lists = fmt.Sprintf("0, '', false, 0, 1, %d, %d, 0, 0, 0, $1, $2, $3, $4", len(claims), len(names))
		args = []any{numbers, texts, bytes, leaf[:]}
	default:
		lists = "0, '', " + lists
	}
	var got string
	if err := c.QueryRow(t.Context(), "SELECT f::text FROM "+schema+"."+function+"("+lists+") f", args...).Scan(&got); err != nil {
		t.Fatalf("%s: %v", function, err)
	}
	return strings.SplitN(strings.Trim(got, "()"), ",", 2)[0]
}

// TestProcessesOfBefore: processes of the versions before, which call other functions,
// append to the same log while they are replaced.
func TestProcessesOfBefore(t *testing.T) {
	t.Parallel()
	name := schema(t)
	s := open(t, server(t), postgres.Options{Schema: name})
	c := admin(t)
	functions := []string{"append", "append_known", "append_group", "append_packed"}
	for i, function := range functions {
		id, err := s.NewIDs(t.Context(), 3)
		if err != nil {
			t.Fatal(err)
		}
		for j, a := range []eventstore.Append{
			storetest.EventAppend(t, id, false), tag(t, id+1, 1, function), tag(t, id+1, 2, function),
		} {
			if got, head := appendFormer(t, c, name, function, a), fmt.Sprint(4*i+j); got != head {
				t.Errorf("%s: the head before it is %s, want %s", function, got, head)
			}
		}
		if res := s.Append(t.Context(), []eventstore.Append{storetest.EventAppend(t, id+2, true)})[0]; res.Err != nil || res.Position != calendar.Position(4*i+4) {
			t.Errorf("an append after %s: %+v", function, res)
		}
		// The slug of their first version is past, that of the second is held.
		for v := range calendar.Position(2) {
			at := eventstore.Point{Position: calendar.Position(4*i+2) + v}
			for w := range calendar.Position(2) {
				var want calendar.ID
				if v == w {
					want = id + 1
				}
				got, err := s.SlugAt(t.Context(), calendar.KindTag, fmt.Sprintf("%s-%d", function, w), at)
				if err != nil || got != want {
					t.Errorf("%s: slug %d at %v is that of %d, %v, want %d", function, w, at, got, err, want)
				}
			}
		}
	}
	if _, n, err := storetest.Verify(t.Context(), s, nil); err != nil || int(n) != 4*len(functions) {
		t.Errorf("Verify: %d entries, %v", n, err)
	}
}

// former makes a schema as the version before left it, with n tags of two versions.
func former(t *testing.T, c *pgx.Conn, name string, n int) {
	t.Helper()
	steps, err := migration.Read(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	sqlExec(t, c, "CREATE SCHEMA "+name)
	sqlExec(t, c, "SET search_path = "+name+", pg_temp")
	sqlExec(t, c, "CREATE TABLE migrations (number int PRIMARY KEY, name text NOT NULL, checksum text NOT NULL)")
	for _, step := range steps[:4] {
		if _, err := c.PgConn().Exec(t.Context(), step.Text).ReadAll(); err != nil {
			t.Fatalf("%s: %v", step.Name, err)
		}
		if _, err := c.Exec(t.Context(), "INSERT INTO migrations VALUES ($1, $2, $3)", step.Number, step.Name, step.Checksum); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		for v := range int64(2) {
			appendFormer(t, c, name, "append_packed", tag(t, calendar.ID(i+1), v+1, fmt.Sprintf("tag-%d", i+1)))
		}
	}
}

// TestOldForm: a schema of a development version, whose leaves have no salts, is refused
// and stays as it is, also with the present functions (HISTORY 20.33).
func TestOldForm(t *testing.T) {
	t.Parallel()
	at, old, present := server(t), schema(t), schema(t)
	c := admin(t)
	former(t, c, old, 2)
	open(t, at, postgres.Options{Schema: present})
	appendFormer(t, c, present, "append_packed", tag(t, 1, 1, "tag"))
	for _, name := range []string{old, present} {
		if err := postgres.Migrate(t.Context(), at, postgres.Options{Schema: name}); !errors.Is(err, eventstore.ErrOldForm) {
			t.Errorf("Migrate: %v, want ErrOldForm", err)
		}
		if s, err := postgres.Open(t.Context(), at, postgres.Options{Schema: name}); !errors.Is(err, eventstore.ErrOldForm) {
			t.Errorf("Open: %v, want ErrOldForm", err)
			if err == nil {
				_ = s.Close()
			}
		}
	}
	var steps int
	if err := c.QueryRow(t.Context(), "SELECT count(*) FROM "+old+".migrations").Scan(&steps); err != nil || steps != 4 {
		t.Errorf("%d steps, %v: the schema was changed", steps, err)
	}
}
