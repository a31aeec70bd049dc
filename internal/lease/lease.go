// Package lease lets one of several processes be the active one of a role. A lease keeps
// work from being done twice as a rule; what must never be done twice has a fence of its
// own, as the stream has for the relay (ADR 8).
package lease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"daybook/eventstore"
	"daybook/internal/ground/lifecycle"
	"daybook/internal/ground/pause"
)

// Lease is the right to be the active process of a role.
type Lease struct {
	Holder string        // a process, unique among all that ever ran
	Epoch  int64         // from 1; grows whenever another holder takes it
	Left   time.Duration // how long it still holds, by the clock of the store
}

// Store holds the leases that several processes share. Its own clock decides, never that
// of a process.
type Store interface {
	// Acquire takes the lease of a name if it is free or has ended, or renews the one that
	// holder has, for span from now, at most an hour; a span of 0 ends it. It returns the
	// lease of the process that has it then.
	// Errors: eventstore.ErrUnavailable, ErrClosed.
	Acquire(ctx context.Context, name, holder string, span time.Duration) (Lease, error)
}

// Span is how long a lease holds unless it is renewed: a process that dies is replaced
// within this time and the length of one request. Work that stands still is given up after
// stall.
const (
	Span  = 5 * time.Second
	stall = 30 * time.Second
)

var (
	errLate  = errors.New("lease not renewed in time")
	errStall = errors.New("work stands still")
)

// Options of Run; the zero value works.
type Options struct {
	Log   *slog.Logger // nil: no log
	State *State       // nil: not observed
	// Progress returns how far the work has come and whether there is more to do. It must
	// not wait. nil: work that runs gets on.
	Progress func() (position uint64, more bool)
}

// State is how a lease stands, for health and metrics. The zero value has not asked yet.
type State struct{ current atomic.Value }

type leaseCondition struct {
	held bool
	err  error
}

func (state *State) set(held bool, err error) { state.current.Store(leaseCondition{held, err}) }

func (state *State) load() leaseCondition {
	now, _ := state.current.Load().(leaseCondition)
	return now
}

// Held reports whether this process holds the lease and works.
func (state *State) Held() bool { return state.load().held }

// Err returns why the lease could not be asked for, nil when it could.
func (state *State) Err() error { return state.load().err }

// Run stands by until holder has the lease of a name and then runs work, whose context
// ends when the lease is lost, when it is not renewed in time, counted from before the
// request by the monotonic clock, or when the work stands still (Options.Progress). Then
// Run waits for the work to end and stands by again. When ctx ends, or the work ends by
// itself, the lease is released after the work, and Run returns the error of the work, nil
// for that of ctx. Run itself fails with eventstore.ErrClosed; a store
// that is unavailable is asked again for ever.
func Run(ctx context.Context, store Store, name, holder string, options Options, work func(context.Context) error) error {
	log := cmp.Or(options.Log, slog.New(slog.DiscardHandler)).With("lease", name)
	r := &runner{store, name, holder, cmp.Or(options.State, new(State)), options.Progress, work, lifecycle.Outage{Log: log, Message: "lease cannot be asked for"}}
	for {
		sent := time.Now()
		lease, err := r.acquire(ctx, Span)
		held := err == nil && lease.Holder == holder
		wait := min(Span/5, max(lease.Left, Span/50)) // at its end; sooner when it was released
		switch {
		case errors.Is(err, eventstore.ErrClosed):
			return fmt.Errorf("lease %s: %w", name, err)
		case ctx.Err() != nil:
			if held || err != nil { // it may have been granted all the same
				r.release(ctx)
			}
			return nil
		case held && time.Since(sent) < limit:
			log.InfoContext(ctx, "lease taken, active", "epoch", lease.Epoch)
			lost, err := r.hold(ctx, lease.Epoch, sent)
			if lost == nil {
				return err
			}
			log.WarnContext(ctx, "lease lost or given up", "epoch", lease.Epoch, "cause", lost, "error", err)
			if wait = Span / 50; errors.Is(lost, errStall) {
				wait = Span // another process gets it
			}
		default:
			r.state.set(false, err)
		}
		if pause.For(ctx, wait) != nil {
			return nil //nolint:nilerr // it was asked to end
		}
	}
}

// limit is how long after a request its lease is relied on: clocks run differently, and
// work takes time to end.
const limit = Span * 9 / 10

type runner struct {
	store        Store
	name, holder string
	state        *State
	progress     func() (uint64, bool)
	work         func(context.Context) error
	outage       lifecycle.Outage
}

func (runner *runner) acquire(ctx context.Context, span time.Duration) (Lease, error) {
	within, cancel := context.WithTimeout(ctx, Span/3)
	defer cancel()
	lease, err := runner.store.Acquire(within, runner.name, runner.holder, span)
	if ctx.Err() == nil {
		runner.outage.Note(ctx, err)
	}
	return lease, err
}

// release ends the lease. Where that fails it ends by itself.
func (runner *runner) release(ctx context.Context) {
	_, _ = runner.acquire(context.WithoutCancel(ctx), 0)
}

// hold works while the lease of an epoch holds, which was asked for at a moment. It
// returns why the lease was lost or given up, nil when it was not, and the error of the work.
func (runner *runner) hold(ctx context.Context, epoch int64, sent time.Time) (lost, err error) {
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	runner.state.set(true, nil)
	guard := time.AfterFunc(limit-time.Since(sent), func() { // a request may hang
		cancel(errLate)
		runner.state.set(false, errLate)
	})
	done := make(chan error, 1)
	go func() { done <- runner.work(within) }()
	position, moved := uint64(0), time.Now()
	for wait := Span/3 - time.Since(sent); ; {
		select {
		case err = <-done:
			guard.Stop()
			runner.release(ctx)
			runner.state.set(false, runner.state.Err())
			if ctx.Err() == nil {
				lost = context.Cause(within)
			}
			if errors.Is(err, within.Err()) {
				err = nil
			}
			return lost, err
		case <-time.After(wait):
		}
		wait = Span / 10
		if within.Err() != nil && ctx.Err() == nil {
			continue // the work is ending
		}
		if runner.progress != nil {
			now, more := runner.progress()
			if !more || now != position {
				position, moved = now, time.Now()
			}
			if time.Since(moved) >= stall {
				runner.state.set(false, nil)
				cancel(errStall)
				continue
			}
		}
		sent = time.Now()
		lease, err := runner.acquire(context.WithoutCancel(ctx), Span)
		switch {
		case err == nil && (lease.Holder != runner.holder || lease.Epoch != epoch):
			runner.state.set(false, nil)
			cancel(fmt.Errorf("%s has it in epoch %d", lease.Holder, lease.Epoch))
		case err == nil && guard.Stop():
			guard.Reset(limit - time.Since(sent))
			wait = Span/3 - time.Since(sent)
			fallthrough
		case err != nil && within.Err() == nil:
			runner.state.set(true, err)
		}
	}
}
