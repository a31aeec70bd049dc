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
	"daybook/internal/status"
	"daybook/internal/testkit/engines"
)

// TestHealthWhenWritesFail: readiness and health tell that the store takes no
// writes, from the first that fails until one succeeds.
func TestHealthWhenWritesFail(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	server := startServer(t, "serve", "--data", data)
	// Somebody who keeps the file locked makes commits fail as a full disk does.
	database, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: filepath.Join(data, sqlite.FileName)}).String())
	must(t, err)
	defer func() { _ = database.Close() }()
	database.SetMaxOpenConns(1)
	if _, err := database.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
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
	if _, err := database.ExecContext(t.Context(), "ROLLBACK"); err != nil {
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

// TestHealthOfServers: a relay whose stream cannot be made, because one server cannot keep three
// replicas, and a projector whose read model refuses writes are stalled, with the error, and
// daybook health fails. Then the store answers reads, and acknowledges no write because its
// synchronous standby is away: those that write say so, relay and projector work on, because
// leases do not wait for the standby; without leases they say so within 10 s. All are well again
// when the store is.
func TestHealthOfServers(t *testing.T) {
	t.Parallel()
	own := engines.StartPostgres(t)
	nats, feedPrefix := engines.Shared(t, engines.NATS)
	index, prefix := engines.Shared(t, engines.Elasticsearch)
	between := newSearch(t, index, nil)
	on := []string{"--store", own.URL(), "--feed", nats, "--feed-prefix", feedPrefix, "--index", between.URL, "--index-prefix", prefix}
	roles := map[string]*server{}
	start := func(role string, args ...string) {
		t.Helper()
		roles[role] = startServer(t, append([]string{"serve", "--store-append-deadline", "2s"}, args...)...)
	}
	start("projector", append(on, "--role", "projector")...)
	start("relay", append(on, "--role", "relay", "--feed-replicas", "3")...)
	start("api", append(on, "--role", "api")...)
	api := roles["api"]
	// shows waits for what a role says of itself.
	shows := func(role, status, part, says string) {
		t.Helper()
		eventually(t, fmt.Sprintf("%s %s because of %q", status, role, says), func() bool {
			v := roles[role].state()
			why, _ := v["why"].(string)
			return v["code"] == 200 && v["status"] == status && (part == "" || v[role] == part) && strings.Contains(why, says)
		})
	}
	health := func(want int, says string) {
		t.Helper()
		eventually(t, "health: "+says, func() bool {
			out, errText, status := tool(t, nil, append([]string{"health"}, on...)...)
			return status == want && strings.Contains(out+errText, says)
		})
	}
	if v := roles["relay"].state(); v["status"] != "ok" || v["version"] != version {
		t.Errorf("the relay before the first entry: %v", v)
	}
	between.busy.Store(refuseAll)
	api.want(201, "POST", "/tags", api.token, `{"name":"one"}`)
	for role, want := range map[string]string{"relay": "feed replicas 3: the server is not part of a cluster", "projector": "write"} {
		shows(role, "degraded", "stalled", "the "+role+" does not come beyond")
		shows(role, "degraded", "stalled", want)
		eventually(t, "a line in the log", func() bool { return strings.Contains(roles[role].log(), "service is degraded") })
	}
	health(exitFailed, "status: "+"degraded")
	var lines strings.Builder
	for i := range status.MaxLag {
		fmt.Fprintf(&lines, `{"action":"create","kind":"tag","key":"%d","fields":{"name":"tag %[1]d"}}`+"\n", i)
	}
	importText(t, strings.NewReader(lines.String()), "--store", own.URL())
	shows("api", "degraded", "", "lists lag by 1")
	health(exitFailed, "lists lag by 1")
	between.busy.Store(refuseNone)
	shows("projector", "ok", "active", "")
	shows("api", "ok", "", "")
	// Lists are well, the feed is not.
	health(exitFailed, "the feed stands at 0 of")
	roles["relay"].drain()
	start("relay", append(on, "--role", "relay")...)
	health(exitOK, "")

	start("whole", "--store", own.URL(), "--data", t.TempDir())
	own.Exec("ALTER SYSTEM SET synchronous_standby_names = 'away'", "SELECT pg_reload_conf()")
	early := 0
	eventually(t, "the setting in force", func() bool { // its processes read it one after the other
		early++
		status, _ := api.try("POST", api.root+"/tags", api.token, fmt.Sprintf(`{"name":"early %d"}`, early))
		return status == 503
	})
	for _, role := range []string{"api", "whole"} {
		roles[role].want(503, "POST", "/tags", api.token, `{"name":"second"}`)
		shows(role, "degraded", "", whyNoWrites)
	}
	<-time.After(2 * lease.Span) // a lease that was not renewed has ended
	for _, role := range []string{"relay", "projector"} {
		if v := roles[role].state(); v[role] != "active" {
			t.Errorf("%s: %v", role, v)
		}
	}
	health(exitFailed, "why: "+whyNoWrites)
	own.Exec("ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
	for _, role := range []string{"api", "whole"} {
		roles[role].want(201, "POST", "/tags", api.token, fmt.Sprintf(`{"name":"by %s"}`, role))
	}

	own.Exec("ALTER TABLE daybook.leases RENAME TO no_leases")
	from := time.Now()
	for _, role := range []string{"relay", "projector"} {
		shows(role, "degraded", "blocked", "cannot ask for its lease")
	}
	if took := time.Since(from); took > 10*time.Second {
		t.Errorf("health of all knows it after %s", took)
	}
	own.Exec("ALTER TABLE daybook.no_leases RENAME TO leases")
	for role := range roles {
		shows(role, "ok", "", "")
	}
	health(exitOK, "")
}
