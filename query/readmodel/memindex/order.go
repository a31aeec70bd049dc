package memindex

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"daybook/calendar"
)

// order keeps the ordinals that have a value in a field, by value and then id, cut
// into chunks. At some chunks the set of all ordinals before them is kept: so the
// documents of a range are two set operations and two walks to the next cut, and the
// n-th of a result is found by counting at cuts. A result that is kept knows how many
// of it each chunk has.
type order[K cmp.Ordered] struct {
	keys   []K            // by ordinal
	ids    *[]calendar.ID // by ordinal
	kept   *keptResults
	in     bitset
	n      int
	chunks [][]uint32
	cuts   []cut // ascending; none at the first chunk

	// Most orders are never asked for, and cuts take as much as the keys: the first
	// reader makes them.
	cutting sync.Mutex
	isCut   atomic.Bool
}

// cut is the set of the ordinals before a chunk.
type cut struct {
	chunk  int
	before bitset
}

const (
	chunkSize  = 512 // a chunk is cut in two at twice this
	wantedCuts = 64
)

// cutSize is how many ordinals lie between two cuts; at twice this there is another
// one. A set takes a bit of each ordinal, so the number of cuts must not grow.
func (s *order[K]) cutSize() int { return max(chunkSize, s.n/wantedCuts) }

func (s *order[K]) compareTo(o uint32, key K, id calendar.ID) int {
	if c := cmp.Compare(s.keys[o], key); c != 0 {
		return c
	}
	return cmp.Compare((*s.ids)[o], id)
}

// seek gives the place of the first ordinal that is not before (key, id).
func (s *order[K]) seek(key K, id calendar.ID) (c, i int) {
	c, _ = slices.BinarySearchFunc(s.chunks, struct{}{}, func(ords []uint32, _ struct{}) int {
		if s.compareTo(ords[len(ords)-1], key, id) < 0 {
			return -1
		}
		return 1
	})
	if c == len(s.chunks) {
		return c, 0
	}
	i, _ = slices.BinarySearchFunc(s.chunks[c], struct{}{}, func(o uint32, _ struct{}) int {
		if s.compareTo(o, key, id) < 0 {
			return -1
		}
		return 1
	})
	return c, i
}

// insert adds an ordinal whose id is known already; it is in no kept result.
func (s *order[K]) insert(o uint32, key K) {
	if int(o) >= len(s.keys) {
		s.keys = append(s.keys, make([]K, int(o)+1-len(s.keys))...)
	}
	s.keys[o] = key
	s.in = s.in.set(o)
	s.n++
	if len(s.chunks) == 0 {
		s.chunks = [][]uint32{{o}}
		s.rankings((*ranking).begin)
		return
	}
	c := len(s.chunks) - 1
	i := len(s.chunks[c])
	if s.compareTo(s.chunks[c][i-1], key, (*s.ids)[o]) > 0 { // else it is the last one, as new ids and dates are
		c, i = s.seek(key, (*s.ids)[o])
	}
	s.chunks[c] = slices.Insert(s.chunks[c], i, o)
	for i := s.nextCut(c); i < len(s.cuts); i++ {
		s.cuts[i].before = s.cuts[i].before.set(o)
	}
	if len(s.chunks[c]) >= 2*chunkSize {
		s.split(c)
	}
}

// nextCut gives the place of the first cut behind a chunk.
func (s *order[K]) nextCut(chunk int) int {
	i, _ := slices.BinarySearchFunc(s.cuts, chunk, func(at cut, chunk int) int { return cmp.Compare(at.chunk, chunk+1) })
	return i
}

func (s *order[K]) split(c int) {
	ords := s.chunks[c]
	half := len(ords) / 2
	s.chunks = slices.Insert(s.chunks, c+1, slices.Clone(ords[half:]))
	s.chunks[c] = slices.Clone(ords[:half])
	s.rankings(func(r *ranking, set bitset) { r.split(c, set, s.chunks[c], s.chunks[c+1]) })
	next := s.nextCut(c)
	for i := next; i < len(s.cuts); i++ {
		s.cuts[i].chunk++
	}
	if s.isCut.Load() {
		s.cut(next)
	}
}

// useCuts makes the cuts when there are none yet. Who calls it holds the lock of the
// Index for reading.
func (s *order[K]) useCuts() {
	if s.isCut.Load() {
		return
	}
	s.cutting.Lock()
	defer s.cutting.Unlock()
	if s.isCut.Load() {
		return
	}
	before, n := make(bitset, wordsFor(len(s.keys))), 0
	for c, ords := range s.chunks {
		if n >= s.cutSize() {
			s.cuts = append(s.cuts, cut{c, slices.Clone(before)})
			n = 0
		}
		for _, o := range ords {
			before.put(o)
		}
		n += len(ords)
	}
	s.isCut.Store(true)
}

// cut makes a cut before the next one when there are too many ordinals up to that.
func (s *order[K]) cut(next int) {
	from, to := 0, len(s.chunks)
	var before bitset
	if next > 0 {
		from, before = s.cuts[next-1].chunk, s.cuts[next-1].before
	}
	if next < len(s.cuts) {
		to = s.cuts[next].chunk
	}
	n := 0
	for _, ords := range s.chunks[from:to] {
		n += len(ords)
	}
	if to-from < 2 || n < 2*s.cutSize() {
		return
	}
	at := cut{(from + to) / 2, slices.Clone(before)}
	for _, ords := range s.chunks[from:at.chunk] {
		for _, o := range ords {
			at.before = at.before.set(o)
		}
	}
	s.cuts = slices.Insert(s.cuts, next, at)
}

// remove takes out an ordinal; it is in no kept result.
func (s *order[K]) remove(o uint32) {
	c, i := s.seek(s.keys[o], (*s.ids)[o])
	s.chunks[c] = slices.Delete(s.chunks[c], i, i+1)
	next := s.nextCut(c)
	for i := next; i < len(s.cuts); i++ {
		s.cuts[i].before.clear(o)
	}
	if len(s.chunks[c]) == 0 {
		s.chunks = slices.Delete(s.chunks, c, c+1)
		s.rankings(func(r *ranking, _ bitset) { r.drop(c) })
		for i := next; i < len(s.cuts); i++ {
			s.cuts[i].chunk--
		}
		s.cuts = slices.CompactFunc(s.cuts, func(a, b cut) bool { return a.chunk == b.chunk })
		if n := len(s.cuts); n > 0 && s.cuts[n-1].chunk == len(s.chunks) {
			s.cuts = s.cuts[:n-1]
		}
		if len(s.cuts) > 0 && s.cuts[0].chunk == 0 {
			s.cuts = s.cuts[1:]
		}
	}
	s.in.clear(o)
	s.n--
	var none K
	s.keys[o] = none
}

// build fills an empty order with ordinals in order.
func (s *order[K]) build(keys []K, ords []uint32) {
	s.keys = keys
	s.n = len(ords)
	s.in = make(bitset, wordsFor(len(keys)))
	for part := range slices.Chunk(ords, chunkSize) {
		s.chunks = append(s.chunks, slices.Clone(part))
		for _, o := range part {
			s.in.put(o)
		}
	}
}

// rankings calls f for the rankings by this order, with the sets that they count.
func (s *order[K]) rankings(f func(*ranking, bitset)) {
	for _, r := range s.kept.all {
		for _, ranked := range r.ranked {
			if ranked.by == sorter(s) {
				f(ranked, r.set)
			}
		}
	}
}

// rank counts a set by chunks.
func (s *order[K]) rank(set bitset) []int32 {
	counts := make([]int32, len(s.chunks))
	for c, ords := range s.chunks {
		counts[c] = countOf(set, ords)
	}
	return counts
}

// chunkOf gives the chunk of an ordinal.
func (s *order[K]) chunkOf(o uint32) int {
	c, _ := s.seek(s.keys[o], (*s.ids)[o])
	return c
}

func countOf(set bitset, ords []uint32) int32 {
	n := 0
	for _, o := range ords {
		n += set.bit(o)
	}
	return int32(n)
}

// within tells whether all values lie in [lo, hi]; a nil bound is open.
func (s *order[K]) within(lo, hi *K) bool {
	if s.n == 0 {
		return true
	}
	last := s.chunks[len(s.chunks)-1]
	return (lo == nil || s.keys[s.chunks[0][0]] >= *lo) && (hi == nil || s.keys[last[len(last)-1]] <= *hi)
}

// narrow keeps those of dst that have a value in [lo, hi]; a nil bound is open.
func (s *order[K]) narrow(dst bitset, lo, hi *K) {
	s.useCuts()
	// Ids are positive, so (key, 0) is before all of the key. The end of the range
	// is the first place behind it.
	if hi == nil {
		dst.and(s.in)
	} else {
		s.keepBefore(dst, func(o uint32) bool { return s.keys[o] <= *hi })
	}
	if lo == nil {
		return
	}
	c, i := s.seek(*lo, 0)
	if c == len(s.chunks) {
		clear(dst)
		return
	}
	from := 0
	if next := s.nextCut(c); next > 0 {
		from = s.cuts[next-1].chunk
		dst.andNot(s.cuts[next-1].before)
	}
	for _, ords := range s.chunks[from:c] {
		dst.clearAll(ords)
	}
	dst.clearAll(s.chunks[c][:i])
}

// keepBefore keeps those of dst that come first as long as in holds.
func (s *order[K]) keepBefore(dst bitset, in func(uint32) bool) {
	step := func(o uint32) int {
		if in(o) {
			return -1
		}
		return 1
	}
	c, _ := slices.BinarySearchFunc(s.chunks, struct{}{}, func(ords []uint32, _ struct{}) int {
		return step(ords[len(ords)-1])
	})
	to := len(s.chunks)
	if next := s.nextCut(c); next < len(s.cuts) {
		to = s.cuts[next].chunk
		dst.and(s.cuts[next].before)
	} else {
		dst.and(s.in)
	}
	if c == len(s.chunks) {
		return
	}
	i, _ := slices.BinarySearchFunc(s.chunks[c], struct{}{}, func(o uint32, _ struct{}) int { return step(o) })
	dst.clearAll(s.chunks[c][i:])
	for _, ords := range s.chunks[c+1 : to] {
		dst.clearAll(ords)
	}
}

func (s *order[K]) members() bitset { return s.in }

func (s *order[K]) size() int { return s.n }

// each calls f for the ordinals of res in order, from the one at an index among
// them on, until f gives false. count is the number of them.
func (s *order[K]) each(res result, count, from int, desc bool, f func(uint32) bool) {
	if from < 0 || from >= count {
		return
	}
	if desc {
		from = count - 1 - from
	}
	c, skip := s.find(res, from)
	at := -1
	for i, o := range s.chunks[c] {
		if !res.has(o) {
			continue
		}
		if skip == 0 {
			at = i
			break
		}
		skip--
	}
	if desc {
		s.walkDown(res, c, at, f)
	} else {
		s.walkUp(res, c, at, f)
	}
}

// find gives the chunk of the ordinal at an index of res, and how many of res in that
// chunk come before it.
func (s *order[K]) find(res result, from int) (c, skip int) {
	skip = from
	if res.window != nil {
		return res.window.find(from)
	}
	if res.of != nil {
		if ranked := res.of.ranking(s); ranked != nil {
			for skip >= int(ranked.counts[c]) {
				skip -= int(ranked.counts[c])
				c++
			}
			return c, skip
		}
	}
	// The last cut before which there are at most from of them.
	s.useCuts()
	c = res.begin
	lo, hi := s.nextCut(c)-1, len(s.cuts)
	first := lo
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if n := res.countUpTo(s.cuts[mid].before, from); n <= from {
			lo, skip = mid, from-n
		} else {
			hi = mid
		}
	}
	if lo > first {
		c = s.cuts[lo].chunk
	}
	for {
		n := int(countOf(res.bitset, s.chunks[c]))
		if skip < n {
			return c, skip
		}
		skip -= n
		c++
	}
}

func (s *order[K]) walkUp(res result, c, i int, f func(uint32) bool) {
	for ; c < len(s.chunks); c, i = c+1, 0 {
		for _, o := range s.chunks[c][i:] {
			if res.has(o) && !f(o) {
				return
			}
		}
	}
}

func (s *order[K]) walkDown(res result, c, i int, f func(uint32) bool) {
	for {
		ords := s.chunks[c]
		for ; i >= 0; i-- {
			if res.has(ords[i]) && !f(ords[i]) {
				return
			}
		}
		if c--; c < 0 {
			return
		}
		i = len(s.chunks[c]) - 1
	}
}

// tiesBefore counts the ordinals of res that come before o, in the direction of
// walking, and have the same value.
func (s *order[K]) tiesBefore(res result, o uint32, desc bool) int {
	n := 0
	count := func(p uint32) bool {
		if s.keys[p] != s.keys[o] {
			return false
		}
		if p != o && res.has(p) {
			n++
		}
		return true
	}
	c, i := s.seek(s.keys[o], (*s.ids)[o])
	if desc {
		s.walkUp(result{bitset: s.in}, c, i, count)
	} else {
		s.walkDown(result{bitset: s.in}, c, i, count)
	}
	return n
}

// compare orders two ordinals by their values only; missing ones come last.
func (s *order[K]) compare(a, b uint32, desc bool) int {
	hasA, hasB := s.in.has(a), s.in.has(b)
	switch {
	case !hasA && !hasB:
		return 0
	case !hasA:
		return 1
	case !hasB:
		return -1
	case desc:
		return cmp.Compare(s.keys[b], s.keys[a])
	default:
		return cmp.Compare(s.keys[a], s.keys[b])
	}
}

// sorter is an order of any value.
type sorter interface {
	members() bitset
	size() int // of members
	each(res result, count, from int, desc bool, f func(uint32) bool)
	tiesBefore(res result, o uint32, desc bool) int
	compare(a, b uint32, desc bool) int
	rank(set bitset) []int32
	chunkOf(o uint32) int
}
