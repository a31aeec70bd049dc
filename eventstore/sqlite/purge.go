package sqlite

import (
	"context"
	"database/sql"
	"time"
)

const (
	// purgeEvery is how often old receipts are looked for.
	purgeEvery = time.Minute
	// purgeBatch is how many are dealt with in one turn, so that nobody waits long
	// for his own; purgePause is left to others between two.
	purgeBatch, purgePause = 100, 20 * time.Millisecond
)

// purgeAll removes old receipts now and then, in small transactions of their own,
// until its context ends. They do no harm, so what fails is tried again later.
func (s *Store) purgeAll(ctx context.Context) {
	next := time.NewTimer(s.o.PurgeEvery)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		wait := s.o.PurgeEvery
		if more, err := s.purgeTurn(ctx); err == nil && more {
			wait = min(purgePause, wait)
		}
		next.Reset(wait)
	}
}

// purgeTurn has one turn to deal with some of the receipts that are too old. What
// was kept in a time that has not come, under a clock that was wrong, counts as
// kept now. more tells that there may be others.
func (s *Store) purgeTurn(ctx context.Context) (more bool, err error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	if err := s.permitted(ctx); err != nil {
		return false, err
	}
	ctx = context.WithoutCancel(ctx) // a transaction is not cut off
	w, now := s.writer, s.o.Now()
	if err := w.beginWrite(ctx); err != nil {
		return false, err
	}
	gone, err := count(w.purge.ExecContext(ctx, now.Add(-s.o.KeepReceipts).UnixMilli(), purgeBatch))
	var moved int64
	if err == nil {
		moved, err = count(w.rekeep.ExecContext(ctx, now.UnixMilli(), now.Add(s.o.KeepReceipts).UnixMilli(), purgeBatch))
	}
	if err != nil || gone+moved == 0 {
		w.giveUp(ctx)
		return false, err
	}
	if _, err := w.commit.ExecContext(ctx); err != nil {
		w.giveUp(ctx)
		return false, err
	}
	return true, nil
}

func count(r sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}
