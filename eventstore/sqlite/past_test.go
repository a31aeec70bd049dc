package sqlite_test

import (
	"bufio"
	"database/sql"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/sqlite"
	"daybook/eventstore/storetest"
	"daybook/internal/ground/migration"
	"daybook/internal/testkit"
)

// withoutPast makes a file as the version before the past left it, with what another one
// holds.
func withoutPast(t *testing.T, path, from string) {
	t.Helper()
	steps, err := migration.Read(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	sqlExec(t, db, "CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL) STRICT")
	for _, step := range steps[:3] {
		sqlExec(t, db, step.Text)
		sqlExec(t, db, "INSERT INTO migrations VALUES (?, ?, ?)", step.Number, step.Name, step.Checksum)
	}
	sqlExec(t, db, "PRAGMA application_id = 1684109666")
	sqlExec(t, db, "ATTACH ? AS other", from)
	for table, columns := range map[string]string{
		"entries": "position, kind, record, version, time, actor, change, leaf, client, request, reason, body, secret",
		"records": "id, kind, version, position, claims, names, secret",
		"claims":  "space, key, record", "names": "space, key, record", "commits": "first, last, hash",
	} {
		sqlExec(t, db, fmt.Sprintf("INSERT INTO main.%s (%s) SELECT %[2]s FROM other.%[1]s ORDER BY 1", table, columns))
	}
}

// pastRows are the rows that the step of the past fills.
func pastRows(t *testing.T, path string) []string {
	t.Helper()
	db := raw(t, path)
	defer func() { _ = db.Close() }()
	return append(rowsOf(t, db, "SELECT * FROM times ORDER BY block"), rowsOf(t, db, "SELECT * FROM slugs ORDER BY position, slug")...)
}

// TestPastFilled: a file of the version before gets its past whole, wherever the process
// that fills it is killed; its entries keep their leaves, and those that follow are of
// form 2 (HISTORY 20.33).
func TestPastFilled(t *testing.T) {
	t.Parallel()
	from, origin := filepath.Join(t.TempDir(), "former.db"), filepath.Join(t.TempDir(), "events.db")
	long(t, from, 40)
	if err := open(t, from, sqlite.Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	withoutPast(t, origin, from)
	whole, err := os.ReadFile(origin)
	if err != nil {
		t.Fatal(err)
	}
	want := pastRows(t, from)
	if len(want) < 1000 {
		t.Fatalf("only %d rows", len(want))
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	killed := 0
	for lines := 0; ; lines++ { // killed after so many lines
		path := filepath.Join(t.TempDir(), "events.db")
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), self)
		cmd.Env, cmd.Stderr = append(os.Environ(), renewedFile+"="+path), os.Stderr
		pipe, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(pipe)
		var end error
		for n := 0; n < lines && end == nil; n++ {
			_, end = in.ReadString('\n')
		}
		if end == nil {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, in)
		}
		if err := cmd.Wait(); err != nil {
			killed++
		}
		if err := open(t, path, sqlite.Options{}).Close(); err != nil {
			t.Fatal(err)
		}
		if got := pastRows(t, path); !slices.Equal(got, want) {
			t.Fatalf("killed after %d lines: %d rows, want %d", lines, len(got), len(want))
		}
		if end != nil { // it came to its end
			break
		}
	}
	if killed < 3 {
		t.Errorf("only %d processes were killed before their end", killed)
	}
}

// TestBothForms: entries of before keep their leaves, those that follow are of form 2, and
// such a log verifies, also with an erasure over both (HISTORY 20.33).
func TestBothForms(t *testing.T) {
	t.Parallel()
	from, path := filepath.Join(t.TempDir(), "former.db"), filepath.Join(t.TempDir(), "events.db")
	testkit.FormerStore(t, from)
	if err := open(t, from, sqlite.Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	withoutPast(t, path, from)
	var told []calendar.Position
	s := open(t, path, sqlite.Options{Renewing: func(done, _ calendar.Position) { told = append(told, done) }})
	if !slices.Equal(told, []calendar.Position{0, 59}) {
		t.Errorf("progress was %d", told)
	}
	if f := verify(t, s); f.Finding != eventstore.FoundIntact || hex.EncodeToString(f.Hash[:]) != formerHead {
		t.Errorf("Verify: %+v, want the chain head %s", f, formerHead)
	}
	// Every slug that is held now was taken then.
	states, err := s.Records(t.Context(), calendar.KindEvent, 0, 1000)
	if err != nil || len(states) == 0 {
		t.Fatal(len(states), err)
	}
	for _, state := range states {
		r, err := calendar.DecodeRecord(state.Record)
		if err != nil {
			t.Fatal(err)
		}
		if had, err := s.SlugAt(t.Context(), r.Kind, r.Slug(), eventstore.Point{Position: 59}); err != nil || had != r.ID {
			t.Errorf("slug %q is that of %d, %v, want %d", r.Slug(), had, err, r.ID)
		}
	}
	r, err := calendar.DecodeRecord(states[0].Record)
	if err != nil {
		t.Fatal(err)
	}
	d, r := storetest.Draft(t, r, calendar.Change{Name: "event.updated", Kind: r.Kind, ID: r.ID, Fields: calendar.Fields{"featured": true}}, r.Changed)
	if res := s.Append(t.Context(), []eventstore.Append{{Drafts: []eventstore.Draft{d}, Time: r.Changed}})[0]; res.Err != nil {
		t.Fatal(res.Err)
	}
	entries, err := s.ReadStored(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		if form2 := entries[i].Salts != nil; form2 != (entries[i].Position == 60) {
			t.Errorf("entry %d is of form 2: %t", entries[i].Position, form2)
		}
	}
	c, err := calendar.Erase(r)
	if err != nil {
		t.Fatal(err)
	}
	d, _ = storetest.Draft(t, r, c, r.Changed)
	res := s.Erase(t.Context(), eventstore.Erasure{Kind: r.Kind, ID: r.ID, Expected: d.Expected, Time: r.Changed, State: d.State, Claims: d.Claims})
	if res.Err != nil {
		t.Fatal(res.Err)
	}
	f := verify(t, s)
	if f.Finding != eventstore.FoundRedacted || f.Redacted != 1 || f.RedactedForm1 != int(r.Version)-1 {
		t.Errorf("Verify after the erasure: %+v, want %d of form 1", f, r.Version-1)
	}
}
