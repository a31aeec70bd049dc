package memindex

import (
	"iter"
	"math/bits"
	"slices"
	"sync"
	"unsafe"
)

// bitset is a set of ordinals of a segment. All sets of a segment have the same length.
type bitset []uint64

func newBitset(count int) bitset { return make(bitset, (count+63)/64) }

func (bitset bitset) has(ordinal uint32) bool { return bitset[ordinal>>6]&(1<<(ordinal&63)) != 0 }
func (bitset bitset) set(ordinal uint32)      { bitset[ordinal>>6] |= 1 << (ordinal & 63) }
func (bitset bitset) clear(ordinal uint32)    { bitset[ordinal>>6] &^= 1 << (ordinal & 63) }

func (bitset bitset) setAll(ords []uint32) {
	for _, ordinal := range ords {
		bitset.set(ordinal)
	}
}

func (bitset bitset) and(c bitset) {
	c = c[:len(bitset)]
	for i := range bitset {
		bitset[i] &= c[i]
	}
}

func (bitset bitset) andNot(c bitset) {
	c = c[:len(bitset)]
	for i := range bitset {
		bitset[i] &^= c[i]
	}
}

func (bitset bitset) or(c bitset) {
	c = c[:len(bitset)]
	for i := range bitset {
		bitset[i] |= c[i]
	}
}

// orBetween adds what is in a set and not in a part of it.
func (bitset bitset) orBetween(part, all bitset) {
	part, all = part[:len(bitset)], all[:len(bitset)]
	for i := range bitset {
		bitset[i] |= all[i] &^ part[i]
	}
}

func (bitset bitset) empty() bool {
	return !slices.ContainsFunc(bitset, func(word uint64) bool { return word != 0 })
}

func (bitset bitset) count() (count int) {
	for _, word := range bitset {
		count += bits.OnesCount64(word)
	}
	return count
}

// each yields the ordinals in ascending order.
func (bitset bitset) each(yield func(ordinal uint32) bool) { bitset.from(0)(yield) }

// from yields the ordinals from a first one on.
func (bitset bitset) from(first uint32) iter.Seq[uint32] {
	return func(yield func(ordinal uint32) bool) {
		skip := first & 63
		for i := int(first >> 6); i < len(bitset); i++ {
			word := bitset[i] >> skip << skip
			for skip = 0; word != 0; word &= word - 1 {
				if !yield(uint32(i<<6 + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}

// keep removes the ordinals for which admit returns false.
func (bitset bitset) keep(admit func(ordinal uint32) bool) {
	for i, word := range bitset {
		for ; word != 0; word &= word - 1 {
			if bit := bits.TrailingZeros64(word); !admit(uint32(i<<6 + bit)) {
				bitset[i] &^= 1 << bit
			}
		}
	}
}

// bitsets are those of which the length is told by i bits, by the pointer to their first word:
// that one takes no memory of its own.
var bitsets [64]sync.Pool

// scratch returns an empty set for count ordinals, to be returned by release.
func scratch(count int) bitset {
	words := (count + 63) / 64
	size := bits.Len(uint(words))
	if first, ok := bitsets[size].Get().(*uint64); ok {
		result := unsafe.Slice(first, words) //nolint:gosec // all of this size have room for 1<<size words
		clear(result)
		return result
	}
	return make(bitset, words, 1<<size)
}

func scratchOf(bitset bitset) bitset {
	result := scratch(len(bitset) * 64)
	copy(result, bitset)
	return result
}

func release(bitset bitset) {
	bitsets[bits.Len(uint(len(bitset)))].Put(unsafe.SliceData(bitset)) //nolint:gosec // see scratch
}
