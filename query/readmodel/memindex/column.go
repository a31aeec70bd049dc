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

	documents func() postings // by place in Values, see segment.finish
}

// fill makes the column of a field: of documents of other segments, whose columns of
// returns, and of entries, whose values valuesOf returns.
func (column *column[V]) fill(parts []part, of func(*segment) *column[V], valuesOf func(*entry) []V) {
	column.Starts = make([]uint32, 1, len(parts)+1)
	all, single := make([]V, 0, len(parts)), true
	for i := range parts {
		if part := &parts[i]; part.entry != nil {
			all = append(all, valuesOf(part.entry)...)
		} else {
			from := of(part.from)
			for _, number := range from.of(part.at) {
				all = append(all, from.Values[number])
			}
		}
		column.Starts = append(column.Starts, uint32(len(all)))
		single = single && len(all) == i+1
	}
	if single {
		column.Starts = nil
	}
	sorted := slices.Clone(all)
	slices.Sort(sorted)
	column.Values = slices.Clone(slices.Compact(sorted)) // without the room of the others
	column.Numbers = make([]uint32, len(all))
	for i, value := range all {
		index, _ := slices.BinarySearch(column.Values, value)
		column.Numbers[i] = uint32(index)
	}
}

// of returns the places of the values of a document.
func (column *column[V]) of(ordinal uint32) []uint32 {
	if column.Starts == nil {
		return column.Numbers[ordinal : ordinal+1]
	}
	return column.Numbers[column.Starts[ordinal]:column.Starts[ordinal+1]]
}

// first returns the first value of a document, if it has one.
func (column *column[V]) first(ordinal uint32) (value V, has bool) {
	if numbers := column.of(ordinal); len(numbers) > 0 {
		return column.Values[numbers[0]], true
	}
	return value, false
}

// key returns the key of a document in an order.
func (column *column[V]) key(ordinal uint32) (key readmodel.Key) {
	v, has := column.first(ordinal)
	key.Has = has
	switch v := any(v).(type) {
	case int64:
		key.N = v
	case string:
		key.Text = v
	}
	return key
}

// invert finds the documents of each value, of count. Large ranges of values are found fast
// where each document has one value at most, when they are asked for.
func (column *column[V]) invert(count int, ranges bool) postings {
	single := true
	documents := newPostings(count, len(column.Values), func(add func(number, ordinal uint32)) {
		for ordinal := range uint32(count) {
			numbers := column.of(ordinal)
			single = single && len(numbers) <= 1
			for _, number := range numbers {
				add(number, ordinal)
			}
		}
	})
	if ranges && single && count >= prefixFrom {
		documents.addPrefixes(count)
	}
	return documents
}

// narrow keeps the documents that have one of some values.
func (column *column[V]) narrow(docs bitset, values []V) {
	subset := scratch(len(docs) * 64)
	for _, value := range values {
		if index, found := slices.BinarySearch(column.Values, value); found {
			column.documents().addTo(subset, index, index+1)
		}
	}
	docs.and(subset)
	release(subset)
}

// narrowBetween keeps the documents of which a value lies within bounds.
func (column *column[V]) narrowBetween(docs bitset, least, greatest V) {
	from, _ := slices.BinarySearch(column.Values, least)
	until, found := slices.BinarySearch(column.Values, greatest)
	if found {
		until++
	}
	until = max(from, until)
	documents := column.documents()
	if inRange := int(documents.starts[until] - documents.starts[from]); documents.prefixes == nil && 4*docs.count() < inRange {
		docs.keep(func(ordinal uint32) bool { // few documents: their own values are read faster
			return slices.ContainsFunc(column.of(ordinal), func(at uint32) bool { return from <= int(at) && int(at) < until })
		})
		return
	}
	subset := scratch(len(docs) * 64)
	documents.addTo(subset, from, until)
	docs.and(subset)
	release(subset)
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
	prefixStep = 1024
	prefixFrom = 2048 // documents
)

// denseShare is the share of documents from which on a number has a set.
const denseShare = 32

// inSet marks the place of the set of a frequent number.
const inSet = 1 << 31

// newPostings returns the postings of some documents. It calls each twice, which adds the
// documents of a number in ascending order.
func newPostings(docs, numbers int, each func(add func(number, ordinal uint32))) (postings postings) {
	postings.starts = make([]uint32, numbers+1)
	next := make([]uint32, numbers) // at first the last document + 1 that has a number, to count it once
	each(func(number, ordinal uint32) {
		if next[number] != ordinal+1 {
			next[number] = ordinal + 1
			postings.starts[number+1]++
		}
	})
	for number := range next {
		count := postings.starts[number+1]
		postings.starts[number+1] = postings.starts[number]
		if docs >= inParallel && count > uint32(docs/denseShare) {
			next[number] = inSet | uint32(len(postings.sets))
			postings.frequent, postings.sets = append(postings.frequent, uint32(number)), append(postings.sets, newBitset(docs))
		} else {
			next[number] = postings.starts[number]
			postings.starts[number+1] += count
		}
	}
	postings.docs = make([]uint32, postings.starts[numbers])
	each(func(number, ordinal uint32) {
		if at := next[number]; at&inSet != 0 {
			postings.sets[at&^inSet].set(ordinal)
		} else if at == postings.starts[number] || postings.docs[at-1] != ordinal {
			postings.docs[at] = ordinal
			next[number]++
		}
	})
	return postings
}

// addPrefixes makes the sets by which large ranges are found fast, where a document has one
// number at most.
func (postings *postings) addPrefixes(docs int) {
	set := newBitset(docs)
	for from := 0; from <= len(postings.docs); from += prefixStep {
		postings.prefixes = append(postings.prefixes, slices.Clone(set))
		set.setAll(postings.docs[from:min(from+prefixStep, len(postings.docs))])
	}
}

// addTo adds the documents of a range of numbers.
func (postings postings) addTo(bitset bitset, from, until int) {
	start, end := int(postings.starts[from]), int(postings.starts[until])
	if first, last := start/prefixStep+1, end/prefixStep; postings.prefixes != nil && first < last {
		bitset.orBetween(postings.prefixes[first], postings.prefixes[last])
		bitset.setAll(postings.docs[last*prefixStep : end])
		end = first * prefixStep
	}
	bitset.setAll(postings.docs[start:end])
	index, _ := slices.BinarySearch(postings.frequent, uint32(from))
	for ; index < len(postings.frequent) && postings.frequent[index] < uint32(until); index++ {
		bitset.or(postings.sets[index])
	}
}
