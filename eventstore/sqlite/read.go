package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

// readStatements are prepared once; the pool prepares them again on each of its
// connections.
type readStatements struct {
	record, version forSome

	history, entries, records, recordsOf, holder, named, receipt, commits, mark, leaves, holdings, identity *sql.Stmt
	pastStatements
}

// atOnce is how many records one statement looks up: a statement costs as much as some
// look-ups.
const atOnce = 16

// versionsAtOnce is the same for versions, which are read without their entries.
const versionsAtOnce = 64

// forSome is a query for one record, and for as many as it has places.
type forSome struct {
	one, some *sql.Stmt
	places    int
}

// of gives the statement for n records, from one to its places, and its arguments: their
// ids, then 0, which no record has.
func (f *forSome) of(n int, id func(i int) int64) (*sql.Stmt, []any) {
	stmt, places := f.one, 1
	if n > 1 {
		stmt, places = f.some, f.places
	}
	args := make([]any, 0, places+1)
	for i := range places {
		arg := int64(0)
		if i < n {
			arg = id(i)
		}
		args = append(args, arg)
	}
	return stmt, args
}

const (
	entryColumns = "e.position, e.kind, e.record, e.version, e.time, e.actor, e.change, e.client, e.request, e.reason," +
		" e.body, e.secret IS NOT NULL, e.secret, e.salts, x.by, x.hashes"
	fromEntries   = " FROM entries e LEFT JOIN redacted x ON x.position = e.position"
	heldColumns   = "id, kind, version, position, claims, names, secret, erased"
	recordsJoined = "SELECT r.id, r.kind, r.version, r.position, r.claims, r.names, r.secret, r.erased, e.body" +
		" FROM records r LEFT JOIN entries e ON e.position = r.position"
)

func (r *readStatements) prepare(ctx context.Context, db *sql.DB) error {
	r.record.places, r.atPosition.places, r.atTime.places, r.version.places = atOnce, atOnce, atOnce, versionsAtOnce
	for _, p := range []struct {
		to   **sql.Stmt
		text string
	}{
		{&r.record.one, recordsJoined + " WHERE r.id = ?"},
		{&r.record.some, recordsJoined + " WHERE r.id IN (" + repeat("?", atOnce) + ")"},
		{&r.version.one, "SELECT id, version FROM records WHERE id = ?"},
		{&r.version.some, "SELECT id, version FROM records WHERE id IN (" + repeat("?", versionsAtOnce) + ")"},
		{&r.history, "SELECT " + entryColumns + fromEntries + " WHERE e.record = ? AND e.version > ? ORDER BY e.version LIMIT ?"},
		{&r.entries, "SELECT " + entryColumns + fromEntries + " WHERE e.position > ? ORDER BY e.position LIMIT ?"},
		{&r.records, recordsJoined + " WHERE r.id > ? ORDER BY r.id LIMIT ?"},
		{&r.recordsOf, recordsJoined + " WHERE r.kind = ? AND r.id > ? ORDER BY r.id LIMIT ?"},
		{&r.holder, "SELECT record FROM claims WHERE space = ? AND key = ?"},
		{&r.named, "SELECT record FROM names WHERE space = ? AND key = ? ORDER BY record"},
		{&r.receipt, "SELECT " + receiptColumns + " FROM receipts WHERE user = ? AND key = ?"},
		{&r.commits, "SELECT first, last, hash FROM commits WHERE first > ? ORDER BY first LIMIT ?"},
		{&r.mark, "SELECT last, hash FROM commits WHERE first <= ? ORDER BY first DESC LIMIT 1"},
		{&r.leaves, "SELECT leaf FROM entries WHERE position > ? ORDER BY position LIMIT ?"},
		{&r.holdings, "SELECT id, claims, names FROM records WHERE id > ? ORDER BY id LIMIT ?"},
		{&r.identity, "SELECT uuid FROM identity"},
		{&r.atPosition.one, at("position", 1)},
		{&r.atPosition.some, at("position", atOnce)},
		{&r.atTime.one, at("time", 1)},
		{&r.atTime.some, at("time", atOnce)},
		{&r.lastAt, lastAt},
		{&r.greatestTo, greatestTo},
		{&r.greatestAt, greatestAt},
		{&r.slugs, "SELECT position, record FROM slugs WHERE kind = ? AND slug = ? ORDER BY position DESC"},
		{&r.former, "SELECT record FROM slugs WHERE kind = ?1 AND slug = ?2 AND NOT EXISTS (" +
			"SELECT 1 FROM claims WHERE space = ?3 AND key = ?2) GROUP BY record ORDER BY max(position) DESC LIMIT ?4"},
		{&r.checkpoint, checkpointColumns + "WHERE size = ?"},
		{&r.newest, checkpointColumns + "ORDER BY size DESC LIMIT 1"},
		{&r.checkpoints, checkpointColumns + "WHERE size > ? ORDER BY size LIMIT ?"},
	} {
		stmt, err := db.PrepareContext(ctx, p.text) //nolint:sqlclosecheck // ends with the pool
		if err != nil {
			return err
		}
		*p.to = stmt
	}
	return nil
}

// all runs a query and gives its rows; scan reads one.
func all[T any](ctx context.Context, s *Store, stmt *sql.Stmt, scan func(row) (T, error), args ...any) ([]T, error) {
	return some(ctx, s, stmt, scan, func(*T) bool { return true }, args...)
}

// paged runs a query and gives the rows that make a page.
func paged[T any, P eventstore.Sized[T]](ctx context.Context, s *Store, stmt *sql.Stmt, scan func(row) (T, error), args ...any) ([]T, error) {
	size := 0
	return some(ctx, s, stmt, scan, func(v *T) bool {
		size += P(v).Size()
		return size < eventstore.PageBytes
	}, args...)
}

// some runs a query and gives its rows, to the one after which no more are wanted.
func some[T any](ctx context.Context, s *Store, stmt *sql.Stmt, scan func(row) (T, error), more func(*T) bool, args ...any) ([]T, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	out, err := someRows(ctx, stmt, scan, more, args...)
	if err != nil && s.closing.Load() {
		err = eventstore.ErrClosed
	}
	return out, translate(ctx, err)
}

func allRows[T any](ctx context.Context, stmt *sql.Stmt, scan func(row) (T, error), args ...any) ([]T, error) {
	return someRows(ctx, stmt, scan, func(*T) bool { return true }, args...)
}

func someRows[T any](ctx context.Context, stmt *sql.Stmt, scan func(row) (T, error), more func(*T) bool, args ...any) ([]T, error) {
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err tells
	var out []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		if out = append(out, v); !more(&out[len(out)-1]) {
			return out, nil
		}
	}
	return out, rows.Err()
}

type row interface{ Scan(dest ...any) error }

func scanEntry(r row) (eventstore.Entry, error) {
	var (
		e         eventstore.Entry
		kind      string
		millis    int64
		hasSecret bool
		by        sql.NullInt64

		body, salts, hashes sql.RawBytes
	)
	err := r.Scan(&e.Position, &kind, &e.ID, &e.Version, &millis, &e.Actor, &e.Change,
		&e.Cause.Client, &e.Cause.Request, &e.Cause.Reason, &body, &hasSecret, &e.Secret, &salts, &by, &hashes)
	if err != nil {
		return e, err
	}
	e.Time = time.UnixMilli(millis).UTC()
	if by.Valid {
		e.Redacted, err = eventstore.RedactedOf(calendar.Position(by.Int64), hashes)
	}
	if err == nil {
		e.Salts, err = eventstore.SaltsOf(salts)
	}
	if err == nil && len(body) > 0 { // else it is blank
		e.Fields, e.State, _, err = unpackBody(nil, body)
	}
	if err != nil {
		return e, fmt.Errorf("entry %d: %w", e.Position, err)
	}
	if hasSecret && e.Secret == nil {
		e.Secret = []byte{}
	}
	if e.Kind, err = parseKind(kind); err != nil {
		return e, fmt.Errorf("entry %d: %w: %w", e.Position, eventstore.ErrDamaged, err)
	}
	return e, nil
}

// scanHeld reads a record without its state; more are columns after its own.
func scanHeld(r row, more ...any) (*eventstore.Held, error) {
	var (
		h             eventstore.Held
		kind          string
		claims, names []byte
	)
	if err := r.Scan(append([]any{&h.ID, &kind, &h.Version, &h.Position, &claims, &names, &h.Secret, &h.Erased}, more...)...); err != nil {
		return nil, err
	}
	var err error
	if h.Kind, err = parseKind(kind); err != nil {
		return nil, fmt.Errorf("record %d: %w: %w", h.ID, eventstore.ErrDamaged, err)
	}
	h.Claims, h.Names, err = decodeHeld(h.ID, claims, names)
	return &h, err
}

// scanRecords makes the scan of records with their states, which are those of their
// last entries.
func scanRecords() func(row) (*eventstore.Held, error) {
	var room []byte // of entries: only their states are kept
	return func(r row) (*eventstore.Held, error) {
		var body sql.RawBytes
		h, err := scanHeld(r, &body)
		if err != nil {
			return nil, err
		}
		var state []byte
		if body == nil {
			return nil, eventstore.Damaged(h.Position, "it is missing, record %d ends with it", h.ID)
		}
		_, state, room, err = unpackBody(room, body)
		if err != nil {
			return nil, fmt.Errorf("record %d: its last entry %d: %w", h.ID, h.Position, err)
		}
		h.Record = bytes.Clone(state)
		return h, nil
	}
}

// decodeHeld gives what a record holds.
func decodeHeld(id calendar.ID, claims, names []byte) (c []calendar.Claim, n []calendar.Name, err error) {
	if c, err = decodePairs[calendar.Claim](claims); err == nil {
		n, err = decodePairs[calendar.Name](names)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("record %d: %w: %w", id, eventstore.ErrDamaged, err)
	}
	return c, n, nil
}

func parseKind(s string) (calendar.Kind, error) {
	k, ok := calendar.ParseKind(s)
	if !ok {
		return 0, fmt.Errorf("unknown kind %q", s)
	}
	return k, nil
}

// pair is a claim or a name.
type pair interface {
	~struct{ Space, Key string }
}

// encodePairs gives the JSON of claims or names.
func encodePairs[P pair](all []P) ([]byte, error) {
	if len(all) == 0 {
		return []byte("[]"), nil
	}
	out := make([][2]string, len(all))
	for i, p := range all {
		c := calendar.Claim(p)
		out[i] = [2]string{c.Space, c.Key}
	}
	return json.Marshal(out)
}

func decodePairs[P pair](b []byte) ([]P, error) {
	if string(b) == "[]" {
		return nil, nil
	}
	var in [][2]string
	if err := json.Unmarshal(b, &in); err != nil {
		return nil, err
	}
	out := make([]P, len(in))
	for i, p := range in {
		out[i] = P(calendar.Claim{Space: p[0], Key: p[1]})
	}
	return out, nil
}

// Load does eventstore.Store.
func (s *Store) Load(ctx context.Context, ids ...calendar.ID) ([]eventstore.State, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	out := make([]eventstore.State, len(ids))
	var missing []int
	for i, id := range ids {
		if h := s.cache.get(id); h != nil {
			out[i] = h.State
		} else if int64(id) <= s.lastID.Load() {
			missing = append(missing, i)
		}
	}
	for some := range slices.Chunk(missing, atOnce) {
		if err := s.loadMissing(ctx, ids, some, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Versions does eventstore.Store.
func (s *Store) Versions(ctx context.Context, ids ...calendar.ID) ([]int64, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	out := make([]int64, len(ids))
	var missing []calendar.ID
	for i, id := range ids {
		if h := s.cache.get(id); h != nil {
			out[i] = h.Version
		} else {
			missing = append(missing, id)
		}
	}
	found := make(map[calendar.ID]int64, len(missing))
	for some := range slices.Chunk(missing, versionsAtOnce) {
		stmt, args := s.read.version.of(len(some), func(i int) int64 { return int64(some[i]) })
		_, err := all(ctx, s, stmt, func(r row) (struct{}, error) {
			var id calendar.ID
			var version int64
			err := r.Scan(&id, &version)
			found[id] = version
			return struct{}{}, err
		}, args...)
		if err != nil {
			return nil, fmt.Errorf("versions of %d records, the first %d: %w", len(some), some[0], err)
		}
	}
	for i, id := range ids {
		out[i] = max(out[i], found[id])
	}
	return out, nil
}

// loadMissing reads the records whose ids stand at some places, no more than atOnce.
func (s *Store) loadMissing(ctx context.Context, ids []calendar.ID, places []int, out []eventstore.State) error {
	found := make(map[calendar.ID]*eventstore.Held, len(places))
	for _, i := range places {
		s.cache.begin(ids[i])
	}
	defer func() {
		for _, i := range places {
			s.cache.end(ids[i], found[ids[i]])
		}
	}()
	stmt, args := s.read.record.of(len(places), func(i int) int64 { return int64(ids[places[i]]) })
	all, err := all(ctx, s, stmt, scanRecords(), args...)
	if err != nil {
		return fmt.Errorf("load %d records, the first %d: %w", len(places), ids[places[0]], err)
	}
	for _, h := range all {
		found[h.ID] = h
	}
	for _, i := range places {
		if h := found[ids[i]]; h != nil {
			out[i] = h.State
		}
	}
	return nil
}

// History does eventstore.Store.
func (s *Store) History(ctx context.Context, id calendar.ID, after int64, limit int) ([]eventstore.Entry, error) {
	out, err := paged(ctx, s, s.read.history, scanEntry, int64(id), after, max(limit, 0))
	return out, wrap(err, "history of record %d", id)
}

// ReadAll does eventstore.Store; the newest entries come from memory.
func (s *Store) ReadAll(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Entry, error) {
	if err := s.usable(ctx); err != nil {
		return nil, wrap(translate(ctx, err), "read entries after %d", after)
	}
	if out, ok := s.tail.read(after, s.signal.Head(), limit); ok {
		return out, nil
	}
	out, err := s.ReadStored(ctx, after, limit)
	// A commit can be read a moment before the head moves to it.
	for head := s.signal.Head(); len(out) > 0 && out[len(out)-1].Position > head; {
		out = out[:len(out)-1]
	}
	return out, err
}

// ReadStored implements eventstore.Verifier: whatever the head is, because states are
// read from the file as well.
func (s *Store) ReadStored(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Entry, error) {
	out, err := paged(ctx, s, s.read.entries, scanEntry, number(after), max(limit, 0))
	return out, wrap(err, "read entries after %d", after)
}

// Records does eventstore.Store.
func (s *Store) Records(ctx context.Context, kind calendar.Kind, after calendar.ID, limit int) ([]eventstore.State, error) {
	held := scanRecords()
	scan := func(r row) (eventstore.State, error) {
		h, err := held(r)
		if err != nil {
			return eventstore.State{}, err
		}
		return h.State, nil
	}
	if kind == 0 {
		out, err := paged(ctx, s, s.read.records, scan, int64(after), max(limit, 0))
		return out, wrap(err, "read records after %d", after)
	}
	out, err := paged(ctx, s, s.read.recordsOf, scan, kind.String(), int64(after), max(limit, 0))
	return out, wrap(err, "read records of kind %s after %d", kind, after)
}

// Find does eventstore.Store.
func (s *Store) Find(ctx context.Context, claims []calendar.Claim, names []calendar.Name) (holders []calendar.ID, found [][]calendar.ID, err error) {
	if err := s.usable(ctx); err != nil {
		return nil, nil, err
	}
	holders = make([]calendar.ID, len(claims))
	for i, c := range claims {
		if lacks(s.filter, c) {
			continue
		}
		ids, err := all(ctx, s, s.read.holder, scanID, c.Space, c.Key)
		if err != nil {
			return nil, nil, fmt.Errorf("find claim %s/%s: %w", c.Space, c.Key, err)
		}
		if len(ids) > 0 {
			holders[i] = ids[0]
		}
	}
	found = make([][]calendar.ID, len(names))
	for i, n := range names {
		if found[i], err = all(ctx, s, s.read.named, scanID, n.Space, n.Key); err != nil {
			return nil, nil, fmt.Errorf("find name %s/%s: %w", n.Space, n.Key, err)
		}
	}
	return holders, found, nil
}

// UUID does eventstore.Store.
func (s *Store) UUID(ctx context.Context) ([16]byte, error) {
	kept, err := all(ctx, s, s.read.identity, func(r row) (b []byte, err error) { return b, r.Scan(&b) })
	if err != nil {
		return [16]byte{}, wrap(err, "read the UUID")
	}
	return eventstore.UUIDOf(bytes.Join(kept, nil))
}

// Mark does eventstore.Store.
func (s *Store) Mark(ctx context.Context, p calendar.Position) (eventstore.Mark, error) {
	if p == 0 {
		return eventstore.Mark{}, s.usable(ctx)
	}
	type link struct {
		last calendar.Position
		hash []byte
	}
	found, err := all(ctx, s, s.read.mark, func(r row) (l link, err error) { return l, r.Scan(&l.last, &l.hash) }, p)
	switch {
	case err != nil:
		return eventstore.Mark{}, fmt.Errorf("mark of entry %d: %w", p, err)
	case len(found) == 0 || found[0].last < p:
		return eventstore.Mark{}, eventstore.ErrAhead
	}
	m := eventstore.Mark{Position: p}
	if copy(m.Hash[:], found[0].hash) != len(m.Hash) {
		return eventstore.Mark{}, fmt.Errorf("mark of entry %d: %w: hash of %d bytes", p, eventstore.ErrDamaged, len(found[0].hash))
	}
	return m, nil
}

// Epoch does eventstore.Store. Nobody else writes into the directory while it is
// held, so it never grows.
func (s *Store) Epoch() uint64 { return s.signal.Epoch() }

// Commits does eventstore.Verifier.
func (s *Store) Commits(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Commit, error) {
	scan := func(r row) (eventstore.Commit, error) {
		var c eventstore.Commit
		var hash []byte
		if err := r.Scan(&c.First, &c.Last, &hash); err != nil {
			return c, err
		}
		var err error
		c.Hash, err = digest(hash)
		return c, wrap(err, "commit %d", c.First)
	}
	out, err := all(ctx, s, s.read.commits, scan, number(after), max(limit, 0))
	return out, wrap(err, "read commits after %d", after)
}

// Leaves does eventstore.Verifier.
func (s *Store) Leaves(ctx context.Context, after calendar.Position, limit int) ([][32]byte, error) {
	scan := func(r row) ([32]byte, error) {
		var leaf []byte
		if err := r.Scan(&leaf); err != nil {
			return [32]byte{}, err
		}
		return digest(leaf)
	}
	out, err := all(ctx, s, s.read.leaves, scan, number(after), max(limit, 0))
	return out, wrap(err, "read leaves after %d", after)
}

const receiptColumns = "user, key, fingerprint, time, record, version, position, answer"

func scanReceipt(r row) (*eventstore.Receipt, error) {
	var (
		out         eventstore.Receipt
		fingerprint []byte
		millis      int64
	)
	if err := r.Scan(&out.User, &out.Key, &fingerprint, &millis, &out.Record, &out.Version, &out.Position, &out.Answer); err != nil {
		return nil, err
	}
	out.Time = time.UnixMilli(millis).UTC()
	var err error
	out.Fingerprint, err = digest(fingerprint)
	return &out, wrap(err, "receipt %q", out.Key)
}

func scanID(r row) (calendar.ID, error) {
	var id calendar.ID
	err := r.Scan(&id)
	return id, err
}

func digest(b []byte) ([32]byte, error) {
	if len(b) != 32 {
		return [32]byte{}, fmt.Errorf("%w: hash of %d bytes", eventstore.ErrDamaged, len(b))
	}
	return [32]byte(b), nil
}

// number gives a position as SQLite keeps it; those beyond its range are after
// every entry.
func number(p calendar.Position) int64 {
	return int64(min(p, math.MaxInt64))
}

func wrap(err error, format string, args ...any) error {
	if err == nil || errors.Is(err, eventstore.ErrClosed) {
		return err
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}
