package main

import "testing"

func TestPercentFor(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		live uint64
		want int
	}{
		{"nothing collected yet", 0, gcPercent},
		{"small", 10 << 20, gcPercentMost},
		{"half of the room", heapRoom / 2, 100},
		{"four fifths of the room", heapRoom / 5 * 4, 25},
		{"nearly all of the room", heapRoom / 10 * 9, gcPercent},
		{"beyond the room", heapRoom * 3, gcPercent},
	} {
		if got := percentFor(tt.live); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
}

// TestQuiet: free memory is given back once after a load, when that has ended; a little
// work does not have everything collected again.
func TestQuiet(t *testing.T) {
	t.Parallel()
	const live = 100 << 20
	var q quiet
	allocated := uint64(0)
	given := func(looks int, each uint64) (n int) {
		for range looks {
			if allocated += each; q.look(allocated, live) {
				n++
			}
		}
		return n
	}
	for _, step := range []struct {
		name  string
		looks int
		each  uint64
		want  int
	}{
		{"load", 100, 50 << 20, 0},
		{"hardly at rest", quietLooks - 1, 1000, 0},
		{"at rest", 1, 1000, 1},
		{"still at rest", 1000, 1000, 0},
		{"a little work", 1, live / 4, 0},
		{"at rest after it", 100, 1000, 0},
		{"more work", 1, live / 4, 0},
		{"at rest after both", 100, 1000, 1},
	} {
		if got := given(step.looks, step.each); got != step.want {
			t.Errorf("%s: given back %d times, want %d", step.name, got, step.want)
		}
	}
}
