package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"daybook/eventstore/sqlite"
)

// HISTORY 20.32: whichever entry is dropped from a store, or put behind its last one, the
// finding is tampered with status 4 and names it, also where the store does not open.
func TestTamperedStore(t *testing.T) {
	t.Parallel()
	const last = 4
	whole := t.TempDir()
	for i := range last {
		mustTool(t, "user", "add", "--data", whole, "--role", "editor", fmt.Sprint("user", i))
	}
	for name, tt := range map[string]struct {
		does string
		want float64
	}{
		"first entry":               {"DELETE FROM entries WHERE position = 1", 1},
		"last entry":                {fmt.Sprint("DELETE FROM entries WHERE position = ", last), last},
		"last entry and its commit": {fmt.Sprintf("DELETE FROM entries WHERE position = %d; DELETE FROM commits WHERE last = %[1]d", last), last},
		"last commit":               {fmt.Sprint("DELETE FROM commits WHERE last = ", last), last},
		"one more": {fmt.Sprintf(`INSERT INTO entries (position, kind, record, version, time, actor, change, leaf, client, request, reason, body, secret, salts)
			SELECT %d, kind, record, version + 1, time, actor, change, leaf, client, request, reason, body, secret, salts FROM entries WHERE position = %d`, last+1, last), last + 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := copyFiles(t, whole, sqlite.FileName)
			byHand(t, filepath.Join(data, sqlite.FileName), tt.does)
			out, errText, status := tool(t, nil, "audit", "verify", "--data", data, "--json")
			var found map[string]any
			if err := json.Unmarshal([]byte(out), &found); err != nil || status != exitTampered || found["result"] != "tampered" || found["position"] != tt.want {
				t.Errorf("status %d, %s, %s, want entry %v", status, out, errText, tt.want)
			}
		})
	}
}

// byHand changes a database as somebody does who takes its triggers away first.
func byHand(t *testing.T, file, does string) {
	t.Helper()
	database, err := sql.Open("sqlite", file)
	must(t, err)
	defer func() { _ = database.Close() }()
	rows, err := database.QueryContext(t.Context(), "SELECT name FROM sqlite_master WHERE type = 'trigger'")
	must(t, err)
	defer func() { _ = rows.Close() }()
	drop := ""
	for rows.Next() {
		var name string
		must(t, rows.Scan(&name))
		drop += "DROP TRIGGER " + name + ";"
	}
	must(t, errors.Join(rows.Err(), rows.Close()))
	if _, err := database.ExecContext(t.Context(), drop+does); err != nil {
		t.Fatal(err)
	}
}
