package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// childEnv makes the test binary the program itself.
const childEnv = "DAYBOOK_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		if file := os.Getenv(heapEnv); file != "" {
			go dumpHeap(file)
		}
		os.Exit(run(context.Background(), os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
	}
	// The tests wait for processes most of their time: more run at once than there are processors.
	_ = flag.Set("test.parallel", "8")
	status := m.Run()
	_ = os.RemoveAll(plainDir) // "" is nothing
	os.Exit(status)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// skipIfShort keeps a slow test out of a run with -short.
func skipIfShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skipf("%s did not run: it is slow and -short is set", t.Name())
	}
}

// limit bounds every wait of these tests; it is never what a passing test waits.
const limit = 4 * time.Minute

func child(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	for _, text := range os.Environ() {
		if !strings.HasPrefix(text, "DAYBOOK_") {
			cmd.Env = append(cmd.Env, text)
		}
	}
	// What lives in a short-lived process is little, and collecting it takes most of its start.
	cmd.Env = append(cmd.Env, childEnv+"=1", "GOGC=400")
	return cmd
}

// tool runs a command to its end.
func tool(t *testing.T, stdin io.Reader, args ...string) (out, errText string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := child(ctx, args...)
	var o, e bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &o, &e
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("daybook %v: %v", args, err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

func mustTool(t *testing.T, args ...string) string {
	t.Helper()
	out, errText, status := tool(t, nil, args...)
	if status != exitOK {
		t.Fatalf("daybook %v: status %d\n%s%s", args, status, out, errText)
	}
	return out
}

// wantTool runs a command that has to end with a status and to say a text.
func wantTool(t *testing.T, want int, says string, args ...string) {
	t.Helper()
	if out, errText, status := tool(t, nil, args...); status != want || !strings.Contains(out+errText, says) {
		t.Errorf("daybook %v: status %d and %q, want %d and %q", args, status, out+errText, want, says)
	}
}

// importText imports lines.
func importText(t *testing.T, lines io.Reader, on ...string) {
	t.Helper()
	if _, errText, status := tool(t, lines, append([]string{"import", "-", "--source", "s"}, on...)...); status != exitOK {
		t.Fatalf("import: status %d %s", status, errText)
	}
}

// server is a running daybook.
type server struct {
	t     *testing.T
	cmd   *exec.Cmd
	root  string // API root
	host  string
	token string // the administrator's, on a first start
	data  string // the directory of a demo

	announced string

	mu  sync.Mutex
	err bytes.Buffer
}

func (server *server) Write(data []byte) (int, error) {
	server.mu.Lock()
	defer server.mu.Unlock()
	return server.err.Write(data)
}

func (server *server) log() string {
	server.mu.Lock()
	defer server.mu.Unlock()
	return server.err.String()
}

// startServer starts a command that serves and waits until it is ready.
func startServer(t *testing.T, args ...string) *server {
	t.Helper()
	cmd := child(context.Background(), append(args, "--listen", "127.0.0.1:0")...)
	return startServerOf(t, cmd, "", cmd.Env)
}

// startServerOf is startServer for any command line.
func startServerOf(t *testing.T, cmd *exec.Cmd, dir string, env []string) *server {
	t.Helper()
	server := beginServerOf(t, cmd, dir, env)
	server.awaitReady()
	return server
}

func (server *server) awaitReady() {
	server.t.Helper()
	eventually(server.t, "readiness", func() bool {
		status, _ := server.try("GET", server.host+pathReady, "", "")
		if status == 0 {
			server.t.Fatalf("%v ended\n%s", server.cmd.Args, server.log())
		}
		return status == 200
	})
}

// beginServerOf starts a command that serves and waits until it tells where.
func beginServerOf(t *testing.T, cmd *exec.Cmd, dir string, env []string) *server {
	t.Helper()
	s := &server{t: t, cmd: cmd}
	cmd.Dir, cmd.Env, cmd.Stderr = dir, env, s
	// go run starts a process of its own: signals go to the whole group.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := s.cmd.StdoutPipe()
	must(t, err)
	must(t, s.cmd.Start())
	t.Cleanup(func() {
		if s.cmd.ProcessState == nil {
			s.kill()
		}
	})
	watchdog := time.AfterFunc(limit, s.signalKill)
	defer watchdog.Stop()
	scanner := bufio.NewScanner(out)
	for s.root == "" && scanner.Scan() {
		s.announced += scanner.Text() + "\n"
		if i := strings.Index(scanner.Text(), "http://"); i >= 0 && strings.HasPrefix(scanner.Text(), "daybook ") {
			s.root = scanner.Text()[i:]
		}
		if tok, ok := strings.CutPrefix(scanner.Text(), "token: "); ok {
			s.token = tok
		}
		if dir, ok := strings.CutPrefix(scanner.Text(), "directory: "); ok {
			s.data = dir
		}
	}
	if s.root == "" {
		_ = s.cmd.Wait()
		t.Fatalf("%v printed no root\n%s", cmd.Args, s.log())
	}
	s.host = strings.Join(strings.SplitN(s.root, "/", 4)[:3], "/")
	return s
}

func (server *server) signalKill() { _ = syscall.Kill(-server.cmd.Process.Pid, syscall.SIGKILL) }

func (server *server) kill() {
	server.signalKill()
	_ = server.cmd.Wait()
}

// drain ends the server by SIGTERM and gives its exit status.
func (server *server) drain() int {
	server.t.Helper()
	must(server.t, syscall.Kill(-server.cmd.Process.Pid, syscall.SIGTERM))
	watchdog := time.AfterFunc(limit, server.signalKill)
	defer watchdog.Stop()
	_ = server.cmd.Wait()
	return server.cmd.ProcessState.ExitCode()
}

// ends drains the server, which has to end well.
func (server *server) ends() {
	server.t.Helper()
	if status := server.drain(); status != exitOK {
		server.t.Errorf("drained with status %d\n%s", status, server.log())
	}
}

// try sends a request; token "" is anonymous. A connection that breaks has
// status 0.
func (server *server) try(method, url, token, body string) (int, []byte) {
	status, _, data := server.full(method, url, token, body, nil)
	return status, data
}

func (server *server) full(method, url, token, body string, header map[string]string) (int, http.Header, []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		server.t.Error(err)
		return 0, nil, nil
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for k, value := range header {
		req.Header.Set(k, value)
	}
	req.Host = req.Header.Get("Host")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, nil
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil, nil
	}
	return resp.StatusCode, resp.Header, data
}

// want sends a request that must answer with a status and returns the answer as
// JSON.
func (server *server) want(status int, method, path, token, body string) map[string]any {
	server.t.Helper()
	got, data := server.try(method, server.root+path, token, body)
	if got != status {
		server.t.Fatalf("%s %s: got %d %s, want %d\n%s", method, path, got, data, status, server.log())
	}
	var v map[string]any
	if err := json.Unmarshal(data, &v); err != nil {
		server.t.Fatalf("%s %s: %v in %s", method, path, err, data)
	}
	return v
}

func idOf(v map[string]any) string { return fmt.Sprintf("%.0f", v["id"]) }
