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
	"daybook/internal/status"
)

// The paths for operating a process.
const (
	pathLive  = "/health/live"
	pathReady = "/health/ready"
)

// readyAtOnce is how many requests at once are worked on for one of these paths.
const readyAtOnce = 1024

// readiness is the handler of the listener: before the work has begun and after it
// has ended it tells so, and when it is about to end.
type readiness struct {
	closed   http.Handler // while there is nothing inside
	inside   atomic.Pointer[inside]
	waits    atomic.Pointer[string] // what the start waits for
	draining atomic.Bool
	begun    chan struct{} // closed when it begins to drain
}

// inside is what answers while the process works.
type inside struct {
	http.Handler
	status *status.Reporter
}

// newReadiness makes the handler; o are the settings of the interface.
func newReadiness(o httpapi.Options) (d *readiness, err error) {
	d = &readiness{begun: make(chan struct{})}
	d.waitFor("")
	o.Beside = d.probes()
	d.closed, err = httpapi.Closed(o, calendar.CodeUnavailable)
	return d, err
}

func (d *readiness) waitFor(what string) { d.waits.Store(&what) }

// open lets requests in: to the interface, or to a role without one.
func (d *readiness) open(h http.Handler, r *status.Reporter) { d.inside.Store(&inside{h, r}) }

func (d *readiness) shut() { d.inside.Store(nil) }

// drain says from now on that requests are to be sent elsewhere; they are answered
// all the same. It reports whether any have been.
func (d *readiness) drain() bool {
	if !d.draining.Swap(true) {
		close(d.begun)
	}
	return d.inside.Load() != nil
}

func (d *readiness) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if d.draining.Load() {
		w.Header().Set("Connection", "close") // the next one comes by another connection
	}
	if h := d.inside.Load(); h != nil {
		h.ServeHTTP(w, r)
		return
	}
	d.closed.ServeHTTP(w, r)
}

// probes are the paths that tell how the process is.
func (d *readiness) probes() []httpapi.Beside {
	return []httpapi.Beside{
		{Path: pathLive, AtOnce: readyAtOnce, Probe: true, Serve: func(*http.Request, calendar.Caller) (int, any, error) {
			return http.StatusOK, map[string]string{"status": "alive", "version": version}, nil
		}},
		{Path: pathReady, AtOnce: readyAtOnce, Probe: true, Serve: d.ready},
	}
}

func (d *readiness) ready(r *http.Request, _ calendar.Caller) (int, any, error) {
	in := d.inside.Load()
	if d.draining.Load() {
		return http.StatusServiceUnavailable, map[string]string{"status": status.Draining}, nil
	}
	if in == nil {
		v := map[string]string{"status": status.Starting}
		if what := *d.waits.Load(); what != "" {
			v["waiting_for"] = what
		}
		return http.StatusServiceUnavailable, v, nil
	}
	h, _ := in.status.Health(r.Context())
	shown := h.Public()
	if shown["version"] = version; !h.Ready() {
		return http.StatusServiceUnavailable, shown, nil
	}
	return http.StatusOK, shown, nil
}

// readyWait is how long a process may take to tell how it is.
const readyWait = 4 * time.Second

type readyCommand struct {
	*ListenOptions `group:"interface"`
}

// Run asks the process that serves at --listen, as a probe over HTTP would:
// for containers, which have nothing else that could ask. An open host is this machine.
func (*readyCommand) Run(ctx context.Context, c *console, s *config) error {
	ctx, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.Listen+"/health/ready", http.NoBody)
	if err != nil {
		return err
	}
	// No proxy of the environment stands between a process and itself.
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	var h struct {
		Status string `json:"status"`
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&h); err != nil {
		return fmt.Errorf("%s is no daybook: %w", r.URL, err)
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %s", h.Status)
	}
	fmt.Fprintln(c.out, h.Status)
	return nil
}
