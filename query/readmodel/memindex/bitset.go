package memindex

import "math/bits"

// bitset is a set of ordinals. A set may be shorter than another: what lies
// behind its end is not in it.
type bitset []uint64

func wordsFor(n int) int { return (n + 63) / 64 }

func (b bitset) has(o uint32) bool {
	w := int(o >> 6)
	return w < len(b) && b[w]&(1<<(o&63)) != 0
}

// bit gives 1 for an ordinal that is in the set, else 0.
func (b bitset) bit(o uint32) int {
	if w := int(o >> 6); w < len(b) {
		return int(b[w] >> (o & 63) & 1)
	}
	return 0
}

// set adds an ordinal and gives the set, which may have grown.
func (b bitset) set(o uint32) bitset {
	w := int(o >> 6)
	if w >= len(b) {
		b = append(b, make(bitset, w+1-len(b))...)
	}
	b[w] |= 1 << (o & 63)
	return b
}

// put adds an ordinal that lies within the length.
func (b bitset) put(o uint32) { b[o>>6] |= 1 << (o & 63) }

func (b bitset) clear(o uint32) {
	if w := int(o >> 6); w < len(b) {
		b[w] &^= 1 << (o & 63)
	}
}

func (b bitset) clearAll(ords []uint32) {
	for _, o := range ords {
		b.clear(o)
	}
}

// copyFrom makes b equal to c within the length of b.
func (b bitset) copyFrom(c bitset) {
	n := copy(b, c)
	clear(b[n:])
}

func (b bitset) and(c bitset) {
	n := min(len(b), len(c))
	x, y := b[:n], c[:n]
	for i := range x {
		x[i] &= y[i]
	}
	clear(b[n:])
}

func (b bitset) andNot(c bitset) {
	n := min(len(b), len(c))
	x, y := b[:n], c[:n]
	for i := range x {
		x[i] &^= y[i]
	}
}

func (b bitset) or(c bitset) {
	n := min(len(b), len(c))
	x, y := b[:n], c[:n]
	for i := range x {
		x[i] |= y[i]
	}
}

func (b bitset) count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

func (b bitset) countAnd(c bitset) int {
	n := min(len(b), len(c))
	x, y := b[:n], c[:n]
	sum := 0
	for i := range x {
		sum += bits.OnesCount64(x[i] & y[i])
	}
	return sum
}

// countUpTo counts the ordinals that are in c too; beyond limit it stops counting.
func (b bitset) countUpTo(c bitset, limit int) int {
	n := min(len(b), len(c))
	x, y := b[:n], c[:n]
	sum := 0
	for i := range x {
		if w := x[i] & y[i]; w != 0 {
			if sum += bits.OnesCount64(w); sum > limit {
				break
			}
		}
	}
	return sum
}

// each calls f for the ordinals in ascending order until it gives false.
func (b bitset) each(f func(uint32) bool) {
	for i, w := range b {
		for w != 0 {
			if !f(uint32(i<<6 + bits.TrailingZeros64(w))) {
				return
			}
			w &= w - 1
		}
	}
}
