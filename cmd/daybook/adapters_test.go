package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runIn runs the program in this process.
func runIn(t *testing.T, env []string, args ...string) (out, errText string, status int) {
	t.Helper()
	var o, e bytes.Buffer
	status = run(t.Context(), args, env, nil, &o, &e)
	return o.String(), e.String(), status
}

// TestRolesNeedSharedParts: a role that shares its work names all that is
// missing for it at once, and nothing starts.
func TestRolesNeedSharedParts(t *testing.T) {
	t.Parallel()
	const store, feed, index = "--store postgres://", "--feed nats://", "--index http://"
	for _, c := range []struct {
		role     string
		args     []string
		want, no []string
	}{
		{"api", nil, []string{store, index}, []string{feed}},
		{"relay", nil, []string{store, feed}, []string{index}},
		{"projector", nil, []string{store, feed, index}, nil},
		{"projector", []string{"--store", "postgres://127.0.0.1/x"}, []string{feed, index}, []string{store}},
		{"api", []string{"--index", "http://127.0.0.1:9200"}, []string{store}, []string{index, feed}},
		{"king", nil, []string{"all, api, relay or projector"}, []string{store}},
	} {
		data := filepath.Join(t.TempDir(), "data")
		_, errText, status := runIn(t, nil, append([]string{"serve", "--role", c.role, "--data", data}, c.args...)...)
		if status != exitUsage {
			t.Errorf("%s %v: status %d, want %d", c.role, c.args, status, exitUsage)
		}
		for _, w := range c.want {
			if !strings.Contains(errText, w) {
				t.Errorf("%s %v: no %q in %q", c.role, c.args, w, errText)
			}
		}
		for _, w := range c.no {
			if strings.Contains(errText, w) {
				t.Errorf("%s %v: %q in %q", c.role, c.args, w, errText)
			}
		}
		if _, err := os.Stat(data); err == nil {
			t.Errorf("%s %v made the data directory", c.role, c.args)
		}
	}
}

// TestPartsAreChecked: wrong settings of the three adapters are told, without
// what they keep secret.
func TestPartsAreChecked(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--store", "mysql://u:hush@h/x"}, "postgres://"},
		{[]string{"--store", "host=h password=hush"}, "postgres://"},
		{[]string{"--store", "postgres://u:hu/hush@h/x"}, "postgres://"},
		{[]string{"--feed", "nats://h,http://u:hush@h"}, "nats://"},
		{[]string{"--index", "nats://hush@h"}, "http://"},
		{[]string{"--index-flavour", "solr"}, "opensearch"},
		{[]string{"--index-prefix", "Day*"}, "lower-case"},
		{[]string{"--feed-prefix", "Day.*"}, "lower-case"},
		{[]string{"--feed-replicas", "9"}, "1 to 5"},
		{[]string{"--feed", "nats://h", "--feed-credentials", missing}, "can be read"},
		{[]string{"--feed", "nats://h", "--feed-cert", os.Args[0]}, "--feed-key"},
		{[]string{"--feed-ca", os.Args[0]}, "need --feed"},
	} {
		_, errText, status := runIn(t, nil, append([]string{"config", "print"}, c.args...)...)
		if status != exitUsage || !strings.Contains(errText, c.want) || strings.Contains(errText, "hush") {
			t.Errorf("%v: status %d and %q, want %q in it", c.args, status, errText, c.want)
		}
	}
}

// TestSecretsAreNotPrinted: passwords and tokens in URLs are not shown.
func TestSecretsAreNotPrinted(t *testing.T) {
	t.Parallel()
	env := []string{
		"DAYBOOK_STORE=postgres://writer:hush@db.example/daybook?sslmode=require&sslpassword=hush",
		"DAYBOOK_FEED=nats://hush@n1.example:4222,nats://relay:hush@n2.example:4222",
		"DAYBOOK_INDEX=https://elastic:hush@es.example:9200",
	}
	out, _, _ := runIn(t, []string{"DAYBOOK_STORE=postgres://writer:hush@db1.example:5432,db2.example:5433/daybook"}, "config", "print")
	if want := "postgres://writer:" + hidden + "@db1.example:5432,db2.example:5433/daybook"; !strings.Contains(out, want) || strings.Contains(out, "hush") {
		t.Errorf("no %q in\n%s", want, out)
	}
	for _, args := range [][]string{{"config", "print"}, {"config", "print", "--json"}} {
		out, errText, status := runIn(t, env, args...)
		if status != exitOK || strings.Contains(out+errText, "hush") {
			t.Errorf("%v: status %d\n%s%s", args, status, out, errText)
		}
		for _, want := range []string{"writer:" + hidden + "@db.example", "sslmode=require", hidden + "@n1.example:4222", "relay:" + hidden + "@n2.example", "es.example:9200"} {
			if !strings.Contains(out, strings.ReplaceAll(want, "&", `\u0026`)) && !strings.Contains(out, want) {
				t.Errorf("%v: no %q in\n%s", args, want, out)
			}
		}
	}
}

// TestRoleOfAProcessIsNotThatOfAUser: DAYBOOK_ROLE of a container does not reach
// the commands on users.
func TestRoleOfAProcessIsNotThatOfAUser(t *testing.T) {
	t.Parallel()
	env := []string{"DAYBOOK_ROLE=api", "DAYBOOK_DATA=" + filepath.Join(t.TempDir(), "data")}
	if _, errText, status := runIn(t, env, "user", "add", "ada"); status != exitUsage || !strings.Contains(errText, "--role") {
		t.Errorf("without a role: status %d and %q", status, errText)
	}
	if out, errText, status := runIn(t, env, "user", "add", "ada", "--role", "editor"); status != exitOK || out == "" {
		t.Errorf("status %d and %q", status, errText)
	}
	out, _, _ := runIn(t, nil, "config", "print")
	if !strings.Contains(out, "DAYBOOK_ROLE=all\n") {
		t.Errorf("no role of the process in\n%s", out)
	}
}

var update = flag.Bool("update", false, "write the tables of the documentation anew")

// TestSettingsAreDocumented: the table of docs/operations.md is that of the
// program.
func TestSettingsAreDocumented(t *testing.T) {
	t.Parallel()
	var want strings.Builder
	want.WriteString("| flag | environment | default | |\n|---|---|---|---|\n")
	for _, d := range settingsOfServe() {
		def := ""
		if d.def != "" {
			def = "`" + d.def + "`"
		}
		fmt.Fprintf(&want, "| `%s` | `%s` | %s | %s |\n", strings.TrimSpace("--"+d.option()+" "+d.value), d.env(), def, strings.ReplaceAll(d.brief, "|", `\|`))
	}
	path := filepath.Join("..", "..", "docs", "operations.md")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const head, end = "<!-- settings of daybook serve, made by go test ./cmd/daybook -run TestSettingsAreDocumented -update -->\n", "<!-- end of settings -->\n"
	before, rest, found := strings.Cut(string(b), head)
	there, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no table of settings", path)
	}
	if there == want.String() {
		return
	}
	if !*update {
		t.Fatalf("%s: the table of settings is not that of the program; renew it with -update", path)
	}
	if err := os.WriteFile(path, []byte(before+head+want.String()+end+after), 0o600); err != nil {
		t.Fatal(err)
	}
}
