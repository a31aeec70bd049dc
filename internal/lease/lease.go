// Package lease lets one of several processes be the active one of a role: it
// stands by until it has the lease, works while it holds it, and gives it back.
//
// A lease keeps work from being done twice as a rule. It is no proof: a process
// that is paused as a whole goes on for a moment when it wakes up, before its
// clock tells it that the lease has ended. What must never be done twice has a
// fence of its own, as the stream has for the relay (ADR 12).
package lease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"daybook/eventstore"
	"daybook/internal/ground/pause"
)

// DefaultStall is how long work may stand still before the lease is given up.
const DefaultStall = 30 * time.Second

// DefaultSpan is how long a lease holds unless it is renewed. A process that
// dies is replaced within this time and the length of one request.
const DefaultSpan = 5 * time.Second

// Options are the settings of Run. The zero value works.
type Options struct {
	Log *slog.Logger // nil: no log
	// Span is how long the lease is taken for, eventstore.MinLease to MaxLease.
	// 0: DefaultSpan. It is renewed after a third of it and given up a tenth
	// before its end.
	Span time.Duration
	// State is told how things stand; nil: nobody asks.
	State *State
	// Progress tells how far the work has come and whether there is more to do. It
	// is asked while the lease is held and must not wait. nil: work that runs counts
	// as work that gets on.
	Progress func() (at uint64, more bool)
	// Stall is how long the work may have more to do without getting on before the
	// lease is given up, so that a process that fares better may have it. 0:
	// DefaultStall.
	Stall time.Duration
}

func (o *Options) fill() error {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Span == 0 {
		o.Span = DefaultSpan
	}
	if o.Span < eventstore.MinLease || o.Span > eventstore.MaxLease {
		return fmt.Errorf("lease: span %s, must be %s to %s", o.Span, eventstore.MinLease, eventstore.MaxLease)
	}
	if o.Stall == 0 {
		o.Stall = DefaultStall
	}
	if o.Stall < 0 {
		return fmt.Errorf("lease: stall %s must not be negative", o.Stall)
	}
	if o.State == nil {
		o.State = new(State)
	}
	return nil
}

// State is how a lease stands, for health and metrics. The zero value is that
// of a process which has not asked yet.
type State struct {
	mu    sync.Mutex
	held  bool
	epoch int64
	err   error
}

// Err returns why the lease could not be asked for when it was last asked for, nil when it
// could.
func (s *State) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *State) asked(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// Held tells whether this process holds the lease and works.
func (s *State) Held() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held
}

// Epoch gives the epoch of the lease when this process last saw it, whoever had
// it; 0 before that.
func (s *State) Epoch() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.epoch
}

func (s *State) set(held bool, epoch int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held, s.epoch = held, epoch
}

// Run stands by until holder has the lease of a name and then runs work, whose
// context ends when the lease is lost, when it can no longer be proved to hold (the
// time is counted from before a request was sent, on the local monotonic clock), or
// when the work does not get on (Options.Progress). Then Run waits for work to end
// and stands by again.
//
// When ctx ends, so does the context of work; the lease is renewed until work
// has ended, then released, and Run gives nil, or the error of work unless it is
// that of a context. When work ends by itself the lease is released and Run
// gives what work gave, nil too. Run itself fails with eventstore.ErrClosed and
// ErrMalformed; a store that is unavailable is asked again for ever.
func Run(ctx context.Context, leases eventstore.Leases, name, holder string, o Options, work func(ctx context.Context) error) error {
	if leases == nil || work == nil || name == "" || holder == "" {
		return errors.New("lease: store, name, holder and work are required")
	}
	if err := o.fill(); err != nil {
		return err
	}
	o.Log = o.Log.With("lease", name, "holder", holder)
	r := &runner{leases: leases, name: name, holder: holder, o: o, work: work}
	for {
		t, err := r.standBy(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was asked to end
		}
		if err != nil {
			return fmt.Errorf("lease %s: %w", name, err)
		}
		if again, err := r.hold(ctx, t); !again || ctx.Err() != nil {
			return err
		}
		if r.stalled { // another one's turn
			r.stalled = false
			_ = pause.For(ctx, r.o.Span) // standBy sees its end
		}
	}
}

type runner struct {
	leases       eventstore.Leases
	name, holder string
	o            Options
	work         func(context.Context) error

	epoch  int64 // told last, of another holder
	failed bool  // the store was unavailable when last asked

	stalled bool // the lease was given up because the work stood still
}

// errLate is why a lease was given up that the store did not renew.
var errLate = errors.New("lease not renewed in time")

// The parts of a span.
func (r *runner) renewal() time.Duration { return r.o.Span / 3 }  // from request to request
func (r *runner) retry() time.Duration   { return r.o.Span / 10 } // after an error
func (r *runner) poll() time.Duration    { return r.o.Span / 5 }  // of one that stands by
func (r *runner) margin() time.Duration  { return r.o.Span / 10 } // clocks run differently, work takes time to end

// term is the answer to a request for the lease.
type term struct {
	lease eventstore.Lease
	held  bool
	sent  time.Time // before the request went out
	err   error
}

// until is when the lease is given up if nothing comes after this term.
func (r *runner) until(t term) time.Time { return t.sent.Add(r.o.Span - r.margin()) }

func (r *runner) acquire(ctx context.Context, limit time.Duration) term {
	sent := time.Now()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	l, held, err := r.leases.Acquire(ctx, r.name, r.holder, r.o.Span)
	if !errors.Is(err, context.Canceled) {
		r.o.State.asked(err)
	}
	if err == nil && r.failed {
		r.failed = false
		r.o.Log.Info("lease can be asked for again")
	}
	if err != nil && !r.failed && !errors.Is(err, context.Canceled) {
		r.failed = true
		r.o.Log.Warn("lease cannot be asked for", "error", err)
	}
	return term{l, held, sent, err}
}

// release gives the lease back. It fails without harm: the lease then ends by
// itself.
func (r *runner) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.o.Span)
	defer cancel()
	if err := r.leases.Release(ctx, r.name, r.holder); err != nil {
		r.o.Log.Warn("lease not released, it ends by itself", "error", err)
	}
}

// standBy asks for the lease until this process has it. The error is the
// context's or one that asking again does not mend.
func (r *runner) standBy(ctx context.Context) (term, error) {
	for {
		t := r.acquire(ctx, r.o.Span)
		wait := r.poll()
		switch {
		case ctx.Err() != nil:
			if t.held || t.err != nil { // it may have been granted all the same
				r.release(ctx)
			}
			return t, ctx.Err()
		case errors.Is(t.err, eventstore.ErrClosed), errors.Is(t.err, eventstore.ErrMalformed):
			return t, t.err
		case t.err != nil:
			r.o.State.set(false, r.o.State.Epoch())
		case t.held && time.Now().Before(r.until(t)):
			r.epoch = t.lease.Epoch
			return t, nil
		case t.held: // the answer came too late to be of use
			wait = 0
		default:
			r.o.State.set(false, t.lease.Epoch)
			if r.epoch != t.lease.Epoch {
				r.epoch = t.lease.Epoch
				r.o.Log.Info("standing by", "epoch", t.lease.Epoch, "active", t.lease.Holder)
			}
			// At its end at once; sooner when it was released.
			wait = max(min(wait, t.lease.Left), r.o.Span/50)
		}
		if err := pause.For(ctx, wait); err != nil {
			return t, err
		}
	}
}

// hold works while the lease holds. again means that it was lost.
func (r *runner) hold(ctx context.Context, t term) (again bool, err error) {
	log := r.o.Log.With("epoch", t.lease.Epoch)
	lost, lose := context.WithCancel(context.WithoutCancel(ctx))
	defer lose()
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	// By a timer of its own, because a request may hang beyond its limit.
	guard := time.AfterFunc(time.Until(r.until(t)), func() { lose(); cancel() })
	defer guard.Stop()
	r.o.State.set(true, t.lease.Epoch)
	defer r.o.State.set(false, t.lease.Epoch)
	log.Info("lease taken, active")

	done := make(chan error, 1)
	go func() { done <- r.work(within) }()
	renew := time.NewTimer(time.Until(t.sent.Add(r.renewal())))
	defer renew.Stop()
	answers := make(chan term, 1)
	asking, hush := false, context.CancelFunc(func() {})
	moves, look := r.watch()
	defer look.Stop()
	for lost.Err() == nil {
		select {
		case err := <-done:
			hush()
			if asking { // or it would come after the release
				<-answers
			}
			if lost.Err() != nil {
				stopped(log, err)
				return true, nil
			}
			return false, r.ended(ctx, log, err)
		case <-lost.Done():
			r.o.State.asked(errLate)
			log.Warn("lease not renewed in time, stopping")
		case <-look.C:
			if !moves() {
				log.Error("work does not get on, giving the lease up", "stall", r.o.Stall)
				r.stalled = true
				lose()
			}
		case <-renew.C:
			var request context.Context
			request, hush = context.WithCancel(context.WithoutCancel(ctx))
			limit := time.Until(r.until(t))
			asking = true
			go func() { answers <- r.acquire(request, limit) }()
		case next := <-answers:
			asking = false
			hush()
			switch {
			case next.err != nil:
				renew.Reset(r.retry())
			case !next.held || next.lease.Epoch != t.lease.Epoch:
				log.Warn("lease lost, stopping", "active", next.lease.Holder, "new_epoch", next.lease.Epoch)
				lose()
			case guard.Stop():
				t = next
				guard.Reset(time.Until(r.until(t)))
				renew.Reset(time.Until(t.sent.Add(r.renewal())))
			}
		}
	}
	hush()
	cancel()
	r.o.State.set(false, t.lease.Epoch)
	slow := time.NewTimer(r.margin())
	defer slow.Stop()
	for {
		select {
		case err := <-done:
			if asking { // one request at a time
				<-answers
			}
			if r.stalled {
				r.release(ctx)
			}
			stopped(log, err)
			return true, nil
		case <-slow.C:
			log.Error("work goes on without the lease")
		}
	}
}

// watch gives what tells whether the work gets on, and when to ask it.
func (r *runner) watch() (moves func() bool, look *time.Ticker) {
	look = time.NewTicker(min(r.renewal(), max(r.o.Stall/4, time.Millisecond)))
	if r.o.Progress == nil {
		return func() bool { return true }, look
	}
	last, _ := r.o.Progress()
	since := time.Now()
	return func() bool {
		at, more := r.o.Progress()
		if !more || at != last {
			last, since = at, time.Now()
		}
		return time.Since(since) < r.o.Stall
	}, look
}

// stopped deals with work that ended because its lease was lost.
func stopped(log *slog.Logger, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		log.Warn("work ended with an error after the lease was lost", "error", err)
	}
}

// ended deals with work that ended while the lease was held.
func (r *runner) ended(ctx context.Context, log *slog.Logger, err error) error {
	r.release(ctx)
	log.Info("lease released", "error", err)
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return nil
	}
	return err
}
