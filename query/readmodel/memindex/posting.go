package memindex

import (
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
)

// smallPosting is how many ordinals are kept as a plain list; most words and ids
// have fewer, and a bitmap of its own would cost them more.
const smallPosting = 48

// posting is the set of the documents that carry a word or an id. Most words stand in
// one document only.
type posting struct {
	one  uint32 // ordinal + 1 of the only one; 0: none, or more
	more *ordinals
}

// ordinals are several, or some that came down to one or none.
type ordinals struct {
	small []uint32 // sorted; nil once big is used
	big   *roaring.Bitmap
}

// postingOf makes the posting of ordinals in ascending order.
func postingOf(list []uint32) posting {
	switch n := len(list); {
	case n == 0:
		return posting{}
	case n == 1:
		return posting{one: list[0] + 1}
	case n <= smallPosting:
		return posting{more: &ordinals{small: slices.Clone(list)}}
	default:
		return posting{more: &ordinals{big: roaring.BitmapOf(list...)}}
	}
}

func (p *posting) add(o uint32) {
	switch m := p.more; {
	case m == nil && (p.one == 0 || p.one == o+1):
		p.one = o + 1
	case m == nil:
		p.more = &ordinals{small: []uint32{min(o, p.one-1), max(o, p.one-1)}}
		p.one = 0
	case m.big != nil:
		m.big.Add(o)
	default:
		m.addSmall(o)
	}
}

func (m *ordinals) addSmall(o uint32) {
	n := len(m.small)
	if n == 0 || m.small[n-1] < o {
		m.small = append(m.small, o)
	} else if i, found := slices.BinarySearch(m.small, o); !found {
		m.small = slices.Insert(m.small, i, o)
	}
	if len(m.small) > smallPosting {
		m.big = roaring.BitmapOf(m.small...)
		m.small = nil
	}
}

func (p *posting) remove(o uint32) {
	m := p.more
	if m == nil {
		if p.one == o+1 {
			p.one = 0
		}
		return
	}
	if m.big != nil {
		m.big.Remove(o)
		if m.big.GetCardinality() <= smallPosting/2 {
			m.small = m.big.ToArray()
			m.big = nil
		}
		return
	}
	if i, found := slices.BinarySearch(m.small, o); found {
		if m.small = slices.Delete(m.small, i, i+1); len(m.small) < 2 {
			*p = postingOf(m.small)
		}
	}
}

// few gives the ordinals, and whether they are few; else they are in the bitmap. nil is
// the empty set.
func (p *posting) few(buf *[1]uint32) ([]uint32, bool) {
	switch {
	case p == nil || p.more == nil && p.one == 0:
		return nil, true
	case p.more == nil:
		buf[0] = p.one - 1
		return buf[:], true
	default:
		return p.more.small, p.more.big == nil
	}
}

// each calls f for the ordinals.
func (p *posting) each(f func(uint32)) {
	var buf [1]uint32
	small, few := p.few(&buf)
	if !few {
		each(p.more.big, f)
	}
	for _, o := range small {
		f(o)
	}
}

// has tells whether an ordinal is in the set; nil is the empty one.
func (p *posting) has(o uint32) bool {
	var buf [1]uint32
	small, few := p.few(&buf)
	if !few {
		return p.more.big.Contains(o)
	}
	_, found := slices.BinarySearch(small, o)
	return found
}

func (p *posting) empty() bool {
	var buf [1]uint32
	small, few := p.few(&buf)
	return few && len(small) == 0
}

// putInto adds the ordinals to b, which is empty.
func (p *posting) putInto(b bitset) {
	var buf [1]uint32
	small, few := p.few(&buf)
	if !few {
		p.more.big.WriteDenseTo(b)
		return
	}
	for _, o := range small {
		b.put(o)
	}
}

// orInto adds the ordinals to b and gives the steps that it took. scratch is empty
// and as long as b; it is empty again afterwards.
func (p *posting) orInto(b, scratch bitset) (steps int) {
	var buf [1]uint32
	small, few := p.few(&buf)
	if few {
		for _, o := range small {
			b.put(o)
		}
		return 1 + len(small)
	}
	if n := p.more.big.GetCardinality(); n < uint64(len(b)) {
		eachRun(p.more.big, func(run []uint32) {
			for _, o := range run {
				b.put(o)
			}
		})
		return 1 + int(n)
	}
	p.more.big.WriteDenseTo(scratch)
	b.or(scratch)
	clear(scratch)
	return 3 * len(b)
}

// countIn counts the ordinals that are in b.
func (p *posting) countIn(b, scratch bitset) int {
	var buf [1]uint32
	small, few := p.few(&buf)
	n := 0
	switch {
	case few:
		for _, o := range small {
			n += b.bit(o)
		}
	case p.more.big.GetCardinality() < uint64(len(b)):
		eachRun(p.more.big, func(run []uint32) {
			for _, o := range run {
				n += b.bit(o)
			}
		})
	default:
		p.more.big.WriteDenseTo(scratch)
		n = b.countAnd(scratch)
		clear(scratch)
	}
	return n
}

var runs = sync.Pool{New: func() any { return new([256]uint32) }}

// each calls f for the ordinals of a bitmap.
func each(b *roaring.Bitmap, f func(uint32)) {
	eachRun(b, func(run []uint32) {
		for _, o := range run {
			f(o)
		}
	})
}

// eachRun calls f for the ordinals of a bitmap, many at a time.
func eachRun(b *roaring.Bitmap, f func(run []uint32)) {
	buf := runs.Get().(*[256]uint32) // the pool makes nothing else
	it := b.ManyIterator()
	for n := it.NextMany(buf[:]); n > 0; n = it.NextMany(buf[:]) {
		f(buf[:n])
	}
	runs.Put(buf)
}
