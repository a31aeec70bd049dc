package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"daybook/eventstore"
	"daybook/eventstore/sqlite"
	"daybook/eventstore/storetest"
)

func TestRandomSequences(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := 0
	var path string
	var o sqlite.Options
	open := func(rt *rapid.T) eventstore.Verifier {
		s, err := sqlite.Open(t.Context(), path, o)
		if err != nil {
			rt.Fatal(err)
		}
		rt.Cleanup(func() { _ = s.Close() })
		return s
	}
	storetest.RandomSequences(t, func(rt *rapid.T) eventstore.Verifier {
		files++
		path = filepath.Join(dir, fmt.Sprintf("%d.db", files))
		o = sqlite.Options{CacheBytes: rapid.SampledFrom([]int64{1, 2000, 1 << 20}).Draw(rt, "cache")}
		return open(rt)
	}, func(rt *rapid.T, s eventstore.Verifier) eventstore.Verifier {
		if err := s.(*sqlite.Store).Close(); err != nil { //nolint:forcetypeassert // open gave it
			rt.Fatal(err)
		}
		return open(rt)
	})
}
