package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"daybook/eventstore"
)

// Restore fills the empty store of a schema, which is made if none exists, in one
// transaction of the role that owns it. Errors: eventstore.ErrNotEmpty, those of the other
// store.
func Restore(ctx context.Context, url string, o Options, from *eventstore.Copy) error {
	if err := o.complete(); err != nil {
		return err
	}
	config, err := parse(url)
	if err != nil {
		return err
	}
	conn, err := migrate(ctx, config.ConnConfig, o)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // what counts is committed
	return translateOn(ctx, conn, heard(conn, func() error {
		return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite}, func(tx pgx.Tx) error {
			s := &Store{o: o} // for its options
			if err := s.lockEmpty(ctx, tx); err != nil {
				return err
			}
			insert := func(ctx context.Context, g *eventstore.Group) error {
				b := &pgx.Batch{}
				s.queue(b, g)
				s.put(b, keptReceipts, column(g.Stored, keptReceiptRow))
				return tx.SendBatch(ctx, b).Close()
			}
			if err := eventstore.Restore(ctx, insert, from); err != nil {
				return err
			}
			b := &pgx.Batch{}
			b.Queue(s.q("SELECT setval('@ids', max(id)) FROM @records HAVING max(id) > (SELECT last_value FROM @ids)"))
			b.Queue(s.q("UPDATE @identity SET uuid = $1::uuid"), from.UUID)
			b.Queue(notify, o.Schema+"_head", from.Entries.String())
			return tx.SendBatch(ctx, b).Close()
		})
	}))
}

// lockEmpty locks the log, which must be empty.
func (s *Store) lockEmpty(ctx context.Context, tx pgx.Tx) error {
	for _, text := range []string{lockLog, lockIDs} {
		if _, err := tx.Exec(ctx, text, s.o.Schema); err != nil {
			return err
		}
	}
	var empty bool
	err := tx.QueryRow(ctx, s.q("SELECT NOT EXISTS (SELECT FROM @entries) AND NOT EXISTS (SELECT FROM @receipts)")).Scan(&empty)
	if err == nil && !empty {
		err = fmt.Errorf("schema %s: %w", s.o.Schema, eventstore.ErrNotEmpty)
	}
	return err
}

func keptReceiptRow(r *eventstore.Receipt) []any { return append(receiptRow(r), r.Time.UnixMilli()) }
