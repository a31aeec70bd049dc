package keylock

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func TestSeveralAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		locks := Locks[string]{AtOnce: 3}
		var (
			all    sync.WaitGroup
			inside atomic.Int64
			gate   = make(chan struct{})
		)
		for range 10 {
			all.Go(func() {
				release, err := locks.Acquire(t.Context(), "a")
				if err != nil {
					t.Error(err)
					return
				}
				defer release()
				inside.Add(1)
				<-gate
			})
		}
		synctest.Wait()
		if n := inside.Load(); n != 3 {
			t.Errorf("%d at once, want 3", n)
		}
		close(gate)
		all.Wait()
		if n := inside.Load(); n != 10 || len(locks.held) != 0 {
			t.Errorf("%d of 10 had their turn, %d locks are kept", n, len(locks.held))
		}
	})
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var locks Locks[int]
		release, err := locks.Acquire(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		free, err := locks.Acquire(t.Context(), 2) // another key does not wait
		if err != nil {
			t.Fatal(err)
		}
		free()
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error)
		go func() {
			_, err := locks.Acquire(ctx, 1)
			left <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
		release()
		again, err := locks.Acquire(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		again()
		if len(locks.held) != 0 {
			t.Errorf("%d locks are kept though nobody uses them", len(locks.held))
		}
	})
}
