package elastic

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// maxBuckets is how many values one aggregation returns; engines return 65,535 of all
// together. A field with more of them is counted page by page.
const maxBuckets = 5_000

func (engine *Index) maxBuckets() int { return min(maxBuckets, engine.options.MaxResultWindow) }

// aggregationAnswer is the answer to an aggregation of some documents, with the parts that were asked.
type aggregationAnswer struct {
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
		Key   struct{ Value calendar.ID }
		Count int `json:"doc_count"`
	}
}

// valuesOf makes the aggregation of a page of values, behind another one.
func (engine *Index) valuesOf(field string, after json.RawMessage) object {
	composite := object{"size": engine.maxBuckets(), "sources": list{object{"value": object{"terms": object{"field": field}}}}}
	if after != nil {
		composite["after"] = after
	}
	return object{"composite": composite}
}

// filtered aggregates the documents of a query by parts.
func filtered(query, parts object) object { return object{"filter": query, "aggs": parts} }

// Stamp implements readmodel.View. Each change of a document gives it a greater sequence
// number than all before.
func (view *view) Stamp(ctx context.Context, kind calendar.Kind) (uint64, error) {
	changes := object{"changes": object{"sum": object{"field": "_seq_no"}}}
	var reply answer
	err := view.search(ctx, kind, searchRequest{Query: matchAll, Total: true, Aggs: object{"all": filtered(matchAll, changes)}}, &reply)
	return uint64(calendar.HashStart.Number(view.Shown().Content).Number(uint64(reply.Hits.Total.Value)).
		Number(uint64(reply.Aggregations["all"].Changes.Value))), err
}

// tallies makes the aggregations of the tallies of a query, each under its filter, so that
// they are of the state of its page.
func (view *view) tallies(compiler *compiler, tallies []readmodel.Tally) object {
	aggs := object{}
	for i := range tallies {
		tally, parts := &tallies[i], object{}
		if tally.Field != "" {
			parts["values"] = view.engine.valuesOf(tally.Field, nil)
		}
		if len(tally.Parts) > 0 {
			parts["parts"] = object{"filters": object{"filters": compiler.filters(tally.Parts)}}
		}
		aggs[strconv.Itoa(i)] = filtered(compiler.query(tally.Filter), parts)
	}
	return aggs
}

// readTallies reads the answers to them. What one answer did not hold is asked page by page.
func (view *view) readTallies(ctx context.Context, query *readmodel.Query, found map[string]aggregationAnswer) ([]readmodel.TallyAnswer, error) {
	tallyAnswers := make([]readmodel.TallyAnswer, len(query.Tallies))
	for i := range tallyAnswers {
		tally, got, from := &query.Tallies[i], &tallyAnswers[i], found[strconv.Itoa(i)]
		var err error
		if got.Values, err = view.values(ctx, query.Kind, readmodel.And{query.Filter, tally.Filter}, tally.Field, &from.Values); err != nil {
			return nil, err
		}
		if len(from.Parts.Buckets) != len(tally.Parts) {
			return nil, fmt.Errorf("tally: %d counts of %d parts", len(from.Parts.Buckets), len(tally.Parts))
		}
		got.Parts = make([]int, len(tally.Parts))
		for index, bucket := range from.Parts.Buckets {
			got.Parts[index] = bucket.Count
		}
	}
	return tallyAnswers, nil
}

// values returns the counts of the values of a field, of the documents that a filter admits,
// from their first page on.
func (view *view) values(ctx context.Context, kind calendar.Kind, filter readmodel.Filter, field string, page *valuePage) (map[calendar.ID]int, error) {
	result := map[calendar.ID]int{}
	for {
		for _, b := range page.Buckets {
			result[b.Key.Value] = b.Count
		}
		if len(page.Buckets) < view.engine.maxBuckets() {
			return result, nil
		}
		compiler := view.compiler(ctx, kind)
		request := searchRequest{Query: live(compiler.query(filter)), Aggs: object{"all": filtered(matchAll, object{"values": view.engine.valuesOf(field, page.After)})}}
		if compiler.err != nil {
			return nil, compiler.err
		}
		var reply answer
		if err := view.search(ctx, kind, request, &reply); err != nil {
			return nil, err
		}
		all := reply.Aggregations["all"]
		page = &all.Values
	}
}
