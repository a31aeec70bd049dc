package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"daybook/eventstore"
	"daybook/internal/ground/migration"
)

//go:embed schema/*.sql
var schemaFiles embed.FS

// Migrate brings the schema of a store to the newest form and gives
// Options.ServiceRole its rights, without opening the store. It is for the role
// that owns the schema; the service may then run as one that owns nothing.
func Migrate(ctx context.Context, url string, o Options) error {
	if err := o.complete(); err != nil {
		return err
	}
	config, err := parse(url)
	if err != nil {
		return err
	}
	return migrateUp(ctx, config.ConnConfig, o)
}

// migrateUp looks which steps the schema has, and applies the others when there
// are any. Processes that do so at the same time wait for each other.
func migrateUp(ctx context.Context, config *pgx.ConnConfig, o Options) (err error) {
	steps, err := migration.Read(schemaFiles)
	if err != nil {
		return err
	}
	conn, err := connect(ctx, config, o.Schema)
	if err != nil {
		return err
	}
	defer func() {
		err = translate(ctx, err, conn.IsClosed())
		_ = conn.Close(context.WithoutCancel(ctx)) // nothing was left undone
	}()
	var version int
	var encoding string
	const server = "SELECT current_setting('server_version_num')::int, current_setting('server_encoding')"
	if err := conn.QueryRow(ctx, server).Scan(&version, &encoding); err != nil {
		return err
	}
	if version < minVersion || encoding != "UTF8" {
		return fmt.Errorf("server has version %d and encoding %s: must be %d or later and UTF8", version, encoding, minVersion)
	}
	pending, err := pendingSteps(ctx, conn, o.Schema, steps)
	if err != nil {
		return err
	}
	if len(pending) == len(steps) && o.Existing {
		return eventstore.ErrNoStore
	}
	if len(pending) == 0 && o.ServiceRole == "" {
		return nil
	}
	err = pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite}, func(pgx.Tx) error {
		return applySteps(ctx, conn, o, steps)
	})
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == refusedCode && len(pending) > 0 {
		return fmt.Errorf("schema %s lacks migration %s, which its owner has to apply: %w", o.Schema, pending[0].Name, err)
	}
	return err
}

// refusedCode is the SQLSTATE of what a role may not do.
const refusedCode = "42501"

// pendingSteps gives the steps that the schema lacks. It refuses a schema of
// another program or of a newer version, and one whose steps are not ours.
func pendingSteps(ctx context.Context, conn *pgx.Conn, schema string, steps []migration.Step) ([]migration.Step, error) {
	var ours bool
	var tables int
	const look = `SELECT coalesce(bool_or(c.relname = 'migrations'), false), count(*)
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm')`
	if err := conn.QueryRow(ctx, look, schema).Scan(&ours, &tables); err != nil {
		return nil, err
	}
	if !ours && tables > 0 {
		return nil, fmt.Errorf("schema %s belongs to another program", schema)
	}
	if !ours {
		return steps, nil
	}
	rows, err := conn.Query(ctx, "SELECT number, name, checksum FROM "+schema+".migrations ORDER BY number")
	if err != nil {
		return nil, err
	}
	applied, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (m migration.Step, err error) {
		err = r.Scan(&m.Number, &m.Name, &m.Checksum)
		return m, err
	})
	if err != nil {
		return nil, err
	}
	return migration.Pending(steps, applied, "schema "+schema)
}

// applySteps applies the steps that are pending, in the transaction of a connection, and
// gives the service its rights.
func applySteps(ctx context.Context, conn *pgx.Conn, o Options, steps []migration.Step) error {
	const lock = "SELECT pg_advisory_xact_lock(1684109668, hashtext($1::text))"
	if _, err := conn.Exec(ctx, lock, o.Schema); err != nil {
		return err
	}
	pending, err := pendingSteps(ctx, conn, o.Schema, steps) // under the lock now
	if err != nil {
		return err
	}
	// The texts have many statements each, which only the simple protocol takes.
	do := func(text string) error {
		_, err := conn.PgConn().Exec(ctx, text).ReadAll()
		return err
	}
	if len(pending) == len(steps) {
		var there bool
		if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)", o.Schema).Scan(&there); err != nil {
			return err
		}
		if !there {
			if err := do("CREATE SCHEMA " + o.Schema); err != nil {
				return err
			}
		}
		if err := do("CREATE TABLE " + o.Schema + ".migrations (number int PRIMARY KEY, name text NOT NULL, checksum text NOT NULL)"); err != nil {
			return err
		}
	}
	// The functions keep this search_path.
	if err := do("SET LOCAL search_path = " + o.Schema + ", pg_temp"); err != nil {
		return err
	}
	for _, m := range pending {
		if err := do(m.Text); err != nil {
			return fmt.Errorf("migration %s: %w", m.Name, err)
		}
		const note = "INSERT INTO migrations (number, name, checksum) VALUES ($1, $2, $3)"
		if _, err := conn.Exec(ctx, note, m.Number, m.Name, m.Checksum); err != nil {
			return err
		}
	}
	rights := "REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %[1]s FROM PUBLIC;"
	if o.ServiceRole != "" {
		rights += `GRANT USAGE ON SCHEMA %[1]s TO "%[2]s";
			GRANT SELECT ON ALL TABLES IN SCHEMA %[1]s TO "%[2]s";
			GRANT SELECT ON ALL SEQUENCES IN SCHEMA %[1]s TO "%[2]s";
			GRANT EXECUTE ON FUNCTION %[1]s.hold_log, %[1]s.append_salted, %[1]s.settle, %[1]s.new_ids, %[1]s.purge_receipts,
				%[1]s.acquire_lease, %[1]s.last_counted, %[1]s.last_time, %[1]s.put_checkpoint, %[1]s.erase TO "%[2]s";`
	}
	return do(fmt.Sprintf(rights+"--%[2]s", o.Schema, o.ServiceRole))
}
