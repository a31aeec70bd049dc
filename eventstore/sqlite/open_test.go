package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"daybook/eventstore"
	"daybook/eventstore/sqlite"
)

func TestOpenDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open(t, dir, sqlite.Options{})
	for _, name := range []string{sqlite.FileName, sqlite.FileName + "-wal", sqlite.FileName + ".lock"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		} else if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
	if _, err := sqlite.Open(t.Context(), dir, sqlite.Options{}); err == nil || !strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("a second Open: %v", err)
	}
}

// TestOpenOddPath: signs that mean something in a URI are part of the name.
func TestOpenOddPath(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a b?c#d%41&e=é.db")
	s := open(t, path, sqlite.Options{})
	smallLog(t, s, 1)
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		make func(t *testing.T, path string)
		says string
		is   error
	}{
		{name: "another program's file", says: "another program", make: func(t *testing.T, path string) {
			t.Helper()
			sqlExec(t, raw(t, path), "CREATE TABLE t (a)")
		}},
		{name: "no database", says: "not a database", is: eventstore.ErrDamaged, make: func(t *testing.T, path string) {
			t.Helper()
			if err := os.WriteFile(path, []byte(strings.Repeat("text ", 1000)), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "another version", says: "the file was written by another version of daybook (form 00000007, this one needs ", make: func(t *testing.T, path string) {
			t.Helper()
			makeStore(t, path)
			sqlExec(t, raw(t, path), "PRAGMA user_version = 7")
		}},
		{name: "entries after the last commit", says: "the last commit ends at 2", is: eventstore.ErrDamaged, make: func(t *testing.T, path string) {
			t.Helper()
			makeStore(t, path)
			db := raw(t, path)
			sqlExec(t, db, "DROP TRIGGER commits_no_delete")
			sqlExec(t, db, "DELETE FROM commits WHERE first = 3")
		}},
		{name: "no such directory", says: "no such file", make: func(t *testing.T, path string) {
			t.Helper()
			if err := os.Remove(filepath.Dir(path)); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "events.db")
			tt.make(t, path)
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if err == nil {
				_ = s.Close()
				t.Fatal("it was opened")
			}
			if !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), path) {
				t.Errorf("the error is %q, want one that says %q", err, tt.says)
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("the error is %v, want %v", err, tt.is)
			}
		})
	}
}

func makeStore(t *testing.T, path string) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	smallLog(t, s, 2)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestReceiptsEnd: receipts are kept for 24 hours and purged some time after, without
// commits of others, many of them, and also where a clock was wrong when they were
// kept.
func TestReceiptsEnd(t *testing.T) {
	t.Parallel()
	var hours atomic.Int64 // after the beginning
	begin := time.Date(2026, 5, 1, 9, 30, 0, 0, time.UTC)
	s := open(t, filepath.Join(t.TempDir(), "events.db"), sqlite.Options{
		PurgeEvery: time.Millisecond, Now: func() time.Time { return begin.Add(time.Duration(hours.Load()) * time.Hour) },
	})
	n := 0
	write := func(count int) (keys []string) {
		t.Helper()
		appends := make([]eventstore.Append, count)
		for i := range appends {
			n++
			keys = append(keys, fmt.Sprintf("key-%d", n))
			appends[i] = eventstore.Append{Receipt: &eventstore.Receipt{User: 7, Key: keys[i], Record: 1}}
		}
		for _, res := range s.Append(t.Context(), appends) {
			if res.Err != nil {
				t.Fatal(res.Err)
			}
		}
		return keys
	}
	kept := func(keys []string) (n int) {
		t.Helper()
		for _, key := range keys {
			r, err := s.Receipt(t.Context(), 7, key)
			if err != nil {
				t.Fatal(err)
			}
			if r != nil {
				n++
			}
		}
		return n
	}
	until := func(what string, keys []string) { // all are gone
		t.Helper()
		for limit := time.Now().Add(time.Minute); kept(keys) > 0; {
			if time.Now().After(limit) {
				t.Fatalf("%s: %d of %d are still kept", what, kept(keys), len(keys))
			}
		}
	}
	hours.Store(100_000) // the clock is wrong
	ahead := write(300)
	hours.Store(0)
	old := write(1500)
	hours.Store(23)
	young := write(3)
	if kept(ahead) != len(ahead) || kept(old) != len(old) {
		t.Errorf("before their time: %d of %d kept in a time to come, %d of %d old ones are kept", kept(ahead), len(ahead), kept(old), len(old))
	}
	hours.Store(25)
	until("old ones", old)
	if kept(young) != len(young) {
		t.Errorf("%d of %d young ones are kept", kept(young), len(young))
	}
	hours.Store(25 + 25)
	until("young ones", young)
	until("those that were kept in a time to come", ahead)
}
