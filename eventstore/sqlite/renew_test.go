package sqlite_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/sqlite"
	"daybook/eventstore/storetest"
	"daybook/internal/testkit"
)

// renewedFile, when set, makes the test binary open that file and tell each step on
// standard output.
const renewedFile = "DAYBOOK_TEST_RENEWED_FILE"

func openSlowly(ctx context.Context, path string) error {
	s, err := sqlite.Open(ctx, path, sqlite.Options{Renewing: func(done, total calendar.Position) { fmt.Println(done, total) }})
	if err != nil {
		return err
	}
	return s.Close()
}

// long makes the store of testkit.FormerStore longer: n more entries of each of some records.
func long(t *testing.T, path string, n int) {
	t.Helper()
	testkit.FormerStore(t, path)
	db := raw(t, path)
	defer func() { _ = db.Close() }()
	sqlExec(t, db, "PRAGMA journal_mode = OFF")
	sqlExec(t, db, "PRAGMA synchronous = OFF")
	var head int64
	if err := db.QueryRowContext(t.Context(), "SELECT max(position) FROM entries").Scan(&head); err != nil {
		t.Fatal(err)
	}
	for range n {
		sqlExec(t, db, `INSERT INTO entries SELECT ?1 + row_number() OVER (ORDER BY position), kind, record + ?1 * 1000, version, time, actor,
			change, leaf, client, request, reason, fields, state, secret FROM entries WHERE position <= 59`, head)
		sqlExec(t, db, `INSERT INTO commits VALUES (?1 + 1, ?1 + 59, zeroblob(32))`, head)
		head += 59
	}
}

// formerHead is the chain head that the version before told of the store of testkit.FormerStore.
const formerHead = "37464417f63d89ff02ca38137e24999badc2c6e0cf524887b4491344f4889af3"

// rowsOf gives all that a query finds, as text.
func rowsOf(t *testing.T, db *sql.DB, query string) (out []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values, to := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			to[i] = &values[i]
		}
		if err := rows.Scan(to...); err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%q", values))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// content is what of a file every form has in the same way.
func content(t *testing.T, path string) (out []string) {
	t.Helper()
	db := raw(t, path)
	defer func() { _ = db.Close() }()
	for _, query := range []string{
		"SELECT position, kind, record, version, time, actor, change, leaf, client, request, reason, secret IS NULL, secret FROM entries ORDER BY position",
		"SELECT id, kind, version, position, claims, names, secret FROM records ORDER BY id",
		"SELECT * FROM claims ORDER BY space, key", "SELECT * FROM names ORDER BY space, key, record",
		"SELECT rowid, * FROM receipts ORDER BY rowid", "SELECT * FROM commits ORDER BY first",
	} {
		out = append(out, rowsOf(t, db, query)...)
	}
	return out
}

// payloads are the fields and states of the entries of a file of the former form.
func payloads(t *testing.T, path string) (out [][2]string) {
	t.Helper()
	db := raw(t, path)
	defer func() { _ = db.Close() }()
	rows, err := db.QueryContext(t.Context(), "SELECT fields, state FROM entries ORDER BY position")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var fields, state []byte
		if err := rows.Scan(&fields, &state); err != nil {
			t.Fatal(err)
		}
		out = append(out, [2]string{string(fields), string(state)})
	}
	if err := rows.Err(); err != nil || len(out) == 0 {
		t.Fatal(len(out), err)
	}
	return out
}

// same fails when a store does not give the payloads, or its file not the content.
func same(t *testing.T, path string, wantPayloads [][2]string, wantContent []string) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	n := 0
	for {
		entries, err := s.ReadAll(t.Context(), calendar.Position(n), 1000)
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) == 0 {
			break
		}
		for _, e := range entries {
			if n++; n > len(wantPayloads) || string(e.Fields) != wantPayloads[n-1][0] || string(e.State) != wantPayloads[n-1][1] {
				t.Fatalf("entry %d has other fields or another state", e.Position)
			}
		}
	}
	if n != len(wantPayloads) {
		t.Errorf("%d entries, want %d", n, len(wantPayloads))
	}
	got := content(t, path)
	if len(got) != len(wantContent) {
		t.Fatalf("%d rows, want %d", len(got), len(wantContent))
	}
	for i := range got {
		if got[i] != wantContent[i] {
			t.Fatalf("row %s, want %s", got[i], wantContent[i])
		}
	}
	if _, err := os.Stat(path + ".new"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that was being filled is left: %v", err)
	}
}

// TestFormer: a store of the version before is opened and holds just what it held.
func TestFormer(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events.db")
	testkit.FormerStore(t, path)
	wantPayloads, wantContent := payloads(t, path), content(t, path)
	db := raw(t, path)
	wantStates := rowsOf(t, db, "SELECT id, CAST(state AS TEXT) FROM records ORDER BY id")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	var told []calendar.Position
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Renewing: func(done, total calendar.Position) {
		if total != 59 {
			t.Errorf("%d of %d entries are carried, want 59", done, total)
		}
		told = append(told, done)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(told) == 0 || told[len(told)-1] != 59 {
		t.Errorf("progress was %d", told)
	}
	hash, n, err := storetest.Verify(t.Context(), s, nil)
	if err != nil || n != 59 || hex.EncodeToString(hash[:]) != formerHead {
		t.Errorf("Verify: %d entries, chain head %x, %v; want 59, %s", n, hash, err, formerHead)
	}
	var states []string
	records, err := s.Records(t.Context(), 0, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		states = append(states, fmt.Sprintf("%q", []any{int64(r.ID), string(r.Record)}))
		one, err := s.Load(t.Context(), r.ID)
		if err != nil || !bytes.Equal(one[0].Record, r.Record) || one[0].Version != r.Version {
			t.Errorf("Load of record %d: %+v, %v", r.ID, one, err)
		}
	}
	if strings.Join(states, "\n") != strings.Join(wantStates, "\n") {
		t.Errorf("states are\n%s\nwant\n%s", strings.Join(states, "\n"), strings.Join(wantStates, "\n"))
	}
	leaves, err := s.Leaves(t.Context(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := eventstore.UUIDOf(leaves[0][:16])
	if id, err := s.UUID(t.Context()); err != nil || id != want {
		t.Errorf("UUID %x, %v, want %x", id, err, want)
	}
	// A key of that time finds its answer, and the store takes writes.
	key := s.Append(t.Context(), []eventstore.Append{{Receipt: &eventstore.Receipt{User: 1, Key: "key-3"}}})[0]
	if !errors.Is(key.Err, eventstore.ErrKeyReused) {
		t.Errorf("a key that was used: %+v", key)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	same(t, path, wantPayloads, wantContent)
	after, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if after.Size() > before.Size()*2/3 || after.Mode() != before.Mode() {
		t.Errorf("%d bytes and %v after it, %d and %v before", after.Size(), after.Mode(), before.Size(), before.Mode())
	}
	s = open(t, path, sqlite.Options{Renewing: func(calendar.Position, calendar.Position) { t.Error("carried again") }})
	smallLog(t, s, 3)
	if _, n, err := storetest.Verify(t.Context(), s, nil); err != nil || n != 65 {
		t.Errorf("Verify after more writes: %d entries, %v", n, err)
	}
}

// TestFormerKilled: a process that is killed at any moment while it brings a store to
// the new form leaves one that the next process opens, with all that it held.
func TestFormerKilled(t *testing.T) {
	t.Parallel()
	const more = 40
	origin := filepath.Join(t.TempDir(), "events.db")
	long(t, origin, more)
	wantPayloads, wantContent := payloads(t, origin), content(t, origin)
	whole, err := os.ReadFile(origin)
	if err != nil {
		t.Fatal(err)
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
		cmd.Env = append(os.Environ(), renewedFile+"="+path)
		cmd.Stderr = os.Stderr
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
		same(t, path, wantPayloads, wantContent)
		if end != nil { // it came to its end
			break
		}
	}
	if killed < 3 {
		t.Errorf("only %d processes were killed before their end", killed)
	}
}

// TestFormerFullDisk: where there is no room for the new form the store stays as it
// is, and says so at once instead of trying again and again.
func TestFormerFullDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events.db")
	long(t, path, 40)
	wantPayloads, wantContent := payloads(t, path), content(t, path)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -f 400 && exec "$0"`, self)
	cmd.Env = append(os.Environ(), renewedFile+"="+path)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "events.db.new") {
		t.Fatalf("on a full disk: %v\n%s", err, out)
	}
	same(t, path, wantPayloads, wantContent)
}

// TestFormerWithLog: what a killed process of the version before had in its log only
// is carried, and the log does not stay beside the new file.
func TestFormerWithLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events.db")
	testkit.FormerStore(t, path)
	db := raw(t, path)
	db.SetMaxOpenConns(1)
	sqlExec(t, db, "PRAGMA journal_mode = WAL")
	sqlExec(t, db, `INSERT INTO names VALUES ('name/tag', 'of the log', 4)`)
	killed := filepath.Join(t.TempDir(), "events.db")
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + suffix)
		if err != nil || len(b) == 0 {
			t.Fatal(len(b), err)
		}
		if err := os.WriteFile(killed+suffix, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, killed, sqlite.Options{})
	if _, found, err := s.Find(t.Context(), nil, []calendar.Name{{Space: "name/tag", Key: "of the log"}}); err != nil || len(found[0]) != 1 {
		t.Errorf("found %v, %v", found, err)
	}
}

// TestFormerInUse: while another process reads the file, as a backup does, it stays.
func TestFormerInUse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events.db")
	testkit.FormerStore(t, path)
	wantPayloads, wantContent := payloads(t, path), content(t, path)
	db := raw(t, path)
	sqlExec(t, db, "PRAGMA journal_mode = WAL")
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRowContext(t.Context(), "SELECT count(*) FROM entries").Scan(&n); err != nil {
		t.Fatal(err)
	}
	if s, err := sqlite.Open(t.Context(), path, sqlite.Options{}); !errors.Is(err, eventstore.ErrUnavailable) {
		t.Errorf("opened while it is read: %v, %v", s, err)
	}
	if err := errors.Join(tx.Rollback(), db.Close()); err != nil {
		t.Fatal(err)
	}
	same(t, path, wantPayloads, wantContent)
}

// TestFormerBehindLink: the file is replaced where it lies.
func TestFormerBehindLink(t *testing.T) {
	t.Parallel()
	file, link := filepath.Join(t.TempDir(), "real.db"), filepath.Join(t.TempDir(), "events.db")
	testkit.FormerStore(t, file)
	wantPayloads, wantContent := payloads(t, file), content(t, file)
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	same(t, link, wantPayloads, wantContent)
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
	rowsOf(t, raw(t, file), "SELECT body FROM entries") // of the new form
}

// TestFormerDamaged: what was damaged before stays to be found.
func TestFormerDamaged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events.db")
	testkit.FormerStore(t, path)
	db := raw(t, path)
	sqlExec(t, db, "DROP TRIGGER entries_no_update")
	sqlExec(t, db, "UPDATE entries SET state = CAST(replace(CAST(state AS TEXT), 'publish', 'private') AS BLOB) WHERE position = 30")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, sqlite.Options{})
	if _, _, err := storetest.Verify(t.Context(), s, nil); !errors.Is(err, eventstore.ErrDamaged) || !strings.Contains(err.Error(), "entry 30") {
		t.Errorf("Verify: %v", err)
	}
	if entries, err := s.ReadAll(t.Context(), 29, 1); err != nil || !json.Valid(entries[0].State) {
		t.Errorf("entry 30: %v", err)
	}
}
