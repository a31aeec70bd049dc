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

func (x *Index) maxBuckets() int { return min(maxBuckets, x.o.MaxResultWindow) }

// counted is the answer to an aggregation of some documents, with the parts that were asked.
type counted struct {
	Values valuePage
	Parts  struct {
		Buckets []struct {
			Count int `json:"doc_count"`
		}
	}
	Changes struct{ Value float64 }
}

// valuePage is a page of counts by the values of a field.
type valuePage struct {
	After   json.RawMessage `json:"after_key"`
	Buckets []struct {
		Key   struct{ Value int64 }
		Count int `json:"doc_count"`
	}
}

// valuesOf makes the aggregation of a page of values, behind another one.
func (x *Index) valuesOf(field string, after json.RawMessage) object {
	composite := object{"size": x.maxBuckets(), "sources": list{object{"value": object{"terms": object{"field": field}}}}}
	if after != nil {
		composite["after"] = after
	}
	return object{"composite": composite}
}

// filtered aggregates the documents of a query by parts.
func filtered(query, parts object) object { return object{"filter": query, "aggs": parts} }

// Stamp implements readmodel.View. Each change of a document gives it a greater sequence
// number than all before.
func (v *view) Stamp(ctx context.Context, kind calendar.Kind) (uint64, error) {
	changes := object{"changes": object{"sum": object{"field": "_seq_no"}}}
	var a answer
	err := v.search(ctx, kind, searchRequest{Query: matchAll, Total: true, Aggs: object{"all": filtered(matchAll, changes)}}, &a)
	of := calendar.HashStart.Number(v.Shown().Content).Number(uint64(a.Hits.Total.Value))
	return uint64(of.Number(uint64(a.Aggregations["all"].Changes.Value))), err
}

// tallies makes the aggregations of the tallies of a query, each under the filter of its
// selection, so that they are of the state of its page.
func (v *view) tallies(c *compiler, of []readmodel.Selection) object {
	aggs := object{}
	for i, selection := range of {
		selected := c.query(selection.Filter)
		for j, t := range selection.Tallies {
			parts := object{}
			if t.Field != "" {
				parts["values"] = v.x.valuesOf(t.Field, nil)
			}
			filters := c.filters(t.Parts)
			for _, group := range t.Groups {
				if len(group) > 1 { // else it is a value
					filters = append(filters, in(t.Field, group))
				}
			}
			if len(filters) > 0 {
				parts["parts"] = object{"filters": object{"filters": filters}}
			}
			aggs[tallyName(i, j)] = filtered(selected, parts)
		}
	}
	return aggs
}

func tallyName(selection, tally int) string { return fmt.Sprint(selection, "-", tally) }

// readTallies reads the answers to them. What one answer did not hold is asked page by page.
func (v *view) readTallies(ctx context.Context, q *readmodel.Query, found map[string]counted) (out [][]readmodel.Tallied, err error) {
	for i, selection := range q.Tallies {
		out = append(out, make([]readmodel.Tallied, len(selection.Tallies)))
		for j := range selection.Tallies {
			t, got, from := &selection.Tallies[j], &out[i][j], found[tallyName(i, j)]
			if got.Values, err = v.values(ctx, q.Kind, readmodel.Both(q.Filter, selection.Filter), t.Field, &from.Values); err != nil {
				return nil, err
			}
			counts := make([]int, len(from.Parts.Buckets))
			for part := range counts {
				counts[part] = from.Parts.Buckets[part].Count
			}
			if len(counts) < len(t.Parts) {
				return nil, fmt.Errorf("tally of %d parts: %d", len(t.Parts), len(counts))
			}
			got.Parts, counts = counts[:len(t.Parts)], counts[len(t.Parts):]
			for _, group := range t.Groups {
				switch {
				case len(group) == 1:
					got.Groups = append(got.Groups, readmodel.CountOf(got.Values, int64(group[0])))
				case len(group) == 0 || len(counts) == 0:
					got.Groups = append(got.Groups, 0)
				default:
					got.Groups, counts = append(got.Groups, counts[0]), counts[1:]
				}
			}
		}
	}
	return out, nil
}

// values returns the counts of the values of a field, of the documents that a filter admits,
// from their first page on.
func (v *view) values(ctx context.Context, kind calendar.Kind, f readmodel.Filter, field string, page *valuePage) (out []readmodel.Value, err error) {
	for {
		for _, b := range page.Buckets {
			out = append(out, readmodel.Value{Value: b.Key.Value, N: b.Count})
		}
		if len(page.Buckets) < v.x.maxBuckets() {
			return out, nil
		}
		c := v.compiler(ctx, kind)
		r := searchRequest{Query: live(c.query(f)), Aggs: object{"all": filtered(matchAll, object{"values": v.x.valuesOf(field, page.After)})}}
		if c.err != nil {
			return nil, c.err
		}
		var a answer
		if err := v.search(ctx, kind, r, &a); err != nil {
			return nil, err
		}
		all := a.Aggregations["all"]
		page = &all.Values
	}
}
