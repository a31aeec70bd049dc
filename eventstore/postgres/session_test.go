package postgres_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"daybook/eventstore"
	"daybook/eventstore/postgres"
)

// roleOf makes a login role with settings of its own that owns a schema, and returns
// its URL at a server.
func roleOf(t *testing.T, at, schema string, settings ...string) string {
	t.Helper()
	role := schema + "_role"
	sqlExec(t, admin(t), "CREATE ROLE "+role+" LOGIN; ALTER SCHEMA "+schema+" OWNER TO "+role)
	dropRoles(t, role)
	for _, set := range settings {
		sqlExec(t, admin(t), "ALTER ROLE "+role+" SET "+set)
	}
	return strings.Replace(at, "postgres://postgres@", "postgres://"+role+"@", 1)
}

// dropRoles removes roles and what they own when the test ends.
func dropRoles(t *testing.T, roles ...string) {
	t.Helper()
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		conn, err := pgx.Connect(ctx, server(t))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(ctx) }()
		for _, role := range roles {
			if _, err := conn.Exec(ctx, "DROP OWNED BY "+role+" CASCADE; DROP ROLE "+role); err != nil {
				t.Error(err)
			}
		}
	})
}

// odd are settings of a role under which a session would not do what the store relies on; a
// pooler passes none of the first four on.
var odd = []string{
	"bytea_output = 'escape'", "default_transaction_isolation = 'serializable'", "client_min_messages = 'error'", "intervalstyle = 'iso_8601'",
	"client_encoding = 'LATIN1'", "row_security = 'on'", "datestyle = 'German'", "standard_conforming_strings = 'off'",
}

// TestSettingsOfTheRole: whatever sessions a role asks for, the store writes, reads and
// verifies the same, in every protocol.
func TestSettingsOfTheRole(t *testing.T) {
	t.Parallel()
	at := server(t)
	for name, params := range map[string][]string{
		"prepared": nil, "exec": {"default_query_exec_mode=exec"}, "simple": {"default_query_exec_mode=simple_protocol"},
	} {
		in := schema(t)
		url := with(t, roleOf(t, at, in, odd...), params...)
		s := open(t, url, postgres.Options{Schema: in})
		res := s.Append(t.Context(), because(t, 1, 1, "Café – 東京 \\ '"))
		if res.Err != nil {
			t.Fatalf("%s: append: %v", name, res.Err)
		}
		owner := open(t, at, postgres.Options{Schema: in})
		for who, store := range map[string]*postgres.Store{"the role": s, "the owner": owner} {
			entries, err := store.Read(t.Context(), eventstore.Range{Limit: 10})
			if err != nil || len(entries) != 1 || entries[0].Cause.Reason != "Café – 東京 \\ '" {
				t.Errorf("%s: %s reads %+v, %v", name, who, entries, err)
			}
			wantEntries(t, store, 1)
		}
	}
}

// TestEmptyLog: a log that is suddenly empty is not believed as long as the store is the same
// one, neither when a policy hides it from the role; another store is believed.
func TestEmptyLog(t *testing.T) {
	t.Parallel()
	conn, in := admin(t), schema(t)
	url := roleOf(t, server(t), in, "row_security = 'on'")
	store := open(t, url, postgres.Options{Schema: in})
	write(t, store, 1, 1, "there")
	epoch := store.Epoch()
	for what, texts := range map[string][2]string{
		"hidden": {"ALTER TABLE @.commits ENABLE ROW LEVEL SECURITY; ALTER TABLE @.commits FORCE ROW LEVEL SECURITY", "ALTER TABLE @.commits DISABLE ROW LEVEL SECURITY"},
		"gone": {
			"ALTER TABLE @.commits DISABLE TRIGGER ALL; CREATE TABLE @.aside AS TABLE @.commits; DELETE FROM @.commits",
			"INSERT INTO @.commits SELECT * FROM @.aside; DROP TABLE @.aside",
		},
	} {
		sqlExec(t, conn, strings.ReplaceAll(texts[0], "@", in))
		if head, err := position(t.Context(), store); !errors.Is(err, eventstore.ErrUnavailable) {
			t.Errorf("%s: head %d, %v", what, head, err)
		}
		if _, err := postgres.Open(t.Context(), url, postgres.Options{Schema: in}); what == "hidden" && (err == nil || !strings.Contains(err.Error(), "row-level security")) {
			t.Errorf("opening: %v", err)
		}
		sqlExec(t, conn, strings.ReplaceAll(texts[1], "@", in))
		eventually(t, "head", func() error { _, err := position(t.Context(), store); return err })
		if store.Epoch() != epoch {
			t.Errorf("%s: another history, though the log was only hidden", what)
		}
	}
	sqlExec(t, conn, strings.ReplaceAll("ALTER TABLE @.commits DISABLE TRIGGER ALL; DELETE FROM @.commits; UPDATE @.identity SET uuid = gen_random_uuid()", "@", in))
	eventually(t, "another store", func() error {
		if head, err := position(t.Context(), store); err != nil || head != 0 || store.Epoch() == epoch {
			return errors.Join(err, errors.New("is not seen"))
		}
		return nil
	})
}

// pooler is a pooler that gives each transaction of a client another connection to the server
// and takes no parameter of a session but the usual ones, as PgBouncer does.
func pooler(t *testing.T, at string) string {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	address := u.Host
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				pool(t.Context(), pgproto3.NewBackend(client, client), client, address)
			}()
		}
	}()
	u.Host = listener.Addr().String()
	return u.String()
}

// pool serves one client of a pooler.
func pool(ctx context.Context, back *pgproto3.Backend, client io.Writer, address string) {
	start, err := back.ReceiveStartupMessage()
	if _, secure := start.(*pgproto3.SSLRequest); secure {
		_, _ = client.Write([]byte{'N'}) // the client sees what comes
		start, err = back.ReceiveStartupMessage()
	}
	session, ok := start.(*pgproto3.StartupMessage)
	if err != nil || !ok {
		return
	}
	for name := range session.Parameters {
		if !strings.Contains("user database application_name client_encoding datestyle timezone standard_conforming_strings", strings.ToLower(name)) {
			back.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "08P01", Message: "unsupported startup parameter: " + name})
			_ = back.Flush() // the client sees what comes
			return
		}
	}
	var servers [2]*pgproto3.Frontend
	answer := func(server *pgproto3.Frontend, pass bool) (idle bool) { // up to the end of a query
		for {
			backendMessage, err := server.Receive()
			if err != nil {
				return false
			}
			if pass {
				back.Send(backendMessage)
			}
			if end, ok := backendMessage.(*pgproto3.ReadyForQuery); ok {
				_ = back.Flush() // the client sees what comes
				return end.TxStatus == 'I'
			}
		}
	}
	for i := range servers {
		server, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return
		}
		defer server.Close()
		servers[i] = pgproto3.NewFrontend(server, server)
		servers[i].Send(start)
		if servers[i].Flush() != nil {
			return
		}
		answer(servers[i], i == 0)
	}
	for {
		frontendMessage, err := back.Receive()
		if err != nil {
			return
		}
		servers[0].Send(frontendMessage)
		switch frontendMessage.(type) {
		case *pgproto3.Query, *pgproto3.Sync:
			if servers[0].Flush() != nil {
				return
			}
			if answer(servers[0], true) {
				servers[0], servers[1] = servers[1], servers[0]
			}
		}
	}
}

// TestPooler: a pooler that keeps no prepared statements is named with the setting that helps,
// a session that is not right is refused by the name of its setting, and with the right
// settings the store works.
func TestPooler(t *testing.T) {
	t.Parallel()
	at, in := pooler(t, server(t)), schema(t)
	opened := open(t, server(t), postgres.Options{Schema: in})
	store, err := postgres.Open(t.Context(), at, postgres.Options{Schema: in, PollOnly: true})
	if err == nil {
		_, err = store.Load(t.Context(), 1)
		_ = store.Close() // its error was looked at
	}
	if !errors.Is(err, eventstore.ErrUnavailable) || !strings.Contains(err.Error(), "pooler") || !strings.Contains(err.Error(), "default_query_exec_mode=exec") {
		t.Errorf("without the setting: got %v, want an error that names pooler and setting", err)
	}
	exec := with(t, at, "default_query_exec_mode=exec")
	for _, set := range odd[:4] {
		of := schema(t)
		name, _, _ := strings.Cut(set, " ")
		if _, err := postgres.Open(t.Context(), roleOf(t, exec, of, set), postgres.Options{Schema: of}); err == nil || errors.Is(err, eventstore.ErrUnavailable) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v, want a refusal that names it", set, err)
		}
	}
	write(t, open(t, exec, postgres.Options{Schema: in, PollOnly: true}), 1, 1, "through the pooler")
	wantEntries(t, opened, 1)
}
