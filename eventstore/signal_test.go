package eventstore_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"daybook/calendar"
	"daybook/eventstore"
)

func TestSignal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s eventstore.Signal
		type outcome struct {
			head calendar.Position
			err  error
		}
		wait := func(ctx context.Context, after calendar.Position) chan outcome {
			c := make(chan outcome, 1)
			go func() {
				head, err := s.Wait(ctx, after)
				c <- outcome{head, err}
			}()
			synctest.Wait()
			return c
		}
		waits := func(c chan outcome) {
			t.Helper()
			synctest.Wait()
			if len(c) > 0 {
				t.Fatalf("waiting ended: %+v", <-c)
			}
		}
		ends := func(c chan outcome, head calendar.Position, err error) {
			t.Helper()
			synctest.Wait()
			if len(c) == 0 {
				t.Fatal("waiting has not ended")
			}
			if got := <-c; got.head != head || !errors.Is(got.err, err) {
				t.Errorf("got %+v, want %d, %v", got, head, err)
			}
		}
		zero, five := wait(t.Context(), 0), wait(t.Context(), 5)
		ctx, cancel := context.WithCancel(t.Context())
		ended := wait(ctx, 0)
		waits(zero)
		cancel()
		ends(ended, 0, context.Canceled)
		s.Move(5)
		ends(zero, 5, nil)
		waits(five)
		s.Reset(2) // of another history
		ends(five, 2, eventstore.ErrHistory)
		if got := s.Epoch(); got != 2 {
			t.Errorf("epoch is %d", got)
		}
		five = wait(t.Context(), 4) // above the new head, so it waits
		waits(five)
		s.Move(5)
		ends(five, 5, nil)
		five = wait(t.Context(), 5)
		s.Move(3) // never back
		if got := s.Head(); got != 5 {
			t.Errorf("head is %d", got)
		}
		ends(wait(t.Context(), 4), 5, nil)
		s.Move(7)
		ends(five, 7, nil)
		ends(wait(ctx, 6), 7, nil) // ended, but there is nothing to wait for
		ends(wait(ctx, 7), 7, context.Canceled)
		seven := wait(t.Context(), 7)
		s.Close()
		ends(seven, 7, eventstore.ErrClosed)
		ends(wait(t.Context(), 0), 7, eventstore.ErrClosed)
	})
}
