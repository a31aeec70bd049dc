package postgres

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"daybook/calendar"
	"daybook/eventstore"
)

// table is one that rows are put into.
type table struct {
	name   string
	insert string // of many rows, column by column
}

// newTable returns the table with columns, "position bigint, record bigint"; conflict is what
// happens with a row that is there.
func newTable(name, columns, conflict string) table {
	into := strings.Split(columns, ", ")
	lists := make([]string, len(into))
	for i, c := range into {
		column, kind, _ := strings.Cut(c, " ")
		into[i], lists[i] = column, fmt.Sprintf("$%d::%s[]", i+1, kind)
	}
	return table{name, fmt.Sprintf("INSERT INTO @%s (%s) SELECT * FROM unnest(%s) %s", name, strings.Join(into, ", "), strings.Join(lists, ", "), conflict)}
}

const receiptForm = "digest bytea, user_id bigint, key text, fingerprint bytea, record bigint, version bigint, position bigint"

var (
	entries = newTable("entries", "position bigint, record bigint, version bigint, time bigint, actor bigint, kind text, change text, leaf bytea, "+
		"client text, request text, reason text, fields bytea, state bytea, secret bytea, salts bytea", "")
	commits = newTable("commits", "first bigint, last bigint, hash bytea", "")
	records = newTable("records", "id bigint, kind text, version bigint, position bigint, secret bytea, erased boolean", "ON CONFLICT (id) "+
		"DO UPDATE SET version = excluded.version, position = excluded.position, secret = excluded.secret, erased = excluded.erased")
	claims      = newTable("claims", "digest bytea, record bigint, space text, key text", "")
	names       = newTable("names", "digest bytea, record bigint, space text, key text", "")
	slugs       = newTable("slugs", "digest bytea, position bigint, record bigint", "ON CONFLICT DO NOTHING")
	receipts    = newTable("receipts", receiptForm, "")
	redacted    = newTable("redacted", "position bigint, by bigint, hashes bytea", "")
	checkpoints = newTable("checkpoints", "size bigint, origin text, note bytea, time bigint, keys text", "ON CONFLICT (size) DO UPDATE SET note = excluded.note")

	// keptReceipts are receipts with when they were kept, which is now for the others.
	keptReceipts = newTable("receipts", receiptForm+", kept bigint", "")
)

func entryRow(e eventstore.Entry) []any {
	return []any{
		number(e.Position), int64(e.ID), e.Version, e.Time.UnixMilli(), int64(e.Actor), e.Kind.String(), e.Change, e.Leaf[:],
		e.Cause.Client, e.Cause.Request, e.Cause.Reason, notNull(e.Fields), notNull(e.State), e.Secret, e.Salts.Bytes(),
	}
}

func notNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func commitRow(c eventstore.Commit) []any {
	return []any{number(c.First), number(c.Last), c.Hash[:]}
}

func redactedRow(e eventstore.Entry) []any {
	return []any{number(e.Position), number(e.Redacted.By), e.Redacted.Bytes()}
}

func recordRow(h *eventstore.Held) []any {
	return []any{int64(h.ID), h.Kind.String(), h.Version, number(h.Position), h.Secret, h.Erased}
}

func pairRow(p eventstore.Pair) []any {
	return []any{digest(p.Claim), int64(p.Record), p.Space, p.Key}
}

func slugRow(t eventstore.Taken) []any {
	return []any{digest(t.Claim), number(t.Position), int64(t.Record)}
}

func receiptRow(r *eventstore.Receipt) []any {
	return []any{receiptDigest(r.Name()), int64(r.User), r.Key, r.Fingerprint[:], int64(r.Record), r.Version, number(r.Position)}
}

func checkpointRow(c eventstore.Checkpoint) []any {
	return []any{number(c.Size), c.Origin, c.Note, c.Time.UnixMilli(), c.Keys}
}

// put queues the insert of rows.
func (s *Store) put(b *pgx.Batch, t table, rows [][]any) {
	if len(rows) == 0 {
		return
	}
	lists := make([]any, len(rows[0]))
	for i, v := range rows[0] {
		switch v.(type) {
		case int64:
			lists[i] = list[int64](rows, i)
		case string:
			lists[i] = list[string](rows, i)
		case bool:
			lists[i] = list[bool](rows, i)
		default:
			lists[i] = list[[]byte](rows, i)
		}
	}
	b.Queue(s.q(t.insert), lists...)
}

// list returns a column of rows.
func list[T any](rows [][]any, at int) []T {
	return column(rows, func(row []any) T { v, _ := row[at].(T); return v })
}

// drop queues the delete of claims or names.
func (s *Store) drop(b *pgx.Batch, t table, pairs []eventstore.Pair) {
	if len(pairs) > 0 {
		b.Queue(s.q("DELETE FROM @"+t.name+" x USING unnest($1::bytea[], $2::bigint[]) p (digest, record) WHERE x.digest = p.digest AND x.record = p.record"),
			column(pairs, func(p eventstore.Pair) []byte { return digest(p.Claim) }), column(pairs, func(p eventstore.Pair) int64 { return int64(p.Record) }))
	}
}

// column returns what a function makes of each of a list, never nil: for PostgreSQL that
// is no list.
func column[T, V any](from []T, of func(T) V) []V {
	out := make([]V, len(from))
	for i, v := range from {
		out[i] = of(v)
	}
	return out
}

// each queues a query for a list, unless that is empty, and what is done with each row.
func each[T, V any](b *pgx.Batch, query string, scan pgx.RowToFunc[T], do func(T), list []V, more ...any) {
	if len(list) == 0 {
		return
	}
	b.Queue(query, append([]any{list}, more...)...).Query(func(rows pgx.Rows) error {
		found, err := pgx.CollectRows(rows, scan)
		for _, v := range found {
			do(v)
		}
		return err
	})
}

// eachPair queues what is done with each record that has one of a list of claims or names.
func (s *Store) eachPair(b *pgx.Batch, in table, list []calendar.Claim, do func(eventstore.Pair)) {
	each(b, s.q("SELECT space, key, record FROM @"+in.name+" WHERE digest = ANY ($1::bytea[]) ORDER BY record"), scanPair, do, column(list, digest))
}

// The columns that the scan functions read.
const (
	entryColumns = "e.position, e.kind, e.record, e.version, e.time, e.actor, e.change, e.client, e.request, e.reason, e.fields, e.state, e.secret, " +
		"e.salts, coalesce(d.by, 0), d.hashes"
	heldColumns = "r.id, r.kind, r.version, r.position, r.secret, r.erased"
	// holdings are the claims and names of a record r as JSON.
	holdings = "coalesce((SELECT json_agg(json_build_object('space', space, 'key', key)) FROM @claims x WHERE x.record = r.id)::text, '') AS claims, " +
		"coalesce((SELECT json_agg(json_build_object('space', space, 'key', key)) FROM @names x WHERE x.record = r.id)::text, '') AS names"
	receiptColumns    = "user_id, key, fingerprint, record, version, position, kept"
	checkpointColumns = "size, origin, note, time, keys"
)

func scanEntry(r pgx.CollectableRow) (e eventstore.Entry, err error) {
	var kind string
	var millis int64
	var salts, hashes []byte
	var by calendar.Position
	err = r.Scan(&e.Position, &kind, &e.ID, &e.Version, &millis, &e.Actor, &e.Change,
		&e.Cause.Client, &e.Cause.Request, &e.Cause.Reason, (*[]byte)(&e.Fields), (*[]byte)(&e.State), &e.Secret, &salts, &by, &hashes)
	e.Time = time.UnixMilli(millis).UTC()
	if e.Complete(kind, salts, by, hashes); by > 0 && len(e.Fields)+len(e.State) == 0 { // else an erasure left text
		e.Fields, e.State = nil, nil
	}
	return e, err
}

func scanHeld(r pgx.CollectableRow) (h eventstore.Held, err error) {
	var kind, claims, names string
	err = r.Scan(&h.ID, &kind, &h.Version, &h.Position, &h.Secret, &h.Erased, (*[]byte)(&h.Record), &claims, &names)
	h.Complete(kind, claims, names)
	return h, err
}

func scanPair(r pgx.CollectableRow) (p eventstore.Pair, err error) {
	return p, r.Scan(&p.Space, &p.Key, &p.Record)
}

func scanReceipt(r pgx.CollectableRow) (*eventstore.Receipt, error) {
	out := &eventstore.Receipt{}
	var fingerprint []byte
	var kept int64
	err := r.Scan(&out.User, &out.Key, &fingerprint, &out.Record, &out.Version, &out.Position, &kept)
	copy(out.Fingerprint[:], fingerprint)
	out.Time = time.UnixMilli(kept).UTC()
	return out, err
}

func scanCheckpoint(r pgx.CollectableRow) (c eventstore.Checkpoint, err error) {
	var millis int64
	err = r.Scan(&c.Size, &c.Origin, &c.Note, &millis, &c.Keys)
	c.Time = time.UnixMilli(millis).UTC()
	return c, err
}

func scanLeaf(r pgx.CollectableRow) (e eventstore.Entry, err error) {
	var leaf []byte
	err = r.Scan(&e.Position, &leaf)
	copy(e.Leaf[:], leaf)
	return e, err
}

// number returns a position as PostgreSQL stores it; those beyond its range are after
// every entry.
func number(p calendar.Position) int64 { return int64(min(p, math.MaxInt64)) }

// digest is what a claim or a name is found by: keys may be longer than an index takes.
func digest(c calendar.Claim) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(len(c.Space)))
	sum := sha256.Sum256(append(append(b, c.Space...), c.Key...))
	return sum[:]
}

// receiptDigest is what a receipt is found by.
func receiptDigest(k eventstore.ReceiptKey) []byte {
	sum := sha256.Sum256(append(binary.BigEndian.AppendUint64(nil, uint64(k.User)), k.Key...))
	return sum[:]
}
