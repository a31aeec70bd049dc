// Package upkeep is the life of a read model: a projector maintains it, it is rebuilt next
// to the one that answers when it is not what the event store holds, and it can be put back.
// It knows no engine: what differs between them is in readmodel.Generations.
package upkeep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/ground/lifecycle"
	"daybook/internal/ground/pause"
	"daybook/projector"
	"daybook/query/readmodel"
)

// Options of an Upkeep; the zero value works.
type Options struct {
	Log *slog.Logger // nil: no log
	// Observe is called for each batch, see projector.Options; nil: it is not.
	Observe func(ctx context.Context, first, last calendar.Position) (context.Context, func(error))
	// Alone runs work that only one process may do at a time for the read model; nil:
	// this is the only one.
	Alone func(ctx context.Context, work func(context.Context) error) error
}

// Upkeep maintains one read model. Its methods are safe for concurrent use.
type Upkeep struct {
	index   readmodel.Generations
	source  projector.Source
	store   eventstore.Store
	options Options

	// epoch is that of the store when this process last found or made the index to be
	// of its history; 0: not yet. Of Project alone.
	epoch uint64

	changing   sync.Mutex // one rebuild or change of place at a time
	projecting atomic.Pointer[projector.Projector]
	renewing   atomic.Bool
	failure    atomic.Pointer[string] // of the last try to make the index again; nil: it can be read
	outage     lifecycle.Outage       // of these tries; of Project, or of keep while that runs
}

// New returns an Upkeep; it starts nothing. Without a source this process does not project.
func New(index readmodel.Generations, store eventstore.Store, source projector.Source, options Options) *Upkeep {
	options.Log = cmp.Or(options.Log, slog.New(slog.DiscardHandler))
	if options.Alone == nil {
		options.Alone = func(ctx context.Context, work func(context.Context) error) error { return work(ctx) }
	}
	return &Upkeep{index: index, source: source, store: store, options: options, outage: lifecycle.Outage{Log: options.Log, Message: "read model is not made yet"}}
}

// Index is what lists are answered from.
func (upkeep *Upkeep) Index() readmodel.Generations { return upkeep.index }

const (
	// lookEvery is the time between two looks whether the index is reached and sound: how
	// long lists are out of order at most, before one that was deleted is rebuilt.
	lookEvery = 2 * time.Second
	// foreignEvery is the same for an index of another event store.
	foreignEvery = 10 * time.Second
	// epochEvery is the time between two looks whether the store went over to another
	// history.
	epochEvery = 500 * time.Millisecond
)

// Ready fills an index that is empty from the store, before anything answers from it.
func (upkeep *Upkeep) Ready(ctx context.Context) error {
	marks, err := upkeep.index.Marks(ctx)
	if err == nil && marks.All.Position == 0 {
		err = projector.Fill(ctx, upkeep.store, upkeep.index, nil)
	}
	if err != nil {
		return fmt.Errorf("fill the read model: %w", err)
	}
	return nil
}

// Project keeps the index until the context ends; one call at a time. One that is not
// sound or of another history than that of the store is rebuilt next to the one that
// answers. Lists are out of reach where that one is untrue.
func (upkeep *Upkeep) Project(ctx context.Context) error {
	upkeep.epoch = 0 // another process may have made the index since
	for {
		err := upkeep.keep(ctx)
		wait := lookEvery
		switch {
		case errors.Is(err, readmodel.ErrMoved):
			upkeep.options.Log.InfoContext(ctx, "another generation of the read model answers, going on from its position")
			continue
		case errors.Is(err, readmodel.ErrOtherStore):
			wait = foreignEvery
			upkeep.options.Log.ErrorContext(ctx, "the read model is left alone", "error", err)
		case mended(err):
			if err = upkeep.renew(ctx, err); err == nil {
				continue
			}
			upkeep.failure.Store(new(err.Error()))
			if ctx.Err() != nil {
				return ctx.Err()
			}
			upkeep.outage.Note(ctx, err)
		default:
			return err
		}
		if err := pause.For(ctx, wait); err != nil {
			return err
		}
	}
}

// mended reports whether another index mends an error.
func mended(err error) bool {
	if errors.Is(err, readmodel.ErrOtherStore) {
		return false
	}
	return errors.Is(err, readmodel.ErrUnsound) || errors.Is(err, eventstore.ErrHistory) || errors.Is(err, readmodel.ErrForeign)
}

// keep runs the projector until the context ends, another index mends what was found of
// this one, or another generation of the index answers (readmodel.ErrMoved). What was made
// in another epoch of the store is not gone on with, also where its marks are those of the
// present history: for a moment this process may have read of both.
func (upkeep *Upkeep) keep(ctx context.Context) error {
	if upkeep.epoch == 0 {
		upkeep.epoch = upkeep.store.Epoch().History
	}
	within, cancel := context.WithCancelCause(ctx)
	var watches sync.WaitGroup
	defer watches.Wait()
	defer cancel(nil) // before the wait for the watches
	watch := func(every time.Duration, look func() error) {
		watches.Go(func() {
			for within.Err() == nil {
				if err := look(); mended(err) {
					cancel(err)
				}
				_ = pause.For(within, every) // the loop ends with the context
			}
		})
	}
	watch(lookEvery, func() error {
		err := upkeep.index.Sound(within)
		if err == nil {
			upkeep.outage.Note(within, nil)
		}
		return err
	})
	watch(epochEvery, upkeep.sameEpoch)
	begin := func(ctx context.Context, marks readmodel.Marks) error {
		upkeep.failure.Store(nil)
		if err := upkeep.sameEpoch(); err != nil {
			return err
		}
		if err := eventstore.CheckMark(ctx, upkeep.store, marks.Reach); err != nil {
			return err
		}
		// Only now, when the writer is bound to the generation that answers: another one
		// than the one before it has long answered.
		watches.Go(func() {
			if upkeep.index.Moved(within) == nil {
				cancel(readmodel.ErrMoved)
			}
		})
		return nil
	}
	p := projector.New(upkeep.index, upkeep.source, projector.Options{
		Log: upkeep.options.Log, Observe: upkeep.options.Observe, Begin: begin,
	})
	upkeep.projecting.Store(p)
	err := p.Run(within)
	if err == nil && ctx.Err() == nil {
		err = context.Cause(within)
	}
	return err
}

// sameEpoch returns eventstore.ErrHistory when the store went over to another history.
func (upkeep *Upkeep) sameEpoch() error {
	if upkeep.store.Epoch().History != upkeep.epoch {
		return eventstore.ErrHistory
	}
	return nil
}

// Progress counts what was projected. What is tried again keeps the projector from
// getting on; an index that is being filled does not count as that.
func (upkeep *Upkeep) Progress() (position uint64, stuck bool) {
	if upkeep.renewing.Load() {
		return 0, false
	}
	stats := upkeep.stats()
	return stats.Batches, stats.Failure != ""
}

func (upkeep *Upkeep) stats() projector.Stats {
	if p := upkeep.projecting.Load(); p != nil {
		return p.Stats()
	}
	return projector.Stats{}
}

// Stats returns the counts of the projector, of which another generation makes a new one,
// and what keeps the index from being made again.
func (upkeep *Upkeep) Stats() projector.Stats {
	stats := upkeep.stats()
	if failure := upkeep.failure.Load(); failure != nil {
		stats.Failure = *failure
	}
	return stats
}

// Retry projects a quarantined record again.
func (upkeep *Upkeep) Retry(ctx context.Context, id calendar.ID) error {
	if upkeep.projecting.Load() == nil {
		if _, err := upkeep.index.Marks(ctx); err != nil { // binds the writer to the generation that answers
			return err
		}
	}
	return projector.Retry(ctx, upkeep.store, upkeep.index, id)
}
