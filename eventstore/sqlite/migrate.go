package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// applicationID marks the files of this store in their header ("dayb").
const applicationID = 0x64617962

//go:embed schema/*.sql
var schemaFiles embed.FS

// migration is one step of the schema: numbered from 1 without a gap, applied
// once and never edited afterwards.
type migration struct {
	number   int
	name     string
	text     string
	checksum string
}

// migrations reads the steps in files like 0001_name.sql.
func migrations(files fs.FS) ([]migration, error) {
	names, err := fs.Glob(files, "schema/*.sql")
	if err != nil {
		return nil, err
	}
	steps := make([]migration, 0, len(names))
	for i, path := range names { // Glob sorts
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return nil, err
		}
		name := strings.TrimPrefix(path, "schema/")
		digits, _, _ := strings.Cut(name, "_")
		number, err := strconv.Atoi(digits)
		if err != nil || number != i+1 {
			return nil, fmt.Errorf("migration %s: must have number %d", name, i+1)
		}
		sum := sha256.Sum256(text)
		steps = append(steps, migration{number, name, string(text), hex.EncodeToString(sum[:])})
	}
	return steps, nil
}

// migrate brings the file to the newest schema. It refuses files of other
// programs, of newer versions, and those whose steps are not ours.
func migrate(ctx context.Context, conn *sql.Conn, steps []migration) (err error) {
	// One transaction that writes from its start on is the lock.
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		}
	}()
	var app, objects int
	if err := conn.QueryRowContext(ctx, "PRAGMA application_id").Scan(&app); err != nil {
		return err
	}
	if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&objects); err != nil {
		return err
	}
	if app != applicationID && (app != 0 || objects > 0) {
		return fmt.Errorf("file belongs to another program (application id %#x)", app)
	}
	const ledger = `CREATE TABLE IF NOT EXISTS migrations (
		number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL) STRICT`
	if _, err := conn.ExecContext(ctx, ledger); err != nil {
		return err
	}
	applied, err := appliedSteps(ctx, conn)
	if err != nil {
		return err
	}
	for i, a := range applied {
		switch {
		case a.number != i+1:
			return fmt.Errorf("migration %d is missing in the file", i+1)
		case i >= len(steps):
			return fmt.Errorf("file was made by a newer version: it has migration %s", a.name)
		case a.checksum != steps[i].checksum:
			return fmt.Errorf("migration %s of the file is another one than ours", a.name)
		}
	}
	for _, m := range steps[len(applied):] {
		if _, err := conn.ExecContext(ctx, m.text); err != nil {
			return fmt.Errorf("migration %s: %w", m.name, err)
		}
		const note = "INSERT INTO migrations (number, name, checksum) VALUES (?, ?, ?)"
		if _, err := conn.ExecContext(ctx, note, m.number, m.name, m.checksum); err != nil {
			return err
		}
	}
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d", applicationID)); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return err
}

func appliedSteps(ctx context.Context, conn *sql.Conn) ([]migration, error) {
	rows, err := conn.QueryContext(ctx, "SELECT number, name, checksum FROM migrations ORDER BY number")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err tells
	var out []migration
	for rows.Next() {
		var m migration
		if err := rows.Scan(&m.number, &m.name, &m.checksum); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, rows.Err()
}
