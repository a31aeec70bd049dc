package memindex

import (
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
)

// smallPosting is how many ordinals are kept as a plain list; most words and ids
// have fewer, and a bitmap of its own would cost them more.
const smallPosting = 48

// posting is the set of the documents that carry a word or an id.
type posting struct {
	small []uint32 // sorted; nil once big is used
	big   *roaring.Bitmap
}

func (p *posting) add(o uint32) {
	if p.big != nil {
		p.big.Add(o)
		return
	}
	n := len(p.small)
	if n == 0 || p.small[n-1] < o {
		p.small = append(p.small, o)
	} else if i, found := slices.BinarySearch(p.small, o); !found {
		p.small = slices.Insert(p.small, i, o)
	}
	if len(p.small) > smallPosting {
		p.big = roaring.BitmapOf(p.small...)
		p.small = nil
	}
}

func (p *posting) remove(o uint32) {
	if p.big != nil {
		p.big.Remove(o)
		if p.big.GetCardinality() <= smallPosting/2 {
			p.small = p.big.ToArray()
			p.big = nil
		}
		return
	}
	if i, found := slices.BinarySearch(p.small, o); found {
		if p.small = slices.Delete(p.small, i, i+1); len(p.small) == 0 {
			p.small = nil
		}
	}
}

// has tells whether an ordinal is in the set; nil is the empty one.
func (p *posting) has(o uint32) bool {
	switch {
	case p == nil:
		return false
	case p.big != nil:
		return p.big.Contains(o)
	}
	_, found := slices.BinarySearch(p.small, o)
	return found
}

func (p *posting) len() int {
	if p.big != nil {
		return int(p.big.GetCardinality())
	}
	return len(p.small)
}

// putInto adds the ordinals to b, which is empty.
func (p *posting) putInto(b bitset) {
	if p.big != nil {
		p.big.WriteDenseTo(b)
		return
	}
	for _, o := range p.small {
		b.put(o)
	}
}

// orInto adds the ordinals to b and gives the steps that it took. scratch is empty
// and as long as b; it is empty again afterwards.
func (p *posting) orInto(b, scratch bitset) (steps int) {
	if p.big == nil {
		for _, o := range p.small {
			b.put(o)
		}
		return 1 + len(p.small)
	}
	if n := p.big.GetCardinality(); n < uint64(len(b))/4 {
		each(p.big, b.put)
		return 1 + int(n)
	}
	p.big.WriteDenseTo(scratch)
	b.or(scratch)
	clear(scratch)
	return 3 * len(b)
}

// countIn counts the ordinals that are in b.
func (p *posting) countIn(b, scratch bitset) int {
	n := 0
	switch {
	case p.big == nil:
		for _, o := range p.small {
			if b.has(o) {
				n++
			}
		}
	case p.big.GetCardinality() < uint64(len(b)):
		each(p.big, func(o uint32) {
			if b.has(o) {
				n++
			}
		})
	default:
		p.big.WriteDenseTo(scratch)
		n = b.countAnd(scratch)
		clear(scratch)
	}
	return n
}

var runs = sync.Pool{New: func() any { return new([256]uint32) }}

// each calls f for the ordinals of a bitmap.
func each(b *roaring.Bitmap, f func(uint32)) {
	buf := runs.Get().(*[256]uint32) // the pool makes nothing else
	it := b.ManyIterator()
	for n := it.NextMany(buf[:]); n > 0; n = it.NextMany(buf[:]) {
		for _, o := range buf[:n] {
			f(o)
		}
	}
	runs.Put(buf)
}
