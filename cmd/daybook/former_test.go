package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"daybook/eventstore"
	"daybook/eventstore/sqlite"
	"daybook/internal/testkit"
)

// formerData makes a data directory with the event store of a development version.
func formerData(t *testing.T) string {
	t.Helper()
	data := t.TempDir()
	testkit.FormerStore(t, filepath.Join(data, sqlite.FileName))
	return data
}

// TestOldForm: a data directory of a development version is refused with one sentence by
// whatever opens it, and stays as it is (HISTORY 13).
func TestOldForm(t *testing.T) {
	t.Parallel()
	data := formerData(t)
	file := filepath.Join(data, sqlite.FileName)
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"verify"}, {"export"}, {"serve", "--listen", "127.0.0.1:0"}, {"user", "list"}} {
		out, errText, status := tool(t, nil, append(args, "--data", data)...)
		if status != exitFailed || out != "" || !strings.Contains(errText, eventstore.ErrOldForm.Error()) || strings.Count(errText, "\n") > 1 {
			t.Errorf("%v: status %d, %q, %q", args, status, out, errText)
		}
	}
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed, %v", err)
	}
}
