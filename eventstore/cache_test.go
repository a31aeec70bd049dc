package eventstore_test

import (
	"testing"

	"daybook/eventstore"
)

// TestEpochCache: a value is found in the epoch that it was read in, and in no other one.
func TestEpochCache(t *testing.T) {
	t.Parallel()
	first := eventstore.Epoch{History: 1}
	for name, later := range map[string]eventstore.Epoch{
		"another history": {History: 2}, "an erasure": {History: 1, Erasures: 1}, "both": {History: 2, Erasures: 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			epochCache := eventstore.NewEpochCache(1<<20, func(string, int) int { return 8 })
			has := func(epoch eventstore.Epoch, want bool) {
				t.Helper()
				if v, ok := epochCache.In(epoch).Get("a"); ok != want || ok && v != 7 {
					t.Errorf("in %v: got %d, %t, want %t", epoch, v, ok, want)
				}
			}
			epochCache.In(first).Set("a", 7)
			has(first, true)
			has(later, false)
			has(first, false)
			epochCache.In(first).Set("a", 7) // read before
			has(later, false)
			epochCache.In(later).Set("a", 7)
			has(later, true)
			epochCache.In(eventstore.Epoch{History: 3})
			has(later, false)
		})
	}
}
