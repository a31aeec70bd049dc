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
	"runtime/debug"
	"slices"
	"strings"
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
	"daybook/internal/httpapi"
	"daybook/internal/lease"
	"daybook/internal/proof"
	"daybook/internal/status"
	"daybook/internal/telemetry"
	"daybook/projector"
	"daybook/projector/upkeep"
	"daybook/query/readmodel"
	"daybook/query/readmodel/elastic"
	"daybook/query/readmodel/memindex"
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
		if end(committed); committed.Err != nil || len(committed.Entries) > 0 {
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

// Names within the data directory.
const (
	snapshotFile = "readmodel.snapshot"
	// formerFile is the snapshot of the image that the last rebuild replaced.
	formerFile = "readmodel.former"
)

// localIndex reports whether the read model is in memory, with its snapshot in the data
// directory, and of this process alone.
func (config *config) localIndex() bool { return config.Index == "" }

// holds reports whether the event store has the history of a mark.
func (backend *backend) holds(ctx context.Context, mark calendar.Mark) (bool, error) {
	err := eventstore.CheckMark(ctx, backend.events, mark)
	if errors.Is(err, eventstore.ErrHistory) {
		return false, nil
	}
	return err == nil, err
}

// history returns which history the event store has, see eventstore.Epoch.
func (backend *backend) history() uint64 { return backend.events.Epoch().History }

// openModel opens the read model; without a source it is not kept. One of this process is
// filled when it is empty and kept; another one is to be reached.
func (backend *backend) openModel(ctx context.Context, source projector.Source) (*upkeep.Upkeep, error) {
	servers := backend.Engine // not asked for anything yet
	servers.Log, servers.Holds, servers.Epoch = backend.log, backend.holds, backend.history
	servers.First = func(ctx context.Context) (calendar.Mark, error) {
		head, err := backend.events.Head(ctx, eventstore.Point{Position: 1})
		return head.Mark, err
	}
	if backend.IndexAPIKeyFile != "" {
		servers.APIKey = func() (string, error) {
			text, err := os.ReadFile(backend.IndexAPIKeyFile)
			return strings.TrimSpace(string(text)), err
		}
	}
	var index readmodel.Generations
	var err error
	if backend.IndexCA != "" {
		servers.CACert, err = os.ReadFile(backend.IndexCA)
	}
	options := upkeep.Options{Log: backend.log, Observe: backend.hooks.Projecting}
	switch {
	case err != nil:
	case backend.localIndex():
		index, err = memindex.Open(ctx, filepath.Join(backend.Data, snapshotFile), memindex.Options{
			Logger: backend.log, Holds: backend.holds, Epoch: backend.history, Former: filepath.Join(backend.Data, formerFile),
		})
	default:
		index, err = elastic.Open(backend.Index, servers)
		if backend.leases != nil {
			options.Alone = backend.rebuildsAlone
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read model: %w", err)
	}
	u := upkeep.New(index, backend.events, source, options)
	if backend.localIndex() && source != nil {
		err = u.Ready(ctx)
		go debug.FreeOSMemory() // filling takes more than it keeps
	}
	return u, err
}

// rebuildsAlone runs work under the lease of rebuilds. It does not stand by behind
// another rebuild, only until the lease of a dead one has ended.
func (backend *backend) rebuildsAlone(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(lease.Span*3/2, func() { cancel(errors.New("another rebuild of this read model runs")) })
	// Without a log: who waits is told by a bar.
	err := lease.Run(ctx, backend.leases, "rebuild/"+backend.Engine.Prefix, holder, lease.Options{}, func(ctx context.Context) error {
		late.Stop()
		return work(ctx)
	})
	return cmp.Or(err, context.Cause(ctx))
}

const (
	// keyFile holds the keys of an embedded store, in the data directory.
	keyFile = "audit.key"
	// keptNote ends the name of the file next to a key that holds the newest
	// checkpoint of its log.
	keptNote = ".note"
)

// newSigner makes the signer that the settings name, one without keys for a role that does not
// sign.
func (backend *backend) newSigner() (*proof.Signer, error) {
	ring := proof.Keyring{Origin: backend.LogOrigin, Shared: backend.leases != nil}
	if _, address, ok := strings.Cut(backend.BaseURL, "://"); ok {
		ring.Address = address + "/" + backend.APIPrefix + "/" + httpapi.Namespace
	}
	for _, file := range backend.SigningKey {
		text, unread := os.ReadFile(file)
		keys, err := proof.ParsePrivateKeys(text)
		if err = cmp.Or(unread, err); err != nil {
			return nil, fmt.Errorf("--signing-key: %s: %w", file, err)
		}
		ring.Keys, ring.Notes = append(ring.Keys, keys...), append(ring.Notes, file+keptNote)
	}
	if backend.Store == "" && ring.Keys == nil {
		ring.File = filepath.Join(backend.Data, keyFile)
		ring.Notes = []string{ring.File + keptNote}
	}
	if !backend.does(servesRelay) {
		ring = proof.Keyring{}
	}
	return proof.NewSigner(backend.proofs, ring, proof.SignerOptions{Interval: backend.CheckpointInterval, Log: backend.log, Witnesses: backend.Witnesses}), nil
}

// checkOrigin refuses to begin with a key or an origin of another log.
func (backend *backend) checkOrigin(ctx context.Context) error {
	keyless := proof.NewSigner(backend.proofs, proof.Keyring{Origin: backend.LogOrigin}, proof.SignerOptions{})
	_, err := keyless.PublicKeys(ctx)
	if err == nil {
		if _, err = backend.signer.PublicKeys(ctx); !errors.Is(err, proof.ErrOrigin) {
			return nil // what else is wrong is reported by the signer, which reads the whole log, and by health
		}
	}
	return err
}

// unsigned returns why this process signs no checkpoints that it should, "" if it does: what
// everybody may read of it, and the cause.
func (backend *backend) unsigned(context.Context) (why, cause string) {
	err := backend.signer.Stats().Fault
	switch refusal := proof.Refusal(err); {
	case err == nil:
		return "", ""
	case refusal == proof.ErrOrigin: //nolint:errorlint // one of Refusals itself
		return "signing key of another log", err.Error()
	default:
		return refusal.Error(), err.Error()
	}
}
