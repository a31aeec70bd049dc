package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/pause"
	"daybook/projector"
	"daybook/query/readmodel"
)

// errNotOpen says that the server of the read model was not reached yet.
var errNotOpen = fmt.Errorf("%w: not reached since the start", readmodel.ErrUnavailable)

// errNoSome says that the read model is no readmodel.Counter.
var errNoSome = fmt.Errorf("counts of some values: %w", errors.ErrUnsupported)

// alias is the read model that answers: another one may be put in its place
// while lists go on. Before the first one all calls fail with ErrUnavailable.
type alias struct {
	// epoch is that of the store, for an index that does not look after its history
	// itself: nothing is visible of one that was put in place in another epoch. nil:
	// it does.
	epoch func() uint64

	p    atomic.Pointer[placed]
	some chan struct{} // closed when there is one
	once sync.Once
}

type placed struct {
	readmodel.Index
	epoch uint64 // of the store from before it was compared with the store, or filled
}

// newAlias makes an alias of none yet; epoch may be nil.
func newAlias(epoch func() uint64) *alias { return &alias{epoch: epoch, some: make(chan struct{})} }

// put puts an index in place that is of the history of an epoch.
func (a *alias) put(i readmodel.Index, epoch uint64) {
	a.p.Store(&placed{i, epoch})
	a.once.Do(func() { close(a.some) })
}

// now is the index that is in place, nil when there is none.
func (a *alias) now() readmodel.Index {
	if p := a.p.Load(); p != nil {
		return p.Index
	}
	return nil
}

func (a *alias) Write(ctx context.Context, b readmodel.Batch) ([]error, error) {
	if p := a.p.Load(); p != nil {
		return p.Write(ctx, b)
	}
	return nil, errNotOpen
}

func (a *alias) Marks(ctx context.Context) (readmodel.Marks, error) {
	if p := a.p.Load(); p != nil {
		return p.Marks(ctx)
	}
	return readmodel.Marks{}, errNotOpen
}

// Visible is what every list asks first.
func (a *alias) Visible(ctx context.Context) (readmodel.Shown, error) {
	p := a.p.Load()
	switch {
	case p == nil:
		return readmodel.Shown{}, errNotOpen
	case a.of(p):
		return p.Visible(ctx)
	}
	return readmodel.Shown{}, readmodel.ErrForeign
}

// of tells whether an index is of the history that the store has.
func (a *alias) of(p *placed) bool { return a.epoch == nil || p.epoch == a.epoch() }

// Wait waits on the index that is in place; after a change of place it goes on
// with the new one.
func (a *alias) Wait(ctx context.Context, p calendar.Position) error {
	for {
		i := a.p.Load()
		if i == nil {
			return errNotOpen
		}
		err := i.Wait(ctx, p)
		if err == nil || ctx.Err() != nil || a.p.Load() == i {
			return err
		}
	}
}

func (a *alias) Search(ctx context.Context, q readmodel.Query) (readmodel.Page, error) {
	if p := a.p.Load(); p != nil {
		return p.Search(ctx, q)
	}
	return readmodel.Page{}, errNotOpen
}

func (a *alias) Get(ctx context.Context, ids []calendar.ID) (map[calendar.ID]readmodel.Document, error) {
	if p := a.p.Load(); p != nil {
		return p.Get(ctx, ids)
	}
	return nil, errNotOpen
}

func (a *alias) Counts(ctx context.Context, k calendar.Kind, field string, f readmodel.Filter) (map[calendar.ID]int, error) {
	if p := a.p.Load(); p != nil {
		return p.Counts(ctx, k, field, f)
	}
	return nil, errNotOpen
}

func (a *alias) CountsOf(ctx context.Context, k calendar.Kind, field string, f readmodel.Filter, ids []calendar.ID) (map[calendar.ID]int, error) {
	p := a.p.Load()
	if p == nil {
		return nil, errNotOpen
	}
	if i, ok := p.Index.(readmodel.Counter); ok {
		return i.CountsOf(ctx, k, field, f, ids)
	}
	return nil, errNoSome
}

func (a *alias) Poisoned(ctx context.Context) ([]readmodel.Poison, error) {
	if p := a.p.Load(); p != nil {
		return p.Poisoned(ctx)
	}
	return nil, errNotOpen
}

// poisonedLately is Poisoned without what came a moment ago, where that is had
// for less.
func (a *alias) poisonedLately(ctx context.Context) ([]readmodel.Poison, error) {
	if i, ok := a.now().(interface {
		PoisonedLately(context.Context) ([]readmodel.Poison, error)
	}); ok {
		return i.PoisonedLately(ctx)
	}
	return a.Poisoned(ctx)
}

func (a *alias) Digest(ctx context.Context) (readmodel.Digest, error) {
	if p := a.p.Load(); p != nil {
		return p.Digest(ctx)
	}
	return readmodel.Digest{}, errNotOpen
}

func (a *alias) Reset(ctx context.Context) error {
	if p := a.p.Load(); p != nil {
		return p.Reset(ctx)
	}
	return errNotOpen
}

var _ readmodel.Index = (*alias)(nil)

// keeper runs the projector and lets another index be put in place under it.
type keeper struct {
	at     *alias
	source projector.Source // nil: nothing to project from
	store  eventstore.Store
	log    *slog.Logger
	// observe is told of batches; nil: nobody is.
	observe func(ctx context.Context, first, last calendar.Position) (context.Context, func(error))

	// gate is held while a turn begins and while the index is replaced, and
	// guards stop; running is held while the projector runs.
	gate, running sync.Mutex
	stop          context.CancelFunc
	turning       atomic.Pointer[projector.Projector]
	renewing      atomic.Bool
}

// project projects until the context ends. When another generation of the index
// comes to answer it goes on from the mark of that one. eventstore.ErrHistory says that
// the index has to be made anew.
func (k *keeper) project(ctx context.Context) error {
	for ctx.Err() == nil {
		err := k.turn(ctx)
		if err != nil && ctx.Err() == nil && !errors.Is(err, context.Canceled) && !errors.Is(err, readmodel.ErrMoved) {
			return err
		}
	}
	return nil
}

// mover is an index that tells its writer when another generation answers.
type mover interface {
	// Moved waits until the writer has to read Marks again.
	Moved(ctx context.Context) error
}

// projectAgain is the longest wait before the projector tries again what failed:
// how long lists stay old after servers have come back.
const projectAgain = 2 * time.Second

// epochEvery is the time between two looks whether the store went over to another
// history.
const epochEvery = 500 * time.Millisecond

// turn runs the projector until the context or replace ends it, or the store goes over
// to another history.
func (k *keeper) turn(ctx context.Context) error {
	epoch := k.store.Epoch()
	if p := k.at.p.Load(); p != nil && !k.at.of(p) {
		return eventstore.ErrHistory
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer stop(nil) // before the wait for the watch
	begin := func(_ context.Context, at readmodel.Marks) error {
		if err := eventstore.CheckMark(ctx, k.store, at.Reach); err != nil {
			return err
		}
		// Only now, when the writer is bound to the generation that answers: of the
		// one before it another one does at once, and no turn would come to anything.
		if m, ok := k.at.now().(mover); ok {
			watch.Go(func() {
				if m.Moved(ctx) == nil {
					k.log.InfoContext(ctx, "another generation of the read model answers, going on from its position")
					stop(nil)
				}
			})
		}
		return nil
	}
	k.gate.Lock()
	p, err := projector.New(k.at, k.source, projector.Options{
		Log: k.log, Observe: k.observe, MaxWait: projectAgain, Begin: begin,
	})
	if err != nil {
		k.gate.Unlock()
		return err
	}
	k.stop = func() { stop(nil) }
	k.turning.Store(p)
	k.running.Lock()
	defer k.running.Unlock()
	k.gate.Unlock()
	watch.Go(func() {
		for pause.For(ctx, epochEvery) == nil {
			if k.store.Epoch() != epoch {
				stop(eventstore.ErrHistory)
			}
		}
	})
	err = p.Run(ctx)
	if cause := context.Cause(ctx); errors.Is(cause, eventstore.ErrHistory) {
		return cause
	}
	return err
}

// progress counts what was projected. What is tried again keeps the projector from
// getting on; an index that is filled anew does not count as that.
func (k *keeper) progress() (at uint64, stuck bool) {
	p := k.turning.Load()
	if p == nil || k.renewing.Load() {
		return 0, false
	}
	s := p.Stats()
	return s.Batches, s.Failure != ""
}

func (k *keeper) retry(ctx context.Context, id calendar.ID) error {
	if k.source == nil {
		return errors.New("nothing serves from the data directory, so nothing is quarantined: a start projects every record")
	}
	p := k.turning.Load()
	if p == nil {
		return errors.New("the projector is starting; try again")
	}
	return p.Retry(ctx, k.store, id)
}

// replace brings a filled index up to the head, compares it with the store when
// it is to, and puts it in the place of the old one. The projector rests
// meanwhile; lists answer from the old one. epoch is that of the store from before the
// index was filled.
func (k *keeper) replace(ctx context.Context, fresh readmodel.Index, epoch uint64, compare bool) error {
	k.gate.Lock()
	defer k.gate.Unlock()
	if k.stop != nil {
		k.stop()
	}
	k.running.Lock()
	defer k.running.Unlock()
	if err := projector.CatchUp(ctx, k.store, fresh); err != nil {
		return fmt.Errorf("follow the entries: %w", err)
	}
	if compare {
		if err := projector.Compare(ctx, k.store, fresh); err != nil {
			return err
		}
	}
	k.at.put(fresh, epoch)
	return nil
}
