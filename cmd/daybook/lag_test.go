package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/internal/testkit/engines"
	"daybook/internal/testkit/world"
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
			start := world.Now
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

// TestCausesAreForOperators: the error behind a reason is told where only operators
// look.
func TestCausesAreForOperators(t *testing.T) {
	t.Parallel()
	h := health{Status: statusDegraded}
	h.because("the relay does not come beyond 1 of 2", "dial tcp 192.0.2.1:4222: refused")
	h.because(whyNoWrites, "")
	for role, shown := range map[role]bool{servesAll: false, servesAPI: false, servesRelay: true, servesProjector: true} {
		h.Role = role
		text, _ := h.public()["why"].(string)
		if !strings.Contains(text, "beyond 1 of 2, "+whyNoWrites) || strings.Contains(text, "192.0.2.1") != shown {
			t.Errorf("%s tells %q", role, text)
		}
	}
}

// TestPublishedOfWorkingRelay: a relay that stands by does not know what others published.
func TestPublishedOfWorkingRelay(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]bool{roleActive: true, roleStalled: true, roleStandby: false, roleBlocked: false, "": false} {
		h := health{Status: statusOK, Role: servesRelay, Relay: state, Head: 9, Published: 7}
		if got, shown := h.public()["published"]; shown != want {
			t.Errorf("%q: published %v, shown %t, want %t", state, got, shown, want)
		}
	}
}

// TestDegradedSaysWhy: a log line says why, also where the store went away in the middle of
// a look, and comes once.
func TestDegradedSaysWhy(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	degraded := false
	for _, h := range []health{
		{Status: statusNoStore, still: true}, {Status: statusDegraded, still: true, Why: whyNoWrites}, {Status: statusStarting}, {Status: statusOK}, {Status: statusOK},
	} {
		degraded = h.log(t.Context(), log, degraded)
	}
	if got := text.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, fmt.Sprintf("why=%q\n", statusNoStore)) || !strings.Contains(got, "well again") {
		t.Errorf("the log says:\n%s", got)
	}
}

// TestHealthSeesWhatStandsStill: a relay whose stream cannot be made, because one
// server cannot keep three replicas, and a projector whose read model refuses writes
// are stalled, with the error, and daybook health fails.
func TestHealthSeesWhatStandsStill(t *testing.T) {
	t.Parallel()
	store, schema := engines.Postgres(t)
	nats, feedPrefix := engines.NATS(t)
	index, prefix := engines.Elasticsearch(t)
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
	wantTool(t, exitFailed, "status: "+statusDegraded, command...)
	var lines strings.Builder
	for i := range maxLag {
		fmt.Fprintf(&lines, `{"action":"create","kind":"tag","key":"%d","fields":{"name":"tag %[1]d"}}`+"\n", i)
	}
	importText(t, strings.NewReader(lines.String()), "--store", store, "--store-schema", schema)
	eventually(t, "lists that lag", func() bool {
		v := api.state()
		why, _ := v["why"].(string)
		return v["code"] == 200 && v["status"] == statusDegraded && strings.Contains(why, "lists lag by 1")
	})
	wantTool(t, exitFailed, "lists lag by 1", command...)
	between.busy.Store(refuseNone)
	eventually(t, "a projector that goes on", func() bool { v := projects.state(); return v["status"] == statusOK && v["projector"] == roleActive })
	eventually(t, "lists that caught up", func() bool { return api.state()["status"] == statusOK })
	// Lists are well, the feed is not.
	wantTool(t, exitFailed, "the feed stands at 0 of", command...)
	relay.drain()
	start("relay")
	eventually(t, "health", func() bool { _, _, status := tool(t, nil, command...); return status == exitOK })
}
