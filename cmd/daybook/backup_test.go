package main

import (
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"daybook/eventstore/sqlite"
)

// copyFiles copies files of one directory into a fresh one, which it gives.
func copyFiles(t *testing.T, from string, names ...string) string {
	t.Helper()
	to := t.TempDir()
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// TestBackup makes backups in the ways that docs/operations.md tells of, and
// serves from each.
func TestBackup(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := startServer(t, "serve", "--data", data)
	id := idOf(s.want(201, "POST", "/events", s.token, concert))
	want := mustTool(t, "verify", "--data", data)

	serving := t.TempDir()
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: filepath.Join(data, sqlite.FileName)}).String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "VACUUM INTO ?", filepath.Join(serving, sqlite.FileName)); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s.kill()
	killed := copyFiles(t, data, sqlite.FileName, sqlite.FileName+"-wal")
	half := copyFiles(t, data, sqlite.FileName)
	s = startServer(t, "serve", "--data", data)
	if status := s.drain(); status != exitOK {
		t.Fatalf("drained with status %d\n%s", status, s.log())
	}
	if _, err := os.Stat(filepath.Join(data, sqlite.FileName+"-wal")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a store that was closed has a log beside it (%v)", err)
	}
	closed := copyFiles(t, data, sqlite.FileName)

	for name, dir := range map[string]string{"while it serves": serving, "after a kill": killed, "after the end": closed} {
		got, _, _ := strings.Cut(mustTool(t, "verify", "--data", dir), ";") // one backup has a checkpoint more
		if want, _, _ := strings.Cut(want, ";"); got != want {
			t.Errorf("backup %s: got %q, want %q", name, got, want)
		}
		s := startServer(t, "serve", "--data", dir)
		if got := s.want(200, "GET", "/events/"+id, "", ""); got["title"] != "Quay concert" {
			t.Errorf("backup %s: got title %v", name, got["title"])
		}
		s.drain()
	}
	// The file alone of a process that was killed before its log was folded in.
	if out, errText, status := tool(t, nil, "verify", "--data", half); status != exitFailed || !strings.Contains(errText, "no event store") {
		t.Errorf("verify of a file without its log: status %d, %q, %q", status, out, errText)
	}
}

// TestVerifyOfNothing: a store without entries is not told to be as it was written.
func TestVerifyOfNothing(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	store, err := sqlite.Open(t.Context(), data, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if out := mustTool(t, "verify", "--data", data); !strings.Contains(out, "intact: 0 entries") {
		t.Errorf("got %q", out)
	}
}
