package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go/jetstream"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
	"daybook/eventstore/feed"
	"daybook/eventstore/postgres"
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
	backend.close = store.Close
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
	work, state = backend.leased("relay/"+backend.FeedPrefix, relay.Run, nil)
	return relay, work, state
}

// leased puts work under a lease when the store is shared. The names of those of relays and read
// models end with the prefix of their feed or index: a store may have several.
func (backend *backend) leased(name string, work func(context.Context) error, progress func() (uint64, bool)) (func(context.Context) error, *lease.State) {
	if backend.leases == nil {
		return work, nil
	}
	state := new(lease.State)
	return func(ctx context.Context) error {
		return lease.Run(ctx, backend.leases, name, holder, lease.Options{Log: backend.log, State: state, Progress: progress}, work)
	}, state
}

// openStore opens the event store that the settings name. The one in the data
// directory needs the directory's lock.
func (backend *backend) openStore(ctx context.Context, existing bool) (closingStore, error) {
	if backend.Store == "" {
		return backend.openFile(ctx, existing)
	}
	options := backend.Database
	options.Log, options.Observe, options.Existing = backend.log, backend.watchedCommits, existing
	store, err := postgres.Open(ctx, backend.Store, options)
	if errors.Is(err, eventstore.ErrNoStore) {
		err = fmt.Errorf("the schema %s of %s holds no event store; daybook serve or daybook migrate makes one, --store-schema names another", options.Schema, redactedURLs(backend.Store))
	}
	if err != nil {
		return nil, err
	}
	backend.leases = store
	return store, nil
}

// openFile opens the event store in the data directory. One without entries is
// refused where other files say that there were some, unless a new log is to begin.
func (backend *backend) openFile(ctx context.Context, existing bool) (closingStore, error) {
	left := backend.leftOfLog()
	lost := left != "" && !backend.NewLog
	store, err := sqlite.Open(ctx, backend.Data, sqlite.Options{Observe: backend.watchedCommits, Existing: existing || lost})
	if err == nil && lost {
		head, headErr := store.Head(ctx, eventstore.Point{})
		if headErr != nil || head.Position == 0 {
			err = errors.Join(cmp.Or(headErr, eventstore.ErrNoStore), store.Close())
		}
	}
	switch {
	case err == nil:
		backend.file = store
		return store, nil
	case !errors.Is(err, eventstore.ErrNoStore):
		return nil, fmt.Errorf("event store in %s: %w", backend.Data, err)
	}
	if file, err := os.OpenFile(left, os.O_CREATE, 0o600); err == nil { // the engine has deleted its index
		_ = file.Close()
	}
	return nil, backend.noStore()
}

// leftOfLog returns the path of a file that only a log with entries leaves behind, "" where
// none exists: a store without entries next to it has lost them.
func (config *config) leftOfLog() string {
	exists := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	paths := []string{
		filepath.Join(config.Data, snapshotFile), filepath.Join(config.Data, formerFile),
		filepath.Join(config.Data, keyFile), filepath.Join(config.Data, keyFile+keptNote),
	}
	for _, key := range config.SigningKey {
		paths = append(paths, key+keptNote)
	}
	// The log of the engine is never there before its file, and its index not without the log.
	file := filepath.Join(config.Data, sqlite.FileName)
	log, index := file+"-wal", file+"-shm"
	if info, err := os.Stat(file); err != nil || info.Size() == 0 {
		paths = append(paths, log)
	}
	if !exists(log) {
		paths = append(paths, index)
	}
	if i := slices.IndexFunc(paths, exists); i >= 0 {
		return paths[i]
	}
	return ""
}

// noStore is the error of a data directory without a store, where a file may be left of a log.
func (config *config) noStore() error {
	left := config.leftOfLog()
	if left == "" {
		return fmt.Errorf("%s holds no event store; daybook serve makes one, --data names another", config.Data)
	}
	return fmt.Errorf("%s holds no entries, but %s is left of a log: put %s back, or a backup of it into an empty directory; "+
		"daybook user add NAME --role administrator --new-log begins another log here", config.Data, left, sqlite.FileName)
}

// lookEvery is how often the process looks at its health.
const lookEvery = 5 * time.Second

// Why a service is degraded by what its store does. It stays ready.
const (
	whyNoWrites = "store takes no writes"
	whyNoReads  = "store cannot be read" // while its head is known
)

// failing returns why the store does not do what it is there for, "" when it does: whether it
// takes writes by the last of them.
func (backend *backend) failing(ctx context.Context) (why, cause string) {
	ctx, cancel := context.WithTimeout(ctx, status.Wait)
	defer cancel()
	_, err := backend.events.Load(ctx, math.MaxInt64) // in no cache
	switch {
	case errors.Is(err, eventstore.ErrUnavailable):
		return whyNoReads, ""
	case backend.unwritten.Load():
		return whyNoWrites, ""
	default:
		return "", ""
	}
}

// watchedStore notes when ids cannot be taken: a create fails there, before its commit.
type watchedStore struct {
	eventstore.Store

	wrote func(error)
}

// NewID implements eventstore.Store.
func (watchedStore watchedStore) NewID(ctx context.Context) (calendar.ID, error) {
	id, err := watchedStore.Store.NewID(ctx)
	if errors.Is(err, eventstore.ErrUnavailable) {
		watchedStore.wrote(err)
	}
	return id, err
}

// watchedCommits is the observer of commits, which tell whether the store takes writes. One
// without entries proves nothing.
func (backend *backend) watchedCommits() func(eventstore.Committed) {
	end := func(eventstore.Committed) {}
	if backend.hooks.Commits != nil {
		end = backend.hooks.Commits()
	}
	return func(committed eventstore.Committed) {
		if end(committed); committed.Err != nil || committed.Entries > 0 {
			backend.wrote(committed.Err)
		}
	}
}

// wrote notes whether a write failed.
func (backend *backend) wrote(err error) {
	switch before := backend.unwritten.Swap(err != nil); {
	case err != nil && !before:
		backend.log.Error("event store takes no writes", "error", err)
	case err == nil && before:
		backend.log.Info("event store takes writes again")
	}
}
