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
