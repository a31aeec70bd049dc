package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
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
	store   eventstore.Store
	events  eventstore.Store // the same store, with its calls watched
	file    *sqlite.Store    // the same store where it is in the data directory, else nil
	leases  lease.Store      // nil: the store belongs to this process alone
	close   func() error     // of the store
	calls   *storeWatch
	lock    *os.File // of the data directory; nil: it holds none
	users   *access.Users
	records *command.Records
	command *command.Service
	proofs  *proof.Log
	signer  *proof.Signer // nil: there is no key to sign with

	// live is the part that only a running service has; nil elsewhere.
	live atomic.Pointer[live]
}

// openBackend opens the store, which has to exist or is made, and the write side.
// When the settings keep anything in the data directory, the caller holds its lock
// until after Close, else it is nil.
func openBackend(ctx context.Context, s *config, lock *os.File, log *slog.Logger, hooks telemetry.Hooks, existing bool) (*backend, error) {
	b := &backend{s: s, lock: lock, log: log, hooks: hooks, calls: &storeWatch{log: log}}
	if err := b.openStore(ctx, existing); err != nil {
		return nil, err
	}
	rules := &calendar.Rules{Site: s.Timezone.site(), Clean: htmltext.New()}
	b.events = watchedStore{b.hooks.Store(b.store), b.calls}
	b.users = access.New(b.events)
	var err error
	if b.command, err = command.New(b.events, rules, access.NewHasher(), command.Options{}); err != nil {
		return nil, errors.Join(err, b.close())
	}
	b.records = b.command.Records()
	b.proofs = proof.NewLog(b.events)
	if b.signer, err = b.newSigner(); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

// Close ends the store; what was acknowledged is on the disk already.
func (b *backend) Close() error { return b.close() }

// withModel works on the read model of the running service, else on the one that
// the settings name.
func (b *backend) withModel(ctx context.Context, work func(*upkeep.Upkeep) error) (err error) {
	if l := b.live.Load(); l != nil {
		if l.model == nil {
			return fmt.Errorf("a process of the role %s has no read model", b.s.Role)
		}
		return work(l.model)
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
func (b *backend) shownHealth(ctx context.Context) (h status.Health, err error) {
	if l := b.live.Load(); l != nil {
		h, _ = l.status.Health(ctx)
		b.refusals(ctx, &h)
		return h, nil
	}
	err = b.withModel(ctx, func(m *upkeep.Upkeep) error {
		b.tryWrite(ctx)
		r := b.reporter(m)
		var p *status.Report
		h, p = r.Health(ctx)
		return r.Settle(ctx, &h, p)
	})
	if err == nil && h.Status == status.OK && b.s.Feed != "" {
		err = b.lookAtFeed(ctx, &h)
	}
	if err == nil {
		b.refusals(ctx, &h)
	}
	return h, err
}

// reporter returns what asks the parts of this process, those of its roles aside.
func (b *backend) reporter(m *upkeep.Upkeep) *status.Reporter {
	r := &status.Reporter{Parts: status.Parts{
		Role: string(b.s.Role), Store: b.store, LostFile: b.lostFile,
		Faults: []func(context.Context, calendar.Position) (string, string){b.failing, b.unsigned},
	}}
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
	b.calls.wrote(b.store.Sync(ctx))
}

// lookAtFeed adds to a health that the feed is not reached, or lacks entries.
func (b *backend) lookAtFeed(ctx context.Context, h *status.Health) error {
	js, err := openFeed(b.s, b.log) //nolint:contextcheck // its log lines come long after this call
	if err != nil {
		return err
	}
	defer js.Conn().Close()
	for left := status.Wait; !js.Conn().IsConnected(); left -= minServerWait / 5 {
		if left <= 0 {
			h.Degrade(status.NoFeed, "")
			return nil
		}
		if err := pause.For(ctx, minServerWait/5); err != nil {
			return err
		}
	}
	h.Published, err = b.published(ctx, js, h.Head, status.MaxStill)
	switch {
	case err == nil && h.Published >= h.Head, h.Head == 0:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	cause := ""
	if err != nil {
		cause = err.Error()
	}
	h.Degrade(fmt.Sprintf("the feed stands at %d of %d", h.Published, h.Head), cause)
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
