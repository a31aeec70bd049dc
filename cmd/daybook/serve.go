package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	group "github.com/oklog/run"

	"daybook/calendar"
	"daybook/internal/demo"
	"daybook/internal/ground/lifecycle"
	"daybook/internal/httpapi"
	"daybook/internal/httpapi/admit"
	"daybook/internal/pages"
	"daybook/internal/status"
	"daybook/internal/telemetry"
)

// Limits of the HTTP server.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 30 * time.Second
	idleTimeout       = 2 * time.Minute
	drainTimeout      = 20 * time.Second
	writeTimeout      = 2 * time.Minute // beside the longest wait for a position
	maxHeaders        = 64 << 10        // of a request together
	maxRequestLine    = 256 << 10       // which the interface refuses from 16 KiB on
)

const (
	pathMetrics = "/metrics"
	// metricsSame as an address stands for the listener of the service.
	metricsSame = "same"
)

// limitHeaders refuses requests whose headers are too long (interface 9). net/http limits
// only headers and request line together.
func limitHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		size := 0
		for name, values := range request.Header {
			for _, text := range values {
				size += len(name) + len(text) + len(": \r\n")
			}
		}
		if size > maxHeaders {
			writer.Header().Set("Connection", "close")
			http.Error(writer, http.StatusText(http.StatusRequestHeaderFieldsTooLarge), http.StatusRequestHeaderFieldsTooLarge)
			return
		}
		next.ServeHTTP(writer, request)
	})
}

type serveCommand struct{ serveSettings }

// Run runs the service.
func (*serveCommand) Run(ctx context.Context, console *console) error {
	return serve(ctx, console, nil)
}

// demoPictures is the path of the pictures of the demo.
const demoPictures = "/pictures/"

type demoCommand struct {
	serviceSettings

	Seed int64 `default:"1" min:"-9223372036854775808" max:"9223372036854775807" placeholder:"N" help:"seed of the made-up calendar"`
}

// Run runs the service on a made-up calendar.
func (demoCommand *demoCommand) Run(ctx context.Context, console *console) error {
	town, err := demo.Read()
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	if home := &console.PageOptions.Brand.Home; *home == (pages.Home{}) {
		for _, language := range calendar.Langs {
			home[language] = pages.HomeText{HTML: town.Home[language], Lang: language}
		}
	}
	directory, err := os.MkdirTemp("", "daybook-demo-")
	if err != nil {
		return fmt.Errorf("demo directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(directory) }()
	console.Data, console.Demo = directory, new(demo.Highlights)
	return serve(ctx, console, func(ctx context.Context, base string, api http.Handler) (http.Handler, error) {
		options := demo.Options{Seed: demoCommand.Seed, Now: time.Now(), Callers: map[string]calendar.Caller{}, Pictures: base + demoPictures}
		for _, name := range town.Users {
			if options.Callers[name], err = console.users.Ensure(ctx, name, calendar.Editor, 0); err != nil {
				return nil, err
			}
		}
		if console.Demo, err = town.Fill(ctx, console.command, options); err != nil {
			return nil, err
		}
		mux := http.NewServeMux()
		mux.Handle("/", api)
		mux.Handle(demoPictures, http.StripPrefix(demoPictures, http.FileServerFS(demo.Pictures())))
		_, err = console.signer.Sign(ctx) // so that proofs are there when it is announced
		return mux, err
	})
}

// serve runs the roles of this process until a signal or the end of ctx.
//
//	signals ─► not ready ─► http ─► work: open ─► roles ─► close
//
// The actors are added in the order in which they drain: requests first, the
// store last, so nothing that was acknowledged waits for something that ended.
// Whatever hangs, the drain as a whole has a limit.
// The listener answers for the health of the process from the beginning on, also
// while it waits for a server that is not there yet.
func serve(ctx context.Context, console *console, prepare preparation) error {
	log := console.logger(console.LogLevel)
	ready, err := newReadiness(console.api(log))
	if err != nil {
		return usageError("%w", err)
	}
	console.backend = &backend{config: console.config, log: log}
	process := &process{console: console, readiness: ready, prepare: prepare}
	if console.holdsData() {
		lock, err := console.hold(ctx, true, holderWait, alone)
		if err != nil {
			return err
		}
		defer func() { _ = lock.Close() }()
	}
	watch := http.NewServeMux()
	if console.Metrics != "" {
		process.metrics = telemetry.NewMetrics(version)
		watch.Handle("GET "+pathMetrics, process.metrics.Handler(log))
	}
	console.Tracing.Version, console.Tracing.Log = version, log
	traces, err := telemetry.NewTraces(ctx, console.Tracing)
	if err != nil {
		return err
	}
	defer traces.Close(ctx)
	process.hooks = telemetry.NewHooks(process.metrics, traces, time.Now)
	side := func(handler http.Handler) *http.Server {
		return &http.Server{Handler: handler, ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout}
	}
	server := side(limitHeaders(ready))
	server.ReadTimeout, server.WriteTimeout, server.MaxHeaderBytes = readTimeout, writeTimeout+console.PositionWait, maxRequestLine+maxHeaders
	server.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelDebug)
	metricsAddress := console.Metrics
	if metricsAddress == metricsSame {
		metricsAddress, ready.operations[pathMetrics] = "", watch
	}
	var roles group.Group
	drain := &lifecycle.Drain{Log: log, Delay: console.lameDuck(), Limit: console.DrainLimit, Begin: ready.drain}
	roles.Add(group.SignalHandler(ctx, os.Interrupt, syscall.SIGTERM))
	roles.Add(drain.Actor())
	for _, o := range []struct {
		setting, address string
		server           *http.Server
	}{{"listen", console.Listen, server}, {"pprof", console.Pprof, side(profiles())}, {"metrics", metricsAddress, side(watch)}} {
		if o.address == "" {
			continue
		}
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.address)
		if err != nil {
			return fmt.Errorf("--%s: %w", o.setting, err)
		}
		defer func() { _ = listener.Close() }()                                                                              // the server has closed it when it ran
		process.address = cmp.Or(process.address, listener.Addr().String())                                                  // the first one is that of the service
		roles.Add(lifecycle.Server(ctx, log, o.setting, o.server, listener, min(drainTimeout, (drain.Limit-drain.Delay)/2))) // the rest has to end too
	}
	process.base = cmp.Or(console.BaseURL, "http://"+process.address)
	if os.Getenv("GOGC") == "" { // else that is the percentage
		roles.Add(lifecycle.Actor(ctx, log, "memory", tuneCollector))
	}
	var failed error
	roles.Add(lifecycle.Actor(context.WithoutCancel(ctx), log, "process", func(ctx context.Context) error { // only the group ends it, so a signal drains requests first
		failed = process.work(ctx)
		ready.shut()
		return nil
	}))
	if err = drain.Run(&roles); errors.Is(err, lifecycle.ErrHangs) {
		return fmt.Errorf("%w; whatever was acknowledged is kept", err)
	}
	// The group returns the first error only; what closing says counts too.
	return cmp.Or(lifecycle.Drained(failed), lifecycle.Drained(err))
}

// api returns the settings of the interface.
func (config *config) api(log *slog.Logger) httpapi.Options {
	options := config.Options
	options.BaseURL, options.Prefix, options.Site, options.Log = config.BaseURL, config.APIPrefix, config.zone().Location, log
	options.CalendarName = cmp.Or(options.CalendarName, config.PageOptions.Brand.Name)
	return options
}

// profiles serves what the runtime tells about itself: CPU, memory, goroutines,
// traces. It reveals paths and memory, so it has a listener of its own.
func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

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
