package query

import (
	"context"
	"errors"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// WholeSelection is a list over all pages, of one state. It is not safe for concurrent use, and has to
// be closed.
type WholeSelection struct {
	*state
	found *searchOutcome
}

// Span is what some events lie within, on their own clocks.
type Span struct{ Start, End calendar.Wall }

// Count returns how many events criteria find, whatever their page.
func (service *Service) Count(ctx context.Context, criteria *Criteria) (int, error) {
	return present(ctx, service, func(st *state) (int, error) {
		whole, err := st.whole(ctx, criteria)
		if err != nil {
			return 0, err
		}
		return whole.Total(), nil
	})
}

// Whole begins to answer criteria over all pages.
func (service *Service) Whole(ctx context.Context, criteria *Criteria) (whole *WholeSelection, err error) {
	_, err = readmodel.Open(ctx, service.index, func(view readmodel.View) error {
		state, err := service.stateOf(ctx, view)
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
func (state *state) whole(ctx context.Context, criteria *Criteria) (*WholeSelection, error) {
	unpaged := *criteria
	unpaged.Page, unpaged.PerPage = 1, 0
	found, err := state.search(ctx, &unpaged)
	if err != nil {
		return nil, err
	}
	return &WholeSelection{state: state, found: found}, nil
}

// Position is the one up to which all changes show.
func (whole *WholeSelection) Position() calendar.Position { return whole.gen.Position }

// Total is how many records there are.
func (whole *WholeSelection) Total() int { return whole.found.page.Total }

// Zones returns the earliest start and the latest end of the events whose times can be told
// by the clock of a zone, by its name, as the caller sees them.
func (whole *WholeSelection) Zones(ctx context.Context) (map[string]Span, error) {
	out := map[string]Span{}
	return out, whole.records(ctx, whole.found.query, func(record *calendar.Record) {
		name := readmodel.Zone(record)
		if name == "" || record.Fields.Bool("all_day") && !calendar.NeedsPassword(whole.found.criteria.Caller, record) { // told in UTC, or by the day
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
func (whole *WholeSelection) Facets() []Facet { return whole.found.facets }

// Spelling is the one that the search was made with.
func (whole *WholeSelection) Spelling() readmodel.Spelling { return whole.found.criteria.spelling() }

// Gone calls use, by id, with the events that would be in the selection if they were not in
// the trash, were published when they came there, from a moment on, and are not protected.
func (whole *WholeSelection) Gone(ctx context.Context, since time.Time, use func(*calendar.Record)) error {
	trashed := *whole.found.criteria
	trashed.trashedSince = new(since.Unix())
	and, err := whole.filter(ctx, &trashed)
	if err != nil {
		return err
	}
	query := readmodel.Query{Kind: calendar.KindEvent, Filter: and, Sort: readmodel.By(false, readmodel.FieldID)}
	return whole.records(ctx, query, func(record *calendar.Record) {
		if !record.Changed.Before(since) && record.FormerStatus(record.Changed) == calendar.StatusPublish {
			use(record)
		}
	})
}

// Close releases what the selection holds.
func (whole *WholeSelection) Close() { whole.view.Close() }

// records calls use with the records that a query finds, in order.
func (whole *WholeSelection) records(ctx context.Context, query readmodel.Query, use func(*calendar.Record)) error {
	return whole.view.Walk(ctx, query, func(documents []readmodel.Document) error {
		for i := range documents {
			use(documents[i].Record)
		}
		return nil
	})
}

// Each calls use with the views of the selection in order. A view is valid during the call.
func (whole *WholeSelection) Each(ctx context.Context, use func(*View) error) error {
	return whole.view.Walk(ctx, whole.found.query, func(documents []readmodel.Document) error { return whole.each(ctx, documents, use) })
}

// each makes views; where all that they embed is more than an answer may have, one by one.
func (whole *WholeSelection) each(ctx context.Context, documents []readmodel.Document, use func(*View) error) error {
	views, err := whole.views(ctx, whole.found.criteria, documents, whole.found.query.Sort)
	if errors.Is(err, ErrTooLarge) && len(documents) > 1 {
		half := len(documents) / 2
		if err := whole.each(ctx, documents[:half], use); err != nil {
			return err
		}
		return whole.each(ctx, documents[half:], use)
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
