package lease_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"daybook/internal/lease"
)

// progress is that of some work.
type progress struct {
	at   atomic.Uint64
	more atomic.Bool
}

func (progress *progress) tell() (uint64, bool) { return progress.at.Load(), progress.more.Load() }

// TestStandstill: work that has more to do and does not get on loses the lease to
// who stands by; work that gets on, and work that has nothing to do, keep it.
func TestStandstill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, r := &leases{}, &role{t: t}
		var pa, pb progress
		o := func(p *progress) lease.Options { return lease.Options{Progress: p.tell} }
		process := start(t, l, "a", o(&pa), r.work("a"))
		synctest.Wait()
		b := start(t, l, "b", o(&pb), r.work("b"))
		after(t, r, time.Hour, "a") // nothing to do
		pa.more.Store(true)
		for range 100 { // slow, but it moves
			pa.at.Add(1)
			after(t, r, 15*time.Second, "a")
		}
		after(t, r, 30*time.Second, "b")
		pb.more.Store(true)
		after(t, r, 40*time.Second, "a") // it fares no better: the other one tries again
		pa.more.Store(false)
		after(t, r, time.Hour, "a")
		if gap := r.turns[1].start.Sub(r.turns[0].end); gap > lease.Span/5 || process.Err() != nil || b.Err() != nil {
			t.Errorf("%s between the turns, errors %v and %v: want the lease released", gap, process.Err(), b.Err())
		}
		end(t, process, b)
	})
}

// TestStandstillHangs: the lease of work that does not even end is had by another
// one all the same.
func TestStandstillHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, r := &leases{}, &role{t: t}
		var p progress
		p.more.Store(true)
		hangs := make(chan struct{})
		process := start(t, l, "a", lease.Options{Progress: p.tell}, stubborn(hangs))
		synctest.Wait()
		b := start(t, l, "b", lease.Options{}, r.work("b"))
		after(t, r, 30*time.Second+2*lease.Span, "b")
		if process.Held() {
			t.Error("who hangs holds the lease")
		}
		close(hangs)
		end(t, process, b)
	})
}

// stubborn is work that ends when a channel is closed, whatever it is told.
func stubborn(end <-chan struct{}) func(context.Context) error {
	return func(context.Context) error {
		<-end
		return nil
	}
}
