// Package world wires the whole service in memory for tests: a store, the
// write side, a projection that follows every append immediately, a read model, the
// read side and the REST interface, with a clock that stands still and users of
// every role. Its client holds every answer to the served documentation.
package world

import (
	"cmp"
	"context"
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
	Clock *Clock         // nil: it stands at Now
	Site  *time.Location // nil: UTC
	// HTTP are further settings of the interface. BaseURL "" is Base; Site and Now are set by
	// the World. Log nil: what is logged fails the test.
	HTTP httpapi.Options
	// Pages are the settings of the pages, nil: there are none. Site, Now, Namespace and
	// Prefixes are set by the World.
	Pages *pages.Options
	// Wait is the longest wait for a position; 0: 20 ms.
	Wait time.Duration

	Store eventstore.Store // nil: memory
	Index readmodel.Index  // nil: memory
	Past  past.Options     // Query is set by the World
	// Networked is a service as programs have it: passwords are hashed, URLs are those that
	// requests name, and entries are projected by someone else.
	Networked bool
	// Unchecked leaves out the comparison of every answer with the documentation
	// that the service serves.
	Unchecked bool
}

// World is the whole service in memory.
type World struct {
	testing.TB
	httpapi.Deps

	Clock    *Clock
	Store    eventstore.Store
	Index    readmodel.Index
	Commands *command.Service
	Users    *access.Users
	Handler  http.Handler
	Base     string // the base URL

	project   *projectingStore
	users     map[string]*Client // by name
	unchecked bool
	totals    [][2]string // the further names of headers
}

// What lives in tests is little and made anew by each: collecting it early takes a fourth of
// their time.
func init() { debug.SetGCPercent(400) }

// New makes a World. A fault of the service that is logged while the test runs
// fails the test.
func New(t testing.TB, options Options) *World {
	t.Helper()
	site, h := cmp.Or(options.Site, time.UTC), options.HTTP
	world := &World{TB: t, Clock: options.Clock, Store: options.Store, Index: options.Index, Base: cmp.Or(h.BaseURL, Base), unchecked: options.Unchecked, totals: h.TotalHeaders}
	nobody := &Client{TB: t, Name: "nobody", world: world, root: Root, header: http.Header{}}
	world.users = map[string]*Client{nobody.Name: nobody, calendar.Anonymous.String(): nobody}
	if world.Clock == nil {
		world.Clock = NewClock(Now)
	}
	if world.Index == nil {
		world.Index = memindex.New(memindex.Options{})
	}
	if world.Store == nil {
		world.Store = memstore.New()
	}
	var hasher command.Hasher = access.NewHasher()
	if !options.Networked {
		h.BaseURL, hasher = world.Base, plainHasher{}
		world.project = &projectingStore{Store: world.Store, world: world}
		world.Store = world.project
	}
	now, rules := world.Clock.Now, &calendar.Rules{Site: site, Clean: htmltext.New()}
	world.Commands = command.New(world.Store, rules, hasher, now)
	world.Users = access.New(world.Store)
	world.Users.Now = now
	records, reader := world.Commands.Records(), history.New(world.Store, now)
	h.Site, h.Now, h.Clean, h.LocalIndex, h.PositionWait = site, now, rules.Clean, options.Index == nil, cmp.Or(options.Wait, 20*time.Millisecond)
	options.Past.Query = h.Options
	queries := query.New(world.Index, records, options.Past.Query)
	world.Deps = httpapi.Deps{
		Commands: world.Commands, Queries: queries, History: reader, Past: past.New(world.Store, reader, queries, options.Past), Records: records, Users: world.Users,
		Proofs: proof.NewLog(world.Store),
	}
	h.Log = cmp.Or(h.Log, slog.New(slog.NewTextHandler(Faults{t}, nil)))
	var err error
	if options.Pages != nil {
		of := *options.Pages
		of.Site, of.SiteZone, of.Now = site, site.String(), now
		of.Namespace, of.Prefixes = Root, []string{"api"}
		of.Currency = cmp.Or(h.Currency, calendar.Currency{Symbol: "$", Position: "prefix", Code: "USD"})
		of.OpenHistory = cmp.Or(h.PublicHistory, httpapi.PublicHistoryAll) == httpapi.PublicHistoryAll
		h.Pages, err = pages.New(pages.Deps{Lists: queries, History: reader, Past: world.Past, Records: records, Proofs: world.Proofs}, of)
		must(t, err)
	}
	world.Handler, err = httpapi.New(world.Deps, h)
	must(t, err)
	return world
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Hold keeps new entries from the read model until the returned function is
// called: lists lag behind.
func (world *World) Hold() (release func()) {
	world.project.held.Store(true)
	return func() {
		world.project.held.Store(false)
		world.project.follow(world.Context())
	}
}

// Head is the position of the last entry of the store.
func (world *World) Head() calendar.Position {
	world.Helper()
	head, err := world.Store.Head(world.Context(), eventstore.Point{})
	must(world, err)
	return head.Position
}

// As gives a client of the user that has a role; Anonymous is no one.
func (world *World) As(role calendar.Role) *Client {
	world.Helper()
	return world.User(role.String())
}

// User gives a client of a user, who is created if none exists yet. The name is that of a role,
// or "other-" and that; "nobody" is no one.
func (world *World) User(name string) *Client {
	world.Helper()
	if world.users[name] == nil {
		role, known := calendar.ParseRole(strings.TrimPrefix(name, "other-"))
		if !known {
			world.Fatalf("no role of a user %q", name)
		}
		user, token, err := world.Users.Add(world.Context(), name, role, 0)
		must(world, err)
		client := world.users["nobody"].With("Authorization", "Bearer "+token)
		client.User, client.Name, client.Token = user.ID, name, token
		world.users[name] = client
	}
	return world.users[name]
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

// Faults is a log of what must not happen: each line fails the test.
type Faults struct{ testing.TB }

// Write fails the test with a line.
func (faults Faults) Write(line []byte) (int, error) {
	faults.Errorf("the service logged: %s", line)
	return len(line), nil
}

// plainHasher keeps passwords without hashing: argon2id is slow by design.
type plainHasher struct{}

// Hash returns a stand-in for a hash.
func (plainHasher) Hash(_ context.Context, password string) ([]byte, error) {
	return []byte("plain:" + password), nil
}

// Verify compares with the stand-in.
func (plainHasher) Verify(_ context.Context, hash []byte, password string) (bool, error) {
	return string(hash) == "plain:"+password, nil
}

// projectingStore is a store whose entries are in the read model when Append comes
// back.
type projectingStore struct {
	eventstore.Store
	world *World

	mu   sync.Mutex
	held atomic.Bool
}

// Append appends and follows.
func (projecting *projectingStore) Append(ctx context.Context, addition eventstore.Append) eventstore.Result {
	result := projecting.Store.Append(ctx, addition)
	projecting.follow(ctx)
	return result
}

// follow projects the entries that the read model lacks.
func (projecting *projectingStore) follow(ctx context.Context) {
	projecting.mu.Lock()
	defer projecting.mu.Unlock()
	if projecting.held.Load() {
		return
	}
	ctx = context.WithoutCancel(ctx)
	err := projector.CatchUp(ctx, projecting.Store, projecting.world.Index)
	refused, missing := projecting.world.Index.Quarantined(ctx)
	if err != nil || missing != nil || len(refused) > 0 {
		projecting.world.Errorf("project: %v, %v, quarantined: %v", err, missing, refused)
	}
}

// Slow skips a test that takes long and compares much under -short: CI runs those once, without
// the race detector.
func Slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skipf("%s did not run: it is slow and -short is set", t.Name())
	}
}
