package eventstore_test

import (
	"testing"

	"daybook/eventstore"
)

// TestEpochCache: a value is found in the epoch that it was read in, and in no other one.
func TestEpochCache(t *testing.T) {
	t.Parallel()
	first := eventstore.Epoch{History: 1}
	for _, later := range []eventstore.Epoch{{History: 2}, {History: 1, Erasures: 1}} {
		epochCache := eventstore.NewEpochCache(1<<20, func(string, int) int { return 8 })
		has := func(epoch eventstore.Epoch, want bool) {
			t.Helper()
			if _, ok := epochCache.In(epoch).Get("a"); ok != want {
				t.Errorf("in %v: found %t, want %t", epoch, ok, want)
			}
		}
		epochCache.In(first).Set("a", 7)
		has(first, true)
		has(later, false)
		epochCache.In(first).Set("a", 7) // read before the other epoch
		has(first, false)
		has(later, false)
	}
}
