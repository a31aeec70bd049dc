package sqlite_test

import (
	"path/filepath"
	"sync"
	"testing"

	"daybook/eventstore"
	"daybook/eventstore/sqlite"
	"daybook/eventstore/storetest"
)

// open opens a store in a file and closes it when the test ends.
func open(tb testing.TB, path string, o sqlite.Options) *sqlite.Store {
	tb.Helper()
	s, err := sqlite.Open(tb.Context(), path, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("Close: %v", err)
		}
	})
	return s
}

func harness(o sqlite.Options) storetest.Harness {
	var paths sync.Map // by store
	at := func(tb testing.TB, path string) storetest.Store {
		tb.Helper()
		s := open(tb, path, o)
		paths.Store(storetest.Store(s), path)
		return s
	}
	return storetest.Harness{
		Open: func(tb testing.TB) storetest.Store {
			tb.Helper()
			return at(tb, filepath.Join(tb.TempDir(), "events.db"))
		},
		Reopen: func(tb testing.TB, s storetest.Store) storetest.Store {
			tb.Helper()
			if err := s.Close(); err != nil {
				tb.Fatalf("Close: %v", err)
			}
			path, _ := paths.Load(s)
			return at(tb, path.(string))
		},
		Stray: func(tb testing.TB, s storetest.Store, h eventstore.Held) {
			tb.Helper()
			path, _ := paths.Load(s)
			db := raw(tb, path.(string))
			for _, c := range h.Claims {
				sqlExec(tb, db, "INSERT INTO claims (space, key, record) VALUES (?, ?, ?)", c.Space, c.Key, int64(h.ID))
			}
			for _, n := range h.Names {
				sqlExec(tb, db, "INSERT INTO names (space, key, record) VALUES (?, ?, ?)", n.Space, n.Key, int64(h.ID))
			}
		},
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]sqlite.Options{
		"cache of records":    {},
		"no cache of records": {CacheBytes: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, harness(o))
		})
	}
}
