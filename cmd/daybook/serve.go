package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	group "github.com/oklog/run"

	"daybook/calendar"
	"daybook/internal/demo"
	"daybook/internal/ground/lifecycle"
	"daybook/internal/httpapi"
	"daybook/internal/pages"
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
func (cmd *demoCommand) Run(ctx context.Context, console *console) error {
	town, err := demo.Read()
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	if home := &console.BrandHome; *home == (pages.Home{}) {
		for _, lang := range calendar.Langs {
			home[lang] = pages.HomeText{HTML: town.Home[lang], Lang: lang}
		}
	}
	dir, err := os.MkdirTemp("", "daybook-demo-")
	if err != nil {
		return fmt.Errorf("demo directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	console.Data, console.demo = dir, new(demo.Highlights)
	return serve(ctx, console, func(ctx context.Context, b *backend, base string) error {
		admin, err := b.users.Ensure(ctx, "admin", calendar.Administrator, 0) // a new store has it
		if err != nil {
			return err
		}
		options := demo.Options{Seed: cmd.Seed, Now: time.Now(), Callers: map[string]calendar.Caller{}, Pictures: base + demoPictures}
		for _, name := range town.Users {
			if options.Callers[name], err = b.users.Ensure(ctx, name, calendar.Editor, admin.ID); err != nil {
				return err
			}
		}
		if console.demo, err = town.Fill(ctx, b.command, options); err != nil {
			return err
		}
		_, err = b.signer.Sign(ctx) // so that proofs are there when it is announced
		return err
	})
}

// withPictures serves the pictures of the demo next to a handler.
func withPictures(next http.Handler, base *url.URL) http.Handler {
	return http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		name, ok := strings.CutPrefix(strings.TrimPrefix(request.URL.Path, base.Path), demoPictures) // a proxy may have taken the path off
		if !ok || name == "" {
			next.ServeHTTP(writer, request)
			return
		}
		writer.Header().Set("Cache-Control", "public, max-age=86400")
		writer.Header().Set("Content-Security-Policy", "default-src 'none'")
		http.ServeFileFS(writer, request, demo.Pictures(), name)
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
func serve(ctx context.Context, console *console, prepare func(ctx context.Context, b *backend, base string) error) error {
	log := console.logger(console.err)
	ready, err := newReadiness(console.api(log))
	if err != nil {
		return usageError("%w", err)
	}
	collectGarbage()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &process{backend: &backend{config: console.config, log: log}, console: console, readiness: ready, prepare: prepare}
	if console.holdsData() {
		outage := lifecycle.Outage{Log: log, Message: "waiting for the data directory"}
		var lock *os.File
		err := whileLocked(ctx, holderWait, func() (err error) {
			lock, err = lockData(console.Data, true, "serve")
			outage.Note(ctx, err)
			return err
		})
		if err != nil {
			return err
		}
		defer func() { _ = lock.Close() }()
	}
	if p.watch, err = startWatching(ctx, console.config, log); err != nil {
		return err
	}
	p.hooks = p.watch.hooks
	defer p.watch.close(ctx, log)
	server := &http.Server{
		Handler: limitHeaders(ready), ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout,
		WriteTimeout: writeTimeout + console.PositionWait, IdleTimeout: idleTimeout, MaxHeaderBytes: maxRequestLine + maxHeaders,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	metricsAddress := console.Metrics
	if console.Metrics == metricsSame {
		metricsAddress, ready.operations[pathMetrics] = "", p.watch.server().Handler
	}
	var g group.Group
	drain := &lifecycle.Drain{Log: log, Delay: console.lameDuck(), Limit: console.DrainLimit, Begin: ready.drain}
	g.Add(group.SignalHandler(ctx, os.Interrupt, syscall.SIGTERM))
	g.Add(drain.Actor())
	for _, o := range []struct {
		setting, address string
		server           *http.Server
	}{{"listen", console.Listen, server}, {"pprof", console.Pprof, profiles()}, {"metrics", metricsAddress, p.watch.server()}} {
		if o.address == "" {
			continue
		}
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.address)
		if err != nil {
			return fmt.Errorf("--%s: %w", o.setting, err)
		}
		defer func() { _ = listener.Close() }()                                                                          // the server has closed it when it ran
		p.addr = cmp.Or(p.addr, listener.Addr())                                                                         // the first one is that of the service
		g.Add(lifecycle.Server(ctx, log, o.setting, o.server, listener, min(drainTimeout, (drain.Limit-drain.Delay)/2))) // the rest has to end too
	}
	g.Add(lifecycle.Actor(context.WithoutCancel(ctx), log, "process", p.run)) // only the group ends it, so a signal drains requests first
	err = drain.Run(&g)
	if errors.Is(err, lifecycle.ErrHangs) {
		return fmt.Errorf("%w; whatever was acknowledged is kept", err)
	}
	// The group returns the first error only; what closing says counts too.
	return cmp.Or(p.err, lifecycle.Drained(err))
}

// announce prints, once, the administrator's token, and then where the service
// is: who reads up to that line has read all.
func announce(writer io.Writer, config *config, addr net.Addr, name, token string) {
	base := config.base(addr)
	if config.Role == servesRelay || config.Role == servesProjector {
		fmt.Fprintf(writer, "daybook %s, role %s, tells how it is on http://%s/health/ready\n", version, config.Role, addr)
		return
	}
	root := base + "/" + config.APIPrefix + "/calendar/events/v1"
	if config.demo != nil {
		fmt.Fprintf(writer, "calendar: %s/\ndirectory: %s\n", base, config.Data)
		fmt.Fprintf(writer, "protected: /event/%s/ opens with the password %q\n", config.demo.Locked, config.demo.Password)
	}
	if config.Pages && config.demo == nil {
		fmt.Fprintf(writer, "pages: %s/\n", base)
	}
	if config.Pages && config.Desk {
		link := base + "/desk/"
		if config.demo != nil {
			link += "#/signin?" + url.Values{"name": {name}, "token": {token}}.Encode()
		}
		fmt.Fprintf(writer, "desk: %s\n", link)
	}
	if token != "" {
		fmt.Fprintf(writer, "administrator: %s\ntoken: %s\nThe token is shown this once; daybook user token %s makes another.\n", name, token, name)
	}
	if config.demo != nil {
		fmt.Fprintf(writer, "For commands in another terminal:\nexport R=%s TOKEN=%s ID=%s\n", root, token, config.demo.Moved)
	}
	fmt.Fprintf(writer, "daybook %s serves %s\n", version, root)
}

// base is the base URL, without one that of an address.
func (config *config) base(addr net.Addr) string {
	return cmp.Or(config.BaseURL, "http://"+addr.String())
}

// currency is that of costs.
func (config *config) currency() calendar.Currency {
	return calendar.Currency{Symbol: config.CurrencySymbol, Position: config.CurrencyPosition, Code: config.PriceCurrency}
}

// api returns the settings of the interface. What is 0 by default there is -1 for none.
func (config *config) api(log *slog.Logger) httpapi.Options {
	return httpapi.Options{
		HistoryMaxAge: cmp.Or(config.HistoryMaxAge, -1),
		BaseURL:       config.BaseURL, Prefix: config.APIPrefix, Prefixes: config.MorePrefixes, Namespaces: config.MoreNamespaces,
		Site: config.zone().Location, Currency: config.currency(),
		PerPageMax: config.PerPageMax, PositionWait: config.PositionWait, ReadMaxAge: config.ReadMaxAge,
		PublicHistory: config.PublicHistory, AllowedOrigins: config.AllowedOrigins,
		CalendarName: cmp.Or(config.CalendarName, config.BrandName), FeedRefresh: config.FeedRefresh, FeedMaxAge: cmp.Or(config.FeedMaxAge, -1), ExportLimit: config.ExportLimit, WholeAnswers: config.WholeAnswers,
		CalendarLimit: config.CalendarLimit, TombstoneDays: cmp.Or(config.TombstoneDays, -1),
		ReadDeadline: config.ReadDeadline, WriteDeadline: config.WriteDeadline, MaxAnswer: config.MaxAnswer << 20, RateLimit: config.RateLimit,
		Streams: cmp.Or(config.Streams, -1), StreamsOfOne: config.StreamsPerClient,
		ServeStale: config.ServeStale, TotalHeaders: config.TotalHeaders, TrustForwarded: config.TrustForwarded, Log: log,
	}
}

// profiles serves what the runtime tells about itself: CPU, memory, goroutines,
// traces. It reveals paths and memory, so it has a listener of its own.
func profiles() *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return &http.Server{Handler: mux, ReadHeaderTimeout: readHeaderTimeout}
}
