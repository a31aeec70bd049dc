package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"daybook/calendar"
	eventstore "daybook/eventstore/port"
)

// Restore fills the empty store of a schema, which is made where there is none, in one
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
			t := &target{s: &Store{o: o}, tx: tx, rows: map[string][][]any{}}
			if err := t.lock(ctx); err != nil {
				return err
			}
			return eventstore.Restore(ctx, t, from)
		})
	}))
}

// target is a store that is filled, table by table.
type target struct {
	s      *Store // its options
	tx     pgx.Tx
	rows   map[string][][]any // that are not written yet, by table
	lastID calendar.ID
	head   calendar.Position
}

// lock locks the log, which must be empty.
func (t *target) lock(ctx context.Context) error {
	for _, text := range []string{lockLog, lockIDs} {
		if _, err := t.tx.Exec(ctx, text, t.s.o.Schema); err != nil {
			return err
		}
	}
	var empty bool
	err := t.tx.QueryRow(ctx, t.s.q("SELECT NOT EXISTS (SELECT FROM @entries) AND NOT EXISTS (SELECT FROM @receipts)")).Scan(&empty)
	if err == nil && !empty {
		err = fmt.Errorf("schema %s: %w", t.s.o.Schema, eventstore.ErrNotEmpty)
	}
	return err
}

// copyRows is how many rows are copied at once.
const copyRows = 250

// add takes rows of a table, and writes them when there are enough.
func (t *target) add(ctx context.Context, to table, rows [][]any) error {
	t.rows[to.name] = append(t.rows[to.name], rows...)
	if len(t.rows[to.name]) < copyRows {
		return nil
	}
	return t.flush(ctx, to)
}

func (t *target) flush(ctx context.Context, to table) error {
	rows := t.rows[to.name]
	delete(t.rows, to.name)
	_, err := t.tx.CopyFrom(ctx, pgx.Identifier{t.s.o.Schema, to.name}, to.columns, pgx.CopyFromRows(rows))
	return wrap(err, "copy %s", to.name)
}

// InsertCommit implements eventstore.Target.
func (t *target) InsertCommit(ctx context.Context, g *eventstore.Group) error {
	t.head, t.lastID = g.Chain().Position, max(t.lastID, g.GreatestID())
	return errors.Join(
		t.add(ctx, entries, column(g.Entries, entryRow)),
		t.add(ctx, commits, [][]any{commitRow(g)}),
		t.add(ctx, slugs, column(g.Slugs, slugRow)),
	)
}

// InsertRecords implements eventstore.Target.
func (t *target) InsertRecords(ctx context.Context, page []eventstore.Held) error {
	var errs []error
	for i := range page {
		h := &page[i]
		pair := func(c calendar.Claim) []any {
			return pairRow(eventstore.Pair{Space: c.Space, Key: c.Key, Record: h.ID})
		}
		errs = append(errs,
			t.add(ctx, records, [][]any{recordRow(h)}),
			t.add(ctx, claims, column(h.Claims, pair)),
			t.add(ctx, names, column(h.Names, func(n calendar.Name) []any { return pair(calendar.Claim(n)) })),
		)
	}
	return errors.Join(errs...)
}

// InsertRest implements eventstore.Target.
func (t *target) InsertRest(ctx context.Context, blank []eventstore.Entry, requests []eventstore.Receipt, signed []eventstore.Checkpoint, uuid [16]byte) error {
	t.rows[redacted.name] = column(blank, func(e eventstore.Entry) []any {
		return []any{number(e.Position), number(e.Redacted.By), e.Redacted.Bytes()}
	})
	t.rows[keptReceipts.name] = column(requests, func(r eventstore.Receipt) []any { return append(receiptRow(&r), r.Time.UnixMilli()) })
	t.rows[checkpoints.name] = column(signed, checkpointRow)
	for _, to := range []table{entries, commits, slugs, records, claims, names, redacted, keptReceipts, checkpoints} {
		if err := t.flush(ctx, to); err != nil {
			return err
		}
	}
	b := &pgx.Batch{}
	b.Queue(t.s.q("SELECT setval('@ids', $1::bigint) FROM @ids WHERE last_value < $1::bigint"), int64(t.lastID))
	b.Queue(t.s.q("UPDATE @identity SET uuid = $1::uuid"), uuid)
	b.Queue("SELECT pg_notify($1, $2)", t.s.o.Schema+"_head", t.head.String())
	return t.tx.SendBatch(ctx, b).Close()
}
