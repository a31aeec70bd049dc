package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func serveCommand() *subcommand {
	all := subcommands()
	return all[slices.IndexFunc(all, func(c *subcommand) bool { return c.name == "serve" })]
}

// settingsOf gives the settings that serve takes of a command line in an environment.
func settingsOf(t *testing.T, args, env []string) (s *settings, rest []string, err error) {
	t.Helper()
	serve := serveCommand()
	serve.run = func(_ context.Context, _ *console, got *settings, args []string) error {
		s, rest = got, args
		return nil
	}
	err = serve.command(&console{}, env).Run(t.Context(), append([]string{"serve"}, args...))
	return s, rest, err
}

// settingsOfServe gives the rows of the settings that serve takes.
func settingsOfServe() []setting {
	serve := serveCommand()
	return slices.DeleteFunc((&settings{}).table(), func(d setting) bool { return !serve.takes(&d) })
}

func settingNamed(s *settings, name string) *setting {
	table := s.table()
	return &table[slices.IndexFunc(table, func(d setting) bool { return d.name == name })]
}

func settingsFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "settings.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWhereSettingsComeFrom: a flag wins over the environment, that over the file,
// that over the default, and config print tells which it was.
func TestWhereSettingsComeFrom(t *testing.T) {
	t.Parallel()
	path := settingsFile(t, `# a comment
per-page-max: 60
api-prefix: rest
position-wait: 7s
trace-ratio: 0.10
serve-stale: true
currency-symbol: "#"
base-url:
allowed-origins:
  - https://a.example
  - https://b.example
store: postgres://writer:hush@db.example/daybook
`)
	env := []string{"DAYBOOK_CONFIG=" + path, "DAYBOOK_PER_PAGE_MAX=70", "DAYBOOK_API_PREFIX=env"}
	args := []string{"config", "print", "--per-page-max", "80"}
	want := map[string]given{
		"per-page-max":    {"80", "--per-page-max"},
		"api-prefix":      {"env", "DAYBOOK_API_PREFIX"},
		"position-wait":   {"7s", path + ":4"},
		"trace-ratio":     {"0.10", path + ":5"},
		"serve-stale":     {"true", path + ":6"},
		"currency-symbol": {"#", path + ":7"},
		"base-url":        {"", path + ":8"},
		"allowed-origins": {"https://a.example,https://b.example", path + ":10"},
		"store":           {"postgres://writer:" + hidden + "@db.example/daybook", path + ":12"},
		"listen":          {"127.0.0.1:8080", byDefault},
		"config":          {path, "DAYBOOK_CONFIG"},
	}
	out, errText, status := runIn(t, env, append(args, "--json")...)
	var got map[string]given
	if err := json.Unmarshal([]byte(out), &got); status != exitOK || err != nil {
		t.Fatalf("status %d, %v: %s", status, err, errText)
	}
	out, _, _ = runIn(t, env, args...)
	from := make(map[string]string) // by the names of variables
	at := ""
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if origin, ok := strings.CutPrefix(line, "# "); ok {
			at = origin
		} else {
			from[line] = at
		}
	}
	if strings.Contains(out, "hush") || len(from) != len(got) {
		t.Errorf("%d settings, as JSON %d:\n%s", len(from), len(got), out)
	}
	for name, w := range want {
		if got[name] != w {
			t.Errorf("%s: %v, want %v", name, got[name], w)
		}
		if line := settingNamed(&settings{}, name).env() + "=" + w.Value; from[line] != w.From {
			t.Errorf("%s: from %q, want %q", line, from[line], w.From)
		}
	}
	// Other commands take of the same file what they know.
	if _, errText, status := runIn(t, nil, "verify", "--config", settingsFile(t, "listen: 127.0.0.1:1\ndata: "+t.TempDir())); status != exitFailed || !strings.Contains(errText, "no event store") {
		t.Errorf("verify: status %d and %q", status, errText)
	}
}

// TestWrongSettings: whatever is wrong, wherever it stands, is told at once with its
// place and what would be right.
func TestWrongSettings(t *testing.T) {
	t.Parallel()
	path := settingsFile(t, "per-page-max: 7\nstore: mysql://u:hush@h/x\n")
	_, errText, status := runIn(t, []string{"DAYBOOK_LOG_FORMAT=xml"}, "serve", "--config", path, "--drain-limit", "2h")
	if status != exitUsage || strings.Contains(errText, "hush") {
		t.Errorf("status %d: %s", status, errText)
	}
	for _, want := range []string{
		path + `:1: per-page-max: must be a whole number from 50 to 1000, not "7"`, path + ":2: store: must be a postgres:// URL",
		`DAYBOOK_LOG_FORMAT: must be text or json, not "xml"`, `--drain-limit: must be a duration from 1s to 1h, as 50s, not "2h"`,
	} {
		if !strings.Contains(errText, "daybook serve: "+want) {
			t.Errorf("no %q in\n%s", want, errText)
		}
	}
	for text, want := range map[string]string{
		"listen: 127.0.0.1:1\nper-pages-max: 60\n": `:2: there is no setting "per-pages-max"`,
		"config: other.yaml":                       `:1: there is no setting "config"`,
		"user-role: editor":                        `:1: there is no setting "user-role"`,
		"listen: {port: 80}":                       ":1: listen: must be a text",
		"allowed-origins: [[a]]":                   ":1: allowed-origins: must be a text",
		"listen: a\nlisten: b":                     "already",
		"- listen":                                 "map",
		"listen: [":                                "yaml",
	} {
		path := settingsFile(t, text)
		if _, errText, status := runIn(t, nil, "serve", "--config", path); status != exitUsage || !strings.Contains(errText, want) || !strings.Contains(errText, path) {
			t.Errorf("%q: status %d and %q, want %q", text, status, errText, want)
		}
	}
	for _, file := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		if _, errText, status := runIn(t, nil, "serve", "--config", file); status != exitUsage || !strings.Contains(errText, "--config: must name a file") {
			t.Errorf("%s: status %d and %q", file, status, errText)
		}
	}
	if _, errText, status := runIn(t, nil, "serve", "--per-pages-max", "7"); status != exitUsage || !strings.Contains(errText, "-per-pages-max; see daybook serve --help") {
		t.Errorf("an unknown flag: status %d and %q", status, errText)
	}
	if out, _, status := runIn(t, nil, "config", "print", "--config", settingsFile(t, "")); status != exitOK || !strings.Contains(out, "DAYBOOK_LISTEN=127.0.0.1:8080\n") {
		t.Errorf("an empty file: status %d\n%s", status, out)
	}
}

// TestHelp: help shows the settings in their groups with default and variable, and
// those of a part as well.
func TestHelp(t *testing.T) {
	t.Parallel()
	out, _, status := runIn(t, nil, "help", "serve")
	for _, want := range []string{"event store\n", "--store-pool N ", `(default: "0")`, "[$DAYBOOK_STORE_POOL]", "--serve-stale  "} {
		if status != exitOK || !strings.Contains(out, want) {
			t.Errorf("status %d, no %q in\n%s", status, want, out)
		}
	}
	if out, _, status := runIn(t, nil, "user", "add", "--help"); status != exitOK || !strings.Contains(out, "NAME --role ROLE") {
		t.Errorf("status %d\n%s", status, out)
	}
	if _, errText, status := runIn(t, nil, "help", "dance"); status != exitUsage || !strings.Contains(errText, "dance") {
		t.Errorf("status %d: %s", status, errText)
	}
}

// TestCompletion completes commands, what they do and flags in a real shell.
func TestCompletion(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skipf("%s did not run, it needs bash: %v", t.Name(), err)
	}
	dir := t.TempDir()
	program := "#!/bin/sh\nexec '" + os.Args[0] + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "daybook"), []byte(program), 0o700); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"daybook ver": "verify", "daybook user re": "revoke", "daybook serve --per-p": "--per-page-max", "daybook user list --store-p": "--store-pool",
	} {
		script := `source <(daybook completion bash)
			__daybook_init_completion() { cur=${COMP_WORDS[COMP_CWORD]}; } # is of a package that may lack
			COMP_WORDS=(` + line + `); COMP_CWORD=$((${#COMP_WORDS[@]}-1))
			__daybook_bash_autocomplete; printf '%s\n' "${COMPREPLY[@]}"`
		cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
		cmd.Env = append(os.Environ(), childEnv+"=1", "PATH="+dir+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if err != nil || !slices.Contains(strings.Fields(string(out)), want) {
			t.Errorf("%s: %v, no %q in\n%s", line, err, want, out)
		}
	}
}

// TestStrayAt: an @ of a password that is not encoded is refused with a hint, before
// what follows it is taken for a host and written into the log; encoded it is right.
func TestStrayAt(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"--store=postgres://u:hush@hidden@h.example/d", "--store=postgres://u:hush@hidden/more@h.example/d", "--store=postgres://u:1#hidden@h.example/d",
		"--store-listen=postgres://u:1?hidden@h.example/d", "--feed=nats://n.example,nats://u:hush@hidden@h.example", "--feed=nats://u:hush@hidden/@h.example",
		"--index=http://u:hush@hidden@h.example", "--index=https://u:hush@hidden?x@h.example#y@z",
	} {
		_, errText, status := runIn(t, nil, "serve", in)
		if status != exitUsage || !strings.Contains(errText, "%40") || strings.Contains(errText, "hidden") || strings.Contains(errText, "hush") {
			t.Errorf("%s: status %d: %s", in, status, errText)
		}
	}
	for _, in := range []string{
		"--store=postgres://u%40x:p%40q%2F@h.example/d", "--store=postgres://h.example/d?user=u%40x", "--store=postgres://u@h.example/d?application_name=a@b",
	} {
		if out, errText, status := runIn(t, nil, "config", "print", in); status != exitOK {
			t.Errorf("%s: status %d: %s%s", in, status, out, errText)
		}
	}
}
