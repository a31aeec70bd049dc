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
// keep nobody from setting a password.
func TestTurnsOfHashes(t *testing.T) {
	t.Parallel()
	h := NewHasher()
	if n := runtime.GOMAXPROCS(0); n > 1 && cap(h.checks) >= n {
		t.Errorf("%d checks at once on %d processors", cap(h.checks), n)
	}
	hash, err := h.Hash(t.Context(), "sesame")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		h := NewHasher()
		for range cap(h.checks) {
			h.checks <- struct{}{} // as many are under way
		}
		ctx, leave := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := h.Verify(ctx, hash, "sesame")
			done <- err
		}()
		synctest.Wait()
		if len(done) > 0 {
			t.Fatal("one check more than there are turns")
		}
		if _, err := h.Hash(t.Context(), "other"); err != nil {
			t.Errorf("a password to keep waits for checks: %v", err)
		}
		leave()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("a check whose request has ended: %v", err)
		}
		<-h.checks
		if ok, err := h.Verify(t.Context(), hash, "sesame"); !ok || err != nil {
			t.Errorf("with a turn: %t, %v", ok, err)
		}
		if len(h.checks) != cap(h.checks)-1 {
			t.Error("the turn of a right one is not given back")
		}
		if ok, err := h.Verify(t.Context(), hash, "wrong"); ok || err != nil {
			t.Errorf("a wrong one: %t, %v", ok, err)
		}
		if len(h.checks) < cap(h.checks) {
			t.Error("a turn does not rest after a wrong one")
		}
		before := time.Now()
		if ok, err := h.Verify(t.Context(), hash, "sesame"); !ok || err != nil {
			t.Errorf("after a rest: %t, %v", ok, err)
		}
		if rested := time.Since(before); rested != wrongRest {
			t.Errorf("the turn rested for %s, want %s", rested, wrongRest)
		}
	})
}
