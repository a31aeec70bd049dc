package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/telemetry"
	"daybook/internal/testkit"
	"daybook/query/readmodel"
)

// TestPace: a position stands still when it does not move below the head, and is late
// when it has not come to an entry that was the head, moving or not.
func TestPace(t *testing.T) {
	t.Parallel()
	type look struct{ seconds, at, head, still, late int }
	for name, looks := range map[string][]look{
		"at the head":     {{0, 5, 5, 0, 0}, {60, 5, 5, 0, 0}, {70, 5, 6, 0, 0}, {75, 5, 7, 5, 5}},
		"follows":         {{0, 3, 5, 0, 0}, {5, 5, 9, 0, 0}, {10, 9, 12, 0, 0}},
		"stands":          {{0, 3, 5, 0, 0}, {5, 3, 6, 5, 5}, {40, 3, 7, 40, 40}, {45, 7, 7, 0, 0}},
		"falls behind":    {{0, 3, 50, 0, 0}, {20, 9, 60, 0, 20}, {40, 20, 90, 0, 40}, {50, 50, 95, 0, 0}, {55, 50, 96, 5, 5}},
		"another history": {{0, 3, 50, 0, 0}, {20, 3, 40, 20, 0}, {30, 40, 40, 0, 0}},
		"above the head":  {{0, 9, 5, 0, 0}, {50, 9, 5, 0, 0}},
		"hands over":      {{0, 3, 50, 0, 0}, {20, 60, 60, 0, 0}, {30, 3, 60, 0, 10}, {35, 3, 60, 5, 15}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p lag
			start := testkit.Now
			for i, l := range looks {
				now := start.Add(time.Duration(l.seconds) * time.Second)
				p.look(now, calendar.Position(l.at), calendar.Position(l.head))
				still, late := p.still(now), p.late(now)
				if still != time.Duration(l.still)*time.Second || late != time.Duration(l.late)*time.Second {
					t.Errorf("look %d: still %s, late %s, want %d s and %d s", i, still, late, l.still, l.late)
				}
			}
		})
	}
}

// TestLagging: both bounds, and what is said.
func TestLagging(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		visible, head calendar.Position
		late          time.Duration
		want          string
	}{
		{7, 7, 0, ""},
		{0, maxLag, maxLagAge, ""},
		{0, maxLag + 1, 0, "lists lag by 1001 entries"},
		{6, 7, maxLagAge + time.Second, "lists lag by 1 entries, one for 31s"},
		{9, 7, time.Hour, ""},
	} {
		if got := lagging(c.visible, c.head, c.late); got != c.want {
			t.Errorf("lists at %d of %d for %s: %q, want %q", c.visible, c.head, c.late, got, c.want)
		}
	}
}

// idle is a backend with an event store of n entries and a memory image that nothing
// keeps, as a service has them whose projector hangs.
func idle(t *testing.T, n int) *backend {
	t.Helper()
	s, _, err := settingsOf(t, []string{"--data", t.TempDir()}, nil)
	must(t, err)
	log := slog.New(slog.DiscardHandler)
	b, err := openBackend(t.Context(), &console{}, s, log, telemetry.Hooks{}, false)
	must(t, err)
	t.Cleanup(func() { _ = b.Close() })
	m, err := b.openModel(t.Context(), nil)
	must(t, err)
	l := &live{model: m, projects: true}
	l.caughtUp.Store(true)
	b.live.Store(l)
	write(t, b, n)
	return b
}

// write appends n entries.
func write(t *testing.T, b *backend, n int) {
	t.Helper()
	for n > 0 {
		some := min(n, 200)
		ids, err := b.store.NewIDs(t.Context(), some)
		must(t, err)
		appends := make([]eventstore.Append, 0, some)
		for i := range some {
			appends = append(appends, eventstore.Append{
				Time: testkit.Now, Actor: 1, Cause: eventstore.Cause{Client: "test", Request: "r"},
				Drafts: []eventstore.Draft{{
					Kind: calendar.KindVenue, ID: ids + calendar.ID(i), Change: "venue.created", Fields: json.RawMessage(`{}`), State: json.RawMessage(`{"fields":{}}`),
				}},
			})
		}
		for _, r := range b.store.Append(t.Context(), appends) {
			if r.Err != nil {
				t.Fatal(r.Err)
			}
		}
		n -= some
	}
}

// probed gives what a backend answers to a probe, and to daybook health.
func probed(t *testing.T, b *backend) (status int, public map[string]any, command string, err error) {
	t.Helper()
	w := httptest.NewRecorder()
	d, err := newReadiness(b.s.api(b.log))
	must(t, err)
	d.open(nil, b)
	d.closed.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, pathReady, http.NoBody))
	must(t, json.Unmarshal(w.Body.Bytes(), &public))
	var out bytes.Buffer
	err = healthTask(t.Context(), b, &console{out: &out, err: &out}, b.s, nil)
	return w.Code, public, out.String(), err
}

// TestHealthSeesLists: lists that lag beyond the bound are degraded, those that show
// what the store does not have are not ready, and daybook health says both.
func TestHealthSeesLists(t *testing.T) {
	t.Parallel()
	b := idle(t, maxLag)
	if status, v, _, err := probed(t, b); status != 200 || v["status"] != statusOK || err != nil {
		t.Errorf("lists that lag by the bound: %d %v, %v", status, v, err)
	}
	write(t, b, 1)
	status, v, command, err := probed(t, b)
	const why = "lists lag by 1001 entries"
	if status != 200 || v["status"] != statusDegraded || v["why"] != why || err == nil || !strings.Contains(command, "why: "+why) {
		t.Errorf("lists that lag by more: %d %v, %q, %v", status, v, command, err)
	}
	index := b.live.Load().model.Index()
	if _, err := index.Write(t.Context(), readmodel.Batch{Mark: calendar.Mark{Position: maxLag + 5}}); err != nil {
		t.Fatal(err)
	}
	status, v, command, err = probed(t, b)
	const untrue = "lists show what the event store does not have: visible 1005, head 1001"
	if status != 503 || v["status"] != statusDegraded || v["why"] != untrue || err == nil || !strings.Contains(command, "why: "+untrue) {
		t.Errorf("lists above the head: %d %v, %q, %v", status, v, command, err)
	}
	write(t, b, 4)
	if status, v, _, err := probed(t, b); status != 200 || v["status"] != statusOK || err != nil {
		t.Errorf("lists at the head: %d %v, %v", status, v, err)
	}
}

// TestCausesAreForOperators: the error behind a reason is told where only operators
// look.
func TestCausesAreForOperators(t *testing.T) {
	t.Parallel()
	h := health{Status: statusDegraded}
	h.because("the relay does not come beyond 1 of 2", "dial tcp 192.0.2.1:4222: refused")
	h.because(whyNoWrites, "")
	for role, shown := range map[servesAs]bool{servesAll: false, servesAPI: false, servesRelay: true, servesProjector: true} {
		h.Role = role
		text, _ := h.public()["why"].(string)
		if !strings.Contains(text, "beyond 1 of 2, "+whyNoWrites) || strings.Contains(text, "192.0.2.1") != shown {
			t.Errorf("%s tells %q", role, text)
		}
	}
}

// TestHealthSeesWhatStandsStill: a relay whose stream cannot be made, because one
// server cannot keep three replicas, and a projector whose read model refuses writes
// are stalled, with the error, and daybook health fails.
func TestHealthSeesWhatStandsStill(t *testing.T) {
	t.Parallel()
	store, schema := testkit.Postgres(t)
	nats, feedPrefix := testkit.NATS(t)
	index, prefix := testkit.Elasticsearch(t)
	between := newSearch(t, index, nil)
	on := []string{"--store", store, "--store-schema", schema, "--feed", nats, "--feed-prefix", feedPrefix, "--index", between.URL, "--index-prefix", prefix}
	start := func(role string, more ...string) *server {
		t.Helper()
		return startServer(t, append(append([]string{"serve", "--role", role}, on...), more...)...)
	}
	projects := start("projector")
	relay := start("relay", "--feed-replicas", "3")
	api := start("api")
	if v := relay.state(); v["status"] != statusOK {
		t.Errorf("the relay before the first entry: %v", v)
	}
	between.busy.Store(refuseAll)
	api.want(201, "POST", "/tags", api.token, `{"name":"one"}`)
	for s, want := range map[*server]string{relay: "feed replicas 3: the server is not part of a cluster", projects: "write"} {
		role := map[*server]string{relay: "relay", projects: "projector"}[s]
		eventually(t, "a stalled "+role, func() bool { return s.state()["status"] == statusDegraded && s.state()[role] == roleStalled })
		v := s.state()
		if why, _ := v["why"].(string); v["code"] != 200 || !strings.Contains(why, "the "+role+" does not come beyond") || !strings.Contains(why, want) {
			t.Errorf("%s: %v, want the reason with %q", role, v, want)
		}
		eventually(t, "a line in the log", func() bool { return strings.Contains(s.log(), "service is degraded") })
	}
	command := append([]string{"health"}, on...)
	out, _, status := tool(t, nil, command...)
	if status != exitFailed || !strings.Contains(out, "status: "+statusDegraded) {
		t.Errorf("health of lists that stand still: status %d, %s", status, out)
	}
	between.busy.Store(refuseNone)
	eventually(t, "a projector that goes on", func() bool { v := projects.state(); return v["status"] == statusOK && v["projector"] == roleActive })
	if v := api.state(); v["status"] != statusOK {
		t.Errorf("api: %v", v)
	}
	// Lists are well, the feed is not.
	out, _, status = tool(t, nil, command...)
	if status != exitFailed || !strings.Contains(out, "the feed stands at 0 of") {
		t.Errorf("health of a feed without a stream: status %d, %s", status, out)
	}
	relay.drain()
	start("relay")
	eventually(t, "health", func() bool { _, _, status = tool(t, nil, command...); return status == exitOK })
}
