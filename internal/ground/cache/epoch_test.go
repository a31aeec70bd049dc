package cache_test

import (
	"testing"

	"daybook/internal/ground/cache"
)

type epoch int

func (epoch epoch) After(other epoch) bool { return epoch > other }

// TestByEpoch: a value is found in the epoch that it was made in, and in no other one.
func TestByEpoch(t *testing.T) {
	t.Parallel()
	byEpoch := cache.NewByEpoch[epoch](1<<20, func(string, int) int { return 8 })
	has := func(epoch epoch, want bool) {
		t.Helper()
		if _, ok := byEpoch.In(epoch).Get("a"); ok != want {
			t.Errorf("in %v: found %t, want %t", epoch, ok, want)
		}
	}
	byEpoch.In(1).Set("a", 7)
	has(1, true)
	has(2, false)
	byEpoch.In(1).Set("a", 7) // made before the other epoch
	has(1, false)
	has(2, false)
}
