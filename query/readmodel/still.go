package readmodel

import (
	"context"
	"errors"
	"sync"

	"daybook/calendar"
)

// stillView is a View by the other methods of an Index: it stands in a call of Still.
type stillView struct {
	x     Index
	still context.Context //nolint:containedctx // the reads of one state are known by their context
	shown Shown
	close func()
}

// StillView returns a View by Still and the reads that belong to it.
func StillView(ctx context.Context, x Index) (View, error) {
	opened, closed := make(chan *stillView, 1), make(chan struct{})
	failed := make(chan error, 1)
	go func() {
		failed <- x.Still(ctx, func(still context.Context) error {
			shown, err := x.Visible(still)
			if err != nil {
				return err
			}
			opened <- &stillView{x, still, shown, sync.OnceFunc(func() { close(closed) })}
			<-closed
			return errClosed
		})
	}()
	select {
	case v := <-opened:
		return v, nil
	case err := <-failed:
		return nil, err
	}
}

var errClosed = errors.New("the view is closed")

// stillContext is a context of a read that has the values of that of the state.
type stillContext struct {
	context.Context //nolint:containedctx // it is one
	still           context.Context
}

func (c stillContext) Value(key any) any {
	if v := c.Context.Value(key); v != nil {
		return v
	}
	return c.still.Value(key)
}

func (v *stillView) in(ctx context.Context) context.Context { return stillContext{ctx, v.still} }

func (v *stillView) Shown() Shown { return v.shown }
func (v *stillView) Close()       { v.close() }

func (v *stillView) Search(ctx context.Context, q Query) (Page, error) {
	return v.x.Search(v.in(ctx), q)
}

func (v *stillView) Walk(ctx context.Context, q Query, use func([]Document) error) error {
	w, err := v.x.Walk(v.in(ctx), q)
	if err != nil {
		return err
	}
	defer w.Close()
	return w.Each(v.in(ctx), use)
}

func (v *stillView) Get(ctx context.Context, ids []calendar.ID) (map[calendar.ID]Document, error) {
	return v.x.Get(v.in(ctx), ids)
}

func (v *stillView) Counts(ctx context.Context, k calendar.Kind, field string, f Filter, ids []calendar.ID) (map[calendar.ID]int, error) {
	counts, err := v.x.Counts(v.in(ctx), k, field, f)
	if err != nil || ids == nil {
		return counts, err
	}
	some := make(map[calendar.ID]int, len(ids))
	for _, id := range ids {
		if n := counts[id]; n > 0 {
			some[id] = n
		}
	}
	return some, nil
}

func (v *stillView) Stamp(ctx context.Context, k calendar.Kind) (Stamp, error) {
	return v.x.Stamp(v.in(ctx), k)
}
