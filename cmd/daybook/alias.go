package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/projector"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
)

// alias is the read model that answers: a rebuild puts a new one in its place
// while lists go on.
type alias struct {
	p atomic.Pointer[memindex.Index]
}

func newAlias(i *memindex.Index) *alias {
	a := &alias{}
	a.p.Store(i)
	return a
}

func (a *alias) Write(ctx context.Context, b readmodel.Batch) ([]error, error) {
	return a.p.Load().Write(ctx, b)
}

func (a *alias) Position(ctx context.Context) (calendar.Position, error) {
	return a.p.Load().Position(ctx)
}

func (a *alias) Visible(ctx context.Context) (calendar.Position, error) {
	return a.p.Load().Visible(ctx)
}

// Wait waits on the index that is in place; after a change of place it goes on
// with the new one.
func (a *alias) Wait(ctx context.Context, p calendar.Position) error {
	for {
		i := a.p.Load()
		err := i.Wait(ctx, p)
		if err == nil || ctx.Err() != nil || a.p.Load() == i {
			return err
		}
	}
}

func (a *alias) Search(ctx context.Context, q readmodel.Query) (readmodel.Page, error) {
	return a.p.Load().Search(ctx, q)
}

func (a *alias) Get(ctx context.Context, ids []calendar.ID) (map[calendar.ID]readmodel.Document, error) {
	return a.p.Load().Get(ctx, ids)
}

func (a *alias) Counts(ctx context.Context, k calendar.Kind, field string, f readmodel.Filter) (map[calendar.ID]int, error) {
	return a.p.Load().Counts(ctx, k, field, f)
}

func (a *alias) Poisoned(ctx context.Context) ([]readmodel.Poison, error) {
	return a.p.Load().Poisoned(ctx)
}

func (a *alias) Digest(ctx context.Context) (readmodel.Digest, error) {
	return a.p.Load().Digest(ctx)
}

func (a *alias) Reset(ctx context.Context) error { return a.p.Load().Reset(ctx) }

var _ readmodel.Index = (*alias)(nil)

// keeper runs the projector and lets a rebuild change the index under it.
type keeper struct {
	index    *alias
	source   projector.Source
	log      *slog.Logger
	caughtUp atomic.Bool

	// gate is held while a turn begins and while the index is replaced, and
	// guards stop; running is held while the projector runs.
	gate, running sync.Mutex
	stop          context.CancelFunc
	now           atomic.Pointer[projector.Projector]
}

// run projects until the context ends.
func (k *keeper) run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := k.turn(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return nil
}

// turn runs the projector until the context or replace ends it.
func (k *keeper) turn(ctx context.Context) error {
	k.gate.Lock()
	p, err := projector.New(k.index, k.source, projector.Options{Log: k.log})
	if err != nil {
		k.gate.Unlock()
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	k.stop = cancel
	k.now.Store(p)
	k.running.Lock()
	defer k.running.Unlock()
	k.gate.Unlock()
	return p.Run(ctx)
}

func (k *keeper) retry(ctx context.Context, store eventstore.Store, id calendar.ID) error {
	p := k.now.Load()
	if p == nil {
		return errors.New("the projector is starting; try again")
	}
	return p.Retry(ctx, store, id)
}

// replace brings a filled index up to the head, compares it with the store and
// puts it in the place of the old one. The projector rests meanwhile; lists
// answer from the old one.
func (k *keeper) replace(ctx context.Context, store eventstore.Store, fresh *memindex.Index) error {
	k.gate.Lock()
	defer k.gate.Unlock()
	if k.stop != nil {
		k.stop()
	}
	k.running.Lock()
	defer k.running.Unlock()
	if err := projector.CatchUp(ctx, store, fresh); err != nil {
		return fmt.Errorf("follow the entries: %w", err)
	}
	if err := projector.Compare(ctx, store, fresh); err != nil {
		return err
	}
	k.index.p.Store(fresh)
	return nil
}
