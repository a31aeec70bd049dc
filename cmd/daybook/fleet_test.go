package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/postgres"
)

// servers are where the three adapters are.
type servers struct{ store, feed, index string }

// fleet is processes of all roles on one set of servers, clients that write and
// read all the time, and what the clients were told.
type fleet struct {
	t       *testing.T
	servers servers
	more    []string // further settings
	schema  string
	token   string

	apis []atomic.Pointer[server]

	// storeFails and apisDie allow answers that come of it.
	storeFails atomic.Bool
	apisDie    bool

	stop    chan struct{}
	clients sync.WaitGroup

	mu       sync.Mutex
	effects  map[calendar.ID][]effect // of records that writers made, by version
	made     map[string]bool          // names of venues and tags that came with events
	position calendar.Position        // of the newest write

	told
}

// told counts what clients were told.
type told struct {
	acknowledged, replayed, refused, broken, confirmed atomic.Int64
	lists, listsRefused, reads, readsRefused           atomic.Int64
}

// String returns the counts.
func (told *told) String() string {
	return fmt.Sprintf("writes: %d acknowledged (%d replayed, %d found done), tried again after %d refused and %d broken; lists: %d, %d refused; reads: %d, %d refused",
		told.acknowledged.Load(), told.replayed.Load(), told.confirmed.Load(), told.refused.Load(), told.broken.Load(),
		told.lists.Load(), told.listsRefused.Load(), told.reads.Load(), told.readsRefused.Load())
}

// effect is a write that was acknowledged.
type effect struct {
	name     string // of the record after it
	trashed  bool
	removed  bool
	position calendar.Position // 0: the answer was lost, a later one said that it is done
}

// plainDir holds what builtPlain built, until the tests end.
var plainDir string

var builtPlain = sync.OnceValues(func() (path string, err error) {
	if plainDir, err = os.MkdirTemp("", "daybook-plain-"); err != nil {
		return "", err
	}
	path = filepath.Join(plainDir, "daybook")
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

// plainChild is child without the race detector, for processes that are many or have much to do.
func plainChild(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := child(context.WithoutCancel(t.Context()), args...)
	info, _ := debug.ReadBuildInfo()
	if info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		path, err := builtPlain()
		must(t, err)
		cmd.Path, cmd.Args[0] = path, path
	}
	return cmd
}

// newFleet starts n api processes. The other roles are started by start.
func newFleet(t *testing.T, servers servers, apis int, more ...string) *fleet {
	t.Helper()
	f := &fleet{
		t: t, servers: servers, more: more, schema: "daybook", apis: make([]atomic.Pointer[server], apis),
		stop: make(chan struct{}), effects: map[calendar.ID][]effect{}, made: map[string]bool{},
	}
	if i := slices.Index(more, "--store-schema"); i >= 0 {
		f.schema = more[i+1]
	}
	for i := range apis {
		s := f.start("api", servers)
		f.apis[i].Store(s)
		f.token += s.token
	}
	return f
}

// start starts a process of a role on servers, and waits until it tells where it
// is, not until it is ready.
func (fleet *fleet) start(role string, servers servers) *server {
	fleet.t.Helper()
	args := append([]string{
		"serve", "--role", role, "--listen", "127.0.0.1:0", "--store", servers.store, "--feed", servers.feed, "--index", servers.index,
		"--metrics", metricsSame, "--log-format", "json",
	}, fleet.more...)
	cmd := plainChild(fleet.t, args...)
	server := beginServerOf(fleet.t, cmd, "", cmd.Env)
	fleet.t.Cleanup(func() {
		if fleet.t.Failed() {
			fleet.t.Logf("log of %s %d:\n%s", role, server.cmd.Process.Pid, tail(server.log(), 30))
		}
	})
	return server
}

// tail returns the last lines of a log without those that each refused request has.
func tail(text string, n int) string {
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(text), "\n"), func(l string) bool {
		return strings.Contains(l, `"msg":"part unavailable"`)
	})
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// work starts clients that write and read until rest, once lists are answered.
func (fleet *fleet) work(writers int) {
	fleet.t.Helper()
	for i := range fleet.apis {
		eventually(fleet.t, "the fleet is ready", func() bool { return fleet.apis[i].Load().state()["status"] == "ok" })
	}
	for i := range writers {
		fleet.clients.Go(func() { fleet.writes(i) })
	}
	fleet.clients.Go(func() { fleet.looks(true) })
	fleet.clients.Go(func() { fleet.looks(false) })
	fleet.clients.Go(fleet.readsSingle)
	fleet.t.Cleanup(func() { fleet.rest() })
}

// rest ends the clients; each write that was begun is acknowledged by then.
func (fleet *fleet) rest() {
	select {
	case <-fleet.stop:
	default:
		close(fleet.stop)
	}
	fleet.clients.Wait()
}

func (fleet *fleet) stopped() bool {
	select {
	case <-fleet.stop:
		return true
	default:
		return fleet.t.Failed()
	}
}

// oneUse keeps no connections, so that the client itself repeats nothing.
var oneUse = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: limit}

// ask sends a request to one of the api processes; a connection that breaks has
// status 0.
func (fleet *fleet) ask(which int, method, path, body string, header ...string) (int, http.Header, []byte) {
	request, err := http.NewRequestWithContext(context.WithoutCancel(fleet.t.Context()), method, fleet.apis[which%len(fleet.apis)].Load().root+path, strings.NewReader(body))
	if err != nil {
		fleet.t.Error(err)
		return 0, nil, nil
	}
	request.Host = "daybook.test" // of links, whichever process answers
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	res, err := oneUse.Do(request)
	if err != nil {
		return 0, nil, nil
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, nil, nil
	}
	return res.StatusCode, res.Header, data
}

// isRefusal reports whether an answer is a 503 that says when to come again.
func isRefusal(status int, header http.Header) bool {
	return status == http.StatusServiceUnavailable && header.Get("Retry-After") != ""
}

// The pauses of clients.
const (
	clientPause = 150 * time.Millisecond
	retryPause  = 100 * time.Millisecond
)

// change is a write that a client wants to be made once.
type change struct {
	method, path, body string
	key                string // of idempotency; DELETE has none
	version            int64  // after it
	effect
}

// send sends a change until it is acknowledged, to one api process after the
// other, and returns the id of its record.
func (fleet *fleet) send(which int, change *change) (calendar.ID, bool) {
	header := []string{"Authorization", "Bearer " + fleet.token}
	if change.key != "" {
		header = append(header, "Idempotency-Key", change.key)
	}
	if change.version > 1 {
		header = append(header, "If-Match", fmt.Sprintf(`"%d-"`, change.version-1))
	}
	from := time.Now()
	for try := 0; time.Since(from) < limit; try++ {
		status, h, data := fleet.ask(which+try, change.method, change.path, change.body, header...)
		switch {
		case status == http.StatusOK, status == http.StatusCreated:
			var r struct{ ID calendar.ID }
			version, _, _ := strings.Cut(strings.Trim(h.Get("ETag"), `"`), "-")
			at, err := strconv.ParseUint(h.Get("Daybook-Position"), 10, 64)
			if json.Unmarshal(data, &r) != nil || err != nil || !change.removed && version != strconv.FormatInt(change.version, 10) {
				fleet.t.Errorf("%s %s: version %s at %q, want version %d: %s", change.method, change.path, version, h.Get("Daybook-Position"), change.version, data)
				return 0, false
			}
			if h.Get("Idempotency-Replayed") != "" {
				fleet.replayed.Add(1)
			}
			fleet.acknowledged.Add(1)
			change.position = calendar.Position(at)
			return r.ID, true
		case isRefusal(status, h):
			fleet.refused.Add(1)
		case status == 0:
			fleet.broken.Add(1)
		case change.key == "" && try > 0 && slices.Contains([]int{http.StatusGone, http.StatusPreconditionFailed, http.StatusNotFound}, status):
			fleet.confirmed.Add(1)
			fleet.acknowledged.Add(1)
			return 0, true
		default:
			fleet.t.Errorf("%s %s %s, try %d: %d %s", change.method, change.path, change.body, try, status, data)
			return 0, false
		}
		<-time.After(retryPause)
	}
	fleet.t.Errorf("%s %s: not acknowledged within %s", change.method, change.path, limit)
	return 0, false
}

// acknowledge keeps what a write came to.
func (fleet *fleet) acknowledge(id calendar.ID, change *change) {
	fleet.mu.Lock()
	defer fleet.mu.Unlock()
	if len(fleet.effects[id]) != int(change.version)-1 {
		fleet.t.Errorf("record %d: version %d acknowledged after %d", id, change.version, len(fleet.effects[id]))
	}
	fleet.effects[id] = append(fleet.effects[id], change.effect)
	fleet.position = max(fleet.position, change.position)
}

// records of a writer; only it writes them.
type own struct {
	collection string
	id         calendar.ID
	version    int64
	effect
}

// writes makes, changes, deletes and restores records of its own until rest.
func (fleet *fleet) writes(w int) {
	dice := rand.New(rand.NewPCG(uint64(w), 7))
	var mine []*own
	collections := []string{"venues", "organizers", "categories", "tags"}
	names := map[string]string{"events": "title", "venues": "venue", "organizers": "organizer", "categories": "name", "tags": "name"}
	statuses := []string{"publish", "publish", "publish", "draft", "private", "pending"}
	for n := 0; !fleet.stopped(); n++ {
		c := &change{key: fmt.Sprintf("writer %d write %d", w, n)}
		var of *own
		body := map[string]any{}
		some := dice.IntN(100)
		stays := w == 0 && n < len(collections) // there is one of each, however few writes there are
		switch {
		case stays:
			of = &own{collection: collections[n]}
			c.method, c.path, c.version = http.MethodPost, "/"+of.collection, 1
		case len(mine) == 0 || some < 45:
			of = &own{collection: "events"}
			if some%4 == 3 {
				of.collection = collections[dice.IntN(len(collections))]
			}
			c.method, c.path, c.version = http.MethodPost, "/"+of.collection, 1
		default:
			of = mine[dice.IntN(len(mine))]
			if of.removed {
				continue
			}
			c.version = of.version + 1
			c.method, c.path = http.MethodPatch, fmt.Sprintf("/%s/%d", of.collection, of.id)
			if some < 57 && !of.trashed {
				c.method, c.key = http.MethodDelete, ""
			}
		}
		post := of.collection != "categories" && of.collection != "tags"
		if c.method == http.MethodDelete {
			c.effect = effect{name: of.name, trashed: post, removed: !post}
		} else {
			c.name = fmt.Sprintf("Fault w%d n%d v%d", w, n, c.version)
			body[names[of.collection]] = c.name
			if post && !stays && dice.IntN(2) == 0 {
				body["status"] = statuses[dice.IntN(len(statuses))]
			}
			if of.collection == "events" {
				fleet.eventBody(dice, body, c)
			}
			data, _ := json.Marshal(body) //nolint:errchkjson // of plain texts
			c.body = string(data)
		}
		id, ok := fleet.send(w, c)
		if !ok {
			return
		}
		if c.version == 1 {
			of.id = id
		}
		if c.version == 1 && !stays {
			mine = append(mine, of)
		}
		of.version, of.effect = c.version, c.effect
		fleet.acknowledge(of.id, c)
		<-time.After(clientPause)
	}
}

// eventBody fills the body of a write of an event.
func (fleet *fleet) eventBody(dice *rand.Rand, body map[string]any, change *change) {
	if change.version == 1 {
		body["start_date"], body["end_date"] = fmt.Sprintf("2031-%02d-10 10:00", 1+dice.IntN(12)), "2031-12-20 12:00"
	}
	come := func(name string) string {
		fleet.mu.Lock()
		defer fleet.mu.Unlock()
		fleet.made[name] = true
		return name
	}
	if dice.IntN(3) == 0 {
		body["venue"] = map[string]any{"venue": come("Hall of " + change.name)}
	}
	if dice.IntN(3) == 0 {
		body["tags"] = []string{"jazz", "folk", come("tag of " + strings.ToLower(change.name))}
	}
}

// versionOf returns the version in which a name was given.
func versionOf(name string) int64 {
	_, text, _ := strings.Cut(name, " v")
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// listed is an answer of a list of events.
type listed struct {
	Total  int
	Events []struct {
		ID            calendar.ID
		Title, Status string
	}
}

// list asks for a list and looks whether what is shown was ever so, and not
// before the position that the list states.
func (fleet *fleet) list(which int, path string, header ...string) (*listed, calendar.Position, bool) {
	status, h, data := fleet.ask(which, http.MethodGet, path, "", header...)
	switch {
	case isRefusal(status, h), status == 0 && fleet.apisDie:
		fleet.listsRefused.Add(1)
		return nil, 0, false
	case status != http.StatusOK:
		fleet.t.Errorf("GET %s: %d %s", path, status, data)
		return nil, 0, false
	}
	l := &listed{}
	at, err := strconv.ParseUint(h.Get("Daybook-Position"), 10, 64)
	if err := errors.Join(err, json.Unmarshal(data, l)); err != nil {
		fleet.t.Errorf("GET %s: %v: %s", path, err, data)
		return nil, 0, false
	}
	fleet.lists.Add(1)
	fleet.mu.Lock()
	defer fleet.mu.Unlock()
	for _, e := range l.Events {
		name := "" // the oldest that may be shown
		for _, done := range fleet.effects[e.ID] {
			if done.position > 0 && done.position <= calendar.Position(at) {
				name = done.name
			}
		}
		if versionOf(e.Title) < versionOf(name) {
			fleet.t.Errorf("GET %s: event %d is shown as %q at position %d, was %q before", path, e.ID, e.Title, at, name)
		}
	}
	return l, calendar.Position(at), true
}

// coming is a window that all events are in.
const coming = "start_date=2030-01-01&end_date=2032-12-31"

// looks asks for lists as everybody sees them, or for those that show the newest write.
func (fleet *fleet) looks(anonymous bool) {
	for n := 0; !fleet.stopped(); n++ {
		fleet.mu.Lock()
		want, header := fleet.position, []string(nil)
		fleet.mu.Unlock()
		if !anonymous {
			header = []string{"Authorization", "Bearer " + fleet.token, "Daybook-Min-Position", want.String()}
		}
		listed, position, ok := fleet.list(n, "/events?per_page=50&"+coming, header...)
		switch {
		case !ok:
		case !anonymous && position < want:
			fleet.t.Errorf("a list shows position %d, asked for %d", position, want)
		case anonymous:
			for _, e := range listed.Events {
				if e.Status != "publish" {
					fleet.t.Errorf("everybody is shown event %d with status %s", e.ID, e.Status)
				}
			}
		}
		<-time.After(clientPause)
	}
}

// readsSingle reads events that were written.
func (fleet *fleet) readsSingle() {
	for n := 0; !fleet.stopped(); n++ {
		<-time.After(clientPause)
		var id calendar.ID
		version := 0
		fleet.mu.Lock()
		for id = range fleet.effects { // in no order
			version = len(fleet.effects[id])
			break
		}
		fleet.mu.Unlock()
		if version == 0 {
			continue
		}
		// One of five paths has it.
		status, header, data := 0, http.Header(nil), []byte(nil)
		for _, collection := range []string{"events", "venues", "organizers", "categories", "tags"} {
			status, header, data = fleet.ask(n, http.MethodGet, fmt.Sprintf("/%s/%d", collection, id), "", "Authorization", "Bearer "+fleet.token)
			if status != http.StatusNotFound {
				break
			}
		}
		switch {
		case status == http.StatusOK:
			fleet.reads.Add(1)
			got, _, _ := strings.Cut(strings.Trim(header.Get("ETag"), `"`), "-")
			if v, err := strconv.Atoi(got); err != nil || v < version {
				fleet.t.Errorf("record %d is read in version %q after %d was acknowledged", id, got, version)
			}
		case status == http.StatusForbidden, status == http.StatusNotFound: // trashed, a term that is gone
		case isRefusal(status, header) && fleet.storeFails.Load(), status == 0 && fleet.apisDie:
			fleet.readsRefused.Add(1)
		default:
			fleet.t.Errorf("read of record %d: %d %s", id, status, data)
		}
	}
}

// heals ends the clients and waits until every process is well and lists show
// all that was written.
func (fleet *fleet) heals(processes ...*server) {
	fleet.t.Helper()
	fleet.rest()
	if fleet.t.Failed() {
		fleet.t.FailNow()
	}
	for i := range fleet.apis {
		processes = append(processes, fleet.apis[i].Load())
	}
	took := eventually(fleet.t, "healing without a hand", func() bool {
		for _, server := range processes {
			v := server.state()
			if v["code"] != http.StatusOK || v["status"] != "ok" {
				return false
			}
			if shows, told := v["visible"]; told && (shows != v["head"] || v["quarantined"] != 0.0) {
				return false
			}
			if v["relay"] == "active" && v["published"] != v["head"] {
				return false
			}
		}
		return true
	})
	fleet.t.Logf("healed %s after the last write; %s", took.Round(time.Millisecond), &fleet.told)
}

// open opens the store next to the processes.
func (fleet *fleet) open() *postgres.Store {
	fleet.t.Helper()
	store, err := postgres.Open(fleet.t.Context(), fleet.servers.store, postgres.Options{Schema: fleet.schema})
	if err != nil {
		fleet.t.Fatal(err)
	}
	fleet.t.Cleanup(func() { _ = store.Close() })
	return store
}

// check looks whether the store has every acknowledged write with its effect and
// no other one, and lists equal the store.
func (fleet *fleet) check() {
	fleet.t.Helper()
	store := fleet.open()
	last := fleet.checkEntries(store)
	fleet.checkLists(last)
	args := []string{"verify", "--store", fleet.servers.store, "--store-schema", fleet.schema}
	if out := mustTool(fleet.t, args...); !strings.Contains(out, "chain head") {
		fleet.t.Errorf("verify: %q", out)
	}
}

// checkEntries returns the present records of the five kinds.
func (fleet *fleet) checkEntries(store eventstore.Store) map[calendar.ID]*calendar.Record {
	fleet.t.Helper()
	last := map[calendar.ID]*calendar.Record{}
	byName := map[string]calendar.ID{}
	requests := map[calendar.Position]string{}
	versions := map[calendar.ID]int64{}
	for position := calendar.Position(0); ; {
		entries, err := store.Read(fleet.t.Context(), eventstore.Range{After: uint64(position), Limit: 500})
		if err != nil {
			fleet.t.Fatal(err)
		}
		if len(entries) == 0 {
			break
		}
		for _, entry := range entries {
			if position++; entry.Position != position {
				fleet.t.Fatalf("position %d after %d", entry.Position, position-1)
			}
			requests[position] = entry.Cause.Request
			if versions[entry.ID]++; entry.Version != versions[entry.ID] {
				fleet.t.Errorf("record %d: version %d after %d", entry.ID, entry.Version, versions[entry.ID]-1)
			}
			if !entry.Kind.IsPost() && !entry.Kind.IsTerm() {
				continue
			}
			rec, err := calendar.DecodeRecord(entry.State)
			if err != nil {
				fleet.t.Fatal(err)
			}
			last[entry.ID] = rec
			name, _ := rec.Name(rec.Home)
			if other, used := byName[name]; used && other != entry.ID {
				fleet.t.Errorf("records %d and %d are both named %q: one write had two effects", other, entry.ID, name)
			}
			byName[name] = entry.ID
			effects, known := fleet.effects[entry.ID]
			if !known {
				if shared := name == "jazz" || name == "folk"; !shared && !fleet.made[name] {
					fleet.t.Errorf("%s %d %q comes of no write that was acknowledged", entry.Kind, entry.ID, name)
				}
				continue
			}
			if int(entry.Version) > len(effects) {
				fleet.t.Errorf("%s %d has version %d (%q), %d writes were acknowledged", entry.Kind, entry.ID, entry.Version, name, len(effects))
				continue
			}
			want := effects[entry.Version-1]
			trashed := rec.Fields.String("status") == string(calendar.StatusTrash)
			if name != want.name || trashed != want.trashed || rec.Deleted != want.removed {
				fleet.t.Errorf("%s %d, version %d: got %q, trashed %t, gone %t, want %+v", entry.Kind, entry.ID, entry.Version, name, trashed, rec.Deleted, want)
			}
		}
	}
	n := 0
	for id, effects := range fleet.effects {
		n += len(effects)
		if int(versions[id]) != len(effects) {
			fleet.t.Errorf("record %d has %d versions, %d writes were acknowledged", id, versions[id], len(effects))
		}
		for i, effect := range effects {
			if effect.position > 0 && requests[effect.position] == "" {
				fleet.t.Errorf("record %d, write %d: nothing was written at position %d by a request", id, i+1, effect.position)
			}
		}
	}
	fleet.t.Logf("%d writes of %d records are in the store, once each, in %d entries", n, len(fleet.effects), len(requests))
	return last
}

// checkLists walks all lists over all pages.
func (fleet *fleet) checkLists(last map[calendar.ID]*calendar.Record) {
	fleet.t.Helper()
	counts := map[calendar.ID]float64{} // of terms, by the listed events of the store
	want := map[string]map[calendar.ID]string{}
	for id, rec := range last {
		if rec.Deleted {
			continue
		}
		collection := rec.Kind.Collection()
		if want[collection] == nil {
			want[collection] = map[calendar.ID]string{}
		}
		name, _ := rec.Name(rec.Home)
		want[collection][id] = name + " " + rec.Fields.String("status")
		if rec.Kind == calendar.KindEvent && rec.Fields.String("status") == string(calendar.StatusPublish) {
			for _, field := range []string{"categories", "tags"} {
				for _, term := range rec.Fields.IDs(field) {
					counts[term]++
				}
			}
		}
	}
	const all = "status=publish,future,draft,pending,private,trash"
	for collection, query := range map[string]string{
		"events": all + "&" + coming, "venues": all, "organizers": all, "categories": "hide_empty=false&orderby=id", "tags": "hide_empty=false&orderby=id",
	} {
		got := map[calendar.ID]string{}
		for page, pages := 1, 1; page <= pages; page++ {
			path := fmt.Sprintf("/%s?per_page=100&page=%d&%s", collection, page, query)
			status, _, data := fleet.ask(page, http.MethodGet, path, "", "Authorization", "Bearer "+fleet.token)
			if status != http.StatusOK {
				fleet.t.Errorf("GET %s: %d %s", path, status, data)
				break
			}
			var answer map[string]json.RawMessage
			var records []json.RawMessage
			var total int
			if err := errors.Join(json.Unmarshal(data, &answer), json.Unmarshal(answer[collection], &records),
				json.Unmarshal(answer["total_pages"], &pages), json.Unmarshal(answer["total"], &total)); err != nil {
				fleet.t.Fatalf("GET %s: %v", path, err)
			}
			if total != len(want[collection]) {
				fleet.t.Errorf("GET %s: total %d, the store has %d", path, total, len(want[collection]))
			}
			for _, raw := range records {
				var r struct {
					ID                                    calendar.ID
					Title, Venue, Organizer, Name, Status string
					Count                                 float64
				}
				// A venue's own name is a text, that of an event an object.
				_ = json.Unmarshal(raw, &r)
				if _, twice := got[r.ID]; twice {
					fleet.t.Errorf("%s %d is listed twice", collection, r.ID)
				}
				name := r.Title
				switch collection {
				case "venues":
					name = r.Venue
				case "organizers":
					name = r.Organizer
				case "categories", "tags":
					name = r.Name
					if r.Count != counts[r.ID] {
						fleet.t.Errorf("%s %d %q: count %v, the store has %v", collection, r.ID, name, r.Count, counts[r.ID])
					}
				}
				got[r.ID] = name + " " + r.Status
			}
		}
		if len(want[collection]) == 0 {
			fleet.t.Errorf("no %s were written", collection)
		}
		for id, text := range want[collection] {
			if got[id] != text {
				fleet.t.Errorf("%s %d: listed as %q, the store has %q", collection, id, got[id], text)
			}
		}
		if len(got) != len(want[collection]) {
			fleet.t.Errorf("%d %s are listed, the store has %d", len(got), collection, len(want[collection]))
		}
	}
}

// counter returns the value of a metric of a process, 0 when it has none.
func (server *server) counter(name string) float64 {
	_, data := server.try(http.MethodGet, server.host+pathMetrics, "", "")
	for line := range bytes.Lines(data) {
		if v, ok := bytes.CutPrefix(line, []byte(name+" ")); ok {
			n, _ := strconv.ParseFloat(string(bytes.TrimSpace(v)), 64)
			return n
		}
	}
	return 0
}

// signal sends a signal to a process.
func (server *server) signal(sig syscall.Signal) {
	server.t.Helper()
	if err := syscall.Kill(server.cmd.Process.Pid, sig); err != nil {
		server.t.Fatal(err)
	}
}
