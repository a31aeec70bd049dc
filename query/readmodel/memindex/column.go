package memindex

import (
	"cmp"
	"slices"

	"daybook/query/readmodel"
)

// column holds the values of a field, of which a document has any number.
type column[V cmp.Ordered] struct {
	Values  []V      // ascending; each is in use
	Starts  []uint32 // by document, where its numbers begin; one more than documents; nil: each has one
	Numbers []uint32 // places in Values

	documents postings // by place in Values
}

// fill makes the column of a field: of documents of other segments, whose columns of
// returns, and of entries, whose values valuesOf returns.
func (c *column[V]) fill(parts []part, of func(*segment) *column[V], valuesOf func(*entry) []V) {
	c.Starts = make([]uint32, 1, len(parts)+1)
	all, single := make([]V, 0, len(parts)), true
	for i := range parts {
		if p := &parts[i]; p.entry != nil {
			all = append(all, valuesOf(p.entry)...)
		} else {
			from := of(p.from)
			for _, number := range from.of(p.at) {
				all = append(all, from.Values[number])
			}
		}
		c.Starts = append(c.Starts, uint32(len(all)))
		single = single && len(all) == i+1
	}
	if single {
		c.Starts = nil
	}
	sorted := slices.Clone(all)
	slices.Sort(sorted)
	c.Values = slices.Clone(slices.Compact(sorted)) // without the room of the others
	c.Numbers = make([]uint32, len(all))
	for i, value := range all {
		at, _ := slices.BinarySearch(c.Values, value)
		c.Numbers[i] = uint32(at)
	}
}

// of returns the places of the values of a document.
func (c *column[V]) of(o uint32) []uint32 {
	if c.Starts == nil {
		return c.Numbers[o : o+1]
	}
	return c.Numbers[c.Starts[o]:c.Starts[o+1]]
}

// first returns the first value of a document, if it has one.
func (c *column[V]) first(o uint32) (value V, has bool) {
	if numbers := c.of(o); len(numbers) > 0 {
		return c.Values[numbers[0]], true
	}
	return value, false
}

// key returns the key of a document in an order.
func (c *column[V]) key(o uint32) (key readmodel.Key) {
	v, has := c.first(o)
	key.Has = has
	switch v := any(v).(type) {
	case int64:
		key.N = v
	case string:
		key.Text = v
	}
	return key
}

// invert finds the documents of each value, of n. Large ranges of values are found fast
// where each document has one value at most, when they are asked for.
func (c *column[V]) invert(n int, ranges bool) {
	single := true
	c.documents = newPostings(n, len(c.Values), func(add func(number, o uint32)) {
		for o := range uint32(n) {
			numbers := c.of(o)
			single = single && len(numbers) <= 1
			for _, number := range numbers {
				add(number, o)
			}
		}
	})
	if ranges && single && n >= prefixFrom {
		c.documents.addPrefixes(n)
	}
}

// narrow keeps the documents that have one of some values.
func (c *column[V]) narrow(docs bitset, values []V) {
	some := scratch(len(docs) * 64)
	for _, value := range values {
		if at, found := slices.BinarySearch(c.Values, value); found {
			c.documents.addTo(some, at, at+1)
		}
	}
	docs.and(some)
	release(some)
}

// narrowBetween keeps the documents of which a value lies within bounds.
func (c *column[V]) narrowBetween(docs bitset, least, greatest V) {
	from, _ := slices.BinarySearch(c.Values, least)
	to, found := slices.BinarySearch(c.Values, greatest)
	if found {
		to++
	}
	to = max(from, to)
	if inRange := int(c.documents.starts[to] - c.documents.starts[from]); c.documents.prefixes == nil && 4*docs.count() < inRange {
		docs.keep(func(o uint32) bool { // few documents: their own values are read faster
			return slices.ContainsFunc(c.of(o), func(at uint32) bool { return from <= int(at) && int(at) < to })
		})
		return
	}
	some := scratch(len(docs) * 64)
	c.documents.addTo(some, from, to)
	docs.and(some)
	release(some)
}

// postings are the documents of numbers.
type postings struct {
	starts   []uint32 // by number, where its documents begin; one more than numbers
	docs     []uint32
	frequent []uint32 // numbers that have a set instead
	sets     []bitset
	prefixes []bitset // the documents before each prefixStep-th place of docs, see addPrefixes
}

const (
	prefixStep = 2048
	prefixFrom = 8192 // documents
)

// denseShare is the share of documents from which on a number has a set.
const denseShare = 32

// inSet marks the place of the set of a frequent number.
const inSet = 1 << 31

// newPostings returns the postings of some documents. It calls each twice, which adds every
// document of a number once, in ascending order.
func newPostings(docs, numbers int, each func(add func(number, o uint32))) (p postings) {
	p.starts = make([]uint32, numbers+1)
	each(func(number, _ uint32) { p.starts[number+1]++ })
	next := make([]uint32, numbers)
	for number := range next {
		n := p.starts[number+1]
		p.starts[number+1] = p.starts[number]
		if docs >= inParallel && n > uint32(docs/denseShare) {
			next[number] = inSet | uint32(len(p.sets))
			p.frequent, p.sets = append(p.frequent, uint32(number)), append(p.sets, newBitset(docs))
		} else {
			next[number] = p.starts[number]
			p.starts[number+1] += n
		}
	}
	p.docs = make([]uint32, p.starts[numbers])
	each(func(number, o uint32) {
		if at := next[number]; at&inSet != 0 {
			p.sets[at&^inSet].set(o)
		} else {
			p.docs[at] = o
			next[number]++
		}
	})
	return p
}

// addPrefixes makes the sets by which large ranges are found fast, where a document has one
// number at most.
func (p *postings) addPrefixes(docs int) {
	set := newBitset(docs)
	for from := 0; from <= len(p.docs); from += prefixStep {
		p.prefixes = append(p.prefixes, slices.Clone(set))
		set.setAll(p.docs[from:min(from+prefixStep, len(p.docs))])
	}
}

// addTo adds the documents of a range of numbers.
func (p *postings) addTo(to bitset, from, until int) {
	start, end := int(p.starts[from]), int(p.starts[until])
	if first, last := start/prefixStep+1, end/prefixStep; p.prefixes != nil && first < last {
		to.orBetween(p.prefixes[first], p.prefixes[last])
		to.setAll(p.docs[last*prefixStep : end])
		end = first * prefixStep
	}
	to.setAll(p.docs[start:end])
	at, _ := slices.BinarySearch(p.frequent, uint32(from))
	for ; at < len(p.frequent) && p.frequent[at] < uint32(until); at++ {
		to.or(p.sets[at])
	}
}
