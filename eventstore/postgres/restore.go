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
func Restore(ctx context.Context, address string, options Options, from *eventstore.Copy) error {
	_, conn, err := migrate(ctx, address, &options)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // what counts is committed
	return translateOn(ctx, conn, heard(conn, func() error {
		return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite}, func(transaction pgx.Tx) error {
			store := &Store{options: options} // for its options
			if err := store.lockEmpty(ctx, transaction); err != nil {
				return err
			}
			insert := func(ctx context.Context, group *eventstore.Group) error {
				batch := &pgx.Batch{}
				store.queue(batch, group)
				store.put(batch, keptReceipts, column(group.Stored, keptReceiptRow))
				return transaction.SendBatch(ctx, batch).Close()
			}
			if err := eventstore.Restore(ctx, insert, from); err != nil {
				return err
			}
			batch := &pgx.Batch{}
			batch.Queue(store.q("SELECT setval('@ids', max(id)) FROM @records HAVING max(id) > (SELECT last_value FROM @ids)"))
			batch.Queue(store.q("UPDATE @identity SET uuid = $1::uuid"), from.UUID)
			batch.Queue(notify, options.Schema+"_head", from.Entries.String())
			return transaction.SendBatch(ctx, batch).Close()
		})
	}))
}

// lockEmpty locks the log, which must be empty.
func (store *Store) lockEmpty(ctx context.Context, transaction pgx.Tx) error {
	for _, text := range []string{lockLog, lockIDs} {
		if _, err := transaction.Exec(ctx, text, store.options.Schema); err != nil {
			return err
		}
	}
	var empty bool
	err := transaction.QueryRow(ctx, store.q("SELECT NOT EXISTS (SELECT FROM @entries) AND NOT EXISTS (SELECT FROM @receipts)")).Scan(&empty)
	if err == nil && !empty {
		err = fmt.Errorf("schema %s: %w", store.options.Schema, eventstore.ErrNotEmpty)
	}
	return err
}

func keptReceiptRow(receipt *eventstore.Receipt) []any {
	return append(receiptRow(receipt), receipt.Time.UnixMilli())
}
