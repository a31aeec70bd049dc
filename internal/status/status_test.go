package status

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/projector"
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
			start := time.Unix(0, 0)
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
		{0, MaxLag, MaxLagAge, ""},
		{0, MaxLag + 1, 0, "lists lag by 1001 entries"},
		{6, 7, MaxLagAge + time.Second, "lists lag by 1 entries, one for 31s"},
		{9, 7, time.Hour, ""},
	} {
		if got := lagging(c.visible, c.head, c.late); got != c.want {
			t.Errorf("lists at %d of %d for %s: %q, want %q", c.visible, c.head, c.late, got, c.want)
		}
	}
}

// TestJudge: what every state of the parts means for the process.
func TestJudge(t *testing.T) {
	t.Parallel()
	away := errors.New("refused")
	behind := []Worker{{Name: Relay, State: Stalled, Position: 1}, {Name: Projector, State: Blocked, Failure: "no lease"}}
	for name, c := range map[string]struct {
		role     string
		starting bool
		report   Report
		status   string
		why      string
		ready    bool
	}{
		"well":                        {"all", false, Report{Head: 7, Visible: 7}, OK, "", true},
		"starts":                      {"all", true, Report{Head: 7, Visible: 3}, Starting, "", false},
		"store away":                  {"all", false, Report{StoreErr: away, Visible: 7}, NoStore, "", false},
		"read model away":             {"all", false, Report{Head: 7, IndexErr: away}, Degraded, "read model unavailable: refused", true},
		"read model never reached":    {"all", true, Report{Head: 7, IndexErr: away}, NoModel, "refused", false},
		"read model of a projector":   {Projector, false, Report{Head: 7, IndexErr: away, Projector: &projector.Stats{Failure: "full"}}, NoModel, "refused, full", false},
		"feed away":                   {"all", false, Report{Head: 7, Visible: 7, FeedAway: true, Workers: behind[:1]}, Degraded, "feed unavailable", true},
		"feed away while it starts":   {"all", true, Report{Head: 7, FeedAway: true}, Degraded, "feed unavailable", true},
		"feed of a relay away":        {Relay, false, Report{Head: 7, FeedAway: true}, NoFeed, "", false},
		"nothing goes on":             {"all", false, Report{Head: 7, Visible: 7, Workers: behind}, Degraded, "the relay does not come beyond 1 of 7, the projector cannot ask for its lease: no lease", true},
		"quarantined while it starts": {"all", true, Report{Head: 7, Visible: 3, Quarantined: make([]readmodel.Quarantined, 1)}, Degraded, "", true},
		"lists fail":                  {"all", false, Report{Head: 7, Visible: 7, ListsErr: away}, Degraded, "read model unavailable: refused", true},
		"lists lag":                   {"all", false, Report{Head: MaxLag + 9, Visible: 7}, Degraded, "lists lag by 1002 entries", true},
		"lists ahead":                 {"all", false, Report{Head: 7, Visible: 9}, Degraded, "lists show what the event store does not have: visible 9, head 7", false},
	} {
		reporter := &Reporter{Parts: Parts{Role: c.role, Index: struct{ readmodel.Index }{}}}
		if !c.starting {
			reporter.caughtUp.Store(true)
		}
		if health := reporter.judge(&c.report); health.Status != c.status || health.Reason() != c.why || health.Ready() != c.ready {
			t.Errorf("%s: %q because %q, ready %t; want %q, %q, %t", name, health.Status, health.Reason(), health.Ready(), c.status, c.why, c.ready)
		}
	}
}

// TestCausesAreForOperators: the error behind a reason is told where only operators
// look.
func TestCausesAreForOperators(t *testing.T) {
	t.Parallel()
	health := Health{Status: Degraded}
	health.because("the relay does not come beyond 1 of 2", "dial tcp 192.0.2.1:4222: refused")
	health.because("store takes no writes", "")
	for role, shown := range map[string]bool{"all": false, "api": false, Relay: true, Projector: true} {
		health.Role = role
		text, _ := health.Public()["why"].(string)
		if !strings.Contains(text, "beyond 1 of 2, store takes no writes") || strings.Contains(text, "192.0.2.1") != shown {
			t.Errorf("%s tells %q", role, text)
		}
	}
}

// TestPublishedOfWorkingRelay: a relay that stands by does not know what others published.
func TestPublishedOfWorkingRelay(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]bool{Active: true, Stalled: true, Standby: false, Blocked: false, "": false} {
		health := Health{Status: OK, Role: Relay, Relay: state, Head: 9, Published: 7}
		if got, shown := health.Public()["published"]; shown != want {
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
	for _, health := range []Health{
		{Status: NoStore, still: true}, {Status: Degraded, still: true, Why: "store takes no writes"}, {Status: Starting}, {Status: OK}, {Status: OK},
	} {
		degraded = health.log(t.Context(), log, degraded)
	}
	if got := text.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, fmt.Sprintf("why=%q\n", NoStore)) || !strings.Contains(got, "well again") {
		t.Errorf("the log says:\n%s", got)
	}
}
