package httpapi

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
)

// flights make one answer for all who ask the same at the same time. The first
// one does the work in its own goroutine: starting one for each answer, and
// growing its stack anew, costs more than most answers.
type flights struct {
	mu   sync.Mutex
	open map[string]*flight
}

type flight struct {
	done chan struct{} // closed when ans and err are there
	ans  *answer
	wait bool // somebody waits; under mu
	err  error
}

// do gives what produce makes, or what another call with the same key is making.
// Those who wait leave with their context; the work itself goes on. share is called
// before others get the answer. Who waits gives its slot back meanwhile; where there is
// no room to wait it keeps it.
func (f *flights) do(ctx context.Context, p *pass, key string, produce func() (*answer, error), share func(*answer)) (*answer, error) {
	f.mu.Lock()
	if other := f.open[key]; other != nil {
		other.wait = true
		f.mu.Unlock()
		p.enter(stageWait, 1)
		defer p.resume()
		select {
		case <-other.done:
			return other.ans, other.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if f.open == nil {
		f.open = make(map[string]*flight)
	}
	own := &flight{done: make(chan struct{})}
	f.open[key] = own
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		delete(f.open, key)
		shared := own.wait
		f.mu.Unlock()
		if shared && own.err == nil {
			share(own.ans)
		}
		close(own.done)
	}()
	own.ans, own.err = safely(produce)
	return own.ans, own.err
}

// safely makes an error of a panic, so that those who wait get one too.
func safely(produce func() (*answer, error)) (ans *answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			ans, err = nil, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return produce()
}
