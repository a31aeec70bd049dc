package lease_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"daybook/eventstore"
	"daybook/internal/lease"
)

// leases is the contract in memory. The clock of the store is that of the test.
type leases struct {
	mu     sync.Mutex
	holder string
	epoch  int64
	end    time.Time
}

func (leases *leases) Acquire(ctx context.Context, _, holder string, span time.Duration) (lease.Lease, error) {
	leases.mu.Lock()
	defer leases.mu.Unlock()
	if ctx.Err() != nil {
		return lease.Lease{}, ctx.Err()
	}
	now := time.Now()
	if leases.holder == holder || !now.Before(leases.end) {
		if leases.holder != holder {
			leases.epoch++
		}
		leases.holder, leases.end = holder, now.Add(span)
	}
	return lease.Lease{Holder: leases.holder, Epoch: leases.epoch, Left: leases.end.Sub(now)}, nil
}

// path is the way of one process to the store. Requests go through there, come
// there, and come back through back.
type path struct {
	lease.Store
	there, back func(ctx context.Context) error
}

func (path *path) Acquire(ctx context.Context, name, holder string, span time.Duration) (lease.Lease, error) {
	if path.there != nil {
		if err := path.there(ctx); err != nil {
			return lease.Lease{}, err
		}
	}
	l, err := path.Store.Acquire(ctx, name, holder, span)
	if path.back != nil {
		err = errors.Join(err, path.back(ctx))
	}
	return l, err
}

func wait(ctx context.Context, duration time.Duration) error {
	select {
	case <-time.After(duration):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// role watches that only one works at a time.
type role struct {
	t  *testing.T
	mu sync.Mutex
	// active is who works now, turns who worked, in order.
	active string
	turns  []turn
}

type turn struct {
	holder     string
	start, end time.Time
}

// work works until it is told to end.
func (role *role) work(holder string) func(context.Context) error {
	return func(ctx context.Context) error {
		role.begin(holder)
		<-ctx.Done()
		role.finish(holder)
		return ctx.Err()
	}
}

func (role *role) begin(holder string) {
	role.mu.Lock()
	defer role.mu.Unlock()
	if role.active != "" {
		role.t.Errorf("%s works while %s does", holder, role.active)
	}
	role.active = holder
	role.turns = append(role.turns, turn{holder: holder, start: time.Now()})
}

func (role *role) finish(holder string) {
	role.mu.Lock()
	defer role.mu.Unlock()
	if role.active != holder {
		role.t.Errorf("%s ends while %q works", holder, role.active)
	}
	role.active = ""
	role.turns[len(role.turns)-1].end = time.Now()
}

func (role *role) now() string {
	role.mu.Lock()
	defer role.mu.Unlock()
	return role.active
}

func (role *role) order() string {
	role.mu.Lock()
	defer role.mu.Unlock()
	var names []string
	for _, turn := range role.turns {
		names = append(names, turn.holder)
	}
	return strings.Join(names, " ")
}

// process is one that runs for the role.
type process struct {
	lease.State
	stop   context.CancelFunc
	result chan error
}

func start(t *testing.T, store lease.Store, holder string, options lease.Options, work func(context.Context) error) *process {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	p := &process{stop: cancel, result: make(chan error, 1)}
	options.State = &p.State
	go func() { p.result <- lease.Run(ctx, store, "relay", holder, options, work) }()
	return p
}

// end stops processes and wants that they end well.
func end(t *testing.T, all ...*process) {
	t.Helper()
	for _, process := range all {
		process.stop()
		if err := <-process.result; err != nil {
			t.Errorf("run: %v", err)
		}
	}
}

// after lets time pass and wants that holder is active then.
func after(t *testing.T, role *role, duration time.Duration, holder string) {
	t.Helper()
	<-time.After(duration)
	synctest.Wait()
	if got := role.now(); got != holder {
		t.Fatalf("%q is active after %s, want %q (turns: %s)", got, duration, holder, role.order())
	}
}

func TestOneIsActive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, r := &leases{}, &role{t: t}
		process := start(t, l, "a", lease.Options{}, r.work("a"))
		synctest.Wait()
		b := start(t, l, "b", lease.Options{}, r.work("b"))
		after(t, r, time.Hour, "a")
		if !process.Held() || b.Held() || l.epoch != 1 {
			t.Errorf("got a %t, b %t, epoch %d; want a to hold epoch 1", process.Held(), b.Held(), l.epoch)
		}
		end(t, process)
		after(t, r, lease.Span/5, "b") // released, so a poll is enough
		if process.Held() || !b.Held() || l.epoch != 2 {
			t.Errorf("got a %t, b %t, epoch %d; want b to hold epoch 2", process.Held(), b.Held(), l.epoch)
		}
		end(t, b)
		if r.order() != "a b" {
			t.Errorf("turns: %s, want a b", r.order())
		}
	})
}

// A process that dies gives nothing back: another takes over when the lease
// ends, not a poll later.
func TestProcessDies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, r := &leases{}, &role{t: t}
		if got, _ := l.Acquire(t.Context(), "relay", "dead", lease.Span); got.Holder != "dead" {
			t.Fatal("not held")
		}
		const later = 700 * time.Millisecond // so that no poll falls on the end
		<-time.After(later)
		process := start(t, l, "b", lease.Options{}, r.work("b"))
		after(t, r, lease.Span-later-time.Millisecond, "")
		after(t, r, lease.Span/50, "b")
		end(t, process)
	})
}

// The way to the store of the active process is cut: it stops before its lease
// ends, and only then another begins.
func TestStoreOutOfReach(t *testing.T) {
	t.Parallel()
	cases := map[string]func(cut *atomic.Bool) *path{
		"refused": func(cut *atomic.Bool) *path {
			return &path{there: func(context.Context) error {
				if cut.Load() {
					return eventstore.ErrUnavailable
				}
				return nil
			}}
		},
		"request hangs": func(cut *atomic.Bool) *path {
			return &path{there: func(ctx context.Context) error {
				if cut.Load() {
					<-ctx.Done()
					return ctx.Err()
				}
				return nil
			}}
		},
		"request hangs beyond its limit": func(cut *atomic.Bool) *path {
			return &path{there: func(context.Context) error {
				for cut.Load() {
					<-time.After(time.Minute)
				}
				return nil
			}}
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l, r := &leases{}, &role{t: t}
				var cut atomic.Bool
				p := c(&cut)
				p.Store = l
				process := start(t, p, "a", lease.Options{}, r.work("a"))
				synctest.Wait()
				b := start(t, l, "b", lease.Options{}, r.work("b"))
				after(t, r, time.Minute, "a")
				cut.Store(true)
				after(t, r, lease.Span, "b")
				if process.Err() == nil || b.Err() != nil {
					t.Errorf("a cannot ask: %v, b: %v", process.Err(), b.Err())
				}
				if gap := r.turns[1].start.Sub(r.turns[0].end); gap <= 0 || gap > lease.Span/5 {
					t.Errorf("%s between the turns, want some, and not more than a fifth of the span", gap)
				}
				cut.Store(false)
				after(t, r, 2*time.Minute, "b")
				if process.Err() != nil {
					t.Errorf("a can ask again: %v", process.Err())
				}
				end(t, b)
				after(t, r, lease.Span, "a")
				end(t, process)
			})
		})
	}
}

// A process is paused as a whole: for a moment two work, because no clock tells
// the one that wakes up. Then it stops, and does not disturb the other.
func TestPausedProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, r := &leases{}, &role{t: t}
		// To the store it looks like this: a came, and then nothing for long.
		var paused atomic.Bool
		p := &path{Store: l, there: func(context.Context) error {
			for paused.Load() {
				<-time.After(time.Second)
			}
			return nil
		}}
		stopped := make(chan time.Time, 10)
		process := start(t, p, "a", lease.Options{}, func(ctx context.Context) error {
			<-ctx.Done()
			for paused.Load() { // does not see it
				<-time.After(time.Second)
			}
			stopped <- time.Now()
			return nil
		})
		<-time.After(time.Minute)
		paused.Store(true)
		b := start(t, l, "b", lease.Options{}, r.work("b"))
		after(t, r, time.Minute, "b")
		if process.Held() {
			t.Error("a takes itself for the holder although it cannot know")
		}
		paused.Store(false)
		after(t, r, time.Minute, "b")
		if len(stopped) != 1 || l.epoch != 2 {
			t.Errorf("a stopped %d times, b has epoch %d; want 1 and 2", len(stopped), l.epoch)
		}
		end(t, process, b)
	})
}

// Somebody takes the lease away, by hand or because the clock of the store
// jumped: who learns it at its renewal stops.
func TestLeaseTakenAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, r := &leases{}, &role{t: t}
		process := start(t, l, "a", lease.Options{}, r.work("a"))
		after(t, r, time.Minute, "a")
		l.mu.Lock()
		l.holder, l.epoch, l.end = "other", l.epoch+1, time.Now().Add(time.Hour)
		l.mu.Unlock()
		after(t, r, lease.Span/3, "")
		if process.Held() || process.Err() != nil {
			t.Errorf("got %t, %v; want another to hold it", process.Held(), process.Err())
		}
		// Back and forth between two renewals: the epoch tells.
		after(t, r, time.Hour, "a")
		l.mu.Lock()
		l.epoch += 2
		l.mu.Unlock()
		after(t, r, lease.Span, "a")
		end(t, process)
		if r.order() != "a a a" || l.epoch != 5 {
			t.Errorf("turns: %s, epoch %d; want three turns of a and epoch 5", r.order(), l.epoch)
		}
	})
}

// The lease is kept as long as work takes to end, then it is released.
func TestDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, r := &leases{}, &role{t: t}
		process := start(t, l, "a", lease.Options{}, func(ctx context.Context) error {
			r.begin("a")
			<-ctx.Done()
			<-time.After(time.Minute) // clean-up
			r.finish("a")
			return nil
		})
		synctest.Wait()
		b := start(t, l, "b", lease.Options{}, r.work("b"))
		<-time.After(time.Minute)
		process.stop()
		after(t, r, time.Minute-time.Millisecond, "a")
		after(t, r, time.Millisecond+lease.Span/5, "b")
		end(t, process, b)
	})
}

func TestWorkEndsByItself(t *testing.T) {
	t.Parallel()
	fault := errors.New("fault")
	for name, want := range map[string]error{"well": nil, "with an error": fault} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := &leases{}
				err := lease.Run(t.Context(), l, "relay", "a", lease.Options{}, func(ctx context.Context) error {
					return errors.Join(want, wait(ctx, time.Hour))
				})
				if !errors.Is(err, want) || want == nil && err != nil {
					t.Errorf("got %v, want %v", err, want)
				}
				if got, _ := l.Acquire(t.Context(), "relay", "b", lease.Span); got.Holder != "b" {
					t.Error("the lease was not released")
				}
			})
		})
	}
	t.Run("with an error while it drains", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			err := lease.Run(ctx, &leases{}, "relay", "a", lease.Options{}, func(ctx context.Context) error {
				<-ctx.Done()
				return fault
			})
			if !errors.Is(err, fault) {
				t.Errorf("got %v, want the error of the work", err)
			}
		})
	})
}

// What asking again does not mend ends Run.
func TestRefused(t *testing.T) {
	t.Parallel()
	store := &path{there: func(context.Context) error { return eventstore.ErrClosed }}
	err := lease.Run(t.Context(), store, "relay", "a", lease.Options{}, func(context.Context) error { return nil })
	if !errors.Is(err, eventstore.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}

// Five processes with ways to the store that are cut, slow and lose answers:
// never do two work at once, and the role is mostly filled.
func TestNeverTwo(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l, r := &leases{}, &role{t: t}
				var all []*process
				for i := range 5 {
					rnd := rand.New(rand.NewPCG(seed, uint64(i)))
					var mu sync.Mutex
					trouble := func(ctx context.Context) error {
						mu.Lock()
						n, duration := rnd.IntN(20), time.Duration(rnd.Int64N(int64(lease.Span)))
						mu.Unlock()
						switch {
						case n == 0:
							return eventstore.ErrUnavailable
						case n < 4:
							return wait(ctx, duration)
						case n == 4:
							<-time.After(2 * duration) // beyond its limit
						}
						return nil
					}
					holder := string(rune('a' + i))
					all = append(all, start(t, &path{l, trouble, trouble}, holder, lease.Options{}, r.work(holder)))
				}
				<-time.After(time.Hour)
				end(t, all...)
				var worked time.Duration
				holders := map[string]bool{}
				for _, turn := range r.turns {
					worked += turn.end.Sub(turn.start)
					holders[turn.holder] = true
				}
				if worked < time.Hour/2 || len(holders) < 3 {
					t.Errorf("%s of work by %d processes in an hour, want more", worked, len(holders))
				}
			})
		})
	}
}
