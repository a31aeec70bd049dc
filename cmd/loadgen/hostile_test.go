package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Requests are sent at their time though those before them are not answered: the
// service answers none until all are there.
func TestPacedIsAnOpenLoop(t *testing.T) {
	t.Parallel()
	const rate, span = 20, time.Second
	var asked atomic.Int64
	all := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == rate {
			close(all)
		}
		select {
		case <-all:
		case <-r.Context().Done():
		}
	}))
	defer s.Close()
	l := paced(t.Context(), rate, span, func(ctx context.Context, _ int) (*http.Request, error) {
		return http.NewRequestWithContext(ctx, http.MethodGet, s.URL, http.NoBody)
	})
	if l.n != rate || l.failures() > 0 {
		t.Errorf("got %d answers and %v, want %d", l.n, l.failed, rate)
	}
	if l.p99 < span/2 {
		t.Errorf("p99 is %s: waiting does not count", l.p99)
	}
}

// A refused request counts as one that was waited for as long as anybody waits.
func TestPacedCountsRefusals(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1)%2 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer s.Close()
	l := paced(t.Context(), 20, time.Second, func(ctx context.Context, _ int) (*http.Request, error) {
		return http.NewRequestWithContext(ctx, http.MethodGet, s.URL, http.NoBody)
	})
	if l.n != 20 || l.failed["503"] != 10 || l.p99 != answerTimeout || l.p50 < 0 {
		t.Errorf("got %+v, want 10 of 20 refused and counted as %s", l, answerTimeout)
	}
}

// Heavy events have a description of 880 characters, venue, organizer, categories
// and tags; light ones stay as they were.
func TestWeights(t *testing.T) {
	t.Parallel()
	for of, want := range map[weight]struct {
		description [2]int
		organizer   bool
		categories  int
	}{
		light: {[2]int{200, 400}, false, 1},
		heavy: {[2]int{heavyText, heavyText}, true, 2},
	} {
		path := filepath.Join(t.TempDir(), "fill.ndjson")
		if err := fill(path, 100, today(), of); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		events, most := 0, 0
		for line := range strings.Lines(string(text)) {
			var c struct {
				Kind   string
				Fields struct {
					Description      string
					Venue, Organizer any
					Categories, Tags []any
				}
			}
			if err := json.Unmarshal([]byte(line), &c); err != nil {
				t.Fatal(err)
			}
			if c.Kind != "event" {
				continue
			}
			events++
			f := c.Fields
			if n := len(f.Description); n < want.description[0] || n > want.description[1] {
				t.Errorf("%s: description of %d characters, want %v", of, n, want.description)
			}
			if f.Venue == nil || (f.Organizer != nil) != want.organizer || len(f.Categories) == 0 || len(f.Tags) == 0 {
				t.Errorf("%s: links are %+v", of, f)
			}
			most = max(most, len(f.Categories))
		}
		if events != 100 || most != want.categories {
			t.Errorf("%s: %d events with up to %d categories, want 100 and %d", of, events, most, want.categories)
		}
	}
}

// The whole bench on a service of this program, each attack for a second: every
// attack has its row with a verdict, and its attacker got something.
func TestHostile(t *testing.T) {
	binary, err := program()
	if err != nil {
		t.Fatalf("build daybook: %v", err)
	}
	var out, errw strings.Builder
	if code := run(t.Context(), []string{"-binary", binary, "-hostile-size", "150", "-hostile-for", "1s", "hostile"}, &out, &errw); code != 0 {
		t.Fatalf("ended with %d\n%s\n%s", code, out.String(), errw.String())
	}
	text := out.String()
	if !regexp.MustCompile(`(?m)^quiet .* MB`).MatchString(text) {
		t.Errorf("no row of the quiet service")
	}
	for _, at := range attacks {
		row := regexp.MustCompile(fmt.Sprintf(`(?m)^%s .* MB  (not )?met\n  %d connections, at most %d a second; the attacker got .* x \d+`,
			regexp.QuoteMeta(at.name), at.connections, at.rate))
		if !row.MatchString(text) {
			t.Errorf("no row of %q", at.name)
		}
	}
	if t.Failed() {
		t.Logf("%s\n%s", text, errw.String())
	}
}

func TestHostileFlags(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"-hostile-size", "7", "hostile"}, {"-hostile-size", "0", "hostile"}, {"-weight", "feather", "hostile"}, {"friendly"}, {"hostile", "hostile"},
	} {
		var out, errw strings.Builder
		if code := run(t.Context(), args, &out, &errw); code != 2 || !strings.Contains(errw.String(), "loadgen: ") {
			t.Errorf("%v: ended with %d: %s", args, code, errw.String())
		}
	}
}

// An attacker gives way to the service and to those who use it.
func TestGiveWay(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "cat")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = cmd.Wait() }()
	giveWay(cmd.Process.Pid)
	own, err := niceness(0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := niceness(cmd.Process.Pid)
	if want := min(own+10, 19); err != nil || got != want {
		t.Errorf("its nice value is %d (%v), want %d", got, err, want)
	}
}
