package memindex

import (
	"context"
	"slices"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// walk is the list of what a query found, taken under one hold of the lock: the documents
// are never changed, and are decoded as they are asked for.
type walk struct {
	x        *Index
	found    []found
	beside   []found
	spans    map[string]readmodel.Span
	position calendar.Position
}

// Walk does readmodel.Index.
func (x *Index) Walk(ctx context.Context, q readmodel.Query) (readmodel.Walk, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	q.Offset, q.Limit, q.After, q.Tallies = 0, mostDocs, nil, nil
	if err := readmodel.Check(q); err != nil {
		return nil, err
	}
	w := &walk{x: x}
	page, out, err := x.search(ctx, q, func(k *kindIndex, res result) {
		e := &evaluation{k: k, r: &reading{x: x, k: k}}
		if q.Spans != nil {
			w.spans = e.spans(res, q.Spans)
		}
		if q.Beside != nil {
			e.evaluate(q.Beside, func(res result) {
				for _, o := range k.page(res, res.count(), nil, 0, mostDocs) {
					w.beside = append(w.beside, k.found(o))
				}
			})
		}
	})
	if err != nil {
		return nil, err
	}
	w.found, w.position = out, page.Position
	return w, nil
}

// spans gives what those of a result that a filter admits lie within, by their zone.
func (e *evaluation) spans(res result, f readmodel.Filter) map[string]readmodel.Span {
	k := e.k
	admitted := k.scratch()
	defer k.release(admitted)
	e.evalInto(admitted, f, k.live)
	c := k.clock()
	out := map[string]readmodel.Span{}
	for zone, p := range k.keywords[readmodel.FieldZone].values {
		p.each(func(o uint32) {
			if !res.has(o) || !admitted.has(o) {
				return
			}
			t := c.times(o)
			s, known := out[zone]
			if !known {
				s = readmodel.Span{Start: t.Start, End: t.End}
			}
			out[zone] = readmodel.Span{Start: min(s.Start, t.Start), End: max(s.End, t.End)}
		})
	}
	return out
}

func (w *walk) Total() int                       { return len(w.found) }
func (w *walk) Position() calendar.Position      { return w.position }
func (w *walk) Spans() map[string]readmodel.Span { return w.spans }
func (w *walk) Close()                           {}

func (w *walk) Each(ctx context.Context, use func([]readmodel.Document) error) error {
	return w.x.each(ctx, w.found, use)
}

func (w *walk) Beside(ctx context.Context, use func([]readmodel.Document) error) error {
	return w.x.each(ctx, w.beside, use)
}

// each decodes documents, some at a time.
func (x *Index) each(ctx context.Context, all []found, use func([]readmodel.Document) error) error {
	documents := make([]readmodel.Document, 0, min(readmodel.WalkStep, len(all)))
	for some := range slices.Chunk(all, readmodel.WalkStep) {
		if err := ctx.Err(); err != nil {
			return err
		}
		documents = documents[:0]
		for i := range some {
			d, err := x.document(&some[i])
			if err != nil {
				return err
			}
			documents = append(documents, *d)
			documents[len(documents)-1].Repeats = some[i].repeats
		}
		if err := use(documents); err != nil {
			return err
		}
	}
	return nil
}
