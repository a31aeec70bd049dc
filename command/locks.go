package command

import (
	"context"
	"sync"
)

// locks are mutexes by key, for requests that would only lose against each
// other. They spare attempts inside one process; what holds between processes
// are the versions, guards, claims and receipts of the store.
type locks struct {
	mu   sync.Mutex
	held map[any]*lock
}

type lock struct {
	turn  chan struct{} // holds one token while it is free
	users int
}

// acquire waits for the lock of a key and gives the function that frees it.
func (l *locks) acquire(ctx context.Context, key any) (release func(), err error) {
	l.mu.Lock()
	k := l.held[key]
	if k == nil {
		if l.held == nil {
			l.held = map[any]*lock{}
		}
		k = &lock{turn: make(chan struct{}, 1)}
		k.turn <- struct{}{}
		l.held[key] = k
	}
	k.users++
	l.mu.Unlock()
	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if k.users--; k.users == 0 {
			delete(l.held, key)
		}
	}
	select {
	case <-k.turn:
		return func() { k.turn <- struct{}{}; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
