package e2e

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
	"daybook/eventstore/feed"
	"daybook/eventstore/sqlite"
	"daybook/internal/access"
	"daybook/internal/history"
	"daybook/internal/htmltext"
	"daybook/internal/httpapi"
	"daybook/internal/proof"
	"daybook/internal/testkit/world"
	"daybook/projector"
	"daybook/query"
	"daybook/query/past"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// settings are what a service is started with.
type settings struct {
	now          time.Time      // zero: friday
	site         *time.Location // nil: UTC
	positionWait time.Duration  // 0: 5 s
	perPageMax   int
	http         httpapi.Options // further settings; Site, Now and Log are set
}

// friday is where the clock of a service stands at first.
var friday = time.Date(2026, time.May, 1, 12, 0, 0, 0, time.UTC)

// service is a running service as its clients know it.
type service struct {
	url   string // scheme, host and port
	users map[string]user
	clock *world.Clock
	// hold keeps new entries from the read model until release, so lists lag.
	hold func() (release func())

	// withdraw ends the token of a user, renew gives another one.
	withdraw, renew func(t *testing.T, name string)

	client   *http.Client
	position atomic.Uint64 // of the last write that was answered
	// documentation is what the service serves; some answers of each kind are held against it.
	documentation func() *world.Documentation

	mu      sync.Mutex
	checked map[string]int // answers held against it, by operation and status
}

type user struct {
	id    int64
	token string
}

// backend starts a service with its users. The same body runs on each.
type backend func(t *testing.T, s settings) *service

// userNames are the users of every service: one of each role, and a second one
// of those that own posts.
var userNames = []struct {
	name string
	role calendar.Role
}{
	{"subscriber", calendar.Subscriber},
	{"contributor", calendar.Contributor},
	{"contributor2", calendar.Contributor},
	{"author", calendar.Author},
	{"author2", calendar.Author},
	{"editor", calendar.Editor},
	{"editor2", calendar.Editor},
	{"administrator", calendar.Administrator},
	{"auditor", calendar.Auditor},
}

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
func embedded(t *testing.T, settings settings) *service {
	t.Helper()
	return assemble(t, settings, func(log *slog.Logger, clock *world.Clock) (p parts) {
		store, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{Now: clock.Now})
		must(t, err)
		t.Cleanup(func() { closed(t, store.Close()) })
		index := memindex.New(memindex.Options{Logger: log})
		return parts{store: store, relayed: store, index: index, projected: index}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// assemble starts a service of its parts.
func assemble(t *testing.T, settings settings, open func(*slog.Logger, *world.Clock) parts) *service {
	t.Helper()
	if settings.now.IsZero() {
		settings.now = friday
	}
	if settings.site == nil {
		settings.site = time.UTC
	}
	clock := world.NewClock(settings.now)
	faults := &world.Log{}
	log := slog.New(slog.NewTextHandler(faults, &slog.HandlerOptions{Level: slog.LevelError}))
	t.Cleanup(func() {
		if text := faults.String(); text != "" {
			t.Errorf("the service logged:\n%s", text)
		}
	})
	parts := open(log, clock)
	events, index := parts.store, parts.index
	source := feed.NewSource(parts.relayed, parts.jetStream, feed.SourceOptions{Log: log, Prefix: parts.feed})
	t.Cleanup(source.Close)
	gate := &gate{Index: parts.projected}
	if parts.jetStream != nil {
		running(t, feed.NewRelay(parts.relayed, parts.jetStream, feed.RelayOptions{Log: log, Prefix: parts.feed}).Run)
	}
	running(t, projector.New(gate, source, projector.Options{Log: log}).Run)

	rules := &calendar.Rules{Site: settings.site, Clean: htmltext.New()}
	commands := command.New(events, rules, access.NewHasher(), clock.Now)
	records := commands.Records()
	lists := query.Options{Site: settings.site, PerPageMax: settings.perPageMax, Now: clock.Now, PositionWait: settings.positionWait}
	queries := query.New(index, records, lists)
	reader := history.New(events, clock.Now)
	then := past.New(events, reader, queries, past.Options{Query: lists, Log: log})
	users := access.New(events)
	users.Now = clock.Now
	settings.http.Site, settings.http.Now, settings.http.Log, settings.http.PerPageMax = settings.site, clock.Now, log, settings.perPageMax
	api, err := httpapi.New(httpapi.Deps{Commands: commands, Queries: queries, History: reader, Past: then, Records: records, Users: users, Proofs: proof.NewLog(events)}, settings.http)
	must(t, err)

	out := &service{checked: map[string]int{}, users: map[string]user{"": {}}, clock: clock, hold: gate.hold}
	for _, u := range userNames {
		made, token, err := users.Add(t.Context(), u.name, u.role, 0)
		must(t, err)
		out.users[u.name] = user{id: int64(made.ID), token: token}
	}
	out.withdraw = func(t *testing.T, name string) {
		t.Helper()
		if _, err := users.Revoke(t.Context(), name, 0); err != nil {
			t.Fatal(err)
		}
	}
	out.renew = func(t *testing.T, name string) {
		t.Helper()
		_, token, err := users.NewToken(t.Context(), name, 0)
		if err != nil {
			t.Fatal(err)
		}
		out.users[name] = user{id: out.users[name].id, token: token}
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	server := &http.Server{Handler: api, ReadHeaderTimeout: time.Minute, MaxHeaderBytes: 64 << 10}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		closed(t, server.Close())
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	out.url = "http://" + listener.Addr().String()
	// What encodings a request takes is said by the test, not by the client for it.
	transportHTTP := &http.Transport{MaxIdleConnsPerHost: 16, DisableCompression: true}
	t.Cleanup(transportHTTP.CloseIdleConnections)
	out.client = &http.Client{Transport: transportHTTP, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	out.documentation = sync.OnceValue(func() *world.Documentation { return out.read(t) })
	return out
}

// read reads the documentation.
func (service *service) read(t *testing.T) *world.Documentation {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, service.url+root+"/doc", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := service.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	served, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	// Services differ in their ports; it takes a while to parse.
	return world.ReadDocumentation(t, bytes.ReplaceAll(served, []byte(service.url), []byte("https://calendar.example.org")))
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
