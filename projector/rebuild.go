package projector

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/query/readmodel"
)

// rebuildPage is the number of records that a rebuild reads and writes at once.
const rebuildPage = 1000

// Rebuild empties an index and fills it from the present states of the store's
// records, so it costs as much as there are records, not changes. When it comes
// back the index holds the position that the store had when it began, or newer
// documents; a projector goes on from there. progress (may be nil) gets the
// number of records done and an upper bound of their total; in the last call
// both are equal. A record that cannot be projected is quarantined.
func Rebuild(ctx context.Context, store eventstore.Store, index readmodel.Index, progress func(done, total int)) error {
	if progress == nil {
		progress = func(int, int) {}
	}
	at, err := store.Head(ctx)
	if err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	if err := index.Reset(ctx); err != nil {
		return fmt.Errorf("rebuild: empty the index: %w", err)
	}
	pages := make(chan []eventstore.State, 1)
	done := 0
	var poison []readmodel.Poison
	g, within := errgroup.WithContext(ctx)
	g.Go(func() error { return readRecords(within, store, pages) })
	g.Go(func() error {
		for states := range pages {
			p, err := writeStates(within, index, states)
			if err != nil {
				return err
			}
			poison = append(poison, p...)
			done += len(states)
			progress(done, max(done, int(at)))
		}
		return within.Err()
	})
	if err := g.Wait(); err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	// After all documents, never before.
	if _, err := writeOnce(ctx, index, readmodel.Batch{Position: at, Poison: poison}); err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	progress(done, done)
	return nil
}

// readRecords reads all records page by page and closes pages.
func readRecords(ctx context.Context, store eventstore.Store, pages chan<- []eventstore.State) error {
	defer close(pages)
	var after calendar.ID
	for {
		states, err := store.Records(ctx, 0, after, rebuildPage)
		if err != nil {
			return fmt.Errorf("read records after %d: %w", after, err)
		}
		if len(states) == 0 {
			return nil
		}
		after = states[len(states)-1].ID
		select {
		case pages <- states:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// writeStates writes the documents of states; deleted ones too, so that an older
// entry that comes later cannot bring them back.
func writeStates(ctx context.Context, index readmodel.Index, states []eventstore.State) ([]readmodel.Poison, error) {
	documents, poison := documents(states)
	errs, err := writeOnce(ctx, index, readmodel.Batch{Documents: documents})
	if err != nil {
		return nil, err
	}
	for i, err := range errs {
		if err != nil {
			poison = append(poison, readmodel.Poison{ID: documents[i].Record.ID, Position: documents[i].Position, Reason: err.Error()})
		}
	}
	return poison, nil
}

// documents makes the documents of states on all processors, in the order of the
// states.
func documents(states []eventstore.State) ([]readmodel.Document, []readmodel.Poison) {
	all := make([]readmodel.Document, len(states))
	errs := make([]error, len(states))
	var next atomic.Int64
	work := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(states) {
				return
			}
			if s := &states[i]; hasDocument(s.Kind) {
				all[i], errs[i] = document(s.Kind, s.ID, s.Version, s.Position, s.Record)
			}
		}
	}
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	var poison []readmodel.Poison
	out := all[:0]
	for i := range states {
		switch {
		case errs[i] != nil:
			poison = append(poison, readmodel.Poison{ID: states[i].ID, Position: states[i].Position, Reason: errs[i].Error()})
		case all[i].Record != nil:
			out = append(out, all[i])
		}
	}
	return out, poison
}

// CatchUp projects from the position of an index up to the store's head of now,
// reading the store itself.
func CatchUp(ctx context.Context, store eventstore.Store, index readmodel.Index) error {
	head, err := store.Head(ctx)
	if err != nil {
		return fmt.Errorf("catch up: %w", err)
	}
	p, err := New(index, storeSource{store}, Options{})
	if err != nil {
		return err
	}
	err = p.run(ctx, func(at calendar.Position) bool { return at >= head })
	if err != nil {
		return fmt.Errorf("catch up to %d: %w", head, err)
	}
	return nil
}

// storeSource reads entries from the store.
type storeSource struct{ store eventstore.Store }

func (s storeSource) Read(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Entry, error) {
	entries, err := s.store.ReadAll(ctx, after, limit)
	if err == nil && len(entries) == 0 {
		err = fmt.Errorf("%w: nothing after %d, below the head", eventstore.ErrDamaged, after)
	}
	return entries, err
}
