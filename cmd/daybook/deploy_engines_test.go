package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/feed"
	"daybook/eventstore/memstore"
	"daybook/eventstore/postgres"
	"daybook/internal/testkit/engines"
	"daybook/internal/testkit/world"
)

// TestNATSFiles: servers with the files of deploy carry the feed for the user that
// they know, and for no one else.
func TestNATSFiles(t *testing.T) {
	// Not parallel: the files read the environment. A password of digits alone is one
	// too, given as the compose file gives it.
	const password = "20241122"
	as := fmt.Sprint(at(yamlDocuments(t, deployFile(t, "docker-compose.yml"))[0], "services", "nats", "environment", "NATS_PASSWORD"))
	as = placeholder.ReplaceAllString(as, password)
	t.Setenv("NATS_PASSWORD", as)
	t.Setenv("NATS_CLUSTER_PASSWORD", as)
	t.Setenv("NATS_NAME", "daybook-1")
	for _, name := range []string{"nats.conf", "cluster.conf"} {
		t.Run(name, func(t *testing.T) {
			options, err := natsserver.ProcessConfigFile(filepath.Join(repository, "deploy", "nats", name))
			must(t, err)
			if !options.JetStream || options.StoreDir != "/data" || options.ServerName != "daybook-1" || options.MaxPayload < feed.MaxPayload ||
				options.JetStreamMaxStore < 2*feed.DefaultMaxBytes || options.HTTPPort != 8222 {
				t.Errorf("JetStream %t in %s, server %q, payload %d, store %d", options.JetStream, options.StoreDir, options.ServerName, options.MaxPayload, options.JetStreamMaxStore)
			}
			if name == "cluster.conf" && (options.Cluster.Name != "daybook" || options.Cluster.Port != 6222 || options.Cluster.Password != password) {
				t.Errorf("cluster %+v", options.Cluster)
			}
			options.Cluster = natsserver.ClusterOpts{} // one server has no quorum of three
			options.Host, options.Port, options.HTTPPort, options.StoreDir, options.NoSigs, options.NoLog = "127.0.0.1", natsserver.RANDOM_PORT, 0, t.TempDir(), true, true
			server, err := natsserver.NewServer(options)
			must(t, err)
			server.Start()
			t.Cleanup(func() { server.Shutdown(); server.WaitForShutdown() })
			if !server.ReadyForConnections(limit) {
				t.Fatal("the server is not ready")
			}
			for _, text := range []string{"", "daybook:wrong@"} {
				if conn, err := nats.Connect(strings.Replace(server.ClientURL(), "nats://", "nats://"+text, 1)); err == nil {
					conn.Close()
					t.Errorf("%q may connect", text)
				}
			}
			feeds(t, strings.Replace(server.ClientURL(), "nats://", "nats://daybook:"+password+"@", 1))
		})
	}
}

// feeds sends entries through a server and reads them back.
func feeds(t *testing.T, url string) {
	t.Helper()
	conn, jetStream, err := feed.Connect(url, feed.ConnectOptions{})
	must(t, err)
	t.Cleanup(conn.Close)
	store := memstore.New()
	id, err := store.NewID(t.Context())
	must(t, err)
	res := store.Append(t.Context(), eventstore.Append{
		Time: world.Now, Actor: 1, Cause: eventstore.Cause{Client: "test", Request: "r"},
		Drafts: []eventstore.Draft{{Entry: eventstore.Entry{
			Kind:    calendar.KindVenue,
			ID:      id,
			Version: 1,
			Change:  "venue.created",
			Fields:  json.RawMessage(`{}`),
			State:   json.RawMessage(`{"fields":{}}`),
		}}},
	})
	if res.Err != nil {
		t.Fatal(res.Err)
	}
	relay := feed.NewRelay(store, jetStream, feed.RelayOptions{})
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	relayed := make(chan error, 1)
	go func() { relayed <- relay.Run(ctx) }()
	// The relay begins again where it is refused, so what it cannot do shows here.
	for relay.Stats().Position < res.Position && ctx.Err() == nil {
		if number := relay.Stats().Retries; number > 0 {
			t.Errorf("the relay began again %d times", number)
			break
		}
		<-time.After(5 * time.Millisecond)
	}
	consumer, err := jetStream.OrderedConsumer(ctx, feed.StreamName(feed.DefaultPrefix), jetstream.OrderedConsumerConfig{})
	must(t, err)
	if msg, err := consumer.Next(jetstream.FetchMaxWait(10 * time.Second)); err != nil || !strings.HasPrefix(msg.Subject(), "daybook.changes.venue.") {
		t.Errorf("read %v, %v", msg, err)
	}
	stop()
	if err := <-relayed; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestPostgresFiles: a server takes every setting of the file, and the roles have
// the rights that they are said to have.
func TestPostgresFiles(t *testing.T) {
	t.Parallel()
	engine := engines.Own(t, engines.Postgres)
	connect := func(user, database string) *pgx.Conn {
		t.Helper()
		address, err := url.Parse(engine.URL())
		must(t, err)
		address.User, address.Path = url.User(user), "/"+database
		conn, err := pgx.Connect(t.Context(), address.String())
		must(t, err)
		t.Cleanup(func() { _ = conn.Close(t.Context()) })
		return conn
	}
	super := connect("postgres", "postgres")
	set := 0
	for line := range strings.Lines(deployFile(t, "deploy", "postgres", "postgresql.conf")) {
		line, _, _ = strings.Cut(line, "#")
		name, value, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		name, value = strings.TrimSpace(name), strings.Trim(strings.TrimSpace(value), "'")
		if _, err := super.Exec(t.Context(), "ALTER SYSTEM SET "+name+" = '"+value+"'"); err != nil {
			t.Errorf("%s = %s: %v", name, value, err)
		}
		if slices.Contains([]string{"fsync", "synchronous_commit", "full_page_writes"}, name) && value != "on" {
			t.Errorf("%s is %s", name, value)
		}
		set++
	}
	if set < 10 {
		t.Errorf("read %d settings only", set)
	}
	if _, err := super.Exec(t.Context(), "CREATE DATABASE daybook"); err != nil {
		t.Fatal(err)
	}
	if _, err := connect("postgres", "daybook").PgConn().Exec(t.Context(), deployFile(t, "deploy", "postgres", "roles.sql")).ReadAll(); err != nil {
		t.Fatal(err)
	}
	passwords(t, strings.TrimSuffix(engine.URL(), "/postgres")+"/daybook", super)
	as := func(role string) string {
		return strings.Replace(strings.TrimSuffix(engine.URL(), "/postgres")+"/daybook", "postgres@", role+"@", 1)
	}
	for says, command := range map[string][]string{"owner has to make": {"user", "add", "ada", "--role", "editor"}, "daybook migrate": {"user", "list"}} {
		wantTool(t, exitFailed, says, append(command, "--store", as("daybook"))...)
	}
	for range 2 { // the second time there is nothing to do
		out := mustTool(t, "migrate", "--store", as("daybook_owner"), "--service-role", "daybook_service")
		if out != "schema daybook has the present form, and role daybook_service its rights\n" {
			t.Errorf("migrate: %q", out)
		}
	}
	if token := mustTool(t, "user", "add", "ada", "--role", "editor", "--store", as("daybook")); len(token) < 32 {
		t.Errorf("the service adds a user: %q", token)
	}
	if out := mustTool(t, "user", "list", "--store", as("daybook")); !strings.Contains(out, "ada") {
		t.Errorf("the service lists users: %q", out)
	}
	if out := mustTool(t, "verify", "--store", as("daybook")); !strings.Contains(out, "chain head") {
		t.Errorf("the service verifies: %q", out)
	}
	if left, err := postgres.Compact(t.Context(), as("daybook_owner"), postgres.Options{}); err != nil || len(left) > 0 {
		t.Errorf("the owner compacts: %q, %v", left, err)
	}
	for _, statement := range []string{
		"CREATE TABLE daybook.mine (n int)", "CREATE TABLE public.mine (n int)", "CREATE SCHEMA mine", "DROP TABLE daybook.entries",
		"UPDATE daybook.entries SET actor = 1", "DELETE FROM daybook.entries", "CREATE ROLE mine", "CREATE DATABASE mine",
	} {
		if _, err := connect("daybook", "daybook").Exec(t.Context(), statement); err == nil {
			t.Errorf("the service may %s", statement)
		}
	}
}

// passwords runs passwords.sql as the image of PostgreSQL does, with psql, and looks
// whether both roles have one.
func passwords(t *testing.T, url string, super *pgx.Conn) {
	t.Helper()
	psql, err := exec.LookPath("psql")
	if err != nil {
		t.Logf("psql is not there, passwords.sql was not run: %v", err)
		return
	}
	run := func(env ...string) error {
		cmd := exec.CommandContext(t.Context(), psql, "--no-psqlrc", "--dbname", url, "--file", filepath.Join(repository, "deploy", "postgres", "passwords.sql"))
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	with := func() (n int) {
		t.Helper()
		must(t, super.QueryRow(t.Context(), "SELECT count(*) FROM pg_authid WHERE rolname IN ('daybook', 'daybook_owner') AND rolpassword LIKE 'SCRAM-SHA-256$%'").Scan(&n))
		return n
	}
	if err := run("OWNER_PASSWORD=1234"); err == nil || with() == 2 {
		t.Errorf("without a password: %v, and %d roles have one", err, with())
	}
	if err := run("OWNER_PASSWORD=1234", "STORE_PASSWORD=it's"); err != nil || with() != 2 {
		t.Errorf("%v, and %d roles have a password, want 2", err, with())
	}
}

// TestElasticsearchUser: the script makes a role that has the indices of the service
// and nothing else, and a user with that role; a server that refuses ends it.
func TestElasticsearchUser(t *testing.T) {
	t.Parallel()
	for _, need := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(need); err != nil {
			engines.Require(t, need, err.Error())
		}
	}
	var mu sync.Mutex
	bodies := map[string]string{}
	refuse := false
	server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		name, password, _ := request.BasicAuth()
		data, err := io.ReadAll(request.Body)
		if err != nil || request.Method != http.MethodPut || name != "elastic" || password != "super" || request.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s as %s %s: %v", request.Method, name, password, err)
		}
		if refuse {
			writer.WriteHeader(http.StatusForbidden)
			return
		}
		bodies[request.URL.Path] = string(data)
	}))
	defer server.Close()
	run := func(env ...string) error {
		cmd := exec.CommandContext(t.Context(), filepath.Join(repository, "deploy", "elasticsearch", "user.sh"))
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	all := []string{"ELASTIC_URL=" + server.URL, "ELASTIC_PASSWORD=super", "INDEX_PASSWORD=20241122"}
	if err := run(all[:2]...); err == nil {
		t.Error("a user without a password is made")
	}
	must(t, run(all...))
	var role struct {
		Cluster []string
		Indices []struct{ Names, Privileges []string }
	}
	must(t, json.Unmarshal([]byte(bodies["/_security/role/daybook"]), &role))
	if fmt.Sprint(role) != "{[monitor] [{["+defaultOf(t, "index-prefix")+"-*] [manage read write]}]}" {
		t.Errorf("the role has %v", role)
	}
	if got := bodies["/_security/user/daybook"]; got != `{"password":"20241122","roles":["daybook"]}` {
		t.Errorf("the user is %s", got)
	}
	mu.Lock()
	refuse = true
	mu.Unlock()
	if err := run(all...); err == nil {
		t.Error("a server that refuses is not noticed")
	}
}
