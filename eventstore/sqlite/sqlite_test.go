package sqlite_test

import (
	"path/filepath"
	"sync"
	"testing"

	"daybook/eventstore/sqlite"
	"daybook/eventstore/storetest"
)

// open opens a store in a file and closes it when the test ends.
func open(t testing.TB, path string, o sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

func harness(o sqlite.Options) storetest.Harness {
	var paths sync.Map // by store
	at := func(t testing.TB, path string) storetest.Store {
		t.Helper()
		s := open(t, path, o)
		paths.Store(storetest.Store(s), path)
		return s
	}
	return storetest.Harness{
		Open: func(t testing.TB) storetest.Store {
			t.Helper()
			return at(t, filepath.Join(t.TempDir(), "events.db"))
		},
		Reopen: func(t testing.TB, s storetest.Store) storetest.Store {
			t.Helper()
			if err := s.Close(); err != nil {
				t.Fatalf("Close: %v", err)
			}
			path, _ := paths.Load(s)
			return at(t, path.(string))
		},
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]sqlite.Options{
		"cache of states":    {},
		"no cache of states": {CacheBytes: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, harness(o))
		})
	}
}
