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
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	return db
}

// damage returns what is found of the log and of the file.
func damage(t *testing.T, s *sqlite.Store) error {
	t.Helper()
	found, err := verify.Store(t.Context(), s, nil)
	if err == nil {
		err = found.Err()
	}
	if err == nil {
		err = s.Integrity(t.Context())
	}
	return err
}

func sqlExec(tb testing.TB, db *sql.DB, text string, args ...any) {
	tb.Helper()
	if _, err := db.ExecContext(tb.Context(), text, args...); err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
}

func dropTriggers(t *testing.T, db *sql.DB) {
	t.Helper()
	for _, name := range []string{
		"entries_dense", "entries_no_update", "entries_no_delete", "commits_dense", "commits_no_update", "commits_no_delete",
	} {
		sqlExec(t, db, "DROP TRIGGER "+name)
	}
}

// smallLog writes n appends of two records; some are changed again.
func smallLog(t *testing.T, s *sqlite.Store, n int) {
	t.Helper()
	for range n {
		first, err := s.NewIDs(t.Context(), 2)
		if err != nil {
			t.Fatal(err)
		}
		a, err := twoRecords(first)
		if err != nil {
			t.Fatal(err)
		}
		a.Cause.Reason = "règle"
		if res := s.Append(t.Context(), []eventstore.Append{a}); res[0].Err != nil {
			t.Fatal(res[0].Err)
		}
	}
}

// TestFlippedBytes: one bit that is changed anywhere in an entry, its leaf, a
// commit or a present state is found, and the position is named.
func TestFlippedBytes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events.db")
	s := open(t, path, sqlite.Options{})
	smallLog(t, s, 6)
	db := raw(t, path)
	dropTriggers(t, db)
	// What the engine itself would refuse is not of interest here.
	sqlExec(t, db, "PRAGMA ignore_check_constraints = ON")
	db.SetMaxOpenConns(1)

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
				for _, flipped := range flipsOf(t, db, table.name, table.key, key, column) {
					if !tryFlip(t, s, db, table.name, table.key, key, column, flipped) {
						t.Errorf("%s.%s of %d: %q is not found", table.name, column, key, flipped)
					}
					flips++
				}
			}
		}
	}
	if err := damage(t, s); err != nil {
		t.Errorf("Verify after all was put back: %v", err)
	}
	if flips < 380 {
		t.Errorf("only %d changes were tried", flips)
	}
}

// flipsOf gives values that differ from the stored one by a bit.
func flipsOf(t *testing.T, db *sql.DB, table, keyColumn string, key int64, column string) []any {
	t.Helper()
	var value any
	query := fmt.Sprintf("SELECT %s FROM %s WHERE %s = ?", column, table, keyColumn)
	if err := db.QueryRowContext(t.Context(), query, key).Scan(&value); err != nil {
		t.Fatalf("%s of %d: %v", column, key, err)
	}
	var out []any
	switch v := value.(type) {
	case int64:
		for _, bit := range []int{0, 3, 20, 40} {
			out = append(out, v^1<<bit)
		}
	case string:
		for at := 0; at < len(v); at += 1 + len(v)/4 {
			b := []byte(v)
			b[at] ^= 1 << (at % 7)
			out = append(out, string(b))
		}
	case []byte:
		for at := 0; at < len(v); at += 1 + len(v)/9 {
			b := bytes.Clone(v)
			b[at] ^= 1 << (at % 8)
			out = append(out, b)
		}
	default:
		t.Fatalf("%s of %d is a %T", column, key, value)
	}
	return out
}

// tryFlip stores a value, reports whether Verify finds it, and puts the old one
// back.
func tryFlip(t *testing.T, s *sqlite.Store, db *sql.DB, table, keyColumn string, key int64, column string, flipped any) bool {
	t.Helper()
	var old any
	if err := db.QueryRowContext(t.Context(), fmt.Sprintf("SELECT %s FROM %s WHERE %s = ?", column, table, keyColumn), key).Scan(&old); err != nil {
		t.Fatal(err)
	}
	var row int64
	if err := db.QueryRowContext(t.Context(), fmt.Sprintf("SELECT rowid FROM %s WHERE %s = ?", table, keyColumn), key).Scan(&row); err != nil {
		t.Fatal(err)
	}
	set := fmt.Sprintf("UPDATE %s SET %s = ? WHERE rowid = ?", table, column)
	if _, err := db.ExecContext(t.Context(), set, flipped, row); err != nil {
		if strings.Contains(err.Error(), "UNIQUE") {
			return true // another row has it, so it cannot be stored
		}
		t.Fatal(err)
	}
	moved := row
	if id, ok := flipped.(int64); ok && (column == "position" && table == "entries" || column == "first") {
		moved = id // the key is the row
	}
	err := damage(t, s)
	sqlExec(t, db, set, old, moved)
	if err == nil {
		return false
	}
	if !errors.Is(err, eventstore.ErrDamaged) || !strings.Contains(err.Error(), "entry ") && !strings.Contains(err.Error(), "record ") {
		t.Errorf("%s.%s of %d: the error is %v", table, column, key, err)
	}
	if table == "entries" && column != "position" && !strings.Contains(err.Error(), fmt.Sprintf("entry %d:", key)) {
		t.Errorf("%s of entry %d: the error is %v", column, key, err)
	}
	return true
}

// TestDamagedPages: pages that no check of entries and records reads.
func TestDamagedPages(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"records_kind", "sqlite_autoindex_receipts_1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "events.db")
			s := open(t, path, sqlite.Options{})
			smallLog(t, s, 6)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			var root, size int64
			db := raw(t, path)
			if err := db.QueryRowContext(t.Context(), "SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE name = ?", name).Scan(&root, &size); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
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
			s, err = sqlite.Open(t.Context(), path, sqlite.Options{})
			if err == nil {
				err = damage(t, s)
				_ = s.Close() // the damage is told already
			}
			if !errors.Is(err, eventstore.ErrDamaged) {
				t.Errorf("the error is %v, want ErrDamaged", err)
			}
		})
	}
}
