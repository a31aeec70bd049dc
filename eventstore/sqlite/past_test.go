package sqlite_test

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/sqlite"
	"daybook/eventstore/storetest"
	"daybook/internal/testkit"
)

// TestOldForm: a file of a development version, whose leaves have no salts, is refused and
// stays as it is, with the old schema and with the present one (HISTORY 20.33).
func TestOldForm(t *testing.T) {
	t.Parallel()
	old, present := filepath.Join(t.TempDir(), "old.db"), filepath.Join(t.TempDir(), "present.db")
	testkit.FormerStore(t, old)
	s := open(t, present, sqlite.Options{})
	d, r := storetest.Draft(t, nil, calendar.Change{
		Name: "tag.created", Kind: calendar.KindTag, ID: 1, Home: calendar.LangEN,
		Fields: calendar.Fields{"name": calendar.Text{calendar.LangEN: "Jazz"}, "slug": "jazz"},
	}, time.UnixMilli(1))
	if res := s.Append(t.Context(), []eventstore.Append{{Drafts: []eventstore.Draft{d}, Time: r.Changed}})[0]; res.Err != nil {
		t.Fatal(res.Err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db := raw(t, present)
	for _, name := range triggers(t, db) {
		sqlExec(t, db, "DROP TRIGGER "+name)
	}
	sqlExec(t, db, "UPDATE entries SET salts = NULL")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{old, present} {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if s, err := sqlite.Open(t.Context(), path, sqlite.Options{}); !errors.Is(err, eventstore.ErrOldForm) {
				t.Errorf("%s: %v, want ErrOldForm", path, err)
				if err == nil {
					_ = s.Close()
				}
			}
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s was changed, %v", path, err)
		}
	}
}

func triggers(t *testing.T, db *sql.DB) (names []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT name FROM sqlite_schema WHERE type = 'trigger'")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return names
}
