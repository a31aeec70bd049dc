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
	store := open(t, path, sqlite.Options{})
	smallLog(t, store, 1)
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for says, spoil := range map[string]func(t *testing.T, path string){
		"another program": func(t *testing.T, path string) {
			t.Helper()
			sqlExec(t, raw(t, path), "CREATE TABLE t (a)")
		},
		"not a database": func(t *testing.T, path string) {
			t.Helper()
			if err := os.WriteFile(path, []byte(strings.Repeat("text ", 1000)), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"the file was written by another version of daybook (form 00000007, this one needs ": func(t *testing.T, path string) {
			t.Helper()
			makeStore(t, path)
			sqlExec(t, raw(t, path), "PRAGMA user_version = 7")
		},
		"the last commit ends at 2": func(t *testing.T, path string) {
			t.Helper()
			makeStore(t, path)
			sqlExec(t, raw(t, path), "DROP TRIGGER commits_no_delete; DELETE FROM commits WHERE first = 3")
		},
		"no such file": func(t *testing.T, path string) {
			t.Helper()
			if err := os.Remove(filepath.Dir(path)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		path := filepath.Join(t.TempDir(), "events.db")
		spoil(t, path)
		damaged := says == "not a database" || strings.HasPrefix(says, "the last commit")
		if _, err := sqlite.Open(t.Context(), path, sqlite.Options{}); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), path) || errors.Is(err, eventstore.ErrDamaged) != damaged {
			t.Errorf("got %v, want %q", err, says)
		}
	}
}

func makeStore(t *testing.T, path string) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	smallLog(t, store, 2)
	if err := store.Close(); err != nil {
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
	store := open(t, filepath.Join(t.TempDir(), "events.db"), sqlite.Options{
		PurgeEvery: time.Millisecond, Now: func() time.Time { return begin.Add(time.Duration(hours.Load()) * time.Hour) },
	})
	write := func(key string, count int) {
		t.Helper()
		appends := make([]eventstore.Append, count)
		for i := range appends {
			appends[i] = eventstore.Append{Receipt: &eventstore.Receipt{ReceiptKey: eventstore.ReceiptKey{User: 7, Key: fmt.Sprint(key, i)}, Record: 1}}
		}
		for _, res := range store.Together(t.Context(), appends) {
			if res.Err != nil {
				t.Fatal(res.Err)
			}
		}
	}
	want := func(key string, count, kept int) {
		t.Helper()
		for limit := time.Now().Add(time.Minute); ; {
			n := 0
			for i := range count {
				receipt, err := store.Receipt(t.Context(), 7, fmt.Sprint(key, i))
				if err != nil {
					t.Fatal(err)
				}
				if receipt != nil {
					n++
				}
			}
			if n == kept {
				return
			}
			if time.Now().After(limit) {
				t.Fatalf("%d of the %s ones are kept, want %d", n, key, kept)
			}
		}
	}
	hours.Store(100_000) // the clock is wrong
	write("ahead", 300)
	hours.Store(0)
	write("old", 1500)
	hours.Store(23)
	write("young", 3)
	want("ahead", 300, 300)
	want("old", 1500, 1500)
	hours.Store(25)
	want("old", 1500, 0)
	want("young", 3, 3)
	hours.Store(50)
	want("young", 3, 0)
	want("ahead", 300, 0)
}
