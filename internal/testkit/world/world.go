// Package world wires the whole service in memory for tests: a store, the
// write side, a projection that follows every append immediately, a read model, the
// read side and the REST interface, with a clock that stands still and users of
// every role. Its client holds every answer to the served documentation.
package world

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/internal/access"
	"daybook/internal/history"
	"daybook/internal/htmltext"
	"daybook/internal/httpapi"
	"daybook/internal/pages"
	"daybook/internal/proof"
	"daybook/projector"
	"daybook/query"
	"daybook/query/past"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
)

// Now is where the clock of a World stands at first: a Friday.
var Now = time.Date(2026, time.May, 1, 12, 0, 0, 0, time.UTC)

// Base is the base URL of a World without another setting.
const Base = "https://calendar.example.org"

// Root is the path of the English root.
const Root = "/api/" + httpapi.Namespace

// Options of a World; the zero value works.
type Options struct {
	Now  time.Time      // zero: Now
	Site *time.Location // nil: UTC
	// HTTP are further settings of the interface. BaseURL "" is Base; Site, Now
	// and Log are set by the World.
	HTTP httpapi.Options
	// Pages are the settings of the pages, nil: there are none. Site, Now, Namespace and
	// Prefixes are set by the World.
	Pages *pages.Options
	// Wait is the longest wait for a position; 0: 20 ms.
	Wait time.Duration

	QueryBudget int              // of query.Options
	Store       eventstore.Store // nil: memory
	Index       readmodel.Index  // nil: memory
	Past        past.Options     // Query is set by the World
	// Unchecked leaves out the comparison of every answer with the documentation
	// that the service serves.
	Unchecked bool
}

// World is the whole service in memory.
type World struct {
	Clock    *Clock
	Store    eventstore.Store
	Index    readmodel.Index
	Commands *command.Service
	Records  *command.Records
	Queries  *query.Service
	Past     *past.Service
	Users    *access.Users
	Proofs   *proof.Log
	Handler  http.Handler
	Log      *Log   // what the interface logged
	Base     string // the base URL

	t         testing.TB
	project   *projectingStore
	users     map[string]*Client // by name
	unchecked bool
	document  func() *Documentation // Document, once
}

// What lives in tests is little and made anew by each: collecting it early takes a fourth of
// their time.
func init() { debug.SetGCPercent(400) }

// New makes a World. A fault of the service that is logged while the test runs
// fails the test.
func New(t testing.TB, options Options) *World {
	t.Helper()
	options.Site = cmp.Or(options.Site, time.UTC)
	world := &World{
		t: t, Clock: NewClock(cmp.Or(options.Now, Now)), Index: options.Index, Log: &Log{}, Base: cmp.Or(options.HTTP.BaseURL, Base), unchecked: options.Unchecked,
		users: map[string]*Client{},
	}
	world.document = sync.OnceValue(world.Document)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if world.Index == nil {
		world.Index = memindex.New(memindex.Options{})
	}
	if options.Store == nil {
		store := memstore.New()
		t.Cleanup(func() { _ = store.Close() })
		options.Store = store
	}
	world.project = &projectingStore{Store: options.Store, index: world.Index}
	world.Store = world.project
	rules := &calendar.Rules{Site: options.Site, Clean: htmltext.New()}
	world.Commands = command.New(world.Store, rules, PlainHasher{}, world.Clock.Now)
	world.Records = world.Commands.Records()
	queries := query.Options{
		Site: options.Site, PerPageMax: options.HTTP.PerPageMax, Now: world.Clock.Now, PositionWait: cmp.Or(options.Wait, 20*time.Millisecond), Clean: rules.Clean,
		LocalIndex: options.Index == nil, MaxAnswer: options.HTTP.MaxAnswer, QueryBudget: options.QueryBudget,
	}
	world.Queries = query.New(world.Index, world.Records, queries)
	options.Past.Query = queries
	reader := history.New(world.Store, world.Clock.Now)
	world.Past = past.New(world.Store, reader, world.Queries, options.Past)
	world.Users = access.New(world.Store)
	world.Users.Now = world.Clock.Now
	world.Proofs = proof.NewLog(world.Store)

	h := options.HTTP
	h.BaseURL = world.Base
	h.Site, h.Now = options.Site, world.Clock.Now
	h.Log = slog.New(slog.NewTextHandler(world.Log, nil))
	deps := httpapi.Deps{Commands: world.Commands, Queries: world.Queries, History: reader, Past: world.Past, Records: world.Records, Users: world.Users, Proofs: world.Proofs}
	if options.Pages != nil {
		of := *options.Pages
		of.Site, of.SiteZone, of.Now = options.Site, cmp.Or(of.SiteZone, options.Site.String()), world.Clock.Now
		of.Namespace, of.Prefixes = Root, []string{"api"}
		of.Currency = cmp.Or(h.Currency, calendar.Currency{Symbol: "$", Position: "prefix", Code: "USD"})
		of.OpenHistory = cmp.Or(h.PublicHistory, httpapi.PublicHistoryAll) == httpapi.PublicHistoryAll
		h.Pages, err = pages.New(pages.Deps{Lists: world.Queries, History: reader, Past: world.Past, Records: world.Records, Proofs: world.Proofs}, of)
		must(err)
	}
	world.Handler, err = httpapi.New(deps, h)
	must(err)
	t.Cleanup(func() {
		if text := world.Log.String(); text != "" {
			t.Errorf("the service logged:\n%s", text)
		}
	})
	return world
}

// Over makes a World of a service that runs elsewhere: the handler passes requests on, and
// users have their tokens by name. Of the parts it has the clock.
func Over(t testing.TB, handler http.Handler, clock *Clock, base string, tokens map[string]string) *World {
	world := &World{t: t, Handler: handler, Clock: clock, Base: base, unchecked: true, users: map[string]*Client{}}
	for name, token := range tokens {
		world.add(name, token)
	}
	return world
}

// Hold keeps new entries from the read model until the returned function is
// called: lists lag behind.
func (world *World) Hold() (release func()) {
	world.project.held.Store(true)
	return func() {
		world.project.held.Store(false)
		if err := world.project.follow(context.Background()); err != nil {
			world.t.Error(err)
		}
	}
}

// Head is the position of the last entry of the store.
func (world *World) Head() calendar.Position {
	world.t.Helper()
	head, err := world.Store.Head(world.t.Context(), eventstore.Point{})
	if err != nil {
		world.t.Fatal(err)
	}
	return head.Position
}

// As gives a client of the user that has a role; Anonymous is no one.
func (world *World) As(role calendar.Role) *Client {
	world.t.Helper()
	if role == calendar.Anonymous {
		return world.User(nobody)
	}
	return world.User(role.String())
}

// nobody is who sends no credentials.
const nobody = "nobody"

// User gives a client of a user, who is created if none exists yet. The name is that of a role,
// or "other-" and that; "nobody" is no one.
func (world *World) User(name string) *Client {
	world.t.Helper()
	if client := world.users[name]; client != nil {
		return client
	}
	if name == nobody {
		return world.add(name, "")
	}
	role, known := calendar.ParseRole(strings.TrimPrefix(name, "other-"))
	if !known {
		world.t.Fatalf("no role of a user %q", name)
	}
	user, token, err := world.Users.Add(world.t.Context(), name, role, 0)
	if err != nil {
		world.t.Fatal(fmt.Errorf("add user %s: %w", name, err))
	}
	client := world.add(name, token)
	client.User = user.ID
	return client
}

func (world *World) add(name, token string) *Client {
	client := &Client{Name: name, Token: token, world: world, root: Root, header: http.Header{}}
	if token != "" {
		client.header.Set("Authorization", "Bearer "+token)
	}
	world.users[name] = client
	return client
}

// Clock stands still until it is moved, by one goroutine.
type Clock struct{ now atomic.Pointer[time.Time] }

// NewClock returns a clock that stands at a moment.
func NewClock(now time.Time) *Clock {
	clock := &Clock{}
	clock.now.Store(&now)
	return clock
}

// Now returns the present moment.
func (clock *Clock) Now() time.Time { return *clock.now.Load() }

// Add moves the clock.
func (clock *Clock) Add(duration time.Duration) {
	now := clock.Now().Add(duration)
	clock.now.Store(&now)
}

// Log keeps what a service logged.
type Log struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

// Write adds a line.
func (log *Log) Write(data []byte) (int, error) {
	log.mu.Lock()
	defer log.mu.Unlock()
	return log.buffer.Write(data)
}

// Take gives all lines, and forgets them.
func (log *Log) Take() string {
	log.mu.Lock()
	defer log.mu.Unlock()
	defer log.buffer.Reset()
	return log.buffer.String()
}

// String gives all lines.
func (log *Log) String() string {
	log.mu.Lock()
	defer log.mu.Unlock()
	return log.buffer.String()
}

// PlainHasher keeps passwords without hashing, for tests only: argon2id is slow
// by design.
type PlainHasher struct{}

// Hash gives a stand-in for a hash.
func (PlainHasher) Hash(_ context.Context, password string) ([]byte, error) {
	return []byte("plain:" + password), nil
}

// Verify compares with the stand-in.
func (PlainHasher) Verify(_ context.Context, hash []byte, password string) (bool, error) {
	return string(hash) == "plain:"+password, nil
}

// projectingStore is a store whose entries are in the read model when Append comes
// back.
type projectingStore struct {
	eventstore.Store
	index readmodel.Index

	held atomic.Bool
	mu   sync.Mutex
}

// Append appends and follows.
func (projecting *projectingStore) Append(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
	results := projecting.Store.Append(ctx, appends)
	if err := projecting.follow(context.WithoutCancel(ctx)); err != nil {
		for i := range results {
			if results[i].Err == nil {
				results[i].Err = fmt.Errorf("project: %w", err)
			}
		}
	}
	return results
}

// follow projects the entries that the read model lacks.
func (projecting *projectingStore) follow(ctx context.Context) error {
	projecting.mu.Lock()
	defer projecting.mu.Unlock()
	if projecting.held.Load() {
		return nil
	}
	if err := projector.CatchUp(ctx, projecting.Store, projecting.index); err != nil {
		return err
	}
	refused, err := projecting.index.Quarantined(ctx)
	if len(refused) > 0 {
		err = fmt.Errorf("quarantined: %v", refused)
	}
	return err
}

// Slow skips a test that takes long and compares much under -short: CI runs those once, without
// the race detector.
func Slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skipf("%s did not run: it is slow and -short is set", t.Name())
	}
}
