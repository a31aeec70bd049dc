package elastic

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// mostValues is how many values of a field one request gives; both engines give 65,535
// of all fields together. A field with more is counted page by page.
const mostValues = 8_000

// tallyAnswer is the answer to a request for tallies: by selection, by tally.
type tallyAnswer struct {
	TimedOut     bool                                  `json:"timed_out"`
	Aggregations map[string]map[string]json.RawMessage `json:"aggregations"`
}

// buckets are counts by value or by part.
type buckets struct {
	Others  int `json:"sum_other_doc_count"`
	Buckets []struct {
		Key   int64 `json:"key"`
		Count int   `json:"doc_count"`
	} `json:"buckets"`
}

// Tally answers what is asked of selections by one request: values and parts are counted
// under the filter of the selection. What lies in a group is the sum of its values; the
// documents with several of them are read, and counted once.
func (x *Index) Tally(ctx context.Context, kind calendar.Kind, base readmodel.Filter, of []readmodel.Selection) ([][]readmodel.Tallied, calendar.Position, error) {
	if err := readmodel.CheckTally(kind, base, of); err != nil {
		return nil, 0, err
	}
	var out [][]readmodel.Tallied
	var p calendar.Position
	err := x.reading(ctx, func(v view) (err error) {
		p = v.visible.Position
		out, err = x.tally(ctx, v, kind, base, of)
		return err
	})
	return out, p, err
}

func (x *Index) tally(ctx context.Context, v view, kind calendar.Kind, base readmodel.Filter, of []readmodel.Selection) ([][]readmodel.Tallied, error) {
	index, c := x.names().index(collectionOf(kind), v.gen), x.compiler(v.gen, kind)
	query, err := c.query(ctx, base)
	if err != nil {
		return nil, err
	}
	selections, filters := object{}, make([]object, len(of))
	for i := range of {
		if filters[i], err = c.compile(ctx, of[i].Filter); err != nil {
			return nil, err
		}
		asked := object{}
		for j := range of[i].Tallies {
			if err := c.ask(ctx, asked, strconv.Itoa(j), &of[i].Tallies[j]); err != nil {
				return nil, err
			}
		}
		selections["s"+strconv.Itoa(i)] = object{"filter": filters[i], "aggs": asked}
	}
	var a tallyAnswer
	err = x.ask(ctx, "tally", object{"size": 0, "track_total_hits": false, "query": query, "aggs": selections}, &a, index)
	if err == nil && a.TimedOut {
		err = fmt.Errorf("tally: %w: it timed out", readmodel.ErrUnavailable)
	}
	if err != nil {
		return nil, err
	}
	out := make([][]readmodel.Tallied, len(of))
	for i := range of {
		out[i] = make([]readmodel.Tallied, len(of[i].Tallies))
		answers := a.Aggregations["s"+strconv.Itoa(i)]
		for j := range of[i].Tallies {
			t, got := &of[i].Tallies[j], &out[i][j]
			var more, several bool
			if more, several, err = readTally(answers, strconv.Itoa(j), t, got); err != nil {
				return nil, err
			}
			if more {
				err = x.countAll(ctx, kind, t, readmodel.Both(base, of[i].Filter), got)
			}
			readmodel.SortValues(got.Values)
			got.Groups = sums(t, got)
			if err == nil && several {
				err = x.countOnce(ctx, index, object{"bool": object{"filter": list{query, filters[i], term(fieldSeveral, t.Field)}}}, t, got)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// ask adds the aggregations of a tally; their names begin with a letter for each part of
// it and end with a number.
func (c *compiler) ask(ctx context.Context, asked object, number string, t *readmodel.Tally) error {
	if t.Field != "" {
		asked["v"+number] = object{"terms": object{"field": t.Field, "size": mostValues}}
	}
	if len(t.Groups) > 0 {
		asked["n"+number] = object{"filter": term(fieldSeveral, t.Field)}
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
	asked["p"+number] = object{"filters": object{"filters": parts}}
	return nil
}

// readTally reads what was counted; more tells that there are more values, several that
// there are documents with several of them.
func readTally(answers map[string]json.RawMessage, number string, t *readmodel.Tally, got *readmodel.Tallied) (more, several bool, err error) {
	got.Parts = make([]int, len(t.Parts))
	if t.Field != "" {
		var values buckets
		if err := json.Unmarshal(answers["v"+number], &values); err != nil {
			return false, false, fmt.Errorf("tally of %s: %w", t.Field, err)
		}
		more = values.Others > 0
		for _, b := range values.Buckets {
			got.Values = append(got.Values, readmodel.Value{Value: b.Key, N: b.Count})
		}
	}
	if len(t.Groups) > 0 {
		var n struct {
			Count int `json:"doc_count"`
		}
		if err := json.Unmarshal(answers["n"+number], &n); err != nil {
			return false, false, fmt.Errorf("tally of %s: %w", t.Field, err)
		}
		several = n.Count > 0
	}
	if len(t.Parts) > 0 {
		var parts buckets
		if err := json.Unmarshal(answers["p"+number], &parts); err != nil || len(parts.Buckets) != len(t.Parts) {
			return false, false, fmt.Errorf("tally of parts: %d of %d: %w", len(parts.Buckets), len(t.Parts), err)
		}
		for i, b := range parts.Buckets {
			got.Parts[i] = b.Count
		}
	}
	return more, several, nil
}

// countAll counts all values of an id field.
func (x *Index) countAll(ctx context.Context, kind calendar.Kind, t *readmodel.Tally, f readmodel.Filter, got *readmodel.Tallied) error {
	counts, err := x.Counts(ctx, kind, t.Field, f)
	got.Values = got.Values[:0]
	for id, n := range counts {
		got.Values = append(got.Values, readmodel.Value{Value: int64(id), N: n})
	}
	return err
}

// sums gives for each group the sum of its values.
func sums(t *readmodel.Tally, got *readmodel.Tallied) []int {
	out := make([]int, len(t.Groups))
	if len(out) == 0 {
		return out
	}
	groups := groupsOf(t)
	for _, v := range got.Values {
		if at, ok := groups[calendar.ID(v.Value)]; ok {
			out[at] += v.N
		}
	}
	return out
}

func groupsOf(t *readmodel.Tally) map[calendar.ID]int {
	out := map[calendar.ID]int{}
	for at, group := range t.Groups {
		for _, id := range group {
			out[id] = at
		}
	}
	return out
}

// countOnce takes from the sums of groups what a document with several values of a group
// counts too often.
func (x *Index) countOnce(ctx context.Context, index string, query object, t *readmodel.Tally, got *readmodel.Tallied) error {
	groups := groupsOf(t)
	body := object{
		"query": query, "size": min(walkPage, x.o.MaxResultWindow), "track_total_hits": false, "sort": byID,
		"stored_fields": "_none_", "docvalue_fields": list{t.Field},
	}
	for {
		var a struct {
			TimedOut bool `json:"timed_out"`
			Hits     struct {
				Hits []struct {
					Fields map[string][]calendar.ID `json:"fields"`
					Sort   []json.RawMessage        `json:"sort"`
				} `json:"hits"`
			} `json:"hits"`
		}
		err := x.ask(ctx, "tally", body, &a, index)
		if err == nil && a.TimedOut {
			err = fmt.Errorf("tally: %w: it timed out", readmodel.ErrUnavailable)
		}
		if err != nil {
			return err
		}
		for i := range a.Hits.Hits {
			seen := map[int]bool{}
			for _, id := range a.Hits.Hits[i].Fields[t.Field] {
				at, ok := groups[id]
				if ok && seen[at] {
					got.Groups[at]--
				}
				seen[at] = seen[at] || ok
			}
		}
		n := len(a.Hits.Hits)
		if n < body["size"].(int) { //nolint:forcetypeassert // set above
			return nil
		}
		body["search_after"] = a.Hits.Hits[n-1].Sort
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
