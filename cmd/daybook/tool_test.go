package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"daybook/eventstore/sqlite"
	"daybook/internal/testkit"
)

func TestUsers(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := startServer(t, "serve", "--data", data)
	check := func(serving bool) {
		name := "offline"
		if serving {
			name = "online"
		}
		token := strings.TrimSpace(mustTool(t, "user", "add", name, "--role", "editor", "--data", data))
		if strings.ContainsAny(token, " \n") || len(token) < 32 {
			t.Errorf("%s: user add printed %q, want the token alone", name, token)
		}
		var users []struct {
			ID         int64
			Name, Role string
			Active     bool
		}
		if err := json.Unmarshal([]byte(mustTool(t, "user", "list", "--json", "--data", data)), &users); err != nil {
			t.Fatal(err)
		}
		found := false
		for _, u := range users {
			found = found || u.Name == name && u.Role == "editor" && u.ID > 0 && u.Active
		}
		if !found {
			t.Errorf("%s: not in the list: %v", name, users)
		}
		if serving {
			s.want(201, "POST", "/tags", token, `{"name":"made by `+name+`"}`)
			fresh := strings.TrimSpace(mustTool(t, "user", "token", name, "--data", data))
			s.want(401, "GET", "/tags", token, "")
			s.want(200, "GET", "/tags", fresh, "")
			mustTool(t, "user", "revoke", name, "--data", data)
			s.want(401, "GET", "/tags", fresh, "")
		}
		if _, errText, status := tool(t, nil, "user", "add", name, "--role", "editor", "--data", data); status != exitFailed || !strings.Contains(errText, name) {
			t.Errorf("%s again: got status %d and %q", name, status, errText)
		}
		if out := mustTool(t, "user", "list", "--data", data); !strings.Contains(out, name) {
			t.Errorf("got %q", out)
		}
	}
	check(true)
	s.drain()
	check(false)
	for _, args := range [][]string{
		{"user"}, {"user", "add", "x"}, {"user", "add", "x", "--role", "king"}, {"user", "make", "x"}, {"user", "list", "x"},
	} {
		if _, errText, status := tool(t, nil, append(args, "--data", data)...); status != exitUsage || errText == "" {
			t.Errorf("daybook %v: got status %d and %q", args, status, errText)
		}
	}
}

func TestHistoryExportVerify(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := startServer(t, "serve", "--data", data)
	e := s.want(201, "POST", "/events", s.token, concert)
	s.want(200, "PATCH", "/events/"+idOf(e), s.token, `{"title":"Quay concert, moved","password":"open sesame"}`)
	for _, when := range []string{"serving", "stopped"} {
		out := mustTool(t, "history", "event", idOf(e), "--data", data)
		for _, want := range []string{"version 1  position ", " created by admin (", "version 2", " updated by admin (", "    title: from “Quay concert” to “Quay concert, moved”\n", "    password: set\n"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: history has no %q:\n%s", when, want, out)
			}
		}
		if lines := strings.Count(mustTool(t, "history", "event", idOf(e), "--json", "--data", data), "\n"); lines != 2 {
			t.Errorf("%s: got %d lines of history, want 2", when, lines)
		}
		id := idOf(e)
		if out := mustTool(t, "history", "diff", "event", id, "2", "1", "--lang", "fr", "--data", data); !strings.Contains(out, "titre : de «\u00a0Quay concert, moved\u00a0» à «\u00a0Quay concert\u00a0»\n") {
			t.Errorf("%s: diff: %s", when, out)
		}
		if out := mustTool(t, "history", "diff", "event", id, "1", "2", "--json", "--data", data); !strings.Contains(out, `{"from":{"version":1,`) || !strings.Contains(out, `"record":{"author":`) {
			t.Errorf("%s: diff as JSON: %s", when, out)
		}
		for point, want := range map[string]string{"version:1": `title: {"en":"Quay concert"}`, "now": `title: {"en":"Quay concert, moved"}`} {
			if out := mustTool(t, "history", "at", "event", id, point, "--data", data); !strings.Contains(out, want+"\n") {
				t.Errorf("%s: at %s: %s", when, point, out)
			}
		}
		if out := mustTool(t, "history", "at", "event", id, "version:2", "--json", "--data", data); !strings.HasPrefix(out, `{"version":2,"position":`) {
			t.Errorf("%s: at as JSON: %s", when, out)
		}
		for _, wrong := range [][]string{{"at", "event", id, "soonish"}, {"at", "event", id, "position:0"}, {"diff", "event", id, "0", "1"}, {"diff", "event", id, "1"}} {
			if _, _, status := tool(t, nil, append(append([]string{"history"}, wrong...), "--data", data)...); status != exitUsage {
				t.Errorf("%s: history %v: status %d", when, wrong, status)
			}
		}
		for _, none := range [][]string{{"at", "event", id, "version:9"}, {"at", "event", id, "2001-01-01"}, {"diff", "event", id, "1", "9"}, {"at", "venue", id, "now"}} {
			if _, errText, status := tool(t, nil, append(append([]string{"history"}, none...), "--data", data)...); status != exitFailed || errText == "" {
				t.Errorf("%s: history %v: status %d, %s", when, none, status, errText)
			}
		}
		export := mustTool(t, "export", "--data", data)
		token := sha256.Sum256([]byte(s.token))
		for what, secret := range map[string]string{
			"password": "open sesame", "hash of the password": "argon2", "token": s.token, "hash of the token": base64.StdEncoding.EncodeToString(token[:]),
			"hexadecimal hash of the token": hex.EncodeToString(token[:]), "encoded hash of the password": base64.StdEncoding.EncodeToString([]byte("$argon2"))[:8],
		} {
			if strings.Contains(export, secret) {
				t.Errorf("%s: the %s stands in the export", when, what)
			}
		}
		if strings.Count(export, "secret_sha256") != 2 {
			t.Errorf("%s: the export does not tell of the secrets of the administrator and the event", when)
		}
		if out := mustTool(t, "verify", "--data", data); !strings.Contains(out, "chain head") {
			t.Errorf("%s: got %q", when, out)
		}
		if _, errText, status := tool(t, nil, "history", "venue", idOf(e), "--data", data); status != exitFailed || !strings.Contains(errText, "no venue") {
			t.Errorf("%s: got status %d and %q", when, status, errText)
		}
		if when == "serving" {
			if out := mustTool(t, "health", "--data", data); !strings.Contains(out, "status: ok") {
				t.Errorf("health: %q", out)
			}
			if status, b := s.try("GET", s.host+"/history/event/"+idOf(e), s.token, ""); status != 404 || !bytes.Contains(b, []byte("rest_no_route")) {
				t.Errorf("a path of before: %d %s", status, b)
			}
			s.drain()
		}
	}
	if _, errText, status := tool(t, nil, "health", "--data", data); status != exitFailed || !strings.Contains(errText, "nothing serves") {
		t.Errorf("health of nothing: status %d and %q", status, errText)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	_, errText, status := tool(t, nil, "serve", "--per-page-max", "7", "--timezone", "Mars", "--currency-position", "middle", "--listen", "here")
	if status != exitUsage {
		t.Errorf("got status %d, want %d", status, exitUsage)
	}
	for _, want := range []string{"--per-page-max", "50 to 1000", "--timezone", "--currency-position", "--listen"} {
		if !strings.Contains(errText, want) {
			t.Errorf("no %q in\n%s", want, errText)
		}
	}
	var out, errw bytes.Buffer
	env := []string{"DAYBOOK_PER_PAGE_MAX=200", "DAYBOOK_API_PREFIX=/rest/", "DAYBOOK_ALLOWED_ORIGINS=https://a.example, https://b.example"}
	if status := run(t.Context(), []string{"config", "print", "--json", "--per-page-max", "300"}, env, nil, &out, &errw); status != exitOK {
		t.Fatalf("status %d: %s", status, errw.String())
	}
	var got map[string]given
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"per-page-max": "300", "api-prefix": "/rest/", "listen": "127.0.0.1:8080", "position-wait": "5s"} {
		if got[name].Value != want {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
	for _, d := range (&settings{}).table() {
		if d.brief == "" || d.set == nil {
			t.Errorf("setting %s is not told of", d.name)
		}
	}
}

func TestUnknownCommandAndHelp(t *testing.T) {
	t.Parallel()
	var out, errw bytes.Buffer
	if status := run(t.Context(), []string{"dance"}, nil, nil, &out, &errw); status != exitUsage || !strings.Contains(errw.String(), `"dance"`) {
		t.Errorf("got %d %q", status, errw.String())
	}
	if status := run(t.Context(), []string{"help"}, nil, nil, &out, &errw); status != exitOK {
		t.Errorf("help: %d", status)
	}
	if status := run(t.Context(), []string{"version", "extra"}, nil, nil, &out, &errw); status != exitUsage {
		t.Errorf("version extra: %d", status)
	}
	for _, s := range subcommands() {
		if !strings.Contains(out.String(), s.name) {
			t.Errorf("help does not tell of %s", s.name)
		}
		out.Reset()
		if status := run(t.Context(), []string{s.name, "--help"}, nil, nil, &out, &errw); status != exitOK || !strings.Contains(out.String(), s.brief) {
			t.Errorf("%s --help: %d %q", s.name, status, out.String())
		}
		out.Reset()
		_ = run(t.Context(), []string{"help"}, nil, nil, &out, &errw)
	}
}

// TestTasksWantAStore: what reads a store makes none in a wrong directory.
func TestTasksWantAStore(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for _, args := range [][]string{
		{"verify"}, {"export"}, {"rebuild"}, {"history", "event", "1"}, {"retry", "1"}, {"user", "list"}, {"user", "token", "admin"}, {"user", "revoke", "admin"},
	} {
		_, errText, status := tool(t, nil, append(args, "--data", data)...)
		if status != exitFailed || !strings.Contains(errText, "no event store") {
			t.Errorf("daybook %v: status %d and %q", args, status, errText)
		}
		if _, err := os.Stat(filepath.Join(data, sqlite.FileName)); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("daybook %v made an event store (%v)", args, err)
		}
	}
	mustTool(t, "user", "add", "ann", "--role", "editor", "--data", data)
	mustTool(t, "verify", "--data", data)
}

// TestTasksWantASchema: the same on a server.
func TestTasksWantASchema(t *testing.T) {
	t.Parallel()
	store, schema := testkit.Postgres(t)
	conn, err := pgx.Connect(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }() // only read
	made := func(schema string) (objects int) {
		const count = `SELECT (SELECT count(*) FROM pg_namespace WHERE nspname = $1)
			+ (SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1)`
		if err := conn.QueryRow(t.Context(), count, schema).Scan(&objects); err != nil {
			t.Fatal(err)
		}
		return objects
	}
	for _, name := range []string{schema, schema + "_typo"} {
		before := made(name)
		for _, args := range [][]string{{"verify"}, {"export"}, {"history", "event", "1"}, {"user", "list"}, {"user", "token", "admin"}} {
			_, errText, status := tool(t, nil, append(args, "--store", store, "--store-schema", name)...)
			if status != exitFailed || !strings.Contains(errText, name) || !strings.Contains(errText, "no event store") {
				t.Errorf("daybook %v: status %d and %q", args, status, errText)
			}
			if after := made(name); after != before {
				t.Fatalf("daybook %v made %d objects", args, after-before)
			}
		}
	}
	mustTool(t, "user", "add", "ann", "--role", "editor", "--store", store, "--store-schema", schema)
	mustTool(t, "verify", "--store", store, "--store-schema", schema)
}

// TestImportInTheZoneOfTheSite: times of lines without a zone are those of the
// site, with and without a running server.
func TestImportInTheZoneOfTheSite(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	line := func(key string) *strings.Reader {
		return strings.NewReader(`{"action":"create","kind":"event","key":"` + key + `","fields":{"title":"` + key + `","start_date":"2030-07-01 10:00","end_date":"2030-07-01 11:00"}}`)
	}
	zone := []string{"import", "-", "--source", "s", "--data", data, "--timezone", "Europe/Rome"}
	if _, errText, status := tool(t, line("alone"), zone...); status != exitOK {
		t.Fatalf("status %d: %s", status, errText)
	}
	s := startServer(t, "serve", "--data", data, "--timezone", "Europe/Rome")
	for i, args := range [][]string{zone, zone[:6]} {
		if _, errText, status := tool(t, line(fmt.Sprint("beside", i)), args...); status != exitOK {
			t.Fatalf("status %d: %s", status, errText)
		}
	}
	zone[len(zone)-1] = "Asia/Tokyo"
	if _, errText, status := tool(t, line("other"), zone...); status != exitUsage || !strings.Contains(errText, "Europe/Rome") {
		t.Errorf("another zone than the server's: status %d and %q", status, errText)
	}
	for _, slug := range []string{"alone", "beside0", "beside1"} {
		e := s.want(200, "GET", "/events/by-slug/"+slug, "", "")
		if e["timezone"] != "Europe/Rome" || e["utc_start_date"] != "2030-07-01 08:00:00" {
			t.Errorf("%s: %v in %v", slug, e["utc_start_date"], e["timezone"])
		}
	}
}

// TestTail: entries as they come, from a position on, until a signal; beside a server and
// on the store itself.
func TestTail(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := startServer(t, "serve", "--data", data)
	e := s.want(201, "POST", "/events", s.token, concert)
	for _, when := range []string{"serving", "stopped"} {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		cmd := child(ctx, "changes", "tail", "--from", "1", "--kind", "event", "--json", "--data", data)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		if !lines.Scan() || !strings.Contains(lines.Text(), `"id":`+idOf(e)+`,"version":1,`) || !strings.Contains(lines.Text(), `"actor":{"id":`) {
			t.Errorf("%s: got %q", when, lines.Text())
		}
		if when == "serving" {
			s.want(200, "PATCH", "/events/"+idOf(e), s.token, `{"title":"Moved","reason":"hall taken"}`)
			if !lines.Scan() || !strings.Contains(lines.Text(), `"version":2,`) || !strings.Contains(lines.Text(), `"reason":"hall taken"`) {
				t.Errorf("%s: then %q", when, lines.Text())
			}
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() { // the rest
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: ended with %v", when, err)
		}
		cancel()
		if when == "serving" {
			s.drain()
		}
	}
}
