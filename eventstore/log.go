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

// Log yields the commits of a store up to its head or an earlier one. An entry that is
// missing, or that the store cannot read, is a DamageError, with the entries of its
// commit that come before.
func Log(ctx context.Context, s Store, head calendar.Position) iter.Seq2[FullCommit, error] {
	return func(yield func(FullCommit, error) bool) {
		var commits []Commit
		var entries []Entry
		var err error
		for next := calendar.Position(1); next <= head; {
			commits, err = more(commits, next, func(limit int) ([]Commit, error) { return s.Commits(ctx, next, limit) })
			if err != nil {
				yield(FullCommit{}, err)
				return
			}
			full := FullCommit{Commit: commits[0]}
			if full.First != next || full.Last < next || full.Last > head || len(full.Leaves) != int(full.Last-next+1) {
				err = Damaged(next, "its commit is missing, the next one is %d to %d with %d leaves", full.First, full.Last, len(full.Leaves))
			}
			for ; err == nil && next <= full.Last; next++ {
				entries, err = more(entries, next, func(limit int) ([]Entry, error) {
					return s.Read(ctx, Range{After: uint64(next - 1), Limit: min(limit, int(head-next+1))})
				})
				switch {
				case err != nil:
				case entries[0].Position != next:
					err = Damaged(next, "it is missing, the next one is %d", entries[0].Position)
				default:
					full.Entries, entries = append(full.Entries, entries[0]), entries[1:]
				}
			}
			if !yield(full, err) || err != nil {
				return
			}
			commits = commits[1:]
		}
	}
}

// logPage is how much of a log is read at once.
const logPage = 500

// more returns what is left of a page, or the next one, which begins at a position. Of a
// page that the store cannot read the first item is read alone.
func more[T any](left []T, p calendar.Position, read func(limit int) ([]T, error)) ([]T, error) {
	if len(left) > 0 {
		return left, nil
	}
	page, err := read(logPage)
	if errors.Is(err, ErrDamaged) {
		page, err = read(1)
	}
	switch {
	case errors.Is(err, ErrDamaged):
		return nil, Damaged(p, "%v", err)
	case err == nil && len(page) == 0:
		return nil, Damaged(p, "it is missing, or its commit")
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

// recordsPage is how many records are read at once.
const recordsPage = 1000

// Records yields the records of a kind (0: of all) by id, page by page.
func Records(ctx context.Context, s Store, k calendar.Kind) iter.Seq2[[]Held, error] {
	return func(yield func([]Held, error) bool) {
		for after := calendar.ID(0); ; {
			page, err := s.Records(ctx, k, after, recordsPage)
			if err != nil || len(page) == 0 {
				if err != nil {
					yield(nil, fmt.Errorf("read records after %d: %w", after, err))
				}
				return
			}
			if after = page[len(page)-1].ID; !yield(page, nil) {
				return
			}
		}
	}
}

// Versions yields the entries of a record by version.
func Versions(ctx context.Context, s Store, id calendar.ID) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		for after := int64(0); ; {
			page, err := s.Read(ctx, Range{Record: id, After: uint64(after), Limit: logPage})
			if err != nil {
				yield(nil, fmt.Errorf("read versions of record %d: %w", id, err))
			}
			if len(page) == 0 {
				return
			}
			for i := range page {
				if after = page[i].Version; !yield(&page[i], nil) {
					return
				}
			}
		}
	}
}
