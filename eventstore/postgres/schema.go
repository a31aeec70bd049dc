package postgres

import (
	"context"
	"crypto/sha256"
	_ "embed" // schema.sql, rights.sql
	"fmt"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/jackc/pgx/v5"

	"daybook/eventstore"
	"daybook/internal/ground/pause"
)

//go:embed schema.sql
var schemaText string

//go:embed rights.sql
var rightsText string

// minVersion is that of the server, as server_version_num.
const minVersion = 140000

// Migrate makes the schema of a store where there is none and gives Options.ServiceRole
// its rights, without opening the store. It is for the role that owns the schema; the
// service may then run as one that owns nothing. Options.Log says whom it waits for.
func Migrate(ctx context.Context, url string, o Options) error {
	if err := o.complete(); err != nil {
		return err
	}
	config, err := parse(url)
	if err != nil {
		return err
	}
	conn, err := migrate(ctx, config.ConnConfig, o)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// migrate is Migrate, and returns the connection that it used.
func migrate(ctx context.Context, config *pgx.ConnConfig, o Options) (*pgx.Conn, error) {
	conn, err := connect(ctx, config, o.Schema)
	if err != nil {
		return nil, err
	}
	m := migration{o: o, config: config, conn: conn}
	if err := translateOn(ctx, conn, m.run(ctx)); err != nil {
		_ = conn.Close(context.WithoutCancel(ctx)) // nothing was left undone
		return nil, err
	}
	return conn, nil
}

// migration is one run of Migrate.
type migration struct {
	o      Options
	config *pgx.ConnConfig
	conn   *pgx.Conn
}

func (m *migration) run(ctx context.Context) error {
	var version int
	var encoding string
	const server = "SELECT current_setting('server_version_num')::int, current_setting('server_encoding')"
	if err := m.conn.QueryRow(ctx, server).Scan(&version, &encoding); err != nil {
		return err
	}
	if version < minVersion || encoding != "UTF8" {
		return fmt.Errorf("server has version %d and encoding %s: must be %d or later and UTF8", version, encoding, minVersion)
	}
	there, err := m.check(ctx)
	switch {
	case err != nil:
		return err
	case !there && m.o.Existing:
		return eventstore.ErrNoStore
	case !there:
		err = m.patiently(ctx, m.create)
		if sqlState(err) == refused {
			return fmt.Errorf("schema %s has no event store, which its owner has to make: %w", m.o.Schema, err)
		}
	}
	if err == nil && m.o.ServiceRole != "" {
		err = m.patiently(ctx, func(ctx context.Context) error {
			_, err := m.conn.Exec(ctx, strings.NewReplacer("@", m.o.Schema, "$", m.o.ServiceRole).Replace(rightsText))
			return err
		})
	}
	return err
}

// check reports whether the schema has a store, and refuses one of another program or of
// another version.
func (m *migration) check(ctx context.Context) (there bool, err error) {
	var tables int
	const look = `SELECT coalesce(bool_or(c.relname = 'form'), false), count(*)
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm')`
	if err := m.conn.QueryRow(ctx, look, m.o.Schema).Scan(&there, &tables); err != nil {
		return false, err
	}
	if !there && tables > 0 {
		return false, fmt.Errorf("schema %s belongs to another program, or another version of daybook wrote it", m.o.Schema)
	}
	if !there {
		return false, nil
	}
	var form string
	if err := m.conn.QueryRow(ctx, "SELECT checksum FROM "+m.o.Schema+".form").Scan(&form); err != nil {
		return false, err
	}
	if want := checksum(); form != want {
		return false, fmt.Errorf("schema %s was written by another version of daybook (form %.6s, this one needs %.6s): use that version, or begin an empty store",
			m.o.Schema, form, want)
	}
	return true, nil
}

func checksum() string { return fmt.Sprintf("%x", sha256.Sum256([]byte(schemaText))) }

// create makes the schema, unless another process did meanwhile.
func (m *migration) create(ctx context.Context) error {
	if _, err := m.conn.Exec(ctx, "SELECT pg_advisory_xact_lock(1684109668, hashtext($1::text))", m.o.Schema); err != nil {
		return err
	}
	if there, err := m.check(ctx); err != nil || there {
		return err
	}
	// A role may own the schema that may not make one. Named with its schema, the table is
	// refused to a role that may not make one there. The functions keep the search_path.
	_, err := m.conn.Exec(ctx, fmt.Sprintf("DO $$ BEGIN IF to_regnamespace('%[1]s') IS NULL THEN CREATE SCHEMA %[1]s; END IF; END $$; "+
		"CREATE TABLE %[1]s.form (checksum text NOT NULL); INSERT INTO %[1]s.form VALUES ('%[2]s'); "+
		"SET LOCAL search_path = %[1]s, pg_temp; %[3]s", m.o.Schema, checksum(), schemaText))
	return err
}

// A lock is waited for that long, so that those who come behind it do not wait for ever,
// and then again, so many times in all.
const lockWait, lockTries = 2 * time.Second, 5

// patiently does something in a transaction that waits for the locks of others, and says
// for whose.
func (m *migration) patiently(ctx context.Context, do func(context.Context) error) error {
	var holder string
	_, err := backoff.Retry(ctx, func() (none struct{}, err error) {
		within, end := context.WithCancel(ctx)
		found := make(chan string, 1)
		go func() { found <- m.holder(within) }()
		err = pgx.BeginTxFunc(ctx, m.conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite}, func(pgx.Tx) error {
			if _, err := m.conn.Exec(ctx, fmt.Sprintf("SET LOCAL lock_timeout = %d", lockWait.Milliseconds())); err != nil {
				return err
			}
			return do(ctx)
		})
		end()
		if h := <-found; h != "" {
			holder = h
		}
		if sqlState(err) != locked {
			return none, backoff.Permanent(err)
		}
		m.o.Log.WarnContext(ctx, "migration waits for a lock", "held_by", holder)
		return none, err
	}, backoff.WithMaxTries(lockTries))
	if sqlState(err) == locked {
		return fmt.Errorf("%w: a lock is held by %s: %w", eventstore.ErrUnavailable, holder, err)
	}
	return err
}

// holder names those whose locks the migration waits for once it has waited for a while,
// by another connection; "" when it does not wait so long.
func (m *migration) holder(ctx context.Context) (who string) {
	pid := m.conn.PgConn().PID()
	if pause.For(ctx, lockWait/2) != nil {
		return ""
	}
	conn, err := connect(ctx, m.config, m.o.Schema)
	if err != nil {
		return ""
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // it only asked
	const ask = `SELECT coalesce(string_agg(format('process %s (%s, query began %s)', pid, application_name, coalesce(query_start::text, 'at a time that is hidden')), ', '), '')
		FROM pg_stat_activity WHERE pid = ANY (pg_blocking_pids($1))`
	_ = conn.QueryRow(ctx, ask, pid).Scan(&who) // then nobody is named
	return who
}
