package memindex

import (
	"cmp"
	"math"
	"slices"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// eachFrom calls f for the ordinals of res in order, from the first that has a value on,
// or would have it, until f gives false.
func (s *order[K]) eachFrom(res result, key K, desc bool, f func(uint32) bool) {
	if !desc {
		c, i := s.seek(key, 0) // ids are positive
		s.walkUp(res, c, i, f)
		return
	}
	c, i := s.seek(key, math.MaxInt64)
	if i--; i < 0 {
		if c--; c < 0 {
			return
		}
		i = len(s.chunks[c]) - 1
	}
	s.walkDown(res, c, i, f)
}

// pageBehind gives the ordinals of res behind a place in an order of numbers, at most limit.
func (k *kindIndex) pageBehind(res result, total int, by []readmodel.Sort, after []readmodel.Key, limit int) []uint32 {
	if total*total < len(k.docs)/16 && res.window == nil {
		return firstOf(k.behind(k.pageOfFew(res, total, by, 0, total), by, after), limit)
	}
	first := k.numbers[by[0].Field]
	var out []uint32
	if after[0].Has {
		group := make([]uint32, 0, 8)
		flush := func() {
			k.sortBy(group, by[1:])
			if len(group) > 0 && first.keys[group[0]] == after[0].N {
				group = k.behind(group, by, after)
			}
			out = append(out, group...)
			group = group[:0]
		}
		first.eachFrom(res, after[0].N, by[0].Desc, func(o uint32) bool {
			if len(group) > 0 && first.keys[group[0]] != first.keys[o] {
				if flush(); len(out) >= limit {
					return false
				}
			}
			group = append(group, o)
			return true
		})
		flush()
	}
	if len(out) >= limit || first.n == len(k.docs)-len(k.free) {
		return firstOf(out, limit)
	}
	// Those without a value come last, by the keys that are left.
	rest := k.scratch()
	defer k.release(rest)
	rest.copyFrom(res.bitset)
	rest.andNot(first.members())
	left := result{bitset: rest}
	then, from := by[1:], after[1:]
	if by[0].Tail {
		then, from = []readmodel.Sort{{Field: readmodel.FieldID}}, after[len(after)-1:]
	}
	if after[0].Has {
		return append(out, k.page(left, rest.count(), then, 0, limit-len(out))...)
	}
	return k.pageBehind(left, rest.count(), then, from, limit)
}

func firstOf(ords []uint32, limit int) []uint32 { return ords[:min(len(ords), limit)] }

// behind leaves out the ordinals that are not behind a place.
func (k *kindIndex) behind(ords []uint32, by []readmodel.Sort, after []readmodel.Key) []uint32 {
	at := make([]readmodel.Key, len(by))
	return slices.DeleteFunc(ords, func(o uint32) bool {
		for i := range by {
			if by[i].Least != nil {
				at[i] = after[i] // who asks has compared it
				continue
			}
			values := k.numbers[by[i].Field]
			if at[i] = (readmodel.Key{Has: values.in.has(o)}); at[i].Has {
				at[i].N = values.keys[o]
			}
		}
		return readmodel.ComparePlaces(by, at, after) <= 0
	})
}

// numbered is an id with its number.
type numbered struct {
	id calendar.ID
	n  int64
}

// pageByLeast is page in an order by the least number of the ids of a field.
func (k *kindIndex) pageByLeast(res result, q *readmodel.Query) []uint32 {
	by, then := q.Sort, q.Sort[1:]
	ids := make([]numbered, 0, len(by[0].Least))
	for id, n := range by[0].Least {
		ids = append(ids, numbered{id, n})
	}
	slices.SortFunc(ids, func(a, b numbered) int { return cmp.Compare(a.n, b.n) })
	seen := k.emptyScratch()
	defer k.release(seen)
	type group struct {
		n    int64
		ords []uint32
	}
	var groups []group
	found := 0 // of those that may be on the page
	for i := 0; i < len(ids); {
		g := group{n: ids[i].n}
		if !by[0].Desc && found > q.Offset+q.Limit {
			break
		}
		for ; i < len(ids) && ids[i].n == g.n; i++ {
			k.links[by[0].Field].values[ids[i].id].each(func(o uint32) {
				if res.has(o) && !seen.has(o) {
					seen.put(o)
					g.ords = append(g.ords, o)
				}
			})
		}
		if q.After != nil && by[0].Compare(readmodel.Key{N: g.n, Has: true}, q.After[0]) < 0 {
			continue
		}
		if groups = append(groups, g); q.After == nil || g.n != q.After[0].N {
			found += len(g.ords)
		}
	}
	if by[0].Desc {
		slices.Reverse(groups)
	}
	var out []uint32
	skip := q.Offset
	for _, g := range groups {
		if len(out) >= q.Limit {
			break
		}
		if skip >= len(g.ords) {
			skip -= len(g.ords)
			continue
		}
		k.sortBy(g.ords, then)
		if q.After != nil && g.n == q.After[0].N {
			g.ords = k.behind(g.ords, by, q.After)
		}
		out = append(out, g.ords[skip:]...)
		skip = 0
	}
	if len(out) >= q.Limit {
		return out[:q.Limit]
	}
	rest := k.scratch()
	defer k.release(rest)
	rest.copyFrom(res.bitset)
	rest.andNot(seen)
	left := result{bitset: rest}
	if q.After != nil && !q.After[0].Has {
		return k.pageBehind(left, rest.count(), then, q.After[1:], q.Limit)
	}
	return append(out, k.page(left, rest.count(), then, skip, q.Limit-len(out))...)
}
