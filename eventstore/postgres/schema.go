package postgres

import (
	"context"
	"crypto/sha256"
	_ "embed" // schema.sql, rights.sql
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"daybook/eventstore"
)

//go:embed schema.sql
var schemaText string

//go:embed rights.sql
var rightsText string

// minVersion is that of the server, as server_version_num.
const minVersion = 140000

// Migrate makes the schema of a store if none exists and gives Options.ServiceRole
// its rights, without opening the store. It is for the role that owns the schema; the
// service may then run as one that owns nothing.
func Migrate(ctx context.Context, address string, options Options) error {
	_, conn, err := migrate(ctx, address, &options)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// migrate is Migrate, and returns the settings of connections and the one that it used. It
// completes the options.
func migrate(ctx context.Context, address string, options *Options) (config *pgxpool.Config, conn *pgx.Conn, err error) {
	if err = options.complete(); err == nil {
		config, err = parse(address)
	}
	if err == nil {
		conn, err = connect(ctx, config.ConnConfig, options.Schema)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := translateOn(ctx, conn, prepare(ctx, conn, options)); err != nil {
		_ = conn.Close(context.WithoutCancel(ctx)) // nothing was left undone
		return nil, nil, err
	}
	return config, conn, nil
}

// prepare makes the schema and grants the rights, where the one or the other is missing.
func prepare(ctx context.Context, conn *pgx.Conn, options *Options) error {
	var version int
	var encoding string
	const server = "SELECT current_setting('server_version_num')::int, current_setting('server_encoding')"
	if err := conn.QueryRow(ctx, server).Scan(&version, &encoding); err != nil {
		return err
	}
	if version < minVersion || encoding != "UTF8" {
		return fmt.Errorf("server has version %d and encoding %s: must be %d or later and UTF8", version, encoding, minVersion)
	}
	there, err := isThere(ctx, conn, options.Schema)
	switch {
	case err != nil:
		return err
	case !there && options.Existing:
		return eventstore.ErrNoStore
	case there && options.ServiceRole == "":
		return nil
	}
	return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite}, func(transaction pgx.Tx) error {
		// Those who come behind it do not wait for ever.
		if _, err := transaction.Exec(ctx, "SET LOCAL lock_timeout = '10s'"); err != nil {
			return err
		}
		if !there {
			if err := create(ctx, conn, options.Schema); sqlState(err) == refused {
				return fmt.Errorf("schema %s has no event store, which its owner has to make: %w", options.Schema, err)
			} else if err != nil {
				return err
			}
		}
		if options.ServiceRole == "" {
			return nil
		}
		_, err := transaction.Exec(ctx, strings.NewReplacer("@", options.Schema, "$", options.ServiceRole).Replace(rightsText))
		return err
	})
}

// isThere reports whether a schema has a store, and refuses one of another program or of
// another version.
func isThere(ctx context.Context, conn *pgx.Conn, schema string) (there bool, err error) {
	var tables int
	const look = `SELECT coalesce(bool_or(c.relname = 'form'), false), count(*)
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm')`
	if err := conn.QueryRow(ctx, look, schema).Scan(&there, &tables); err != nil {
		return false, err
	}
	if !there && tables > 0 {
		return false, fmt.Errorf("schema %s belongs to another program, or another version of daybook wrote it", schema)
	}
	if !there {
		return false, nil
	}
	var form string
	if err := conn.QueryRow(ctx, "SELECT checksum FROM "+schema+".form").Scan(&form); err != nil {
		return false, err
	}
	if want := checksum(); form != want {
		return false, fmt.Errorf("schema %s was written by another version of daybook (form %.6s, this one needs %.6s): use that version, or begin an empty store",
			schema, form, want)
	}
	return true, nil
}

func checksum() string { return fmt.Sprintf("%x", sha256.Sum256([]byte(schemaText))) }

// create makes the schema, unless another process did meanwhile.
func create(ctx context.Context, conn *pgx.Conn, schema string) error {
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_xact_lock(1684109668, hashtext($1::text))", schema); err != nil {
		return err
	}
	if there, err := isThere(ctx, conn, schema); err != nil || there {
		return err
	}
	// A role may own the schema that may not make one. Named with its schema, the table is
	// refused to a role that may not make one there. The functions keep the search_path.
	_, err := conn.Exec(ctx, fmt.Sprintf("DO $$ BEGIN IF to_regnamespace('%[1]s') IS NULL THEN CREATE SCHEMA %[1]s; END IF; END $$; "+
		"CREATE TABLE %[1]s.form (checksum text NOT NULL); INSERT INTO %[1]s.form VALUES ('%[2]s'); "+
		"SET LOCAL search_path = %[1]s, pg_temp; %[3]s", schema, checksum(), schemaText))
	return err
}
