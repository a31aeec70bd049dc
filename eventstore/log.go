package eventstore

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"daybook/calendar"
)

// FullCommit is a commit with its entries.
type FullCommit struct {
	Commit

	Entries []Entry
}

// logPage is how many commits or entries Log reads at once.
const logPage = 500

// Log yields the commits of a store up to its head or an earlier one. An entry that is
// missing, or that the store cannot read, is a DamageError, with the entries of its
// commit that come before.
func Log(ctx context.Context, s Store, head calendar.Position) iter.Seq2[FullCommit, error] {
	return func(yield func(FullCommit, error) bool) {
		l := &logReader{Store: s, head: head}
		for l.last < head {
			commit, err := l.next(ctx)
			if !yield(commit, err) || err != nil {
				return
			}
		}
	}
}

// logReader reads ahead.
type logReader struct {
	Store

	head, last calendar.Position // last is that of the last entry that was returned
	commits    []Commit
	entries    []Entry
}

// next returns the next commit; with a DamageError the entries of it that come before.
func (l *logReader) next(ctx context.Context) (FullCommit, error) {
	c, err := l.commit(ctx)
	missing := len(c.Leaves)
	if errors.Is(err, ErrDamaged) { // what is wrong with an entry of it says more
		missing = min(logPage, int(l.head-l.last))
	}
	for len(l.entries) < missing {
		if damage := l.read(ctx); damage != nil {
			err = damage
			break
		}
	}
	n := min(len(c.Leaves), len(l.entries))
	full := FullCommit{c, l.entries[:n:n]}
	l.last, l.entries = c.Last, l.entries[n:]
	return full, err
}

// commit returns the next commit.
func (l *logReader) commit(ctx context.Context) (c Commit, err error) {
	p := l.last + 1
	if len(l.commits) == 0 {
		l.commits, err = readPage(func(limit int) ([]Commit, error) { return l.Commits(ctx, p, limit) })
		switch {
		case errors.Is(err, ErrDamaged):
			return c, Damaged(p, "its commit: %v", err)
		case err != nil:
			return c, fmt.Errorf("commits from entry %d: %w", p, err)
		case len(l.commits) == 0:
			return c, Damaged(p, "its commit is missing")
		}
	}
	c, l.commits = l.commits[0], l.commits[1:]
	switch {
	case c.First != p || c.Last < p:
		return c, Damaged(p, "its commit is missing, the next one is %d to %d", c.First, c.Last)
	case c.Last > l.head:
		return c, Damaged(c.Last, "the commit ends after the head %d", l.head)
	case len(c.Leaves) != int(c.Last-l.last):
		return c, Damaged(p, "its commit has %d leaves of %d", len(c.Leaves), c.Last-l.last)
	}
	return c, nil
}

// read reads the next entries, none behind the head.
func (l *logReader) read(ctx context.Context) error {
	p := l.last + calendar.Position(len(l.entries)) + 1
	more, err := readPage(func(limit int) ([]Entry, error) {
		return l.Read(ctx, Range{After: uint64(p - 1), Limit: min(limit, int(l.head-p)+1)})
	})
	switch {
	case errors.Is(err, ErrDamaged):
		return Damaged(p, "%v", err)
	case err != nil:
		return fmt.Errorf("entry %d: %w", p, err)
	case len(more) == 0:
		return Damaged(p, "it is missing")
	}
	for i := range more {
		if more[i].Position == p+calendar.Position(i) {
			l.entries = append(l.entries, more[i])
		} else if i == 0 {
			return Damaged(p, "it is missing, the next one is %d", more[i].Position)
		}
	}
	return nil
}

// readPage reads a page, or the first of it alone where the store cannot read the whole.
func readPage[T any](read func(limit int) ([]T, error)) ([]T, error) {
	page, err := read(logPage)
	if errors.Is(err, ErrDamaged) {
		page, err = read(1)
	}
	return page, err
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
