package memindex

import (
	"cmp"
	"slices"
	"sort"

	"daybook/query/readmodel"
)

// hit is a document that a query found.
type hit struct {
	ordered *ordered
	at      uint32
	first   readmodel.Key // of the order
}

func (hit *hit) doc() *doc { return &hit.ordered.Docs[hit.at] }

// key returns a key of the order.
func (hit *hit) key(i int) readmodel.Key {
	if i == 0 {
		return hit.first
	}
	return hit.ordered.keys[i](hit.at)
}

// ordered is a layer with the keys of an order.
type ordered struct {
	liveSegment
	keys    []func(ordinal uint32) readmodel.Key
	natural bool // the order is that of the segment
}

func (ordered *ordered) hit(ordinal uint32) hit {
	return hit{ordered, ordinal, ordered.keys[0](ordinal)}
}

// ordering is the order of a query.
type ordering struct {
	sorts []readmodel.Sort
	after []readmodel.Key
}

// newOrdering returns the order of a query: by id without another one.
func newOrdering(sorts []readmodel.Sort, after []readmodel.Key) *ordering {
	if len(sorts) == 0 {
		sorts = readmodel.By(false, readmodel.FieldID)
	}
	return &ordering{sorts, after}
}

// on resolves an order in a layer, of which it orders some documents.
func (ordering *ordering) on(evaluation *evaluation, docs bitset) *ordered {
	o := &ordered{liveSegment: evaluation.liveSegment}
	for i := range ordering.sorts {
		switch k := &ordering.sorts[i]; {
		case k.Rank != nil:
			o.keys = append(o.keys, evaluation.rank(k.Rank, docs))
		case k.Least != nil:
			o.keys = append(o.keys, evaluation.least(k))
		case evaluation.Keywords[k.Field] != nil:
			o.keys = append(o.keys, evaluation.Keywords[k.Field].key)
		default:
			o.keys = append(o.keys, evaluation.Numbers[k.Field].key)
		}
	}
	o.natural = slices.EqualFunc(ordering.sorts, naturalOrder(evaluation.schema.Kind), func(a, b readmodel.Sort) bool {
		return a.Field == b.Field && !a.Desc && a.Least == nil
	})
	return o
}

// compare orders two hits as readmodeltest.Compare does.
func (ordering *ordering) compare(a, b *hit) int {
	for i := range ordering.sorts {
		if count := ordering.sorts[i].Compare(a.key(i), b.key(i)); count != 0 {
			return count
		}
	}
	return cmp.Compare(a.doc().ID, b.doc().ID)
}

// behind reports whether a hit stands behind the place from which on the query asks.
func (ordering *ordering) behind(hit hit) bool {
	if ordering.after == nil {
		return true
	}
	place := make([]readmodel.Key, len(ordering.sorts))
	for i := range ordering.sorts {
		place[i] = hit.key(i)
	}
	return readmodel.ComparePlaces(ordering.sorts, place, ordering.after) > 0
}

// first returns the first hits among some documents, one at least, in order.
func (ordering *ordering) first(ordered *ordered, docs bitset, limit int) (hits []hit) {
	from := 0
	if ordered.natural {
		hits = make([]hit, 0, limit)
		from = sort.Search(len(ordered.Docs), func(index int) bool { return ordering.behind(ordered.hit(uint32(index))) })
	}
	trim := func() {
		slices.SortFunc(hits, func(a, b hit) int { return ordering.compare(&a, &b) })
		hits = hits[:min(len(hits), limit)]
	}
	full, trimmed := max(4*limit, 1024), false
	for ordinal := range docs.from(uint32(from)) {
		h := ordered.hit(ordinal)
		if trimmed && ordering.compare(&h, &hits[limit-1]) > 0 || !ordered.natural && !ordering.behind(h) {
			continue
		}
		if hits = append(hits, h); ordered.natural && len(hits) == limit {
			return hits
		}
		if !ordered.natural && len(hits) >= full {
			trim()
			full, trimmed = max(full, 2*len(hits)), true
		}
	}
	if !ordered.natural {
		trim()
	}
	return hits
}

// merge returns the first hits of two lists, both in order.
func (ordering *ordering) merge(a, b []hit, limit int) []hit {
	hits := make([]hit, 0, min(limit, len(a)+len(b)))
	for len(hits) < limit && len(a)+len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && ordering.compare(&a[0], &b[0]) <= 0 {
			hits, a = append(hits, a[0]), a[1:]
		} else {
			hits, b = append(hits, b[0]), b[1:]
		}
	}
	return hits
}
