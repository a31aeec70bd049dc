package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/ground/migration"
)

// packedStep is the step of the schema from which on entries are packed. A file from
// before it is not changed: what it holds is carried into a new one, which then takes
// its place. So it is whole at every moment, and what it needs no more is free.
const packedStep = 3

// errFormer says that a file has to be carried.
var errFormer = errors.New("file of a form before packed entries")

// newSuffix ends the name of the file that is being filled. One that is found is what
// a process left that was killed.
const newSuffix = ".new"

// The bounds of one transaction of the new file.
const (
	carryRows  = 512
	carryBytes = 4 << 20
)

// The pragmas of both files. The new one is made anew if the process ends before it
// is whole, and is synced when it is.
var (
	formerPragmas = []string{"busy_timeout(5000)", "trusted_schema(OFF)", "mmap_size(0)"}
	newPragmas    = []string{
		"journal_mode(OFF)", "synchronous(OFF)", "locking_mode(EXCLUSIVE)", "cache_size(-16384)",
		"foreign_keys(ON)", "trusted_schema(OFF)", "temp_store(MEMORY)", "mmap_size(0)",
	}
)

// renew carries a file of a former form into one of the present form and puts that in
// its place. The lock of the store is held, and nothing has the file open.
func renew(ctx context.Context, path string, steps []migration.Step, progress func(done, total calendar.Position)) (err error) {
	path, err = filepath.EvalSymlinks(path) // the new file belongs beside the old one
	if err != nil {
		return err
	}
	fresh := path + newSuffix
	if err := dropNew(path); err != nil {
		return err
	}
	if err := foldLog(ctx, path); err != nil {
		return fmt.Errorf("fold the log of a file of a former form: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, dropNew(path))
		}
	}()
	if err := carry(ctx, path, fresh, steps, progress); err != nil {
		err = translate(ctx, err)
		if errors.Is(err, eventstore.ErrUnavailable) { // who tries again does all of it again
			return fmt.Errorf("carry a file of a former form into %s, which may become as large: %v", fresh, err) //nolint:errorlint // as said
		}
		return fmt.Errorf("carry a file of a former form into %s: %w", fresh, err)
	}
	return replace(path, fresh)
}

// dropNew removes what a process left that was killed.
func dropNew(path string) error {
	if err := os.Remove(path + newSuffix); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// foldLog brings all that was committed into the file itself and removes the log,
// which would be taken for that of the new file. It is ErrUnavailable while another
// process reads the file.
func foldLog(ctx context.Context, path string) (err error) {
	db, err := sql.Open("sqlite", dsn(path, formerPragmas))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var mode string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode = DELETE").Scan(&mode); err != nil {
		return err
	}
	if mode != "delete" {
		return fmt.Errorf("%w: its log is in use", eventstore.ErrUnavailable)
	}
	return nil
}

// carry fills a new file with what another one holds.
func carry(ctx context.Context, path, fresh string, steps []migration.Step, progress func(done, total calendar.Position)) (err error) {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(fresh, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600) //nolint:gosec // beside the operator's
	if err != nil {
		return err
	}
	if err := errors.Join(file.Chmod(info.Mode().Perm()), keepOwner(path, fresh), file.Close()); err != nil {
		return err
	}
	from, err := sql.Open("sqlite", dsn(path, formerPragmas))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := sql.Open("sqlite", dsn(fresh, newPragmas))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	conn, err := to.Conn(ctx)
	if err != nil {
		return err
	}
	p := &preparer{conn: conn}
	defer func() { err = errors.Join(err, p.close()) }()
	if err := migrate(ctx, conn, steps, false, nil); err != nil {
		return err
	}
	var total calendar.Position
	if err := from.QueryRowContext(ctx, "SELECT coalesce(max(position), 0) FROM entries").Scan(&total); err != nil {
		return err
	}
	carried := func(done calendar.Position) {
		if progress != nil {
			progress(done, total)
		}
	}
	carried(0)
	if err := carryPlain(ctx, conn, path); err != nil {
		return err
	}
	if err := carryEntries(ctx, from, p, carried); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "UPDATE identity SET uuid = substr(e.leaf, 1, 16) FROM entries e WHERE e.position = 1")
	return err
}

// carryPlain copies the tables that have the form that they had.
func carryPlain(ctx context.Context, conn *sql.Conn, path string) error {
	if _, err := conn.ExecContext(ctx, "ATTACH ? AS former", path); err != nil {
		return err
	}
	for _, t := range []struct{ name, columns, order string }{
		{"records", "id, kind, version, position, claims, names, secret", "id"},
		{"claims", "space, key, record", "space, key"},
		{"names", "space, key, record", "space, key, record"},
		{"receipts", "rowid, user, key, fingerprint, kept, time, record, version, position, answer", "rowid"},
		{"commits", "first, last, hash", "first"},
	} {
		text := fmt.Sprintf("INSERT INTO main.%s (%s) SELECT %[2]s FROM former.%[1]s ORDER BY %s", t.name, t.columns, t.order) //nolint:gosec // of the list above
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("table %s: %w", t.name, err)
		}
	}
	_, err := conn.ExecContext(ctx, "DETACH former")
	return err
}

// carryEntries packs the entries of a file into another one, some in each transaction.
func carryEntries(ctx context.Context, from *sql.DB, to *preparer, carried func(done calendar.Position)) error {
	begin, commit := to.one(ctx, "BEGIN"), to.one(ctx, "COMMIT")
	add, past := to.rows(ctx, addEntries, entryCells), newPastFiller(ctx, to)
	if to.err != nil {
		return to.err
	}
	batch := make([]any, 0, carryRows*entryCells)
	size := 0
	var done calendar.Position
	flush := func() error {
		if _, err := begin.ExecContext(ctx); err != nil {
			return err
		}
		if err := errors.Join(add.exec(ctx, batch), past.flush(ctx)); err != nil {
			return err
		}
		if _, err := commit.ExecContext(ctx); err != nil {
			return err
		}
		batch, size = batch[:0], 0
		carried(done)
		return nil
	}
	rows, err := from.QueryContext(ctx, `SELECT position, kind, record, version, time, actor, change, leaf, client, request, reason,
		fields, state, secret IS NOT NULL, secret FROM entries ORDER BY position`)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Err tells
	for rows.Next() {
		var (
			position, record, version, millis, actor int64
			kind, change, client, request, reason    string
			leaf, secret                             []byte
			fields, state                            sql.RawBytes
			hasSecret                                bool
		)
		if err := rows.Scan(&position, &kind, &record, &version, &millis, &actor, &change, &leaf, &client, &request, &reason,
			&fields, &state, &hasSecret, &secret); err != nil {
			return err
		}
		if hasSecret && secret == nil {
			secret = []byte{}
		}
		body := packBody(fields, state)
		// The other copy is given up: what is packed has to be what was there.
		if f, s, _, err := unpackBody(nil, body); err != nil || !bytes.Equal(f, fields) || !bytes.Equal(s, state) {
			return fmt.Errorf("entry %d does not come back as it was packed (%v)", position, err) //nolint:errorlint // a fault of the program
		}
		batch = append(batch, position, kind, record, version, millis, actor, change, leaf, client, request, reason, body, secret, nil)
		size += len(body)
		done = calendar.Position(position)
		of := eventstore.Entry{Position: done, ID: calendar.ID(record), Time: time.UnixMilli(millis), Fields: json.RawMessage(fields)}
		of.Kind, _ = calendar.ParseKind(kind)
		past.add(&of)
		if len(batch) == cap(batch) || size >= carryBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return flush()
}

// replace puts a file that is whole in the place of another one, for good.
func replace(path, fresh string) error {
	file, err := os.OpenFile(fresh, os.O_RDWR, 0) //nolint:gosec // beside the operator's
	if err != nil {
		return err
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(fresh, path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	_ = dir.Sync() // not every file system can; then the rename lasts when it lasts
	return dir.Close()
}
