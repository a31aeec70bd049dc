package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"daybook/internal/ground/lifecycle"
	"daybook/internal/ground/pause"
)

// keepReceipts is how long receipts are kept at least.
const keepReceipts = 24 * time.Hour

// purgeBatch is how many old receipts one transaction removes; purgePause is left to
// others between two.
const purgeBatch, purgePause = 1000, 50 * time.Millisecond

// The clock is that of the database. Receipts of a time to come, of a clock that was
// wrong, count as kept now.
const (
	clock       = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
	purge       = "DELETE FROM @receipts WHERE digest IN (SELECT digest FROM @receipts WHERE kept < " + clock + " - $1::bigint ORDER BY kept LIMIT $2::bigint FOR UPDATE SKIP LOCKED)"
	resetFuture = "UPDATE @receipts SET kept = " + clock + " WHERE digest IN (SELECT digest FROM @receipts WHERE kept > " + clock + " + $1::bigint ORDER BY kept DESC LIMIT $2::bigint FOR UPDATE SKIP LOCKED)"
)

// purgeReceipts removes old receipts, in small transactions, until its context ends.
func (store *Store) purgeReceipts(ctx context.Context) {
	outage := lifecycle.Outage{Log: store.options.Log, Message: "old receipts are not purged"}
	for wait := store.options.PurgeEvery; pause.For(ctx, wait) == nil; {
		wait = store.options.PurgeEvery
		err := store.use(ctx, store.read, store.options.ReadTimeout, func(ctx context.Context, conn *pgx.Conn) error {
			for _, text := range []string{purge, resetFuture} {
				done, err := conn.Exec(ctx, store.q(text), keepReceipts.Milliseconds(), purgeBatch)
				if err != nil {
					return err
				}
				if done.RowsAffected() == purgeBatch {
					wait = min(purgePause, wait)
				}
			}
			return nil
		})
		if ctx.Err() == nil {
			outage.Note(ctx, err)
		}
	}
}
