package sqlite

import (
	"context"
	"time"

	"daybook/eventstore"
)

var _ eventstore.Dumper = (*Store)(nil)

// Receipts does eventstore.Dumper; the cursor is the row.
func (s *Store) Receipts(ctx context.Context, after int64, limit int) ([]eventstore.KeptReceipt, int64, error) {
	if err := s.usable(ctx); err != nil {
		return nil, after, err
	}
	stmt, err := s.readDB.PrepareContext(ctx, "SELECT rowid, kept, "+receiptColumns+" FROM receipts WHERE rowid > ? ORDER BY rowid LIMIT ?")
	if err != nil {
		return nil, after, wrap(translate(ctx, err), "read receipts")
	}
	defer func() { _ = stmt.Close() }() // only read
	out, err := all(ctx, s, stmt, func(r row) (eventstore.KeptReceipt, error) {
		var k eventstore.KeptReceipt
		var kept int64
		got, err := scanReceipt(led{r, []any{&after, &kept}})
		if err == nil {
			k.Receipt, k.Kept = *got, time.UnixMilli(kept).UTC()
		}
		return k, err
	}, after, max(limit, 0))
	return out, after, wrap(err, "read receipts")
}

// led is a row with columns in front of those that a scan asks for.
type led struct {
	row

	first []any
}

func (l led) Scan(dest ...any) error { return l.row.Scan(append(l.first, dest...)...) }
