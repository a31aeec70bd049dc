package memindex

import (
	"math"
	"slices"

	"daybook/query/readmodel"
)

// A list in a window of time is a kept result within ranges, in the order of one of the
// fields. It is found by the counts of the result in the chunks of that order: most
// chunks lie within all ranges or outside of one, and only the documents of the others
// are looked at. So it does not take sets as long as the calendar.

// mostMixed is how many chunks may be looked into; where there are more, as with events
// that last for months, sets are faster.
const mostMixed = 24

// bound is a range of a field, both ends included.
type bound struct {
	of     *order[int64]
	lo, hi int64
}

func (k *kindIndex) boundOf(r readmodel.Range) bound {
	b := bound{k.numbers[r.Field], math.MinInt64, math.MaxInt64}
	if r.Min != nil {
		b.lo = *r.Min
	}
	if r.Max != nil {
		b.hi = *r.Max
	}
	return b
}

func (b *bound) admits(o uint32) bool {
	return b.of.in.has(o) && b.of.keys[o] >= b.lo && b.of.keys[o] <= b.hi
}

// span is what the values of a field lie within; it may be wider than they are.
type span struct {
	least, most int64
	lacks       bool // some have no value
}

func noSpan() span { return span{least: math.MaxInt64, most: math.MinInt64} }

func (s *span) take(of *order[int64], o uint32) {
	if !of.in.has(o) {
		s.lacks = true
		return
	}
	s.least, s.most = min(s.least, of.keys[o]), max(s.most, of.keys[o])
}

// ranking is how many documents of a kept result lie in each chunk of an order, and what
// their values of other fields lie within.
type ranking struct {
	by     sorter
	counts []int32
	spans  []*spans
}

// spans are those of the chunks of a ranking, of one field.
type spans struct {
	of *order[int64]
	by []span
}

func spanOf(set bitset, of *order[int64], ords []uint32) span {
	s := noSpan()
	for _, o := range ords {
		if set.has(o) {
			s.take(of, o)
		}
	}
	return s
}

// begin makes the first chunk, for a document that is in no result yet.
func (r *ranking) begin(bitset) {
	r.counts = []int32{0}
	for _, s := range r.spans {
		s.by = []span{noSpan()}
	}
}

// split follows a chunk that was cut in two.
func (r *ranking) split(c int, set bitset, left, right []uint32) {
	r.counts = slices.Insert(r.counts, c+1, countOf(set, right))
	r.counts[c] -= r.counts[c+1]
	for _, s := range r.spans {
		s.by[c] = spanOf(set, s.of, left)
		s.by = slices.Insert(s.by, c+1, spanOf(set, s.of, right))
	}
}

// drop follows a chunk that is empty.
func (r *ranking) drop(c int) {
	r.counts = slices.Delete(r.counts, c, c+1)
	for _, s := range r.spans {
		s.by = slices.Delete(s.by, c, c+1)
	}
}

// leave and join follow a document of the result.
func (r *ranking) leave(o uint32) {
	if r.by.members().has(o) {
		r.counts[r.by.chunkOf(o)]--
	}
}

func (r *ranking) join(o uint32) {
	if !r.by.members().has(o) {
		return
	}
	c := r.by.chunkOf(o)
	r.counts[c]++
	for _, s := range r.spans {
		s.by[c].take(s.of, o)
	}
}

// spansOf gives the spans of a field, which are made once.
func (r *kept) spansOf(ranked *ranking, by, of *order[int64]) []span {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range ranked.spans {
		if s.of == of {
			return s.by
		}
	}
	s := &spans{of, make([]span, len(by.chunks))}
	for c, ords := range by.chunks {
		s.by[c] = spanOf(r.set, of, ords)
	}
	ranked.spans = append(ranked.spans, s)
	return s.by
}

// window is what a kept result has within ranges.
type window struct {
	set    bitset
	by     *order[int64]
	counts []int32 // by chunk, without the ranges
	bounds []bound
	spans  [][]span // by bound; nil: of by itself
	// The chunks that may have some; the first and the last have others too.
	from, to int
	total    int
	mixed    int // chunks that were looked into
}

// window gives what a kept result has within ranges, as a list in the order of a field;
// nil where that is not found by chunks.
func (k *kindIndex) window(r *kept, ranges readmodel.And, field string) *window {
	by := k.numbers[field]
	if by == nil || by.n < len(k.docs)-len(k.free) {
		return nil
	}
	w := &window{set: r.set, by: by, to: len(by.chunks)}
	for _, part := range ranges {
		f, ok := part.(readmodel.Range)
		if !ok {
			return nil
		}
		w.bounds = append(w.bounds, k.boundOf(f))
	}
	ranked := r.ranking(by)
	if ranked == nil {
		return nil
	}
	w.counts, w.spans = ranked.counts, make([][]span, len(w.bounds))
	for i := range w.bounds {
		if b := &w.bounds[i]; b.of == by {
			w.cut(b)
		} else {
			w.spans[i] = r.spansOf(ranked, by, b.of)
		}
	}
	for c := w.from; c < w.to; c++ {
		if w.total += w.count(c); w.mixed > mostMixed {
			return nil
		}
	}
	return w
}

// cut leaves out the chunks outside of a range of the order itself.
func (w *window) cut(b *bound) {
	from, _ := w.by.seek(b.lo, 0) // ids are positive: before all of the value
	w.from = max(w.from, from)
	if b.hi == math.MaxInt64 {
		return
	}
	to, i := w.by.seek(b.hi+1, 0)
	if i > 0 {
		to++
	}
	w.to = min(w.to, to)
}

// count gives how many a chunk has.
func (w *window) count(c int) int {
	if w.counts[c] == 0 {
		return 0
	}
	within := c > w.from && c < w.to-1
	for i := range w.bounds {
		if w.spans[i] == nil {
			continue
		}
		b, s := &w.bounds[i], &w.spans[i][c]
		if s.most < b.lo || s.least > b.hi {
			return 0
		}
		within = within && !s.lacks && s.least >= b.lo && s.most <= b.hi
	}
	if within {
		return int(w.counts[c])
	}
	w.mixed++
	n := 0
	for _, o := range w.by.chunks[c] {
		if w.set.has(o) && w.admits(o) {
			n++
		}
	}
	return n
}

// admits tells whether a document of the result lies within the ranges.
func (w *window) admits(o uint32) bool {
	for i := range w.bounds {
		if !w.bounds[i].admits(o) {
			return false
		}
	}
	return true
}

// find gives the chunk of the ordinal at an index, and how many in that chunk come
// before it.
func (w *window) find(at int) (c, skip int) {
	for c = w.from; ; c++ {
		n := w.count(c)
		if at < n {
			return c, at
		}
		at -= n
	}
}
