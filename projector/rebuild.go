package projector

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"daybook/eventstore"
	"daybook/query/readmodel"
)

// Fill fills an empty index from the present states of the store's records, so it costs as
// much as there are records, not changes. When it comes back the index holds the position that
// the store had when it began, or newer documents; a projector goes on from there. A record
// that cannot be projected is quarantined. progress (may be nil) gets the number of records
// done and an upper bound of their total, in the last call both are equal.
//
// It fails with eventstore.ErrHistory when the store goes over to another history
// meanwhile: then the index is of both.
func Fill(ctx context.Context, store eventstore.Store, index readmodel.Index, progress func(done, total int)) error {
	history := store.Epoch().History
	head, err := store.Head(ctx, eventstore.Point{})
	if err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	if progress == nil {
		progress = func(int, int) {}
	}
	done := 0
	end := readmodel.Batch{Mark: head.Mark}
	var finished sync.Mutex // for what the pages add up to
	writing, within := errgroup.WithContext(ctx)
	writing.SetLimit(2) // while an engine takes a page the next one is read and made
	for page, err := range eventstore.Records(within, store, 0) {
		if err == nil {
			head, err = store.Head(within, eventstore.Point{})
		}
		reach := head.Mark // none of the records that were read is younger
		states := make([]eventstore.State, len(page))
		for i := range page { // deleted ones too, so that an older entry that comes later cannot bring them back
			states[i] = page[i].State
		}
		writing.Go(func() error {
			var found writeOutcome
			if err == nil {
				found, err = offer(within, index, states, reach, nil)
			}
			if err != nil {
				return err
			}
			finished.Lock()
			defer finished.Unlock()
			end.Quarantined = append(end.Quarantined, found.quarantined...)
			done += len(page)
			progress(done, max(done, int(end.Mark.Position)))
			return nil
		})
	}
	err, end.Reach = writing.Wait(), head.Mark
	if err == nil && store.Epoch().History != history {
		err = eventstore.ErrHistory
	}
	if err == nil { // after all documents, never before
		_, err = index.Write(ctx, end)
	}
	if err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	progress(done, done)
	return nil
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
	history := store.Epoch().History
	projector := New(index, nil, Options{Begin: func(ctx context.Context, marks readmodel.Marks) error {
		return eventstore.CheckMark(ctx, store, marks.Reach)
	}})
	head, err := store.Head(ctx, eventstore.Point{})
	if err != nil {
		return fmt.Errorf("catch up: %w", err)
	}
	mark, err := projector.begin(ctx)
	for err == nil && mark.Position < head.Position {
		var entries batch
		var last eventstore.Head
		entries.entries, err = store.Read(ctx, eventstore.Range{After: uint64(mark.Position), Limit: projector.options.Batch})
		if count := len(entries.entries); err == nil && count > 0 {
			last, err = store.Head(ctx, eventstore.Point{Position: entries.entries[count-1].Position})
		}
		if err == nil && store.Epoch().History != history {
			err = eventstore.ErrHistory
		}
		entries.mark, entries.err = last.Mark, err
		if err = entries.check(mark.Position); err == nil {
			err = projector.project(ctx, &entries)
		}
		mark = entries.mark
	}
	if err != nil {
		return fmt.Errorf("catch up to %d: %w", head.Position, err)
	}
	return nil
}
