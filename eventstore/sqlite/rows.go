package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

// statements prepares each text once, on a connection or on a pool of them.
type statements struct {
	db *sql.DB
	on interface { // db, or a connection of it
		PrepareContext(ctx context.Context, text string) (*sql.Stmt, error)
		Close() error
	}
	usable func(context.Context) error // an error that hides those of the engine

	mutex  sync.Mutex
	byText map[string]*sql.Stmt
}

func (s *statements) of(ctx context.Context, text string) (*sql.Stmt, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if stmt := s.byText[text]; stmt != nil {
		return stmt, nil
	}
	stmt, err := s.on.PrepareContext(ctx, text) //nolint:sqlclosecheck // kept until close
	if err != nil {
		return nil, err
	}
	if s.byText == nil {
		s.byText = map[string]*sql.Stmt{}
	}
	s.byText[text] = stmt
	return stmt, nil
}

func (s *statements) exec(ctx context.Context, text string, args ...any) error {
	stmt, err := s.of(ctx, text) //nolint:sqlclosecheck // kept until close
	if err == nil {
		_, err = stmt.ExecContext(ctx, args...)
	}
	return err
}

// close closes the statements first: with one of them open the engine keeps the file open.
func (s *statements) close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var errs []error
	for _, stmt := range s.byText {
		errs = append(errs, stmt.Close())
	}
	s.byText = nil
	return errors.Join(append(errs, s.on.Close(), s.db.Close())...)
}

type row interface{ Scan(dest ...any) error }

// all runs a query and returns its rows; scan reads one.
func all[T any](ctx context.Context, s *statements, text string, scan func(row) (T, error), args ...any) ([]T, error) {
	return page(ctx, s, text, scan, func(*T) int { return 0 }, args...)
}

// page runs a query and returns its rows up to the one that passes PageBytes. It is short,
// and not cut off: to watch the context costs the driver a good part of a look-up.
func page[T any](ctx context.Context, s *statements, text string, scan func(row) (T, error), size func(*T) int, args ...any) (out []T, err error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			out, err = nil, cmp.Or(s.usable(ctx), translate(err))
		}
	}()
	stmt, err := s.of(ctx, text) //nolint:sqlclosecheck // kept until close
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(context.WithoutCancel(ctx), args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err returns what matters
	for left := eventstore.PageBytes; left > 0 && rows.Next(); {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		left -= size(&v)
	}
	return out, rows.Err()
}

// one returns the first row, the zero value for none.
func one[T any](ctx context.Context, s *statements, text string, scan func(row) (T, error), args ...any) (v T, err error) {
	found, err := all(ctx, s, text, scan, args...)
	if len(found) > 0 {
		v = found[0]
	}
	return v, err
}

// value scans a row of one column.
func value[T any](r row) (v T, err error) {
	err = r.Scan(&v)
	return v, err
}

// The types of columns that are not those of Go.
type (
	kind                                  calendar.Kind
	moment                                time.Time
	hash                                  [32]byte
	pairs[P ~struct{ Space, Key string }] []P // JSON: [["space","key"], …]
)

// Scan implements sql.Scanner.
func (k *kind) Scan(column any) error {
	text, _ := column.(string)
	found, ok := calendar.ParseKind(text)
	if !ok {
		return fmt.Errorf("%w: unknown kind %q", eventstore.ErrDamaged, text)
	}
	*k = kind(found)
	return nil
}

// Scan implements sql.Scanner.
func (m *moment) Scan(column any) error {
	millis, _ := column.(int64)
	*m = moment(time.UnixMilli(millis).UTC())
	return nil
}

// Scan implements sql.Scanner.
func (h *hash) Scan(column any) error {
	if b, _ := column.([]byte); copy(h[:], b) != len(h) {
		return fmt.Errorf("%w: hash of %d bytes", eventstore.ErrDamaged, len(b))
	}
	return nil
}

// Scan implements sql.Scanner.
func (p *pairs[P]) Scan(column any) error {
	var list [][2]string
	text, _ := column.(string)
	err := json.Unmarshal([]byte(text), &list)
	for _, pair := range list {
		*p = append(*p, P{Space: pair[0], Key: pair[1]})
	}
	return err
}

func scanEntry(r row) (e eventstore.Entry, err error) {
	var hasSecret bool
	var by sql.NullInt64
	var body, salts, hashes sql.RawBytes
	if err := r.Scan(&e.Position, (*kind)(&e.Kind), &e.ID, &e.Version, (*moment)(&e.Time), &e.Actor, &e.Change,
		&e.Cause.Client, &e.Cause.Request, &e.Cause.Reason, &body, &hasSecret, &e.Secret, &salts, &by, &hashes); err != nil {
		return e, err
	}
	if hasSecret && e.Secret == nil {
		e.Secret = []byte{}
	}
	if by.Valid {
		e.Redacted, err = eventstore.RedactedOf(calendar.Position(by.Int64), hashes)
	}
	if err == nil {
		e.Salts, err = eventstore.SaltsOf(salts)
	}
	if err == nil {
		e.Fields, e.State, err = unpackBody(body)
	}
	if err != nil {
		err = fmt.Errorf("entry %d: %w", e.Position, err)
	}
	return e, err
}

func scanHeld(r row) (h eventstore.Held, err error) {
	var body sql.RawBytes
	err = r.Scan(&h.ID, (*kind)(&h.Kind), &h.Version, &h.Position, &h.Secret, &h.Erased, &body,
		(*pairs[calendar.Claim])(&h.Claims), (*pairs[calendar.Name])(&h.Names))
	if err == nil && body == nil {
		err = eventstore.Damaged(h.Position, "it is missing, record %d ends with it", h.ID)
	}
	if err == nil {
		_, h.Record, err = unpackBody(body)
	}
	if err != nil {
		err = fmt.Errorf("record %d: %w", h.ID, err)
	}
	return h, err
}

func scanReceipt(r row) (*eventstore.Receipt, error) {
	out := &eventstore.Receipt{}
	err := r.Scan(&out.User, &out.Key, (*hash)(&out.Fingerprint), (*moment)(&out.Time), &out.Record, &out.Version, &out.Position)
	return out, err
}

func scanCheckpoint(r row) (c eventstore.Checkpoint, err error) {
	err = r.Scan(&c.Size, &c.Origin, &c.Note, (*moment)(&c.Time), &c.Keys)
	return c, err
}

func scanMark(r row) (m calendar.Mark, err error) {
	err = r.Scan(&m.Position, (*hash)(&m.Hash))
	return m, err
}

// end is where the log ends.
type end struct {
	calendar.Mark

	lastID calendar.ID // the greatest one of a record
}

func scanEnd(r row) (e end, err error) {
	var last calendar.Position
	err = r.Scan(&e.Position, &e.lastID, &last, (*hash)(&e.Hash))
	if err == nil && last != e.Position {
		err = eventstore.Damaged(min(e.Position, last)+1, "the last entry is %d, the last commit ends at %d", e.Position, last)
	}
	return e, err
}
