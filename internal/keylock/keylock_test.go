package keylock

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
)

func TestOneAtATime(t *testing.T) {
	t.Parallel()
	var (
		l      Locks[string]
		all    sync.WaitGroup
		inside [2]int // by key; the race detector and the counts watch them
	)
	for i := range 200 {
		all.Go(func() {
			key := i % 2
			release, err := l.Acquire(t.Context(), string(rune('a'+key)))
			if err != nil {
				t.Error(err)
				return
			}
			defer release()
			inside[key]++
		})
	}
	all.Wait()
	if inside != [2]int{100, 100} {
		t.Errorf("got %v turns, want 100 each", inside)
	}
	if len(l.held) != 0 {
		t.Errorf("%d locks are kept though nobody uses them", len(l.held))
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l Locks[int]
		release, err := l.Acquire(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		free, err := l.Acquire(t.Context(), 2) // another key does not wait
		if err != nil {
			t.Fatal(err)
		}
		free()
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error)
		go func() {
			_, err := l.Acquire(ctx, 1)
			left <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
		release()
		again, err := l.Acquire(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		again()
		if len(l.held) != 0 {
			t.Errorf("%d locks are kept though nobody uses them", len(l.held))
		}
	})
}
