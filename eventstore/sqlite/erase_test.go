package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/sqlite"
	"daybook/eventstore/storetest"
	"daybook/eventstore/verify"
)

// eraseLog fills a store with a venue of three versions whose texts are found nowhere
// else, and others; it returns the erasure of the venue, which has entries 1, 2 and 4.
func eraseLog(t *testing.T, store *sqlite.Store) eventstore.Append {
	t.Helper()
	now := time.Date(2026, 5, 1, 9, 30, 0, 0, time.UTC)
	var venue *calendar.Record
	write := func(change calendar.Change, receipt *eventstore.Receipt) {
		t.Helper()
		var before *calendar.Record
		if venue != nil && change.ID == venue.ID {
			before = venue
		}
		draft, after := storetest.Draft(t, before, change, now)
		a := eventstore.Append{
			Drafts: []eventstore.Draft{draft}, Time: now, Actor: 7, Receipt: receipt,
			Cause: eventstore.Cause{Client: "Xylographer", Request: "r", Reason: "Quincunx"},
		}
		if change.ID != 1 {
			a.Cause = eventstore.Cause{}
		}
		if res := store.Append(t.Context(), a); res.Err != nil {
			t.Fatal(res.Err)
		}
		if change.ID == 1 {
			venue = after
		}
	}
	hall := func(verb string, fields calendar.Fields) calendar.Change {
		return calendar.Change{Name: "venue." + verb, Kind: calendar.KindVenue, ID: 1, Home: calendar.LangEN, Fields: fields, Secret: []byte("Zwiebelturm")}
	}
	write(hall(calendar.Created, calendar.Fields{
		"venue": calendar.Text{calendar.LangEN: "Jabberwock"}, "slug": "borogoves",
		"imports": calendar.WithImportMark(nil, calendar.ImportMark{Source: "s", Line: 1, Key: "Bandersnatch"}),
	}), &eventstore.Receipt{ReceiptKey: eventstore.ReceiptKey{User: 7, Key: "k"}, Record: 1, Version: 1})
	write(hall(calendar.Updated, calendar.Fields{"slug": "mome-raths", "address": "Frabjous"}), nil)
	tag := calendar.Change{Name: "tag.created", Kind: calendar.KindTag, ID: 2, Home: calendar.LangEN, Fields: calendar.Fields{"slug": "tag"}}
	write(tag, &eventstore.Receipt{ReceiptKey: eventstore.ReceiptKey{User: 7, Key: "l"}, Record: 2, Version: 1})
	write(hall(calendar.Updated, calendar.Fields{"city": "Vorpal"}), nil)
	change, err := calendar.Erase(venue)
	if err != nil {
		t.Fatal(err)
	}
	draft, _ := storetest.Draft(t, venue, change, now)
	draft.Secret = []byte{}
	return eventstore.Append{Drafts: []eventstore.Draft{draft}, Time: now, Cause: eventstore.Cause{Reason: "asked for"}, Redact: []calendar.ID{1}}
}

// eraseWords are the texts of the venue of eraseLog.
var eraseWords = []string{
	"Xylographer", "Quincunx", "Zwiebelturm", "Jabberwock", "jabberwock", "borogoves", "Bandersnatch", "mome-raths", "Frabjous", "Vorpal",
}

func erase(t *testing.T, store *sqlite.Store, a eventstore.Append) {
	t.Helper()
	if res := store.Append(t.Context(), a); res.Err != nil || res.Position != 5 {
		t.Fatalf("erase: %+v", res)
	}
}

func found(t *testing.T, store *sqlite.Store) verify.Findings {
	t.Helper()
	findings, err := verify.Store(t.Context(), store, nil)
	if err != nil {
		t.Fatal(err)
	}
	return findings
}

// TestRecent: who follows the log gets from memory what the file has, and nothing that was erased.
func TestRecent(t *testing.T) {
	t.Parallel()
	store := open(t, filepath.Join(t.TempDir(), "events.db"), sqlite.Options{})
	eraseLog(t, store)
	read := func(after uint64, recent bool) []eventstore.Entry {
		t.Helper()
		entries, err := store.Read(t.Context(), eventstore.Range{After: after, Limit: 2, Recent: recent})
		if err != nil {
			t.Fatal(err)
		}
		entries = slices.Clone(entries)
		for i := range entries {
			entries[i].Leaf = [32]byte{}
		}
		return entries
	}
	same := func(count int, after uint64) {
		t.Helper()
		got, want := read(after, true), read(after, false)
		if diff := cmp.Diff(want, got); diff != "" || len(got) != count {
			t.Errorf("after %d: %d entries (-file +recent)\n%s", after, len(got), diff)
		}
	}
	same(2, 2)
	same(1, 3)
	same(0, 4)
	now := time.Date(2026, 5, 2, 9, 30, 0, 0, time.UTC)
	created, venue := storetest.Draft(t, nil, calendar.Change{Name: "venue.created", Kind: calendar.KindVenue, ID: 3, Home: calendar.LangEN, Fields: calendar.Fields{"slug": "short-lived"}}, now)
	change, err := calendar.Erase(venue)
	if err != nil {
		t.Fatal(err)
	}
	erased, _ := storetest.Draft(t, venue, change, now)
	if res := store.Append(t.Context(), eventstore.Append{Drafts: []eventstore.Draft{created, erased}, Time: now, Redact: []calendar.ID{3}}); res.Err != nil {
		t.Fatal(res.Err)
	}
	same(2, 4)
	smallLog(t, store, 1)
	same(2, 6)
}

// TestErasedBytes: no word of an erased record is left in the raw bytes of the files, also
// while others read and write (HISTORY 20.34, the part of the store).
func TestErasedBytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := open(t, filepath.Join(dir, "events.db"), sqlite.Options{})
	e := eraseLog(t, store)
	left := func() (words []string) {
		t.Helper()
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range eraseWords {
			for _, file := range files {
				data, err := os.ReadFile(filepath.Join(dir, file.Name()))
				if err != nil {
					t.Fatal(err)
				}
				if bytes.Contains(data, []byte(word)) {
					words = append(words, word)
					break
				}
			}
		}
		return words
	}
	if before := left(); len(before) < len(eraseWords)-2 { // packed ones may not stand as they are
		t.Fatalf("only %q are in the files before", before)
	}
	ctx, stop := context.WithCancel(t.Context())
	others := make(chan error, 1)
	go func() {
		var err error
		for id := calendar.ID(100); ctx.Err() == nil && err == nil; id += 2 {
			a, made := twoRecords(id)
			res := store.Append(ctx, a)
			_, read := store.Read(ctx, eventstore.Range{Limit: 50})
			if err = errors.Join(made, res.Err, read); ctx.Err() != nil {
				err = nil
			}
		}
		others <- err
	}()
	for head := calendar.Position(4); head < 20; {
		h, err := eventstore.Wait(t.Context(), store, head)
		if err != nil {
			t.Fatal(err)
		}
		head = h.Position
	}
	if res := store.Append(t.Context(), e); res.Err != nil {
		t.Fatal(res.Err)
	}
	if err := store.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if words := left(); len(words) > 0 {
		t.Errorf("%q are in the files", words)
	}
	stop()
	if err := <-others; err != nil {
		t.Errorf("others: %v", err)
	}
	if findings := found(t, store); findings.Result != verify.Redacted || findings.Redacted != 3 || len(findings.Erasures) != 1 || findings.Erasures[0].Reason != "asked for" {
		t.Errorf("Verify: %+v", findings)
	}
}

// TestRowsStay: by hand no entry is changed, replaced, deleted or put out of order, no commit
// either, nor what is known of redacted entries, also on one that may be blanked (HISTORY
// 14.3, 20.38).
func TestRowsStay(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events.db")
	store := open(t, path, sqlite.Options{})
	erase(t, store, eraseLog(t, store))
	database := raw(t, path)
	defer func() { _ = database.Close() }()
	const blank = "client = '', request = '', reason = '', body = x'', secret = NULL"
	const again = " INTO entries SELECT %d, kind, record, version + 9, time, actor, change, leaf, client, request, reason, body, secret, salts FROM entries WHERE position = 3"
	for _, text := range []string{
		"UPDATE entries SET client = 'x' WHERE position = 3",
		"UPDATE entries SET " + blank + ", salts = salts WHERE position = 3", // no erasure of it
		"UPDATE entries SET " + blank + " WHERE position = 5",                // the erasure itself
		fmt.Sprintf("INSERT OR REPLACE"+again, 3),
		fmt.Sprintf("INSERT"+again, 0),
		fmt.Sprintf("INSERT"+again, 7),
		"UPDATE commits SET hash = zeroblob(32) WHERE first = 1",
		"DELETE FROM commits WHERE first = 5",
		"INSERT OR REPLACE INTO commits VALUES (5, 5, zeroblob(32))",
		"INSERT INTO commits VALUES (7, 7, zeroblob(32))",
		"DELETE FROM entries",
		"DELETE FROM entries WHERE position = 1",
		"DELETE FROM entries WHERE position = 5",
		"UPDATE entries SET client = 'x' WHERE position = 1",
		"UPDATE entries SET reason = 'x' WHERE position = 1",
		"UPDATE entries SET body = x'00' WHERE position = 1",
		"UPDATE entries SET secret = x'' WHERE position = 1",
		"UPDATE entries SET " + blank + ", kind = 'tag' WHERE position = 1",
		"UPDATE entries SET " + blank + ", record = 9 WHERE position = 1",
		"UPDATE entries SET " + blank + ", version = 9 WHERE position = 1",
		"UPDATE entries SET " + blank + ", time = 9 WHERE position = 1",
		"UPDATE entries SET " + blank + ", actor = 9 WHERE position = 1",
		"UPDATE entries SET " + blank + ", change = 'x' WHERE position = 1",
		"UPDATE entries SET " + blank + ", leaf = zeroblob(32) WHERE position = 1",
		"UPDATE entries SET " + blank + ", salts = zeroblob(80) WHERE position = 1",
		"UPDATE entries SET " + blank + ", salts = NULL WHERE position = 1",
		"UPDATE entries SET " + blank + ", salts = CAST(substr(salts, 1, 79) || 'x' AS BLOB) WHERE position = 1",
		"UPDATE entries SET " + blank + ", position = 9 WHERE position = 1",
		"INSERT OR REPLACE INTO entries SELECT * FROM entries WHERE position = 1",
		"UPDATE redacted SET hashes = zeroblob(128)",
		"UPDATE redacted SET by = 4",
		"DELETE FROM redacted",
		"INSERT OR REPLACE INTO redacted SELECT position, by, zeroblob(128) FROM redacted WHERE position = 1",
		"INSERT INTO redacted VALUES (3, 5, zeroblob(128))", // of another record
		"INSERT INTO redacted VALUES (5, 5, zeroblob(128))", // not of a greater version
		"INSERT INTO redacted VALUES (6, 5, zeroblob(128))", // no entry
		"INSERT INTO redacted VALUES (3, 4, zeroblob(128))", // by no erasure
	} {
		_, err := database.ExecContext(t.Context(), text)
		if err == nil || !regexp.MustCompile("append only|are dense|stay so|only an erasure redacts").MatchString(err.Error()) {
			t.Errorf("%s: %v", text, err)
		}
	}
	// What an erasure does may be done again.
	sqlExec(t, database, "UPDATE entries SET "+blank+" WHERE position = 1")
	if findings := found(t, store); findings.Result != verify.Redacted || findings.Redacted != 3 {
		t.Errorf("Verify: %+v", findings)
	}
}

// TestHalfErased: what of an erased record is left, by whatever cut it off, is found and
// erased by the same call; what is blank without an erasure is tampered with (HISTORY
// 14.5, 20.38).
func TestHalfErased(t *testing.T) {
	t.Parallel()
	const off = "DROP TRIGGER entries_no_update; DROP TRIGGER redacted_no_delete; DROP TRIGGER redacted_no_update; DROP TRIGGER redacted_by_erasure;"
	for _, tt := range []struct {
		name, do string
		appended bool // nothing but the entry was written
		want     verify.Result
		position calendar.Position
		says     string
	}{
		{"only the entry", "", true, verify.Incomplete, 1, "run again: daybook erase venue 1"},
		{"text is left", "UPDATE entries SET client = 'x' WHERE position = 2", false, verify.Incomplete, 2, "run again: daybook erase venue 1"},
		{"a body is left", "UPDATE entries SET body = (SELECT body FROM entries WHERE position = 3) WHERE position = 1", false, verify.Incomplete, 1, "daybook erase"},
		{"blank by hand", "UPDATE entries SET client = '', request = '', reason = '', body = x'', secret = NULL WHERE position = 3", false, verify.Tampered, 3, "does not fit its leaf"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "events.db")
			store := open(t, path, sqlite.Options{})
			e := eraseLog(t, store)
			if tt.appended {
				only := e
				only.Redact = nil
				erase(t, store, only)
			} else {
				erase(t, store, e)
				database := raw(t, path)
				sqlExec(t, database, off+tt.do)
				if err := database.Close(); err != nil {
					t.Fatal(err)
				}
			}
			findings := found(t, store)
			if findings.Result != tt.want || findings.Position != tt.position || !strings.Contains(findings.Why, tt.says) {
				t.Errorf("Verify: %+v", findings)
			}
			if !errors.Is(findings.Err(), eventstore.ErrDamaged) {
				t.Errorf("its error is %v", findings.Err())
			}
			if tt.want != verify.Incomplete {
				return
			}
			erase(t, store, eventstore.Append{Redact: e.Redact})
			if findings := found(t, store); findings.Result != verify.Redacted || findings.Redacted != 3 || findings.Err() != nil {
				t.Errorf("after another erasure: %+v", findings)
			}
		})
	}
}

// TestEraseDamaged: an entry that cannot be read goes with its record, and stays to be
// found.
func TestEraseDamaged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events.db")
	store := open(t, path, sqlite.Options{})
	e := eraseLog(t, store)
	database := raw(t, path)
	var trigger string
	if err := database.QueryRowContext(t.Context(), "SELECT sql FROM sqlite_schema WHERE name = 'entries_no_update'").Scan(&trigger); err != nil {
		t.Fatal(err)
	}
	sqlExec(t, database, "DROP TRIGGER entries_no_update; UPDATE entries SET body = x'01' WHERE position = 1; "+trigger)
	erase(t, store, e)
	if findings := found(t, store); findings.Result != verify.Tampered || findings.Position != 1 {
		t.Errorf("Verify: %+v", findings)
	}
}
