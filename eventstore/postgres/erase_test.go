package postgres_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/postgres"
	"daybook/internal/testkit/engines"
)

// erasure erases a tag that has a version.
func erasure(id calendar.ID, version int64) eventstore.Append {
	state := `{"changed":"2026-05-01T09:30:00.000Z","deleted":true,"erased":true,"fields":{},"home":"en","id":%d,"kind":"tag","version":%d}`
	return eventstore.Append{
		Time: time.Date(2026, 5, 1, 9, 30, 0, 0, time.UTC), Actor: 1, Cause: eventstore.Cause{Reason: "asked for"}, Redact: []calendar.ID{id},
		Drafts: []eventstore.Draft{{Entry: eventstore.Entry{
			Kind:    calendar.KindTag,
			ID:      id,
			Version: version + 1,
			Change:  "tag.erased",
			Fields:  []byte(`{}`),
			Secret:  []byte{},
			State:   fmt.Appendf(nil, state, id, version+1),
		}}},
	}
}

// TestEraseGoesOn: an erasure that was undone half way is finished by another one.
func TestEraseGoesOn(t *testing.T) {
	t.Parallel()
	name := schema(t)
	store := open(t, server(t), postgres.Options{Schema: name})
	smallLog(t, store, 2)
	held := erasure(1, 2)
	held.Drafts[0].Claims = []calendar.Claim{{Space: "slug/tag", Key: "tag-1-1"}}
	res := store.Append(t.Context(), held)
	if _, refused := errors.AsType[*eventstore.ClaimError](res.Err); !refused {
		t.Errorf("with a claim of another record: %+v", res)
	}
	if res := store.Append(t.Context(), erasure(1, 2)); res.Err != nil || res.Position != 5 {
		t.Fatalf("erase: %+v", res)
	}
	before, err := store.Read(t.Context(), eventstore.Range{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	conn := admin(t)
	sqlExec(t, conn, "ALTER TABLE "+name+".entries DISABLE TRIGGER ALL")
	sqlExec(t, conn, "UPDATE "+name+".entries SET state = 'text that was left' WHERE position IN (1, 2)")
	sqlExec(t, conn, "ALTER TABLE "+name+".entries ENABLE ALWAYS TRIGGER entries_blank_only")
	if res := store.Append(t.Context(), eventstore.Append{Redact: []calendar.ID{1}}); res.Err != nil || res.Position != 5 {
		t.Errorf("erase what was left: %+v", res)
	}
	after, err := store.Read(t.Context(), eventstore.Range{Limit: 10})
	if diff := cmp.Diff(before, after); err != nil || diff != "" {
		t.Errorf("%v (-before +after):\n%s", err, diff)
	}
}

// TestRedactedByHand: what was written stays as it is: what an erasure may do is all that the
// database takes, of a superuser who says that this is a replica too. HISTORY 20.38.
func TestRedactedByHand(t *testing.T) {
	t.Parallel()
	name := schema(t)
	store := open(t, server(t), postgres.Options{Schema: name})
	smallLog(t, store, 3)
	if res := store.Append(t.Context(), erasure(2, 2)); res.Err != nil {
		t.Fatal(res.Err)
	}
	conn := admin(t)
	sqlExec(t, conn, "SET session_replication_role = replica")
	const zeros = "decode(repeat('00', 128), 'hex')"
	for _, text := range []string{
		"INSERT INTO @.redacted VALUES (1, 7, " + zeros + ")",  // another record
		"INSERT INTO @.redacted VALUES (7, 7, " + zeros + ")",  // not an earlier version
		"INSERT INTO @.redacted VALUES (5, 6, " + zeros + ")",  // no erasure
		"INSERT INTO @.redacted VALUES (3, 99, " + zeros + ")", // no entry
		"UPDATE @.redacted SET by = 8", "DELETE FROM @.redacted", "TRUNCATE @.redacted",
		"DELETE FROM @.entries WHERE position = 3", "TRUNCATE @.entries",
		`UPDATE @.entries SET client = '', request = '', reason = '', fields = '', state = '', secret = NULL,
			salts = substr(salts, 1, 16) || decode(repeat('00', 64), 'hex') WHERE position = 1`, // not erased
		"UPDATE @.entries SET client = 'x' WHERE position = 3",
		"UPDATE @.entries SET state = 'x' WHERE position = 3",
		"UPDATE @.entries SET secret = 'x' WHERE position = 3",
		"UPDATE @.entries SET salts = decode(repeat('00', 80), 'hex') WHERE position = 3",
		"UPDATE @.entries SET salts = NULL WHERE position = 3",
		"DELETE FROM @.checkpoints", "TRUNCATE @.checkpoints",
		"UPDATE @.entries SET actor = 1 WHERE position = 2", "UPDATE @.commits SET last = 9", "DELETE FROM @.commits", "TRUNCATE @.commits",
	} {
		if err := refused(t.Context(), conn, strings.ReplaceAll(text, "@", name)); err != nil {
			t.Error(err)
		}
	}
	// One that may be blanked, but another column differs.
	sqlExec(t, conn, "ALTER TABLE "+name+".entries DISABLE TRIGGER ALL")
	sqlExec(t, conn, "UPDATE "+name+".entries SET state = 'left' WHERE position = 3")
	sqlExec(t, conn, "ALTER TABLE "+name+".entries ENABLE ALWAYS TRIGGER entries_blank_only")
	for _, column := range []string{
		"position = 33", "record = 3", "version = 9", "time = 9", "actor = 9", "kind = 'venue'", "change = 'tag.x'",
		"leaf = sha256('x')", "client = 'x'", "request = 'x'", "reason = 'x'", "fields = 'x'", "secret = ''",
	} {
		if err := refused(t.Context(), conn, "UPDATE "+name+".entries SET state = '', "+column+" WHERE position = 3"); err != nil {
			t.Error(err)
		}
	}
	sqlExec(t, conn, "UPDATE "+name+".entries SET state = '' WHERE position = 3")
}

// filesWith returns the files below a data directory, but for the log of writes, that hold
// a word.
func filesWith(t *testing.T, dir, word string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed meanwhile
			return nil
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "pg_wal":
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if bytes.Contains(data, []byte(word)) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestCompact: after an erasure and Compact no word of the record is in the files of the
// database. HISTORY 20.34.
func TestCompact(t *testing.T) {
	t.Parallel()
	own := engines.StartPostgres(t)
	store := open(t, own.URL(), postgres.Options{PollOnly: true})
	const word = "Xylophonkonzert"
	text := func(what string) string { return strings.ToLower(word) + "-" + what }
	for v := range int64(4) {
		a := tag(t, 1, v+1, text("slug"))
		a.Cause = eventstore.Cause{Client: text("client"), Request: text("request"), Reason: text("reason")}
		a.Drafts[0].Secret = []byte(text("secret"))
		a.Receipt = &eventstore.Receipt{ReceiptKey: eventstore.ReceiptKey{User: 1, Key: fmt.Sprint(v)}, Record: 1}
		if res := store.Append(t.Context(), a); res.Err != nil {
			t.Fatal(res.Err)
		}
	}
	for id := calendar.ID(2); id < 60; id++ { // others, so that samples are worth to be taken
		write(t, store, id, 1, "other")
	}
	own.Exec("ANALYZE", "CHECKPOINT")
	if found := filesWith(t, own.Data(), strings.ToLower(word)); len(found) < 4 {
		t.Fatalf("before, only %q have it", found)
	}
	if res := store.Append(t.Context(), erasure(1, 4)); res.Err != nil {
		t.Fatal(res.Err)
	}
	left, err := postgres.Compact(t.Context(), own.URL(), postgres.Options{})
	if err != nil || len(left) > 0 {
		t.Fatalf("Compact: %q, %v", left, err)
	}
	for _, w := range []string{strings.ToLower(word), word, "Name of " + strings.ToLower(word)} {
		if found := filesWith(t, own.Data(), w); len(found) > 0 {
			t.Errorf("%q is in %q", w, found)
		}
	}
	write(t, store, 2, 2, "goes on")
}
