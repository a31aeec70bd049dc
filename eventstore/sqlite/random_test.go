package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/eventstore/sqlite"
	"daybook/eventstore/storetest"
)

// TestRandomSequences: the store answers as the one in memory does.
func TestRandomSequences(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := 0
	var path string
	var options sqlite.Options
	open := func(rt *rapid.T) eventstore.Store {
		store, err := sqlite.Open(t.Context(), path, options)
		if err != nil {
			rt.Fatal(err)
		}
		rt.Cleanup(func() { _ = store.Close() })
		return store
	}
	storetest.RandomSequences(t, storetest.Opened{
		Fresh: func(rt *rapid.T) eventstore.Store {
			files++
			path = filepath.Join(dir, fmt.Sprintf("%d.db", files))
			options = sqlite.Options{CacheBytes: rapid.SampledFrom([]int{1, 2000, 1 << 20}).Draw(rt, "cache")}
			return open(rt)
		},
		Reopen: func(rt *rapid.T, store eventstore.Store) eventstore.Store {
			if err := store.(*sqlite.Store).Close(); err != nil { //nolint:forcetypeassert // open returned it
				rt.Fatal(err)
			}
			return open(rt)
		},
	}, storetest.Opened{
		Fresh:  func(*rapid.T) eventstore.Store { return memstore.New() },
		Reopen: func(_ *rapid.T, store eventstore.Store) eventstore.Store { return store.(*memstore.Store).Reopen() }, //nolint:forcetypeassert // as above
	})
}
