package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
	"daybook/eventstore/feed"
	"daybook/eventstore/sqlite"
	"daybook/internal/access"
	"daybook/internal/ground/pause"
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
	s       *config
	log     *slog.Logger
	hooks   telemetry.Hooks
	events  eventstore.Store // with its calls watched
	file    *sqlite.Store    // the same store where it is in the data directory, else nil
	leases  lease.Store      // nil: the store belongs to this process alone
	close   func() error     // of the store; what was acknowledged is on the disk already
	calls   *storeWatch
	users   *access.Users
	records *command.Records
	command *command.Service
	proofs  *proof.Log
	signer  *proof.Signer // nil: there is no key to sign with

	// What only a running service has.
	status *status.Reporter    // nil: none serves here
	model  *upkeep.Upkeep      // nil: the role has none
	feed   jetstream.JetStream // nil: there is none, or the role does not use it
}

// open opens the store, which has to exist or is made, and the write side.
// When the settings keep anything in the data directory, the caller holds its lock
// until after close.
func (b *backend) open(ctx context.Context, existing bool) error {
	b.calls = &storeWatch{log: b.log}
	store, err := b.openStore(ctx, existing)
	if err != nil {
		return err
	}
	rules := &calendar.Rules{Site: b.s.zone().Location, Clean: htmltext.New()}
	b.events = watchedStore{b.hooks.Store(store), b.calls}
	b.users = access.New(b.events)
	b.command = command.New(b.events, rules, access.NewHasher(), time.Now)
	b.records = b.command.Records()
	b.proofs = proof.NewLog(b.events)
	if b.signer, err = b.newSigner(); err != nil {
		return errors.Join(err, b.close())
	}
	return nil
}

// withModel works on the read model of the running service, else on the one that
// the settings name.
func (b *backend) withModel(ctx context.Context, work func(*upkeep.Upkeep) error) (err error) {
	if b.status != nil {
		return work(b.model) // processes without a read model take no commands
	}
	m, err := b.openModel(ctx, nil)
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
func (b *backend) shownHealth(ctx context.Context) (health status.Health, err error) {
	if b.status != nil {
		health, _ = b.status.Health(ctx)
		return health, nil
	}
	err = b.withModel(ctx, func(m *upkeep.Upkeep) error {
		b.tryWrite(ctx)
		reporter := b.reporter(m)
		var report *status.Report
		health, report = reporter.Health(ctx)
		return reporter.Settle(ctx, &health, report)
	})
	if err == nil && health.Status == status.OK && b.s.Feed != "" {
		err = b.lookAtFeed(ctx, &health)
	}
	return health, err
}

// reporter returns what asks the parts of this process, those of its roles aside.
func (b *backend) reporter(m *upkeep.Upkeep) *status.Reporter {
	r := &status.Reporter{Parts: status.Parts{
		Role: string(b.s.Role), Store: b.events,
		Faults: []func(context.Context, calendar.Position) (string, string){b.failing, b.unsigned},
	}}
	if b.file != nil {
		r.LostFile = b.file.Lost
	}
	if m != nil {
		r.Index = m.Index()
	}
	if b.signer != nil && b.s.signs() {
		r.Signer = b.signer.Stats
	}
	return r
}

// tryWrite notes whether a store on a server takes writes.
func (b *backend) tryWrite(ctx context.Context) {
	if b.leases == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, status.Wait)
	defer cancel()
	b.calls.wrote(b.events.Sync(ctx))
}

// lookAtFeed adds to a health that the feed is not reached, or lacks entries.
func (b *backend) lookAtFeed(ctx context.Context, health *status.Health) error {
	js, err := b.openFeed() //nolint:contextcheck // its log lines come long after this call
	if err != nil {
		return err
	}
	defer js.Conn().Close()
	health.Published, err = b.published(ctx, js, health.Head, status.MaxStill)
	switch {
	case err == nil && health.Published >= health.Head, health.Head == 0:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case !js.Conn().IsConnected():
		health.Degrade(status.NoFeed, "")
		return nil
	}
	cause := ""
	if err != nil {
		cause = err.Error()
	}
	health.Degrade(fmt.Sprintf("the feed stands at %d of %d", health.Published, health.Head), cause)
	return nil
}

// published waits until the feed has the entries up to a position, and tells how far it
// is after a limit; the error is that of the last look, or of the context.
func (b *backend) published(ctx context.Context, js jetstream.JetStream, want calendar.Position, limit time.Duration) (at calendar.Position, err error) {
	for left := limit; ; left -= minServerWait {
		at, err = feed.Published(ctx, b.events, js, b.s.FeedPrefix)
		if err == nil && at >= want || want == 0 || left <= 0 {
			return at, err
		}
		if err := pause.For(ctx, minServerWait); err != nil {
			return at, err
		}
	}
}

// openFeed connects to the feed that the settings name. Servers that are not there yet do
// not stop it: the connection is made when they come. Close its Conn in the end.
func (b *backend) openFeed() (jetstream.JetStream, error) {
	s, servers := b.s, redactedURLs(b.s.Feed)
	_, js, err := feed.Connect(s.Feed, feed.ConnectOptions{
		Log: b.log.With("servers", servers), Credentials: s.FeedCredentials, NKey: s.FeedNKey, Domain: s.FeedDomain, APIPrefix: s.FeedAPIPrefix,
		CA: s.FeedCA, Cert: s.FeedCert, Key: s.FeedKey,
	})
	if err != nil {
		return nil, fmt.Errorf("feed %s: %w", servers, err)
	}
	return js, nil
}
