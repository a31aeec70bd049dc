package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	group "github.com/oklog/run"

	"daybook/calendar"
	"daybook/eventstore/feed"
	"daybook/internal/audit"
	"daybook/internal/demo"
	"daybook/internal/htmltext"
	"daybook/internal/httpapi"
	"daybook/internal/lifecycle"
	"daybook/query"
)

// Limits of the HTTP server.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 30 * time.Second
	idleTimeout       = 2 * time.Minute
	drainTimeout      = 20 * time.Second
	writeTimeout      = 2 * time.Minute // beside the longest wait for a position
	maxHeaderBytes    = 1 << 20         // long request lines are answered by the interface
	snapshotEvery     = 5 * time.Minute
)

func defaultSite() *time.Location { return time.UTC }

func runServe(ctx context.Context, c *console, s *settings, args []string) error {
	if len(args) != 0 {
		return usageError("takes no argument, not %q", args)
	}
	return serve(ctx, c, s, nil)
}

// demoEvents is how many events the demo makes up.
const demoEvents = 200

func runDemo(ctx context.Context, c *console, s *settings, args []string) error {
	if len(args) != 0 {
		return usageError("takes no argument, not %q", args)
	}
	dir, err := os.MkdirTemp("", "daybook-demo-")
	if err != nil {
		return fmt.Errorf("demo directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s.data = dir
	return serve(ctx, c, s, func(ctx context.Context, b *backend) error {
		admin, err := administrator(ctx, b)
		if err != nil {
			return err
		}
		return demo.Fill(ctx, b.command, demo.Options{
			Seed: s.seed, Events: demoEvents, Now: time.Now().In(s.site), Caller: admin,
		})
	})
}

// administrator gives an administrator of the store as a caller.
func administrator(ctx context.Context, b *backend) (calendar.Caller, error) {
	users, err := b.users.List(ctx)
	if err != nil {
		return calendar.Caller{}, err
	}
	for _, u := range users {
		if u.Role == calendar.Administrator {
			return calendar.Caller{ID: u.ID, Role: u.Role}, nil
		}
	}
	return calendar.Caller{}, errors.New("the store has no administrator")
}

// serve runs all roles in this process until a signal or the end of ctx.
//
//	HTTP ─► command ─► event store ─► relay ─► JetStream ─► projector ─► memory image
//	  └───► query ◄──────────────────────────────────────────────────────────┘
//
// The actors are added in the order in which they drain: requests first, the
// store last, so nothing that was acknowledged waits for something that ended.
func serve(ctx context.Context, c *console, s *settings, prepare func(context.Context, *backend) error) (err error) {
	log := s.logger(c.err)
	if err := s.api(log).Check(); err != nil {
		return usageError("%w", err)
	}
	collectGarbage()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lock, err := lockData(s.data, true)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	defer func() { _ = listener.Close() }() // the server has closed it when it ran
	var profiling net.Listener
	if s.pprof != "" {
		if profiling, err = (&net.ListenConfig{}).Listen(ctx, "tcp", s.pprof); err != nil {
			return fmt.Errorf("--pprof: %w", err)
		}
		defer func() { _ = profiling.Close() }() // as above
	}
	b, err := openBackend(ctx, s, lock, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close(context.WithoutCancel(ctx))) }()

	transport, err := feed.StartEmbedded(ctx, feed.EmbeddedOptions{Dir: s.data, Log: log})
	if err != nil {
		return fmt.Errorf("feed: %w", err)
	}
	defer func() { err = errors.Join(err, transport.Close()) }()
	relay, err := feed.NewRelay(b.store, transport.JetStream(), feed.RelayOptions{Log: log})
	if err != nil {
		return err
	}
	source, err := feed.NewSource(b.store, transport.JetStream(), feed.SourceOptions{Log: log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	image, err := openIndex(ctx, b)
	if err != nil {
		return err
	}
	index := newAlias(image)
	keep := &keeper{index: index, source: source, log: log}
	b.live.Store(&live{index: index, projector: keep})

	q, err := query.New(index, b.records, query.Options{
		Site: s.site, PerPageMax: s.perPageMax, PositionWait: s.positionWait, Clean: htmltext.New(),
		LocalIndex: true,
	})
	if err != nil {
		return err
	}
	api, err := httpapi.New(httpapi.Deps{Commands: b.command, Queries: q, Records: b.records, Users: b.users}, s.api(log))
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: operating(b, api), ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout,
		WriteTimeout: writeTimeout + s.positionWait, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	ctl, err := newControl(ctx, b, s, log)
	if err != nil {
		return err
	}

	// The administrator's token is shown once, so he is made when nothing but
	// showing it can fail.
	name, token, err := b.users.EnsureAdministrator(ctx)
	if err != nil {
		err = fmt.Errorf("first administrator: %w", err)
	} else if prepare != nil {
		// The signals of the group do not reach so far.
		preparing, done := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
		err = prepare(preparing, b)
		done()
	}
	if err != nil {
		ctl.close()
		return err
	}

	// The loops end by the group only, so a signal drains them in order.
	loops := context.WithoutCancel(ctx)
	var g group.Group
	add := func(name string, loop func(context.Context) error) { g.Add(lifecycle.Actor(loops, log, name, loop)) }
	g.Add(lifecycle.Signals(ctx, log))
	g.Add(lifecycle.Server(ctx, log, "http", server, listener, drainTimeout))
	if profiling != nil {
		g.Add(lifecycle.Server(ctx, log, "profiles", profiles(), profiling, drainTimeout))
	}
	add("control", ctl.run)
	add("relay", relay.Run)
	add("projector", keep.run)
	add("snapshot", func(ctx context.Context) error { return snapshots(ctx, index, log) })
	add("memory", tuneCollector)
	add("start", func(ctx context.Context) error { return watchStart(ctx, b, index, keep) })

	announce(c.out, s, listener.Addr(), name, token)
	return lifecycle.Drained(g.Run())
}

// snapshots writes the memory image to its file now and then and at the end.
func snapshots(ctx context.Context, index *alias, log *slog.Logger) error {
	tick := time.NewTicker(snapshotEvery)
	defer tick.Stop()
	written := calendar.Position(0)
	save := func(ctx context.Context) {
		pos, err := index.Position(ctx)
		if err == nil && pos == written {
			return
		}
		if err == nil {
			err = index.p.Load().Snapshot(ctx)
		}
		if err != nil {
			log.WarnContext(ctx, "snapshot not written; the next start fills the read model from the store", "error", err)
			return
		}
		written = pos
	}
	for {
		select {
		case <-ctx.Done():
			last, end := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
			defer end()
			save(last)
			return nil
		case <-tick.C:
			save(ctx)
		}
	}
}

// watchStart notes when the read model has reached the head of the start.
func watchStart(ctx context.Context, b *backend, index *alias, keep *keeper) error {
	head, err := b.store.Head(ctx)
	if err != nil {
		return err
	}
	if err := index.Wait(ctx, head); err != nil {
		return err
	}
	keep.caughtUp.Store(true)
	<-ctx.Done()
	return nil
}

// announce prints, once, the administrator's token, and then where the service
// is: who reads up to that line has read all.
func announce(w io.Writer, s *settings, addr net.Addr, name, token string) {
	base := s.baseURL
	if base == "" {
		base = "http://" + addr.String()
	}
	if token != "" {
		fmt.Fprintf(w, "administrator: %s\ntoken: %s\nThe token is shown this once; daybook user token %s makes another.\n", name, token, name)
	}
	fmt.Fprintf(w, "daybook %s serves %s/%s/calendar/events/v1\n", version, base, s.apiPrefix)
}

// api gives the settings of the interface.
func (s *settings) api(log *slog.Logger) httpapi.Options {
	return httpapi.Options{
		BaseURL: s.baseURL, Prefix: s.apiPrefix, Prefixes: s.morePrefixes, Namespaces: s.moreNamespaces,
		Site: s.site, Currency: calendar.Currency{Symbol: s.currencySymbol, Position: s.currencyPosition},
		PriceCurrency: s.priceCurrency, PerPageMax: s.perPageMax, PositionWait: s.positionWait, AllowedOrigins: s.allowedOrigins,
		TotalHeaders: s.totalHeaders, TrustForwarded: s.trustForwarded, Log: log,
	}
}

// operating puts the paths for operating the service beside the interface.
func operating(b *backend, api http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health/live", func(w http.ResponseWriter, _ *http.Request) {
		writeHealth(w, http.StatusOK, map[string]string{"status": "alive"})
	})
	mux.HandleFunc("GET /health/ready", func(w http.ResponseWriter, r *http.Request) {
		h := b.health(r.Context())
		status := http.StatusOK
		if h.Status != statusOK && h.Status != statusDegraded {
			status = http.StatusServiceUnavailable
		}
		writeHealth(w, status, map[string]any{
			"status": h.Status, "head": h.Head, "visible": h.Visible, "quarantined": len(h.Quarantined),
		})
	})
	mux.Handle(audit.Path, audit.Handler(b.store, b.users))
	mux.Handle(audit.Path+"/", audit.Handler(b.store, b.users))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch p := r.URL.Path; {
		case p == "/health/live", p == "/health/ready", p == audit.Path, strings.HasPrefix(p, audit.Path+"/"):
			mux.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}

func writeHealth(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
