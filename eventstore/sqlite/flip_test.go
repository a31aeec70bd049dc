package sqlite_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"daybook/eventstore"
	"daybook/eventstore/sqlite"
	"daybook/eventstore/verify"
)

// raw opens the file next to its store, without its triggers and pragmas.
func raw(tb testing.TB, path string) *sql.DB {
	tb.Helper()
	database, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = database.Close() })
	return database
}

// damage returns what is found of the log and of the file.
func damage(t *testing.T, store *sqlite.Store) error {
	t.Helper()
	found, err := verify.Store(t.Context(), store, nil)
	if err == nil {
		err = found.Err()
	}
	if err == nil {
		err = store.Integrity(t.Context())
	}
	return err
}

func sqlExec(tb testing.TB, database *sql.DB, text string, args ...any) {
	tb.Helper()
	if _, err := database.ExecContext(tb.Context(), text, args...); err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
}

func dropTriggers(t *testing.T, database *sql.DB) {
	t.Helper()
	for _, name := range []string{
		"entries_dense", "entries_no_update", "entries_no_delete", "commits_dense", "commits_no_update", "commits_no_delete",
	} {
		sqlExec(t, database, "DROP TRIGGER "+name)
	}
}

// smallLog writes n appends of two records; some are changed again.
func smallLog(t *testing.T, store *sqlite.Store, n int) {
	t.Helper()
	for range n {
		id, err := store.NewID(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		a, err := twoRecords(2*id - 1)
		if err != nil {
			t.Fatal(err)
		}
		a.Cause.Reason = "règle"
		if res := store.Append(t.Context(), a); res.Err != nil {
			t.Fatal(res.Err)
		}
	}
}

// TestFlippedBytes: one bit that is changed anywhere in an entry, its leaf, a
// commit or a present state is found, and the position is named.
func TestFlippedBytes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events.db")
	store := open(t, path, sqlite.Options{})
	smallLog(t, store, 6)
	database := raw(t, path)
	dropTriggers(t, database)
	// What the engine itself would refuse is not of interest here.
	sqlExec(t, database, "PRAGMA ignore_check_constraints = ON")
	database.SetMaxOpenConns(1)

	flips := 0
	for _, table := range []struct {
		name, key string
		last      bool // the key is that of the last position
		columns   []string
	}{
		{"entries", "position", false, []string{
			"position", "kind", "record", "version", "time", "actor", "change", "leaf", "client", "request", "reason", "body", "secret", "salts",
		}},
		{"commits", "first", true, []string{"first", "last", "hash"}},
		{"records", "position", false, []string{"kind", "version", "position", "secret"}},
	} {
		for _, key := range []int64{1, 6, 7, 12} {
			if table.last { // commits have two entries each
				key -= 1 - key%2
			}
			for _, column := range table.columns {
				flips += flip(t, store, database, table.name, table.key, key, column)
			}
		}
	}
	if err := damage(t, store); err != nil {
		t.Errorf("Verify after all was put back: %v", err)
	}
	if flips < 380 {
		t.Errorf("only %d changes were tried", flips)
	}
}

// flip stores values that differ from the present one by a bit, wants each to be found, puts
// the old one back, and returns how many there were.
func flip(t *testing.T, store *sqlite.Store, database *sql.DB, table, keyColumn string, key int64, column string) int {
	t.Helper()
	var old any
	var row int64
	if err := database.QueryRowContext(t.Context(), fmt.Sprintf("SELECT rowid, %s FROM %s WHERE %s = ?", column, table, keyColumn), key).Scan(&row, &old); err != nil {
		t.Fatalf("%s of %d: %v", column, key, err)
	}
	var values []any
	switch v := old.(type) {
	case int64:
		values = []any{v ^ 1, v ^ 1<<3, v ^ 1<<20, v ^ 1<<40}
	case string:
		for at := 0; at < len(v); at += 1 + len(v)/4 {
			values = append(values, v[:at]+string(v[at]^1)+v[at+1:])
		}
	case []byte:
		for at := 0; at < len(v); at += 1 + len(v)/9 {
			data := bytes.Clone(v)
			data[at] ^= 1 << (at % 8)
			values = append(values, data)
		}
	}
	set := fmt.Sprintf("UPDATE %s SET %s = ? WHERE rowid = ?", table, column)
	for _, value := range values {
		_, err := database.ExecContext(t.Context(), set, value, row)
		if err != nil && strings.Contains(err.Error(), "UNIQUE") {
			continue // another row has it, so it cannot be stored
		}
		moved := any(row)
		if column == keyColumn && table != "records" { // the key is the row
			moved = value
		}
		found := damage(t, store)
		sqlExec(t, database, set, old, moved)
		named := found != nil && (table != "entries" || column == "position" || strings.Contains(found.Error(), fmt.Sprintf("entry %d:", key)))
		if !errors.Is(found, eventstore.ErrDamaged) || !named || err != nil {
			t.Errorf("%s.%s of %d: %v is not found: %v, %v", table, column, key, value, found, err)
		}
	}
	return len(values)
}

// TestDamagedPages: pages that no check of entries and records reads.
func TestDamagedPages(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"records_kind", "sqlite_autoindex_receipts_1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "events.db")
			store := open(t, path, sqlite.Options{})
			smallLog(t, store, 6)
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
			var root, size int64
			database := raw(t, path)
			if err := database.QueryRowContext(t.Context(), "SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE name = ?", name).Scan(&root, &size); err != nil {
				t.Fatal(err)
			}
			if err := database.Close(); err != nil {
				t.Fatal(err)
			}
			file, err := os.OpenFile(path, os.O_RDWR, 0)
			if err == nil {
				_, err = file.WriteAt([]byte{0}, (root-1)*size)
				err = errors.Join(err, file.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
			store, err = sqlite.Open(t.Context(), path, sqlite.Options{})
			if err == nil {
				err = damage(t, store)
				_ = store.Close() // the damage is told already
			}
			if !errors.Is(err, eventstore.ErrDamaged) {
				t.Errorf("the error is %v, want ErrDamaged", err)
			}
		})
	}
}
