package memindex

import (
	"math/rand/v2"
	"testing"

	"daybook/calendar"
)

// TestRanges: ranges of numbers in a large segment, of which many are found by sets.
func TestRanges(t *testing.T) {
	t.Parallel()
	const n = 3 * prefixFrom
	dice := rand.New(rand.NewPCG(1, 2))
	parts, values := make([]part, n), make([]int64, n)
	for i := range parts {
		values[i] = int64(dice.IntN(n))
		parts[i].entry = &entry{doc: doc{ID: calendar.ID(i)}}
	}
	c := new(column[int64])
	c.fill(parts, nil, func(e *entry) []int64 {
		if e.ID%7 == 0 { // has none
			return nil
		}
		return values[e.ID : e.ID+1]
	})
	documents := c.invert(n, true)
	c.documents = func() postings { return documents }
	for range 200 {
		least, greatest := dice.Int64N(n)-10, dice.Int64N(n)+10
		got := newBitset(n)
		for i := range n {
			got.set(uint32(i))
		}
		c.narrowBetween(got, least, greatest)
		for i, v := range values {
			if want := i%7 != 0 && v >= least && v <= greatest; got.has(uint32(i)) != want {
				t.Fatalf("%d between %d and %d: %v, want %v", v, least, greatest, !want, want)
			}
		}
	}
}
