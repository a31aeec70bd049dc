package main

import "testing"

// TestListsAtOnce: the lists of one client leave a processor to others, where there are
// several, and are made on every machine.
func TestListsAtOnce(t *testing.T) {
	t.Parallel()
	for processors, want := range map[int]int{1: 1, 2: 1, 3: 1, 4: 2, 16: 8} {
		if got := listsAtOnce(processors); got != want {
			t.Errorf("on %d processors: got %d, want %d", processors, got, want)
		}
	}
}
