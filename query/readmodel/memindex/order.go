package memindex

import (
	"cmp"
	"slices"

	"daybook/calendar"
)

// order keeps the ordinals that have a value in a field, by value and then id.
// It is cut into chunks, and each chunk knows the set of all ordinals before it:
// so the documents of a range are two set operations and two partial chunks, and
// the n-th of a result is found by counting at chunk starts.
type order[K cmp.Ordered] struct {
	keys   []K            // by ordinal
	ids    *[]calendar.ID // by ordinal
	in     bitset
	n      int
	chunks []*chunk
}

type chunk struct {
	ords   []uint32
	before bitset
}

const (
	smallestChunk = 256
	wantedChunks  = 64
)

// chunkSize is the length at which a chunk is cut in two is twice this.
func (s *order[K]) chunkSize() int { return max(smallestChunk, s.n/wantedChunks) }

func (s *order[K]) compareTo(o uint32, key K, id calendar.ID) int {
	if c := cmp.Compare(s.keys[o], key); c != 0 {
		return c
	}
	return cmp.Compare((*s.ids)[o], id)
}

// seek gives the place of the first ordinal that is not before (key, id).
func (s *order[K]) seek(key K, id calendar.ID) (c, i int) {
	c, _ = slices.BinarySearchFunc(s.chunks, struct{}{}, func(ch *chunk, _ struct{}) int {
		if s.compareTo(ch.ords[len(ch.ords)-1], key, id) < 0 {
			return -1
		}
		return 1
	})
	if c == len(s.chunks) {
		return c, 0
	}
	i, _ = slices.BinarySearchFunc(s.chunks[c].ords, struct{}{}, func(o uint32, _ struct{}) int {
		if s.compareTo(o, key, id) < 0 {
			return -1
		}
		return 1
	})
	return c, i
}

// insert adds an ordinal whose id is known already.
func (s *order[K]) insert(o uint32, key K) {
	if int(o) >= len(s.keys) {
		s.keys = append(s.keys, make([]K, int(o)+1-len(s.keys))...)
	}
	s.keys[o] = key
	s.in = s.in.set(o)
	s.n++
	if len(s.chunks) == 0 {
		s.chunks = append(s.chunks, &chunk{ords: []uint32{o}})
		return
	}
	c, i := s.seek(key, (*s.ids)[o])
	if c == len(s.chunks) {
		c--
		i = len(s.chunks[c].ords)
	}
	ch := s.chunks[c]
	ch.ords = slices.Insert(ch.ords, i, o)
	for _, later := range s.chunks[c+1:] {
		later.before = later.before.set(o)
	}
	if len(ch.ords) > 2*s.chunkSize() {
		s.split(c)
	}
}

func (s *order[K]) split(c int) {
	ch := s.chunks[c]
	half := len(ch.ords) / 2
	next := &chunk{ords: slices.Clone(ch.ords[half:]), before: slices.Clone(ch.before)}
	ch.ords = slices.Clone(ch.ords[:half])
	for _, o := range ch.ords {
		next.before = next.before.set(o)
	}
	s.chunks = slices.Insert(s.chunks, c+1, next)
}

func (s *order[K]) remove(o uint32) {
	c, i := s.seek(s.keys[o], (*s.ids)[o])
	ch := s.chunks[c]
	ch.ords = slices.Delete(ch.ords, i, i+1)
	for _, later := range s.chunks[c+1:] {
		later.before.clear(o)
	}
	if len(ch.ords) == 0 {
		s.chunks = slices.Delete(s.chunks, c, c+1)
	}
	s.in.clear(o)
	s.n--
	var none K
	s.keys[o] = none
}

// build fills an empty order with many ordinals at once.
func (s *order[K]) build(keys []K, ords []uint32) {
	s.keys = keys
	s.n = len(ords)
	slices.SortFunc(ords, func(a, b uint32) int { return s.compareTo(a, keys[b], (*s.ids)[b]) })
	for part := range slices.Chunk(ords, s.chunkSize()) {
		s.chunks = append(s.chunks, &chunk{ords: slices.Clone(part), before: slices.Clone(s.in)})
		for _, o := range part {
			s.in = s.in.set(o)
		}
	}
}

// narrow keeps those of dst that have a value in [lo, hi]; a nil bound is open.
func (s *order[K]) narrow(dst bitset, lo, hi *K) {
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
	dst.andNot(s.chunks[c].before)
	for _, o := range s.chunks[c].ords[:i] {
		dst.clear(o)
	}
}

// keepBefore keeps those of dst that come first as long as in holds.
func (s *order[K]) keepBefore(dst bitset, in func(uint32) bool) {
	step := func(o uint32) int {
		if in(o) {
			return -1
		}
		return 1
	}
	c, _ := slices.BinarySearchFunc(s.chunks, struct{}{}, func(ch *chunk, _ struct{}) int {
		return step(ch.ords[len(ch.ords)-1])
	})
	if c >= len(s.chunks)-1 {
		dst.and(s.in)
	} else {
		dst.and(s.chunks[c+1].before)
	}
	if c == len(s.chunks) {
		return
	}
	ch := s.chunks[c]
	i, _ := slices.BinarySearchFunc(ch.ords, struct{}{}, func(o uint32, _ struct{}) int { return step(o) })
	for _, o := range ch.ords[i:] {
		dst.clear(o)
	}
}

func (s *order[K]) members() bitset { return s.in }

func (s *order[K]) size() int { return s.n }

// each calls f for the ordinals of res in order, from the one at an index among
// them on, until f gives false. count is the number of them.
func (s *order[K]) each(res bitset, count, from int, desc bool, f func(uint32) bool) {
	if from < 0 || from >= count {
		return
	}
	if desc {
		from = count - 1 - from
	}
	// The last chunk before which there are at most from of them.
	lo, hi := 0, len(s.chunks)
	skip := from
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if n := res.countUpTo(s.chunks[mid].before, from); n <= from {
			lo, skip = mid, from-n
		} else {
			hi = mid
		}
	}
	at := -1
	for i, o := range s.chunks[lo].ords {
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
		s.walkDown(res, lo, at, f)
	} else {
		s.walkUp(res, lo, at, f)
	}
}

func (s *order[K]) walkUp(res bitset, c, i int, f func(uint32) bool) {
	for ; c < len(s.chunks); c, i = c+1, 0 {
		for _, o := range s.chunks[c].ords[i:] {
			if res.has(o) && !f(o) {
				return
			}
		}
	}
}

func (s *order[K]) walkDown(res bitset, c, i int, f func(uint32) bool) {
	for {
		ords := s.chunks[c].ords
		for ; i >= 0; i-- {
			if res.has(ords[i]) && !f(ords[i]) {
				return
			}
		}
		if c--; c < 0 {
			return
		}
		i = len(s.chunks[c].ords) - 1
	}
}

// tiesBefore counts the ordinals of res that come before o, in the direction of
// walking, and have the same value.
func (s *order[K]) tiesBefore(res bitset, o uint32, desc bool) int {
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
		s.walkUp(s.in, c, i, count)
	} else {
		s.walkDown(s.in, c, i, count)
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
	each(res bitset, count, from int, desc bool, f func(uint32) bool)
	tiesBefore(res bitset, o uint32, desc bool) int
	compare(a, b uint32, desc bool) int
}
