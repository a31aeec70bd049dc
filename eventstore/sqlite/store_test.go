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
func open(tb testing.TB, path string, options sqlite.Options) *sqlite.Store {
	tb.Helper()
	store, err := sqlite.Open(tb.Context(), path, options)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := store.Close(); err != nil {
			tb.Errorf("Close: %v", err)
		}
	})
	return store
}

func harness(options sqlite.Options) storetest.Harness {
	var paths sync.Map // by store
	at := func(tb testing.TB, path string) storetest.Store {
		tb.Helper()
		store := open(tb, path, options)
		paths.Store(storetest.Store(store), path)
		return store
	}
	return storetest.Harness{
		Open: func(tb testing.TB) storetest.Store {
			tb.Helper()
			return at(tb, filepath.Join(tb.TempDir(), "events.db"))
		},
		Reopen: func(tb testing.TB, store storetest.Store) storetest.Store {
			tb.Helper()
			if err := store.Close(); err != nil {
				tb.Fatalf("Close: %v", err)
			}
			path, _ := paths.Load(store)
			return at(tb, path.(string))
		},
		Stray: func(tb testing.TB, store storetest.Store, held eventstore.Held) {
			tb.Helper()
			path, _ := paths.Load(store)
			database := raw(tb, path.(string))
			for _, claim := range held.Claims {
				sqlExec(tb, database, "INSERT INTO claims (space, key, record) VALUES (?, ?, ?)", claim.Space, claim.Key, int64(held.ID))
			}
			for _, n := range held.Names {
				sqlExec(tb, database, "INSERT INTO names (space, key, record) VALUES (?, ?, ?)", n.Space, n.Key, int64(held.ID))
			}
		},
	}
}

// TestStore: the store keeps the promises of the port, with a cache that holds a few records.
func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, harness(sqlite.Options{CacheBytes: 2000}))
}
