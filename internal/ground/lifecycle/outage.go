package lifecycle

import (
	"context"
	"log/slog"
	"time"
)

// Outage logs the first of several errors of the same kind, and their end. It is for one
// goroutine.
type Outage struct {
	Log     *slog.Logger
	Message string // what does not work
	since   time.Time
}

// Note takes the result of a try. attrs say more of the first error.
func (outage *Outage) Note(ctx context.Context, err error, attrs ...any) {
	switch {
	case err != nil && !outage.Ongoing():
		outage.since = time.Now()
		outage.Log.WarnContext(ctx, outage.Message, append(attrs, "error", err)...) //nolint:sloglint // a constant of the caller
	case err == nil && outage.Ongoing():
		outage.Log.InfoContext(ctx, "outage ended", "outage", outage.Message, "after", time.Since(outage.since).Round(time.Millisecond))
		outage.since = time.Time{}
	}
}

// Ongoing reports whether the last try failed.
func (outage *Outage) Ongoing() bool { return !outage.since.IsZero() }
