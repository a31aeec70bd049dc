package eventstore

import (
	"context"
	"errors"
	"iter"
	"sort"

	"daybook/calendar"
)

// pageSize is how many entries, records or checkpoints are read at once.
const pageSize = 500

// pages yields the pages that a read returns, each from behind the last item of the one
// before it, until one is empty; the first from behind the zero item. Of a page that the
// store cannot read the first item is read alone, so all before the one at fault are read.
func pages[T any](read func(last *T, limit int) ([]T, error)) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		for last := new(T); ; {
			page, err := read(last, pageSize)
			if errors.Is(err, ErrDamaged) {
				page, err = read(last, 1)
			}
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

// Entries yields the entries of a record by version, of record 0 those of the log.
func Entries(ctx context.Context, store Store, id calendar.ID) iter.Seq2[*Entry, error] {
	return items(pages(func(last *Entry, limit int) ([]Entry, error) {
		after := uint64(last.Version)
		if id == 0 {
			after = uint64(last.Position)
		}
		return store.Read(ctx, Range{Record: id, After: after, Limit: limit})
	}))
}

// Log yields the entries of a store up to its head. What is missing, cannot be read, or does
// not fit the chain of commits is a DamageError; so is an entry behind the last commit, where
// no reader comes until the next one is written over it.
func Log(ctx context.Context, store Store, head calendar.Position) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		var before Mark
		var commit []Entry // behind it
		next := calendar.Position(1)
		for entry, err := range Entries(ctx, store, 0) {
			switch {
			case errors.Is(err, ErrDamaged):
				err = Damaged(next, "%v", err)
			case err != nil:
			case next > head && entry.Position <= entry.Commit.Last: // it was written meanwhile
				return
			case next > head:
				err = entry.Damaged("it lies behind the last commit, which ends with entry %d", head)
			case entry.Position != next:
				err = Damaged(next, "it is missing, the next one is %d", entry.Position)
			default:
				commit = append(commit, *entry)
				if entry.Commit.First == before.Position+1 && next < min(entry.Commit.Last, head) {
					break
				}
				if entry.Commit != (Commit{before.Position + 1, next, ChainHash(before.Hash, commit)}) {
					err = entry.Damaged("the chain does not fit the commit %d to %d", entry.Commit.First, entry.Commit.Last)
				}
				before, commit = entry.Mark(), nil
			}
			if !yield(entry, err) || err != nil {
				return
			}
			next++
		}
		if next <= head {
			yield(nil, Damaged(next, "it is missing"))
		}
	}
}

// Records yields the records of a kind (0: of all) by id, page by page.
func Records(ctx context.Context, store Store, kind calendar.Kind) iter.Seq2[[]Held, error] {
	return pages(func(last *Held, limit int) ([]Held, error) { return store.Records(ctx, kind, last.ID, limit) })
}

// Checkpoints yields the checkpoints of a store up to a size, by size.
func Checkpoints(ctx context.Context, store Store, upTo calendar.Position) iter.Seq2[*Checkpoint, error] {
	return items(pages(func(last *Checkpoint, limit int) ([]Checkpoint, error) {
		found, err := store.Find(ctx, Lookup{Signed: Range{After: uint64(last.Size), Limit: limit}})
		larger := sort.Search(len(found.Signed), func(index int) bool { return found.Signed[index].Size > upTo })
		return found.Signed[:larger], err
	}))
}
