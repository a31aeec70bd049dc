// Package pause waits for a time, or for the end of a context.
package pause

import (
	"context"
	"time"
)

// For waits, or returns the context's error.
func For(ctx context.Context, duration time.Duration) error {
	t := time.NewTimer(duration)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
