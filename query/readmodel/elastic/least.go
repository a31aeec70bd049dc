package elastic

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strconv"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// An order by the least number of the ids of a field (readmodel.Sort.Least) is none that
// an engine without a language for scripts has. Ids with one number make a ring; documents
// are counted in rings until few enough are left to be put in order here.

// fewKeys is how many documents are put in order here at a time.
const fewKeys = 1000

// rings is such an order of what a query finds.
type rings struct {
	x     *Index
	index string // "": that of a point in time
	query object
	by    []readmodel.Sort
	ids   []calendar.ID // of the first key, by number
	n     []int64       // of each ring, ascending
	end   []int         // where the ids of each ring end
	known map[int]int   // how many documents have an id of the first rings
}

func newRings(x *Index, index string, query object, by []readmodel.Sort) *rings {
	r := &rings{x: x, index: index, query: query, by: by, known: map[int]int{0: 0}}
	least := by[0].Least
	for id := range least {
		r.ids = append(r.ids, id)
	}
	slices.SortFunc(r.ids, func(a, b calendar.ID) int {
		return cmp.Or(cmp.Compare(least[a], least[b]), cmp.Compare(a, b))
	})
	for i, id := range r.ids {
		if i == 0 || least[id] != r.n[len(r.n)-1] {
			r.n, r.end = append(r.n, least[id]), append(r.end, i)
		}
		r.end[len(r.end)-1] = i + 1
	}
	return r
}

// of gives the ids of the rings before one.
func (r *rings) of(before int) []calendar.ID {
	if before == 0 {
		return nil
	}
	return r.ids[:r.end[before-1]]
}

// between admits the documents of which the first ring is one from a step on and before
// another one; the steps go outwards, in a descending order inwards.
func (r *rings) between(from, to int) object {
	if r.by[0].Desc {
		from, to = len(r.n)-to, len(r.n)-from
	}
	inner, all := r.of(from), r.of(to)
	out := object{"filter": list{r.query, in(r.by[0].Field, all[len(inner):])}}
	if len(inner) > 0 {
		out["must_not"] = list{in(r.by[0].Field, inner)}
	}
	return object{"bool": out}
}

// number is that of the ring of a step.
func (r *rings) number(step int) readmodel.Key {
	if r.by[0].Desc {
		step = len(r.n) - 1 - step
	}
	return readmodel.Key{N: r.n[step], Has: true}
}

// within counts the documents of the first rings.
func (r *rings) within(ctx context.Context, first int) (int, error) {
	if n, known := r.known[first]; known {
		return n, nil
	}
	a, err := r.x.search(ctx, object{
		"query": object{"bool": object{"filter": list{r.query, in(r.by[0].Field, r.of(first))}}}, "size": 0, "track_total_hits": true,
	}, r.index)
	if err == nil {
		r.known[first] = a.Hits.Total.Value
	}
	return a.Hits.Total.Value, err
}

// before counts the documents before a step.
func (r *rings) before(ctx context.Context, step int) (int, error) {
	if !r.by[0].Desc {
		return r.within(ctx, step)
	}
	all, err := r.within(ctx, len(r.n))
	if err != nil {
		return 0, err
	}
	n, err := r.within(ctx, len(r.n)-step)
	return all - n, err
}

// lastStep gives the last step from one on before which there are at most so many
// documents.
func (r *rings) lastStep(ctx context.Context, from, most int) (step int, err error) {
	step = from + sort.Search(len(r.n)-from, func(i int) bool {
		if err != nil {
			return true
		}
		var n int
		n, err = r.before(ctx, from+i+1)
		return n > most
	})
	return step, err
}

// placed is a document with its place in the order.
type placed struct {
	at []readmodel.Key
	id calendar.ID
}

// keys reads the places of what a query finds, at most so many, in order; and how many
// there are.
func (r *rings) keys(ctx context.Context, query object, most int) ([]placed, int, error) {
	a, err := r.x.search(ctx, r.keysBody(object{"query": query, "size": most, "track_total_hits": true}), r.index)
	if err != nil {
		return nil, 0, err
	}
	out := make([]placed, len(a.Hits.Hits))
	for i := range a.Hits.Hits {
		if out[i], err = r.placed(&a.Hits.Hits[i]); err != nil {
			return nil, 0, err
		}
	}
	r.sort(out)
	return out, a.Hits.Total.Value, nil
}

func (r *rings) sort(places []placed) {
	slices.SortFunc(places, func(a, b placed) int { return readmodel.ComparePlaces(r.by, a.at, b.at) })
}

func (r *rings) keysBody(body object) object {
	body["sort"] = sortOf(r.by[1:])
	body["docvalue_fields"] = list{r.by[0].Field}
	body["stored_fields"] = "_none_"
	return body
}

// placed reads the place of a document; what has no value of a key has the greatest or
// least number there.
func (r *rings) placed(h *hit) (placed, error) {
	p := placed{at: make([]readmodel.Key, len(r.by))}
	for _, id := range h.Fields.IDs {
		if n, ok := r.by[0].Least[id]; ok && (!p.at[0].Has || n < p.at[0].N) {
			p.at[0] = readmodel.Key{N: n, Has: true}
		}
	}
	from := 0
	for i := range r.by[1:] {
		by := &r.by[1+i]
		n, err := strconv.ParseInt(string(h.Sort[from]), 10, 64)
		if err != nil {
			return p, err
		}
		p.at[1+i] = readmodel.Key{N: n, Has: n != lacking(by.Desc)}
		if from++; by.Tail {
			from++
		}
	}
	p.id = calendar.ID(p.at[len(p.at)-1].N)
	return p, nil
}

// bodies gives the hits of documents in their order; what is gone meanwhile is left out.
func (r *rings) bodies(ctx context.Context, places []placed) ([]hit, error) {
	if len(places) == 0 {
		return nil, nil
	}
	ids := make([]calendar.ID, len(places))
	for i := range places {
		ids[i] = places[i].id
	}
	var out []hit
	for some := range slices.Chunk(ids, min(walkPage, r.x.o.MaxResultWindow)) {
		a, err := r.x.search(ctx, withBody(object{
			"query": object{"bool": object{"filter": list{r.query, in(readmodel.FieldID, some)}}}, "size": len(some), "track_total_hits": false,
		}), r.index)
		if err != nil {
			return nil, err
		}
		hits, err := inOrder(a.Hits.Hits, some)
		if err != nil {
			return nil, err
		}
		out = append(out, hits...)
	}
	return out, nil
}

// inOrder gives the hits of ids in their order.
func inOrder(hits []hit, ids []calendar.ID) ([]hit, error) {
	byID := make(map[calendar.ID]*hit, len(hits))
	for i := range hits {
		id, err := hits[i].id()
		if err != nil {
			return nil, err
		}
		byID[id] = &hits[i]
	}
	out := make([]hit, 0, len(ids))
	for _, id := range ids {
		if h := byID[id]; h != nil {
			out = append(out, *h)
		}
	}
	return out, nil
}

// cut gives those behind a place, nil for all.
func (r *rings) cut(places []placed, after []readmodel.Key) []placed {
	if after == nil {
		return places
	}
	i, _ := slices.BinarySearchFunc(places, after, func(p placed, after []readmodel.Key) int {
		if readmodel.ComparePlaces(r.by, p.at, after) > 0 {
			return 1
		}
		return -1
	})
	return places[i:]
}

// page gives a page and the total.
func (r *rings) page(ctx context.Context, q readmodel.Query) (total int, out []hit, err error) {
	places, total, err := r.keys(ctx, r.query, min(fewKeys, r.x.o.MaxResultWindow))
	if err != nil || q.Limit == 0 {
		return total, nil, err
	}
	if total == len(places) {
		places = r.cut(places, q.After)
		from := min(q.Offset, len(places))
		out, err = r.bodies(ctx, places[from:min(from+q.Limit, len(places))])
		return total, out, err
	}
	step, skip, err := r.begin(ctx, q)
	for err == nil && step < len(r.n) && len(out) < q.Limit {
		var more []hit
		q.Limit -= len(out)
		step, more, err = r.some(ctx, step, skip, q)
		q.Limit += len(out)
		out, skip = append(out, more...), 0
	}
	if err != nil || len(out) == q.Limit {
		return total, out, err
	}
	left := readmodel.Query{Kind: q.Kind, Sort: q.Sort[1:], Offset: skip, Limit: q.Limit - len(out)}
	if q.After != nil && !q.After[0].Has {
		left.After, left.Offset = q.After[1:], 0
	}
	_, more, err := r.x.page(ctx, r.index, left, object{"bool": object{"filter": list{r.query}, "must_not": list{in(r.by[0].Field, r.ids)}}})
	return total, append(out, more...), err
}

// begin gives the step at which a page begins, the number of rings for behind all of them,
// and how many documents it passes over there.
func (r *rings) begin(ctx context.Context, q readmodel.Query) (step, skip int, err error) {
	if q.After != nil {
		if !q.After[0].Has {
			return len(r.n), 0, nil
		}
		return sort.Search(len(r.n), func(i int) bool { return r.by[0].Compare(r.number(i), q.After[0]) >= 0 }), 0, nil
	}
	if step, err = r.lastStep(ctx, 0, q.Offset); err != nil {
		return 0, 0, err
	}
	passed, err := r.before(ctx, step)
	return step, q.Offset - passed, err
}

// some gives some documents from a step on, and the step to go on with.
func (r *rings) some(ctx context.Context, step, skip int, q readmodel.Query) (next int, out []hit, err error) {
	passed, err := r.before(ctx, step)
	if err != nil {
		return 0, nil, err
	}
	if next, err = r.lastStep(ctx, step, passed+min(fewKeys, r.x.o.MaxResultWindow)); err != nil {
		return 0, nil, err
	}
	if next > step {
		places, _, err := r.keys(ctx, r.between(step, next), min(fewKeys, r.x.o.MaxResultWindow))
		if err != nil {
			return 0, nil, err
		}
		places = r.cut(places, q.After)
		places = places[min(skip, len(places)):]
		out, err = r.bodies(ctx, places[:min(q.Limit, len(places))])
		return next, out, err
	}
	// Many in one ring: the engine has their order.
	ring := readmodel.Query{Kind: q.Kind, Sort: q.Sort[1:], Offset: skip, Limit: q.Limit}
	if q.After != nil && q.After[0] == r.number(step) {
		ring.After, ring.Offset = q.After[1:], 0
	}
	_, out, err = r.x.page(ctx, r.index, ring, r.between(step, step+1))
	return step + 1, out, err
}

// all gives the documents of a walk in order.
func (r *rings) all(ctx context.Context, body func(object) object) ([]calendar.ID, error) {
	var places []placed
	if err := r.x.walk(ctx, "", r.keysBody(body(object{})), walkPage, func(h *hit) (bool, error) {
		p, err := r.placed(h)
		places = append(places, p)
		return true, err
	}); err != nil {
		return nil, err
	}
	r.sort(places)
	ids := make([]calendar.ID, len(places))
	for i := range places {
		ids[i] = places[i].id
	}
	return ids, nil
}

// lacking is what engines sort a document by that has no value of a key.
func lacking(desc bool) int64 {
	if desc {
		return -1 << 63
	}
	return 1<<63 - 1
}

// searchAfter gives a place as engines take it.
func searchAfter(by []readmodel.Sort, after []readmodel.Key) list {
	out := make(list, 0, len(by)+1)
	for i, k := range by {
		n := lacking(k.Desc)
		if after[i].Has {
			n = after[i].N
		}
		if out = append(out, n); k.Tail {
			n := lacking(false)
			if !after[i].Has {
				n = after[len(after)-1].N
			}
			out = append(out, n)
		}
	}
	return out
}
