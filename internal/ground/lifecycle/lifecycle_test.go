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
	var buffer bytes.Buffer
	w := writer(func(data []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return buffer.Write(data)
	})
	textHandler := slog.NewTextHandler(w, &slog.HandlerOptions{ReplaceAttr: func(_ []string, attr slog.Attr) slog.Attr {
		if attr.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return attr
	}})
	return slog.New(textHandler), func() string {
		mu.Lock()
		defer mu.Unlock()
		return buffer.String()
	}
}

type writer func([]byte) (int, error)

func (writer writer) Write(data []byte) (int, error) { return writer(data) }

// trace notes in which order things happen.
type trace struct {
	mu    sync.Mutex
	steps []string
}

func (trace *trace) note(text string) {
	trace.mu.Lock()
	defer trace.mu.Unlock()
	trace.steps = append(trace.steps, text)
}

// drains makes a loop that drains when it is interrupted.
func (trace *trace) drains(name string) func(context.Context) error {
	return func(ctx context.Context) error {
		<-ctx.Done()
		trace.note(name + " stops")
		trace.note(name + " drained")
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
			var group run.Group
			group.Add(Actor(t.Context(), log, "http", tr.drains("http")))
			group.Add(Actor(t.Context(), log, "relay", tr.drains("relay")))
			group.Add(Actor(t.Context(), log, "last", func(context.Context) error { return first }))
			group.Add(Actor(t.Context(), log, "store", tr.drains("store")))
			if err := group.Run(); !errors.Is(err, first) {
				t.Errorf("got %v, want %v", err, first)
			}
			want := []string{"http stops", "http drained", "relay stops", "relay drained", "store stops", "store drained"}
			if !slices.Equal(tr.steps, want) {
				t.Errorf("got %q, want %q", tr.steps, want)
			}
		})
	}
}

// A request that does not end is cut off after the drain time.
func TestServerCutsOff(t *testing.T) {
	t.Parallel()
	log, text := logTo()
	begun := make(chan struct{})
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		close(begun)
		<-request.Context().Done()
	})}
	listener := listen(t)
	var group run.Group
	group.Add(Server(t.Context(), log, "http", server, listener, time.Millisecond))
	group.Add(Actor(t.Context(), log, "end", func(context.Context) error { <-begun; return nil }))
	ended := make(chan error, 1)
	go func() { ended <- group.Run() }()
	if got, err := get(t, listener); err == nil {
		t.Errorf("got %q, want the connection closed", got)
	}
	if err := <-ended; err != nil {
		t.Errorf("got %v, want nil", err)
	}
	if !strings.Contains(text(), "requests cut off") {
		t.Errorf("got log %s, want the cut", text())
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

func get(t *testing.T, listener net.Listener) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listener.Addr().String(), nil)
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
	data, err := io.ReadAll(res.Body)
	return string(data), err
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
				drain := &Drain{Log: log, Delay: time.Minute, Limit: 2 * time.Minute, Begin: func() bool { told = time.Since(from); return c.used }}
				var group run.Group
				group.Add(drain.Actor())
				group.Add(Actor(t.Context(), log, "http", func(ctx context.Context) error {
					<-ctx.Done()
					stopped = time.Since(from)
					return ctx.Err()
				}))
				group.Add(endsWith(c.end))
				if err := drain.Run(&group); !errors.Is(err, c.end) {
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
		drain := &Drain{Log: log, Delay: 3 * time.Second, Limit: time.Minute}
		var group run.Group
		group.Add(drain.Actor())
		group.Add(Actor(t.Context(), log, "store", func(context.Context) error { <-hang; return nil }))
		group.Add(endsWith(&run.SignalError{Signal: syscall.SIGTERM}))
		from := time.Now()
		if err := drain.Run(&group); !errors.Is(err, ErrHangs) || time.Since(from) != time.Minute {
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
