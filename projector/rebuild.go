package projector

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/query/readmodel"
)

// rebuildPage is the number of records of one read and one write of a rebuild.
const rebuildPage = 1000

// fillWriters is how many pages a fill decodes and writes concurrently.
const fillWriters = 4

// Rebuild empties an index and fills it, see Fill.
func Rebuild(ctx context.Context, store eventstore.Store, index readmodel.Index, progress func(done, total int)) error {
	if err := index.Reset(ctx); err != nil {
		return fmt.Errorf("rebuild: empty the index: %w", err)
	}
	return Fill(ctx, store, index, progress)
}

// Fill fills an index from the present states of the store's records, so it costs as much
// as there are records, not changes. The index is empty, or one that an earlier Fill was
// cut off in, see Check: what that had written already is left alone where it is still
// present. When it comes back the index holds the position that the store had when it
// began, or newer documents; a projector goes on from there. A record that cannot be
// projected is quarantined. progress (may be nil) gets the number of records done and an
// upper bound of their total, in the last call both are equal; it is called by one
// goroutine at a time.
//
// It fails with eventstore.ErrHistory when the store goes over to another history
// meanwhile: then the index is of both.
func Fill(ctx context.Context, store eventstore.Store, index readmodel.Index, progress func(done, total int)) error {
	if progress == nil {
		progress = func(int, int) {}
	}
	history := store.Epoch().History
	at, err := headOf(ctx, store)
	if err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	marks, err := index.Marks(ctx)
	if err != nil {
		return fmt.Errorf("rebuild: marks of the index: %w", err)
	}
	f := &filling{index: index, progress: progress, atLeast: int(at.Position), empty: marks.Reach.Position == 0}
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(fillWriters)
	err = f.read(within, store, g)
	if err := cmp.Or(g.Wait(), err); err != nil { // a write that fails ends the reading too
		return fmt.Errorf("rebuild: %w", err)
	}
	if store.Epoch().History != history {
		return fmt.Errorf("rebuild: %w", eventstore.ErrHistory)
	}
	// After all documents, never before.
	if _, err := writeOnce(ctx, index, readmodel.Batch{Mark: at, Reach: f.reach, Quarantined: f.quarantined}); err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	progress(f.done, f.done)
	return nil
}

// filling is what the writers of a Fill share.
type filling struct {
	index    readmodel.Index
	progress func(done, total int)
	atLeast  int
	empty    bool // nothing of an earlier Fill is there

	mu          sync.Mutex
	done        int
	quarantined []readmodel.Quarantined
	reach       calendar.Mark // of all pages so far
}

// read reads all records page by page, and has each page written.
func (f *filling) read(ctx context.Context, store eventstore.Store, writers *errgroup.Group) error {
	for after := calendar.ID(0); ; {
		page, err := store.Records(ctx, 0, after, rebuildPage)
		if err != nil {
			return fmt.Errorf("read records after %d: %w", after, err)
		}
		if len(page) == 0 {
			return nil
		}
		after = page[len(page)-1].ID
		reach, err := headOf(ctx, store)
		if err != nil {
			return err
		}
		writers.Go(func() error { return f.write(ctx, page, reach) })
	}
}

// write writes the documents of a page, none of which is younger than reach; deleted ones
// too, so that an older entry that comes later cannot bring them back.
func (f *filling) write(ctx context.Context, page []eventstore.Held, reach calendar.Mark) error {
	missing, err := f.missing(ctx, page)
	if err != nil {
		return err
	}
	found, err := offer(ctx, f.index, missing, reach)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.quarantined = append(f.quarantined, found.quarantined...)
	if reach.Position > f.reach.Position {
		f.reach = reach
	}
	f.done += len(page)
	f.progress(f.done, max(f.done, f.atLeast))
	return nil
}

// missing returns the states that have a document which an earlier Fill has not written.
func (f *filling) missing(ctx context.Context, records []eventstore.Held) ([]eventstore.State, error) {
	var held map[calendar.ID]readmodel.Document
	if !f.empty {
		ids := make([]calendar.ID, len(records))
		for i := range records {
			ids[i] = records[i].ID
		}
		var err error
		if held, err = readmodel.Get(ctx, f.index, ids); err != nil {
			return nil, fmt.Errorf("read what is there: %w", err)
		}
	}
	var out []eventstore.State
	for i := range records {
		if s := records[i].State; hasDocument(s.Kind) && held[s.ID].Position != s.Position {
			out = append(out, s)
		}
	}
	return out, nil
}

// headOf returns the mark of the head: nothing that was read before is younger.
func headOf(ctx context.Context, store eventstore.Store) (calendar.Mark, error) {
	head, err := store.Head(ctx, eventstore.Point{})
	if err != nil {
		return calendar.Mark{}, fmt.Errorf("head: %w", err)
	}
	return head.Mark, nil
}

// Check makes sure that an index was made from the history of a store:
// eventstore.ErrHistory when it was not.
func Check(ctx context.Context, store eventstore.Store, index readmodel.Index) error {
	marks, err := index.Marks(ctx)
	if err != nil {
		return fmt.Errorf("marks of the index: %w", err)
	}
	return eventstore.CheckMark(ctx, store, marks.Reach)
}

// CatchUp projects from the mark of an index up to the store's head of now, reading
// the store itself. eventstore.ErrHistory: the index is of another history.
func CatchUp(ctx context.Context, store eventstore.Store, index readmodel.Index) error {
	if err := Check(ctx, store, index); err != nil {
		return fmt.Errorf("catch up: %w", err)
	}
	head, err := headOf(ctx, store)
	if err != nil {
		return fmt.Errorf("catch up: %w", err)
	}
	p, err := New(index, storeSource{store}, Options{})
	if err == nil {
		err = p.run(ctx, func(at calendar.Position) bool { return at >= head.Position })
	}
	if err != nil {
		return fmt.Errorf("catch up to %d: %w", head.Position, err)
	}
	return nil
}

// storeSource reads entries from the store.
type storeSource struct{ store eventstore.Store }

func (s storeSource) Read(ctx context.Context, after eventstore.Mark, limit int) ([]eventstore.Entry, eventstore.Mark, error) {
	history := s.store.Epoch().History
	entries, err := s.store.Read(ctx, eventstore.Range{After: uint64(after.Position), Limit: limit})
	if err == nil && len(entries) == 0 {
		err = fmt.Errorf("%w: nothing after %d, below the head", eventstore.ErrDamaged, after.Position)
	}
	if err != nil {
		return nil, after, err
	}
	to, err := s.store.Head(ctx, eventstore.Point{Position: entries[len(entries)-1].Position})
	if err == nil {
		err = eventstore.CheckMark(ctx, s.store, after)
	}
	if err == nil && s.store.Epoch().History != history {
		err = eventstore.ErrHistory
	}
	return entries, to.Mark, err
}
