package elastic

import (
	"context"
	"slices"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// Titles implements readmodel.Index: first the best documents of the values, then the number of
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
		Size: q.Limit,
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	out := make([]readmodel.Title, len(found))
	keys := make([]string, len(found))
	for i, d := range found {
		out[i].Record, keys[i] = d.Record, titleOf(d.Record, q.Lang)
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
		Query: allOf(list{query, object{"terms": object{field: keys}}}),
		Aggs: object{"values": object{"composite": object{
			"size": len(keys), "sources": list{object{"title": object{"terms": object{"field": field}}}},
		}}},
	}, &a)
	for _, b := range a.Aggregations.Values.Buckets {
		out[slices.Index(keys, b.Key.Title)].Count += b.Count
	}
	return out, err
}

// titleOf returns what equal names have in common in a language.
func titleOf(r *calendar.Record, l calendar.Lang) string {
	words, _ := readmodel.TitleOf(r, l)
	return clip(readmodel.TitleKey(words))
}
