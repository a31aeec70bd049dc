package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/maypok86/otter/v2"

	"daybook/calendar"
	"daybook/eventstore"
)

// The queries that several methods use; what follows them selects and orders. A limit is
// "+?": each value for a plain "?" there makes the engine prepare the statement again.
const (
	entryQuery = `SELECT e.position, e.kind, e.record, e.version, e.time, e.actor, e.change, e.client, e.request, e.reason,
		e.body, e.secret IS NOT NULL, e.secret, e.salts, coalesce(x.by, 0), x.hashes FROM entries e LEFT JOIN redacted x ON x.position = e.position `
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
func (s *Store) Load(ctx context.Context, ids ...calendar.ID) ([]eventstore.State, error) {
	out := make([]eventstore.State, len(ids))
	for i, id := range ids {
		h, err := s.held(ctx, s.reader, id)
		if err != nil {
			return nil, err
		}
		if h != nil {
			out[i] = h.State
		}
	}
	return out, s.usable(ctx)
}

// held returns a record from the cache or the file, nil for none. What a commit may have
// overtaken is not cached.
func (s *Store) held(ctx context.Context, on *statements, id calendar.ID) (*eventstore.Held, error) {
	if h, ok := s.cache.GetIfPresent(id); ok {
		return h, nil
	}
	commits := s.commits.Load()
	found, err := all(ctx, on, heldQuery+"WHERE r.id = ?", scanHeld, int64(id))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	s.cache.Compute(id, func(*eventstore.Held, bool) (*eventstore.Held, otter.ComputeOp) {
		if s.commits.Load() != commits {
			return nil, otter.CancelOp
		}
		return &found[0], otter.WriteOp
	})
	return &found[0], nil
}

// At implements eventstore.Store.
func (s *Store) At(ctx context.Context, p eventstore.Point, ids ...calendar.ID) ([]eventstore.Entry, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	column, at := "position", number(p.Position)
	if p.Position == 0 {
		column, at = "time", p.Time.UnixMilli()
	}
	wanted, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	found, err := all(ctx, s.reader, entryQuery+`JOIN json_each(?1) w ON e.position = (SELECT position FROM entries INDEXED BY entries_history
		WHERE record = w.value AND `+column+" <= ?2 ORDER BY version DESC LIMIT 1)", scanEntry, string(wanted), at)
	if err != nil {
		return nil, err
	}
	last := make(map[calendar.ID]eventstore.Entry, len(found))
	for i := range found {
		last[found[i].ID] = found[i]
	}
	out := make([]eventstore.Entry, len(ids))
	for i, id := range ids {
		out[i] = last[id]
	}
	return out, nil
}

// Find implements eventstore.Store.
func (s *Store) Find(ctx context.Context, l eventstore.Lookup) (f eventstore.Found, err error) {
	ids := func(text string, c calendar.Claim) (found []calendar.ID) {
		if err == nil {
			found, err = all(ctx, s.reader, text, value[calendar.ID], c.Space, c.Key)
		}
		return found
	}
	for _, c := range l.Claims {
		f.Holders = append(f.Holders, append(ids(holderQuery, c), 0)[0])
	}
	for _, n := range l.Names {
		f.Named = append(f.Named, ids("SELECT record FROM names WHERE space = ? AND key = ? ORDER BY record", n))
	}
	for _, c := range l.Slugs {
		taken, readErr := all(ctx, s.reader, "SELECT position, record FROM slugs WHERE space = ? AND key = ? ORDER BY position DESC",
			func(r row) (t eventstore.Taken, err error) {
				t.Claim = c
				err = r.Scan(&t.Position, &t.Record)
				return t, err
			}, c.Space, c.Key)
		f.Taken, err = append(f.Taken, taken), cmp.Or(err, readErr)
	}
	if l.Signed.Limit > 0 && err == nil {
		f.Signed, err = all(ctx, s.reader, checkpointQuery+"WHERE size > ? ORDER BY size LIMIT +?", scanCheckpoint, number(calendar.Position(l.Signed.After)), l.Signed.Limit)
	}
	return f, cmp.Or(err, s.usable(ctx))
}

// Records implements eventstore.Store.
func (s *Store) Records(ctx context.Context, k calendar.Kind, after calendar.ID, limit int) ([]eventstore.Held, error) {
	where, args := "WHERE r.id > ? ORDER BY r.id LIMIT +?", []any{int64(after), max(limit, 0)}
	if k != 0 {
		where, args = "WHERE r.kind = ? AND r.id > ? ORDER BY r.id LIMIT +?", append([]any{k.String()}, args...)
	}
	size := func(h *eventstore.Held) int { return h.Size() }
	found, err := page(ctx, s.reader, heldQuery+where, scanHeld, size, args...)
	if err != nil {
		return nil, err
	}
	if k != 0 || limit <= 0 {
		return found, nil
	}
	last := int64(math.MaxInt64)
	if len(found) > 0 {
		last = int64(found[len(found)-1].ID)
	}
	const strays = `WHERE record > ?1 AND record <= ?2 AND NOT EXISTS (SELECT 1 FROM records r WHERE r.id = record)`
	stray, err := one(ctx, s.reader, "SELECT space || ' ' || key || ' of record ' || record FROM (SELECT * FROM claims "+strays+
		" UNION ALL SELECT * FROM names "+strays+") LIMIT 1", value[string], int64(after), last)
	if err == nil && stray != "" {
		err = fmt.Errorf("%w: %s is stored, which is not there", eventstore.ErrDamaged, stray)
	}
	return found, err
}

// Read implements eventstore.Store.
func (s *Store) Read(ctx context.Context, r eventstore.Range) ([]eventstore.Entry, error) {
	where, args := "WHERE e.position > ? ORDER BY e.position LIMIT +?", []any{number(calendar.Position(r.After)), max(r.Limit, 0)}
	if r.Record != 0 {
		where, args = "WHERE e.record = ? AND e.version > ? ORDER BY e.version LIMIT +?", append([]any{int64(r.Record)}, args...)
	}
	out, err := page(ctx, s.reader, entryQuery+where, scanEntry, (*eventstore.Entry).Size, args...)
	if err != nil {
		return nil, err
	}
	// A commit can be read a moment before the head moves to it.
	head := s.signal.Head().Position
	return slices.DeleteFunc(out, func(e eventstore.Entry) bool { return r.Record == 0 && e.Position > head }), nil
}

// Commits implements eventstore.Store.
func (s *Store) Commits(ctx context.Context, from calendar.Position, limit int) ([]eventstore.Commit, error) {
	commits, err := all(ctx, s.reader, `SELECT first, last, hash,
		(SELECT unhex(group_concat(hex(leaf), '' ORDER BY position)) FROM entries WHERE position BETWEEN first AND last)
		FROM commits WHERE first >= (SELECT max(first) FROM commits WHERE first <= ?1) AND last >= ?1 ORDER BY first LIMIT +?2`,
		func(r row) (c eventstore.Commit, err error) {
			var hash, leaves sql.RawBytes
			err = r.Scan(&c.First, &c.Last, &hash, &leaves)
			c.Complete(hash, leaves)
			return c, err
		}, number(max(from, 1)), max(limit, 0))
	return commits, err
}

// Receipt implements eventstore.Store.
func (s *Store) Receipt(ctx context.Context, user calendar.ID, key string) (*eventstore.Receipt, error) {
	return one(ctx, s.reader, receiptQuery+"WHERE user = ? AND key = ?", scanReceipt, int64(user), key)
}

// Head implements eventstore.Store.
func (s *Store) Head(ctx context.Context, p eventstore.Point) (eventstore.Head, error) {
	h := s.signal.Head()
	if p == (eventstore.Point{}) {
		return h, s.usable(ctx)
	}
	if err := p.Check(); err != nil {
		return h, err
	}
	if p.Position > h.Position {
		return h, eventstore.ErrAhead
	}
	greatest, arg := greatestToQuery, number(p.Position)
	if p.Position == 0 {
		greatest, arg = "SELECT max(time) FROM entries WHERE time <= ?", p.Time.UnixMilli()
		last, err := one(ctx, s.reader, lastAtQuery, value[calendar.Position], arg)
		if err != nil || last == 0 {
			h.Mark = calendar.Mark{}
			return h, err
		}
		// A commit can be read a moment before the head moves to it.
		if h, err = eventstore.Wait(ctx, s, last-1); err != nil {
			return h, err
		}
		p.Position = last
	}
	mark, err := one(ctx, s.reader, markQuery, scanMark, number(p.Position))
	if err == nil && mark.Position < p.Position {
		err = fmt.Errorf("%w: no commit has entry %d", eventstore.ErrDamaged, p.Position)
	}
	if err != nil {
		return h, err
	}
	millis, err := one(ctx, s.reader, greatest, value[int64], arg)
	h.Mark, h.Time = calendar.Mark{Position: p.Position, Hash: mark.Hash}, time.UnixMilli(millis).UTC()
	return h, err
}

// Epoch implements eventstore.Store. No one else writes into the file, so the history
// stays the same.
func (s *Store) Epoch() eventstore.Epoch { return s.signal.Epoch() }

// NewIDs implements eventstore.Store.
func (s *Store) NewIDs(ctx context.Context, n int) (calendar.ID, error) {
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	return calendar.ID(s.lastID.Add(int64(n)) - int64(n) + 1), nil
}

// Receipts yields the receipts that are stored, for a Copy.
func (s *Store) Receipts(ctx context.Context) iter.Seq2[eventstore.Receipt, error] {
	return func(yield func(eventstore.Receipt, error) bool) {
		found, err := all(ctx, s.reader, receiptQuery, scanReceipt)
		for _, r := range found {
			if !yield(*r, nil) {
				return
			}
		}
		if err != nil {
			yield(eventstore.Receipt{}, fmt.Errorf("read receipts: %w", err))
		}
	}
}

// Integrity reads every page of the file. ErrDamaged: it is not whole.
func (s *Store) Integrity(ctx context.Context) error {
	var found string
	err := translate(s.reader.db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&found))
	if err == nil && found != "ok" {
		err = fmt.Errorf("%w: the file: %s", eventstore.ErrDamaged, found)
	}
	return err
}

// number returns a position as SQLite stores it; those beyond its range are after every
// entry.
func number(p calendar.Position) int64 { return int64(min(p, math.MaxInt64)) }
