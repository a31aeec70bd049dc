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
	v, err := x.view(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer v.Close()
	v.only = collectionOf(q.Kind)
	err = v.read(ctx, func(s state) error {
		at = s.shown.Position
		out, err = v.titles(ctx, s, &q)
		return err
	})
	return out, at, err
}

func (v *view) titles(ctx context.Context, s state, q *readmodel.Titles) ([]readmodel.Title, error) {
	c := v.compiler(s, q.Kind)
	query, err := c.ranked(ctx, q.Query(q.Limit))
	if err == nil {
		err = v.hold(ctx)
	}
	if err != nil || q.Limit == 0 {
		return nil, err
	}
	field := fieldTitle + q.Lang.String()
	found, _, err := v.documents(ctx, s, v.only, searchRequest{
		Query: query, Sort: sortOf(c.schema, q.Sort), Collapse: object{"field": field},
		Size: min(q.Limit*len(calendar.Langs), v.x.o.MaxResultWindow), // a name may come in every language
	})
	if err != nil {
		return nil, err
	}
	var (
		out    []readmodel.Title
		keys   []string
		values []string
		places = map[string]int{} // of values
	)
	for _, d := range found {
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
	var a struct {
		Aggregations struct {
			Values struct {
				Buckets []struct {
					Key   struct{ Title string }
					Count int `json:"doc_count"`
				}
			}
		}
	}
	err = v.search(ctx, s, v.only, searchRequest{
		Query: object{"bool": object{"filter": list{query, object{"terms": object{field: values}}}}},
		Aggs: object{"values": object{"composite": object{
			"size": len(values), "sources": list{object{"title": object{"terms": object{"field": field}}}},
		}}},
	}, &a)
	for _, b := range a.Aggregations.Values.Buckets {
		out[places[b.Key.Title]].Count += b.Count
	}
	return out, err
}
