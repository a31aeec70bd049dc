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
func (o *Outage) Note(ctx context.Context, err error, attrs ...any) {
	switch {
	case err != nil && !o.Ongoing():
		o.since = time.Now()
		o.Log.WarnContext(ctx, o.Message, append(attrs, "error", err)...) //nolint:sloglint // a constant of the caller
	case err == nil && o.Ongoing():
		o.Log.InfoContext(ctx, "outage ended", "outage", o.Message, "after", time.Since(o.since).Round(time.Millisecond))
		o.since = time.Time{}
	}
}

// Ongoing reports whether the last try failed.
func (o *Outage) Ongoing() bool { return !o.since.IsZero() }
