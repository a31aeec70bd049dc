package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	testengines "daybook/internal/testkit/engines"
)

// size is the distributed size on the engines of the tests.
type size struct {
	t    *testing.T
	args []string
}

func newSize(t *testing.T) *size {
	t.Helper()
	store, schema := testengines.Shared(t, testengines.Postgres)
	nats, feedPrefix := testengines.Shared(t, testengines.NATS)
	index, prefix := testengines.Shared(t, testengines.Elasticsearch)
	return &size{t, []string{"--store", store, "--store-schema", schema, "--feed", nats, "--feed-prefix", feedPrefix, "--index", index, "--index-prefix", prefix}}
}

// serve starts a process of a role and waits until it is ready.
func (size *size) serve(role string) *server {
	size.t.Helper()
	return startServer(size.t, append([]string{"serve", "--role", role}, size.args...)...)
}

// on returns the arguments of a command that takes only some of the settings.
func (size *size) on(command []string, settings ...string) []string {
	for i := 0; i < len(size.args); i += 2 {
		for _, text := range settings {
			if strings.HasPrefix(size.args[i], "--"+text) {
				command = append(command, size.args[i], size.args[i+1])
			}
		}
	}
	return command
}

// state gives what /health/ready tells.
func (server *server) state() (v map[string]any) {
	status, data := server.try("GET", server.host+pathReady, "", "")
	_ = json.Unmarshal(data, &v)
	if v == nil {
		v = map[string]any{}
	}
	v["code"] = status
	return v
}

// eventually waits for something that comes by itself, and tells how long it took.
func eventually(t *testing.T, what string, is func() bool) time.Duration {
	t.Helper()
	from := time.Now()
	for !is() {
		if time.Since(from) > limit {
			t.Fatalf("%s: not within %s", what, limit)
		}
		<-time.After(50 * time.Millisecond) // looking takes processors from what it waits for
	}
	return time.Since(from)
}

// active tells which of two processes of a role is active.
func active(t *testing.T, role string, pair []*server) (first, second *server) {
	t.Helper()
	eventually(t, "one active "+role, func() bool {
		first, second = nil, nil
		for i, server := range pair {
			if server.state()[role] == "active" {
				first, second = server, pair[1-i]
			}
		}
		return first != nil
	})
	if v := second.state(); v[role] != "standby" {
		t.Errorf("the other %s is %v", role, v)
	}
	return first, second
}

// TestDistributed runs the roles as processes of their own: what one api process
// writes the other shows, and relay and projector are replaced when they die.
func TestDistributed(t *testing.T) {
	t.Parallel()
	size := newSize(t)
	// All at once, as a cluster starts them: one of them makes the schema, the
	// indices and the administrator.
	var apis, relays, projectors [2]*server
	var group sync.WaitGroup
	for i := range 2 {
		group.Go(func() { apis[i] = size.serve("api") })
		group.Go(func() { relays[i] = size.serve("relay") })
		group.Go(func() { projectors[i] = size.serve("projector") })
	}
	group.Wait()
	if t.Failed() {
		return
	}
	a, b := apis[0], apis[1]
	if (a.token == "") == (b.token == "") {
		t.Fatalf("tokens of the administrator: %t and %t, want one", a.token != "", b.token != "")
	}
	token := a.token + b.token

	n := 0
	// write writes by one process, reads by the other, and lists there.
	write := func(a, b *server) {
		t.Helper()
		e := a.want(201, "POST", "/events", token, concert)
		n++
		if got := b.want(200, "GET", "/events/"+idOf(e), "", ""); got["title"] != "Quay concert" {
			t.Errorf("the other process reads %v", got)
		}
		got := a.want(200, "PATCH", "/events/"+idOf(e), token, fmt.Sprintf(`{"title":"Concert %d"}`, n))
		if read := b.want(200, "GET", "/events/"+idOf(e), "", ""); read["title"] != got["title"] {
			t.Errorf("the other process reads %v after %v", read["title"], got["title"])
		}
		list := b.want(200, "GET", "/events?per_page=1&search=Concert+"+fmt.Sprint(n), token, "")
		if total := b.want(200, "GET", "/events?per_page=1", token, "")["total"]; total != float64(n) || list["total"] == 0.0 {
			t.Errorf("the other process lists %v events and finds %v, want %d", total, list["total"], n)
		}
	}
	write(a, b)
	write(b, a)

	first, second := active(t, "relay", relays[:])
	first.kill()
	write(a, b) // the projector reads the store where the feed has nothing
	took := eventually(t, "the other relay", func() bool {
		v := second.state()
		return v["relay"] == "active" && v["published"] == v["head"]
	})
	if took > time.Minute {
		t.Errorf("relay replaced after %s", took)
	}
	write(b, a)

	first, second = active(t, "projector", projectors[:])
	first.kill()
	if took := eventually(t, "the other projector", func() bool { return second.state()["projector"] == "active" }); took > time.Minute {
		t.Errorf("projector replaced after %s", took)
	}
	write(a, b)

	// Commands work on the servers, next to all processes.
	user := strings.TrimSpace(mustTool(t, size.on([]string{"user", "add", "ada", "--role", "editor"}, "store")...))
	for _, s := range apis {
		s.want(200, "GET", "/venues", user, "")
	}
	mustTool(t, size.on([]string{"user", "revoke", "ada"}, "store")...)
	for _, s := range apis {
		s.want(401, "GET", "/venues", user, "")
	}
	if _, err := os.Stat("daybook-data"); err == nil {
		t.Error("roles on servers made a data directory")
	}

	// A rebuild while all goes on: no list fails.
	stop := make(chan struct{})
	group.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if status, data := b.try("GET", b.root+"/events?per_page=1", "", ""); status != 200 {
				t.Errorf("list during a rebuild: %d %s", status, data)
				return
			}
		}
	})
	if out := mustTool(t, size.on([]string{"rebuild"}, "store", "index")...); !strings.Contains(out, "agrees") {
		t.Errorf("rebuild: %q", out)
	}
	write(a, b)
	close(stop)
	group.Wait()
	for _, s := range []*server{a, b, second} {
		s.ends()
	}
}

// TestListsDuringRebuilds: while records are written, and the read model is rebuilt and
// records are erased by other processes, no list of any kind is older than the position
// that it was asked for.
func TestListsDuringRebuilds(t *testing.T) {
	t.Parallel()
	skipIfShort(t)
	const rebuilds, erasures = 2, 1
	size := newSize(t)
	var lines strings.Builder
	for i := range 500 { // so that a rebuild takes a moment
		fmt.Fprintf(&lines, `{"action":"create","kind":"tag","key":"t%d","fields":{"name":"tag %d"}}`+"\n", i, i)
	}
	importText(t, strings.NewReader(lines.String()), size.on(nil, "store")...)
	all := size.serve("all")
	api := size.serve("api")
	token := all.token
	eventually(t, "lists", func() bool { status, _ := api.try("GET", api.root+"/events", "", ""); return status == 200 })
	ctx, stop := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	defer clients.Wait()
	defer stop() // before the wait for the clients
	var lists, late, back atomic.Int64
	type written struct {
		id string
		at int64
	}
	var newest atomic.Pointer[written]
	write := func(s *server) {
		status, h, data := s.full("POST", s.root+"/events", token, concert, nil)
		if status != 201 {
			t.Errorf("write: %d %s", status, data)
			return
		}
		at, _ := strconv.ParseInt(h.Get("Daybook-Position"), 10, 64)
		id := strings.TrimPrefix(h.Get("Location"), s.root+"/events/")
		newest.Store(&written{id, at})
	}
	write(all)
	clients.Go(func() {
		for ctx.Err() == nil {
			write(all)
			<-time.After(50 * time.Millisecond)
		}
	})
	for i, path := range []string{"/events?include=%s&", "/events?include=%s&facets=city&", "/events.csv?include=%s&", "/events?include=%s&per_page=7&"} {
		clients.Go(func() {
			var last int64
			for n := 0; ctx.Err() == nil; n++ {
				w, s := newest.Load(), []*server{all, api}[i%2]
				header, as := map[string]string{"Daybook-Min-Position": strconv.FormatInt(w.at, 10)}, ""
				began := time.Now()
				if i == 3 { // what is written is found by its writer, within the longest wait
					header, as = nil, token
				}
				status, h, data := s.full("GET", s.root+fmt.Sprintf(path, w.id)+"start_date=2020-01-01&n="+strconv.Itoa(n), as, "", header) //nolint:contextcheck // the request has a limit of its own
				if status == 503 && h.Get("Retry-After") != "" || i == 3 && time.Since(began) > 4*time.Second {
					late.Add(1)
					continue
				}
				at, _ := strconv.ParseInt(h.Get("Daybook-Position"), 10, 64)
				lists.Add(1)
				if status != 200 || at < w.at || h.Get("X-Total") != "1" {
					t.Errorf("%s of %s: %d at %d with %s events, asked for event %s at %d: %.200s", path, s.root, status, at, h.Get("X-Total"), w.id, w.at, data)
				}
				if at < last {
					back.Add(1)
				}
				last = at
			}
		})
	}
	const enough = 50 // lists; a busy machine takes more rebuilds until there are so many
	for i := 0; i < rebuilds || i < 10*rebuilds && lists.Load() < enough && !t.Failed(); i++ {
		mustTool(t, size.on([]string{"rebuild"}, "store", "index")...)
		if i < erasures {
			made := all.want(201, "POST", "/venues", token, `{"venue":"Hall"}`)
			mustTool(t, size.on([]string{"erase", "venue", idOf(made), "--reason", "asked for", "--yes"}, "store", "feed", "index")...)
		}
	}
	stop()
	clients.Wait()
	t.Logf("%d lists, %d more were late, positions went back %d times", lists.Load(), late.Load(), back.Load())
	if lists.Load() < enough {
		t.Errorf("%d lists only", lists.Load())
	}
}
