package lifecycle

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oklog/run"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errBroken = errors.New("broken")

// logTo gives a log without times, and what it holds.
func logTo() (*slog.Logger, func() string) {
	var mu sync.Mutex
	var b bytes.Buffer
	w := writer(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return b.Write(p)
	})
	h := slog.NewTextHandler(w, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	return slog.New(h), func() string {
		mu.Lock()
		defer mu.Unlock()
		return b.String()
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// trace notes in which order things happen.
type trace struct {
	mu    sync.Mutex
	steps []string
}

func (tr *trace) note(s string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.steps = append(tr.steps, s)
}

// drains makes a loop that drains when it is interrupted.
func (tr *trace) drains(name string) func(context.Context) error {
	return func(ctx context.Context) error {
		<-ctx.Done()
		tr.note(name + " stops")
		tr.note(name + " drained")
		return ctx.Err()
	}
}

// Actors drain one after the other, in the order in which they were added,
// whichever ends first.
func TestDrainOrder(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]error{"by an error": errBroken, "without an error": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log, _ := logTo()
			tr := &trace{}
			var g run.Group
			g.Add(Actor(t.Context(), log, "http", tr.drains("http")))
			g.Add(Actor(t.Context(), log, "relay", tr.drains("relay")))
			g.Add(Actor(t.Context(), log, "last", func(context.Context) error { return first }))
			g.Add(Actor(t.Context(), log, "store", tr.drains("store")))
			if err := g.Run(); !errors.Is(err, first) {
				t.Errorf("got %v, want %v", err, first)
			}
			want := []string{"http stops", "http drained", "relay stops", "relay drained", "store stops", "store drained"}
			if !slices.Equal(tr.steps, want) {
				t.Errorf("got %q, want %q", tr.steps, want)
			}
		})
	}
}

// Each error of an actor itself is logged under its name, not only the first.
func TestEachErrorIsLogged(t *testing.T) {
	t.Parallel()
	log, text := logTo()
	var g run.Group
	g.Add(Actor(t.Context(), log, "late", func(ctx context.Context) error {
		<-ctx.Done()
		return errors.New("cannot close")
	}))
	g.Add(Actor(t.Context(), log, "quiet", func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}))
	g.Add(Actor(t.Context(), log, "first", func(context.Context) error { return errBroken }))
	err := g.Run()
	if err == nil || err.Error() != "first: broken" {
		t.Errorf("got %v, want first: broken", err)
	}
	want := "level=ERROR msg=\"actor ended\" actor=first error=broken\n" +
		"level=ERROR msg=\"actor ended\" actor=late error=\"cannot close\"\n"
	if got := text(); got != want {
		t.Errorf("got log\n%swant\n%s", got, want)
	}
}

// A context that ends drains all.
func TestContextEnds(t *testing.T) {
	t.Parallel()
	log, text := logTo()
	ctx, cancel := context.WithCancel(t.Context())
	var g run.Group
	g.Add(Actor(ctx, log, "a", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }))
	g.Add(run.SignalHandler(ctx))
	cancel()
	if err := Drained(g.Run()); err != nil {
		t.Errorf("got %v, want nil", err)
	}
	if text() != "" {
		t.Errorf("got log %s, want none", text())
	}
}

// The server answers the request that is under way, then ends.
func TestServerDrains(t *testing.T) {
	t.Parallel()
	log, text := logTo()
	begun, goOn := make(chan struct{}), make(chan struct{})
	s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(begun)
		<-goOn
		_, _ = io.WriteString(w, "whole")
	})}
	l := listen(t)
	var g run.Group
	g.Add(Server(t.Context(), log, "http", s, l, time.Minute))
	g.Add(Actor(t.Context(), log, "end", func(context.Context) error { <-begun; return errBroken }))
	g.Add(Actor(t.Context(), log, "under way", func(ctx context.Context) error { <-ctx.Done(); return nil }))
	s.RegisterOnShutdown(func() { close(goOn) })
	ended := make(chan error, 1)
	go func() { ended <- g.Run() }()
	if got, err := get(t, l); err != nil || got != "whole" {
		t.Errorf("got %q, %v, want the whole answer", got, err)
	}
	if err := <-ended; !errors.Is(err, errBroken) {
		t.Errorf("got %v, want %v", err, errBroken)
	}
	if strings.Contains(text(), "cut off") {
		t.Errorf("got log %s, want nothing cut off", text())
	}
}

// A request that does not end is cut off after the drain time.
func TestServerCutsOff(t *testing.T) {
	t.Parallel()
	log, text := logTo()
	begun := make(chan struct{})
	s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
	})}
	l := listen(t)
	var g run.Group
	g.Add(Server(t.Context(), log, "http", s, l, time.Millisecond))
	g.Add(Actor(t.Context(), log, "end", func(context.Context) error { <-begun; return nil }))
	ended := make(chan error, 1)
	go func() { ended <- g.Run() }()
	if got, err := get(t, l); err == nil {
		t.Errorf("got %q, want the connection closed", got)
	}
	if err := <-ended; err != nil {
		t.Errorf("got %v, want nil", err)
	}
	if !strings.Contains(text(), "requests cut off") {
		t.Errorf("got log %s, want the cut", text())
	}
}

// A listener that fails ends the group, by name.
func TestServerFails(t *testing.T) {
	t.Parallel()
	log, text := logTo()
	l := listen(t)
	_ = l.Close()
	var g run.Group
	g.Add(Server(t.Context(), log, "http", &http.Server{ReadHeaderTimeout: time.Minute}, l, time.Minute))
	if err := g.Run(); err == nil || !strings.HasPrefix(err.Error(), "http: ") {
		t.Errorf("got %v, want an error of http", err)
	}
	if !strings.Contains(text(), "actor=http") {
		t.Errorf("got log %s, want the name", text())
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func get(t *testing.T, l net.Listener) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	res, err := transport.RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return string(b), err
}

// endsWith is an actor that ends a group with an error at once.
func endsWith(err error) (execute func() error, interrupt func(error)) {
	return func() error { return err }, func(error) {}
}

// SIGTERM is told first and then waited upon, before anything behind it drains; any
// other end waits for nothing.
func TestDrainDelays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  error
		used bool
		want time.Duration
	}{
		"SIGTERM":        {&run.SignalError{Signal: syscall.SIGTERM}, true, time.Minute},
		"SIGTERM unused": {&run.SignalError{Signal: syscall.SIGTERM}, false, 0},
		"SIGINT":         {&run.SignalError{Signal: syscall.SIGINT}, true, 0},
		"failure":        {errBroken, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				log, text := logTo()
				from := time.Now()
				told, stopped := time.Duration(-1), time.Duration(-1)
				d := &Drain{Log: log, Delay: time.Minute, Limit: 2 * time.Minute, Begin: func() bool { told = time.Since(from); return c.used }}
				var g run.Group
				g.Add(d.Actor())
				g.Add(Actor(t.Context(), log, "http", func(ctx context.Context) error {
					<-ctx.Done()
					stopped = time.Since(from)
					return ctx.Err()
				}))
				g.Add(endsWith(c.end))
				if err := d.Run(&g); !errors.Is(err, c.end) {
					t.Errorf("got %v, want %v", err, c.end)
				}
				if signal := errors.Is(c.end, run.ErrSignal); strings.Contains(text(), "a second signal ends at once") != signal {
					t.Errorf("got log %s", text())
				}
				if told != 0 || stopped != c.want {
					t.Errorf("told after %s, stopped after %s, want 0s and %s", told, stopped, c.want)
				}
			})
		})
	}
}

// An actor that never ends is named by the log, and does not keep the group.
func TestDrainIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, text := logTo()
		hang := make(chan struct{})
		d := &Drain{Log: log, Delay: 3 * time.Second, Limit: time.Minute}
		var g run.Group
		g.Add(d.Actor())
		g.Add(Actor(t.Context(), log, "store", func(context.Context) error { <-hang; return nil }))
		g.Add(endsWith(&run.SignalError{Signal: syscall.SIGTERM}))
		from := time.Now()
		if err := d.Run(&g); !errors.Is(err, ErrHangs) || time.Since(from) != time.Minute {
			t.Errorf("after %s: %v, want %v after a minute", time.Since(from), err, ErrHangs)
		}
		if Drained(ErrHangs) == nil {
			t.Error("a drain that hangs counts as drained")
		}
		if want := "level=WARN msg=\"actor still drains\" actor=store\n"; !strings.HasSuffix(text(), want) {
			t.Errorf("got log %s, want %s", text(), want)
		}
		close(hang) // the test leaves nothing behind
		synctest.Wait()
	})
}
