package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"daybook/eventstore/sqlite"
	"daybook/internal/testkit"
)

// formerData makes a data directory with the event store of a version before packed
// entries, and without a feed and a snapshot.
func formerData(t *testing.T) string {
	t.Helper()
	data := t.TempDir()
	testkit.FormerStore(t, filepath.Join(data, sqlite.FileName))
	return data
}

// formerLines gives the lines of entries of an export as versions before form 2 printed
// them: without the first line, and without form and leaf.
func formerLines(t *testing.T, export string) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(export) {
		if strings.HasPrefix(line, `{"daybook":`) {
			continue
		}
		before, after, found := strings.Cut(line, `,"form":1,"leaf":"`)
		if !found || len(after) != 64+len("\"}\n") {
			t.Errorf("no entry of form 1: %s", line)
		}
		out.WriteString(before + "}\n")
	}
	return out.String()
}

// TestFormerStore: a data directory of the version before is opened by whatever comes
// first, which says so; verify and export tell of it just what that version told.
func TestFormerStore(t *testing.T) {
	t.Parallel()
	const (
		head   = "chain head 37464417f63d89ff02ca38137e24999badc2c6e0cf524887b4491344f4889af3\nintact: 59 entries; 0 signed, 59 unsigned\n"
		signed = "chain head 37464417f63d89ff02ca38137e24999badc2c6e0cf524887b4491344f4889af3\nintact: 59 entries; 59 signed, 0 unsigned\n"
		export = "9e47f3621a27d0513fb662e3f65934ac86009bdee1651a56b7450ff2e44132f5" // SHA-256 of the lines of that version
	)
	data := formerData(t)
	out, errText, status := tool(t, nil, "verify", "--data", data)
	if status != exitOK || out != head || !strings.Contains(errText, "of a former version") {
		t.Errorf("verify: status %d, %q, %q", status, out, errText)
	}
	out, errText, status = tool(t, nil, "export", "--data", data)
	if sum := sha256.Sum256([]byte(formerLines(t, out))); status != exitOK || hex.EncodeToString(sum[:]) != export || errText != "" {
		t.Errorf("export: status %d, SHA-256 %x, want %s; %q", status, sum, export, errText)
	}

	data = formerData(t)
	s := startServer(t, "serve", "--data", data)
	if got := s.want(200, "GET", "/events?per_page=50&start_date=2026-01-01", "", ""); got["total"] != float64(27) {
		t.Errorf("the service lists %v events", got["total"])
	}
	if status := s.drain(); status != exitOK || !strings.Contains(s.log(), "of a former version") {
		t.Errorf("drained with status %d\n%s", status, s.log())
	}
	if out := mustTool(t, "verify", "--data", data); out != signed {
		t.Errorf("verify after serving: %q", out)
	}
	if _, err := os.Stat(filepath.Join(data, sqlite.FileName+".new")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a half file is left: %v", err)
	}
}
