package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go/jetstream"
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
	"daybook/internal/status"
	"daybook/projector"
	"daybook/projector/upkeep"
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
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), hex.EncodeToString(b[:]))
})

// process is one process that serves: it opens what its roles need, runs them
// and closes it.
type process struct {
	c         *console
	s         *config
	log       *slog.Logger
	lock      *os.File // of the data directory; nil: it holds none
	addr      net.Addr
	readiness *readiness
	watch     *watching
	prepare   func(ctx context.Context, b *backend, base string) error

	err error // of work
}

// live is the part of a backend that only a running service has.
type live struct {
	model  *upkeep.Upkeep      // nil: the role has none
	feed   jetstream.JetStream // nil: there is none, or the role does not use it
	status *status.Reporter
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
	s := p.s
	var b *backend
	if err := p.awaitStore(ctx, func(ctx context.Context) (err error) {
		b, err = openBackend(ctx, s, p.lock, p.log, p.watch.hooks, false)
		return err
	}); err != nil {
		return err
	}
	closing := func(what func() error) { err = errors.Join(err, what()) }
	defer closing(b.Close)
	if b.file != nil && b.file.ReadOnly() != nil {
		b.calls.wrote(b.file.ReadOnly())
	}
	if s.holdsData() {
		tidy(ctx, s.Data, p.log) // with the store open: where somebody removed the lock another process may serve
	}
	if err := p.awaitStore(ctx, b.checkOrigin); err != nil {
		return err
	}
	r := &roles{process: p, b: b, l: &live{}}
	r.g.Add(group.ContextHandler(ctx))
	if s.Role != servesAPI && s.Feed != "" {
		if r.l.feed, err = openFeed(s, p.log); err != nil { //nolint:contextcheck // its log lines come long after this call
			return err
		}
		defer r.l.feed.Conn().Close()
	}
	if s.Role != servesRelay {
		p.readiness.waitFor("read model")
		var source projector.Source // none for a role that does not project
		if s.Role != servesAPI {
			followed := r.l.feed
			if b.leases == nil {
				followed = nil // all that is written passes through this process
			}
			of := feed.NewSource(b.events, followed, feed.SourceOptions{Log: p.log, Prefix: s.FeedPrefix})
			defer of.Close()
			source = of
		}
		if r.l.model, err = b.openModel(ctx, source); err != nil {
			return err
		}
		defer closing(r.l.model.Index().Close)
	}
	if s.holdsData() {
		r.add(ctx, "data", func(ctx context.Context) error { return b.watchData(ctx, p.log) })
		defer removeSocket(s.Data)
		socket, err := listenControl(ctx, s.Data)
		switch {
		case err == nil:
			defer func() { _ = socket.Close() }() // when the group does not come to run
			r.g.Add(lifecycle.Server(ctx, p.log, "control", newControl(context.WithoutCancel(ctx), b), socket, taskDrain+tellWait))
		case sqlite.Unwritable(err):
			p.log.WarnContext(ctx, "commands cannot reach this process", "error", err)
		default:
			return err
		}
	}
	r.l.status = b.reporter(r.l.model)
	r.sign(ctx) // behind what takes writes: it ends with a checkpoint of the last of them
	if r.l.model != nil && !s.localIndex() {
		r.add(ctx, "index", r.reach)
	}
	if r.l.feed != nil && s.Role != servesProjector {
		r.relay(ctx)
	}
	if s.Role != servesAPI && s.Role != servesRelay {
		r.project(ctx)
	}
	r.add(ctx, "memory", tuneCollector)
	r.add(ctx, "health", func(ctx context.Context) error { return r.l.status.Watch(ctx, p.log, lookEvery) })
	if s.Role == servesRelay || s.Role == servesProjector {
		o := s.api(p.log)
		o.Beside = p.readiness.probes()
		none, err := httpapi.Closed(o, calendar.CodeNoRoute)
		if err != nil {
			return err
		}
		return r.run(none, "", "")
	}
	base, err := url.Parse(s.base(p.addr))
	if err != nil {
		return err
	}
	if s.demo != nil {
		s.PagesImages = append(s.PagesImages, base.Host)
	}
	api, err := r.api(ctx)
	if err != nil {
		return err
	}
	if s.demo != nil {
		api = withPictures(api, base)
	}
	// The administrator's token is shown once, so he is made when nothing but
	// showing it can fail.
	name, token, err := b.users.EnsureAdministrator(ctx)
	if err != nil {
		return fmt.Errorf("first administrator: %w", err)
	}
	if p.prepare != nil {
		if err := p.prepare(ctx, b, base.String()); err != nil {
			return err
		}
	}
	return r.run(api, name, token)
}

// run lets requests in and runs the roles until the context of the process ends.
func (r *roles) run(h http.Handler, name, token string) error {
	r.b.live.Store(r.l)
	r.watch.metrics.Watch(r.l.status.Look)
	r.readiness.open(h, r.l.status)
	announce(r.c.out, r.s, r.addr, name, token)
	return lifecycle.Drained(r.g.Run())
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

// isUnavailable tells whether an error may go away by waiting.
func isUnavailable(err error) bool {
	return errors.Is(err, eventstore.ErrUnavailable) || errors.Is(err, readmodel.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}

// roles are the roles of a process, on an open backend.
type roles struct {
	*process
	b *backend
	l *live
	g group.Group
}

// add adds a loop. Only the group ends it, so all of them end in order.
func (r *roles) add(ctx context.Context, name string, loop func(context.Context) error) {
	r.g.Add(lifecycle.Actor(context.WithoutCancel(ctx), r.log, name, loop))
}

// reach asks the servers of the read model until they are there.
func (r *roles) reach(ctx context.Context) error {
	if err := r.await(ctx, "read model", redactedURLs(r.s.Index), r.l.model.Index().Reach); err != nil {
		return fmt.Errorf("read model: %w", err)
	}
	<-ctx.Done()
	return nil
}

// relay adds the relay, under a lease when others may run one.
func (r *roles) relay(ctx context.Context) {
	relay := feed.NewRelay(r.b.events, r.l.feed, feed.RelayOptions{
		Log: r.log, Prefix: r.s.FeedPrefix, Replicas: r.s.FeedReplicas, Observe: r.b.hooks.Publishing,
	})
	var work func(context.Context) error
	parts := &r.l.status.Parts
	parts.Relay, parts.FeedConnected = relay.Stats, r.l.feed.Conn().IsConnected
	work, parts.RelayLease = r.leased(relayLease+r.s.FeedPrefix, relay.Run, nil)
	r.add(ctx, "relay", work)
}

// project adds what keeps the read model: under a lease when it is shared.
func (r *roles) project(ctx context.Context) {
	m, work := r.l.model, r.l.model.Project
	parts := &r.l.status.Parts
	parts.Projector = m.Stats
	if !r.s.localIndex() {
		work, parts.ProjectorLease = r.leased(projectorLease+r.s.IndexPrefix, work, m.Progress)
	}
	r.add(ctx, "projector", work)
	r.add(ctx, "read model", m.Index().Keep)
	r.add(ctx, "start", r.watchStart)
}

// leased puts work under a lease when the store is shared.
func (r *roles) leased(name string, work func(context.Context) error, progress func() (uint64, bool)) (func(context.Context) error, *lease.State) {
	if r.b.leases == nil {
		return work, nil
	}
	state := new(lease.State)
	return func(ctx context.Context) error {
		return lease.Run(ctx, r.b.leases, name, holder(), lease.Options{Log: r.log, State: state, Progress: progress}, work)
	}, state
}

// watchStart notes when the read model has reached the head of the start.
func (r *roles) watchStart(ctx context.Context) error {
	var head calendar.Position
	err := r.awaitStore(ctx, func(ctx context.Context) (err error) {
		log, err := r.b.store.Head(ctx, eventstore.Point{})
		head = log.Position
		return err
	})
	for err == nil {
		if err = r.l.model.Index().Wait(ctx, head); err == nil {
			r.l.status.CaughtUp()
			debug.FreeOSMemory() // filling a read model takes more than it keeps
			<-ctx.Done()
			return nil
		}
		if ctx.Err() == nil && isUnavailable(err) {
			err = pause.For(ctx, minServerWait)
		}
	}
	return err
}

// api makes the REST interface.
func (r *roles) api(ctx context.Context) (http.Handler, error) {
	lists := query.Options{
		Site: r.s.Timezone.site(), Sunday: r.s.PagesWeekStart == "sunday", PerPageMax: r.s.PerPageMax, PositionWait: r.s.PositionWait, Clean: htmltext.New(),
		LocalIndex: r.s.localIndex(), MaxAnswer: r.s.MaxAnswer << 20, QueryBudget: r.s.QueryBudget, CostBands: r.s.CostBands,
	}
	q, err := query.New(r.l.model.Index(), r.b.records, lists)
	if err != nil {
		return nil, err
	}
	reader := history.New(r.b.events, time.Now)
	then, err := past.New(r.b.events, reader, q, past.Options{Query: lists, Memory: r.s.HistoryMemory << 20, Points: r.s.HistoryImages, Log: r.log})
	if err != nil {
		return nil, err
	}
	r.l.status.Past = then.Stats
	o := r.s.api(r.log)
	if r.s.localIndex() {
		o.MakeAtOnce = max(1, runtime.GOMAXPROCS(0)/2) // one client leaves processors to others
	}
	o.Beside = r.readiness.probes()
	o.Draining = r.readiness.begun
	o.ListFailed = r.l.status.ListFailed
	o.Observe, o.Trace, o.Streaming = r.b.hooks.Answers, r.b.hooks.Requests, r.b.hooks.Streaming
	deps := httpapi.Deps{Commands: r.b.command, Queries: r.b.hooks.Queries(q), History: reader, Past: then, Records: r.b.records, Users: r.b.users, Proofs: r.b.proofs}
	if r.s.Pages {
		if o.Pages, err = pages.New(pages.Deps{Lists: q, Past: httpapi.PublicPast(deps, o), Shown: httpapi.ShownTexts(o.Currency)}, r.s.pageOptions()); err != nil {
			return nil, err
		}
	}
	h, err := httpapi.New(deps, o)
	if err != nil {
		return nil, err
	}
	r.add(ctx, "page files", h.EncodeFiles)
	r.add(ctx, "erasures", func(ctx context.Context) error {
		return whenErased(ctx, r.b.events.Epoch, h.Forget, q.Forget, then.Forget, r.b.records.Forget)
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
