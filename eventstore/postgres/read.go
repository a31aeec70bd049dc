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
func all[T any](ctx context.Context, s *Store, scan pgx.RowToFunc[T], query string, args ...any) (out []T, err error) {
	err = s.request(ctx, func(b *pgx.Batch) {
		b.Queue(s.q(query), args...).Query(func(rows pgx.Rows) (err error) {
			out, err = pgx.CollectRows(rows, scan)
			return err
		})
	})
	return out, err
}

// pageOf returns a query for columns of the rows e of another one, in order, up to those
// that PageBytes let in: what has no room in a page is not even sent. Sizes are known
// without reading.
func pageOf(columns, rows, join, size, order string) string {
	return fmt.Sprintf("SELECT %[1]s FROM (SELECT *, sum(%[4]s) OVER (ORDER BY %[5]s) - %[4]s AS before FROM (%[2]s) p) e %[3]s "+
		"WHERE before < %[6]d ORDER BY e.%[5]s", columns, rows, join, size, order, eventstore.PageBytes)
}

const joinRedacted = " LEFT JOIN @redacted d ON d.position = e.position "

// Load implements eventstore.Store.
func (s *Store) Load(ctx context.Context, ids ...calendar.ID) ([]eventstore.State, error) {
	const query = "SELECT " + heldColumns + ", e.state, '', '' FROM @records r JOIN @entries e ON e.position = r.position WHERE r.id = ANY ($1::bigint[])"
	found, err := all(ctx, s, scanHeld, query, numbers(ids))
	if err != nil {
		return nil, wrap(err, "load records %d", ids)
	}
	return byID(ids, found, func(h *eventstore.Held) (calendar.ID, eventstore.State) { return h.ID, h.State }), nil
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
func (s *Store) At(ctx context.Context, p eventstore.Point, ids ...calendar.ID) ([]eventstore.Entry, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	counts, at := "position", number(p.Position)
	if p.Position == 0 {
		counts, at = "time", p.Time.UnixMilli()
	}
	found, err := all(ctx, s, scanEntry, "SELECT "+entryColumns+" FROM unnest($2::bigint[]) q (record) CROSS JOIN LATERAL "+
		"(SELECT * FROM @entries WHERE record = q.record AND "+counts+" <= $1::bigint ORDER BY version DESC LIMIT 1) e"+joinRedacted, at, numbers(ids))
	if err != nil {
		return nil, wrap(err, "records %d at a point", ids)
	}
	return byID(ids, found, func(e eventstore.Entry) (calendar.ID, eventstore.Entry) { return e.ID, e }), nil
}

// taking says that a record took the slug with a digest.
type taking struct {
	eventstore.Taken

	digest string
}

func scanTaking(r pgx.CollectableRow) (t taking, err error) {
	var digest []byte
	err = r.Scan(&digest, &t.Position, &t.Record)
	t.digest = string(digest)
	return t, err
}

// Find implements eventstore.Store.
func (s *Store) Find(ctx context.Context, l eventstore.Lookup) (f eventstore.Found, err error) {
	holders, named, taken := map[calendar.Claim]calendar.ID{}, map[calendar.Name][]calendar.ID{}, map[string][]eventstore.Taken{}
	err = s.request(ctx, func(b *pgx.Batch) {
		s.eachPair(b, claims, l.Claims, func(p eventstore.Pair) { holders[p.Claim] = p.Record })
		s.eachPair(b, names, l.Names, func(p eventstore.Pair) { named[p.Claim] = append(named[p.Claim], p.Record) })
		each(b, s.q("SELECT digest, position, record FROM @slugs WHERE digest = ANY ($1::bytea[]) ORDER BY position DESC"), scanTaking,
			func(t taking) { taken[t.digest] = append(taken[t.digest], t.Taken) }, column(l.Slugs, digest))
	})
	if err == nil && l.Signed.Limit > 0 {
		f.Signed, err = all(ctx, s, scanCheckpoint, "SELECT "+checkpointColumns+" FROM @checkpoints WHERE size > $1::bigint ORDER BY size LIMIT $2::bigint",
			after(l.Signed), l.Signed.Limit)
	}
	f.Holders = column(l.Claims, func(c calendar.Claim) calendar.ID { return holders[c] })
	f.Named = column(l.Names, func(n calendar.Name) []calendar.ID { return named[n] })
	f.Taken = column(l.Slugs, func(c calendar.Claim) []eventstore.Taken { return taken[string(digest(c))] })
	return f, wrap(err, "look up")
}

func after(r eventstore.Range) int64 { return int64(min(r.After, math.MaxInt64)) }

// Records implements eventstore.Store.
func (s *Store) Records(ctx context.Context, k calendar.Kind, after calendar.ID, limit int) ([]eventstore.Held, error) {
	where := "r.id > $1::bigint"
	if k != 0 { // in the text, which lets an index of some kinds be used
		where += " AND r.kind = '" + k.String() + "'"
	}
	found, err := all(ctx, s, scanHeld, pageOf("id, kind, version, position, secret, erased, state, claims, names",
		"SELECT "+heldColumns+", e.state, "+holdings+" FROM @records r JOIN @entries e ON e.position = r.position WHERE "+where+" ORDER BY r.id LIMIT $2::bigint",
		"", "octet_length(state)", "id"), int64(after), max(limit, 0))
	if err != nil || k != 0 || limit <= 0 {
		return column(found, held), wrap(err, "read records after %d", after)
	}
	last := int64(math.MaxInt64)
	if len(found) > 0 {
		last = int64(found[len(found)-1].ID)
	}
	stray, err := all(ctx, s, scanPair, `SELECT space, key, record FROM (SELECT space, key, record FROM @claims UNION ALL SELECT space, key, record FROM @names) x
		WHERE record > $1::bigint AND record <= $2::bigint AND NOT EXISTS (SELECT FROM @records r WHERE r.id = x.record) LIMIT 1`, int64(after), last)
	if err == nil && len(stray) > 0 {
		err = fmt.Errorf("%w: %s/%s is stored of record %d, which is not there", eventstore.ErrDamaged, stray[0].Space, stray[0].Key, stray[0].Record)
	}
	return column(found, held), wrap(err, "read records after %d", after)
}

func held(h *eventstore.Held) eventstore.Held { return *h }

// Read implements eventstore.Store.
func (s *Store) Read(ctx context.Context, r eventstore.Range) ([]eventstore.Entry, error) {
	where, order, args := "position > $1::bigint", "position", []any{after(r), max(r.Limit, 0)}
	if r.Record != 0 {
		where, order, args = "record = $3::bigint AND version > $1::bigint", "version", append(args, int64(r.Record))
	}
	out, err := all(ctx, s, scanEntry, pageOf(entryColumns, "SELECT * FROM @entries WHERE "+where+" ORDER BY "+order+" LIMIT $2::bigint",
		joinRedacted, "(octet_length(fields) + octet_length(state))", order), args...)
	return out, wrap(err, "read entries after %d", r.After)
}

// Commits implements eventstore.Store.
func (s *Store) Commits(ctx context.Context, from calendar.Position, limit int) ([]eventstore.Commit, error) {
	rows, err := all(ctx, s, func(r pgx.CollectableRow) (c eventstore.Commit, err error) {
		var hash, leaf []byte
		err = r.Scan(&c.First, &c.Last, &hash, &leaf)
		c.Complete(hash, leaf)
		return c, err
	}, `SELECT c.first, c.last, c.hash, e.leaf FROM (SELECT * FROM @commits WHERE last >= $1::bigint
			AND first >= coalesce((SELECT max(first) FROM @commits WHERE first <= $1::bigint), 0) ORDER BY first LIMIT $2::bigint) c
		CROSS JOIN LATERAL (SELECT position, leaf FROM @entries
			WHERE position BETWEEN c.first AND c.last ORDER BY position LIMIT c.last - c.first + 1) e ORDER BY c.first, e.position`, number(from), max(limit, 0))
	return eventstore.JoinLeaves(rows), wrap(err, "read commits from %d", from)
}

// Receipt implements eventstore.Store.
func (s *Store) Receipt(ctx context.Context, user calendar.ID, key string) (*eventstore.Receipt, error) {
	found, err := all(ctx, s, scanReceipt, "SELECT "+receiptColumns+" FROM @receipts WHERE digest = $1::bytea", receiptDigest(eventstore.ReceiptKey{User: user, Key: key}))
	if err != nil || len(found) == 0 {
		return nil, wrap(err, "receipt %q", key)
	}
	return found[0], wrap(s.Sync(ctx), "receipt %q", key)
}

// Head implements eventstore.Store.
func (s *Store) Head(ctx context.Context, p eventstore.Point) (h eventstore.Head, err error) {
	if p == (eventstore.Point{}) {
		err = s.request(ctx, nil)
		return s.signal.Head(), wrap(err, "read head")
	}
	if err := p.Check(); err != nil {
		return h, err
	}
	counted, at := "SELECT position, greatest(time, @last_time(position, time)) AS time FROM @entries WHERE position = $1::bigint", number(p.Position)
	if p.Position == 0 {
		counted = `SELECT greatest(position, @last_counted(position, $1::bigint)) AS position, time FROM (
			SELECT position, time FROM @entries WHERE time <= $1::bigint ORDER BY time DESC LIMIT 1) l`
		at = p.Time.UnixMilli()
	}
	found, err := all(ctx, s, func(r pgx.CollectableRow) (h eventstore.Head, err error) {
		var millis int64
		var hash []byte
		err = r.Scan(&h.Position, &millis, &hash)
		copy(h.Hash[:], hash)
		h.Time = time.UnixMilli(millis).UTC()
		return h, err
	}, "SELECT c.position, c.time, k.hash FROM ("+counted+") c CROSS JOIN LATERAL (SELECT hash FROM @commits WHERE first <= c.position ORDER BY first DESC LIMIT 1) k", at)
	if h = s.signal.Head(); err != nil {
		return h, wrap(err, "look what counts")
	}
	switch h.Mark = (calendar.Mark{}); {
	case len(found) > 0:
		h.Mark, h.Time = found[0].Mark, found[0].Time
	case p.Position > 0:
		return h, eventstore.ErrAhead
	}
	return h, nil
}

// Epoch implements eventstore.Store.
func (s *Store) Epoch() eventstore.Epoch { return s.signal.Epoch() }
