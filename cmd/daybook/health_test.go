package main

import (
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"daybook/eventstore/sqlite"
	"daybook/internal/lease"
	"daybook/internal/testkit/engines"
)

// TestHealthWhenWritesFail: readiness and health tell that the store takes no
// writes, from the first that fails until one succeeds.
func TestHealthWhenWritesFail(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	server := startServer(t, "serve", "--data", data)
	// Somebody who keeps the file locked makes commits fail as a full disk does.
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: filepath.Join(data, sqlite.FileName)}).String())
	must(t, err)
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	ready := func(want, why string) {
		t.Helper()
		status, _ := server.try("GET", server.host+pathReady, "", "")
		got := server.state()
		if status != 200 || got["status"] != want || why != "" && got["why"] != why {
			t.Errorf("ready: got %d and %v, want 200, %q and %q", status, got, want, why)
		}
	}
	ready("ok", "")
	server.want(503, "POST", "/tags", server.token, `{"name":"first"}`)
	ready("degraded", whyNoWrites)
	wantTool(t, exitFailed, "why: "+whyNoWrites, "health", "--data", data)
	server.want(200, "GET", "/tags", "", "")
	if _, err := db.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	server.want(201, "POST", "/tags", server.token, `{"name":"second"}`)
	ready("ok", "")
	for _, line := range []string{"event store takes no writes", "event store takes writes again"} {
		if n := strings.Count(server.log(), line); n != 1 {
			t.Errorf("the log has %q %d times\n%s", line, n, server.log())
		}
	}
}

// TestHealthOfStoreWithoutWrites: a store on a server answers reads, and acknowledges no
// write because its synchronous standby is away. Those that write say so, daybook health
// too; relay and projector work on, because leases do not wait for the standby. Without
// leases they say so within 10 s. All are well again when the store is.
func TestHealthOfStoreWithoutWrites(t *testing.T) {
	t.Parallel()
	own := engines.StartPostgres(t)
	nats, feedPrefix := engines.NATS(t)
	index, prefix := engines.Elasticsearch(t)
	on := []string{"--store", own.URL(), "--feed", nats, "--feed-prefix", feedPrefix, "--index", index, "--index-prefix", prefix}
	const deadline = "--store-append-deadline"
	roles := map[string]*server{}
	for _, role := range []string{"relay", "projector", "api"} {
		roles[role] = startServer(t, append([]string{"serve", deadline, "2s", "--role", role}, on...)...)
	}
	whole := startServer(t, "serve", deadline, "2s", "--store", own.URL(), "--data", t.TempDir())
	token := roles["api"].token
	roles["api"].want(201, "POST", "/tags", token, `{"name":"first"}`)
	health := func() (out string, status int) {
		out, _, status = tool(t, nil, append([]string{"health"}, on...)...)
		return out, status
	}
	eventually(t, "health", func() bool { _, status := health(); return status == exitOK })

	own.Exec("ALTER SYSTEM SET synchronous_standby_names = 'away'", "SELECT pg_reload_conf()")
	early := 0
	eventually(t, "the setting in force", func() bool { // its processes read it one after the other
		early++
		status, _ := roles["api"].try("POST", roles["api"].root+"/tags", token, fmt.Sprintf(`{"name":"early %d"}`, early))
		return status == 503
	})
	for _, s := range []*server{roles["api"], whole} {
		s.want(503, "POST", "/tags", token, `{"name":"second"}`)
	}
	for name, s := range map[string]*server{"api": roles["api"], "whole": whole} {
		if v := s.state(); v["code"] != 200 || v["status"] != "degraded" || v["why"] != whyNoWrites {
			t.Errorf("%s: %v", name, v)
		}
	}
	<-time.After(2 * lease.Span) // a lease that was not renewed has ended
	for _, role := range []string{"relay", "projector"} {
		if v := roles[role].state(); v[role] != "active" {
			t.Errorf("%s: %v", role, v)
		}
	}
	if out, status := health(); status != exitFailed || !strings.Contains(out, "why: "+whyNoWrites) {
		t.Errorf("daybook health: status %d, %q", status, out)
	}
	own.Exec("ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
	roles["api"].want(201, "POST", "/tags", token, `{"name":"third"}`)
	whole.want(201, "POST", "/tags", token, `{"name":"fourth"}`)

	own.Exec("ALTER TABLE daybook.leases RENAME TO no_leases")
	from := time.Now()
	for _, role := range []string{"relay", "projector"} {
		s := roles[role]
		eventually(t, role+" without a lease", func() bool { return s.state()["status"] != "ok" })
		v := s.state()
		if why, _ := v["why"].(string); v[role] != "blocked" || !strings.Contains(why, "cannot ask for its lease") {
			t.Errorf("%s: %v", role, v)
		}
	}
	if took := time.Since(from); took > 10*time.Second {
		t.Errorf("health of all knows it after %s", took)
	}
	own.Exec("ALTER TABLE daybook.no_leases RENAME TO leases")
	for name, s := range map[string]*server{"relay": roles["relay"], "projector": roles["projector"], "api": roles["api"], "whole": whole} {
		eventually(t, name+" is well again", func() bool { return s.state()["status"] == "ok" })
	}
	eventually(t, "daybook health is well again", func() bool { _, status := health(); return status == exitOK })
}
