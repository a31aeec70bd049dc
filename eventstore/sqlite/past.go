package sqlite

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

// timeBlock is for how many positions a row of times is.
const timeBlock = 1024

// Statements that keep the past.
const (
	addSlugs = "INSERT OR IGNORE INTO slugs (kind, slug, position, record) VALUES %s"
	addTimes = `INSERT INTO times (block, least, greatest) VALUES %s
		ON CONFLICT (block) DO UPDATE SET least = min(least, excluded.least), greatest = max(greatest, excluded.greatest)`
)

// timesOf gives the rows of times of entries.
func timesOf(entries []written) []any {
	var out []any
	for from := 0; from < len(entries); {
		block := entries[from].entry.Position / timeBlock
		least, greatest := int64(math.MaxInt64), int64(math.MinInt64)
		for from < len(entries) && entries[from].entry.Position/timeBlock == block {
			millis := entries[from].entry.Time.UnixMilli()
			least, greatest = min(least, millis), max(greatest, millis)
			from++
		}
		out = append(out, number(block), least, greatest)
	}
	return out
}

// slugRows gives the rows of slugs.
func slugRows(taken []eventstore.SlugTaken) []any {
	out := make([]any, 0, 4*len(taken))
	for _, t := range taken {
		out = append(out, t.Kind.String(), t.Slug, number(t.Position), int64(t.Record))
	}
	return out
}

// pastStatements are those of readStatements for the past.
type pastStatements struct {
	atPosition, atTime                                                             forSome
	lastAt, greatestTo, greatestAt, slugs, former, checkpoint, newest, checkpoints *sql.Stmt
}

// The queries of the past. Which index serves is said where the engine might take
// another one.
const (
	lastAt = `WITH b (at) AS (SELECT block * 1024 FROM times WHERE least <= ?1 ORDER BY block DESC LIMIT 1)
		SELECT position FROM b CROSS JOIN entries NOT INDEXED
		WHERE position >= b.at AND position < b.at + 1024 AND time <= ?1 ORDER BY position DESC LIMIT 1`
	greatestTo = `SELECT max(t) FROM (SELECT max(greatest) AS t FROM times WHERE block < ?1 / 1024
		UNION ALL SELECT max(time) FROM entries NOT INDEXED WHERE position >= ?1 / 1024 * 1024 AND position <= ?1)`
	greatestAt        = "SELECT time FROM entries WHERE time <= ? ORDER BY time DESC LIMIT 1"
	checkpointColumns = "SELECT size, origin, note, time, keys FROM checkpoints "
)

// at is the query of the last entries of n records up to a point.
func at(column string, n int) string {
	return "WITH wanted (id) AS (VALUES " + repeat("(?)", n) + ") SELECT " + entryColumns + ` FROM wanted w CROSS JOIN entries e ON e.position = (
		SELECT position FROM entries INDEXED BY entries_history WHERE record = w.id AND ` + column + ` <= ? ORDER BY version DESC LIMIT 1)
		LEFT JOIN redacted x ON x.position = e.position`
}

// At does eventstore.Past.
func (s *Store) At(ctx context.Context, p eventstore.Point, ids ...calendar.ID) ([]eventstore.Entry, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	query, to := &s.read.atPosition, number(p.Position)
	if p.Position == 0 {
		query, to = &s.read.atTime, p.Time.UnixMilli()
	}
	last := make(map[calendar.ID]eventstore.Entry, len(ids))
	for some := range slices.Chunk(ids, atOnce) {
		stmt, args := query.of(len(some), func(i int) int64 { return int64(some[i]) })
		found, err := all(ctx, s, stmt, scanEntry, append(args, to)...)
		if err != nil {
			return nil, wrap(err, "records %v at a point", some)
		}
		for i := range found {
			last[found[i].ID] = found[i]
		}
	}
	out := make([]eventstore.Entry, len(ids))
	for i, id := range ids {
		out[i] = last[id]
	}
	return out, nil
}

// Counted does eventstore.Past.
func (s *Store) Counted(ctx context.Context, p eventstore.Point) (c eventstore.Counted, err error) {
	if err := p.Check(); err != nil {
		return c, err
	}
	if p.Position > s.signal.Head() {
		return c, eventstore.ErrAhead
	}
	greatest, arg := s.read.greatestTo, number(p.Position)
	c.Position = p.Position
	if p.Position == 0 {
		greatest, arg = s.read.greatestAt, p.Time.UnixMilli()
		last, err := all(ctx, s, s.read.lastAt, func(r row) (p calendar.Position, err error) { return p, r.Scan(&p) }, arg)
		if err != nil || len(last) == 0 {
			return c, wrap(err, "last entry at a time")
		}
		// A commit can be read a moment before the head moves to it.
		if _, err := s.signal.Wait(ctx, last[0]-1); err != nil {
			return c, err
		}
		c.Position = last[0]
	}
	times, err := all(ctx, s, greatest, func(r row) (millis int64, err error) { return millis, r.Scan(&millis) }, arg)
	if err != nil || len(times) == 0 {
		return eventstore.Counted{}, wrap(err, "time of the entries that count")
	}
	c.Time = time.UnixMilli(times[0]).UTC()
	return c, nil
}

// SlugAt does eventstore.Past.
func (s *Store) SlugAt(ctx context.Context, kind calendar.Kind, slug string, p eventstore.Point) (calendar.ID, error) {
	if err := p.Check(); err != nil {
		return 0, err
	}
	took, err := s.Takings(ctx, kind, slug)
	if err != nil {
		return 0, err
	}
	return eventstore.SlugAmong(ctx, s, took, slug, p)
}

// Takings returns who took a slug with which entry, the last one first.
func (s *Store) Takings(ctx context.Context, kind calendar.Kind, slug string) ([]eventstore.SlugTaken, error) {
	took, err := all(ctx, s, s.read.slugs, scanTaken, kind.String(), slug)
	return took, wrap(err, "who had slug %q", slug)
}

func scanTaken(r row) (t eventstore.SlugTaken, err error) { return t, r.Scan(&t.Position, &t.Record) }

// Former does eventstore.Past.
func (s *Store) Former(ctx context.Context, kind calendar.Kind, slug string) ([]calendar.ID, error) {
	out, err := all(ctx, s, s.read.former, func(r row) (id calendar.ID, err error) { return id, r.Scan(&id) },
		kind.String(), slug, eventstore.SlugClaim(kind, slug).Space, eventstore.MaxFormer)
	return out, wrap(err, "who had slug %q", slug)
}

func scanCheckpoint(r row) (c eventstore.Checkpoint, err error) {
	var millis int64
	err = r.Scan(&c.Size, &c.Origin, &c.Note, &millis, &c.Keys)
	c.Time = time.UnixMilli(millis).UTC()
	return c, err
}

// Checkpoint does eventstore.Checkpoints.
func (s *Store) Checkpoint(ctx context.Context, size calendar.Position) (eventstore.Checkpoint, error) {
	var found []eventstore.Checkpoint
	var err error
	if size == 0 {
		found, err = all(ctx, s, s.read.newest, scanCheckpoint)
	} else {
		found, err = all(ctx, s, s.read.checkpoint, scanCheckpoint, number(size))
	}
	switch {
	case err != nil:
		return eventstore.Checkpoint{}, wrap(err, "checkpoint of size %d", size)
	case len(found) == 0:
		return eventstore.Checkpoint{}, eventstore.ErrNotFound
	default:
		return found[0], nil
	}
}

// Checkpoints does eventstore.Checkpoints.
func (s *Store) Checkpoints(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Checkpoint, error) {
	out, err := all(ctx, s, s.read.checkpoints, scanCheckpoint, number(after), max(limit, 0))
	return out, wrap(err, "checkpoints after %d", after)
}

// PutCheckpoint does eventstore.Checkpoints.
func (s *Store) PutCheckpoint(ctx context.Context, c eventstore.Checkpoint) error {
	if err := c.Check(); err != nil {
		return err
	}
	return wrap(s.inTurn(ctx, func(ctx context.Context, w *writer) error {
		if c.Size > w.head {
			return eventstore.ErrAhead
		}
		found, err := query(ctx, w, checkpointColumns+"WHERE size = ?1 OR size = (SELECT max(size) FROM checkpoints) ORDER BY size", scanCheckpoint, number(c.Size))
		if err != nil {
			return err
		}
		var newest, same *eventstore.Checkpoint
		for i := range found {
			if newest = &found[i]; newest.Size == c.Size {
				same = newest
			}
		}
		gains, err := c.Follows(newest, same)
		if err != nil || !gains {
			return err
		}
		_, err = w.conn.ExecContext(ctx, `INSERT INTO checkpoints (size, origin, note, time, keys) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (size) DO UPDATE SET note = excluded.note`, number(c.Size), c.Origin, c.Note, c.Time.UnixMilli(), c.Keys)
		return err
	}), "keep checkpoint of size %d", c.Size)
}
