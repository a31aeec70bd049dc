// Package keylock bounds how much work is done for one key at the same time.
package keylock

import (
	"context"
	"sync"
)

// Locks are locks by key; the zero value has no lock taken.
type Locks[K comparable] struct {
	// AtOnce is how many may hold the lock of a key; 0: one.
	AtOnce int

	mu   sync.Mutex
	held map[K]*lock
}

type lock struct {
	turn  chan struct{} // holds a token for each who may come in
	users int
}

// Waiting reports whether somebody waits for the lock of a key.
func (locks *Locks[K]) Waiting(key K) bool {
	locks.mu.Lock()
	defer locks.mu.Unlock()
	lock := locks.held[key]
	return lock != nil && lock.users > max(locks.AtOnce, 1)
}

// Acquire waits for the lock of a key and returns the function that frees it, to
// be called once. When ctx ends first it returns the error of ctx.
func (locks *Locks[K]) Acquire(ctx context.Context, key K) (release func(), err error) {
	locks.mu.Lock()
	k := locks.held[key]
	if k == nil {
		if locks.held == nil {
			locks.held = make(map[K]*lock)
		}
		count := max(locks.AtOnce, 1)
		k = &lock{turn: make(chan struct{}, count)}
		for range count {
			k.turn <- struct{}{}
		}
		locks.held[key] = k
	}
	k.users++
	locks.mu.Unlock()
	leave := func() {
		locks.mu.Lock()
		defer locks.mu.Unlock()
		if k.users--; k.users == 0 {
			delete(locks.held, key)
		}
	}
	select {
	case <-k.turn:
		return func() {
			k.turn <- struct{}{}
			leave()
		}, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
