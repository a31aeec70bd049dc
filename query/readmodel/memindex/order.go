package memindex

import (
	"cmp"
	"math/bits"
	"slices"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// hit is a document that a query found.
type hit struct {
	of  *ordered
	at  uint32
	key readmodel.Key // of the first key of the order, where that is a rank or a least number
}

func (h *hit) doc() *doc { return &h.of.Docs[h.at] }

// ordered is a layer with what an order needs of it.
type ordered struct {
	layer
	keys []keyColumn // by key of the order
}

// keyColumn is the column of a key: one of its parts.
type keyColumn struct {
	byKey    bool // the key of the hit
	numbers  *numbers
	keywords *terms[string]
}

// ordering is the order of a query.
type ordering struct {
	by    []readmodel.Sort
	after []readmodel.Key
}

// newOrdering returns the order of a query: by id without another one.
func newOrdering(by []readmodel.Sort, after []readmodel.Key) *ordering {
	if len(by) == 0 {
		by = []readmodel.Sort{{Field: readmodel.FieldID}}
	}
	return &ordering{by, after}
}

// on resolves the columns of an order in a layer.
func (q *ordering) on(l layer) *ordered {
	out := &ordered{l, make([]keyColumn, len(q.by))}
	for i := range q.by {
		k := &q.by[i]
		out.keys[i] = keyColumn{byKey: k.Rank != nil || k.Least != nil, numbers: l.Numbers[k.Field], keywords: l.Keywords[k.Field]}
	}
	return out
}

// key returns the number by which a hit is ordered.
func (h *hit) keyAt(i int) readmodel.Key {
	switch c := &h.of.keys[i]; {
	case c.byKey:
		return h.key
	case c.numbers != nil:
		return readmodel.Key{N: c.numbers.Keys[h.at], Has: c.numbers.Has.has(h.at)}
	default:
		return readmodel.Key{N: int64(h.doc().ID), Has: true}
	}
}

// compare orders two hits as readmodel.Compare does.
func (q *ordering) compare(a, b *hit) int { return q.compareFrom(0, a, b) }

// compareFrom compares by the keys from one on.
func (q *ordering) compareFrom(first int, a, b *hit) int {
	for i := first; i < len(q.by); i++ {
		k := &q.by[i]
		if a.of.keys[i].keywords != nil {
			if c := compareKeywords(a.of.keys[i].keywords, b.of.keys[i].keywords, a.at, b.at, k.Desc); c != 0 {
				return c
			}
			continue
		}
		x, y := a.keyAt(i), b.keyAt(i)
		if c := k.Compare(x, y); c != 0 {
			return c
		}
		if k.Tail && !x.Has {
			break
		}
	}
	return cmp.Compare(a.doc().ID, b.doc().ID)
}

func compareKeywords(x, y *terms[string], a, b uint32, desc bool) int {
	hasA, hasB := x.Has.has(a), y.Has.has(b)
	switch {
	case !hasA && !hasB:
		return 0
	case !hasA:
		return 1
	case !hasB:
		return -1
	}
	c := cmp.Compare(x.Values[x.of(a)[0]], y.Values[y.of(b)[0]])
	if desc {
		return -c
	}
	return c
}

// behind reports whether a hit stands behind the place from which on the query asks.
func (q *ordering) behind(h *hit) bool {
	if q.after == nil {
		return true
	}
	place := make([]readmodel.Key, len(q.by))
	for i := range q.by {
		place[i] = h.keyAt(i)
	}
	return readmodel.ComparePlaces(q.by, place, q.after) > 0
}

// first returns the first hits among some documents, in order, and how many it left out:
// at most skip.
func (q *ordering) first(o *ordered, docs bitset, skip, limit int, score func(uint32) readmodel.Key) (hits []hit, skipped int) {
	switch {
	case limit == 0:
		return nil, 0
	case o.keys[0].byKey:
		return q.top(o, docs, skip+limit, score), 0
	case q.natural(o):
		return q.walk(o, docs, skip, limit), skip
	}
	if by := o.order(q.by[0].Field); by != nil && docs.count() > 2*limit {
		return q.walkOrder(o, by, docs, skip, limit)
	}
	return q.top(o, docs, skip+limit, nil), 0
}

// natural reports whether the order is that of the documents of a segment.
func (q *ordering) natural(o *ordered) bool {
	fields := []string{readmodel.FieldID}
	if o.schema.Kind == calendar.KindEvent {
		fields = []string{naturalOrder[0], naturalOrder[1], readmodel.FieldID}
	}
	return slices.EqualFunc(q.by, fields, func(k readmodel.Sort, field string) bool {
		return k.Field == field && !k.Desc && !k.Tail && k.Least == nil
	})
}

// walk returns documents in the order of the segment.
func (q *ordering) walk(o *ordered, docs bitset, skip, limit int) []hit {
	from := 0
	if q.after != nil {
		from = firstOf(len(o.Docs), func(at uint32) bool { return q.behind(&hit{of: o, at: at}) })
	}
	for from&63 == 0 && from>>6 < len(docs) {
		n := bits.OnesCount64(docs[from>>6])
		if n > skip {
			break
		}
		skip -= n
		from += 64
	}
	out := make([]hit, 0, limit)
	docs.eachFrom(uint32(from), func(at uint32) bool {
		if skip--; skip < 0 {
			out = append(out, hit{of: o, at: at})
		}
		return len(out) < limit
	})
	return out
}

// firstOf returns the first of n ordinals for which is returns true.
func firstOf(n int, is func(at uint32) bool) int {
	from, to := 0, n
	for from < to {
		mid := (from + to) / 2
		if is(uint32(mid)) {
			to = mid
		} else {
			from = mid + 1
		}
	}
	return from
}

// order returns the documents by the first key, nil when there is no such order.
func (o *ordered) order(field string) []uint32 {
	switch c := &o.keys[0]; {
	case c.numbers != nil:
		return c.numbers.order
	case c.keywords != nil:
		return c.keywords.order
	case field == readmodel.FieldID:
		return o.byID
	}
	return nil
}

// walkOrder returns the first documents by an order of the first key. Documents that are
// equal in it are put in order by the other keys.
func (q *ordering) walkOrder(o *ordered, by []uint32, docs bitset, skip, limit int) (out []hit, skipped int) {
	var group []hit
	flush := func() {
		if len(out) == 0 && skipped+len(group) <= skip {
			skipped += len(group)
			group = group[:0]
			return
		}
		slices.SortFunc(group, func(a, b hit) int { return q.compare(&a, &b) })
		out = append(out, slices.DeleteFunc(group, func(h hit) bool { return !q.behind(&h) })...)
		group = group[:0]
	}
	enough := func() bool { return skipped+len(out) >= skip+limit }
	only := q.by[:1]
	first := ordering{by: only}
	begin := 0
	if q.after != nil && q.after[0].Has && o.keys[0].keywords == nil { // those of before the place
		begin = firstOf(len(by), func(i uint32) bool {
			h := hit{of: o, at: by[q.step(len(by), int(i))]}
			return only[0].Compare(h.keyAt(0), q.after[0]) >= 0
		})
	} else if q.after != nil && !q.after[0].Has {
		begin = len(by)
	}
	for i := begin; i < len(by) && !enough(); i++ {
		at := by[q.step(len(by), i)]
		if !docs.has(at) {
			continue
		}
		h := hit{of: o, at: at}
		if len(group) > 0 && first.compareFirst(&group[0], &h) != 0 {
			if flush(); enough() {
				break
			}
		}
		group = append(group, h)
	}
	flush()
	if !enough() && len(by) < len(o.Docs) {
		rest := scratchOf(docs)
		for _, at := range by {
			rest.clear(at)
		}
		out = append(out, q.top(o, rest, skip+limit-skipped-len(out), nil)...)
		release(rest)
	}
	return out[:min(len(out), skip+limit-skipped)], skipped
}

// compareFirst compares by the first key alone.
func (q *ordering) compareFirst(a, b *hit) int {
	if a.of.keys[0].keywords != nil {
		return compareKeywords(a.of.keys[0].keywords, b.of.keys[0].keywords, a.at, b.at, false)
	}
	return q.by[0].Compare(a.keyAt(0), b.keyAt(0))
}

// step returns the i-th place of an order of n, from its end when the first key descends.
func (q *ordering) step(n, i int) int {
	if q.by[0].Desc {
		return n - 1 - i
	}
	return i
}

// top returns the first of some documents by comparing all of them.
func (q *ordering) top(o *ordered, docs bitset, limit int, score func(uint32) readmodel.Key) []hit {
	var out []hit
	compare := func(a, b hit) int { return q.compare(&a, &b) }
	trim := func() {
		slices.SortFunc(out, compare)
		out = out[:min(len(out), limit)]
	}
	full, trimmed := max(4*limit, 1024), false
	docs.each(func(at uint32) bool {
		h := hit{of: o, at: at}
		if score != nil {
			h.key = score(at)
		}
		if trimmed && compare(h, out[limit-1]) > 0 || !q.behind(&h) {
			return true
		}
		if out = append(out, h); len(out) >= full {
			trim()
			full, trimmed = max(full, 2*len(out)), true
		}
		return true
	})
	trim()
	return out
}

// merge returns the first hits of two lists, both in order.
func (q *ordering) merge(a, b []hit, limit int) []hit {
	if len(a) == 0 || len(b) == 0 {
		out := slices.Concat(a, b)
		return out[:min(len(out), limit)]
	}
	out := make([]hit, 0, min(limit, len(a)+len(b)))
	for len(out) < limit && len(a)+len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && q.compare(&a[0], &b[0]) <= 0 {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return out
}
