package engines

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// PostgresServer is a PostgreSQL of one test: a primary, or a standby that streams from
// one. The user of its URL is the superuser.
type PostgresServer struct{ *Engine }

// StartPostgres starts a PostgreSQL primary, as Own does.
func StartPostgres(t testing.TB) PostgresServer {
	t.Helper()
	return PostgresServer{Own(t, EnginePostgres)}
}

// Standby starts a standby that streams from the server under a name, which
// synchronous_standby_names knows it by. It has all that the server has when this
// returns.
func (s PostgresServer) Standby(name string) PostgresServer {
	s.t.Helper()
	n := PostgresServer{Own(s.t, EnginePostgres, "DAYBOOK_ENGINES_PRIMARY="+s.URL()+"?application_name="+name)}
	s.CaughtUp(n)
	return n
}

// query runs statements on a connection of their own and returns the last value that they
// return, as text.
func query(t testing.TB, url string, statements ...string) (value string) {
	t.Helper()
	ctx, end := clearing(t)
	defer end()
	conn, err := pgconn.Connect(ctx, url)
	must(t, err)
	defer func() { _ = conn.Close(ctx) }()
	for _, text := range statements {
		results, err := conn.Exec(ctx, text).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for _, row := range results[0].Rows {
			value = string(row[0])
		}
	}
	return value
}

// Exec runs statements as the superuser and returns the last value that they return.
func (s PostgresServer) Exec(statements ...string) string {
	s.t.Helper()
	return query(s.t, s.URL(), statements...)
}

// await waits until a query returns true.
func (s PostgresServer) await(what, query string) {
	s.t.Helper()
	for end := time.Now().Add(2 * clearLimit); s.Exec(query) != "t"; <-time.After(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("%s: it never %s", s.URL(), what)
		}
	}
}

// Cut makes a standby receive no more from its primary: what is written there from
// now on is lost when the standby is promoted.
func (s PostgresServer) Cut() {
	s.t.Helper()
	s.Exec("ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()")
	s.await("receives no more", "SELECT count(*) = 0 FROM pg_stat_wal_receiver")
}

// CaughtUp waits until a standby has replayed all that the server has written.
func (s PostgresServer) CaughtUp(standby PostgresServer) {
	s.t.Helper()
	standby.await("has caught up", "SELECT pg_last_wal_replay_lsn() >= '"+s.Exec("SELECT pg_current_wal_lsn()")+"'")
}

// Promote makes a standby a primary, and waits until it takes writes.
func (s PostgresServer) Promote() {
	s.t.Helper()
	s.Exec("SELECT pg_promote(true, 60)")
	s.await("takes writes", "SELECT NOT pg_is_in_recovery()")
}

// Dump writes a schema of the server to a file as pg_dump does, and gives its path;
// Restore puts such a file into the server, over what the schema has.
func (s PostgresServer) Dump(schema string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, unique())
	s.tool("pg_dump", "-Fc", "-n", schema, "-f", path)
	return path
}

// Restore puts what Dump gave back.
func (s PostgresServer) Restore(schema, path string) {
	s.t.Helper()
	s.Exec("DROP SCHEMA IF EXISTS " + schema + " CASCADE")
	s.tool("pg_restore", "--exit-on-error", "--single-transaction", path)
}

// tool runs a program of the server's own version on its database.
func (s PostgresServer) tool(name string, args ...string) {
	s.t.Helper()
	bin := s.Exec("SELECT setting FROM pg_config WHERE name = 'BINDIR'")
	if out, err := exec.CommandContext(s.t.Context(), filepath.Join(bin, name), append(args, "-d", s.URL())...).CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v\n%s", name, err, out)
	}
}
