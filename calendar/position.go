package calendar

import "strconv"

// Position is the place of an entry in the one global order: 1, 2, 3 … without
// a gap. 0 is before the first.
type Position uint64

// String gives the position in decimal digits.
func (p Position) String() string { return strconv.FormatUint(uint64(p), 10) }
