// Package engines gives tests real servers: shared ones that DAYBOOK_TEST_* names, own
// ones that a test may kill, and what stands before servers: proxies and TLS.
package engines

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The names of the engines: of DAYBOOK_REQUIRE, of Own and of
// deploy/engines.
const (
	Postgres      = "postgres"
	NATS          = "nats"
	Elasticsearch = "elasticsearch"
	OpenSearch    = "opensearch"
	Chromium      = "chromium"
)

// engineLimit bounds every wait for an engine; the first start of a search
// server fetches its libraries.
const engineLimit = 6 * time.Minute

// scriptPath is where the script is that starts engines, below the folder of the module.
const scriptPath = "/deploy/engines/engines"

// clearLimit bounds what a test removes at its end.
const clearLimit = 30 * time.Second

// URL returns the URL of a shared engine; without one the test does not run.
func URL(t testing.TB, name string) string {
	t.Helper()
	variable := engineVariable(name)
	address := os.Getenv(variable)
	if address == "" {
		Require(t, name, variable+" is not set (deploy/engines/up "+name+" starts one)")
	}
	return strings.TrimRight(address, "/")
}

func engineVariable(name string) string { return "DAYBOOK_TEST_" + strings.ToUpper(name) }

// clearing returns the context of what a test removes when it ends.
func clearing(t testing.TB) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(t.Context()), clearLimit)
}

// Shared returns the URL of a shared engine and a name that no other test has: lower case,
// letters and digits, a letter first, 17 characters. It is that of an empty schema of PostgreSQL,
// whose user may make schemas and roles, or a prefix for the names of streams, there in upper
// case, and of indices. What has the name is removed when the test ends.
func Shared(t testing.TB, name string) (address, own string) {
	t.Helper()
	address, own = URL(t, name), "t"+strings.ToLower(rand.Text())[:16]
	if name == Postgres {
		query(t, address, "CREATE SCHEMA "+own)
	}
	t.Cleanup(func() {
		switch name {
		case Postgres:
			query(t, address, "DROP SCHEMA IF EXISTS "+own+" CASCADE")
		case NATS:
			deleteStreams(t, address, strings.ToUpper(own))
		default:
			deleteIndices(t, address, own)
		}
	})
	return address, own
}

func deleteStreams(t testing.TB, address, prefix string) {
	conn, err := nats.Connect(address)
	must(t, err)
	defer conn.Close()
	jetStream, err := jetstream.New(conn)
	must(t, err)
	ctx, end := clearing(t)
	defer end()
	names := jetStream.StreamNames(ctx)
	for name := range names.Name() {
		if strings.HasPrefix(name, prefix) {
			must(t, jetStream.DeleteStream(ctx, name))
		}
	}
	must(t, names.Err())
}

// deleteIndices deletes by full names: the server refuses a wildcard.
func deleteIndices(t testing.TB, address, prefix string) {
	var indices map[string]any
	Fetch(t, http.MethodGet, address+"/"+prefix+"*/_alias?expand_wildcards=all", &indices)
	for index := range indices {
		Fetch(t, http.MethodDelete, address+"/"+index, &struct{}{})
	}
}

// SearchServers are the search servers that whole services are tested on. What is different
// about OpenSearch is proved by the tests of its adapter, so it has its turn at night only.
func SearchServers() []string {
	if os.Getenv("DAYBOOK_NIGHTLY") != "" {
		return []string{Elasticsearch, OpenSearch}
	}
	return []string{Elasticsearch}
}

// Fetch sends a request without a body and decodes the JSON of the answer, whose status may
// be 404. It leaves no connection.
func Fetch(t testing.TB, method, address string, into any) {
	t.Helper()
	ctx, end := clearing(t)
	defer end()
	request, err := http.NewRequestWithContext(ctx, method, address, nil)
	must(t, err)
	request.Close = true
	answer, err := http.DefaultClient.Do(request)
	must(t, err)
	defer func() { _ = answer.Body.Close() }()
	status := answer.StatusCode
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil || status != http.StatusOK && status != http.StatusNotFound {
		t.Fatalf("%s %s: status %d, %v", method, address, status, err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Engine is a server of one test: it may be killed and started again.
type Engine struct {
	testing.TB

	name      string
	directory string
	address   string

	variables []string // for the script
}

// Own starts an engine of this test alone by deploy/engines, on a port and
// with data of its own, and stops it when the test ends, or when its process
// dies. It asks for an engine by name as the shared ones do: where the name is
// neither in DAYBOOK_REQUIRE nor a shared one given by DAYBOOK_TEST_*, the test
// does not run, so that a plain test run starts no server. Further variables of the
// script are NAME=VALUE.
func Own(t testing.TB, name string, variables ...string) *Engine {
	t.Helper()
	if !Required(name) && os.Getenv(engineVariable(name)) == "" {
		Require(t, name, "neither DAYBOOK_REQUIRE nor "+engineVariable(name)+" asks for one")
	}
	directory, err := os.MkdirTemp("", "daybook-own-") //nolint:usetesting // PostgreSQL runs as another user, who could not pass t.TempDir
	must(t, err)
	must(t, os.Chmod(directory, 0o711))
	engine := &Engine{TB: t, name: name, directory: directory, variables: variables}
	// It reads its input to the end first: Cleanup closes that, or the end of the process.
	guard := engine.command(context.WithoutCancel(t.Context()), "bash", "-c", `read -r _; "$0" down >/dev/null 2>&1; rm -rf "$1"`,
		moduleRoot(t)+scriptPath, directory)
	input, err := guard.StdinPipe()
	must(t, err)
	must(t, guard.Start())
	t.Cleanup(func() {
		_ = input.Close()
		if err := guard.Wait(); err != nil {
			t.Errorf("take %s down: %v", name, err)
		}
	})
	if err := engine.run("up"); err != nil {
		Require(t, name, err.Error())
	}
	return engine
}

// command is a process with this engine's folder, out of reach of the signals
// that a terminal sends to the tests.
func (engine *Engine) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, name, args...)
	for _, text := range os.Environ() {
		if !strings.HasPrefix(text, "DAYBOOK_") {
			command.Env = append(command.Env, text)
		}
	}
	// A test installs nothing.
	command.Env = append(append(command.Env, "DAYBOOK_ENGINES_DIR="+engine.directory, "DAYBOOK_ENGINES_INSTALL=0"), engine.variables...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return command
}

// run runs one action of the script and keeps the URL that it prints.
func (engine *Engine) run(action string) error {
	engine.Helper()
	ctx, end := context.WithTimeout(context.WithoutCancel(engine.Context()), engineLimit)
	defer end()
	data, err := engine.command(ctx, moduleRoot(engine)+scriptPath, action, engine.name).CombinedOutput()
	if err != nil {
		return fmt.Errorf("deploy/engines/%s %s: %w\n%s", action, engine.name, err, data)
	}
	if _, address, ok := strings.Cut(string(data), engineVariable(engine.name)+"="); ok {
		engine.address, _, _ = strings.Cut(address, "\n")
	}
	return nil
}

// Data is the folder of its data. Removed after Kill9, the engine starts empty.
func (engine *Engine) Data() string { return filepath.Join(engine.directory, engine.name, "data") }

// URL is where the engine serves; it stays the same over Kill9 and Start.
func (engine *Engine) URL() string { return engine.address }

// Kill9 ends the engine by SIGKILL, with its children. What it had
// acknowledged is there after Start.
func (engine *Engine) Kill9() {
	engine.Helper()
	must(engine, engine.run("kill"))
}

// Start starts the engine again after Kill9, on the same port with the same
// data, and waits until it is ready.
func (engine *Engine) Start() {
	engine.Helper()
	must(engine, engine.run("start"))
}
