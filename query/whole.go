package query

import (
	"context"
	"errors"
	"slices"
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
	order  []readmodel.Sort
	spans  map[string]readmodel.Span // of groups of repeats; nil: those of the walk
	facets []Facet
}

// Calendar is what a calendar has beside its events; the zero value is nothing.
type Calendar struct {
	// Zones are wanted, see Whole.Zones.
	Zones bool
	// Gone is the earliest moment from which on trashed events are told, see Whole.Gone;
	// zero: none are.
	Gone time.Time
}

// Embed has the views of criteria hold these of the linked records only.
func (c *Criteria) Embed(e Embeds) { c.embeds = e }

// Touch has the views of criteria tell the last touch of events.
func (c *Criteria) Touch() { c.embeds |= EmbedTouched }

// Count gives how many events criteria find, whatever their page.
func (s *Service) Count(ctx context.Context, c *Criteria) (int, error) {
	snap, err := s.snapshot(ctx)
	if err != nil {
		return 0, err
	}
	total := 0
	_, err = s.stepped(c, func(c *Criteria) (int, error) {
		f, err := s.eventFilter(ctx, c, snap)
		if err != nil {
			return 0, err
		}
		page, err := s.index.Search(ctx, readmodel.Query{Kind: c.Kind, Filter: f, Collapse: c.collapse()})
		total = page.Total
		return total, err
	})
	return total, err
}

// Whole begins to answer criteria of events over all pages.
func (s *Service) Whole(ctx context.Context, c *Criteria, also Calendar) (w *Whole, err error) {
	if c.run.facets == nil {
		return s.whole(ctx, c, also)
	}
	err = s.index.Still(ctx, func(ctx context.Context) error {
		if w != nil {
			w.Close()
		}
		if w, err = s.whole(ctx, c, also); err != nil {
			return err
		}
		f, err := s.counting(ctx, w.c, w.snap)
		if err != nil {
			return err
		}
		page, err := s.index.Search(ctx, readmodel.Query{Kind: c.Kind, Filter: f.base, Tallies: f.of})
		if err == nil {
			w.facets, err = f.facets(page.Tallied)
		}
		return err
	})
	if err != nil && w != nil {
		w.Close()
		w = nil
	}
	return w, err
}

func (s *Service) whole(ctx context.Context, c *Criteria, also Calendar) (*Whole, error) {
	snap, err := s.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	var (
		walk readmodel.Walk
		q    readmodel.Query
	)
	c, err = s.stepped(c, func(c *Criteria) (int, error) {
		f, err := s.eventFilter(ctx, c, snap)
		if err != nil {
			return 0, err
		}
		q = readmodel.Query{Kind: c.Kind, Filter: f, Collapse: c.collapse()}
		if also.Zones {
			days := readmodel.And{readmodel.Term{Field: readmodel.FieldAllDay, Value: "true"}}
			if b := blanked(c.Caller); b != nil { // which are not all-day
				days = append(days, readmodel.Not{Filter: b})
			}
			q.Spans = readmodel.Not{Filter: days}
		}
		if !also.Gone.IsZero() {
			since := also.Gone.Unix()
			gone := slices.Clone(f)
			gone[c.seenAt()] = readmodel.And{ // in the place of what the caller sees
				hasStatus(calendar.StatusTrash),
				readmodel.Not{Filter: readmodel.Term{Field: readmodel.FieldProtected, Value: "true"}},
				readmodel.Range{Field: readmodel.FieldModified, Min: &since},
			}
			q.Beside = gone
		}
		if q.Sort, err = s.order(ctx, c, snap); err != nil {
			return 0, err
		}
		next, err := s.index.Walk(ctx, q)
		if err != nil {
			return 0, err
		}
		if walk != nil {
			walk.Close()
		}
		walk = next
		return walk.Total(), nil
	})
	if err != nil {
		if walk != nil {
			walk.Close()
		}
		return nil, err
	}
	w := &Whole{s: s, c: c, walk: walk, order: q.Sort}
	if q.Collapse != nil && q.Spans != nil {
		if w.spans, err = firstSpans(ctx, walk, q.Spans); err != nil {
			walk.Close()
			return nil, err
		}
	}
	if w.snap, err = s.snapshot(ctx); err != nil { // what is joined is no older than the walk
		walk.Close()
		return nil, err
	}
	return w, nil
}

// Position is the one up to which all changes show.
func (w *Whole) Position() calendar.Position { return w.walk.Position() }

// Total is how many events there are.
func (w *Whole) Total() int { return w.walk.Total() }

// Zones gives the earliest start and the latest end of the events whose times are told by
// the clock of a zone, by its name, as the caller sees them.
func (w *Whole) Zones() map[string]readmodel.Span {
	if w.spans != nil {
		return w.spans
	}
	return w.walk.Spans()
}

// firstSpans gives the spans of the events that stand for their groups.
func firstSpans(ctx context.Context, walk readmodel.Walk, in readmodel.Filter) (map[string]readmodel.Span, error) {
	out := map[string]readmodel.Span{}
	return out, walk.Each(ctx, func(documents []readmodel.Document) error {
		for i := range documents {
			d := &documents[i]
			if !readmodel.Match(in, d) {
				continue
			}
			zone := readmodel.SchemaOf(calendar.KindEvent).Field(readmodel.FieldZone).Keyword(d.Record)
			if zone == "" { // told in UTC
				continue
			}
			start, end := d.Record.Fields.Wall("start_date"), d.Record.Fields.Wall("end_date")
			if known, ok := out[zone]; ok {
				start, end = min(start, known.Start), max(end, known.End)
			}
			out[zone] = readmodel.Span{Start: start, End: end}
		}
		return nil
	})
}

// Facets are those of the selection, nil where none were asked for.
func (w *Whole) Facets() []Facet { return w.facets }

// Spelling is the one that the search was made with.
func (w *Whole) Spelling() readmodel.Spelling { return w.c.run.spelling() }

// Gone calls use with the events that would be in the selection if they were not in the
// trash, were published when they came there, from Calendar.Gone on, and are not protected.
func (w *Whole) Gone(ctx context.Context, since time.Time, use func(*calendar.Record)) error {
	return w.walk.Beside(ctx, func(documents []readmodel.Document) error {
		for i := range documents {
			if r := documents[i].Record; !r.Changed.Before(since) && r.FormerStatus(r.Changed) == calendar.StatusPublish {
				use(r)
			}
		}
		return nil
	})
}

// Close lets go of what the selection holds.
func (w *Whole) Close() { w.walk.Close() }

// Survey calls use with the records of the selection in order.
func (w *Whole) Survey(ctx context.Context, use func(*calendar.Record)) error {
	return w.walk.Each(ctx, func(documents []readmodel.Document) error {
		for i := range documents {
			use(documents[i].Record)
		}
		return nil
	})
}

// Each calls use with the views of the selection in order. A view is not kept.
func (w *Whole) Each(ctx context.Context, use func(*View) error) error {
	return w.walk.Each(ctx, func(documents []readmodel.Document) error { return w.views(ctx, documents, use) })
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
