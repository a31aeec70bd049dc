// Package lifecycle makes actors for run.Group. The group interrupts its actors
// one after the other in the order in which they were added, and every
// interrupt made here waits for its actor: so the order of adding is the order
// of draining.
package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/oklog/run"
)

// Actor makes an actor of a loop that ends with its context and then gives nil
// or the context's error. The interrupt ends the context and waits for the loop.
// An error of the loop itself is logged under the actor's name, because the
// group gives only the first error of all, and comes back with the name.
func Actor(ctx context.Context, log *slog.Logger, name string, loop func(context.Context) error) (execute func() error, interrupt func(error)) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	execute = func() error {
		defer close(done)
		err := loop(ctx)
		if ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled)) {
			log.DebugContext(ctx, "actor drained", "actor", name)
			return nil
		}
		return named(ctx, log, name, err)
	}
	interrupt = func(error) {
		cancel()
		slow := time.AfterFunc(slowDrain, func() { log.WarnContext(ctx, "actor still drains", "actor", name) })
		defer slow.Stop()
		<-done
	}
	return execute, interrupt
}

// slowDrain is how long an actor may drain before the log names it: one that never
// ends is otherwise told by no one.
const slowDrain = 5 * time.Second

// Server makes an actor of an HTTP server. The interrupt lets requests that are
// under way end, for at most drain; then it closes their connections.
func Server(ctx context.Context, log *slog.Logger, name string, server *http.Server, listener net.Listener, drain time.Duration) (execute func() error, interrupt func(error)) {
	done := make(chan struct{})
	execute = func() error {
		defer close(done)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return named(ctx, log, name, err)
		}
		return nil
	}
	interrupt = func(error) {
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
		defer cancel()
		if err := server.Shutdown(within); err != nil {
			log.WarnContext(ctx, "requests cut off", "actor", name, "error", err)
			_ = server.Close() // its error is that of the listener, which is closed already
		}
		<-done
	}
	return execute, interrupt
}

// named logs the error of an actor and adds the name to it.
func named(ctx context.Context, log *slog.Logger, name string, err error) error {
	if err == nil {
		return nil
	}
	log.ErrorContext(ctx, "actor ended", "actor", name, "error", err)
	return fmt.Errorf("%s: %w", name, err)
}

// ErrHangs says that a group did not end within its limit.
var ErrHangs = errors.New("drain hangs")

// Drain is how a group ends: its actor is added before those that it makes wait, and
// Run runs the group. Without a delay and a limit it ends at once and waits for ever.
type Drain struct {
	Log *slog.Logger // required
	// Delay is the time from Begin to the interrupts of the actors behind this one,
	// after SIGTERM only: a supervisor sends that, and others go on sending requests
	// for a moment. Who presses ^C (SIGINT) has no one to tell.
	Delay time.Duration
	// Limit bounds the whole, Delay among it; 0: none. What hangs is left behind then,
	// and the process has to end.
	Limit time.Duration
	// Begin is called when the group begins to end. It reports whether anybody may go on
	// sending requests, else there is no delay; nil: they may.
	Begin func() bool

	began chan struct{} // closed then
}

// Actor makes the actor that marks the beginning of the drain.
func (drain *Drain) Actor() (execute func() error, interrupt func(error)) {
	drain.began = make(chan struct{})
	delayed := make(chan struct{})
	execute = func() error {
		<-delayed
		return nil
	}
	interrupt = func(err error) {
		defer close(delayed)
		close(drain.began)
		used := drain.Begin == nil || drain.Begin()
		if end, ok := errors.AsType[*run.SignalError](err); ok {
			drain.Log.Info("draining, a second signal ends at once", "signal", end.Signal.String())
			if end.Signal == syscall.SIGTERM && used {
				<-time.After(drain.Delay)
			}
		}
	}
	return execute, interrupt
}

// Run runs a group that has the actor. The error is that of the group, or ErrHangs
// when it did not end within the limit; it still runs then.
func (drain *Drain) Run(group *run.Group) error {
	ended := make(chan error, 1)
	go func() { ended <- group.Run() }()
	select {
	case err := <-ended:
		return err
	case <-drain.began:
	}
	var late <-chan time.Time
	if drain.Limit > 0 {
		late = time.After(drain.Limit)
	}
	select {
	case err := <-ended:
		return err
	case <-late:
		return fmt.Errorf("%w: it did not end within %s", ErrHangs, drain.Limit)
	}
}

// Drained gives nil for the end that a group was asked for: a signal or the end
// of its context. Any other error is given back.
func Drained(err error) error {
	if errors.Is(err, run.ErrSignal) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
