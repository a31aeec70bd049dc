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
	position calendar.Position
}

// Walk does readmodel.Index.
func (x *Index) Walk(ctx context.Context, q readmodel.Query) (readmodel.Walk, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	q.Offset, q.Limit, q.After = 0, mostDocs, nil
	if err := readmodel.Check(q); err != nil {
		return nil, err
	}
	page, found, err := x.search(ctx, q)
	if err != nil {
		return nil, err
	}
	return &walk{x: x, found: found, position: page.Position}, nil
}

func (w *walk) Total() int                  { return len(w.found) }
func (w *walk) Position() calendar.Position { return w.position }
func (w *walk) Close()                      {}

func (w *walk) Each(ctx context.Context, use func([]readmodel.Document) error) error {
	documents := make([]readmodel.Document, 0, min(readmodel.WalkStep, len(w.found)))
	for some := range slices.Chunk(w.found, readmodel.WalkStep) {
		if err := ctx.Err(); err != nil {
			return err
		}
		documents = documents[:0]
		for i := range some {
			d, err := w.x.document(&some[i])
			if err != nil {
				return err
			}
			documents = append(documents, *d)
		}
		if err := use(documents); err != nil {
			return err
		}
	}
	return nil
}
