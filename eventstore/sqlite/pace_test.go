package sqlite

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestPace: who is alone never waits, a crowd is waited for a while, and is
// forgotten when it does not come back.
func TestPace(t *testing.T) {
	t.Parallel()
	const cost = 400 * time.Microsecond
	var p pace
	for range 100 {
		p.note(1, cost)
	}
	if got := p.patience(); got != 0 {
		t.Errorf("one caller waits %s, want no wait", got)
	}
	p.note(8, cost)
	if got := p.patience(); p.enough() != 8 || got < cost || got > 2*cost {
		t.Errorf("8 callers are waited for as %d for %s, want at most two commits of %s", p.enough(), got, cost)
	}
	for range 50 {
		p.note(1, cost)
	}
	if got := p.patience(); got != 0 {
		t.Errorf("a crowd that went away is waited for %s", got)
	}
	for range 100 {
		p.note(8, time.Second)
	}
	if got := p.patience(); got != maxPatience {
		t.Errorf("slow commits make it wait %s, want %s", got, maxPatience)
	}
}

// TestQueueTakes: a take ends when enough calls are there, else with its
// patience, and at once when the queue is closed.
func TestQueueTakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		calls    int
		items    int // of each call
		patience time.Duration
		close    bool
		takes    time.Duration
		want     int
	}{
		{"nobody is waited for", 1, 1, 0, false, 0, 1},
		{"enough come in time", 3, 1, time.Second, false, 2 * time.Millisecond, 3},
		{"too few come", 2, 1, 5 * time.Millisecond, false, 5 * time.Millisecond, 2},
		{"many items of one call are one call", 1, 50, 5 * time.Millisecond, false, 5 * time.Millisecond, 50},
		{"closed meanwhile", 1, 1, time.Second, true, time.Millisecond, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := newQueue()
				var wg sync.WaitGroup
				wg.Go(func() {
					for i := range c.calls {
						if i > 0 {
							<-time.After(time.Millisecond)
						}
						items := make([]*item, c.items)
						one := &call{}
						for j := range items {
							items[j] = &item{call: one}
						}
						q.add(items)
					}
					if c.close {
						<-time.After(time.Millisecond)
						q.close()
					}
				})
				begin := time.Now()
				if q.wait() {
					t.Error("the queue is over")
				}
				got := q.take(3, c.patience)
				if took := time.Since(begin); len(got) != c.want || took != c.takes {
					t.Errorf("got %d items after %s, want %d after %s", len(got), took, c.want, c.takes)
				}
				wg.Wait()
				if q.calls != 0 {
					t.Errorf("%d calls are left", q.calls)
				}
			})
		})
	}
}
