package memindex

import (
	"slices"
	"sync"

	"daybook/calendar"
	"daybook/internal/ground/cache"
	"daybook/query/readmodel"
)

// Lists ask for the same few sets of documents again and again: what is listed, the
// default window, a category of it. Such results are kept, and each write mends them,
// so that neither a list nor a count knows how large the calendar is.
const (
	mostKept   = 32  // results of a kind; each write looks at all of them
	mostAsked  = 256 // filters of which it is known that they were asked for
	manyPages  = 4   // before a result is counted by chunks
	fewChoices = 16  // a filter with more values in it is not kept: each write would look for them
)

// kept is the result of a filter. Only who holds the lock of the Index for writing
// changes what is found in it.
type kept struct {
	key    string
	filter readmodel.Filter
	set    bitset
	n      int
	used   uint64

	mu      sync.Mutex // who reads adds counts and rankings
	counted map[string]*counted
	// tallied are the answers about the set as it is; see kindIndex.tally.
	tallied map[tallyKey]readmodel.Tallied
	pages   int // that were asked for before there was a ranking
	ranked  []*ranking
}

// keptResults are those of a kind.
type keptResults struct {
	mu    sync.Mutex // among readers; writers are alone
	all   []*kept
	clock uint64
	asked [2][mostAsked]string // keys, by their hash: of lists, and of tallies, which come with lists
}

// find gives the result for a key; without one it tells whether lists, or tallies, have
// asked for it lately.
func (t *keptResults) find(key []byte, tallies bool) (r *kept, again bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clock++
	for _, r := range t.all {
		if r.key == string(key) {
			r.used = t.clock
			return r, true
		}
	}
	asked := &t.asked[0]
	if tallies {
		asked = &t.asked[1]
	}
	at := uint64(calendar.HashStart.Text(string(key))) % mostAsked
	if again = asked[at] == string(key); !again {
		asked[at] = string(key)
	}
	return nil, again
}

// keep adds a result, or gives the one that another reader added meanwhile.
func (t *keptResults) keep(r *kept) *kept {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, known := range t.all {
		if known.key == r.key {
			return known
		}
	}
	t.clock++
	r.used = t.clock
	if len(t.all) < mostKept {
		t.all = append(t.all, r)
		return r
	}
	oldest := 0
	for i := range t.all {
		if t.all[i].used < t.all[oldest].used {
			oldest = i
		}
	}
	t.all[oldest] = r
	return r
}

// keptFor gives the kept result of a filter, which is made when it was asked for
// before; nil when there is none.
func (k *kindIndex) keptFor(e *evaluation, f readmodel.Filter) *kept {
	if !keepable(f) {
		return nil
	}
	var buffer [256]byte
	key := filterKey(buffer[:0], f)
	r, again := k.kept.find(key, e.by == byTallies)
	if r != nil || !again {
		return r
	}
	r = &kept{key: string(key), filter: cloneFilter(f), set: make(bitset, wordsFor(len(k.docs)))}
	e.evalInto(r.set, f, k.live)
	r.n = r.set.count()
	e.r.steps += 8 * len(r.set)
	return k.kept.keep(r)
}

// counts gives how many documents of a result carry each value of an id field, or
// some of the values; nil is all.
func (k *kindIndex) counts(res result, field string, ids []calendar.ID) map[calendar.ID]int {
	if res.of == nil && ids != nil {
		return k.countFew(res.bitset, field, ids)
	}
	c := k.columnCounts(res, field)
	if ids == nil {
		out := map[calendar.ID]int{}
		for _, v := range c.list() {
			out[calendar.ID(v.Value)] = v.N
		}
		return out
	}
	out := make(map[calendar.ID]int, len(ids))
	for _, id := range ids {
		if n := c.of(int64(id)); n > 0 {
			out[id] = n
		}
	}
	return out
}

// countFew counts some values.
func (k *kindIndex) countFew(set bitset, field string, ids []calendar.ID) map[calendar.ID]int {
	out := make(map[calendar.ID]int, len(ids))
	scratch := k.emptyScratch()
	defer k.release(scratch)
	for _, id := range ids {
		if p := k.links[field].values[id]; p != nil {
			if n := p.countIn(set, scratch); n > 0 {
				out[id] = n
			}
		}
	}
	return out
}

// leave takes a document that changes out of the kept results; columns have what it had.
func (k *kindIndex) leave(o uint32) {
	for _, r := range k.kept.all {
		if !r.set.has(o) {
			continue
		}
		r.tallied = nil
		k.recount(r, o, -1)
		for _, ranked := range r.ranked {
			ranked.leave(o)
		}
		r.set.clear(o)
		r.n--
	}
}

// join takes a document into the kept results that admit it as it is now, in the columns
// too.
func (k *kindIndex) join(o uint32) {
	for _, r := range k.kept.all {
		if !k.admits(o, r.filter) {
			continue
		}
		r.tallied = nil
		r.set = r.set.set(o)
		r.n++
		k.recount(r, o, 1)
		for _, ranked := range r.ranked {
			ranked.join(o)
		}
	}
}

// recount has the counts of a result follow a document; those of a column that is not
// there any more go.
func (k *kindIndex) recount(r *kept, o uint32, by int) {
	for field, c := range r.counted {
		if c.column == k.columns.of[field] {
			c.follow(o, by)
		} else {
			delete(r.counted, field)
		}
	}
}

// eachOnce calls f for each of some ids; a record may name one twice.
func eachOnce(ids []calendar.ID, f func(calendar.ID)) {
	for i, id := range ids {
		if !slices.Contains(ids[:i], id) {
			f(id)
		}
	}
}

// columnCounts counts the values of a field within a result. In a kept one they are
// counted once and kept up then; of the larger part of one, what is not in it is counted.
func (k *kindIndex) columnCounts(res result, field string) *counted {
	c := k.column(field)
	switch {
	case res.of != nil:
		return res.of.countedBy(c, field)
	case res.within != nil && 2*res.count() > res.within.n:
		rest := k.scratch()
		defer k.release(rest)
		rest.copyFrom(res.within.set)
		rest.andNot(res.bitset)
		return res.within.countedBy(c, field).without(c.count(rest))
	}
	return c.count(res.bitset)
}

func (r *kept) countedBy(c *column, field string) *counted {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.counted[field]
	if known == nil || known.column != c {
		if r.counted == nil {
			r.counted = map[string]*counted{}
		}
		known = c.count(r.set)
		r.counted[field] = known
	}
	return known
}

// ranking gives how many of the set lie in each chunk of an order, nil while the
// result was not asked for so often that counting them pays.
func (r *kept) ranking(by sorter) *ranking {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, ranked := range r.ranked {
		if ranked.by == by {
			return ranked
		}
	}
	if r.pages++; r.pages < manyPages {
		return nil
	}
	ranked := &ranking{by: by, counts: by.rank(r.set)}
	r.ranked = append(r.ranked, ranked)
	return ranked
}

// keepable tells whether it costs little to tell of one document whether a filter
// admits it, however many there are.
func keepable(f readmodel.Filter) bool { return choices(f) <= fewChoices }

// choices is what it takes to tell of one document, about.
func choices(f readmodel.Filter) int {
	n := 0
	switch f := f.(type) {
	case readmodel.And:
		for _, part := range f {
			n += choices(part)
		}
	case readmodel.Or:
		for _, part := range f {
			n += choices(part)
		}
	case readmodel.Not:
		n = choices(f.Filter)
	case readmodel.In:
		n = len(f.IDs)
	case readmodel.Text, readmodel.Contains, readmodel.Near, readmodel.Box:
		n = fewChoices + 1
	default:
		n = 1
	}
	return n
}

// admits tells whether a filter that is keepable admits a document.
func (k *kindIndex) admits(o uint32, f readmodel.Filter) bool {
	switch f := f.(type) {
	case readmodel.And:
		for _, part := range f {
			if !k.admits(o, part) {
				return false
			}
		}
		return true
	case readmodel.Or:
		return slices.ContainsFunc(f, func(part readmodel.Filter) bool { return k.admits(o, part) })
	case readmodel.Not:
		return k.live.has(o) && !k.admits(o, f.Filter)
	case readmodel.Term:
		if set, ok := k.bools[f.Field]; ok {
			return k.live.has(o) && set.has(o) == (f.Value == "true")
		}
		return k.keywords[f.Field].values[f.Value].has(o)
	case readmodel.In:
		if f.Field == readmodel.FieldID {
			return k.live.has(o) && slices.Contains(f.IDs, k.ids[o])
		}
		if n, ok := k.compute(f.Field, o); ok || k.computed(f.Field) {
			return ok && slices.Contains(f.IDs, calendar.ID(n))
		}
		values := k.links[f.Field].values
		return slices.ContainsFunc(f.IDs, func(id calendar.ID) bool { return values[id].has(o) })
	case readmodel.Range:
		if k.computed(f.Field) {
			n, ok := k.compute(f.Field, o)
			return ok && admits(f, n)
		}
		n := k.numbers[f.Field]
		return n.in.has(o) && (f.Min == nil || n.keys[o] >= *f.Min) && (f.Max == nil || n.keys[o] <= *f.Max)
	case readmodel.Exists:
		return k.exists(o, f.Field)
	}
	return k.live.has(o)
}

func (k *kindIndex) exists(o uint32, field string) bool {
	switch k.schema.Field(field).Type {
	case readmodel.TypeKeyword:
		return k.keywords[field].has.has(o)
	case readmodel.TypeIDs:
		if field == readmodel.FieldID {
			return k.live.has(o)
		}
		return k.links[field].has.has(o)
	case readmodel.TypeNumber:
		return k.numbers[field].in.has(o)
	case readmodel.TypeComputed:
		_, ok := k.compute(field, o)
		return ok
	case readmodel.TypePoint:
		return k.places[field].in.has(o)
	case readmodel.TypeText:
		return slices.ContainsFunc(k.texts.fields[field].langs[:], func(in inLang) bool { return in.docs.has(o) })
	case readmodel.TypeBool:
	}
	return false
}

// The first part of the key of a filter.
const (
	keyAll = iota
	keyAnd
	keyOr
	keyNot
	keyTerm
	keyIn
	keyRange
	keyExists
)

// filterKey names a filter that is keepable.
func filterKey(b cache.Key, f readmodel.Filter) cache.Key {
	switch f := f.(type) {
	case readmodel.And:
		return filterKeys(b.Number(keyAnd), f)
	case readmodel.Or:
		return filterKeys(b.Number(keyOr), f)
	case readmodel.Not:
		return filterKey(b.Number(keyNot), f.Filter)
	case readmodel.Term:
		return b.Number(keyTerm).Text(f.Field).Text(f.Value)
	case readmodel.In:
		return cache.Numbers(b.Number(keyIn).Text(f.Field), f.IDs)
	case readmodel.Range:
		b = b.Number(keyRange).Text(f.Field)
		for _, bound := range [...]*int64{f.Min, f.Max} {
			if bound == nil {
				b = cache.Numbers[int64](b, nil)
			} else {
				b = b.Number(*bound)
			}
		}
		return b
	case readmodel.Exists:
		return b.Number(keyExists).Text(f.Field)
	}
	return b.Number(keyAll)
}

func filterKeys(b cache.Key, parts []readmodel.Filter) cache.Key {
	b = b.Number(int64(len(parts)))
	for _, part := range parts {
		b = filterKey(b, part)
	}
	return b
}

// cloneFilter gives a filter that is keepable in memory of its own.
func cloneFilter(f readmodel.Filter) readmodel.Filter {
	switch f := f.(type) {
	case readmodel.And:
		return readmodel.And(cloneFilters(f))
	case readmodel.Or:
		return readmodel.Or(cloneFilters(f))
	case readmodel.Not:
		return readmodel.Not{Filter: cloneFilter(f.Filter)}
	case readmodel.In:
		return readmodel.In{Field: f.Field, IDs: slices.Clone(f.IDs)}
	case readmodel.Range:
		return readmodel.Range{Field: f.Field, Min: cloneBound(f.Min), Max: cloneBound(f.Max)}
	}
	return f
}

func cloneFilters(parts []readmodel.Filter) []readmodel.Filter {
	out := make([]readmodel.Filter, len(parts))
	for i, part := range parts {
		out[i] = cloneFilter(part)
	}
	return out
}

func cloneBound(n *int64) *int64 {
	if n == nil {
		return nil
	}
	c := *n
	return &c
}
