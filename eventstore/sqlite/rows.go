package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

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
