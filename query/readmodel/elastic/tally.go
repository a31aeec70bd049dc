package elastic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// mostValues is how many values of a field one request gives; both engines give 65,535
// of all fields together. A field with more is counted page by page.
const mostValues = 8_000

// mostPairs is how many values of documents with several of them one request gives.
const mostPairs = 4_000

// errMore says that there is more to count than one request gives.
var errMore = errors.New("more to count")

// searchApart answers a page and its tallies by a search each, of one state.
func (x *Index) searchApart(ctx context.Context, q readmodel.Query) (page readmodel.Page, err error) {
	tallies := readmodel.Query{Kind: q.Kind, Filter: q.Filter, Tallies: q.Tallies}
	q.Tallies = nil
	err = x.Still(ctx, func(ctx context.Context) error {
		if page, err = x.Search(ctx, q); err != nil {
			return err
		}
		counted, err := x.Search(ctx, tallies)
		page.Tallied = counted.Tallied
		return err
	})
	return page, err
}

// tallied answers a page and its tallies by one request, so that they are of one state:
// values and parts are counted under the filter of the selection. What lies in a group is
// the sum of its values, less what documents with several of them are counted too often.
// errMore is for reads that do not show one state.
func (x *Index) tallied(ctx context.Context, c *compiler, index string, q readmodel.Query, query object) (total int, hits []hit, out [][]readmodel.Tallied, err error) {
	body, _ := searchBody(q, query, x.o.MaxResultWindow)
	if q.Narrow != nil {
		if body["post_filter"], err = c.compile(ctx, q.Narrow); err != nil {
			return 0, nil, nil, err
		}
	}
	asked, filters := object{}, make([]object, len(q.Tallies))
	for i := range q.Tallies {
		of := &q.Tallies[i]
		if filters[i], err = c.compile(ctx, of.Filter); err != nil {
			return 0, nil, nil, err
		}
		aggs := object{}
		for j := range of.Tallies {
			if err := c.ask(ctx, aggs, strconv.Itoa(j), &of.Tallies[j], x.mostPairs()); err != nil {
				return 0, nil, nil, err
			}
		}
		asked["s"+strconv.Itoa(i)] = object{"filter": filters[i], "aggs": aggs}
	}
	body["aggs"] = object{"tallies": object{"filter": matchAll, "aggs": asked}}
	a, err := x.search(ctx, body, index)
	if err != nil {
		return 0, nil, nil, err
	}
	out = make([][]readmodel.Tallied, len(q.Tallies))
	for i := range q.Tallies {
		of := &q.Tallies[i]
		answers := a.Aggregations.Tallies["s"+strconv.Itoa(i)]
		out[i] = make([]readmodel.Tallied, len(of.Tallies))
		for j := range of.Tallies {
			t, got := &of.Tallies[j], &out[i][j]
			more, err := readTally(answers, strconv.Itoa(j), t, got)
			if err == nil && more {
				if stillOf(ctx) == nil {
					return 0, nil, nil, errMore
				}
				err = x.countAll(ctx, q.Kind, t, readmodel.Both(q.Filter, of.Filter), got)
			}
			if err == nil && len(t.Groups) > 0 {
				err = x.group(ctx, index, answers["g"+t.Field], object{"bool": object{"filter": list{query, filters[i], term(fieldSeveral, t.Field)}}}, t, got)
			}
			if err != nil {
				return 0, nil, nil, err
			}
		}
	}
	return a.Hits.Total.Value, a.Hits.Hits, out, nil
}

// ask adds the aggregations of a tally: values by their field, once for all tallies of it,
// parts by the number of the tally.
func (c *compiler) ask(ctx context.Context, aggs object, number string, t *readmodel.Tally, most int) error {
	if t.Field != "" {
		aggs["v"+t.Field] = object{"terms": object{"field": t.Field, "size": mostValues}}
	}
	if len(t.Groups) > 0 {
		aggs["g"+t.Field] = object{"filter": term(fieldSeveral, t.Field), "aggs": object{"pairs": pairsOf(t.Field, nil, most)}}
	}
	if len(t.Parts) == 0 {
		return nil
	}
	parts := make(list, len(t.Parts))
	for i, part := range t.Parts {
		q, err := c.compile(ctx, part)
		if err != nil {
			return err
		}
		parts[i] = q
	}
	aggs["p"+number] = object{"filters": object{"filters": parts}}
	return nil
}

func (x *Index) mostPairs() int { return min(mostPairs, x.o.MaxResultWindow) }

// pairsOf asks for the values of documents, by id, behind those of another answer.
func pairsOf(field string, after json.RawMessage, most int) object {
	ask := object{"size": most, "sources": list{
		object{"id": object{"terms": object{"field": readmodel.FieldID}}},
		object{"value": object{"terms": object{"field": field}}},
	}}
	if after != nil {
		ask["after"] = after
	}
	return object{"composite": ask}
}

// readTally reads the values and parts of a tally; more tells that there are more values.
func readTally(answers map[string]*tallyAnswer, number string, t *readmodel.Tally, got *readmodel.Tallied) (more bool, err error) {
	got.Parts = make([]int, len(t.Parts))
	if t.Field != "" {
		values := answers["v"+t.Field]
		if values == nil {
			return false, fmt.Errorf("no tally of %s", t.Field)
		}
		more = values.Others > 0
		for _, b := range values.Buckets {
			got.Values = append(got.Values, readmodel.Value{Value: b.Key, N: b.Count})
		}
		readmodel.SortValues(got.Values)
	}
	if len(t.Parts) > 0 {
		parts := answers["p"+number]
		if parts == nil || len(parts.Buckets) != len(t.Parts) {
			return false, fmt.Errorf("tally of %d parts: %v", len(t.Parts), parts)
		}
		for i, b := range parts.Buckets {
			got.Parts[i] = b.Count
		}
	}
	return more, nil
}

// countAll counts all values of an id field.
func (x *Index) countAll(ctx context.Context, kind calendar.Kind, t *readmodel.Tally, f readmodel.Filter, got *readmodel.Tallied) error {
	counts, err := x.Counts(ctx, kind, t.Field, f)
	got.Values = got.Values[:0]
	for id, n := range counts {
		got.Values = append(got.Values, readmodel.Value{Value: int64(id), N: n})
	}
	readmodel.SortValues(got.Values)
	return err
}

// group counts groups. What a query finds are the documents with several values, which
// count once in each group.
func (x *Index) group(ctx context.Context, index string, several *tallyAnswer, query object, t *readmodel.Tally, got *readmodel.Tallied) error {
	groups := map[calendar.ID]int{}
	for at, group := range t.Groups {
		for _, id := range group {
			groups[id] = at
		}
	}
	got.Groups = make([]int, len(t.Groups))
	for _, v := range got.Values {
		if at, ok := groups[calendar.ID(v.Value)]; ok {
			got.Groups[at] += v.N
		}
	}
	if several == nil {
		return fmt.Errorf("no groups of %s", t.Field)
	}
	var id calendar.ID // of the document at hand
	seen := map[int]bool{}
	for found := &several.Pairs; ; {
		for i := range found.Buckets {
			b := &found.Buckets[i].Key
			if b.ID != id {
				id = b.ID
				clear(seen)
			}
			at, ok := groups[b.Value]
			if ok && seen[at] {
				got.Groups[at]--
			}
			seen[at] = seen[at] || ok
		}
		if len(found.Buckets) < x.mostPairs() {
			return nil
		}
		if stillOf(ctx) == nil {
			return errMore
		}
		a, err := x.search(ctx, object{"size": 0, "track_total_hits": false, "query": query, "aggs": object{"pairs": pairsOf(t.Field, found.After, x.mostPairs())}}, index)
		if err != nil {
			return err
		}
		found = &a.Aggregations.Pairs
	}
}

// Stamp names the state of the documents of a kind by the last position that one of them,
// or the tombstone of one, is from.
func (x *Index) Stamp(ctx context.Context, kind calendar.Kind) (readmodel.Stamp, error) {
	var s readmodel.Stamp
	err := x.reading(ctx, func(v view) error {
		a, err := x.search(ctx, object{
			"size": 0, "track_total_hits": true,
			"aggs": object{"stats": object{"stats": object{"field": fieldAt}}},
		}, x.names().index(collectionOf(kind), v.gen))
		if err != nil {
			return err
		}
		s = readmodel.Stamp{Of: uint64(calendar.HashStart.Number(v.visible.Content).Number(uint64(a.Hits.Total.Value)))}
		if last := a.Aggregations.Stats.Max; last != nil {
			s.Changed = uint64(*last)
		}
		return nil
	})
	return s, err
}
