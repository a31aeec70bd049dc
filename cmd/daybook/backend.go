package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go/jetstream"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
	"daybook/eventstore/feed"
	"daybook/eventstore/sqlite"
	"daybook/internal/access"
	"daybook/internal/history"
	"daybook/internal/htmltext"
	"daybook/internal/lease"
	"daybook/internal/proof"
	"daybook/internal/status"
	"daybook/internal/telemetry"
	"daybook/projector/upkeep"
)

// backend is what tasks and the service work on: the event store and the write
// side, and in a running service the read model.
type backend struct {
	*config

	log       *slog.Logger
	unwritten atomic.Bool // the last write failed
	hooks     telemetry.Hooks
	events    eventstore.Store // with its calls watched
	file      *sqlite.Store    // the same store where it is in the data directory, else nil
	leases    lease.Store      // nil: the store belongs to this process alone
	close     func() error     // of the store; what was acknowledged is on the disk already
	users     *access.Users
	records   *command.Records
	reader    *history.Reader
	command   *command.Service
	proofs    *proof.Log
	signer    *proof.Signer

	// What only a running service has.
	status *status.Reporter    // nil: none serves here
	model  *upkeep.Upkeep      // nil: the role has none
	feed   jetstream.JetStream // nil: there is none, or the role does not use it
}

// open opens the store, which has to exist or is made, and the write side.
// When the settings keep anything in the data directory, the caller holds its lock
// until after close.
func (backend *backend) open(ctx context.Context, existing bool) error {
	store, err := backend.openStore(ctx, existing)
	if err != nil {
		return err
	}
	backend.events = watchedStore{backend.hooks.Store(store), backend.wrote}
	backend.users = access.New(backend.events)
	backend.command = command.New(backend.events, &calendar.Rules{Site: backend.zone().Location, Clean: htmltext.New()}, access.NewHasher(), time.Now)
	backend.records = backend.command.Records()
	backend.reader = history.New(backend.events, time.Now)
	backend.proofs = proof.NewLog(backend.events)
	if backend.signer, err = backend.newSigner(); err != nil {
		return errors.Join(err, backend.close())
	}
	return nil
}

// withModel works on the read model of the running service, else on the one that
// the settings name.
func (backend *backend) withModel(ctx context.Context, work func(*upkeep.Upkeep) error) (err error) {
	if backend.status != nil {
		return work(backend.model) // processes without a read model take no commands
	}
	m, err := backend.openModel(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Index().Close()) }()
	if err := m.Index().Reach(ctx); err != nil {
		return fmt.Errorf("read model: %w", err)
	}
	return work(m)
}

// shownHealth is the health of the running service; outside of one that of the
// servers that the settings name.
func (backend *backend) shownHealth(ctx context.Context) (health status.Health, err error) {
	if backend.status != nil {
		health, _ = backend.status.Health(ctx)
		return health, nil
	}
	err = backend.withModel(ctx, func(m *upkeep.Upkeep) error {
		within, cancel := context.WithTimeout(ctx, status.Wait)
		defer cancel()
		backend.wrote(backend.events.Sync(within)) // whether a store on a server takes writes
		reporter := backend.reporter(m)
		var report *status.Report
		health, report = reporter.Health(ctx)
		return reporter.Settle(ctx, &health, report)
	})
	if err == nil && health.Status == status.OK && backend.Feed != "" {
		err = backend.lookAtFeed(ctx, &health)
	}
	return health, err
}

// reporter returns what asks the parts of this process, those of its roles aside.
func (backend *backend) reporter(m *upkeep.Upkeep) *status.Reporter {
	reporter := &status.Reporter{Parts: status.Parts{
		Store:  backend.events,
		Faults: []func(context.Context) (string, string){backend.failing, backend.unsigned},
	}}
	if backend.file != nil {
		reporter.LostFile = backend.file.Lost
	}
	if m != nil {
		reporter.Index = m.Index()
	}
	return reporter
}

// lookAtFeed adds to a health that the feed is not reached, or lacks entries.
func (backend *backend) lookAtFeed(ctx context.Context, health *status.Health) error {
	jetStream, err := backend.openFeed() //nolint:contextcheck // its log lines come long after this call
	if err != nil {
		return err
	}
	defer jetStream.Conn().Close()
	health.Published, err = backend.published(ctx, jetStream, health.Head, status.MaxStill)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return err
	case jetStream.Conn().IsConnected():
		health.Degrade(err.Error(), "")
	default:
		health.Degrade(status.NoFeed, "")
	}
	return nil
}

// published waits until the feed has the entries up to a position. How far it is, and what
// went wrong when it was looked at last, is the error after a limit.
func (backend *backend) published(ctx context.Context, jetStream jetstream.JetStream, want calendar.Position, limit time.Duration) (calendar.Position, error) {
	return backoff.Retry(ctx, func() (calendar.Position, error) {
		position, err := feed.Published(ctx, backend.events, jetStream, backend.FeedPrefix)
		switch {
		case want == 0:
			err = nil
		case err != nil:
			err = fmt.Errorf("the feed stands at %d of %d: %w", position, want, err)
		case position < want:
			err = fmt.Errorf("the feed stands at %d of %d", position, want)
		}
		return position, err
	}, backoff.WithBackOff(backoff.NewConstantBackOff(minServerWait)), backoff.WithMaxElapsedTime(limit))
}

// openFeed connects to the feed that the settings name. Servers that are not there yet do
// not stop it: the connection is made when they come. Close its Conn in the end.
func (backend *backend) openFeed() (jetstream.JetStream, error) {
	options, servers := backend.FeedServers, redactedURLs(backend.Feed)
	options.Log = backend.log.With("servers", servers)
	_, jetStream, err := feed.Connect(backend.Feed, options)
	if err != nil {
		return nil, fmt.Errorf("feed %s: %w", servers, err)
	}
	return jetStream, nil
}

// relay returns a relay that publishes on a feed, and its work: under a lease when others may
// run one.
func (backend *backend) relay(jetStream jetstream.JetStream) (relay *feed.Relay, work func(context.Context) error, state *lease.State) {
	relay = feed.NewRelay(backend.events, jetStream, feed.RelayOptions{
		Log: backend.log, Prefix: backend.FeedPrefix, Replicas: backend.FeedReplicas, Observe: backend.hooks.Publishing,
	})
	work, state = backend.leased(relayLease+backend.FeedPrefix, relay.Run, nil)
	return relay, work, state
}

// leased puts work under a lease when the store is shared.
func (backend *backend) leased(name string, work func(context.Context) error, progress func() (uint64, bool)) (func(context.Context) error, *lease.State) {
	if backend.leases == nil {
		return work, nil
	}
	state := new(lease.State)
	return func(ctx context.Context) error {
		return lease.Run(ctx, backend.leases, name, holder, lease.Options{Log: backend.log, State: state, Progress: progress}, work)
	}, state
}
