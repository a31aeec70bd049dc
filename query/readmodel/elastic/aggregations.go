package elastic

import (
	"context"
	"encoding/json"
	"fmt"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// maxBuckets is how many values one aggregation returns; engines return 65,535 of all
// together. A field with more of them is counted page by page.
const maxBuckets = 5_000

// counted is the answer to an aggregation of some documents, with the parts that were asked.
type counted struct {
	Values struct {
		Others  int `json:"sum_other_doc_count"`
		Buckets []struct {
			Key   int64
			Count int `json:"doc_count"`
		}
	}
	Groups, Parts struct {
		Buckets []struct {
			Count int `json:"doc_count"`
		}
	}
	Page struct {
		After   json.RawMessage `json:"after_key"`
		Buckets []struct {
			Key   struct{ Value int64 }
			Count int `json:"doc_count"`
		}
	}
	Changes struct{ Value float64 }
}

// filtered aggregates the documents of a query by parts.
func filtered(query, parts object) object { return object{"filter": query, "aggs": parts} }

// Stamp implements readmodel.View. Each change of a document gives it a greater sequence
// number than all before.
func (v *view) Stamp(ctx context.Context, kind calendar.Kind) (stamp uint64, err error) {
	err = v.read(ctx, func(s state) error {
		changes := object{"changes": object{"sum": object{"field": "_seq_no"}}}
		var a answer
		err := v.search(ctx, s, collectionOf(kind), searchRequest{Query: matchAll, Total: true, Aggs: object{"all": filtered(matchAll, changes)}}, &a)
		of := calendar.HashStart.Number(s.shown.Content).Number(uint64(a.Hits.Total.Value))
		stamp = uint64(of.Number(uint64(a.Aggregations["all"].Changes.Value)))
		return err
	})
	return stamp, err
}

// tallies makes the aggregations of the tallies of a query, each under the filter of its
// selection, so that they are of the state of its page.
func (c *compiler) tallies(of []readmodel.Selection) object {
	aggs := object{}
	for i, selection := range of {
		selected := c.query(selection.Filter)
		for j, t := range selection.Tallies {
			parts := object{}
			if t.Field != "" {
				parts["values"] = object{"terms": object{"field": t.Field, "size": maxBuckets}}
			}
			var groups []readmodel.Filter
			for _, ids := range t.Groups {
				groups = append(groups, readmodel.In{Field: t.Field, IDs: ids})
			}
			for name, filters := range map[string][]readmodel.Filter{"groups": groups, "parts": t.Parts} {
				if len(filters) > 0 {
					parts[name] = object{"filters": object{"filters": c.filters(filters)}}
				}
			}
			aggs[tallyName(i, j)] = filtered(selected, parts)
		}
	}
	return aggs
}

func tallyName(selection, tally int) string { return fmt.Sprint(selection, "-", tally) }

// readTallies reads the answers to them. What one answer did not hold is counted page by page.
func (v *view) readTallies(ctx context.Context, s state, q *readmodel.Query, found map[string]counted) (out [][]readmodel.Tallied, err error) {
	for i, selection := range q.Tallies {
		out = append(out, make([]readmodel.Tallied, len(selection.Tallies)))
		for j := range selection.Tallies {
			t, got, from := &selection.Tallies[j], &out[i][j], found[tallyName(i, j)]
			if len(from.Parts.Buckets) != len(t.Parts) || len(from.Groups.Buckets) != len(t.Groups) {
				return nil, fmt.Errorf("tally of %d parts and %d groups: %d, %d", len(t.Parts), len(t.Groups), len(from.Parts.Buckets), len(from.Groups.Buckets))
			}
			for _, part := range from.Parts.Buckets {
				got.Parts = append(got.Parts, part.Count)
			}
			for _, group := range from.Groups.Buckets {
				got.Groups = append(got.Groups, group.Count)
			}
			for _, value := range from.Values.Buckets {
				got.Values = append(got.Values, readmodel.Value{Value: value.Key, N: value.Count})
			}
			if from.Values.Others > 0 {
				if got.Values, err = v.counts(ctx, s, q.Kind, readmodel.Both(q.Filter, selection.Filter), t.Field); err != nil {
					return nil, err
				}
			}
			readmodel.SortValues(got.Values)
		}
	}
	return out, nil
}

// counts counts the documents that a filter admits by the values of a field, page by page.
func (v *view) counts(ctx context.Context, s state, kind calendar.Kind, f readmodel.Filter, field string) (out []readmodel.Value, err error) {
	c := v.compiler(ctx, s, kind)
	value := object{"terms": object{"field": field, "value_type": "long"}}
	composite := object{"size": maxBuckets, "sources": list{object{"value": value}}}
	r := searchRequest{Query: c.live(c.query(f)), Aggs: object{"all": filtered(matchAll, object{"page": object{"composite": composite}})}}
	if c.err != nil {
		return nil, c.err
	}
	for {
		var a answer
		if err := v.search(ctx, s, collectionOf(kind), r, &a); err != nil {
			return nil, err
		}
		page := a.Aggregations["all"].Page
		for _, b := range page.Buckets {
			out = append(out, readmodel.Value{Value: b.Key.Value, N: b.Count})
		}
		if len(page.Buckets) < maxBuckets {
			return out, nil
		}
		composite["after"] = page.After
	}
}
