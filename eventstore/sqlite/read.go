package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/maypok86/otter/v2"

	"daybook/calendar"
	"daybook/eventstore"
)

// The queries that several methods use; what follows them selects and orders. A limit is
// "+?": each value for a plain "?" there makes the engine prepare the statement again.
const (
	entryQuery = `SELECT e.position, e.kind, e.record, e.version, e.time, e.actor, e.change, e.client, e.request, e.reason,
		e.body, e.secret IS NOT NULL, e.secret, e.salts, e.leaf, coalesce(c.first, 0), coalesce(c.last, 0), c.hash,
		coalesce(x.by, 0), x.hashes FROM entries e LEFT JOIN commits c ON c.first = (SELECT max(first) FROM commits WHERE first <= e.position)
		LEFT JOIN redacted x ON x.position = e.position `
	heldQuery = `SELECT r.id, r.kind, r.version, r.position, r.secret, r.erased, e.body,
		(SELECT json_group_array(json_object('space', space, 'key', key)) FROM claims WHERE record = r.id),
		(SELECT json_group_array(json_object('space', space, 'key', key)) FROM names WHERE record = r.id)
		FROM records r LEFT JOIN entries e ON e.position = r.position `
	holderQuery     = "SELECT record FROM claims WHERE space = ? AND key = ?"
	receiptQuery    = "SELECT user, key, fingerprint, kept, record, version, position FROM receipts "
	checkpointQuery = "SELECT size, origin, note, time, keys FROM checkpoints "
	// endQuery returns a row for an empty log, too.
	endQuery = `SELECT coalesce((SELECT max(position) FROM entries), 0), coalesce((SELECT max(id) FROM records), 0),
		coalesce(c.last, 0), coalesce(c.hash, zeroblob(32)) FROM (SELECT 1) LEFT JOIN (SELECT last, hash FROM commits ORDER BY first DESC LIMIT 1) c`
	markQuery = "SELECT last, hash FROM commits WHERE first <= ? ORDER BY first DESC LIMIT 1"

	// Times need not rise with positions. Which index serves is said where the engine might
	// take another one.
	lastAtQuery = `WITH b (at) AS (SELECT block * 1024 FROM times WHERE least <= ?1 ORDER BY block DESC LIMIT 1)
		SELECT position FROM b CROSS JOIN entries NOT INDEXED
		WHERE position >= b.at AND position < b.at + 1024 AND time <= ?1 ORDER BY position DESC LIMIT 1`
	greatestToQuery = `SELECT max(t) FROM (SELECT max(greatest) AS t FROM times WHERE block < ?1 / 1024
		UNION ALL SELECT max(time) FROM entries NOT INDEXED WHERE position >= ?1 / 1024 * 1024 AND position <= ?1)`
)

// Load implements eventstore.Store.
func (store *Store) Load(ctx context.Context, ids ...calendar.ID) ([]eventstore.State, error) {
	states := make([]eventstore.State, len(ids))
	for i, id := range ids {
		held, err := store.held(ctx, store.reader, id)
		if err != nil {
			return nil, err
		}
		if held != nil {
			states[i] = held.State
		}
	}
	return states, store.usable(ctx)
}

// held returns a record from the cache or the file, nil for none. What a commit may have
// overtaken is not cached.
func (store *Store) held(ctx context.Context, statements *statements, id calendar.ID) (*eventstore.Held, error) {
	if held, ok := store.cache.GetIfPresent(id); ok {
		return held, nil
	}
	commits := store.commits.Load()
	found, err := all(ctx, statements, heldQuery+"WHERE r.id = ?", scanHeld, int64(id))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	store.cache.Compute(id, func(*eventstore.Held, bool) (*eventstore.Held, otter.ComputeOp) {
		if store.commits.Load() != commits {
			return nil, otter.CancelOp
		}
		return &found[0], otter.WriteOp
	})
	return &found[0], nil
}

// At implements eventstore.Store.
func (store *Store) At(ctx context.Context, point eventstore.Point, ids ...calendar.ID) ([]eventstore.Entry, error) {
	column, instant := "position", number(point.Position)
	if point.Position == 0 {
		column, instant = "time", point.Time.UnixMilli()
	}
	wanted, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	found, err := all(ctx, store.reader, entryQuery+`JOIN json_each(?1) w ON e.position = (SELECT position FROM entries INDEXED BY entries_history
		WHERE record = w.value AND `+column+" <= ?2 ORDER BY version DESC LIMIT 1)", scanEntry, string(wanted), instant)
	if err != nil {
		return nil, err
	}
	last := make(map[calendar.ID]eventstore.Entry, len(found))
	for i := range found {
		last[found[i].ID] = found[i]
	}
	entries := make([]eventstore.Entry, len(ids))
	for i, id := range ids {
		entries[i] = last[id]
	}
	return entries, nil
}

// Find implements eventstore.Store.
func (store *Store) Find(ctx context.Context, lookup eventstore.Lookup) (f eventstore.Found, err error) {
	ids := func(text string, claim calendar.Claim) (found []calendar.ID) {
		if err == nil {
			found, err = all(ctx, store.reader, text, value[calendar.ID], claim.Space, claim.Key)
		}
		return found
	}
	for _, claim := range lookup.Claims {
		f.Holders = append(f.Holders, append(ids(holderQuery, claim), 0)[0])
	}
	for _, name := range lookup.Names {
		f.Named = append(f.Named, ids("SELECT record FROM names WHERE space = ? AND key = ? ORDER BY record", name))
	}
	for _, claim := range lookup.Slugs {
		taken, readErr := all(ctx, store.reader, "SELECT position, record FROM slugs WHERE space = ? AND key = ? ORDER BY position DESC",
			func(r row) (takenClaim eventstore.TakenClaim, err error) {
				takenClaim.Claim = claim
				return takenClaim, r.Scan(&takenClaim.Position, &takenClaim.Record)
			}, claim.Space, claim.Key)
		f.Taken, err = append(f.Taken, taken...), cmp.Or(err, readErr)
	}
	if lookup.Signed.Limit > 0 && err == nil {
		order := "size"
		if lookup.Signed.Recent {
			order = "size DESC"
		}
		f.Signed, err = all(ctx, store.reader, checkpointQuery+"WHERE size > ? ORDER BY "+order+" LIMIT +?", scanCheckpoint, number(calendar.Position(lookup.Signed.After)), lookup.Signed.Limit)
	}
	return f, cmp.Or(err, store.usable(ctx))
}

// Records implements eventstore.Store.
func (store *Store) Records(ctx context.Context, kind calendar.Kind, after calendar.ID, limit int) ([]eventstore.Held, error) {
	where, args := "WHERE r.id > ? ORDER BY r.id LIMIT +?", []any{int64(after), max(limit, 0)}
	if kind != 0 {
		where, args = "WHERE r.kind = ? AND r.id > ? ORDER BY r.id LIMIT +?", append([]any{kind.String()}, args...)
	}
	found, err := page(ctx, store.reader, heldQuery+where, scanHeld, (*eventstore.Held).Size, args...)
	if err != nil {
		return nil, err
	}
	if kind != 0 || limit <= 0 {
		return found, nil
	}
	last := int64(math.MaxInt64)
	if len(found) > 0 {
		last = int64(found[len(found)-1].ID)
	}
	const strays = `WHERE record > ?1 AND record <= ?2 AND NOT EXISTS (SELECT 1 FROM records r WHERE r.id = record)`
	stray, err := one(ctx, store.reader, "SELECT space || ' ' || key || ' of record ' || record FROM (SELECT * FROM claims "+strays+
		" UNION ALL SELECT * FROM names "+strays+") LIMIT 1", value[string], int64(after), last)
	if err == nil && stray != "" {
		err = fmt.Errorf("%w: %s is stored, which is not there", eventstore.ErrDamaged, stray)
	}
	return found, err
}

// leavesQuery is entryQuery without what needs more than the first page of a record.
const leavesQuery = `SELECT e.position, e.leaf, coalesce(c.first, 0), coalesce(c.last, 0), c.hash
	FROM entries e LEFT JOIN commits c ON c.first = (SELECT max(first) FROM commits WHERE first <= e.position) `

func scanLeaf(row row) (entry eventstore.Entry, err error) {
	var position, first, last int64 // database/sql scans them faster than named types
	var leaf, hash sql.RawBytes
	err = row.Scan(&position, &leaf, &first, &last, &hash)
	entry.Position, entry.Commit.First, entry.Commit.Last = calendar.Position(position), calendar.Position(first), calendar.Position(last)
	copy(entry.Leaf[:], leaf)
	copy(entry.Commit.Hash[:], hash)
	return entry, err
}

// Read implements eventstore.Store. Who follows the log often asks before there is more.
func (store *Store) Read(ctx context.Context, bounds eventstore.Range) ([]eventstore.Entry, error) {
	query, scan, where, bound := entryQuery, scanEntry, "e.record = ? AND e.version > ? ORDER BY e.version", int64(bounds.Record)
	if bounds.Leaves {
		query, scan = leavesQuery, scanLeaf
	}
	if bounds.Record == 0 {
		head := store.signal.Head().Position // a commit can be read a moment before
		switch group := store.newest.Load(); {
		case bounds.After >= uint64(head):
			return nil, store.usable(ctx)
		case bounds.Recent && group != nil && bounds.After+1 == uint64(group.Entries[0].Position) && len(group.Entries) <= bounds.Limit:
			return group.Entries, store.usable(ctx)
		}
		where, bound = "e.position <= ? AND e.position > ? ORDER BY e.position", number(head)
	}
	return page(ctx, store.reader, query+"WHERE "+where+" LIMIT +?", scan, (*eventstore.Entry).Size, bound, number(calendar.Position(bounds.After)), max(bounds.Limit, 0))
}

// Receipt implements eventstore.Store.
func (store *Store) Receipt(ctx context.Context, user calendar.ID, key string) (*eventstore.Receipt, error) {
	return one(ctx, store.reader, receiptQuery+"WHERE user = ? AND key = ?", scanReceipt, int64(user), key)
}

// Head implements eventstore.Store.
func (store *Store) Head(ctx context.Context, point eventstore.Point) (eventstore.Head, error) {
	head := store.signal.Head()
	if point == (eventstore.Point{}) {
		return head, store.usable(ctx)
	}
	if point.Position > head.Position {
		return head, eventstore.ErrAhead
	}
	greatest, arg := greatestToQuery, number(point.Position)
	if point.Position == 0 {
		greatest, arg = "SELECT max(time) FROM entries WHERE time <= ?", point.Time.UnixMilli()
		last, err := one(ctx, store.reader, lastAtQuery, value[calendar.Position], arg)
		if err != nil || last == 0 {
			head.Mark = calendar.Mark{}
			return head, err
		}
		// A commit can be read a moment before the head moves to it.
		if head, err = eventstore.Wait(ctx, store, last-1); err != nil {
			return head, err
		}
		point.Position = last
	}
	mark, err := one(ctx, store.reader, markQuery, scanMark, number(point.Position))
	if err == nil && mark.Position < point.Position {
		err = fmt.Errorf("%w: no commit has entry %d", eventstore.ErrDamaged, point.Position)
	}
	if err != nil {
		return head, err
	}
	millis, err := one(ctx, store.reader, greatest, value[int64], arg)
	head.Mark, head.Time = calendar.Mark{Position: point.Position, Hash: mark.Hash}, time.UnixMilli(millis).UTC()
	return head, err
}

// Epoch implements eventstore.Store. No one else writes into the file, so the history
// stays the same.
func (store *Store) Epoch() eventstore.Epoch { return store.signal.Epoch() }

// NewID implements eventstore.Store.
func (store *Store) NewID(ctx context.Context) (calendar.ID, error) {
	return calendar.ID(store.lastID.Add(1)), store.usable(ctx)
}

// Receipts returns the receipts that are stored, for a Copy.
func (store *Store) Receipts(ctx context.Context) ([]*eventstore.Receipt, error) {
	return all(ctx, store.reader, receiptQuery, scanReceipt)
}

// Integrity reads every page of the file. ErrDamaged: it is not whole.
func (store *Store) Integrity(ctx context.Context) error {
	var found string
	err := translate(store.reader.database.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&found))
	if err == nil && found != "ok" {
		err = fmt.Errorf("%w: the file: %s", eventstore.ErrDamaged, found)
	}
	return err
}

// number returns a position as SQLite stores it; those beyond its range are after every
// entry.
func number(position calendar.Position) int64 { return int64(min(position, math.MaxInt64)) }

// statements prepares each text once, on a connection or on a pool of them.
type statements struct {
	database *sql.DB
	on       interface { // db, or a connection of it
		PrepareContext(ctx context.Context, text string) (*sql.Stmt, error)
		Close() error
	}
	usable func(context.Context) error // an error that hides those of the engine

	mutex  sync.Mutex
	byText map[string]*sql.Stmt
}

func (statements *statements) of(ctx context.Context, text string) (*sql.Stmt, error) {
	statements.mutex.Lock()
	defer statements.mutex.Unlock()
	if stmt := statements.byText[text]; stmt != nil {
		return stmt, nil
	}
	stmt, err := statements.on.PrepareContext(ctx, text) //nolint:sqlclosecheck // kept until close
	if err != nil {
		return nil, err
	}
	if statements.byText == nil {
		statements.byText = map[string]*sql.Stmt{}
	}
	statements.byText[text] = stmt
	return stmt, nil
}

func (statements *statements) exec(ctx context.Context, text string, args ...any) error {
	stmt, err := statements.of(ctx, text) //nolint:sqlclosecheck // kept until close
	if err == nil {
		_, err = stmt.ExecContext(ctx, args...)
	}
	return err
}

// close closes the statements first: with one of them open the engine keeps the file open.
func (statements *statements) close() error {
	statements.mutex.Lock()
	defer statements.mutex.Unlock()
	var errs []error
	for _, stmt := range statements.byText {
		errs = append(errs, stmt.Close())
	}
	statements.byText = nil
	return errors.Join(append(errs, statements.on.Close(), statements.database.Close())...)
}

type row interface{ Scan(dest ...any) error }

// all runs a query and returns its rows; scan reads one.
func all[T any](ctx context.Context, statements *statements, text string, scan func(row) (T, error), args ...any) ([]T, error) {
	return page(ctx, statements, text, scan, func(*T) int { return 0 }, args...)
}

// page runs a query and returns its rows up to the one that passes PageBytes. It is short,
// and not cut off: to watch the context costs the driver a good part of a look-up.
func page[T any](ctx context.Context, statements *statements, text string, scan func(row) (T, error), size func(*T) int, args ...any) (results []T, err error) {
	if err := statements.usable(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			results, err = nil, cmp.Or(statements.usable(ctx), translate(err))
		}
	}()
	stmt, err := statements.of(ctx, text) //nolint:sqlclosecheck // kept until close
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(context.WithoutCancel(ctx), args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err returns what matters
	for left := eventstore.PageBytes; left > 0 && rows.Next(); {
		value, err := scan(rows)
		if err != nil {
			return nil, err
		}
		results = append(results, value)
		left -= size(&results[len(results)-1])
	}
	return results, rows.Err()
}

// one returns the first row, the zero value for none.
func one[T any](ctx context.Context, statements *statements, text string, scan func(row) (T, error), args ...any) (value T, err error) {
	found, err := all(ctx, statements, text, scan, args...)
	if len(found) > 0 {
		value = found[0]
	}
	return value, err
}

// value scans a row of one column.
func value[T any](row row) (v T, err error) {
	err = row.Scan(&v)
	return v, err
}

func scanEntry(row row) (entry eventstore.Entry, err error) {
	var (
		kind                            string
		millis                          int64
		position                        calendar.Position
		hasSecret                       bool
		body, salts, leaf, hash, hashes sql.RawBytes
	)
	if err := row.Scan(&entry.Position, &kind, &entry.ID, &entry.Version, &millis, &entry.Actor, &entry.Change,
		&entry.Cause.Client, &entry.Cause.Request, &entry.Cause.Reason, &body, &hasSecret, &entry.Secret, &salts, &leaf, &entry.Commit.First, &entry.Commit.Last, &hash, &position, &hashes); err != nil {
		return entry, err
	}
	if hasSecret && entry.Secret == nil {
		entry.Secret = []byte{}
	}
	entry.Time = time.UnixMilli(millis).UTC()
	entry.Complete(kind, salts, leaf, hash, position, hashes)
	if entry.Fields, entry.State, err = unpackBody(body); err != nil {
		err = fmt.Errorf("entry %d: %w", entry.Position, err)
	}
	return entry, err
}

func scanHeld(row row) (held eventstore.Held, err error) {
	var kind, claims, names string
	var body sql.RawBytes
	if err := row.Scan(&held.ID, &kind, &held.Version, &held.Position, &held.Secret, &held.Erased, &body, &claims, &names); err != nil {
		return held, err
	}
	held.Complete(kind, claims, names)
	if body == nil {
		return held, eventstore.Damaged(held.Position, "it is missing, record %d ends with it", held.ID)
	}
	if _, held.Record, err = unpackBody(body); err != nil {
		err = fmt.Errorf("record %d: %w", held.ID, err)
	}
	return held, err
}

func scanReceipt(row row) (*eventstore.Receipt, error) {
	receipt := &eventstore.Receipt{}
	var fingerprint sql.RawBytes
	var millis int64
	err := row.Scan(&receipt.User, &receipt.Key, &fingerprint, &millis, &receipt.Record, &receipt.Version, &receipt.Position)
	copy(receipt.Fingerprint[:], fingerprint)
	receipt.Time = time.UnixMilli(millis).UTC()
	return receipt, err
}

func scanCheckpoint(row row) (checkpoint eventstore.Checkpoint, err error) {
	var millis int64
	err = row.Scan(&checkpoint.Size, &checkpoint.Origin, &checkpoint.Note, &millis, &checkpoint.Keys)
	checkpoint.Time = time.UnixMilli(millis).UTC()
	return checkpoint, err
}

func scanMark(row row) (mark calendar.Mark, err error) {
	var hash sql.RawBytes
	err = row.Scan(&mark.Position, &hash)
	copy(mark.Hash[:], hash)
	return mark, err
}

// end is where the log ends.
type end struct {
	calendar.Mark

	lastID calendar.ID // the greatest one of a record
}

func scanEnd(row row) (end end, err error) {
	var last calendar.Position
	var hash sql.RawBytes
	err = row.Scan(&end.Position, &end.lastID, &last, &hash)
	copy(end.Hash[:], hash)
	if err == nil && last != end.Position {
		err = eventstore.Damaged(min(end.Position, last)+1, "the last entry is %d, the last commit ends at %d", end.Position, last)
	}
	return end, err
}
