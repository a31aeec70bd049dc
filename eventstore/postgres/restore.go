package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"daybook/calendar"
	"daybook/eventstore"
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

// target is a store that is filled.
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

func (t *target) add(to table, rows [][]any) { t.rows[to.name] = append(t.rows[to.name], rows...) }

// flush writes what was added, and runs further statements.
func (t *target) flush(ctx context.Context, b *pgx.Batch) error {
	for _, to := range []table{entries, commits, slugs, records, claims, names, redacted, keptReceipts, checkpoints} {
		t.s.put(b, to, t.rows[to.name])
	}
	clear(t.rows)
	return t.tx.SendBatch(ctx, b).Close()
}

// entriesAtOnce is how many entries are written at once, about.
const entriesAtOnce = 250

// InsertCommit implements eventstore.Target.
func (t *target) InsertCommit(ctx context.Context, g *eventstore.Group) error {
	t.add(entries, column(g.Entries, entryRow))
	t.add(commits, [][]any{commitRow(g)})
	t.add(slugs, column(g.Slugs, slugRow))
	t.head, t.lastID = g.Chain().Position, max(t.lastID, g.GreatestID())
	if len(t.rows[entries.name]) < entriesAtOnce {
		return nil
	}
	return t.flush(ctx, &pgx.Batch{})
}

// InsertRecords implements eventstore.Target.
func (t *target) InsertRecords(ctx context.Context, c eventstore.Changes) error {
	t.add(records, column(c.Records, recordRow))
	t.add(claims, column(c.Claims, pairRow))
	t.add(names, column(c.Names, pairRow))
	return t.flush(ctx, &pgx.Batch{})
}

// InsertRest implements eventstore.Target.
func (t *target) InsertRest(ctx context.Context, blank []eventstore.Entry, requests []eventstore.Receipt, signed []eventstore.Checkpoint, uuid [16]byte) error {
	t.add(redacted, column(blank, func(e eventstore.Entry) []any {
		return []any{number(e.Position), number(e.Redacted.By), e.Redacted.Bytes()}
	}))
	t.add(keptReceipts, column(requests, func(r eventstore.Receipt) []any { return append(receiptRow(&r), r.Time.UnixMilli()) }))
	t.add(checkpoints, column(signed, checkpointRow))
	b := &pgx.Batch{}
	b.Queue(t.s.q("SELECT setval('@ids', $1::bigint) FROM @ids WHERE last_value < $1::bigint"), int64(t.lastID))
	b.Queue(t.s.q("UPDATE @identity SET uuid = $1::uuid"), uuid)
	b.Queue("SELECT pg_notify($1, $2)", t.s.o.Schema+"_head", t.head.String())
	return t.flush(ctx, b)
}
