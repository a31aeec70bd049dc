package sqlite

import (
	"context"
	"time"

	"daybook/internal/ground/pause"
)

const (
	purgeEvery   = time.Minute
	keepReceipts = 24 * time.Hour
	// purgeBatch receipts are deleted at a time, so that appends do not wait for long, and
	// purgePause is left to them in between.
	purgeBatch, purgePause = 100, 20 * time.Millisecond
)

// purgeReceipts deletes old receipts until its context ends. What fails is tried again.
func (store *Store) purgeReceipts(ctx context.Context) {
	for wait := store.options.PurgeEvery; pause.For(ctx, wait) == nil; {
		wait = store.options.PurgeEvery
		if more, err := store.purge(ctx); err == nil && more {
			wait = min(wait, purgePause)
		}
	}
}

// purge deletes some of the receipts that are too old, and reports whether there may be
// others. Those of a clock that ran ahead count as stored now.
func (store *Store) purge(ctx context.Context) (more bool, err error) {
	if err := store.permitted(ctx); err != nil {
		return false, err
	}
	return more, store.write(ctx, func(ctx context.Context) error {
		now := store.options.Now()
		if err := store.writer.exec(ctx, "UPDATE receipts SET kept = ?1 WHERE kept > ?1", now.UnixMilli()); err != nil {
			return err
		}
		gone, err := all(ctx, store.writer, "DELETE FROM receipts WHERE rowid IN (SELECT rowid FROM receipts WHERE kept < ? LIMIT +?) RETURNING user",
			value[int64], now.Add(-keepReceipts).UnixMilli(), purgeBatch)
		more = len(gone) == purgeBatch
		return err
	})
}
