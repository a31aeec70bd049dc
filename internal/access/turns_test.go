package access

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// TestTurnsOfHashes: checks leave a processor to others, end with their request, and
// keep no one from setting a password.
func TestTurnsOfHashes(t *testing.T) {
	t.Parallel()
	// take takes all turns that are free.
	take := func(hasher *Hasher) (n int) {
		for hasher.checks.TryAcquire(1) {
			n++
		}
		return n
	}
	hasher := NewHasher()
	turns := take(hasher)
	if n := runtime.GOMAXPROCS(0); n > 1 && turns >= n {
		t.Errorf("%d checks at the same time on %d processors", turns, n)
	}
	hash, err := hasher.Hash(t.Context(), "sesame")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		hasher := NewHasher()
		take(hasher) // as many are under way
		ctx, leave := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := hasher.Verify(ctx, hash, "sesame")
			done <- err
		}()
		synctest.Wait()
		if len(done) > 0 {
			t.Fatal("one check more than there are turns")
		}
		if _, err := hasher.Hash(t.Context(), "other"); err != nil {
			t.Errorf("a password to keep waits for checks: %v", err)
		}
		leave()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("a check whose request has ended: %v", err)
		}
		hasher.checks.Release(1)
		if ok, err := hasher.Verify(t.Context(), hash, "sesame"); !ok || err != nil {
			t.Errorf("with a turn: %t, %v", ok, err)
		}
		if free := take(hasher); free != 1 {
			t.Errorf("%d turns are free after a right one, want 1", free)
		}
		hasher.checks.Release(1)
		if ok, err := hasher.Verify(t.Context(), hash, "wrong"); ok || err != nil {
			t.Errorf("a wrong one: %t, %v", ok, err)
		}
		if take(hasher) > 0 {
			t.Error("a turn does not rest after a wrong one")
		}
		before := time.Now()
		if ok, err := hasher.Verify(t.Context(), hash, "sesame"); !ok || err != nil {
			t.Errorf("after a rest: %t, %v", ok, err)
		}
		if rested := time.Since(before); rested != wrongRest {
			t.Errorf("the turn rested for %s, want %s", rested, wrongRest)
		}
	})
}
