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

// pairs are a page of counts by the values of a field: of all documents, or of each.
type pairs struct {
	After   json.RawMessage `json:"after_key"`
	Buckets []struct {
		Key   struct{ ID, Value int64 }
		Count int `json:"doc_count"`
	}
}

// pairsOf makes the aggregation of a page of pairs, behind the one before.
func (x *Index) pairsOf(field string, each bool, before *pairs) object {
	source := func(name, field string) object {
		return object{name: object{"terms": object{"field": field, "value_type": "long"}}}
	}
	sources := list{source("value", field)}
	if each {
		sources = list{source("id", readmodel.FieldID), sources[0]}
	}
	composite := object{"size": x.maxBuckets(), "sources": sources}
	if before != nil {
		composite["after"] = before.After
	}
	return object{"composite": composite}
}

// eachPage calls use with the pages of pairs behind a first one, of the documents that a
// filter admits. Pairs of each document are those of documents with several values.
func (v *view) eachPage(ctx context.Context, s state, kind calendar.Kind, f readmodel.Filter, field string, each bool, page *pairs, use func(*pairs)) error {
	c := v.compiler(ctx, s, kind)
	r := searchRequest{Query: c.live(c.query(f))}
	of := matchAll
	if each {
		of = term(fieldSeveral, field)
	}
	for c.err == nil && (page == nil || len(page.Buckets) == v.x.maxBuckets()) {
		r.Aggs = object{"all": filtered(of, object{"pairs": v.x.pairsOf(field, each, page)})}
		var a answer
		if err := v.search(ctx, s, collectionOf(kind), r, &a); err != nil {
			return err
		}
		all := a.Aggregations["all"]
		page = &all.Pairs
		use(page)
	}
	return c.err
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
func (v *view) tallies(c *compiler, of []readmodel.Selection) object {
	aggs := object{}
	for i, selection := range of {
		selected := c.query(selection.Filter)
		for j, t := range selection.Tallies {
			parts := object{}
			if t.Field != "" {
				parts["values"] = object{"terms": object{"field": t.Field, "size": maxBuckets}}
			}
			if len(t.Groups) > 0 {
				parts["several"] = filtered(term(fieldSeveral, t.Field), object{"pairs": v.x.pairsOf(t.Field, true, nil)})
			}
			if len(t.Parts) > 0 {
				parts["parts"] = object{"filters": object{"filters": c.filters(t.Parts)}}
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
			f := readmodel.Both(q.Filter, selection.Filter)
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
				got.Values = got.Values[:0]
				if err := v.eachPage(ctx, s, q.Kind, f, t.Field, false, nil, func(page *pairs) {
					for _, b := range page.Buckets {
						got.Values = append(got.Values, readmodel.Value{Value: b.Key.Value, N: b.Count})
					}
				}); err != nil {
					return nil, err
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
func (v *view) groups(ctx context.Context, s state, kind calendar.Kind, f readmodel.Filter, t *readmodel.Tally, values []readmodel.Value, first *pairs) ([]int, error) {
	out := make([]int, len(t.Groups))
	groupOf := map[int64]int{}
	for i, group := range t.Groups {
		for _, id := range group {
			groupOf[int64(id)] = i
			out[i] += readmodel.CountOf(values, int64(id))
		}
	}
	type counting struct {
		document int64
		group    int
	}
	seen := map[counting]bool{}
	count := func(page *pairs) {
		for _, b := range page.Buckets {
			i, ok := groupOf[b.Key.Value]
			of := counting{b.Key.ID, i}
			if ok && seen[of] {
				out[i]--
			}
			seen[of] = seen[of] || ok
		}
	}
	count(first)
	return out, v.eachPage(ctx, s, kind, f, t.Field, true, first, count)
}
