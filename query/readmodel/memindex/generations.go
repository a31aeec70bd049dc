package memindex

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"daybook/query/readmodel"
)

var _ readmodel.Generations = (*Index)(nil)

// Reach implements readmodel.Generations: memory is there.
func (index *Index) Reach(ctx context.Context) error { return ctx.Err() }

// Sound implements readmodel.Generations.
func (index *Index) Sound(ctx context.Context) error {
	_, err := index.Visible(ctx)
	return err
}

// Next implements readmodel.Generations.
func (index *Index) Next(ctx context.Context) (readmodel.Index, error) {
	next := New(index.options)
	index.saving.Lock()
	defer index.saving.Unlock()
	index.next = next
	return next, ctx.Err()
}

// Promote puts the coming generation in place. The one before is kept as a file.
func (index *Index) Promote(ctx context.Context) error {
	index.saving.Lock()
	defer index.saving.Unlock()
	if index.next == nil {
		return fmt.Errorf("promote: %w", readmodel.ErrNoNext)
	}
	former, err := index.promote(ctx)
	if err != nil {
		return err
	}
	index.next = nil
	if former != nil {
		index.keepFormer(ctx, former)
	}
	return index.snapshot(ctx)
}

// promote puts the coming generation in place, and returns the one before where it is to be
// kept. Nothing is written meanwhile, so that lists do not go back in time.
func (index *Index) promote(ctx context.Context) (former *image, err error) {
	index.writing.Lock()
	defer index.writing.Unlock()
	shown, err := index.Visible(ctx)
	if err == nil && index.next.current.Load().marks.All.Position < shown.Position {
		ours := true // else it shows what the store does not have
		if index.options.Holds != nil {
			if ours, err = index.options.Holds(ctx, shown.Mark); err != nil {
				return nil, err
			}
		}
		if ours {
			return nil, readmodel.ErrBehind
		}
	}
	if index.options.Former != "" && err == nil {
		former = index.image()
	}
	index.take(index.next)
	return former, nil
}

// Back implements readmodel.Generations.
func (index *Index) Back(ctx context.Context) error {
	index.saving.Lock()
	defer index.saving.Unlock()
	// One that is not there, that this version of the program cannot read, or of another history, is empty.
	kept, err := Open(ctx, index.options.Former, index.options)
	if err != nil {
		return err
	}
	if kept.current.Load().marks.All.Position == 0 {
		return readmodel.ErrNoGeneration
	}
	index.writing.Lock()
	former := index.image()
	index.take(kept)
	index.writing.Unlock()
	index.keepFormer(ctx, former)
	return index.snapshot(ctx)
}

// Forget implements readmodel.Generations. The snapshot is written again.
func (index *Index) Forget(ctx context.Context) error {
	index.saving.Lock()
	defer index.saving.Unlock()
	index.next = nil
	if err := cmp.Or(remove(index.options.Former), remove(index.options.Former+unfinished)); err != nil {
		return fmt.Errorf("forget the former read model: %w", err)
	}
	return index.snapshot(ctx)
}

// keepFormer writes what was replaced to its file.
func (index *Index) keepFormer(ctx context.Context, image *image) {
	if err := image.save(ctx, index.options.Former); err != nil {
		index.options.Logger.WarnContext(ctx, "the replaced read model is not kept", "error", err)
	}
}

// take puts another index, which no one else has, in place of what index holds. The caller has
// locked writing.
func (index *Index) take(next *Index) {
	index.gone = next.gone
	index.epoch.Store(next.epoch.Load())
	state := next.current.Load()
	index.since.Store(int64(state.documents()))
	index.writes++
	index.show(state)
	for i := range index.records { // after that, as in Write
		index.records[i].Store(nil)
	}
	close(index.taken)
	index.taken = make(chan struct{})
	index.generation++
}

// Moved implements readmodel.Generations.
func (index *Index) Moved(ctx context.Context) error {
	for {
		index.writing.Lock()
		moved, taken := index.bound != index.generation, index.taken
		index.writing.Unlock()
		if moved {
			return nil
		}
		select {
		case <-taken:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Close implements readmodel.Generations: it waits for merges in the background.
func (index *Index) Close() error {
	index.background.Wait()
	return nil
}

const (
	keepEvery = 5 * time.Minute // at most one snapshot
	lastKeep  = 20 * time.Second
)

// Keep writes the snapshot when a quarter has changed since the last one, so that what is
// written for one change does not grow with the calendar and a start after a kill reads no
// more than that again; and at the end, within 20 s. When a record was erased it does what Forget does, so that no file holds it.
func (index *Index) Keep(ctx context.Context) error {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	save := func(ctx context.Context) {
		if err := index.Snapshot(ctx); err != nil {
			index.options.Logger.WarnContext(ctx, "snapshot not written; the next start fills the read model from the store", "error", err)
		}
	}
	forget := func(ctx context.Context) {
		index.purge()
		if err := index.Forget(ctx); err != nil {
			index.options.Logger.WarnContext(ctx, "what was erased is not out of the files yet; daybook erase of the same record mends that", "error", err)
		}
	}
	for {
		select {
		case <-ctx.Done():
			last, end := context.WithTimeout(context.WithoutCancel(ctx), lastKeep)
			defer end()
			select {
			case <-index.erased:
				forget(last)
			default:
				save(last)
			}
			return nil
		case <-index.erased:
			forget(ctx)
		case <-tick.C:
			if changed := int(index.since.Load()); changed > 0 && 4*changed >= index.current.Load().documents() {
				save(ctx)
			}
		}
	}
}
