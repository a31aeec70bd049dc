package memindex

import (
	"cmp"
	"slices"
	"sort"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// hit is a document that a query found.
type hit struct {
	of  *ordered
	at  uint32
	key readmodel.Key // the first key of the order, where that is a rank or a least number
}

func (h *hit) doc() *doc { return &h.of.Docs[h.at] }

// number returns a key of the order that is a number.
func (h *hit) number(i int) (key readmodel.Key) {
	if c := h.of.keys[i].numbers; c != nil {
		key.N, key.Has = c.first(h.at)
		return key
	}
	return h.key
}

// ordered is a layer with the columns of the keys of an order.
type ordered struct {
	layer
	keys []struct { // neither: the key of the hit
		numbers  *column[int64]
		keywords *column[string]
	}
	natural bool // the order is that of the segment
}

// ordering is the order of a query.
type ordering struct {
	by    []readmodel.Sort
	after []readmodel.Key
}

// newOrdering returns the order of a query: by id without another one.
func newOrdering(by []readmodel.Sort, after []readmodel.Key) *ordering {
	if len(by) == 0 {
		by = readmodel.By(false, readmodel.FieldID)
	}
	return &ordering{by, after}
}

// on resolves an order in a layer.
func (q *ordering) on(l layer) *ordered {
	natural := []string{readmodel.FieldID}
	if l.schema.Kind == calendar.KindEvent {
		natural = append(naturalOrder[:], readmodel.FieldID)
	}
	o := &ordered{layer: l}
	o.keys = slices.Grow(o.keys, len(q.by))[:len(q.by)]
	for i, k := range q.by {
		if k.Rank == nil && k.Least == nil {
			o.keys[i].numbers, o.keys[i].keywords = l.Numbers[k.Field], l.Keywords[k.Field]
		}
	}
	o.natural = slices.EqualFunc(q.by, natural, func(k readmodel.Sort, field string) bool {
		return k.Field == field && !k.Desc && !k.Tail && k.Least == nil
	})
	return o
}

// compare orders two hits as readmodel.Compare does.
func (q *ordering) compare(a, b *hit) int {
	for i := range q.by {
		k, x, y := &q.by[i], &a.of.keys[i], &b.of.keys[i]
		if x.keywords != nil {
			if c := compareFirst(k, x.keywords, y.keywords, a.at, b.at); c != 0 {
				return c
			}
			continue
		}
		v, w := a.number(i), b.number(i)
		if c := k.Compare(v, w); c != 0 {
			return c
		}
		if k.Tail && !v.Has {
			break
		}
	}
	return cmp.Compare(a.doc().ID, b.doc().ID)
}

// behind reports whether a hit stands behind the place from which on the query asks.
func (q *ordering) behind(h *hit) bool {
	if q.after == nil {
		return true
	}
	place := make([]readmodel.Key, len(q.by))
	for i := range q.by {
		place[i] = h.number(i)
	}
	return readmodel.ComparePlaces(q.by, place, q.after) > 0
}

// first returns the first hits among some documents, in order.
func (q *ordering) first(o *ordered, docs bitset, limit int, score func(uint32) readmodel.Key) (out []hit) {
	if limit == 0 {
		return nil
	}
	from := 0
	if o.natural {
		from = sort.Search(len(o.Docs), func(at int) bool { return q.behind(&hit{of: o, at: uint32(at)}) })
	}
	trim := func() {
		slices.SortFunc(out, func(a, b hit) int { return q.compare(&a, &b) })
		out = out[:min(len(out), limit)]
	}
	full, trimmed := max(4*limit, 1024), false
	docs.eachFrom(uint32(from), func(at uint32) bool {
		h := hit{of: o, at: at}
		if score != nil {
			h.key = score(at)
		}
		if trimmed && q.compare(&h, &out[limit-1]) > 0 || !o.natural && !q.behind(&h) {
			return true
		}
		out = append(out, h)
		if !o.natural && len(out) >= full {
			trim()
			full, trimmed = max(full, 2*len(out)), true
		}
		return !o.natural || len(out) < limit
	})
	if !o.natural {
		trim()
	}
	return out
}

// merge returns the first hits of two lists, both in order.
func (q *ordering) merge(a, b []hit, limit int) []hit {
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
