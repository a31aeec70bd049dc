package memindex

import (
	"context"
	"math/bits"
	"sync/atomic"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// Tally answers what is asked of selections, under one hold of the lock.
func (x *Index) Tally(ctx context.Context, kind calendar.Kind, base readmodel.Filter, of []readmodel.Selection) ([][]readmodel.Tallied, calendar.Position, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	if err := readmodel.CheckTally(kind, base, of); err != nil {
		return nil, 0, err
	}
	filters, out := make([]readmodel.Filter, len(of)), make([][]readmodel.Tallied, len(of))
	for i := range of {
		filters[i] = readmodel.Both(base, of[i].Filter)
		out[i] = make([]readmodel.Tallied, len(of[i].Tallies))
	}
	var p calendar.Position
	err := x.answers(ctx, kind, filters, readmodel.Sort{}, func(e *evaluation, i int, res result) {
		p = x.marks.All.Position
		for j := range of[i].Tallies {
			out[i][j] = e.tally(res, &of[i].Tallies[j])
		}
	})
	return out, p, err
}

// stamps number the images of kinds.
var stamps atomic.Uint64

// Stamp names the state of the documents of a kind by the number of their changes.
func (x *Index) Stamp(ctx context.Context, kind calendar.Kind) (readmodel.Stamp, error) {
	if err := ctx.Err(); err != nil {
		return readmodel.Stamp{}, err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	k := x.kinds[kind]
	return readmodel.Stamp{Of: k.number, Changed: k.seq}, nil
}

// tallyKey names a tally by its field and by where its lists are.
type tallyKey struct {
	field  string
	groups *[]calendar.ID
	parts  *readmodel.Filter
}

// mostTallied is how many answers a kept result keeps; there are as many as facets, and
// of each two kinds of callers.
const mostTallied = 32

// tally answers a tally; about a result that is kept it counts once as long as that stays.
func (e *evaluation) tally(res result, t *readmodel.Tally) readmodel.Tallied {
	if res.of == nil {
		return e.count(res.bitset, t)
	}
	key := tallyKey{field: t.Field}
	if len(t.Groups) > 0 {
		key.groups = &t.Groups[0]
	}
	if len(t.Parts) > 0 {
		key.parts = &t.Parts[0]
	}
	r := res.of
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.tallied[key]; ok {
		return known
	}
	if r.tallied == nil || len(r.tallied) >= mostTallied {
		r.tallied = map[tallyKey]readmodel.Tallied{}
	}
	known := e.count(res.bitset, t)
	r.tallied[key] = known
	return known
}

func (e *evaluation) count(set bitset, t *readmodel.Tally) (out readmodel.Tallied) {
	k := e.k
	out.Groups, out.Parts = make([]int, len(t.Groups)), make([]int, len(t.Parts))
	if len(t.Parts) > 0 {
		part, scratch := k.scratch(), k.scratch()
		for i, f := range t.Parts {
			part.copyFrom(set)
			e.narrow(part, f, scratch)
			out.Parts[i] = part.count()
		}
		k.release(part)
		k.release(scratch)
	}
	switch {
	case t.Field == "":
	case t.Field == readmodel.FieldMonth:
		out.Values = k.months(set)
	case k.computed(t.Field):
		out.Values = k.computedValues(set, t.Field)
	default:
		scratch := k.emptyScratch()
		in := k.links[t.Field]
		carried := 0
		for id, p := range in.values {
			if n := p.countIn(set, scratch); n > 0 {
				out.Values = append(out.Values, readmodel.Value{Value: int64(id), N: n})
				carried += n
			}
		}
		readmodel.SortValues(out.Values)
		several := len(t.Groups) > 0 && carried > set.countAnd(in.has) // values of one document
		for i, ids := range t.Groups {
			if several && len(ids) > 1 {
				out.Groups[i] = countUnion(in.values, ids, set, scratch)
				continue
			}
			for _, id := range ids {
				out.Groups[i] += readmodel.CountOf(out.Values, int64(id))
			}
		}
		k.release(scratch)
	}
	return out
}

// countUnion counts the documents of a set that carry one of some ids. scratch is empty,
// as long as the sets of postings, and empty again afterwards.
func countUnion(values map[calendar.ID]*posting, ids []calendar.ID, set, scratch bitset) int {
	n := 0
	for _, id := range ids {
		if p := values[id]; p != nil {
			p.each(func(o uint32) {
				if set.has(o) && !scratch.has(o) {
					scratch.put(o)
					n++
				}
			})
		}
	}
	for _, id := range ids {
		if p := values[id]; p != nil {
			p.each(scratch.clear)
		}
	}
	return n
}

// months counts by the month of the start. Starts stand in order, so most chunks of them
// lie in one month.
func (k *kindIndex) months(set bitset) []readmodel.Value {
	f, starts := k.schema.Field(readmodel.FieldMonth), k.numbers[readmodel.FieldStart]
	var out []readmodel.Value
	add := func(month int64, n int) {
		switch last := len(out) - 1; {
		case n == 0:
		case last >= 0 && out[last].Value == month:
			out[last].N += n
		default:
			out = append(out, readmodel.Value{Value: month, N: n})
		}
	}
	month := func(o uint32) int64 {
		m, _ := f.Compute(readmodel.Times{Start: calendar.Wall(starts.keys[o])})
		return m
	}
	for _, ords := range starts.chunks {
		for len(ords) > 0 {
			first := month(ords[0])
			n := len(ords)
			if month(ords[n-1]) != first { // the end of the month
				lo, hi := 0, n-1
				for hi-lo > 1 {
					if mid := (lo + hi) / 2; month(ords[mid]) == first {
						lo = mid
					} else {
						hi = mid
					}
				}
				n = hi
			}
			add(first, int(countOf(set, ords[:n])))
			ords = ords[n:]
		}
	}
	return out
}

// computedValues counts a number that follows from others.
func (k *kindIndex) computedValues(set bitset, field string) []readmodel.Value {
	f, c := k.schema.Field(field), k.clock()
	var small [24 * 60]int // weekdays, minutes
	more := map[int64]int{}
	set.each(func(o uint32) bool {
		if n, ok := f.Compute(c.times(o)); ok {
			if n >= 0 && n < int64(len(small)) {
				small[n]++
			} else {
				more[n]++
			}
		}
		return true
	})
	var out []readmodel.Value
	for v, n := range small {
		if n > 0 {
			out = append(out, readmodel.Value{Value: int64(v), N: n})
		}
	}
	for v, n := range more {
		out = append(out, readmodel.Value{Value: v, N: n})
	}
	if len(more) > 0 {
		readmodel.SortValues(out)
	}
	return out
}

// collapse gives the number of the groups of a result, and the first documents of those
// on the page of a query.
func (e *evaluation) collapse(res result, q *readmodel.Query) (total int, out []found) {
	k := e.k
	count := res.count()
	alone := k.emptyScratch()
	defer k.release(alone)
	if q.Collapse.Alone != nil {
		e.evalInto(alone, q.Collapse.Alone, k.live)
	}
	numbers, starts := k.numbers[q.Collapse.Field], k.numbers[readmodel.FieldStart]
	// Groups by their number: an open table of places in the order of the first ones.
	slots := make([]uint32, 1<<bits.Len(uint(2*count)))
	mask := uint64(len(slots) - 1)
	type group struct {
		number int64
		page   *readmodel.Repeats // of those on the page
	}
	groups := make([]group, 0, count/2+1)
	to := q.Offset + q.Limit
	all := *q
	all.Offset, all.Limit = 0, count
	for _, o := range e.pageOf(res, count, &all) {
		at := len(groups)
		number := numbers.keys[o]
		if numbers.in.has(o) && !alone.has(o) {
			slot := uint64(number) * 0x9e3779b97f4a7c15 >> 32 & mask
			for ; slots[slot] != 0; slot = (slot + 1) & mask {
				if groups[slots[slot]-1].number == number {
					at = int(slots[slot] - 1)
					break
				}
			}
			slots[slot] = uint32(at + 1)
		}
		if at == len(groups) {
			groups = append(groups, group{number: number})
			if at >= q.Offset && at < to {
				g := &readmodel.Repeats{First: calendar.NoWall, Last: calendar.NoWall}
				groups[at].page = g
				out = append(out, k.found(o))
				out[len(out)-1].repeats = g
			}
		}
		if g := groups[at].page; g != nil {
			g.Add(k.ids[o], wallOf(starts, o))
		}
	}
	return len(groups), out
}
