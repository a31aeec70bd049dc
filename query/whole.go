package query

import (
	"context"
	"errors"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// Whole is a selection of events over all pages, as of one position; what they embed is
// of that position or later. It is not safe for concurrent use, and has to be closed.
type Whole struct {
	s    *Service
	c    *Criteria
	walk readmodel.Walk
	snap *snapshot
	// order is that of the selection.
	order []readmodel.Sort
	// gone is the earliest moment of which trashed events stand in it, zero for none.
	gone time.Time
}

// Touch has the views of criteria tell the last touch of events.
func (c *Criteria) Touch() { c.embeds |= EmbedTouched }

// Count gives how many events criteria find, whatever their page.
func (s *Service) Count(ctx context.Context, c *Criteria) (int, error) {
	snap, err := s.snapshot(ctx)
	if err != nil {
		return 0, err
	}
	f, err := s.eventFilter(ctx, c, snap)
	if err != nil {
		return 0, err
	}
	page, err := s.index.Search(ctx, readmodel.Query{Kind: c.Kind, Filter: f})
	return page.Total, err
}

// Whole begins to answer criteria of events over all pages. With since, also those events
// are walked that were published when they were trashed, after that moment, are not
// protected, and would be in the selection otherwise: see Survey.
func (s *Service) Whole(ctx context.Context, c *Criteria, since time.Time) (*Whole, error) {
	snap, err := s.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	f, err := s.eventFilter(ctx, c, snap)
	if err != nil {
		return nil, err
	}
	if !since.IsZero() { // the first part is what the caller sees
		f[0] = readmodel.Or{f[0], readmodel.And{
			hasStatus(calendar.StatusTrash), readmodel.Not{Filter: readmodel.Term{Field: readmodel.FieldProtected, Value: "true"}},
		}}
	}
	order, err := s.order(ctx, c, snap)
	if err != nil {
		return nil, err
	}
	walk, err := s.index.Walk(ctx, readmodel.Query{Kind: c.Kind, Filter: f, Sort: order})
	if err != nil {
		return nil, err
	}
	w := &Whole{s: s, c: c, walk: walk, order: order, gone: since}
	if w.snap, err = s.snapshot(ctx); err != nil { // what is joined is no older than the walk
		walk.Close()
		return nil, err
	}
	return w, nil
}

// Position is the one up to which all changes show.
func (w *Whole) Position() calendar.Position { return w.walk.Position() }

// Total is how many events there are, trashed ones that stand beside included.
func (w *Whole) Total() int { return w.walk.Total() }

// Close lets go of what the selection holds.
func (w *Whole) Close() { w.walk.Close() }

// Survey calls use with the records of the selection in order, and gone with those that
// were trashed.
func (w *Whole) Survey(ctx context.Context, use, gone func(*calendar.Record)) error {
	return w.walk.Each(ctx, func(documents []readmodel.Document) error {
		for i := range documents {
			r := documents[i].Record
			switch {
			case !w.beside(r):
				use(r)
			case !r.Changed.Before(w.gone) && r.FormerStatus(r.Changed) == calendar.StatusPublish:
				gone(r)
			}
		}
		return nil
	})
}

// beside tells whether a record stands beside the selection.
func (w *Whole) beside(r *calendar.Record) bool {
	return !w.gone.IsZero() && calendar.Status(r.Fields.String("status")) == calendar.StatusTrash
}

// Each calls use with the views of the selection in order. A view is not kept.
func (w *Whole) Each(ctx context.Context, use func(*View) error) error {
	return w.walk.Each(ctx, func(documents []readmodel.Document) error {
		shown := documents
		if !w.gone.IsZero() {
			shown = make([]readmodel.Document, 0, len(documents))
			for i := range documents {
				if !w.beside(documents[i].Record) {
					shown = append(shown, documents[i])
				}
			}
		}
		return w.views(ctx, shown, use)
	})
}

// views makes views; where all that they embed is more than an answer may have, one by one.
func (w *Whole) views(ctx context.Context, documents []readmodel.Document, use func(*View) error) error {
	views, err := w.s.views(ctx, w.c, documents, w.order, w.snap)
	if errors.Is(err, ErrTooLarge) && len(documents) > 1 {
		half := len(documents) / 2
		if err := w.views(ctx, documents[:half], use); err != nil {
			return err
		}
		return w.views(ctx, documents[half:], use)
	}
	if err != nil {
		return err
	}
	for i := range views {
		if err := use(&views[i]); err != nil {
			return err
		}
	}
	return nil
}
