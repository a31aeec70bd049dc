package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/ground/pause"
)

// Erase does eventstore.Eraser, in one transaction. Appends wait meanwhile, some seconds
// for a record of 100,000 versions. What was erased may lie in the file until Compact.
func (s *Store) Erase(ctx context.Context, e eventstore.Erasure) eventstore.Result {
	if err := e.Check(); err != nil {
		return eventstore.Result{Err: err}
	}
	var position calendar.Position
	var g *eventstore.Group
	var changed []*eventstore.Held
	var chain [32]byte
	var ids []calendar.ID
	err := s.inTurn(ctx, func(ctx context.Context, w *writer) error {
		all := e.All()
		items, err := s.toErase(ctx, w, all)
		if err != nil {
			return err
		}
		for i := range all {
			ids = append(ids, all[i].ID)
		}
		g = eventstore.NewGroup(w.head, s.Epoch())
		if err := s.gather(ctx, g, items); err != nil {
			return err
		}
		var entries []written
		for _, it := range items {
			res, accepted := g.Decide(&it.a)
			if res.Err != nil {
				return res.Err
			}
			if accepted {
				entries = it.placed(entries, res.Position)
			}
		}
		if changed, chain, err = s.write(ctx, g, entries); err != nil {
			return err
		}
		for _, id := range ids {
			at, err := w.eraseRest(ctx, id)
			if err != nil {
				return fmt.Errorf("%s %d: %w", e.Kind, id, err)
			}
			if id == e.ID {
				position = at
			}
		}
		return nil
	}, func() {
		s.erased = append(s.erased, ids...)
		s.tail.forget()
		s.wrote(g, changed, chain)
	})
	if err != nil {
		return eventstore.Result{Err: wrap(err, "erase %s %d", e.Kind, e.ID)}
	}
	return eventstore.Result{Position: position}
}

// toErase gives what is to be appended for those records that have no entry that erased
// them.
func (s *Store) toErase(ctx context.Context, w *writer, all []eventstore.Erasure) (items []*item, err error) {
	for i := range all {
		one := &all[i]
		found, err := query(ctx, w, "SELECT "+heldColumns+" FROM records WHERE id = ?", func(r row) (*eventstore.Held, error) { return scanHeld(r) }, int64(one.ID))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 || found[0].Kind != one.Kind {
			return nil, fmt.Errorf("%s %d: %w", one.Kind, one.ID, eventstore.ErrNotFound)
		}
		if found[0].Erased {
			continue
		}
		a := one.Append()
		it, err := newItem(&a)
		if err != nil {
			return nil, err
		}
		items = append(items, it)
	}
	return items, nil
}

// The statements of an erasure.
const (
	leftEntries = "SELECT " + entryColumns + fromEntries + ` WHERE e.record = ? AND e.version < ? AND (x.position IS NULL
		OR length(e.body) > 0 OR e.client <> '' OR e.request <> '' OR e.reason <> '' OR e.secret IS NOT NULL)
		ORDER BY e.version LIMIT ?`
	addRedacted  = "INSERT INTO redacted (position, by, hashes) VALUES (?, ?, ?)"
	blankEntry   = "UPDATE entries SET client = '', request = '', reason = '', body = zeroblob(0), secret = NULL, salts = ? WHERE position = ?"
	leftAnswers  = "SELECT rowid, record, answer FROM receipts WHERE answer IS NOT NULL AND (record = ?1 OR instr(answer, CAST(?1 AS BLOB)) > 0)"
	dropAnswer   = "UPDATE receipts SET answer = NULL WHERE rowid = ?"
	dropSlugs    = "DELETE FROM slugs WHERE record = ?"
	blankAtATime = 256
)

// eraseRest takes away what is left of a record whose last entry erased it, and gives the
// position of that one.
func (w *writer) eraseRest(ctx context.Context, id calendar.ID) (calendar.Position, error) {
	last, err := query(ctx, w, "SELECT position, version FROM records WHERE id = ?", func(r row) (e eventstore.Entry, err error) {
		return e, r.Scan(&e.Position, &e.Version)
	}, int64(id))
	if err != nil || len(last) == 0 {
		return 0, err
	}
	by := last[0].Position
	for {
		left, err := query(ctx, w, leftEntries, func(r row) (eventstore.Entry, error) {
			e, err := scanEntry(r)
			if errors.Is(err, eventstore.ErrDamaged) { // it goes as well, and stays to be found
				err = nil
			}
			return e, err
		}, int64(id), last[0].Version, blankAtATime)
		if err != nil {
			return 0, err
		}
		for i := range left {
			e := &left[i]
			if e.Redacted == nil {
				e.Redact(by)
				if _, err := w.conn.ExecContext(ctx, addRedacted, number(e.Position), number(by), e.Redacted.Bytes()); err != nil {
					return 0, err
				}
			} else {
				e.Salts = eventstore.Salts{e.Salts[0]}
			}
			if _, err := w.conn.ExecContext(ctx, blankEntry, e.Salts.Bytes(), number(e.Position)); err != nil {
				return 0, err
			}
		}
		if len(left) < blankAtATime {
			break
		}
	}
	if _, err := w.conn.ExecContext(ctx, dropSlugs, int64(id)); err != nil {
		return 0, err
	}
	type answer struct {
		row int64
		eventstore.Receipt
	}
	answers, err := query(ctx, w, leftAnswers, func(r row) (a answer, err error) { return a, r.Scan(&a.row, &a.Record, &a.Answer) }, id.String())
	if err != nil {
		return 0, err
	}
	for _, a := range answers {
		if a.Record == id || eventstore.NamesID(a.Answer, id) {
			if _, err := w.conn.ExecContext(ctx, dropAnswer, a.row); err != nil {
				return 0, err
			}
		}
	}
	return by, nil
}

// forbid takes the answers away that name a record that was erased meanwhile.
func (s *Store) forbid(items []*item) {
	for _, it := range items {
		r := it.a.Receipt
		if r == nil || !slices.ContainsFunc(s.erased, func(id calendar.ID) bool { return r.Record == id || eventstore.NamesID(r.Answer, id) }) {
			continue
		}
		without := *r
		without.Answer = nil
		it.a.Receipt = &without
	}
}

// compactPause is waited before the log is folded once more, while others read.
const compactPause = 20 * time.Millisecond

// Compact writes the file anew and empties the log, so that nothing of what was erased
// is in either. It needs room for another file of the size of this one. Appends wait
// while the file is written; the log is emptied when all who read have come to an end.
// Errors: ErrUnavailable, ErrClosed, that of the context.
func (s *Store) Compact(ctx context.Context) error {
	if err := s.alone(ctx, "VACUUM"); err != nil {
		return fmt.Errorf("write the file anew: %w", err)
	}
	for {
		var busy bool
		err := s.alone(ctx, "PRAGMA wal_checkpoint(TRUNCATE)", &busy)
		if err != nil || !busy {
			return wrap(err, "empty the log")
		}
		if err := pause.For(ctx, compactPause); err != nil {
			return err
		}
	}
}

// alone has the turn for a statement outside of transactions, which gives one row when
// there is something to be read.
func (s *Store) alone(ctx context.Context, text string, dest ...any) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	s.turn.Lock()
	defer s.turn.Unlock()
	if s.closing.Load() {
		return eventstore.ErrClosed
	}
	if err := s.permitted(ctx); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	if len(dest) == 0 {
		_, err := s.writer.conn.ExecContext(ctx, text)
		return translate(ctx, err)
	}
	var rest [2]int64 // pages in the log, pages that were folded
	return translate(ctx, s.writer.conn.QueryRowContext(ctx, text).Scan(append(dest, &rest[0], &rest[1])...))
}
