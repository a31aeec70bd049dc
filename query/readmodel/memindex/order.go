package memindex

import (
	"cmp"
	"slices"
	"sort"

	"daybook/query/readmodel"
)

// hit is a document that a query found.
type hit struct {
	of    *ordered
	at    uint32
	first readmodel.Key // of the order
}

func (h *hit) doc() *doc { return &h.of.Docs[h.at] }

// key returns a key of the order.
func (h *hit) key(i int) readmodel.Key {
	if i == 0 {
		return h.first
	}
	return h.of.keys[i](h.at)
}

// ordered is a layer with the keys of an order.
type ordered struct {
	layer
	keys    []func(o uint32) readmodel.Key
	natural bool // the order is that of the segment
}

func (o *ordered) hit(at uint32) hit { return hit{o, at, o.keys[0](at)} }

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

// on resolves an order in a layer, of which it orders some documents.
func (q *ordering) on(e *evaluation, docs bitset) *ordered {
	o := &ordered{layer: e.layer}
	for i := range q.by {
		switch k := &q.by[i]; {
		case k.Rank != nil:
			o.keys = append(o.keys, e.rank(k.Rank, docs))
		case k.Least != nil:
			o.keys = append(o.keys, e.least(k))
		case e.Keywords[k.Field] != nil:
			o.keys = append(o.keys, e.Keywords[k.Field].key)
		default:
			o.keys = append(o.keys, e.Numbers[k.Field].key)
		}
	}
	o.natural = slices.EqualFunc(q.by, naturalOrder(e.schema.Kind), func(a, b readmodel.Sort) bool {
		return a.Field == b.Field && !a.Desc && a.Least == nil
	})
	return o
}

// compare orders two hits as readmodel.Compare does.
func (q *ordering) compare(a, b *hit) int {
	for i := range q.by {
		if c := q.by[i].Compare(a.key(i), b.key(i)); c != 0 {
			return c
		}
	}
	return cmp.Compare(a.doc().ID, b.doc().ID)
}

// behind reports whether a hit stands behind the place from which on the query asks.
func (q *ordering) behind(h hit) bool {
	if q.after == nil {
		return true
	}
	place := make([]readmodel.Key, len(q.by))
	for i := range q.by {
		place[i] = h.key(i)
	}
	return readmodel.ComparePlaces(q.by, place, q.after) > 0
}

// first returns the first hits among some documents, one at least, in order.
func (q *ordering) first(o *ordered, docs bitset, limit int) (out []hit) {
	from := 0
	if o.natural {
		from = sort.Search(len(o.Docs), func(at int) bool { return q.behind(o.hit(uint32(at))) })
	}
	trim := func() {
		slices.SortFunc(out, func(a, b hit) int { return q.compare(&a, &b) })
		out = out[:min(len(out), limit)]
	}
	full, trimmed := max(4*limit, 1024), false
	for at := range docs.from(uint32(from)) {
		h := o.hit(at)
		if trimmed && q.compare(&h, &out[limit-1]) > 0 || !o.natural && !q.behind(h) {
			continue
		}
		if out = append(out, h); o.natural && len(out) == limit {
			return out
		}
		if !o.natural && len(out) >= full {
			trim()
			full, trimmed = max(full, 2*len(out)), true
		}
	}
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
