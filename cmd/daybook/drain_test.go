package main

import (
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"daybook/internal/testkit"
)

// TestLameDuck: a process that is told to end is not ready first and answers on, for
// the time that is set; a second signal ends it at once.
func TestLameDuck(t *testing.T) {
	t.Parallel()
	s := startServer(t, "serve", "--data", filepath.Join(t.TempDir(), "data"), "--drain-delay", "5m", "--drain-limit", "6m")
	s.signal(syscall.SIGTERM)
	eventually(t, "draining", func() bool {
		v := s.state()
		if v["code"] == 0 {
			t.Fatalf("the listener is closed\n%s", s.log())
		}
		return v["code"] == http.StatusServiceUnavailable && v["status"] == statusDraining
	})
	s.want(201, "POST", "/tags", s.token, `{"name":"late"}`)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.root+"/tags", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK || !answer.Close {
		t.Errorf("a list while it drains: %d, connection closed %t, want 200 and true", answer.StatusCode, answer.Close)
	}
	if status, _ := s.try("GET", s.host+pathLive, "", ""); status != http.StatusOK {
		t.Errorf("alive: %d", status)
	}
	if status := s.drain(); status != -1 { // ended by the signal
		t.Errorf("the second signal: status %d, want the end by the signal", status)
	}
}

// TestLameDuckEnds: SIGTERM ends a process after the time, ^C without it.
func TestLameDuckEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		signal syscall.Signal
		delay  string
	}{
		"after the time": {syscall.SIGTERM, "10ms"},
		"^C":             {syscall.SIGINT, "5m"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, "serve", "--data", filepath.Join(t.TempDir(), "data"), "--drain-delay", c.delay, "--drain-limit", "6m")
			s.signal(c.signal)
			if status := s.ended(); status != exitOK {
				t.Errorf("drained with status %d\n%s", status, s.log())
			}
		})
	}
}

// ended waits for the end of a process that was told to, and gives its exit status.
func (s *server) ended() int {
	s.t.Helper()
	watchdog := time.AfterFunc(limit, s.signalKill)
	defer watchdog.Stop()
	_ = s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}

// TestLameDuckDefault: by default only a process beside which others may answer waits.
func TestLameDuckDefault(t *testing.T) {
	t.Parallel()
	store, index := "--store=postgres://p/d", "--index=http://e:9200"
	for args, want := range map[string]time.Duration{
		"": 0, "--drain-delay=3s": 3 * time.Second, store: defaultLameDuck, store + " --drain-delay=0": 0,
		store + " " + index + " --role=api":                                    defaultLameDuck,
		store + " " + index + " --feed=nats://n --role=projector":              0,
		store + " " + index + " --feed=nats://n --role=relay --drain-delay=3s": 0,
		store + " " + index + " --role=api --drain-delay=49s":                  49 * time.Second,
		store + " " + index + " --role=api --drain-delay=50s":                  -1,
		store + " " + index + " --role=api --drain-delay=1m":                   -1,
		"--drain-limit=0s":                   -1,
		store + " --drain-limit=5s":          -1,
		"--drain-delay=-1s":                  -1,
		"--drain-delay=soon":                 -1,
		"--drain-delay=4m --drain-limit=10m": 4 * time.Minute,
	} {
		s, _, err := settingsOf(t, strings.Fields(args), nil)
		if (err != nil) != (want < 0) {
			t.Errorf("%s: %v", args, err)
			continue
		}
		if err == nil && s.lameDuck() != want {
			t.Errorf("%s: %s, want %s", args, s.lameDuck(), want)
		}
	}
}

// TestDrainWithASilentServer: SIGTERM ends a process in its time though its event
// store has vanished without a word while requests wait for it.
func TestDrainWithASilentServer(t *testing.T) {
	t.Parallel()
	store, schema := testkit.Postgres(t)
	u, err := url.Parse(store)
	if err != nil {
		t.Fatal(err)
	}
	between := testkit.NewProxy(t, u.Host)
	s := startServer(t, "serve", "--data", filepath.Join(t.TempDir(), "data"), "--store", between.URL(store), "--store-schema", schema,
		"--drain-delay", "1s", "--drain-limit", "6s")
	id := idOf(s.want(201, "POST", "/tags", s.token, `{"name":"first"}`))
	between.Deaf(true)
	between.Swallow()
	var clients sync.WaitGroup
	defer clients.Wait()
	for range 8 {
		clients.Go(func() { s.try("GET", s.root+"/tags/"+id, s.token, "") })
		clients.Go(func() { s.try("POST", s.root+"/tags", s.token, `{"name":"second"}`) })
	}
	<-time.After(200 * time.Millisecond) // for the requests to be under way
	from := time.Now()
	s.signal(syscall.SIGTERM)
	status := s.ended()
	if status == -1 {
		t.Fatalf("SIGTERM has not ended it in %s\n%s", limit, s.log())
	}
	if took := time.Since(from); took > time.Minute {
		t.Errorf("ended after %s, with a limit of 6s", took)
	}
	if status != exitOK && !strings.Contains(s.log(), "drain hangs: it did not end within 6s") {
		t.Errorf("status %d, and it does not say why\n%s", status, s.log())
	}
}
