package engines

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// forServe is the line that status has for the program besides that for tests.
func forServe(name, url string) string {
	return map[string]string{
		Postgres: "# DAYBOOK_STORE=" + url, NATS: "# DAYBOOK_FEED=" + url,
		Elasticsearch: "# DAYBOOK_INDEX=" + url + " DAYBOOK_INDEX_FLAVOUR=elasticsearch",
		OpenSearch:    "# DAYBOOK_INDEX=" + url + " DAYBOOK_INDEX_FLAVOUR=opensearch",
	}[name] + "\n"
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
			engine := &Engine{TB: t, directory: dir}
			cmd := engine.command(t.Context(), engines, tc.args...)
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
		cmd := (&Engine{TB: t, directory: state}).command(context.WithoutCancel(t.Context()), name, args...)
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
	up := run(engines, []*os.File{theirs}, "up", OpenSearch)
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
	if got, want := run(engines, nil, "status", OpenSearch), up+forServe(OpenSearch, url); got != want {
		t.Errorf("status printed %q, want %q", got, want)
	}
	for form, want := range map[string]string{`"$0" status opensearch`: url + "||\n", `"$0" status opensearch | sed -n 's/^# //p'`: "|" + url + "|opensearch\n"} {
		got := run("bash", nil, "-c", `eval "$(`+form+`)"; echo "${DAYBOOK_TEST_OPENSEARCH:-}|${DAYBOOK_INDEX:-}|${DAYBOOK_INDEX_FLAVOUR:-}"`, engines)
		if got != want {
			t.Errorf("eval of %s sets %q, want %q", form, got, want)
		}
	}
}
