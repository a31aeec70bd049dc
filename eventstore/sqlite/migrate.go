package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"

	"daybook/eventstore"
	"daybook/internal/ground/migration"
)

// applicationID marks the files of this store in their header ("dayb").
const applicationID = 0x64617962

//go:embed schema/*.sql
var schemaFiles embed.FS

// migrate brings the file to the newest schema. It refuses files of other programs and of
// other versions and, when a store has to be there, a file that has none.
func migrate(ctx context.Context, conn *sql.Conn, steps []migration.Step, existing bool) (err error) {
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
	if objects == 0 && existing {
		return eventstore.ErrNoStore
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
	pending, err := migration.Pending(steps, applied, "the file")
	if err != nil {
		return err
	}
	for _, m := range pending {
		if _, err := conn.ExecContext(ctx, m.Text); err != nil {
			return fmt.Errorf("migration %s: %w", m.Name, err)
		}
		const note = "INSERT INTO migrations (number, name, checksum) VALUES (?, ?, ?)"
		if _, err := conn.ExecContext(ctx, note, m.Number, m.Name, m.Checksum); err != nil {
			return err
		}
	}
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d", applicationID)); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return err
}

func appliedSteps(ctx context.Context, conn *sql.Conn) ([]migration.Step, error) {
	rows, err := conn.QueryContext(ctx, "SELECT number, name, checksum FROM migrations ORDER BY number")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err tells
	var out []migration.Step
	for rows.Next() {
		var m migration.Step
		if err := rows.Scan(&m.Number, &m.Name, &m.Checksum); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, rows.Err()
}
