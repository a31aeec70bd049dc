package memindex

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"sync/atomic"

	"daybook/calendar"
	"daybook/query/readmodel"
)

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
		return e.count(res, t)
	}
	key := tallyKey{field: t.Field}
	if len(t.Groups) > 0 {
		key.groups = &t.Groups[0]
	}
	if len(t.Parts) > 0 {
		key.parts = &t.Parts[0]
	}
	r := res.of
	if known, ok := r.knownTally(key); ok {
		return known
	}
	known := e.count(res, t)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tallied == nil || len(r.tallied) >= mostTallied {
		r.tallied = map[tallyKey]readmodel.Tallied{}
	}
	r.tallied[key] = known
	return known
}

func (r *kept) knownTally(key tallyKey) (readmodel.Tallied, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.tallied[key]
	return known, ok
}

func (e *evaluation) count(res result, t *readmodel.Tally) (out readmodel.Tallied) {
	k := e.k
	out.Groups, out.Parts = make([]int, len(t.Groups)), make([]int, len(t.Parts))
	var all *counted
	if t.Field != "" {
		all = e.countedOf(res, t.Field)
		out.Values = all.list()
		if len(t.Groups) > 0 {
			out.Groups = all.unions(res.bitset, t.Groups)
		}
	}
	if len(t.Parts) == 0 {
		return out
	}
	if lists := listsOf(t); lists != nil {
		out.Parts = all.unions(res.bitset, lists)
		return out
	}
	part, scratch := k.scratch(), k.scratch()
	for i, f := range t.Parts {
		part.copyFrom(res.bitset)
		e.narrow(part, f, scratch)
		out.Parts[i] = part.count()
	}
	k.release(part)
	k.release(scratch)
	return out
}

// countedOf counts each field once for all tallies of a result.
func (e *evaluation) countedOf(res result, field string) *counted {
	known := e.counted[field]
	if known == nil {
		known = e.k.columnCounts(res, field)
		if e.counted == nil {
			e.counted = map[string]*counted{}
		}
		e.counted[field] = known
	}
	return known
}

// listsOf gives the values of parts that all are about ids of the field of a tally, as
// those of the trees of categories are.
func listsOf(t *readmodel.Tally) [][]calendar.ID {
	out := make([][]calendar.ID, len(t.Parts))
	for i, f := range t.Parts {
		in, ok := f.(readmodel.In)
		if !ok || in.Field != t.Field || !slices.IsSortedFunc(in.IDs, func(a, b calendar.ID) int { return cmp.Or(cmp.Compare(a, b), -1) }) {
			return nil
		}
		out[i] = in.IDs
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
