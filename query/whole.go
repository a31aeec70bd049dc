package query

import (
	"context"
	"errors"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// Whole is a list over all pages, of one state. It is not safe for concurrent use, and has to
// be closed.
type Whole struct {
	*state
	found *found
}

// Span is what some events lie within, on their own clocks.
type Span struct{ Start, End calendar.Wall }

// Count returns how many events criteria find, whatever their page.
func (s *Service) Count(ctx context.Context, criteria *Criteria) (int, error) {
	return present(ctx, s, func(st *state) (int, error) {
		whole, err := st.whole(ctx, criteria)
		if err != nil {
			return 0, err
		}
		return whole.Total(), nil
	})
}

// Whole begins to answer criteria over all pages.
func (s *Service) Whole(ctx context.Context, criteria *Criteria) (whole *Whole, err error) {
	_, err = readmodel.Open(ctx, s.index, func(view readmodel.View) error {
		state, err := s.stateOf(ctx, view)
		if err != nil {
			return err
		}
		if whole, err = state.whole(ctx, criteria); err != nil {
			return err
		}
		// An engine may find out at the second read that it does not hold the state.
		_, err = view.Search(ctx, readmodel.Query{Kind: calendar.KindEvent, Filter: readmodel.Or{}})
		return err
	})
	return whole, err
}

// whole counts a selection, and its facets.
func (st *state) whole(ctx context.Context, criteria *Criteria) (*Whole, error) {
	unpaged := *criteria
	unpaged.Page, unpaged.PerPage = 1, 0
	found, err := st.search(ctx, &unpaged)
	if err != nil {
		return nil, err
	}
	return &Whole{state: st, found: found}, nil
}

// Position is the one up to which all changes show.
func (w *Whole) Position() calendar.Position { return w.gen.Position }

// Total is how many records there are.
func (w *Whole) Total() int { return w.found.page.Total }

// Zones returns the earliest start and the latest end of the events whose times can be told
// by the clock of a zone, by its name, as the caller sees them.
func (w *Whole) Zones(ctx context.Context) (map[string]Span, error) {
	out := map[string]Span{}
	return out, w.records(ctx, w.found.query, func(record *calendar.Record) {
		name := readmodel.Zone(record)
		if name == "" || record.Fields.Bool("all_day") && !calendar.NeedsPassword(w.found.criteria.Caller, record) { // told in UTC, or by the day
			return
		}
		start, end := record.Fields.Wall("start_date"), record.Fields.Wall("end_date")
		if known, ok := out[name]; ok {
			start, end = min(start, known.Start), max(end, known.End)
		}
		out[name] = Span{start, end}
	})
}

// Facets are those of the selection, nil where none were asked for.
func (w *Whole) Facets() []Facet { return w.found.facets }

// Spelling is the one that the search was made with.
func (w *Whole) Spelling() readmodel.Spelling { return w.found.criteria.spelling() }

// Gone calls use, by id, with the events that would be in the selection if they were not in
// the trash, were published when they came there, from a moment on, and are not protected.
func (w *Whole) Gone(ctx context.Context, since time.Time, use func(*calendar.Record)) error {
	trashed := *w.found.criteria
	trashed.trashedSince = new(since.Unix())
	and, err := w.filter(ctx, &trashed)
	if err != nil {
		return err
	}
	query := readmodel.Query{Kind: calendar.KindEvent, Filter: and, Sort: readmodel.By(false, readmodel.FieldID)}
	return w.records(ctx, query, func(record *calendar.Record) {
		if !record.Changed.Before(since) && record.FormerStatus(record.Changed) == calendar.StatusPublish {
			use(record)
		}
	})
}

// Close releases what the selection holds.
func (w *Whole) Close() { w.view.Close() }

// records calls use with the records that a query finds, in order.
func (w *Whole) records(ctx context.Context, query readmodel.Query, use func(*calendar.Record)) error {
	return w.view.Walk(ctx, query, func(documents []readmodel.Document) error {
		for i := range documents {
			use(documents[i].Record)
		}
		return nil
	})
}

// Each calls use with the views of the selection in order. A view is valid during the call.
func (w *Whole) Each(ctx context.Context, use func(*View) error) error {
	return w.view.Walk(ctx, w.found.query, func(documents []readmodel.Document) error { return w.each(ctx, documents, use) })
}

// each makes views; where all that they embed is more than an answer may have, one by one.
func (w *Whole) each(ctx context.Context, documents []readmodel.Document, use func(*View) error) error {
	views, err := w.views(ctx, w.found.criteria, documents, w.found.query.Sort)
	if errors.Is(err, ErrTooLarge) && len(documents) > 1 {
		half := len(documents) / 2
		if err := w.each(ctx, documents[:half], use); err != nil {
			return err
		}
		return w.each(ctx, documents[half:], use)
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
