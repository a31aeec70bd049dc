package elastic

import (
	"context"
	"slices"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// titleOf is the value of a name: the language that it is in, and its words.
func titleOf(l calendar.Lang, words []string) string {
	return clip(l.String() + " " + readmodel.TitleKey(words))
}

// Titles does readmodel.Index: first the best documents of the values, then the number of
// those that have the words, in any language; both in one state.
func (x *Index) Titles(ctx context.Context, q readmodel.Titles) (out []readmodel.Title, at calendar.Position, err error) {
	if err := readmodel.CheckTitles(q); err != nil {
		return nil, 0, err
	}
	err = x.Still(ctx, func(ctx context.Context) error {
		return x.reading(ctx, func(v view) error {
			at = v.visible.Position
			out, err = x.titles(ctx, v, &q)
			return err
		})
	})
	return out, at, err
}

func (x *Index) titles(ctx context.Context, v view, q *readmodel.Titles) ([]readmodel.Title, error) {
	query, err := x.compiler(v.gen, q.Kind).ranked(ctx, q.Query(q.Limit))
	if err != nil || q.Limit == 0 {
		return nil, err
	}
	index, field := x.names().index(collectionOf(q.Kind), v.gen), fieldTitle+q.Lang.String()
	a, err := x.search(ctx, withBody(object{
		"query": query, "sort": sortOf(q.Sort), "collapse": object{"field": field}, "track_total_hits": false,
		"size": min(q.Limit*len(calendar.Langs), x.o.MaxResultWindow), // a name may come in every language
	}), index)
	if err != nil {
		return nil, err
	}
	var (
		out    []readmodel.Title
		keys   []string
		values []string
		places = map[string]int{} // of values
	)
	for i := range a.Hits.Hits {
		d, err := x.hitDocument(&a.Hits.Hits[i])
		if err != nil {
			return nil, err
		}
		words, _ := readmodel.TitleOf(d.Record, q.Lang)
		key := readmodel.TitleKey(words)
		if len(out) == q.Limit || slices.Contains(keys, key) {
			continue
		}
		for _, l := range calendar.Langs {
			value := titleOf(l, words)
			values, places[value] = append(values, value), len(out)
		}
		out, keys = append(out, readmodel.Title{Record: d.Record}), append(keys, key)
	}
	if len(out) == 0 {
		return nil, nil
	}
	a, err = x.search(ctx, object{
		"size": 0, "track_total_hits": false,
		"query": object{"bool": object{"filter": list{query, object{"terms": object{field: values}}}}},
		"aggs": object{"values": object{"composite": object{
			"size": len(values), "sources": list{object{"title": object{"terms": object{"field": field}}}},
		}}},
	}, index)
	if err != nil {
		return nil, err
	}
	for _, b := range a.Aggregations.Values.Buckets {
		out[places[b.Key.Title]].Count += b.Count
	}
	return out, nil
}
