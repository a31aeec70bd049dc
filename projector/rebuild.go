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

// Fill fills an empty index from the present states of the store's records, so it costs as
// much as there are records, not changes. When it comes back the index holds the position that
// the store had when it began, or newer documents; a projector goes on from there. A record
// that cannot be projected is quarantined. progress (may be nil) gets the number of records
// done and an upper bound of their total, in the last call both are equal; it is called by one
// goroutine at a time.
//
// It fails with eventstore.ErrHistory when the store goes over to another history
// meanwhile: then the index is of both.
func Fill(ctx context.Context, store eventstore.Store, index readmodel.Index, progress func(done, total int)) error {
	history := store.Epoch().History
	at, err := headOf(ctx, store)
	if err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	var mutex sync.Mutex // of done and quarantined
	done, quarantined := 0, []readmodel.Quarantined(nil)
	write := func(ctx context.Context, page []eventstore.Held, reach calendar.Mark) error {
		states := make([]eventstore.State, 0, len(page))
		for i := range page {
			if hasDocument(page[i].Kind) { // deleted ones too, so that an older entry that comes later cannot bring them back
				states = append(states, page[i].State)
			}
		}
		found, err := offer(ctx, index, states, reach)
		if err != nil {
			return err
		}
		mutex.Lock()
		defer mutex.Unlock()
		quarantined = append(quarantined, found.quarantined...)
		if done += len(page); progress != nil {
			progress(done, max(done, int(at.Position)))
		}
		return nil
	}
	writers, within := errgroup.WithContext(ctx)
	writers.SetLimit(fillWriters)
	reach, err := eachPage(within, store, func(page []eventstore.Held, reach calendar.Mark) {
		writers.Go(func() error { return write(within, page, reach) })
	})
	if err := cmp.Or(writers.Wait(), err); err != nil { // a write that fails ends the reading too
		return fmt.Errorf("fill: %w", err)
	}
	if store.Epoch().History != history {
		return fmt.Errorf("fill: %w", eventstore.ErrHistory)
	}
	// After all documents, never before.
	if _, err := writeOnce(ctx, index, readmodel.Batch{Mark: at, Reach: reach, Quarantined: quarantined}); err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	if progress != nil {
		progress(done, done)
	}
	return nil
}

// eachPage calls use with all records of a store, page by page, each with a mark that none of
// them is younger than. It returns the last one.
func eachPage(ctx context.Context, store eventstore.Store, use func(page []eventstore.Held, reach calendar.Mark)) (reach calendar.Mark, err error) {
	for after := calendar.ID(0); ; {
		page, err := store.Records(ctx, 0, after, rebuildPage)
		if err != nil {
			return reach, fmt.Errorf("read records after %d: %w", after, err)
		}
		if reach, err = headOf(ctx, store); err != nil || len(page) == 0 {
			return reach, err
		}
		after = page[len(page)-1].ID
		use(page, reach)
	}
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
	p := New(index, storeSource{store}, Options{})
	if err := p.run(ctx, func(at calendar.Position) bool { return at >= head.Position }); err != nil {
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
