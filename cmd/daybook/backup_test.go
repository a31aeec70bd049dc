package main

import (
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"daybook/eventstore/sqlite"
)

// copyFiles copies files of one directory into a fresh one, which it gives.
func copyFiles(t *testing.T, from string, names ...string) string {
	t.Helper()
	to := t.TempDir()
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), data, 0o600)
		}
		must(t, err)
	}
	return to
}

// vacuum makes a backup of the store of a data directory in another one while it is open.
func vacuum(t *testing.T, data, to string) {
	t.Helper()
	database, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: filepath.Join(data, sqlite.FileName)}).String())
	if err == nil {
		_, err = database.ExecContext(t.Context(), "VACUUM INTO ?", filepath.Join(to, sqlite.FileName))
	}
	must(t, errors.Join(err, database.Close()))
}
