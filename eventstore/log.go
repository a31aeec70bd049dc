package eventstore

import (
	"context"
	"errors"
	"iter"
	"slices"

	"daybook/calendar"
)

// FullCommit is a commit with its entries.
type FullCommit struct {
	Commit

	Entries []Entry // with their leaves
}

// Log yields the commits of a store up to its head or an earlier one. An entry that is
// missing, that the store cannot read, or whose commit does not fit the chain, is a
// DamageError, with the entries of its commit that come before.
func Log(ctx context.Context, store Store, head calendar.Position) iter.Seq2[FullCommit, error] {
	return func(yield func(FullCommit, error) bool) {
		var commits []Commit
		var entries []Entry
		var chain [32]byte
		for next := calendar.Position(1); next <= head; {
			var full FullCommit
			err := fill(&commits, next, func(limit int) ([]Commit, error) { return store.Commits(ctx, next, limit) })
			if err == nil {
				full.Commit, commits = commits[0], commits[1:]
				if full.First != next || full.Last < next || full.Last > head || len(full.Leaves) != int(full.Last-next+1) {
					err = Damaged(next, "its commit is missing, the next one is %d to %d with %d leaves", full.First, full.Last, len(full.Leaves))
				}
			}
			for ; err == nil && next <= full.Last; next++ {
				err = fill(&entries, next, func(limit int) ([]Entry, error) {
					return store.Read(ctx, Range{After: uint64(next - 1), Limit: limit})
				})
				switch {
				case err != nil:
				case entries[0].Position != next:
					err = Damaged(next, "it is missing, the next one is %d", entries[0].Position)
				default:
					entry := entries[0]
					entry.Leaf = full.Leaves[next-full.First]
					full.Entries, entries = append(full.Entries, entry), entries[1:]
				}
			}
			if chain = ChainHash(chain, full.First, full.Leaves); err == nil && chain != full.Hash {
				err = Damaged(full.Last, "the chain does not fit the commit %d to %d", full.First, full.Last)
			}
			if !yield(full, err) || err != nil {
				return
			}
		}
	}
}

// logPage is how much of a log is read at once.
const logPage = 500

// fill reads the next page into an empty one; it begins at a position. Of a page that the
// store cannot read the first item is read alone.
func fill[T any](page *[]T, position calendar.Position, read func(limit int) ([]T, error)) (err error) {
	if len(*page) > 0 {
		return nil
	}
	for _, limit := range [...]int{logPage, 1} {
		if *page, err = read(limit); !errors.Is(err, ErrDamaged) {
			break
		}
	}
	switch {
	case errors.Is(err, ErrDamaged):
		return Damaged(position, "%v", err)
	case err == nil && len(*page) == 0:
		return Damaged(position, "it is missing, or its commit")
	}
	return err
}

// pages yields the pages that a read returns, each from behind the last item of the one
// before it, until one is empty; the first from behind the zero item.
func pages[T any](read func(last *T) ([]T, error)) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		for last := new(T); ; {
			page, err := read(last)
			if len(page) == 0 && err == nil || !yield(page, err) || err != nil {
				return
			}
			last = &page[len(page)-1]
		}
	}
}

// items yields the items of pages.
func items[T any](pages iter.Seq2[[]T, error]) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for page, err := range pages {
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range page {
				if !yield(&page[i], nil) {
					return
				}
			}
		}
	}
}

// Checkpoints yields the checkpoints of a store up to a size, by size.
func Checkpoints(ctx context.Context, store Store, upTo calendar.Position) iter.Seq2[*Checkpoint, error] {
	return items(pages(func(last *Checkpoint) ([]Checkpoint, error) {
		found, err := store.Find(ctx, Lookup{Signed: Range{After: uint64(last.Size), Limit: logPage}})
		if larger := slices.IndexFunc(found.Signed, func(checkpoint Checkpoint) bool { return checkpoint.Size > upTo }); larger >= 0 {
			found.Signed = found.Signed[:larger]
		}
		return found.Signed, err
	}))
}

// Records yields the records of a kind (0: of all) by id, page by page.
func Records(ctx context.Context, store Store, kind calendar.Kind) iter.Seq2[[]Held, error] {
	return pages(func(last *Held) ([]Held, error) { return store.Records(ctx, kind, last.ID, recordsPage) })
}

// recordsPage is how many records are read at once.
const recordsPage = 1000

// Versions yields the entries of a record by version.
func Versions(ctx context.Context, store Store, id calendar.ID) iter.Seq2[*Entry, error] {
	return items(pages(func(last *Entry) ([]Entry, error) {
		return store.Read(ctx, Range{Record: id, After: uint64(last.Version), Limit: logPage})
	}))
}
