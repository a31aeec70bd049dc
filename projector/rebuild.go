package projector

import (
	"context"
	"fmt"
	"math"
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
	if err := index.Reset(ctx); err != nil {
		return fmt.Errorf("rebuild: empty the index: %w", err)
	}
	return Fill(ctx, store, index, FillOptions{Progress: progress})
}

// FillOptions are the settings of Fill; the zero value works.
type FillOptions struct {
	// Writers is the number of pages that are written at once; 0: 1.
	Writers int
	// Progress gets the number of records done and an upper bound of their total;
	// in the last call both are equal. It is called by one goroutine at a time.
	// nil: nobody asks.
	Progress func(done, total int)
}

// Fill is Rebuild without emptying: for an index that is empty, or one that an
// earlier Fill was cut off in, see Check. What that had written already is left alone
// where it is still present. It fails with eventstore.ErrHistory when the store goes
// over to another history meanwhile: then the index is of both.
func Fill(ctx context.Context, store eventstore.Store, index readmodel.Index, o FillOptions) error {
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	history := store.Epoch().History
	at, err := headOf(ctx, store)
	if err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	writers := max(o.Writers, 1)
	f := &filling{index: index, progress: o.Progress, atLeast: int(at.Position), writers: writers, fresh: math.MaxInt}
	pages := make(chan page, 1)
	g, within := errgroup.WithContext(ctx)
	g.Go(func() error { return readRecords(within, store, pages) })
	for range writers {
		g.Go(func() error {
			for p := range pages {
				if err := f.write(within, p); err != nil {
					return err
				}
			}
			return within.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	if store.Epoch().History != history {
		return fmt.Errorf("rebuild: %w", eventstore.ErrHistory)
	}
	// After all documents, never before.
	if _, err := writeOnce(ctx, index, readmodel.Batch{Mark: at, Reach: f.reach, Quarantined: f.quarantined}); err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	o.Progress(f.done, f.done)
	return nil
}

// filling is what the writers of a Fill share.
type filling struct {
	index    readmodel.Index
	progress func(done, total int)
	atLeast  int
	writers  int

	mu          sync.Mutex
	done        int
	quarantined []readmodel.Quarantined
	reach       calendar.Mark // of all pages so far
	fresh       int           // number of the page from which on nothing of an earlier Fill is there
}

// page is some records, counted from 0 in the order in which they are read.
type page struct {
	number int
	states []eventstore.Held
	reach  calendar.Mark // that no state is younger than
}

func (f *filling) write(ctx context.Context, p page) error {
	states := p.states
	missing, err := f.missing(ctx, p)
	if err != nil {
		return err
	}
	var quarantined []readmodel.Quarantined
	if len(missing) > 0 {
		if quarantined, err = writeStates(ctx, f.index, missing, p.reach); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.quarantined = append(f.quarantined, quarantined...)
	if p.reach.Position > f.reach.Position {
		f.reach = p.reach
	}
	f.done += len(states)
	f.progress(f.done, max(f.done, f.atLeast))
	return nil
}

// missing gives the states of a page that an earlier Fill has not written. Where
// nothing of a page is there, the earlier one wrote at most one page for each of
// its writers behind it, so the asking ends soon.
func (f *filling) missing(ctx context.Context, p page) ([]eventstore.Held, error) {
	states := p.states
	f.mu.Lock()
	fresh := f.fresh
	f.mu.Unlock()
	if p.number >= fresh {
		return states, nil
	}
	ids := make([]calendar.ID, len(states))
	for i := range states {
		ids[i] = states[i].ID
	}
	held, err := f.index.Get(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read what is there: %w", err)
	}
	if len(held) == 0 {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.fresh = min(f.fresh, p.number+f.writers)
		return states, nil
	}
	out := make([]eventstore.Held, 0, len(states))
	for i := range states {
		if d, there := held[states[i].ID]; !there || d.Position != states[i].Position {
			out = append(out, states[i])
		}
	}
	return out, nil
}

// readRecords reads all records page by page and closes pages.
func readRecords(ctx context.Context, store eventstore.Store, pages chan<- page) error {
	defer close(pages)
	var after calendar.ID
	for n := 0; ; n++ {
		states, err := store.Records(ctx, 0, after, rebuildPage)
		if err != nil {
			return fmt.Errorf("read records after %d: %w", after, err)
		}
		if len(states) == 0 {
			return nil
		}
		after = states[len(states)-1].ID
		reach, err := headOf(ctx, store)
		if err != nil {
			return err
		}
		select {
		case pages <- page{n, states, reach}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// writeStates writes the documents of states; deleted ones too, so that an older
// entry that comes later cannot bring them back.
func writeStates(ctx context.Context, index readmodel.Index, states []eventstore.Held, reach calendar.Mark) ([]readmodel.Quarantined, error) {
	documents, quarantined := documents(states)
	errs, err := writeOnce(ctx, index, readmodel.Batch{Documents: documents, Reach: reach})
	if err != nil {
		return nil, err
	}
	for i, err := range errs {
		if err != nil {
			quarantined = append(quarantined, readmodel.Quarantined{ID: documents[i].Record.ID, Position: documents[i].Position, Reason: err.Error()})
		}
	}
	return quarantined, nil
}

// documents makes the documents of states on all processors, in the order of the
// states.
func documents(states []eventstore.Held) ([]readmodel.Document, []readmodel.Quarantined) {
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
	var quarantined []readmodel.Quarantined
	out := all[:0]
	for i := range states {
		switch {
		case errs[i] != nil:
			quarantined = append(quarantined, readmodel.Quarantined{ID: states[i].ID, Position: states[i].Position, Reason: errs[i].Error()})
		case all[i].Record != nil:
			out = append(out, all[i])
		}
	}
	return out, quarantined
}

// headOf gives the mark of the head: nothing that was read before is younger.
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
	if err != nil {
		return err
	}
	err = p.run(ctx, func(at calendar.Position) bool { return at >= head.Position })
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
