package feed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/ground/pause"
)

// Store is what relay and source need of an event store.
type Store interface {
	eventstore.Store

	// Commits is that of eventstore.Verifier.
	Commits(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Commit, error)
}

// place is a place in a history: a position, and the commit that the entry there is
// in. The zero place is the beginning of every history.
type place struct {
	at     calendar.Position
	commit eventstore.Commit
}

// mark gives the mark of a place.
func (p place) mark() eventstore.Mark {
	return eventstore.Mark{Position: p.at, Hash: p.commit.Hash}
}

// find gives the place of a mark. eventstore.ErrHistory: the store does not hold it.
func find(ctx context.Context, store Store, m eventstore.Mark) (place, error) {
	if err := eventstore.CheckMark(ctx, store, m); err != nil || m.Position == 0 {
		return place{}, err
	}
	for span := calendar.Position(1); ; span *= 2 { // commits have any number of entries
		after := m.Position - min(span, m.Position)
		commits, err := store.Commits(ctx, after, int(m.Position-after))
		if err != nil {
			return place{}, fmt.Errorf("commit of entry %d: %w", m.Position, err)
		}
		for _, c := range commits {
			if c.First <= m.Position && m.Position <= c.Last && c.Hash == m.Hash {
				return place{m.Position, c}, nil
			}
		}
		if after == 0 {
			return place{}, fmt.Errorf("%w: no commit with mark %s", eventstore.ErrHistory, m)
		}
	}
}

// ways gives the commits of the n entries behind a place, led by the one that the
// place is in. eventstore.ErrHistory: the store does not hold the place any more.
// So one question proves all of it to be of one history.
func (p place) ways(ctx context.Context, store Store, n int) ([]eventstore.Commit, error) {
	after := max(p.commit.First, 1) - 1
	commits, err := store.Commits(ctx, after, n+1)
	if err != nil {
		return nil, fmt.Errorf("commits after %d: %w", after, err)
	}
	if p.at == 0 {
		return commits, nil
	}
	if len(commits) == 0 || commits[0] != p.commit {
		return nil, fmt.Errorf("%w: mark %s is not in it any more", eventstore.ErrHistory, p.mark())
	}
	return commits[1:], nil
}

// next gives the place of the next entry, and the commits that are left behind it.
func (p place) next(commits []eventstore.Commit) (place, []eventstore.Commit, error) {
	p.at++
	switch {
	case p.at <= p.commit.Last:
		return p, commits, nil
	case len(commits) > 0 && commits[0].First == p.at:
		return place{p.at, commits[0]}, commits[1:], nil
	default:
		return place{}, nil, fmt.Errorf("entry %d is in no commit", p.at)
	}
}

// read gives entries of the store behind a place, without their secrets, and the place
// of the last one. It gives fewer than limit where they are large: batchBytes, or one.
func (p place) read(ctx context.Context, store Store, limit int) ([]eventstore.Entry, place, error) {
	entries, err := store.ReadAll(ctx, p.at, limit)
	if err != nil {
		return nil, p, fmt.Errorf("read entries after %d: %w", p.at, err)
	}
	commits, err := p.ways(ctx, store, len(entries))
	if err != nil {
		return nil, p, err
	}
	size := 0
	for i := range entries {
		if size >= batchBytes {
			return entries[:i], p, nil
		}
		if err := checkDense(p.at, entries[i].Position); err != nil {
			return nil, p, err
		}
		if p, commits, err = p.next(commits); err != nil {
			return nil, p, err
		}
		strip(&entries[i])
		size += sizeOf(&entries[i])
	}
	return entries, p, nil
}

// waiting waits for entries that are not there yet. The zero value is who begins to.
type waiting struct {
	told bool          // that there are more
	wait time.Duration // the last one without asking
}

// more waits for the head of a store to be greater than a position, at most for d. A
// store that said so before and then had nothing is not asked again at once.
func (w *waiting) more(ctx context.Context, store Store, after calendar.Position, d time.Duration) error {
	if w.told {
		w.told, w.wait = false, min(max(2*w.wait, minPoll), maxPoll)
		return pause.For(ctx, min(w.wait, d))
	}
	within, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	head, err := store.Wait(within, after)
	if err != nil && within.Err() != nil {
		return ctx.Err()
	}
	w.told = err == nil && head > after
	return err
}

// forMore is more for a reader that finds out by himself about another history.
func (w *waiting) forMore(ctx context.Context, store Store, after calendar.Position, d time.Duration) error {
	err := w.more(ctx, store, after, d)
	if errors.Is(err, eventstore.ErrHistory) {
		return nil // it may be that of the reader
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("wait for entry %d: %w", after+1, err)
	}
	return err
}
