package main

import (
	"bytes"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"daybook/eventstore/sqlite"
)

// TestOtherVersion: a data directory of another version is refused with one sentence by
// whatever opens it, and stays as it is (HISTORY 13, 20.33).
func TestOtherVersion(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	mustTool(t, "user", "add", "ada", "--role", "administrator", "--data", data)
	file := filepath.Join(data, sqlite.FileName)
	database, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: file}).String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := database.ExecContext(t.Context(), "PRAGMA user_version = 7"); err != nil {
		t.Fatal(err)
	}
	if err := database.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"verify"}, {"export"}, {"serve", "--listen", "127.0.0.1:0"}, {"user", "list"}} {
		out, errText, status := tool(t, nil, append(args, "--data", data)...)
		if status != exitFailed || out != "" || !strings.Contains(errText, "was written by another version of daybook (form 00000007, ") || strings.Count(errText, "\n") > 1 {
			t.Errorf("%v: status %d, %q, %q", args, status, out, errText)
		}
	}
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed, %v", err)
	}
}
