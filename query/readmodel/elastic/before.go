package elastic

import (
	"context"
	"fmt"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// The methods of readmodel.Index that View replaces.

type viewKey struct{}

func (x *Index) inView(ctx context.Context, read func(v *view) error) error {
	if v, ok := ctx.Value(viewKey{}).(*view); ok {
		return read(v)
	}
	v, err := x.view(ctx)
	if err != nil {
		return err
	}
	defer v.Close()
	return read(v)
}

func (x *Index) Still(ctx context.Context, read func(ctx context.Context) error) error {
	return x.inView(ctx, func(v *view) error {
		if err := v.hold(ctx); err != nil {
			return err
		}
		return read(context.WithValue(ctx, viewKey{}, v))
	})
}

func (x *Index) Search(ctx context.Context, q readmodel.Query) (page readmodel.Page, err error) {
	err = x.inView(ctx, func(v *view) error {
		page, err = v.Search(ctx, q)
		return err
	})
	return page, err
}

func (x *Index) Get(ctx context.Context, ids []calendar.ID) (out map[calendar.ID]readmodel.Document, err error) {
	err = x.inView(ctx, func(v *view) error {
		out, err = v.Get(ctx, ids)
		return err
	})
	return out, err
}

func (x *Index) Counts(ctx context.Context, kind calendar.Kind, field string, f readmodel.Filter) (out map[calendar.ID]int, err error) {
	err = x.inView(ctx, func(v *view) error {
		out, err = v.Counts(ctx, kind, field, f, nil)
		return err
	})
	return out, err
}

func (x *Index) Stamp(ctx context.Context, kind calendar.Kind) (stamp readmodel.Stamp, err error) {
	err = x.inView(ctx, func(v *view) error {
		stamp, err = v.Stamp(ctx, kind)
		return err
	})
	return stamp, err
}

type walk struct {
	v     *view
	q     readmodel.Query
	page  readmodel.Page
	spans map[string]readmodel.Span
}

func (x *Index) Walk(ctx context.Context, q readmodel.Query) (readmodel.Walk, error) {
	w := &walk{q: q}
	err := x.inView(ctx, func(v *view) (err error) {
		v.mu.Lock()
		v.held++
		v.mu.Unlock()
		w.v = v
		if err = v.hold(ctx); err != nil {
			return err
		}
		q.Filter, q.Narrow = readmodel.Both(q.Filter, q.Narrow), nil
		q.Limit, q.Offset, q.After, q.Tallies = 0, 0, nil, nil
		if w.page, err = v.Search(ctx, q); err != nil || q.Spans == nil {
			return err
		}
		return v.read(ctx, func(s state) error { return w.readSpans(ctx, s) })
	})
	if err != nil {
		if w.v != nil {
			w.v.Close()
		}
		return nil, err
	}
	return w, nil
}

func (w *walk) readSpans(ctx context.Context, s state) error {
	type value struct{ Value float64 }
	var a struct {
		Aggregations struct {
			Spans struct {
				Zones struct {
					Others  int `json:"sum_other_doc_count"`
					Buckets []struct {
						Key        string
						Start, End value
					}
				}
			}
		}
	}
	c := w.v.compiler(s, w.q.Kind)
	query, err := c.query(ctx, readmodel.Both(w.q.Filter, w.q.Narrow))
	if err != nil {
		return err
	}
	of, err := c.compile(ctx, w.q.Spans)
	if err != nil {
		return err
	}
	zones := object{
		"terms": object{"field": readmodel.FieldZone, "size": 1000},
		"aggs":  object{"start": object{"min": object{"field": readmodel.FieldStart}}, "end": object{"max": object{"field": readmodel.FieldEnd}}},
	}
	if err := w.v.search(ctx, s, collectionOf(w.q.Kind), searchRequest{Query: query, Aggs: object{"spans": filtered(of, object{"zones": zones})}}, &a); err != nil {
		return err
	}
	found := a.Aggregations.Spans.Zones
	if found.Others > 0 {
		return fmt.Errorf("%d events are in too many zones", found.Others)
	}
	w.spans = map[string]readmodel.Span{}
	for _, b := range found.Buckets {
		w.spans[b.Key] = readmodel.Span{Start: calendar.Wall(b.Start.Value), End: calendar.Wall(b.End.Value)}
	}
	return nil
}

func (w *walk) Total() int                       { return w.page.Total }
func (w *walk) Position() calendar.Position      { return w.page.Position }
func (w *walk) Spans() map[string]readmodel.Span { return w.spans }
func (w *walk) Close()                           { w.v.Close() }

func (w *walk) Each(ctx context.Context, use func([]readmodel.Document) error) error {
	return w.v.Walk(ctx, w.q, use)
}

func (w *walk) Beside(ctx context.Context, use func([]readmodel.Document) error) error {
	if w.q.Beside == nil {
		return nil
	}
	return w.v.Walk(ctx, readmodel.Query{Kind: w.q.Kind, Filter: w.q.Beside}, use)
}
