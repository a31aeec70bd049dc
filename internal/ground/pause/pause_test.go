package pause_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"daybook/internal/ground/pause"
)

func TestFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		if err := pause.For(t.Context(), time.Hour); err != nil || time.Since(begin) != time.Hour {
			t.Errorf("waited %s: %v, want an hour", time.Since(begin), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begin = time.Now()
		if err := pause.For(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Minute {
			t.Errorf("waited %s: %v, want the minute of the context", time.Since(begin), err)
		}
	})
}
