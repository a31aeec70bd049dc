package httpapi

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
)

// workContext is the context of the work on a request: it carries the call and ends
// after the longest time that the work may take. The timer is made when somebody
// first waits; most answers come from memory, and nobody does.
type workContext struct {
	context.Context // what it stands on
	call            *call
	now             func() time.Time
	from            time.Time
	most            time.Duration
	timed           atomic.Pointer[timedContext]
}

// timedContext is the context that a timer ends.
type timedContext struct {
	context.Context
	cancel context.CancelFunc
}

// workContext gives the context of work that begins now, on what another one stands
// on. It has to be ended.
func (a *api) workContext(ctx context.Context, c *call, most time.Duration) *workContext {
	w := &workContext{}
	w.begin(under(ctx), c, a.o.Now, a.o.Now(), most)
	return w
}

func (w *workContext) begin(on context.Context, c *call, now func() time.Time, from time.Time, most time.Duration) {
	w.Context, w.call, w.now, w.from, w.most = on, c, now, from, most
}

// under gives the context that the work of a request stands on: without its deadline.
func under(ctx context.Context) context.Context {
	if w, ok := ctx.(*workContext); ok {
		return w.Context
	}
	return ctx
}

// with makes the timer.
func (w *workContext) with() *timedContext {
	if t := w.timed.Load(); t != nil {
		return t
	}
	t := &timedContext{}
	t.Context, t.cancel = context.WithTimeout(w.Context, w.most-w.now().Sub(w.from))
	if !w.timed.CompareAndSwap(nil, t) {
		t.cancel() // somebody else was first
	}
	return w.timed.Load()
}

// end frees the timer.
func (w *workContext) end() {
	if t := w.timed.Load(); t != nil {
		t.cancel()
	}
}

// Deadline is when the work ends.
func (w *workContext) Deadline() (time.Time, bool) { return w.with().Deadline() }

// Done is closed when the work ends.
func (w *workContext) Done() <-chan struct{} { return w.with().Done() }

// Err tells why the work has ended, nil when it has not.
func (w *workContext) Err() error {
	if t := w.timed.Load(); t != nil {
		return t.Err()
	}
	if err := w.Context.Err(); err != nil || w.now().Sub(w.from) < w.most {
		return err
	}
	return w.with().Err()
}

// Value gives the call and chi's routing state.
func (w *workContext) Value(key any) any {
	if key == chi.RouteCtxKey {
		return &w.call.chi
	}
	if _, ok := key.(callKey); ok {
		return w.call
	}
	if t := w.timed.Load(); t != nil { // contexts below find the one that ends them
		return t.Value(key)
	}
	return w.Context.Value(key)
}
