package engines

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// TestOwnEngines: what an engine has acknowledged is there after kill −9, at the
// same URL, and nothing of it is there after the test.
func TestOwnEngines(t *testing.T) {
	t.Parallel()
	for name, use := range map[string]struct{ write, check func(*testing.T, string) }{
		EnginePostgres: {
			write: func(t *testing.T, url string) {
				t.Helper()
				postgres(t, url, "CREATE TABLE kept AS SELECT 7 AS n")
			},
			check: func(t *testing.T, url string) {
				t.Helper()
				var n, connections int
				var fsync string
				conn := postgres(t, url, "")
				err := conn.QueryRow(t.Context(), "SELECT n, current_setting('fsync'), current_setting('max_connections')::int FROM kept").
					Scan(&n, &fsync, &connections)
				if err != nil || n != 7 || fsync != "on" || connections < 200 {
					t.Errorf("after the kill: %d, fsync %s, %d connections, %v", n, fsync, connections, err)
				}
			},
		},
		EngineNATS: {
			write: func(t *testing.T, url string) {
				t.Helper()
				js := stream(t, url)
				if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "KEPT", Subjects: []string{"kept"}}); err != nil {
					t.Fatal(err)
				}
				if _, err := js.Publish(t.Context(), "kept", []byte("7")); err != nil {
					t.Fatal(err)
				}
			},
			check: func(t *testing.T, url string) {
				t.Helper()
				s, err := stream(t, url).Stream(t.Context(), "KEPT")
				if err != nil {
					t.Fatal(err)
				}
				if m, err := s.GetMsg(t.Context(), 1); err != nil || string(m.Data) != "7" {
					t.Errorf("after the kill: %v, %v", m, err)
				}
			},
		},
		EngineElasticsearch: searchKeeps(),
		EngineOpenSearch:    searchKeeps(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var dir, address string
			t.Run("life", func(t *testing.T) {
				e := Own(t, name)
				dir = e.dir
				address = e.URL()[strings.Index(e.URL(), "127.0.0.1"):]
				address, _, _ = strings.Cut(address, "/")
				use.write(t, e.URL())
				before := e.URL()
				e.Kill9()
				if conn, err := net.DialTimeout("tcp", address, time.Second); err == nil {
					_ = conn.Close()
					t.Errorf("%s still answers after Kill9", address)
				}
				if out, err := script(t, dir, "status", name); err == nil || out != "" {
					t.Errorf("status after the kill: %q, %v", out, err)
				}
				e.Start()
				if e.URL() != before {
					t.Errorf("started again at %s, was at %s", e.URL(), before)
				}
				line := engineVariable(name) + "=" + before + "\n" + engineVariable(name) + "_DIR=" + filepath.Join(dir, name, "data") + "\n"
				for action, want := range map[string]string{"status": line + forServe(name, before), "up": line} {
					if out, err := script(t, dir, action, name); err != nil || out != want {
						t.Errorf("%s: %q, %v, want %q", action, out, err, want)
					}
				}
				use.check(t, e.URL())
			})
			if dir == "" {
				t.Skip("no engine")
			}
			if _, err := os.Stat(dir); !os.IsNotExist(err) {
				t.Errorf("the folder %s is there after the test: %v", dir, err)
			}
			if conn, err := net.DialTimeout("tcp", address, time.Second); err == nil {
				_ = conn.Close()
				t.Errorf("%s still answers after the test", address)
			}
		})
	}
}

// forServe is the line that status has for the program besides that for tests.
func forServe(name, url string) string {
	return map[string]string{
		EnginePostgres: "# DAYBOOK_STORE=" + url, EngineNATS: "# DAYBOOK_FEED=" + url,
		EngineElasticsearch: "# DAYBOOK_INDEX=" + url + " DAYBOOK_INDEX_FLAVOUR=elasticsearch",
		EngineOpenSearch:    "# DAYBOOK_INDEX=" + url + " DAYBOOK_INDEX_FLAVOUR=opensearch",
	}[name] + "\n"
}

// script runs deploy/engines with a folder, and gives what it printed.
func script(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	e := &Engine{t: t, dir: dir}
	out, err := e.command(t.Context(), filepath.Join(moduleRoot(t), "deploy", "engines", args[0]), args[1:]...).Output()
	return string(out), err
}

func postgres(t *testing.T, url, statement string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	if statement != "" {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return conn
}

func stream(t *testing.T, url string) jetstream.JetStream {
	t.Helper()
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// searchKeeps writes one document, and reads it back.
func searchKeeps() struct{ write, check func(*testing.T, string) } {
	return struct{ write, check func(*testing.T, string) }{
		write: func(t *testing.T, url string) {
			t.Helper()
			status, body := put(t, http.MethodPut, url+"/kept/_doc/1", `{"n":7}`)
			if status != http.StatusCreated {
				t.Fatalf("status %d: %s", status, body)
			}
		},
		check: func(t *testing.T, url string) {
			t.Helper()
			// The shard of a server that has just started may still be reading its log.
			var status int
			var body string
			for range 200 {
				if status, body = put(t, http.MethodGet, url+"/kept/_doc/1", ""); status == http.StatusOK {
					break
				}
				<-time.After(50 * time.Millisecond)
			}
			if status != http.StatusOK || !strings.Contains(body, `"_source":{"n":7}`) {
				t.Errorf("after the kill: status %d: %s", status, body)
			}
		},
	}
}

func put(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(b)
}

// TestSharedEngines: what a test leaves in a shared engine is gone after it.
func TestSharedEngines(t *testing.T) {
	t.Run("postgres", func(t *testing.T) {
		var url, schema string
		t.Run("use", func(t *testing.T) {
			url, schema = Postgres(t)
			postgres(t, url, "CREATE TABLE "+schema+".left_over (n int)")
		})
		if url == "" {
			t.Skip("no engine")
		}
		var n int
		if err := postgres(t, url, "").QueryRow(t.Context(), "SELECT count(*) FROM pg_namespace WHERE nspname = $1", schema).Scan(&n); err != nil || n != 0 {
			t.Errorf("%d schemas %s after the test, %v", n, schema, err)
		}
	})
	t.Run("nats", func(t *testing.T) {
		var url, prefix string
		t.Run("use", func(t *testing.T) {
			url, prefix = NATS(t)
			if _, err := stream(t, url).CreateStream(t.Context(), jetstream.StreamConfig{Name: strings.ToUpper(prefix) + "_LEFT", Subjects: []string{prefix}}); err != nil {
				t.Error(err)
			}
		})
		if url == "" {
			t.Skip("no engine")
		}
		if _, err := stream(t, url).Stream(t.Context(), strings.ToUpper(prefix)+"_LEFT"); !errors.Is(err, jetstream.ErrStreamNotFound) {
			t.Errorf("the stream after the test: %v", err)
		}
	})
	for name, engine := range map[string]func(testing.TB) (string, string){"elasticsearch": Elasticsearch, "opensearch": OpenSearch} {
		t.Run(name, func(t *testing.T) {
			var url, prefix string
			t.Run("use", func(t *testing.T) {
				url, prefix = engine(t)
				if status, body := put(t, http.MethodPut, url+"/"+prefix+"-events/_doc/1", `{"n":7}`); status != http.StatusCreated {
					t.Fatalf("status %d: %s", status, body)
				}
			})
			if url == "" {
				t.Skip("no engine")
			}
			if status, body := put(t, http.MethodGet, url+"/"+prefix+"-events/_doc/1", ""); status != http.StatusNotFound {
				t.Errorf("after the test: status %d: %s", status, body)
			}
		})
	}
}

// TestEnginesScript: what the script refuses it refuses by name, and an engine
// that is given is neither started nor hidden.
func TestEnginesScript(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skipf("%s did not run, it needs bash: %v", t.Name(), err)
	}
	engines := filepath.Join(moduleRoot(t), "deploy", "engines", "engines")
	for name, tc := range map[string]struct {
		args      []string
		env       string
		out, says string
		fails     bool
	}{
		"no such engine":     {args: []string{"up", "mysql"}, says: "no engine is called mysql", fails: true},
		"no such action":     {args: []string{"restart"}, says: "deploy/engines/up", fails: true},
		"kill without names": {args: []string{"kill"}, says: "deploy/engines/kill NAME", fails: true},
		"kill of none":       {args: []string{"kill", "nats"}, says: "nats: not running, looked in DIR/nats", fails: true},
		"status of none":     {args: []string{"status", "nats"}, says: "nats: not running, looked in DIR/nats", fails: true},
		"down of none":       {args: []string{"down"}},
		"in the repository":  {args: []string{"up", "nats"}, env: "DAYBOOK_ENGINES_DIR=" + moduleRoot(t) + "/engines-data", says: "outside the repository", fails: true},
		"given": {
			args: []string{"up", "nats"}, env: "DAYBOOK_TEST_NATS=nats://192.0.2.1:4222",
			out: "DAYBOOK_TEST_NATS=nats://192.0.2.1:4222\n", says: "is given",
		},
		"status of a given one": {
			args: []string{"status", "nats"}, env: "DAYBOOK_TEST_NATS=nats://192.0.2.1:4222",
			out: "DAYBOOK_TEST_NATS=nats://192.0.2.1:4222\n# DAYBOOK_FEED=nats://192.0.2.1:4222\n", says: "is given",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "state")
			e := &Engine{t: t, dir: dir}
			cmd := e.command(t.Context(), engines, tc.args...)
			if tc.env != "" {
				cmd.Env = append(cmd.Env, tc.env)
			}
			var errText strings.Builder
			cmd.Stderr = &errText
			out, err := cmd.Output()
			if (err != nil) != tc.fails || string(out) != tc.out || !strings.Contains(errText.String(), strings.ReplaceAll(tc.says, "DIR", dir)) {
				t.Errorf("%v: %v, printed %q and said %q", tc.args, err, out, errText.String())
			}
		})
	}
}

// TestEnginesFirstStart: a search server whose libraries are fetched first is found
// ready though Maven leaves terminal codes before its line; it keeps nothing open of
// the process that started it; and the lines of status, evaluated, set nothing of the
// program. JDK and Maven are played.
func TestEnginesFirstStart(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skipf("%s did not run, it needs bash: %v", t.Name(), err)
	}
	tools, state := t.TempDir(), filepath.Join(t.TempDir(), "state")
	for name, text := range map[string]string{
		"mvn":   `for a; do case $a in -DoutputDirectory=*) mkdir -p "${a#*=}";; esac; done; printf '\033[0m\033[0m'`,
		"javac": ":",
		"java":  `case $1 in -XshowSettings*) echo 'java.specification.version = 21';; *) echo "ready http://127.0.0.1:${@: -1}"; exec sleep 600;; esac`,
	} {
		if err := os.WriteFile(filepath.Join(tools, name), []byte("#!/bin/bash\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, more []*os.File, args ...string) string {
		t.Helper()
		cmd := (&Engine{t: t, dir: state}).command(context.WithoutCancel(t.Context()), name, args...)
		cmd.Env = append(cmd.Env, "PATH="+tools+":"+os.Getenv("PATH"), "XDG_CACHE_HOME="+tools, "DAYBOOK_ENGINES_WAIT=60")
		var errText strings.Builder
		cmd.ExtraFiles, cmd.Stderr = more, &errText
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, errText.String())
		}
		return string(out)
	}
	engines := filepath.Join(moduleRoot(t), "deploy", "engines", "engines")
	t.Cleanup(func() { run(engines, nil, "down") })

	mine, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	up := run(engines, []*os.File{theirs}, "up", EngineOpenSearch)
	first, _, _ := strings.Cut(up, "\n")
	url, ok := strings.CutPrefix(first, "DAYBOOK_TEST_OPENSEARCH=")
	if !ok {
		t.Fatalf("up printed %q", up)
	}
	if err := theirs.Close(); err != nil {
		t.Fatal(err)
	}
	// The end comes when no one has the other side any more.
	if err := mine.SetReadDeadline(time.Now().Add(clearLimit)); err != nil {
		t.Fatal(err)
	}
	if _, err := mine.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the server keeps a descriptor of its starter: %v", err)
	}
	if got, want := run(engines, nil, "status", EngineOpenSearch), up+forServe(EngineOpenSearch, url); got != want {
		t.Errorf("status printed %q, want %q", got, want)
	}
	for form, want := range map[string]string{`"$0" status opensearch`: url + "||\n", `"$0" status opensearch | sed -n 's/^# //p'`: "|" + url + "|opensearch\n"} {
		got := run("bash", nil, "-c", `eval "$(`+form+`)"; echo "${DAYBOOK_TEST_OPENSEARCH:-}|${DAYBOOK_INDEX:-}|${DAYBOOK_INDEX_FLAVOUR:-}"`, engines)
		if got != want {
			t.Errorf("eval of %s sets %q, want %q", form, got, want)
		}
	}
}
