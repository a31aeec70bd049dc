package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"daybook/eventstore"
	"daybook/eventstore/postgres"
	"daybook/eventstore/storetest"
)

// roleOf makes a login role with settings of its own that owns a schema, and returns
// its URL at a server.
func roleOf(t *testing.T, c *pgx.Conn, at, schema string, settings ...string) string {
	t.Helper()
	role := schema + "_role"
	sqlExec(t, c, "CREATE ROLE "+role+" LOGIN")
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		a, err := pgx.Connect(ctx, server(t))
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = a.Close(ctx) }()
		if _, err := a.Exec(ctx, "DROP OWNED BY "+role+" CASCADE; DROP ROLE "+role); err != nil {
			t.Error(err)
		}
	})
	sqlExec(t, c, "CREATE SCHEMA "+schema+" AUTHORIZATION "+role)
	for _, set := range settings {
		sqlExec(t, c, "ALTER ROLE "+role+" SET "+set)
	}
	return strings.Replace(at, "postgres://postgres@", "postgres://"+role+"@", 1)
}

// odd are settings of a role under which a session would not do what the store relies on.
var odd = []string{
	"client_encoding = 'LATIN1'", "bytea_output = 'escape'", "default_transaction_isolation = 'serializable'", "client_min_messages = 'error'",
	"row_security = 'on'", "datestyle = 'German'", "intervalstyle = 'iso_8601'", "standard_conforming_strings = 'off'",
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
		url := with(t, roleOf(t, admin(t), at, in, odd...), params...)
		s := open(t, url, postgres.Options{Schema: in})
		res := s.Append(t.Context(), []eventstore.Append{because(t, 1, 1, "Café – 東京 \\ '")})[0]
		if res.Err != nil {
			t.Fatalf("%s: append: %v", name, res.Err)
		}
		if l, err := s.Acquire(t.Context(), "relay", "a", time.Hour); err != nil || l.Holder != "a" {
			t.Errorf("%s: lease: %+v, %v", name, l, err)
		}
		owner := open(t, at, postgres.Options{Schema: in})
		for who, store := range map[string]*postgres.Store{"the role": s, "the owner": owner} {
			entries, err := store.Read(t.Context(), eventstore.Range{Limit: 10})
			if err != nil || len(entries) != 1 || entries[0].Cause.Reason != "Café – 東京 \\ '" {
				t.Errorf("%s: %s reads %+v, %v", name, who, entries, err)
			}
			if _, n, err := storetest.Verify(t.Context(), store, nil); err != nil || n != 1 {
				t.Errorf("%s: %s verifies %d entries, %v", name, who, n, err)
			}
		}
	}
}

// TestHiddenRows: a policy that hides the log from the role is an error, never an empty
// store: while the store is open and when it is opened.
func TestHiddenRows(t *testing.T) {
	t.Parallel()
	c, in := admin(t), schema(t)
	url := roleOf(t, c, server(t), in, "row_security = 'on'")
	s := open(t, url, postgres.Options{Schema: in})
	write(t, s, 1, 1, "there")
	epoch := s.Epoch()
	for _, table := range []string{"entries", "commits", "records"} {
		sqlExec(t, c, "ALTER TABLE "+in+"."+table+" ENABLE ROW LEVEL SECURITY; ALTER TABLE "+in+"."+table+" FORCE ROW LEVEL SECURITY")
	}
	if head, err := position(t.Context(), s); !errors.Is(err, eventstore.ErrUnavailable) || s.Epoch() != epoch {
		t.Errorf("open: head %d, %v, epoch %d after %d", head, err, s.Epoch(), epoch)
	}
	if _, err := postgres.Open(t.Context(), url, postgres.Options{Schema: in}); err == nil || !strings.Contains(err.Error(), "row-level security") {
		t.Errorf("opening: %v", err)
	}
}

// TestLogBecomesEmpty: a log that is suddenly empty is not believed as long as the store
// is the same one, and is believed when it is another one.
func TestLogBecomesEmpty(t *testing.T) {
	t.Parallel()
	c, in := admin(t), schema(t)
	s := open(t, server(t), postgres.Options{Schema: in})
	write(t, s, 1, 1, "there")
	epoch := s.Epoch()
	sqlExec(t, c, "ALTER TABLE "+in+".commits DISABLE TRIGGER ALL; CREATE TABLE "+in+".aside AS TABLE "+in+".commits; DELETE FROM "+in+".commits")
	if head, err := position(t.Context(), s); !errors.Is(err, eventstore.ErrUnavailable) || s.Epoch() != epoch {
		t.Errorf("the same store: head %d, %v, epoch %d after %d", head, err, s.Epoch(), epoch)
	}
	sqlExec(t, c, "INSERT INTO "+in+".commits SELECT * FROM "+in+".aside")
	eventually(t, "head", func() error { _, err := position(t.Context(), s); return err })
	if s.Epoch() != epoch {
		t.Error("another history, though the log was only hidden")
	}
	sqlExec(t, c, "DELETE FROM "+in+".commits; UPDATE "+in+".identity SET uuid = gen_random_uuid()")
	eventually(t, "another store", func() error {
		if head, err := position(t.Context(), s); err != nil || head != 0 || s.Epoch() == epoch {
			return errors.Join(err, errors.New("is not seen"))
		}
		return nil
	})
}

// strictPooler is a pooler that takes no parameter of a session but the usual ones, as
// PgBouncer does.
func strictPooler(t *testing.T, at string) string {
	t.Helper()
	config, err := pgx.ParseConfig(at)
	if err != nil {
		t.Fatal(err)
	}
	return listening(t, at, func(client net.Conn) {
		var begin bytes.Buffer
		back := pgproto3.NewBackend(io.TeeReader(client, &begin), client)
		first, err := back.ReceiveStartupMessage()
		if err != nil {
			return
		}
		if start, ok := first.(*pgproto3.StartupMessage); ok {
			for name := range start.Parameters {
				if !strings.Contains("user database application_name client_encoding datestyle timezone standard_conforming_strings", strings.ToLower(name)) {
					back.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "08P01", Message: "unsupported startup parameter: " + name})
					_ = back.Flush() // the client sees what comes
					return
				}
			}
		}
		server, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", config.Host+":"+strconv.Itoa(int(config.Port)))
		if err != nil {
			return
		}
		defer server.Close()
		go func() {
			_, _ = io.Copy(server, io.MultiReader(&begin, client)) // until one of them ends
			_ = server.Close()
		}()
		_, _ = io.Copy(client, server)
	})
}

// listening returns the URL of a server with what serves a client in its place.
func listening(t *testing.T, at string, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				serve(client)
			}()
		}
	}()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = l.Addr().String()
	return u.String()
}

// rotatingPooler is a pooler that gives each transaction of a client another connection to
// the server, as PgBouncer does where it pools transactions.
func rotatingPooler(t *testing.T, at string) string {
	t.Helper()
	config, err := pgx.ParseConfig(at)
	if err != nil {
		t.Fatal(err)
	}
	address := net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
	return listening(t, at, func(client net.Conn) {
		back := pgproto3.NewBackend(client, client)
		start, err := back.ReceiveStartupMessage()
		if _, secure := start.(*pgproto3.SSLRequest); secure {
			_, _ = client.Write([]byte{'N'}) // the client sees what comes
			start, err = back.ReceiveStartupMessage()
		}
		if err != nil {
			return
		}
		var servers []*pgproto3.Frontend
		for range 2 {
			server, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
			if err != nil {
				return
			}
			defer server.Close()
			front := pgproto3.NewFrontend(server, server)
			front.Send(start)
			if front.Flush() != nil {
				return
			}
			servers = append(servers, front)
		}
		answer := func(server *pgproto3.Frontend, pass bool) (idle bool) { // up to the end of a query
			for {
				m, err := server.Receive()
				if err != nil {
					return false
				}
				if pass {
					back.Send(m)
				}
				if end, ok := m.(*pgproto3.ReadyForQuery); ok {
					_ = back.Flush() // the client sees what comes
					return end.TxStatus == 'I'
				}
			}
		}
		answer(servers[1], false)
		answer(servers[0], true)
		for {
			m, err := back.Receive()
			if err != nil {
				return
			}
			servers[0].Send(m)
			switch m.(type) {
			case *pgproto3.Query, *pgproto3.Sync:
			default:
				continue
			}
			if servers[0].Flush() != nil {
				return
			}
			if answer(servers[0], true) {
				servers[0], servers[1] = servers[1], servers[0]
			}
		}
	})
}

// TestPoolerOfTransactions: a pooler that keeps no prepared statements is named with the
// setting that helps, and with the setting the store works.
func TestPoolerOfTransactions(t *testing.T) {
	t.Parallel()
	at, in := rotatingPooler(t, server(t)), schema(t)
	opened := open(t, server(t), postgres.Options{Schema: in})
	s, err := postgres.Open(t.Context(), at, postgres.Options{Schema: in, PollOnly: true})
	if err == nil {
		_, err = s.Load(t.Context(), 1)
		_ = s.Close() // its error was looked at
	}
	if !errors.Is(err, eventstore.ErrUnavailable) || !strings.Contains(err.Error(), "pooler") || !strings.Contains(err.Error(), "default_query_exec_mode=exec") {
		t.Errorf("without the setting: got %v, want an error that names pooler and setting", err)
	}
	through := open(t, with(t, at, "default_query_exec_mode=exec"), postgres.Options{Schema: in, PollOnly: true})
	write(t, through, 1, 1, "through the pooler")
	if _, n, err := storetest.Verify(t.Context(), opened, nil); err != nil || n != 1 {
		t.Errorf("Verify: %d entries, %v", n, err)
	}
}

// TestStrictPooler: behind a pooler that passes no parameters on, a session that is not
// right is refused by the name of the setting, and one that is right works.
func TestStrictPooler(t *testing.T) {
	t.Parallel()
	at := strictPooler(t, server(t))
	for _, set := range odd {
		name, _, _ := strings.Cut(set, " ")
		if name == "row_security" || name == "client_encoding" || name == "datestyle" || name == "standard_conforming_strings" {
			continue // below; passed on
		}
		in := schema(t)
		url := roleOf(t, admin(t), at, in, set)
		if _, err := postgres.Open(t.Context(), url, postgres.Options{Schema: in}); err == nil || errors.Is(err, eventstore.ErrUnavailable) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v, want a refusal that names it", set, err)
		}
	}
	in := schema(t)
	url := with(t, roleOf(t, admin(t), at, in), "default_query_exec_mode=exec")
	s := open(t, url, postgres.Options{Schema: in})
	write(t, s, 1, 1, "through the pooler")
	if _, n, err := storetest.Verify(t.Context(), s, nil); err != nil || n != 1 {
		t.Errorf("Verify: %d entries, %v", n, err)
	}
	sqlExec(t, admin(t), "ALTER TABLE "+in+".entries ENABLE ROW LEVEL SECURITY; ALTER TABLE "+in+".entries FORCE ROW LEVEL SECURITY")
	if _, err := postgres.Open(t.Context(), url, postgres.Options{Schema: in}); err == nil || !strings.Contains(err.Error(), "row_security") {
		t.Errorf("a policy that hides the log: got %v, want a refusal that names row_security", err)
	}
}
