package eventstore

import (
	"context"
	"errors"
	"iter"

	"daybook/calendar"
)

// FullCommit is a commit with its entries.
type FullCommit struct {
	Commit

	Entries []Entry
}

// Log yields the commits of a store up to its head or an earlier one. An entry that is
// missing, or that the store cannot read, is a DamageError, with the entries of its
// commit that come before.
func Log(ctx context.Context, s Store, head calendar.Position) iter.Seq2[FullCommit, error] {
	return func(yield func(FullCommit, error) bool) {
		next, stop := iter.Pull2(logEntries(ctx, s, head))
		defer stop()
		for c, err := range logCommits(ctx, s, head) {
			full := FullCommit{Commit: c}
			wanted := len(c.Leaves)
			if errors.Is(err, ErrDamaged) {
				wanted = logPage // what is wrong with an entry says more
			}
			for range wanted {
				e, damage, more := next()
				if !more {
					break
				}
				if damage != nil {
					err = damage
					break
				}
				if len(full.Entries) < len(c.Leaves) {
					full.Entries = append(full.Entries, e)
				}
			}
			if !yield(full, err) || err != nil {
				return
			}
		}
	}
}

// logCommits yields the commits up to a head, of which each has all its leaves.
func logCommits(ctx context.Context, s Store, head calendar.Position) iter.Seq2[Commit, error] {
	read := func(after calendar.Position, limit int) ([]Commit, error) {
		page, err := s.Commits(ctx, after+1, limit)
		if errors.Is(err, ErrDamaged) {
			err = Damaged(after+1, "its commit: %v", err)
		}
		if err == nil && len(page) == 0 {
			err = Damaged(after+1, "its commit is missing")
		}
		return page, err
	}
	return pages(head, read, func(c *Commit, p calendar.Position) (calendar.Position, error) {
		switch {
		case c.First != p || c.Last < p:
			return p, Damaged(p, "its commit is missing, the next one is %d to %d", c.First, c.Last)
		case c.Last > head:
			return p, Damaged(c.Last, "the commit ends after the head %d", head)
		case len(c.Leaves) != int(c.Last-p+1):
			return p, Damaged(p, "its commit has %d leaves of %d", len(c.Leaves), c.Last-p+1)
		}
		return c.Last, nil
	})
}

// logEntries yields the entries up to a head.
func logEntries(ctx context.Context, s Store, head calendar.Position) iter.Seq2[Entry, error] {
	read := func(after calendar.Position, limit int) ([]Entry, error) {
		page, err := s.Read(ctx, Range{After: uint64(after), Limit: min(limit, int(head-after))})
		if errors.Is(err, ErrDamaged) {
			err = Damaged(after+1, "%v", err)
		}
		if err == nil && len(page) == 0 {
			err = Damaged(after+1, "it is missing")
		}
		return page, err
	}
	return pages(head, read, func(e *Entry, p calendar.Position) (calendar.Position, error) {
		if e.Position != p {
			return p, Damaged(p, "it is missing, the next one is %d", e.Position)
		}
		return p, nil
	})
}

// logPage is how much of a log is read at once.
const logPage = 500

// pages yields what is read page by page up to a head. Of a page that the store cannot read
// the first is read alone. check is given what has to begin at a position, and returns
// where it ends.
func pages[T any](
	head calendar.Position, read func(after calendar.Position, limit int) ([]T, error), check func(*T, calendar.Position) (calendar.Position, error),
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for last := calendar.Position(0); last < head; {
			page, err := read(last, logPage)
			if errors.Is(err, ErrDamaged) {
				page, err = read(last, 1)
			}
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for i := range page {
				if last, err = check(&page[i], last+1); !yield(page[i], err) || err != nil || last == head {
					return
				}
			}
		}
	}
}

// Checkpoints yields the checkpoints of a store up to a size, by size.
func Checkpoints(ctx context.Context, s Store, upTo calendar.Position) iter.Seq2[Checkpoint, error] {
	return func(yield func(Checkpoint, error) bool) {
		for after := calendar.Position(0); after < upTo; {
			f, err := s.Find(ctx, Lookup{Signed: Range{After: uint64(after), Limit: logPage}})
			if err != nil {
				yield(Checkpoint{}, err)
				return
			}
			if len(f.Signed) == 0 {
				return
			}
			for _, c := range f.Signed {
				if after = c.Size; after > upTo || !yield(c, nil) {
					return
				}
			}
		}
	}
}
