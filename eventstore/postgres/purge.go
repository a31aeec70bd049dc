package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// purgeEvery is how often old receipts are looked for.
	purgeEvery = time.Minute
	// purgeBatch is how many the function deals with at once at most; purgePause is
	// left to others between two.
	purgeBatch, purgePause = 1000, 50 * time.Millisecond
)

// purgeAll removes old receipts now and then, in small transactions beside the
// commits, until its context ends. They do no harm, so an error is only told.
func (s *Store) purgeAll(ctx context.Context) {
	next := time.NewTimer(s.o.PurgeEvery)
	defer next.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		var n int64
		err := s.use(ctx, s.o.ReadTimeout, func(ctx context.Context, c *pgx.Conn) error {
			return c.QueryRow(ctx, s.q.purge, s.o.KeepReceipts.Microseconds()).Scan(&n)
		})
		if ctx.Err() != nil {
			return
		}
		if err != nil && !failing {
			s.o.Log.Warn("old receipts are not purged", "error", err)
		}
		failing = err != nil
		wait := s.o.PurgeEvery
		if err == nil && n >= purgeBatch {
			wait = min(purgePause, wait)
		}
		next.Reset(wait)
	}
}
