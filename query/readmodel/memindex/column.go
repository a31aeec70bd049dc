package memindex

import (
	"cmp"
	"math"
	"slices"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// A posting is the set of documents that have a value: a list, or a set where there are
// many.
type posting struct {
	list []uint32
	set  bitset
}

// addTo adds the documents of the posting to a set.
func (p *posting) addTo(to bitset) {
	if p.set != nil {
		to.or(p.set)
		return
	}
	to.setAll(p.list)
}

// terms is the column of a field of which a document has any number of values.
type terms[V cmp.Ordered] struct {
	Values  []V      // ascending; each is in use
	Starts  []uint32 // by document, where its numbers begin; one more than documents
	Numbers []uint32 // places in Values
	Has     bitset

	postings []posting // by number
	order    []uint32  // documents with a value by the first value and id; of sortable fields
}

// newTerms makes a column of n documents of which values returns the values.
func newTerms[V cmp.Ordered](n int, values func(i int) []V) *terms[V] {
	t := &terms[V]{Starts: make([]uint32, 1, n+1), Has: newBitset(n)}
	first := map[V]uint32{}
	for i := range n {
		from := len(t.Numbers)
		for _, v := range values(i) {
			number, known := first[v]
			if !known {
				number = uint32(len(t.Values))
				first[v] = number
				t.Values = append(t.Values, v)
			}
			if !slices.Contains(t.Numbers[from:], number) { // a record may name one twice
				t.Numbers = append(t.Numbers, number)
			}
		}
		if len(t.Numbers) > from {
			t.Has.set(uint32(i))
		}
		t.Starts = append(t.Starts, uint32(len(t.Numbers)))
	}
	sorted := slices.Sorted(slices.Values(t.Values))
	places := make([]uint32, len(sorted)) // by first number
	for place, v := range sorted {
		places[first[v]] = uint32(place)
	}
	t.Values = slices.Clip(sorted)
	for i, number := range t.Numbers {
		t.Numbers[i] = places[number]
	}
	t.Numbers = slices.Clip(t.Numbers)
	return t
}

// denseShare is the share of documents from which on a posting is a set.
const denseShare = 32

// invert makes the postings.
func (t *terms[V]) invert() {
	n := len(t.Starts) - 1
	counts := make([]uint32, len(t.Values)+1)
	for _, number := range t.Numbers {
		counts[number+1]++
	}
	for i := range t.Values {
		counts[i+1] += counts[i]
	}
	all := make([]uint32, len(t.Numbers))
	next := slices.Clone(counts)
	for o := range n {
		for _, number := range t.of(uint32(o)) {
			all[next[number]] = uint32(o)
			next[number]++
		}
	}
	t.postings = make([]posting, len(t.Values))
	for i := range t.postings {
		list := all[counts[i]:counts[i+1]:counts[i+1]]
		if len(list)*denseShare < n || n < 4096 {
			t.postings[i].list = list
			continue
		}
		set := newBitset(n)
		set.setAll(list)
		t.postings[i] = posting{set: set}
	}
}

// of returns the numbers of the values of a document.
func (t *terms[V]) of(o uint32) []uint32 { return t.Numbers[t.Starts[o]:t.Starts[o+1]] }

// valuesOf appends the values of a document.
func (t *terms[V]) valuesOf(to []V, o uint32) []V {
	for _, number := range t.of(o) {
		to = append(to, t.Values[number])
	}
	return to
}

// between returns the range of numbers of the values within bounds; nil is open.
func (t *terms[V]) between(least, greatest *V) (from, to uint32) {
	to = uint32(len(t.Values))
	if least != nil {
		at, _ := slices.BinarySearch(t.Values, *least)
		from = uint32(at)
	}
	if greatest != nil {
		at, found := slices.BinarySearch(t.Values, *greatest)
		if to = uint32(at); found {
			to++
		}
	}
	return from, max(from, to)
}

// narrow keeps the documents that have one of some values.
func (t *terms[V]) narrow(docs bitset, values []V) {
	if len(values) == 1 {
		at, found := slices.BinarySearch(t.Values, values[0])
		switch {
		case !found:
			clear(docs)
			return
		case t.postings[at].set != nil:
			docs.and(t.postings[at].set)
			return
		}
	}
	some := scratch(len(docs) * 64)
	defer release(some)
	for _, v := range values {
		if at, found := slices.BinarySearch(t.Values, v); found {
			t.postings[at].addTo(some)
		}
	}
	docs.and(some)
}

// narrowTo keeps the documents that have a value of which admit returns true.
func (t *terms[V]) narrowTo(docs bitset, admit func(V) bool) {
	some := scratch(len(docs) * 64)
	defer release(some)
	for i := range t.Values {
		if admit(t.Values[i]) {
			t.postings[i].addTo(some)
		}
	}
	docs.and(some)
}

// sort makes the order by the first value.
func (t *terms[V]) sort(docs []doc) {
	t.order = sorted(t.Has, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(t.Numbers[t.Starts[a]], t.Numbers[t.Starts[b]]), cmp.Compare(docs[a].ID, docs[b].ID))
	})
}

func sorted(of bitset, compare func(a, b uint32) int) []uint32 {
	out := make([]uint32, 0, of.count())
	of.each(func(o uint32) bool {
		out = append(out, o)
		return true
	})
	if !slices.IsSortedFunc(out, compare) {
		slices.SortFunc(out, compare)
	}
	return out
}

// numbers is the column of a field of which a document has one number, or none.
type numbers struct {
	Keys []int64 // by document
	Has  bitset

	order []uint32 // documents with a number by it and id
	// prefixes are the documents before each cutStep-th place of the order, in a large
	// segment whose documents are not in this order.
	prefixes []bitset
	natural  bool // the documents are in this order
}

const (
	cutStep = 2048
	cutFrom = 8192 // documents
)

func (c *numbers) sort(docs []doc) {
	c.order = sorted(c.Has, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(c.Keys[a], c.Keys[b]), cmp.Compare(docs[a].ID, docs[b].ID))
	})
	if c.natural = c.ascending(); c.natural || len(docs) < cutFrom {
		return
	}
	set := newBitset(len(docs))
	for i, o := range c.order {
		if i%cutStep == 0 {
			c.prefixes = append(c.prefixes, slices.Clone(set))
		}
		set.set(o)
	}
}

// ascending reports whether the numbers ascend with the ordinals.
func (c *numbers) ascending() bool {
	last := int64(math.MinInt64)
	ascends := true
	c.Has.each(func(o uint32) bool {
		ascends = c.Keys[o] >= last
		last = c.Keys[o]
		return ascends
	})
	return ascends
}

// wall returns the number of a document as a wall clock.
func (c *numbers) wall(o uint32) calendar.Wall {
	if !c.Has.has(o) {
		return calendar.NoWall
	}
	return calendar.Wall(c.Keys[o])
}

// seek returns the place in the order of the first document whose number is not below n.
func (c *numbers) seek(n int64) int {
	at, _ := slices.BinarySearchFunc(c.order, n, func(o uint32, n int64) int {
		if c.Keys[o] < n {
			return -1
		}
		return 1
	})
	return at
}

// narrow keeps the documents whose number lies within bounds; nil is open.
func (c *numbers) narrow(docs bitset, least, greatest *int64) {
	from, to := 0, len(c.order)
	if least != nil {
		from = c.seek(*least)
	}
	if greatest != nil && *greatest < math.MaxInt64 {
		to = c.seek(*greatest + 1)
	}
	switch {
	case from >= to:
		clear(docs)
		return
	case from == 0 && to == len(c.order):
		docs.and(c.Has)
		return
	case c.natural:
		c.narrowNaturally(docs, from, to)
		return
	case c.prefixes == nil || to-from < cutStep:
		some := scratch(len(docs) * 64)
		defer release(some)
		some.setAll(c.order[from:to])
		docs.and(some)
		return
	}
	if to == len(c.order) {
		docs.and(c.Has)
	} else {
		before := c.before(to)
		docs.and(before)
		release(before)
	}
	if from > 0 {
		before := c.before(from)
		docs.andNot(before)
		release(before)
	}
}

func (c *numbers) narrowNaturally(docs bitset, from, to int) {
	first, last := c.order[from], c.order[from]
	// Equal numbers stand by id in the order, and in any way among the documents.
	for i := from; i < to && c.Keys[c.order[i]] == c.Keys[c.order[from]]; i++ {
		first = min(first, c.order[i])
	}
	for i := to - 1; i >= from && c.Keys[c.order[i]] == c.Keys[c.order[to-1]]; i-- {
		last = max(last, c.order[i])
	}
	some := scratch(len(docs) * 64)
	defer release(some)
	some.setRange(first, last+1)
	docs.and(some)
	docs.and(c.Has)
}

// before returns the documents before a place of the order, to be released.
func (c *numbers) before(place int) bitset {
	cut := min(place/cutStep, len(c.prefixes)-1)
	out := scratchOf(c.prefixes[cut])
	out.setAll(c.order[cut*cutStep : place])
	return out
}

// computed returns the values of a field that follow from others of the document.
func (s *segment) computed(f *readmodel.Field) *terms[int64] {
	lazy := s.lazy[f.Name]
	lazy.once.Do(func() {
		start, end := s.Numbers[readmodel.FieldStart], s.Numbers[readmodel.FieldEnd]
		utcStart, utcEnd, allDay := s.Numbers[readmodel.FieldUTCStart], s.Numbers[readmodel.FieldUTCEnd], s.Bools[readmodel.FieldAllDay]
		var value [1]int64
		lazy.terms = newTerms(len(s.Docs), func(i int) []int64 {
			o := uint32(i)
			n, ok := f.Compute(readmodel.Times{
				Start: start.wall(o), End: end.wall(o), UTCStart: utcStart.wall(o), UTCEnd: utcEnd.wall(o), AllDay: allDay.has(o),
			})
			if !ok {
				return nil
			}
			value[0] = n
			return value[:]
		})
		lazy.terms.invert()
	})
	return lazy.terms
}
