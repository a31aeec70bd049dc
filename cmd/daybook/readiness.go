package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"daybook/calendar"
	"daybook/internal/httpapi"
	"daybook/internal/httpapi/admit"
	"daybook/internal/status"
)

// The paths for operating a process.
const (
	pathLive  = "/health/live"
	pathReady = "/health/ready"
)

// readyAtOnce is how many requests at once ask how the process is, a quarter of them of one
// address.
const readyAtOnce = 1024

// readiness is the handler of the listener: before the work has begun and after it
// has ended it tells so, and when it is about to end.
type readiness struct {
	closed   http.Handler // while the process does not work
	inside   atomic.Pointer[inside]
	draining chan struct{} // closed when the process begins to end

	operations map[string]http.Handler // that answer next to the interface, by path
}

// inside is what answers now.
type inside struct {
	http.Handler
	status *status.Reporter // nil: the process does not work
}

// newReadiness makes the handler; options are the settings of the interface.
func newReadiness(options httpapi.Options) (d *readiness, err error) {
	d = &readiness{draining: make(chan struct{})}
	rooms := admit.New(admit.Limits{Slots: readyAtOnce, Forwarded: options.TrustForwarded})
	d.operations = map[string]http.Handler{pathLive: probe(rooms, alive), pathReady: probe(rooms, d.ready)}
	d.closed, err = httpapi.Closed(options, calendar.CodeUnavailable)
	d.shut()
	return d, err
}

// probe answers how the process is, with what look shows as JSON.
func probe(rooms *admit.Control, look func(context.Context) (well bool, shown map[string]any)) http.HandlerFunc {
	return func(writer http.ResponseWriter, request *http.Request) {
		pass := rooms.Arrive(request)
		defer pass.Leave()
		header := writer.Header()
		switch {
		case request.Method != http.MethodGet && request.Method != http.MethodHead:
			header.Set("Allow", "GET, HEAD")
			http.Error(writer, "GET and HEAD only", http.StatusMethodNotAllowed)
			return
		case pass.Enter(admit.Login, 1) != nil:
			header.Set("Retry-After", "1")
			http.Error(writer, "too many requests at the same time", http.StatusServiceUnavailable)
			return
		}
		well, shown := look(request.Context())
		header.Set("Content-Type", "application/json; charset=utf-8")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Cache-Control", "no-store")
		if !well {
			writer.WriteHeader(http.StatusServiceUnavailable)
		}
		_ = json.NewEncoder(writer).Encode(shown)
	}
}

// open lets requests in: to the interface, or to a role without one.
func (readiness *readiness) open(handler http.Handler, reporter *status.Reporter) {
	readiness.inside.Store(&inside{handler, reporter})
}

func (readiness *readiness) shut() { readiness.open(readiness.closed, nil) }

// drain says from now on that requests are to be sent elsewhere; they are answered
// all the same. It reports whether any have been.
func (readiness *readiness) drain() bool {
	close(readiness.draining)
	return readiness.inside.Load().status != nil
}

func (readiness *readiness) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
	select {
	case <-readiness.draining:
		writer.Header().Set("Connection", "close") // the next one comes by another connection
	default:
	}
	if operation := readiness.operations[request.URL.Path]; operation != nil {
		operation.ServeHTTP(writer, request)
	} else {
		readiness.inside.Load().ServeHTTP(writer, request)
	}
}

func alive(context.Context) (well bool, shown map[string]any) {
	return true, map[string]any{"status": "alive", "version": version}
}

func (readiness *readiness) ready(ctx context.Context) (well bool, shown map[string]any) {
	select {
	case <-readiness.draining:
		return false, map[string]any{"status": status.Draining}
	default:
	}
	reporter := readiness.inside.Load().status
	if reporter == nil {
		return false, map[string]any{"status": status.Starting}
	}
	health, _ := reporter.Health(ctx)
	shown = health.Public()
	shown["version"] = version
	return health.Ready(), shown
}

// readyWait is how long a process may take to tell how it is.
const readyWait = 4 * time.Second

type readyCommand struct {
	*ListenOptions `group:"interface" json:"-"`
}

// Run asks the process that serves at --listen, as a probe over HTTP would:
// for containers, which have nothing else that could ask. An open host is this machine.
func (*readyCommand) Run(ctx context.Context, console *console) error {
	ctx, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+console.Listen+"/health/ready", http.NoBody)
	if err != nil {
		return err
	}
	// No proxy of the environment stands between a process and itself.
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	var h struct {
		Status string `json:"status"`
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&h); err != nil {
		return fmt.Errorf("%s is no daybook: %w", request.URL, err)
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %s", h.Status)
	}
	return console.finish(nil, "%s\n", h.Status)
}
