package memindex

import (
	"context"
	"errors"
	"testing"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// TestStill has a writer that is always faster than what is read: it is held up in the
// end, and no longer than a second.
func TestStill(t *testing.T) {
	t.Parallel()
	x, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := calendar.Position(0)
	write := func() {
		at++
		if _, err := x.Write(t.Context(), readmodel.Batch{Mark: calendar.Mark{Position: at}}); err != nil {
			t.Error(err)
		}
	}
	calls, written := 0, make(chan struct{})
	err = x.Still(t.Context(), func(ctx context.Context) error {
		if calls++; calls <= stillTries {
			write()
			return nil
		}
		if x.writing.TryLock() {
			t.Error("writers are not held up")
			x.writing.Unlock()
		}
		go func() {
			write()
			close(written)
		}()
		<-ctx.Done()
		if p := x.shown.Load().Position; p != stillTries {
			t.Errorf("position %d is shown", p)
		}
		return ctx.Err()
	})
	if !errors.Is(err, context.DeadlineExceeded) || calls != stillTries+1 {
		t.Errorf("%v after %d calls", err, calls)
	}
	if <-written; x.shown.Load().Position != stillTries+1 {
		t.Errorf("position %d is shown", x.shown.Load().Position)
	}
	ctx, cancel := context.WithCancel(t.Context())
	x.still <- struct{}{} // somebody else has it
	calls = 0
	if err := x.Still(ctx, func(context.Context) error {
		if write(); calls == stillTries-1 {
			cancel()
		}
		calls++
		return nil
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("without a turn: %v", err)
	}
}
