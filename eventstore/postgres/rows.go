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
	for i, text := range into {
		column, kind, _ := strings.Cut(text, " ")
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

func entryRow(entry eventstore.Entry) []any {
	return []any{
		number(entry.Position), int64(entry.ID), entry.Version, entry.Time.UnixMilli(), int64(entry.Actor), entry.Kind.String(), entry.Change, entry.Leaf[:],
		entry.Cause.Client, entry.Cause.Request, entry.Cause.Reason, notNull(entry.Fields), notNull(entry.State), entry.Secret, entry.Salts[:],
	}
}

func notNull(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

func commitRow(commit eventstore.Commit) []any {
	return []any{number(commit.First), number(commit.Last), commit.Hash[:]}
}

func redactedRow(entry eventstore.Entry) []any {
	return []any{number(entry.Position), number(entry.Redacted.By), entry.Redacted.Bytes()}
}

func recordRow(held *eventstore.Held) []any {
	return []any{int64(held.ID), held.Kind.String(), held.Version, number(held.Position), held.Secret, held.Erased}
}

func pairRow(pair eventstore.Pair) []any {
	return []any{digest(pair.Claim), int64(pair.Record), pair.Space, pair.Key}
}

func slugRow(taken eventstore.TakenClaim) []any {
	return []any{digest(taken.Claim), number(taken.Position), int64(taken.Record)}
}

func receiptRow(receipt *eventstore.Receipt) []any {
	return []any{receiptDigest(receipt.ReceiptKey), int64(receipt.User), receipt.Key, receipt.Fingerprint[:], int64(receipt.Record), receipt.Version, number(receipt.Position)}
}

func checkpointRow(checkpoint eventstore.Checkpoint) []any {
	return []any{number(checkpoint.Size), checkpoint.Origin, checkpoint.Note, checkpoint.Time.UnixMilli(), checkpoint.Keys}
}

// put queues the insert of rows.
func (store *Store) put(batch *pgx.Batch, table table, rows [][]any) {
	if len(rows) == 0 {
		return
	}
	lists := make([]any, len(rows[0]))
	for i, value := range rows[0] {
		switch value.(type) {
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
	batch.Queue(store.q(table.insert), lists...)
}

// list returns a column of rows.
func list[T any](rows [][]any, index int) []T {
	return column(rows, func(row []any) T { value, _ := row[index].(T); return value })
}

// column returns what a function makes of each of a list, never nil: for PostgreSQL that
// is no list.
func column[T, V any](from []T, of func(T) V) []V {
	result := make([]V, len(from))
	for i, value := range from {
		result[i] = of(value)
	}
	return result
}

// each queues a query for a list, unless that is empty, and what is done with each row.
func each[T, V any](batch *pgx.Batch, query string, scan pgx.RowToFunc[T], do func(T), list []V, more ...any) {
	if len(list) == 0 {
		return
	}
	batch.Queue(query, append([]any{list}, more...)...).Query(func(rows pgx.Rows) error {
		found, err := pgx.CollectRows(rows, scan)
		for _, value := range found {
			do(value)
		}
		return err
	})
}

// eachPair queues what is done with each record that has one of a list of claims or names.
func (store *Store) eachPair(batch *pgx.Batch, table table, list []calendar.Claim, do func(eventstore.Pair)) {
	each(batch, store.q("SELECT space, key, record FROM @"+table.name+" WHERE digest = ANY ($1::bytea[]) ORDER BY record"), scanPair, do, column(list, digest))
}

// The columns that the scan functions read.
const (
	entryColumns = "e.position, e.kind, e.record, e.version, e.time, e.actor, e.change, e.client, e.request, e.reason, e.fields, e.state, e.secret, " +
		"e.salts, e.leaf, coalesce(c.first, 0), coalesce(c.last, 0), c.hash, coalesce(d.by, 0), d.hashes"
	// leafColumns are entryColumns without those that are not Position, Leaf and Commit.
	leafColumns = "e.position, '', 0, 0, 0, 0, '', '', '', '', ''::bytea, ''::bytea, NULL::bytea, ''::bytea, e.leaf, coalesce(c.first, 0), coalesce(c.last, 0), c.hash, 0, NULL::bytea"
	heldColumns = "r.id, r.kind, r.version, r.position, r.secret, r.erased"
	// holdings are the claims and names of a record r as JSON.
	holdings = "coalesce((SELECT json_agg(json_build_object('space', space, 'key', key)) FROM @claims x WHERE x.record = r.id)::text, '') AS claims, " +
		"coalesce((SELECT json_agg(json_build_object('space', space, 'key', key)) FROM @names x WHERE x.record = r.id)::text, '') AS names"
	receiptColumns    = "user_id, key, fingerprint, record, version, position, kept"
	checkpointColumns = "size, origin, note, time, keys"
)

func scanEntry(row pgx.CollectableRow) (entry eventstore.Entry, err error) {
	var kind string
	var millis int64
	var salts, leaf, hash, hashes []byte
	var position calendar.Position
	err = row.Scan(&entry.Position, &kind, &entry.ID, &entry.Version, &millis, &entry.Actor, &entry.Change,
		&entry.Cause.Client, &entry.Cause.Request, &entry.Cause.Reason, (*[]byte)(&entry.Fields), (*[]byte)(&entry.State), &entry.Secret, &salts, &leaf, &entry.Commit.First, &entry.Commit.Last, &hash, &position, &hashes)
	entry.Time = time.UnixMilli(millis).UTC()
	if entry.Complete(kind, salts, leaf, hash, position, hashes); position > 0 && len(entry.Fields)+len(entry.State) == 0 { // else an erasure left text
		entry.Fields, entry.State = nil, nil
	}
	return entry, err
}

func scanHeld(row pgx.CollectableRow) (held eventstore.Held, err error) {
	var kind, claims, names string
	err = row.Scan(&held.ID, &kind, &held.Version, &held.Position, &held.Secret, &held.Erased, (*[]byte)(&held.Record), &claims, &names)
	held.Complete(kind, claims, names)
	return held, err
}

func scanPair(row pgx.CollectableRow) (pair eventstore.Pair, err error) {
	return pair, row.Scan(&pair.Space, &pair.Key, &pair.Record)
}

func scanReceipt(row pgx.CollectableRow) (*eventstore.Receipt, error) {
	receipt := &eventstore.Receipt{}
	var fingerprint []byte
	var kept int64
	err := row.Scan(&receipt.User, &receipt.Key, &fingerprint, &receipt.Record, &receipt.Version, &receipt.Position, &kept)
	copy(receipt.Fingerprint[:], fingerprint)
	receipt.Time = time.UnixMilli(kept).UTC()
	return receipt, err
}

func scanCheckpoint(row pgx.CollectableRow) (checkpoint eventstore.Checkpoint, err error) {
	var millis int64
	err = row.Scan(&checkpoint.Size, &checkpoint.Origin, &checkpoint.Note, &millis, &checkpoint.Keys)
	checkpoint.Time = time.UnixMilli(millis).UTC()
	return checkpoint, err
}

// number returns a position as PostgreSQL stores it; those beyond its range are after
// every entry.
func number(position calendar.Position) int64 { return int64(min(position, math.MaxInt64)) }

// digest is what a claim or a name is found by: keys may be longer than an index takes.
func digest(claim calendar.Claim) []byte {
	data := binary.BigEndian.AppendUint64(nil, uint64(len(claim.Space)))
	digest := sha256.Sum256(append(append(data, claim.Space...), claim.Key...))
	return digest[:]
}

// receiptDigest is what a receipt is found by.
func receiptDigest(receiptKey eventstore.ReceiptKey) []byte {
	digest := sha256.Sum256(append(binary.BigEndian.AppendUint64(nil, uint64(receiptKey.User)), receiptKey.Key...))
	return digest[:]
}
