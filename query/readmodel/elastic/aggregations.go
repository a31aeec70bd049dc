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
	Values struct {
		Others  int `json:"sum_other_doc_count"`
		Buckets []struct {
			Key   int64
			Count int `json:"doc_count"`
		}
	}
	Parts struct {
		Buckets []struct {
			Count int `json:"doc_count"`
		}
	}
	Pairs   pairs
	Several struct{ Pairs pairs }
	Changes struct{ Value float64 }
}

// pairs are counts by the values of an id field, page by page: of all documents, or of each.
type pairs struct {
	After   json.RawMessage `json:"after_key"`
	Buckets []pair
}

type pair struct {
	Key   struct{ ID, Value calendar.ID }
	Count int `json:"doc_count"`
}

// filtered aggregates the documents of a query by parts.
func filtered(query, parts object) object { return object{"filter": query, "aggs": parts} }

// pairsOf makes the aggregation of pairs, behind the last of another page.
func (x *Index) pairsOf(field string, each bool, after json.RawMessage) object {
	source := func(name, field string) object {
		return object{name: object{"terms": object{"field": field, "value_type": "long"}}}
	}
	sources := list{source("value", field)}
	if each {
		sources = list{source("id", readmodel.FieldID), sources[0]}
	}
	composite := object{"size": x.maxBuckets(), "sources": sources}
	if after != nil {
		composite["after"] = after
	}
	return object{"composite": composite}
}

// eachPair calls use with all pairs of the documents that a filter admits, the first page of
// which may be there. Pairs of each document are those of documents with several values.
func (v *view) eachPair(ctx context.Context, s state, kind calendar.Kind, f readmodel.Filter, field string, each bool, page *pairs, use func(*pair)) error {
	var after json.RawMessage
	for {
		if page != nil {
			for i := range page.Buckets {
				use(&page.Buckets[i])
			}
			if len(page.Buckets) < v.x.maxBuckets() {
				return nil
			}
			after = page.After
		}
		query, err := v.compiler(s, kind).query(ctx, f)
		if err != nil {
			return err
		}
		of := matchAll
		if each {
			of = term(fieldSeveral, field)
		}
		var a answer
		if err := v.search(ctx, s, collectionOf(kind), searchRequest{
			Query: query, Aggs: object{"all": filtered(of, object{"pairs": v.x.pairsOf(field, each, after)})},
		}, &a); err != nil {
			return err
		}
		all := a.Aggregations["all"]
		page = &all.Pairs
	}
}

func (v *view) counts(ctx context.Context, s state, kind calendar.Kind, f readmodel.Filter, field string) (map[calendar.ID]int, error) {
	out := map[calendar.ID]int{}
	return out, v.eachPair(ctx, s, kind, f, field, false, nil, func(p *pair) { out[p.Key.Value] = p.Count })
}

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

// askTallies makes the aggregations of the tallies of a query, each under the filter of its
// selection, so that they are of the state of its page.
func (v *view) askTallies(ctx context.Context, c *compiler, of []readmodel.Selection) (object, error) {
	aggs := object{}
	for i, selection := range of {
		selected, err := c.compile(ctx, selection.Filter)
		if err != nil {
			return nil, err
		}
		for j, t := range selection.Tallies {
			parts := object{}
			if t.Field != "" {
				parts["values"] = object{"terms": object{"field": t.Field, "size": maxBuckets}}
			}
			if len(t.Groups) > 0 {
				parts["several"] = filtered(term(fieldSeveral, t.Field), object{"pairs": v.x.pairsOf(t.Field, true, nil)})
			}
			if len(t.Parts) > 0 {
				var filters list
				for _, part := range t.Parts {
					query, err := c.compile(ctx, part)
					if err != nil {
						return nil, err
					}
					filters = append(filters, query)
				}
				parts["parts"] = object{"filters": object{"filters": filters}}
			}
			aggs[tallyName(i, j)] = filtered(selected, parts)
		}
	}
	return aggs, nil
}

func tallyName(selection, tally int) string { return fmt.Sprint(selection, "-", tally) }

// readTallies reads the answers to them. What one answer did not hold is counted page by page.
func (v *view) readTallies(ctx context.Context, s state, q *readmodel.Query, found map[string]counted) (out [][]readmodel.Tallied, err error) {
	for i, selection := range q.Tallies {
		out = append(out, make([]readmodel.Tallied, len(selection.Tallies)))
		f := readmodel.Both(q.Filter, selection.Filter)
		for j := range selection.Tallies {
			t, got, from := &selection.Tallies[j], &out[i][j], found[tallyName(i, j)]
			if len(from.Parts.Buckets) != len(t.Parts) {
				return nil, fmt.Errorf("tally of %d parts: %d", len(t.Parts), len(from.Parts.Buckets))
			}
			for _, part := range from.Parts.Buckets {
				got.Parts = append(got.Parts, part.Count)
			}
			for _, value := range from.Values.Buckets {
				got.Values = append(got.Values, readmodel.Value{Value: value.Key, N: value.Count})
			}
			if from.Values.Others > 0 {
				counts, err := v.counts(ctx, s, q.Kind, f, t.Field)
				if err != nil {
					return nil, err
				}
				got.Values = got.Values[:0]
				for id, n := range counts {
					got.Values = append(got.Values, readmodel.Value{Value: int64(id), N: n})
				}
			}
			readmodel.SortValues(got.Values)
			if got.Groups, err = v.groups(ctx, s, q.Kind, f, t, got.Values, &from.Several.Pairs); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// groups counts the documents of each group: the sum of its values, less what documents of
// several values are counted too often.
func (v *view) groups(ctx context.Context, s state, kind calendar.Kind, f readmodel.Filter, t *readmodel.Tally, values []readmodel.Value, page *pairs) ([]int, error) {
	out := make([]int, len(t.Groups))
	groupOf := map[calendar.ID]int{}
	for i, group := range t.Groups {
		for _, id := range group {
			groupOf[id] = i
			out[i] += readmodel.CountOf(values, int64(id))
		}
	}
	type counting struct {
		document calendar.ID
		group    int
	}
	seen := map[counting]bool{}
	return out, v.eachPair(ctx, s, kind, f, t.Field, true, page, func(p *pair) {
		if i, ok := groupOf[p.Key.Value]; ok {
			if of := (counting{p.Key.ID, i}); seen[of] {
				out[i]--
			} else {
				seen[of] = true
			}
		}
	})
}
