// Package engines gives tests real servers: shared ones that DAYBOOK_TEST_* names, own
// ones that a test may kill, and what stands before servers: proxies and TLS.
package engines

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The names of the engines: of DAYBOOK_REQUIRE, of Own and of
// deploy/engines.
const (
	EnginePostgres      = "postgres"
	EngineNATS          = "nats"
	EngineElasticsearch = "elasticsearch"
	EngineOpenSearch    = "opensearch"
	EngineChromium      = "chromium"
)

// engineLimit bounds every wait for an engine; the first start of a search
// server fetches its libraries.
const engineLimit = 6 * time.Minute

// clearLimit bounds what a test removes at its end.
const clearLimit = 30 * time.Second

// URL gives the URL of a shared engine; without one the test does not run.
func URL(t testing.TB, name string) string {
	t.Helper()
	variable := engineVariable(name)
	url := os.Getenv(variable)
	if url == "" {
		Require(t, name, variable+" is not set (deploy/engines/up "+name+" starts one)")
	}
	return url
}

func engineVariable(name string) string { return "DAYBOOK_TEST_" + strings.ToUpper(name) }

// unique is a name that no other test has: lower case, letters and digits, a
// letter first, 17 characters.
func unique() string { return "t" + strings.ToLower(rand.Text())[:16] }

// clearing gives the context of what a test removes when it ends.
func clearing(t testing.TB) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(context.WithoutCancel(t.Context()), clearLimit)
}

// shared returns the URL of a shared engine and a name that is unique; remove removes what
// has the name when the test ends.
func shared(t testing.TB, name string, remove func(ctx context.Context, url, own string) error) (url, own string) {
	t.Helper()
	url, own = strings.TrimRight(URL(t, name), "/"), unique()
	t.Cleanup(func() {
		ctx, end := clearing(t)
		defer end()
		if err := remove(ctx, url, own); err != nil {
			t.Errorf("%s of %s: %v", name, engineVariable(name), err)
		}
	})
	return url, own
}

// Postgres gives the URL of the server of DAYBOOK_TEST_POSTGRES and the name of
// an empty schema in it, which is dropped when the test ends. The user of the
// URL may make schemas and roles.
func Postgres(t testing.TB) (url, schema string) {
	t.Helper()
	url, schema = shared(t, EnginePostgres, func(ctx context.Context, url, schema string) error {
		return execute(ctx, url, "DROP SCHEMA IF EXISTS "+schema+" CASCADE")
	})
	if err := execute(t.Context(), url, "CREATE SCHEMA "+schema); err != nil {
		t.Fatalf("PostgreSQL of %s: %v", engineVariable(EnginePostgres), err)
	}
	return url, schema
}

// execute runs statements on a connection of their own.
func execute(ctx context.Context, url string, statements ...string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, text := range statements {
		if _, err := conn.Exec(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// NATS gives the URL of the server of DAYBOOK_TEST_NATS and a prefix for the names of
// streams, in lower case; those that have it in upper case are deleted when the test
// ends.
func NATS(t testing.TB) (url, prefix string) {
	t.Helper()
	return shared(t, EngineNATS, deleteStreams)
}

func deleteStreams(ctx context.Context, url, prefix string) error {
	conn, err := nats.Connect(url)
	if err != nil {
		return err
	}
	defer conn.Close()
	prefix = strings.ToUpper(prefix)
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	names := js.StreamNames(ctx)
	for name := range names.Name() {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		if err := js.DeleteStream(ctx, name); err != nil {
			return fmt.Errorf("delete stream %s: %w", name, err)
		}
	}
	return names.Err()
}

// Elasticsearch gives the URL of the server of DAYBOOK_TEST_ELASTICSEARCH and a
// prefix for the names of indices; those that have it are deleted when the test
// ends.
func Elasticsearch(t testing.TB) (url, prefix string) {
	t.Helper()
	return shared(t, EngineElasticsearch, deleteIndices)
}

// OpenSearch is Elasticsearch for the server of DAYBOOK_TEST_OPENSEARCH.
func OpenSearch(t testing.TB) (url, prefix string) {
	t.Helper()
	return shared(t, EngineOpenSearch, deleteIndices)
}

// deleteIndices deletes by full names: the server refuses a wildcard.
func deleteIndices(ctx context.Context, url, prefix string) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // a connection that is kept looks like a leak
	send := func(method, path string) ([]byte, error) {
		r, err := http.NewRequestWithContext(ctx, method, url+path, nil)
		if err != nil {
			return nil, err
		}
		answer, err := client.Do(r)
		if err != nil {
			return nil, err
		}
		defer func() { _ = answer.Body.Close() }()
		body, err := io.ReadAll(answer.Body)
		if err == nil && answer.StatusCode >= http.StatusMultipleChoices && answer.StatusCode != http.StatusNotFound {
			err = fmt.Errorf("%s %s: status %d: %.300s", method, path, answer.StatusCode, body)
		}
		return body, err
	}
	body, err := send(http.MethodGet, "/"+prefix+"*/_alias?expand_wildcards=all")
	if err != nil {
		return err
	}
	var indices map[string]json.RawMessage
	if err := json.Unmarshal(body, &indices); err != nil {
		return fmt.Errorf("list of indices: %w", err)
	}
	for index := range indices {
		if !strings.HasPrefix(index, prefix) {
			continue
		}
		if _, err := send(http.MethodDelete, "/"+index); err != nil {
			return err
		}
	}
	return nil
}

// Engine is a server of one test: it may be killed and started again.
type Engine struct {
	t    testing.TB
	name string
	dir  string
	url  string
}

// Own starts an engine of this test alone by deploy/engines, on a port and
// with data of its own, and stops it when the test ends, or when its process
// dies. It asks for an engine by name as the shared ones do: where the name is
// neither in DAYBOOK_REQUIRE nor a shared one given by DAYBOOK_TEST_*, the test
// does not run, so that a plain test run starts no server.
func Own(t testing.TB, name string) *Engine {
	t.Helper()
	requireOwn(t, name)
	dir, err := os.MkdirTemp("", "daybook-own-") //nolint:usetesting // PostgreSQL runs as another user, who could not pass t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	e := &Engine{t: t, name: name, dir: dir}
	end := guard(t, e.command(context.WithoutCancel(t.Context()), "bash", "-c", `read -r _; "$0" down >/dev/null 2>&1; rm -rf "$1"`,
		filepath.Join(moduleRoot(t), "deploy", "engines", "engines"), dir))
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Errorf("take %s down: %v", name, err)
		}
	})
	if err := e.run("up"); err != nil {
		Require(t, name, err.Error())
	}
	return e
}

// requireOwn ends a test that starts an engine of its own where nothing asks for one.
func requireOwn(t testing.TB, name string) {
	t.Helper()
	if !Required(name) && os.Getenv(engineVariable(name)) == "" {
		Require(t, name, "neither DAYBOOK_REQUIRE nor "+engineVariable(name)+" asks for one")
	}
}

// guard starts a shell command that reads its input to the end first: it does the rest
// when end is called, or when the process of the test dies.
func guard(t testing.TB, cmd *exec.Cmd) (end func() error) {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() error {
		_ = input.Close()
		return cmd.Wait()
	}
}

// command is a process with this engine's folder, out of reach of the signals
// that a terminal sends to the tests.
func (e *Engine) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "DAYBOOK_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	// A test installs nothing.
	cmd.Env = append(cmd.Env, "DAYBOOK_ENGINES_DIR="+e.dir, "DAYBOOK_ENGINES_INSTALL=0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// run runs one action of the script and keeps the URL that it prints.
func (e *Engine) run(action string) error {
	e.t.Helper()
	ctx, end := context.WithTimeout(context.WithoutCancel(e.t.Context()), engineLimit)
	defer end()
	cmd := e.command(ctx, filepath.Join(moduleRoot(e.t), "deploy", "engines", "engines"), action, e.name)
	var out, errText bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errText
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("deploy/engines/%s %s: %w\n%s", action, e.name, err, errText.String())
	}
	first, _, _ := strings.Cut(out.String(), "\n")
	if url, ok := strings.CutPrefix(first, engineVariable(e.name)+"="); ok {
		e.url = url
	}
	return nil
}

// URL is where the engine serves; it stays the same over Kill9 and Start.
func (e *Engine) URL() string { return e.url }

// Kill9 ends the engine by SIGKILL, with its children. What it had
// acknowledged is there after Start.
func (e *Engine) Kill9() {
	e.t.Helper()
	if err := e.run("kill"); err != nil {
		e.t.Fatal(err)
	}
}

// Erase removes the data of an engine after Kill9: it starts empty.
func (e *Engine) Erase() {
	e.t.Helper()
	if err := os.RemoveAll(filepath.Join(e.dir, e.name, "data")); err != nil {
		e.t.Fatal(err)
	}
}

// Start starts the engine again after Kill9, on the same port with the same
// data (none after Erase), and waits until it is ready.
func (e *Engine) Start() {
	e.t.Helper()
	if err := e.run("start"); err != nil {
		e.t.Fatal(err)
	}
}
