package memstore

import (
	"cmp"
	"context"
	"slices"

	"daybook/calendar"
	"daybook/eventstore"
)

// At does eventstore.Past.
func (s *Store) At(ctx context.Context, p eventstore.Point, ids ...calendar.ID) ([]eventstore.Entry, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if err := s.read(ctx); err != nil {
		return nil, err
	}
	defer s.mu.RUnlock()
	out := make([]eventstore.Entry, len(ids))
	for i, id := range ids {
		r := s.records[id]
		for n := r.count() - 1; n >= 0; n-- {
			if e := &s.entries[r.entries[n]]; p.Counts(e) {
				out[i] = *e
				break
			}
		}
	}
	return out, nil
}

func (r *record) count() int {
	if r == nil {
		return 0
	}
	return len(r.entries)
}

// Counted does eventstore.Past.
func (s *Store) Counted(ctx context.Context, p eventstore.Point) (c eventstore.Counted, err error) {
	if err := p.Check(); err != nil {
		return c, err
	}
	if err := s.read(ctx); err != nil {
		return c, err
	}
	defer s.mu.RUnlock()
	if p.Position > calendar.Position(len(s.entries)) {
		return c, eventstore.ErrAhead
	}
	for i := range s.entries {
		if e := &s.entries[i]; p.Counts(e) {
			if c.Position = e.Position; e.Time.After(c.Time) {
				c.Time = e.Time
			}
		}
	}
	return c, nil
}

// SlugAt does eventstore.Past.
func (s *Store) SlugAt(ctx context.Context, kind calendar.Kind, slug string, p eventstore.Point) (calendar.ID, error) {
	if err := p.Check(); err != nil {
		return 0, err
	}
	took, err := s.Takings(ctx, kind, slug)
	if err != nil {
		return 0, err
	}
	return eventstore.SlugAmong(ctx, s, took, slug, p)
}

// Takings returns who took a slug with which entry, the last one first.
func (s *Store) Takings(ctx context.Context, kind calendar.Kind, slug string) ([]eventstore.SlugTaken, error) {
	if err := s.read(ctx); err != nil {
		return nil, err
	}
	defer s.mu.RUnlock()
	var took []eventstore.SlugTaken
	for _, t := range slices.Backward(s.slugs) {
		if t.Kind == kind && t.Slug == slug {
			took = append(took, t)
		}
	}
	return took, nil
}

// Former does eventstore.Past.
func (s *Store) Former(ctx context.Context, kind calendar.Kind, slug string) ([]calendar.ID, error) {
	if err := s.read(ctx); err != nil {
		return nil, err
	}
	defer s.mu.RUnlock()
	if s.claims[eventstore.SlugClaim(kind, slug)] != 0 {
		return nil, nil
	}
	var out []calendar.ID
	for _, t := range slices.Backward(s.slugs) {
		if t.Kind == kind && t.Slug == slug && len(out) < eventstore.MaxFormer && !slices.Contains(out, t.Record) {
			out = append(out, t.Record)
		}
	}
	return out, nil
}

// PutCheckpoint does eventstore.Checkpoints.
func (s *Store) PutCheckpoint(ctx context.Context, c eventstore.Checkpoint) error {
	if err := c.Check(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return eventstore.ErrClosed
	case c.Size > calendar.Position(len(s.entries)):
		return eventstore.ErrAhead
	}
	var newest, same *eventstore.Checkpoint
	at, there := s.signedAt(c.Size)
	if there {
		same = &s.signed[at]
	}
	if n := len(s.signed); n > 0 {
		newest = &s.signed[n-1]
	}
	gains, err := c.Follows(newest, same)
	if err != nil || !gains {
		return err
	}
	c.Time = eventstore.Moment(c.Time)
	if there {
		same.Note = c.Note
	} else {
		s.signed = append(s.signed, c)
	}
	return nil
}

func (s *Store) signedAt(size calendar.Position) (int, bool) {
	return slices.BinarySearchFunc(s.signed, size, func(c eventstore.Checkpoint, size calendar.Position) int {
		return cmp.Compare(c.Size, size)
	})
}

// Checkpoint does eventstore.Checkpoints.
func (s *Store) Checkpoint(ctx context.Context, size calendar.Position) (eventstore.Checkpoint, error) {
	if err := s.read(ctx); err != nil {
		return eventstore.Checkpoint{}, err
	}
	defer s.mu.RUnlock()
	if size == 0 && len(s.signed) > 0 {
		return s.signed[len(s.signed)-1], nil
	}
	if at, there := s.signedAt(size); there {
		return s.signed[at], nil
	}
	return eventstore.Checkpoint{}, eventstore.ErrNotFound
}

// Checkpoints does eventstore.Checkpoints.
func (s *Store) Checkpoints(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Checkpoint, error) {
	if err := s.read(ctx); err != nil {
		return nil, err
	}
	defer s.mu.RUnlock()
	at, _ := s.signedAt(after + 1)
	return slices.Clone(page(s.signed, at, limit)), nil
}
