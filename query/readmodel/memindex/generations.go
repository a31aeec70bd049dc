package memindex

import (
	"context"
	"fmt"
	"time"

	"daybook/query/readmodel"
)

var _ readmodel.Generations = (*Index)(nil)

// Reach implements readmodel.Generations: memory is there.
func (x *Index) Reach(ctx context.Context) error { return ctx.Err() }

// Sound implements readmodel.Generations.
func (x *Index) Sound(ctx context.Context) error {
	_, err := x.Visible(ctx)
	return err
}

// Next implements readmodel.Generations.
func (x *Index) Next(ctx context.Context) (readmodel.Index, error) {
	next := New(x.o)
	x.saving.Lock()
	defer x.saving.Unlock()
	x.next = next
	return next, ctx.Err()
}

// Promote puts the coming generation in place. The one before is kept as a file.
func (x *Index) Promote(ctx context.Context) error {
	x.saving.Lock()
	defer x.saving.Unlock()
	if x.next == nil {
		return fmt.Errorf("promote: %w", readmodel.ErrNoNext)
	}
	former, err := x.promote(ctx)
	if err != nil {
		return err
	}
	x.next = nil
	if former != nil {
		x.keepFormer(ctx, former)
	}
	return x.snapshot(ctx)
}

// promote puts the coming generation in place, and returns the one before where it is to be
// kept. Nothing is written meanwhile, so that lists do not go back in time.
func (x *Index) promote(ctx context.Context) (former *image, err error) {
	x.writing.Lock()
	defer x.writing.Unlock()
	shown, err := x.Visible(ctx)
	if err == nil && x.next.current.Load().marks.All.Position < shown.Position {
		ours := true // else it shows what the store does not have
		if x.o.Holds != nil {
			if ours, err = x.o.Holds(ctx, shown.Mark); err != nil {
				return nil, err
			}
		}
		if ours {
			return nil, readmodel.ErrBehind
		}
	}
	if x.o.Former != "" && err == nil {
		former = x.image()
	}
	x.take(x.next)
	return former, nil
}

// Back implements readmodel.Generations.
func (x *Index) Back(ctx context.Context) error {
	x.saving.Lock()
	defer x.saving.Unlock()
	// One that is not there, that this version of the program cannot read, or of another history, is empty.
	kept, err := Open(ctx, x.o.Former, x.o)
	if err != nil {
		return err
	}
	if kept.current.Load().marks.All.Position == 0 {
		return readmodel.ErrNoGeneration
	}
	x.writing.Lock()
	former := x.image()
	x.take(kept)
	x.writing.Unlock()
	x.keepFormer(ctx, former)
	return x.snapshot(ctx)
}

// Forget implements readmodel.Generations. The snapshot is written again.
func (x *Index) Forget(ctx context.Context) error {
	x.saving.Lock()
	defer x.saving.Unlock()
	x.next = nil
	if err := remove(x.o.Former); err != nil {
		return fmt.Errorf("forget the former read model: %w", err)
	}
	return x.snapshot(ctx)
}

// keepFormer writes what was replaced to its file.
func (x *Index) keepFormer(ctx context.Context, m *image) {
	if err := m.save(ctx, x.o.Former); err != nil {
		x.o.Logger.WarnContext(ctx, "the replaced read model is not kept", "error", err)
	}
}

// take puts another index, which no one else has, in place of what x holds. The caller has
// locked writing.
func (x *Index) take(next *Index) {
	x.gone = next.gone
	x.epoch.Store(next.epoch.Load())
	state := next.current.Load()
	x.since.Store(int64(state.documents()))
	x.writes++
	x.show(state)
	for i := range x.records { // after that, as in Write
		x.records[i].Store(nil)
	}
	close(x.taken)
	x.taken = make(chan struct{})
	x.generation++
}

// Moved implements readmodel.Generations.
func (x *Index) Moved(ctx context.Context) error {
	for {
		x.writing.Lock()
		moved, taken := x.bound != x.generation, x.taken
		x.writing.Unlock()
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
func (x *Index) Close() error {
	x.background.Wait()
	return nil
}

const (
	keepEvery = 5 * time.Minute // at most one snapshot
	lastKeep  = 20 * time.Second
)

// Keep writes the snapshot when a quarter has changed since the last one, so that what is
// written for one change does not grow with the calendar and a start after a kill reads no
// more than that again; and at the end, within 20 s. When a record was erased it does what Forget does, so that no file holds it.
func (x *Index) Keep(ctx context.Context) error {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	save := func(ctx context.Context) {
		if err := x.Snapshot(ctx); err != nil {
			x.o.Logger.WarnContext(ctx, "snapshot not written; the next start fills the read model from the store", "error", err)
		}
	}
	forget := func(ctx context.Context) {
		x.purge()
		if err := x.Forget(ctx); err != nil {
			x.o.Logger.WarnContext(ctx, "what was erased is not out of the files yet; daybook erase of the same record mends that", "error", err)
		}
	}
	for {
		select {
		case <-ctx.Done():
			last, end := context.WithTimeout(context.WithoutCancel(ctx), lastKeep)
			defer end()
			select {
			case <-x.erased:
				forget(last)
			default:
				save(last)
			}
			return nil
		case <-x.erased:
			forget(ctx)
		case <-tick.C:
			if changed := int(x.since.Load()); changed > 0 && 4*changed >= x.current.Load().documents() {
				save(ctx)
			}
		}
	}
}
