package engines

import (
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
	return PostgresServer{Own(t, Postgres)}
}

// Standby starts a standby that streams from the server under a name, which
// synchronous_standby_names knows it by. It has all that the server has when this
// returns.
func (postgresServer PostgresServer) Standby(name string) PostgresServer {
	postgresServer.Helper()
	server := PostgresServer{Own(postgresServer, Postgres, "DAYBOOK_ENGINES_PRIMARY="+postgresServer.URL()+"?application_name="+name)}
	postgresServer.CaughtUp(server)
	return server
}

// query runs statements on a connection of their own and returns the last value that they
// return, as text.
func query(t testing.TB, address string, statements ...string) (value string) {
	t.Helper()
	ctx, end := clearing(t)
	defer end()
	conn, err := pgconn.Connect(ctx, address)
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
func (postgresServer PostgresServer) Exec(statements ...string) string {
	postgresServer.Helper()
	return query(postgresServer, postgresServer.URL(), statements...)
}

// await waits until a query returns true.
func (postgresServer PostgresServer) await(what, query string) {
	postgresServer.Helper()
	for end := time.Now().Add(2 * clearLimit); postgresServer.Exec(query) != "t"; <-time.After(20 * time.Millisecond) {
		if time.Now().After(end) {
			postgresServer.Fatalf("%s: it never %s", postgresServer.URL(), what)
		}
	}
}

// Cut makes a standby receive no more from its primary: what is written there from
// now on is lost when the standby is promoted.
func (postgresServer PostgresServer) Cut() {
	postgresServer.Helper()
	postgresServer.Exec("ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()")
	postgresServer.await("receives no more", "SELECT count(*) = 0 FROM pg_stat_wal_receiver")
}

// CaughtUp waits until a standby has replayed all that the server has written.
func (postgresServer PostgresServer) CaughtUp(standby PostgresServer) {
	postgresServer.Helper()
	standby.await("has caught up", "SELECT pg_last_wal_replay_lsn() >= '"+postgresServer.Exec("SELECT pg_current_wal_lsn()")+"'")
}

// Promote makes a standby a primary, and waits until it takes writes.
func (postgresServer PostgresServer) Promote() {
	postgresServer.Helper()
	postgresServer.Exec("SELECT pg_promote(true, 60)")
	postgresServer.await("takes writes", "SELECT NOT pg_is_in_recovery()")
}
