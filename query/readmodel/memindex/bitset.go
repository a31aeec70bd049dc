package memindex

import (
	"iter"
	"math/bits"
	"slices"
	"sync"
)

// bitset is a set of ordinals of a segment. All sets of a segment have the same length.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) has(o uint32) bool { return b[o>>6]&(1<<(o&63)) != 0 }
func (b bitset) set(o uint32)      { b[o>>6] |= 1 << (o & 63) }
func (b bitset) clear(o uint32)    { b[o>>6] &^= 1 << (o & 63) }

func (b bitset) setAll(ords []uint32) {
	for _, o := range ords {
		b.set(o)
	}
}

func (b bitset) and(c bitset) {
	c = c[:len(b)]
	for i := range b {
		b[i] &= c[i]
	}
}

func (b bitset) andNot(c bitset) {
	c = c[:len(b)]
	for i := range b {
		b[i] &^= c[i]
	}
}

func (b bitset) or(c bitset) {
	c = c[:len(b)]
	for i := range b {
		b[i] |= c[i]
	}
}

// orBetween adds what is in a set and not in a part of it.
func (b bitset) orBetween(part, all bitset) {
	part, all = part[:len(b)], all[:len(b)]
	for i := range b {
		b[i] |= all[i] &^ part[i]
	}
}

func (b bitset) empty() bool {
	return !slices.ContainsFunc(b, func(w uint64) bool { return w != 0 })
}

func (b bitset) count() (n int) {
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// each yields the ordinals in ascending order.
func (b bitset) each(yield func(o uint32) bool) { b.from(0)(yield) }

// from yields the ordinals from a first one on.
func (b bitset) from(first uint32) iter.Seq[uint32] {
	return func(yield func(o uint32) bool) {
		skip := first & 63
		for i := int(first >> 6); i < len(b); i++ {
			w := b[i] >> skip << skip
			for skip = 0; w != 0; w &= w - 1 {
				if !yield(uint32(i<<6 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}

// keep removes the ordinals for which admit returns false.
func (b bitset) keep(admit func(o uint32) bool) {
	for i, w := range b {
		for ; w != 0; w &= w - 1 {
			if bit := bits.TrailingZeros64(w); !admit(uint32(i<<6 + bit)) {
				b[i] &^= 1 << bit
			}
		}
	}
}

var bitsets sync.Pool // of *bitset

// scratch returns an empty set for n ordinals, to be returned by release.
func scratch(n int) bitset {
	words := (n + 63) / 64
	if b, ok := bitsets.Get().(*bitset); ok && cap(*b) >= words {
		out := (*b)[:words]
		clear(out)
		return out
	}
	return make(bitset, words, words+words/8)
}

func scratchOf(b bitset) bitset {
	out := scratch(len(b) * 64)
	copy(out, b)
	return out
}

func release(b bitset) { bitsets.Put(&b) }
