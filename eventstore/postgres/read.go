package postgres

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"daybook/calendar"
	"daybook/eventstore"
)

// all runs a query and returns its rows; scan reads one.
func all[T any](ctx context.Context, store *Store, scan pgx.RowToFunc[T], query string, args ...any) (results []T, err error) {
	err = store.request(ctx, func(batch *pgx.Batch) {
		batch.Queue(store.q(query), args...).Query(func(rows pgx.Rows) (err error) {
			results, err = pgx.CollectRows(rows, scan)
			return err
		})
	})
	return results, err
}

// pageOf returns a query for columns of the rows e of another one, in order, up to those
// that PageBytes let in: what has no room in a page is not even sent. Sizes are known
// without reading.
func pageOf(columns, rows, join, size, order string) string {
	return fmt.Sprintf("SELECT %[1]s FROM (SELECT *, sum(%[4]s) OVER (ORDER BY %[5]s) - %[4]s AS before FROM (%[2]s) p) e %[3]s "+
		"WHERE before < %[6]d ORDER BY e.%[5]s", columns, rows, join, size, order, eventstore.PageBytes)
}

// joinEntry joins what the columns of an entry are read from besides.
const joinEntry = " LEFT JOIN @redacted d ON d.position = e.position LEFT JOIN @commits c ON c.first = (SELECT max(first) FROM @commits WHERE first <= e.position) "

// Load implements eventstore.Store.
func (store *Store) Load(ctx context.Context, ids ...calendar.ID) ([]eventstore.State, error) {
	const query = "SELECT " + heldColumns + ", e.state, '', '' FROM @records r JOIN @entries e ON e.position = r.position WHERE r.id = ANY ($1::bigint[])"
	found, err := all(ctx, store, scanHeld, query, numbers(ids))
	if err != nil {
		return nil, err
	}
	return byID(ids, found, func(held eventstore.Held) (calendar.ID, eventstore.State) { return held.ID, held.State }), nil
}

// byID returns what was found in the order of ids, zero values for those not found.
func byID[T, V any](ids []calendar.ID, found []T, of func(T) (calendar.ID, V)) []V {
	values := make(map[calendar.ID]V, len(found))
	for _, f := range found {
		id, v := of(f)
		values[id] = v
	}
	return column(ids, func(id calendar.ID) V { return values[id] })
}

func numbers(ids []calendar.ID) []int64 {
	return column(ids, func(id calendar.ID) int64 { return int64(id) })
}

// At implements eventstore.Store.
func (store *Store) At(ctx context.Context, point eventstore.Point, ids ...calendar.ID) ([]eventstore.Entry, error) {
	counts, instant := "position", number(point.Position)
	if point.Position == 0 {
		counts, instant = "time", point.Time.UnixMilli()
	}
	found, err := all(ctx, store, scanEntry, "SELECT "+entryColumns+" FROM unnest($2::bigint[]) q (record) CROSS JOIN LATERAL "+
		"(SELECT * FROM @entries WHERE record = q.record AND "+counts+" <= $1::bigint ORDER BY version DESC LIMIT 1) e"+joinEntry, instant, numbers(ids))
	if err != nil {
		return nil, err
	}
	return byID(ids, found, func(entry eventstore.Entry) (calendar.ID, eventstore.Entry) { return entry.ID, entry }), nil
}

// Find implements eventstore.Store.
func (store *Store) Find(ctx context.Context, lookup eventstore.Lookup) (found eventstore.Found, err error) {
	const asked = " FROM unnest($1::bytea[]) WITH ORDINALITY q (digest, n) "
	err = store.request(ctx, func(batch *pgx.Batch) {
		each(batch, store.q("SELECT coalesce(record, 0)"+asked+"LEFT JOIN @claims USING (digest) ORDER BY n"), pgx.RowTo[calendar.ID],
			func(id calendar.ID) { found.Holders = append(found.Holders, id) }, column(lookup.Claims, digest))
		each(batch, store.q("SELECT ARRAY (SELECT record FROM @names WHERE digest = q.digest ORDER BY record)"+asked+"ORDER BY n"), pgx.RowTo[[]calendar.ID],
			func(ids []calendar.ID) { found.Named = append(found.Named, ids) }, column(lookup.Names, digest))
		each(batch, store.q("SELECT n - 1, position, record"+asked+"JOIN @slugs USING (digest) ORDER BY n, position DESC"), func(row pgx.CollectableRow) (taken eventstore.TakenClaim, err error) {
			var index int
			if err = row.Scan(&index, &taken.Position, &taken.Record); err == nil {
				taken.Claim = lookup.Slugs[index]
			}
			return taken, err
		}, func(taken eventstore.TakenClaim) { found.Taken = append(found.Taken, taken) }, column(lookup.Slugs, digest))
	})
	if err == nil && lookup.Signed.Limit > 0 {
		order := "size"
		if lookup.Signed.Recent {
			order = "size DESC"
		}
		found.Signed, err = all(ctx, store, scanCheckpoint, "SELECT "+checkpointColumns+" FROM @checkpoints WHERE size > $1::bigint ORDER BY "+order+" LIMIT $2::bigint",
			number(calendar.Position(lookup.Signed.After)), lookup.Signed.Limit)
	}
	return found, err
}

// Records implements eventstore.Store.
func (store *Store) Records(ctx context.Context, kind calendar.Kind, after calendar.ID, limit int) ([]eventstore.Held, error) {
	where := "r.id > $1::bigint"
	if kind != 0 { // in the text, which lets an index of some kinds be used
		where += " AND r.kind = '" + kind.String() + "'"
	}
	found, err := all(ctx, store, scanHeld, pageOf("id, kind, version, position, secret, erased, state, claims, names",
		"SELECT "+heldColumns+", e.state, "+holdings+" FROM @records r JOIN @entries e ON e.position = r.position WHERE "+where+" ORDER BY r.id LIMIT $2::bigint",
		"", "octet_length(state)", "id"), int64(after), max(limit, 0))
	if err != nil || kind != 0 || limit <= 0 {
		return found, err
	}
	last := int64(math.MaxInt64)
	if len(found) > 0 {
		last = int64(found[len(found)-1].ID)
	}
	stray, err := all(ctx, store, pgx.RowTo[string], `SELECT space || ' ' || key || ' of record ' || record FROM (SELECT space, key, record FROM @claims UNION ALL SELECT space, key, record FROM @names) x
		WHERE record > $1::bigint AND record <= $2::bigint AND NOT EXISTS (SELECT FROM @records r WHERE r.id = x.record) LIMIT 1`, int64(after), last)
	if err == nil && len(stray) > 0 {
		err = fmt.Errorf("%w: %s is stored, which is not there", eventstore.ErrDamaged, stray[0])
	}
	return found, err
}

// Read implements eventstore.Store.
func (store *Store) Read(ctx context.Context, bounds eventstore.Range) ([]eventstore.Entry, error) {
	where, order, args := "position > $1::bigint", "position", []any{number(calendar.Position(bounds.After)), max(bounds.Limit, 0)}
	if bounds.Record != 0 {
		where, order, args = "record = $3::bigint AND version > $1::bigint", "version", append(args, int64(bounds.Record))
	}
	columns, size := entryColumns, "(octet_length(fields) + octet_length(state))"
	if bounds.Leaves {
		columns, size = leafColumns, "0"
	}
	return all(ctx, store, scanEntry, pageOf(columns, "SELECT * FROM @entries WHERE "+where+" ORDER BY "+order+" LIMIT $2::bigint", joinEntry, size, order), args...)
}

// Receipt implements eventstore.Store.
func (store *Store) Receipt(ctx context.Context, user calendar.ID, key string) (*eventstore.Receipt, error) {
	found, err := all(ctx, store, scanReceipt, "SELECT "+receiptColumns+" FROM @receipts WHERE digest = $1::bytea", receiptDigest(eventstore.ReceiptKey{User: user, Key: key}))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], store.Sync(ctx)
}

// Head implements eventstore.Store.
func (store *Store) Head(ctx context.Context, point eventstore.Point) (head eventstore.Head, err error) {
	if point == (eventstore.Point{}) {
		err = store.request(ctx, nil)
		return store.signal.Head(), err
	}
	counted, instant := "SELECT position, greatest(time, @last_time(position, time)) AS time FROM @entries WHERE position = $1::bigint", number(point.Position)
	if point.Position == 0 {
		counted = `SELECT greatest(position, @last_counted(position, $1::bigint)) AS position, time FROM (
			SELECT position, time FROM @entries WHERE time <= $1::bigint ORDER BY time DESC LIMIT 1) l`
		instant = point.Time.UnixMilli()
	}
	found, err := all(ctx, store, func(row pgx.CollectableRow) (head eventstore.Head, err error) {
		var millis int64
		var hash []byte
		err = row.Scan(&head.Position, &millis, &hash)
		copy(head.Hash[:], hash)
		head.Time = time.UnixMilli(millis).UTC()
		return head, err
	}, "SELECT c.position, c.time, k.hash FROM ("+counted+") c CROSS JOIN LATERAL (SELECT hash FROM @commits WHERE first <= c.position ORDER BY first DESC LIMIT 1) k", instant)
	if head = store.signal.Head(); err != nil {
		return head, err
	}
	switch head.Mark = (calendar.Mark{}); {
	case len(found) > 0:
		head.Mark, head.Time = found[0].Mark, found[0].Time
	case point.Position > 0:
		return head, eventstore.ErrAhead
	}
	return head, nil
}

// Epoch implements eventstore.Store.
func (store *Store) Epoch() eventstore.Epoch { return store.signal.Epoch() }
