package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	group "github.com/oklog/run"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/feed"
	"daybook/eventstore/sqlite"
	"daybook/internal/ground/lifecycle"
	"daybook/internal/ground/pause"
	"daybook/internal/history"
	"daybook/internal/htmltext"
	"daybook/internal/httpapi"
	"daybook/internal/lease"
	"daybook/internal/pages"
	"daybook/projector"
	"daybook/query"
	"daybook/query/past"
	"daybook/query/readmodel"
)

// The names of the leases. Those of the relay and the projector end with the prefix of
// their feed or read model: a store may have several.
const (
	relayLease     = "relay/"
	projectorLease = "projector/"
	rebuildLease   = "rebuild/"
)

// holder names this process for leases: unique among all that ever ran.
var holder = sync.OnceValue(func() string {
	host, _ := os.Hostname() // "" where it has no name
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), rand.Text())
})

// process is one process that serves: it opens what its roles need, runs them
// and closes it.
type process struct {
	*backend // open while it works

	c         *console
	addr      net.Addr
	readiness *readiness
	watch     *watching
	prepare   func(ctx context.Context, b *backend, base string) error

	g   group.Group // of its roles
	err error       // of work
}

// run works until the context ends, and notes with which error: the group returns only the
// first of all.
func (p *process) run(ctx context.Context) error {
	if p.err = p.work(ctx); ctx.Err() != nil && errors.Is(p.err, context.Canceled) {
		p.err = nil
	}
	p.readiness.shut()
	return nil
}

// work opens what the roles need, runs them until the context ends, and closes
// it.
//
//	HTTP ─► command ─► event store ─┬─► relay ─► JetStream ─┬─► projector ─► read model
//	  │                             └───────────────────────┘                     │
//	  └───► query ◄───────────────────────────────────────────────────────────────┘
func (p *process) work(ctx context.Context) (err error) {
	config := p.s
	if err := p.awaitStore(ctx, func(ctx context.Context) error { return p.open(ctx, false) }); err != nil {
		return err
	}
	closing := func(what func() error) { err = errors.Join(err, what()) }
	defer closing(p.close)
	if p.file != nil && p.file.ReadOnly() != nil {
		p.calls.wrote(p.file.ReadOnly())
	}
	if config.holdsData() {
		tidy(ctx, config.Data, p.log) // with the store open: where somebody removed the lock another process may serve
	}
	if err := p.awaitStore(ctx, p.checkOrigin); err != nil {
		return err
	}
	p.g.Add(group.ContextHandler(ctx))
	if config.Role != servesAPI && config.Feed != "" {
		if p.feed, err = p.openFeed(); err != nil { //nolint:contextcheck // its log lines come long after this call
			return err
		}
		defer p.feed.Conn().Close()
	}
	if config.Role != servesRelay {
		p.readiness.waitFor("read model")
		var source projector.Source // none for a role that does not project
		if config.Role != servesAPI {
			followed := p.feed
			if p.leases == nil {
				followed = nil // all that is written passes through this process
			}
			of := feed.NewSource(p.events, followed, feed.SourceOptions{Log: p.log, Prefix: config.FeedPrefix})
			defer of.Close()
			source = of
		}
		if p.model, err = p.openModel(ctx, source); err != nil {
			return err
		}
		defer closing(p.model.Index().Close)
	}
	if config.holdsData() {
		defer removeSocket(config.Data)
		socket, err := listenControl(ctx, config.Data)
		switch {
		case err == nil:
			defer func() { _ = socket.Close() }() // when the group does not come to run
			p.g.Add(lifecycle.Server(ctx, p.log, "control", newControl(context.WithoutCancel(ctx), p.backend), socket, taskDrain+tellWait))
		case sqlite.Unwritable(err):
			p.log.WarnContext(ctx, "commands cannot reach this process", "error", err)
		default:
			return err
		}
	}
	p.status = p.reporter(p.model)
	p.sign(ctx) // behind what takes writes: it ends with a checkpoint of the last of them
	if p.model != nil && !config.localIndex() {
		p.add(ctx, "index", p.reach)
	}
	if p.feed != nil && config.Role != servesProjector {
		p.relay(ctx)
	}
	if config.Role != servesAPI && config.Role != servesRelay {
		p.project(ctx)
	}
	p.add(ctx, "memory", tuneCollector)
	p.add(ctx, "health", func(ctx context.Context) error { return p.status.Watch(ctx, p.log, lookEvery) })
	if config.Role == servesRelay || config.Role == servesProjector {
		none, err := httpapi.Closed(config.api(p.log), calendar.CodeNoRoute)
		if err != nil {
			return err
		}
		return p.serve(none, "", "") //nolint:contextcheck // each reading of the metrics has its own
	}
	base, err := url.Parse(config.base(p.addr))
	if err != nil {
		return err
	}
	if config.demo != nil {
		config.PagesImages = append(config.PagesImages, base.Host)
	}
	api, err := p.api(ctx)
	if err != nil {
		return err
	}
	if config.demo != nil {
		api = withPictures(api, base)
	}
	// The administrator's token is shown once, so he is made when nothing but
	// showing it can fail.
	name, token, err := p.users.EnsureAdministrator(ctx)
	if err != nil {
		return fmt.Errorf("first administrator: %w", err)
	}
	if p.prepare != nil {
		if err := p.prepare(ctx, p.backend, base.String()); err != nil {
			return err
		}
	}
	return p.serve(api, name, token) //nolint:contextcheck // each reading of the metrics has its own
}

// serve lets requests in and runs the roles until the context of the process ends.
func (p *process) serve(handler http.Handler, name, token string) error {
	p.watch.metrics.Watch(p.status.Look)
	p.readiness.open(handler, p.status)
	announce(p.c.out, p.s, p.addr, name, token)
	return lifecycle.Drained(p.g.Run())
}

// Waits before a server that is not there is tried again.
const (
	minServerWait = 250 * time.Millisecond
	maxServerWait = 5 * time.Second
)

// await does something again and again while its server is not there.
func (p *process) await(ctx context.Context, what, where string, open func(context.Context) error) error {
	p.readiness.waitFor(what)
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = minServerWait, maxServerWait
	outage := lifecycle.Outage{Log: p.log, Message: "waiting for a server"}
	_, err := backoff.Retry(ctx, func() (none struct{}, _ error) {
		err := open(ctx)
		if err != nil && !isUnavailable(err) {
			return none, backoff.Permanent(err)
		}
		if ctx.Err() == nil {
			outage.Note(ctx, err, "for", what, "at", where)
		}
		return none, err
	}, backoff.WithBackOff(wait), backoff.WithMaxElapsedTime(0))
	return err
}

func (p *process) awaitStore(ctx context.Context, open func(context.Context) error) error {
	return p.await(ctx, "event store", cmp.Or(redactedURLs(p.s.Store), p.s.Data), open)
}

// isUnavailable reports whether an error may go away by waiting.
func isUnavailable(err error) bool {
	return errors.Is(err, eventstore.ErrUnavailable) || errors.Is(err, readmodel.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}

// add adds a loop. Only the group ends it, so all of them end in order.
func (p *process) add(ctx context.Context, name string, loop func(context.Context) error) {
	p.g.Add(lifecycle.Actor(context.WithoutCancel(ctx), p.log, name, loop))
}

// reach asks the servers of the read model until they are there.
func (p *process) reach(ctx context.Context) error {
	if err := p.await(ctx, "read model", redactedURLs(p.s.Index), p.model.Index().Reach); err != nil {
		return fmt.Errorf("read model: %w", err)
	}
	<-ctx.Done()
	return nil
}

// relay adds the relay, under a lease when others may run one.
func (p *process) relay(ctx context.Context) {
	relay := feed.NewRelay(p.events, p.feed, feed.RelayOptions{
		Log: p.log, Prefix: p.s.FeedPrefix, Replicas: p.s.FeedReplicas, Observe: p.hooks.Publishing,
	})
	var work func(context.Context) error
	parts := &p.status.Parts
	parts.Relay, parts.FeedConnected = relay.Stats, p.feed.Conn().IsConnected
	work, parts.RelayLease = p.leased(relayLease+p.s.FeedPrefix, relay.Run, nil)
	p.add(ctx, "relay", work)
}

// project adds what keeps the read model: under a lease when it is shared.
func (p *process) project(ctx context.Context) {
	upkeep, work := p.model, p.model.Project
	parts := &p.status.Parts
	parts.Projector = upkeep.Stats
	if !p.s.localIndex() {
		work, parts.ProjectorLease = p.leased(projectorLease+p.s.IndexPrefix, work, upkeep.Progress)
	}
	p.add(ctx, "projector", work)
	p.add(ctx, "read model", upkeep.Index().Keep)
}

// leased puts work under a lease when the store is shared.
func (p *process) leased(name string, work func(context.Context) error, progress func() (uint64, bool)) (func(context.Context) error, *lease.State) {
	if p.leases == nil {
		return work, nil
	}
	state := new(lease.State)
	return func(ctx context.Context) error {
		return lease.Run(ctx, p.leases, name, holder(), lease.Options{Log: p.log, State: state, Progress: progress}, work)
	}, state
}

// api makes the REST interface.
func (p *process) api(ctx context.Context) (http.Handler, error) {
	lists := query.Options{
		Site: p.s.zone().Location, Sunday: p.s.PagesWeekStart == "sunday", PerPageMax: p.s.PerPageMax, PositionWait: p.s.PositionWait, Clean: htmltext.New(),
		LocalIndex: p.s.localIndex(), MaxAnswer: p.s.MaxAnswer << 20, QueryBudget: p.s.QueryBudget, CostBands: p.s.CostBands,
	}
	service, err := query.New(p.model.Index(), p.records, lists)
	if err != nil {
		return nil, err
	}
	reader := history.New(p.events, time.Now)
	then, err := past.New(p.events, reader, service, past.Options{Query: lists, Memory: p.s.HistoryMemory << 20, Points: p.s.HistoryImages, Log: p.log})
	if err != nil {
		return nil, err
	}
	p.status.Past = then.Stats
	options := p.s.api(p.log)
	if p.s.localIndex() {
		options.MakeAtOnce = max(1, runtime.GOMAXPROCS(0)/2) // one client leaves processors to others
	}
	options.Draining = p.readiness.begun
	options.ListFailed = p.status.ListFailed
	options.Observe = p.hooks.Requests
	deps := httpapi.Deps{Commands: p.command, Queries: p.hooks.Queries(service), History: reader, Past: then, Records: p.records, Users: p.users, Proofs: p.proofs}
	if p.s.Pages {
		if options.Pages, err = pages.New(pages.Deps{Lists: service, Past: httpapi.PublicPast(deps, options), Shown: httpapi.ShownTexts(options.Currency)}, p.s.pageOptions()); err != nil {
			return nil, err
		}
	}
	h, err := httpapi.New(deps, options)
	if err != nil {
		return nil, err
	}
	p.status.Streams = h.Streams
	p.add(ctx, "erasures", func(ctx context.Context) error {
		return whenErased(ctx, p.events.Epoch, h.Forget, service.Forget, then.Forget, p.records.Forget)
	})
	return h, nil
}

// whenErased calls functions after records were erased, by this process or another one:
// nothing of them may stay in memory. It does so again a while later, because of requests
// that had begun before.
func whenErased(ctx context.Context, epoch func() eventstore.Epoch, forget ...func()) error {
	for first, second := epoch(), epoch(); ; {
		if err := pause.For(ctx, lookEvery); err != nil {
			return err
		}
		now := epoch()
		if now != first {
			for _, f := range forget {
				f()
			}
		}
		first, second = second, now
	}
}
