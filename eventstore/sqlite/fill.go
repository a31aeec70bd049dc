package sqlite

import (
	"context"
	"slices"

	"daybook/calendar"
	"daybook/eventstore"
)

// The bounds of one transaction of Fill.
const (
	fillRows  = 512
	fillBytes = 4 << 20
)

// Fill writes a part of another log into an empty store, in several transactions: one
// that did not end without an error is of no use. progress, when not nil, is told how
// many entries of the other log are done. Errors: eventstore.ErrNotEmpty; a
// *eventstore.ClaimError where two records of the part hold the same; ErrUnavailable
// where something was erased meanwhile; those of both stores.
func (s *Store) Fill(ctx context.Context, part *eventstore.Part, progress func(done, total calendar.Position)) error {
	switch head, err := s.Head(ctx); {
	case err != nil:
		return err
	case head > 0:
		return eventstore.ErrNotEmpty
	}
	var commits [][]eventstore.Leafed
	size := 0
	flush := func() error {
		err := s.inTurn(ctx, func(ctx context.Context, w *writer) error {
			for _, commit := range commits {
				if err := s.fillCommit(ctx, w, commit); err != nil {
					return err
				}
			}
			return nil
		}, func() { s.signal.Move(s.writer.head) })
		commits, size = nil, 0
		return err
	}
	err := part.Commits(ctx, progress, func(commit []eventstore.Leafed) error {
		commits = append(commits, commit)
		for i := range commit {
			size += len(commit[i].Fields) + len(commit[i].State)
		}
		if size < fillBytes && len(commits) < fillRows {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err == nil {
		err = s.fillRedacted(ctx, part)
	}
	if err == nil {
		err = s.fillIdentity(ctx, part)
	}
	if err != nil {
		return wrap(err, "fill the log")
	}
	for ids := range slices.Chunk(part.Records(), fillRows) {
		if err := s.fillRecords(ctx, part, ids); err != nil {
			return wrap(err, "fill the records")
		}
	}
	return nil
}

func (s *Store) fillCommit(ctx context.Context, w *writer, commit []eventstore.Leafed) error {
	g := eventstore.NewGroup(w.head, s.Epoch())
	entries := make([]written, len(commit))
	for i := range commit {
		e := &commit[i].Entry
		slug, err := e.Slug()
		if err != nil {
			return err
		}
		if slug != "" {
			g.Slugs = append(g.Slugs, eventstore.SlugTaken{Kind: e.Kind, Slug: slug, Position: e.Position, Record: e.ID})
		}
		body := []byte{}
		if e.Redacted == nil {
			body = packBody(e.Fields, e.State)
		}
		entries[i] = written{e, &commit[i].Leaf, body}
		g.Head = e.Position
	}
	_, chain, err := s.write(ctx, g, entries)
	if err == nil {
		w.head, w.chain = g.Head, chain
	}
	return err
}

func (s *Store) fillIdentity(ctx context.Context, part *eventstore.Part) error {
	id, err := part.UUID(ctx)
	if err != nil {
		return err
	}
	return s.inTurn(ctx, func(ctx context.Context, w *writer) error {
		_, err := w.conn.ExecContext(ctx, "UPDATE identity SET uuid = ?", id[:])
		return err
	})
}

func (s *Store) fillRedacted(ctx context.Context, part *eventstore.Part) error {
	blank, err := part.Redacted()
	if err != nil {
		return err
	}
	return s.inTurn(ctx, func(ctx context.Context, w *writer) error {
		for _, e := range blank {
			if _, err := w.conn.ExecContext(ctx, addRedacted, number(e.Position), number(e.Redacted.By), e.Redacted.Bytes()); err != nil {
				return err
			}
		}
		return nil
	})
}

// fillRecords writes the present states of records, by their last entries.
func (s *Store) fillRecords(ctx context.Context, part *eventstore.Part, ids []calendar.ID) error {
	last := ids[len(ids)-1]
	s.usedID(last)
	entries, err := s.At(ctx, eventstore.Point{Position: part.Entries}, ids...)
	if err != nil {
		return err
	}
	g := eventstore.NewGroup(part.Entries, s.Epoch())
	var claims []calendar.Claim
	for i := range entries {
		h, err := part.Held(&entries[i])
		if err != nil {
			return err
		}
		for _, c := range h.Claims {
			if holder := g.Holders[c]; holder != 0 {
				return &eventstore.ClaimError{Claim: c, Holder: holder}
			}
			g.Holders[c] = h.ID
			claims = append(claims, c)
		}
		g.Records[h.ID], g.Before[h.ID] = h, nil
	}
	holders, _, err := s.Find(ctx, claims, nil)
	if err != nil {
		return err
	}
	for i, holder := range holders {
		if holder != 0 {
			return &eventstore.ClaimError{Claim: claims[i], Holder: holder}
		}
	}
	return s.inTurn(ctx, func(ctx context.Context, _ *writer) error {
		_, _, err := s.write(ctx, g, nil)
		return err
	}, func() { s.writer.lastStored = last })
}
