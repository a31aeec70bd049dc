package e2e

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"daybook/eventstore"
	"daybook/eventstore/feed"
	"daybook/eventstore/sqlite"
	"daybook/internal/testkit/world"
	"daybook/projector"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// service is a running service as its clients know it: a World over the network.
type service struct {
	*world.World

	// hold keeps new entries from the read model until release, so lists lag.
	hold     func() (release func())
	client   *http.Client
	position atomic.Uint64 // of the last write that was answered
}

// backend starts a service with its users. The same body runs on each.
type backend func(t *testing.T, options world.Options) *service

// userNames are the users of every service: one of each role, and a second one
// of those that own posts.
var userNames = strings.Fields("subscriber contributor other-contributor author other-author editor other-editor administrator auditor")

// parts are what a service is assembled from. Those of the api and those of the
// relay and the projector may be two of a kind, as in two processes.
type parts struct {
	store            eventstore.Store    // of the api
	relayed          eventstore.Store    // of relay and projector
	index, projected readmodel.Index     // of the api; of the projector
	jetStream        jetstream.JetStream // nil: no feed
	feed             string              // prefix of its stream
}

// embedded starts the embedded size: SQLite, the memory image, and a listener.
//
//	HTTP ─► command ─► SQLite ─► projector ─► memory image
func embedded(t *testing.T, options world.Options) *service {
	t.Helper()
	return assemble(t, options, func(log *slog.Logger, clock *world.Clock) (p parts) {
		store, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{Now: clock.Now})
		must(t, err)
		t.Cleanup(func() { closed(t, store.Close()) })
		index := memindex.New(memindex.Options{Logger: log})
		return parts{store: store, relayed: store, index: index, projected: index}
	})
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// assemble starts a service of its parts.
func assemble(t *testing.T, options world.Options, open func(*slog.Logger, *world.Clock) parts) *service {
	t.Helper()
	if options.Clock == nil {
		options.Clock = world.NewClock(world.Now)
	}
	log := slog.New(slog.NewTextHandler(world.Faults{TB: t}, &slog.HandlerOptions{Level: slog.LevelError}))
	parts := open(log, options.Clock)
	source := feed.NewSource(parts.relayed, parts.jetStream, feed.SourceOptions{Log: log, Prefix: parts.feed})
	t.Cleanup(source.Close)
	gate := &gate{Index: parts.projected}
	if parts.jetStream != nil {
		running(t, feed.NewRelay(parts.relayed, parts.jetStream, feed.RelayOptions{Log: log, Prefix: parts.feed}).Run)
	}
	running(t, projector.New(gate, source, projector.Options{Log: log}).Run)

	options.Store, options.Index, options.HTTP.Log, options.Past.Log = parts.store, parts.index, log, log
	options.Networked, options.Wait = true, cmp.Or(options.Wait, 5*time.Second)
	out := &service{World: world.New(t, options), hold: gate.hold}
	for _, name := range userNames {
		out.User(name)
	}
	server := httptest.NewUnstartedServer(out.Handler)
	server.Config.MaxHeaderBytes = 64 << 10
	server.Start()
	t.Cleanup(server.Close)
	out.Base, out.Handler = server.URL, out
	// What encodings a request takes is said by the test, not by the client for it.
	transportHTTP := &http.Transport{MaxIdleConnsPerHost: 16, DisableCompression: true}
	t.Cleanup(transportHTTP.CloseIdleConnections)
	out.client = &http.Client{Transport: transportHTTP, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	return out
}

func closed(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// gate is the index as the projector writes it; writes wait while it is held.
type gate struct {
	readmodel.Index
	held sync.Mutex
}

// Write writes a batch once the gate is open.
func (gate *gate) Write(ctx context.Context, batch readmodel.Batch) ([]error, error) {
	gate.held.Lock()
	defer gate.held.Unlock()
	return gate.Index.Write(ctx, batch)
}

func (gate *gate) hold() (release func()) {
	gate.held.Lock()
	return gate.held.Unlock
}

func (service *service) positionText() string { return strconv.FormatUint(service.position.Load(), 10) }

// running runs an actor until the end of the test.
func running(t *testing.T, actor func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- actor(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
