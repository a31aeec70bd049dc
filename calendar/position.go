package calendar

import (
	"fmt"
	"strconv"
)

// Position is the place of an entry in the one global order: 1, 2, 3 … without
// a gap. 0 is before the first.
type Position uint64

// String returns the position in decimal digits.
func (position Position) String() string { return strconv.FormatUint(uint64(position), 10) }

// Mark names all that a history holds up to a position: the position, and the hash
// of the commit that the entry there is in, which is chained over all before. Stores
// that give the same Mark for a position have the same entries up to it. The zero
// Mark is that of no entries; every store has it.
type Mark struct {
	Position Position
	Hash     [32]byte
}

// String returns the position and the beginning of the hash, for logs.
func (mark Mark) String() string { return fmt.Sprintf("%d-%x", mark.Position, mark.Hash[:6]) }
