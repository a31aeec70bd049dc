package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/eventstore/sqlite"
)

const concert = `{"title":"Quay concert","start_date":"tomorrow 7pm","end_date":"tomorrow 9pm","venue":{"venue":"River Hall"}}`

func TestServeDrainAndStartAgain(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := startServer(t, "serve", "--data", data)
	if s.token == "" {
		t.Fatal("the first start printed no token")
	}
	e := s.want(201, "POST", "/events", s.token, concert)
	if status := s.drain(); status != exitOK {
		t.Fatalf("drained with status %d\n%s", status, s.log())
	}
	if _, err := os.Stat(filepath.Join(data, snapshotFile)); err != nil {
		t.Errorf("no snapshot after draining: %v", err)
	}
	again := startServer(t, "serve", "--data", data)
	if again.token != "" {
		t.Error("the second start printed a token")
	}
	if got := again.want(200, "GET", "/events/"+idOf(e), "", ""); got["title"] != "Quay concert" {
		t.Errorf("got title %v after the second start", got["title"])
	}
	if list := again.want(200, "GET", "/events", "", ""); list["total"] != 1.0 {
		t.Errorf("got total %v from the snapshot, want 1", list["total"])
	}
}

func TestOneProcessHoldsADirectory(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	startServer(t, "serve", "--data", data)
	_, errText, status := tool(t, nil, "serve", "--data", data, "--listen", "127.0.0.1:0")
	if status != exitFailed || !strings.Contains(errText, "in use") {
		t.Errorf("a second server: got status %d and %q", status, errText)
	}
}

// stored gives the state and the number of changes of every record.
func stored(t *testing.T, data string) map[string]string {
	t.Helper()
	states := make(map[string]string)
	for line := range strings.Lines(mustTool(t, "export", "--data", data)) {
		var e struct {
			Kind    string
			ID      int64
			Version int64
			State   json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		states[fmt.Sprintf("%s %d", e.Kind, e.ID)] = fmt.Sprintf("%d %s", e.Version, e.State)
	}
	return states
}

// TestKillDuringWrites kills the service at a random write and starts it again:
// every acknowledged write is there, no half of one is.
func TestKillDuringWrites(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := startServer(t, "serve", "--data", data)
	token := s.token
	const writers = 4
	acknowledged := make(map[string]string) // id → title
	tried := 0
	for round := range 3 {
		var (
			wg    sync.WaitGroup
			mu    sync.Mutex
			count atomic.Int64
			dead  atomic.Bool
		)
		killAt := 5 + rand.Int64N(40)
		for w := range writers {
			wg.Go(func() {
				for i := 0; !dead.Load(); i++ {
					title := fmt.Sprintf("round %d writer %d event %d", round, w, i)
					body := fmt.Sprintf(`{"title":%q,"start_date":"tomorrow 7pm","end_date":"tomorrow 9pm","venue":{"venue":"Hall of %s"},"tags":["tag of %s"]}`, title, title, title)
					status, b := s.try("POST", s.root+"/events", token, body)
					mu.Lock()
					tried++
					mu.Unlock()
					if status == 0 {
						return
					}
					var e struct{ ID int64 }
					if err := json.Unmarshal(b, &e); status != 201 || err != nil {
						t.Errorf("got %d %s", status, b)
						return
					}
					mu.Lock()
					acknowledged[fmt.Sprint(e.ID)] = title
					mu.Unlock()
					if count.Add(1) == killAt {
						s.kill()
						dead.Store(true)
					}
				}
			})
		}
		wg.Wait()
		if !dead.Load() {
			t.Fatal("the service was not killed")
		}
		s = startServer(t, "serve", "--data", data)
		for id, title := range acknowledged {
			e := s.want(200, "GET", "/events/"+id, "", "")
			venue, _ := e["venue"].(map[string]any)
			tags, _ := e["tags"].([]any)
			if e["title"] != title || venue["venue"] != "Hall of "+title || len(tags) != 1 {
				t.Errorf("event %s: got %v at %v with tags %v, want %q whole", id, e["title"], venue["venue"], tags, title)
			}
		}
		// What was not acknowledged is there whole or not at all: as many venues
		// and tags as events.
		events := s.want(200, "GET", "/events?per_page=1", token, "")["total"].(float64)
		venues := s.want(200, "GET", "/venues?per_page=1", token, "")["total"].(float64)
		tags := s.want(200, "GET", "/tags?per_page=1&hide_empty=0", token, "")["total"].(float64)
		if events != venues || events != tags || int(events) < len(acknowledged) || int(events) > tried {
			t.Errorf("got %v events, %v venues, %v tags after %d acknowledged of %d tried", events, venues, tags, len(acknowledged), tried)
		}
	}
	mustTool(t, "verify", "--data", data)
}

// TestDerivedFilesMayGo deletes what is derived and starts again.
func TestDerivedFilesMayGo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		remove []string
	}{
		{"feed", []string{"jetstream"}},
		{"snapshot", []string{snapshotFile}},
		{"both", []string{"jetstream", snapshotFile}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "data")
			s := startServer(t, "serve", "--data", data)
			token := s.token
			for range 12 {
				s.want(201, "POST", "/events", token, concert)
			}
			s.drain()
			before := stored(t, data)
			for _, name := range c.remove {
				path := filepath.Join(data, name)
				if _, err := os.Stat(path); err != nil {
					t.Fatalf("nothing to delete: %v", err)
				}
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
			}
			s = startServer(t, "serve", "--data", data)
			if got := s.want(200, "GET", "/events", "", "")["total"]; got != 12.0 {
				t.Errorf("got %v events, want 12", got)
			}
			s.want(201, "POST", "/events", token, concert)
			if got := s.want(200, "GET", "/events", token, "")["total"]; got != 13.0 {
				t.Errorf("got %v events after one more, want 13", got)
			}
			s.drain()
			after := stored(t, data)
			for k, v := range before {
				if after[k] != v {
					t.Errorf("%s: got %s, want %s", k, after[k], v)
				}
			}
		})
	}
}

// TestDamagedSnapshot starts on a snapshot with a flipped byte.
func TestDamagedSnapshot(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := startServer(t, "serve", "--data", data)
	s.want(201, "POST", "/events", s.token, concert)
	s.drain()
	path := filepath.Join(data, snapshotFile)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 0x10
	// And one that a killed process was writing.
	for _, path := range []string{path, path + ".123.tmp"} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = startServer(t, "serve", "--data", data)
	if got := s.want(200, "GET", "/events", "", "")["total"]; got != 1.0 {
		t.Errorf("got %v events, want 1", got)
	}
	if _, err := os.Stat(path + ".123.tmp"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was left of a snapshot is still there (%v)", err)
	}
}

func TestDemo(t *testing.T) {
	t.Parallel()
	s := startServer(t, "demo", "--timezone", "Europe/Rome")
	list := s.want(200, "GET", "/events?start_date=-1%20year", "", "")
	if got := list["total"]; got != float64(demoEvents) {
		t.Errorf("got %v events, want %d", got, demoEvents)
	}
	if got := s.want(200, "GET", "/events", "", "")["total"].(float64); got < 50 {
		t.Errorf("the default list has %v events, want many", got)
	}
	if got := s.want(200, "GET", "/events?geoloc_lat=48.86&geoloc_lng=2.35&geoloc_radius=50", "", "")["total"].(float64); got == 0 {
		t.Error("no event near Paris")
	}
	var dir string
	for line := range strings.Lines(s.log()) {
		dir += line
	}
	if s.drain() != exitOK {
		t.Error("the demo did not end well")
	}
}

func TestRebuildWhileServing(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := startServer(t, "serve", "--data", data)
	for range 20 {
		s.want(201, "POST", "/events", s.token, concert)
	}
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Go(func() {
		for n := 20; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			if status, b := s.try("POST", s.root+"/events", s.token, concert); status != 201 {
				t.Errorf("write during rebuild: %d %s", status, b)
				return
			}
			if status, b := s.try("GET", s.root+"/events?per_page=1", "", ""); status != 200 || strings.Contains(string(b), `"total":0`) {
				t.Errorf("list during rebuild: %d %s", status, b)
				return
			}
		}
	})
	for range 3 {
		out := mustTool(t, "rebuild", "--data", data)
		if !strings.Contains(out, "agrees") {
			t.Errorf("got %q", out)
		}
	}
	close(stop)
	wg.Wait()
	events := s.want(200, "GET", "/events?per_page=1", s.token, "")["total"].(float64)
	n := 0.0
	for k := range stored(t, data) {
		if strings.HasPrefix(k, "event ") {
			n++
		}
	}
	if events != n {
		t.Errorf("lists show %v events, the store has %v", events, n)
	}
}

// TestRebuildBack: the image that a rebuild replaced comes back with all that was
// written since, and goes again, while the service runs and while it does not.
func TestRebuildBack(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := startServer(t, "serve", "--data", data)
	if _, errText, status := tool(t, nil, "rebuild", "--back", "--data", data); status != exitFailed || !strings.Contains(errText, "no older generation") {
		t.Errorf("before any rebuild: status %d and %q", status, errText)
	}
	n := 0.0
	more := func() {
		t.Helper()
		s.want(201, "POST", "/events", s.token, concert)
		n++
		if got := s.want(200, "GET", "/events?per_page=1", s.token, "")["total"]; got != n {
			t.Errorf("got %v events, want %v", got, n)
		}
	}
	more()
	mustTool(t, "rebuild", "--data", data)
	more()
	for range 2 {
		mustTool(t, "rebuild", "--back", "--data", data)
		more()
	}
	token := s.token
	s.drain()
	mustTool(t, "rebuild", "--data", data)
	mustTool(t, "rebuild", "--back", "--data", data)
	s = startServer(t, "serve", "--data", data)
	s.token = token
	more()
}

// TestSnapshotOfAnotherStore: an image is not taken for that of a store which
// came into its place, however many entries that has.
func TestSnapshotOfAnotherStore(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := startServer(t, "serve", "--data", data)
	s.want(201, "POST", "/events", s.token, concert)
	s.drain()
	s = startServer(t, "serve", "--data", data)
	s.drain()
	for _, name := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(filepath.Join(data, sqlite.FileName+name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	mustTool(t, "user", "add", "first", "--role", "editor", "--new-log", "--data", data)
	for range 8 {
		mustTool(t, "user", "add", fmt.Sprint("user", rand.Int64()), "--role", "editor", "--data", data)
	}
	s = startServer(t, "serve", "--data", data)
	if got := s.want(200, "GET", "/events?per_page=1", "", "")["total"]; got != 0.0 {
		t.Errorf("got %v events of another store", got)
	}
}

// TestFailedStartKeepsTheToken: a start that fails makes no administrator, so
// the start that works shows his token.
func TestFailedStartKeepsTheToken(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	for _, args := range [][]string{{"--api-prefix", "fr"}, {"--base-url", "https://name:word@calendar.example.org"}, {"--more-prefixes", "rest,es/api"}} {
		args = append([]string{"serve", "--data", data, "--listen", "127.0.0.1:0"}, args...)
		if _, errText, status := tool(t, nil, args...); status != exitUsage || errText == "" {
			t.Errorf("daybook %v: status %d and %q", args, status, errText)
		}
		if _, err := os.Stat(data); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("daybook %v made the data directory (%v)", args, err)
		}
	}
	// A socket that cannot be made is found when all else is open already.
	inTheWay := filepath.Join(data, socketName)
	if err := os.MkdirAll(filepath.Join(inTheWay, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, errText, status := tool(t, nil, "serve", "--data", data, "--listen", "127.0.0.1:0"); status != exitFailed || !strings.Contains(errText, "control socket") {
		t.Errorf("serve with a folder for a socket: status %d and %q", status, errText)
	}
	if err := os.RemoveAll(inTheWay); err != nil {
		t.Fatal(err)
	}
	s := startServer(t, "serve", "--data", data)
	if s.token == "" {
		t.Fatal("the first start that works shows no token")
	}
	s.want(201, "POST", "/events", s.token, concert)
}

// TestWriteAnswersAsRead: the answer to a write has the ETag of the read after
// it, counts of terms included (interface 2.9).
func TestWriteAnswersAsRead(t *testing.T) {
	t.Parallel()
	s := startServer(t, "serve", "--data", filepath.Join(t.TempDir(), "data"))
	compare := func(method, path, body string, want int) string {
		t.Helper()
		status, wrote, b := s.full(method, s.root+path, s.token, body, nil)
		var r struct {
			ID       int64
			Taxonomy string
		}
		if err := json.Unmarshal(b, &r); status != want || err != nil {
			t.Fatalf("%s %s: %d %s", method, path, status, b)
		}
		self := fmt.Sprintf("/events/%d", r.ID)
		if r.Taxonomy != "" {
			self = fmt.Sprintf("/tags/%d", r.ID)
		}
		if _, read, after := s.full("GET", s.root+self, s.token, "", nil); read.Get("ETag") != wrote.Get("ETag") {
			t.Errorf("%s %s: ETag %s, read %s\n%s\n%s", method, path, wrote.Get("ETag"), read.Get("ETag"), b, after)
		}
		return self
	}
	tag := compare("POST", "/tags", `{"name":"counted"}`, 201)
	for i := range 20 {
		event := compare("POST", "/events", `{"title":"Concert","start_date":"tomorrow","end_date":"tomorrow","tags":["counted","more"],"categories":["c"]}`, 201)
		compare("PATCH", event, `{"tags":["counted"],"status":"draft"}`, 200)
		compare("PUT", event, `{"status":"publish"}`, 200)
		compare("PATCH", tag, fmt.Sprintf(`{"description":"%d"}`, i), 200)
	}
}

// TestRepeatedAfterARestart: a repeated request gets the bytes of the first answer
// from another process too, at another address, whatever changed meanwhile. After a
// kill that came before the remainder of the answer was written, the record is still
// that of the first answer.
func TestRepeatedAfterARestart(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := startServer(t, "serve", "--data", data)
	token := s.token
	type answer struct {
		status int
		header http.Header
		body   string
	}
	send := func(key string) answer {
		t.Helper()
		status, h, b := s.full("POST", s.root+"/events", token,
			`{"title":"Concert","start_date":"2030-05-01","end_date":"2030-05-01","venue":{"venue":"Hall"},"tags":"loud","categories":["art","open air"]}`,
			map[string]string{"Idempotency-Key": key})
		if status != http.StatusCreated {
			t.Fatalf("%s: %d %s", key, status, b)
		}
		h.Del("Date")
		h.Del("X-Request-Id")
		return answer{status, h, string(b)}
	}
	change := func() {
		t.Helper()
		for _, collection := range []string{"venues", "tags", "categories", "events"} {
			list := s.want(200, "GET", "/"+collection+"?hide_empty=0", token, "")
			for _, r := range list[collection].([]any) {
				path := "/" + collection + "/" + idOf(r.(map[string]any))
				s.want(200, "PATCH", path, token, `{"description":"changed"}`)
			}
		}
	}
	repeated := func(first answer) answer {
		first.header = first.header.Clone()
		first.header.Set("Idempotency-Replayed", "true")
		return first
	}
	first := send("first")
	s.drain()
	s = startServer(t, "serve", "--data", data)
	change()
	if diff := cmp.Diff(repeated(first), send("first"), cmp.AllowUnexported(answer{})); diff != "" {
		t.Errorf("after a restart (-first +again):\n%s", diff)
	}
	second := send("second")
	s.kill()
	s = startServer(t, "serve", "--data", data)
	var was, is map[string]any
	got := send("second")
	if err := errors.Join(json.Unmarshal([]byte(second.body), &was), json.Unmarshal([]byte(got.body), &is)); err != nil {
		t.Fatal(err)
	}
	if was["id"] != is["id"] || was["title"] != is["title"] || got.header.Get("Daybook-Position") != second.header.Get("Daybook-Position") ||
		got.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("after a kill: %v\n%s", got.header, got.body)
	}
}

// TestReadMaxAge: how long answers may be kept is the operator's choice.
func TestReadMaxAge(t *testing.T) {
	t.Parallel()
	s := startServer(t, "serve", "--data", filepath.Join(t.TempDir(), "data"), "--read-max-age", "30")
	for _, path := range []string{"", "/events", "/doc"} {
		if _, h, _ := s.full("GET", s.root+path, "", "", nil); h.Get("Cache-Control") != "public, max-age=30, stale-while-revalidate=30" {
			t.Errorf("%s: Cache-Control %q", path, h.Get("Cache-Control"))
		}
	}
	if _, h, _ := s.full("GET", s.root+"/events", s.token, "", nil); h.Get("Cache-Control") != "no-store, private" {
		t.Errorf("with credentials: Cache-Control %q", h.Get("Cache-Control"))
	}
	for _, wrong := range []string{"-1", "86401", "1m", ""} {
		if _, errText, status := tool(t, nil, "serve", "--read-max-age", wrong); status != exitUsage || !strings.Contains(errText, "--read-max-age") {
			t.Errorf("--read-max-age %q: status %d, %s", wrong, status, errText)
		}
	}
}

// TestLongRequestLine: long lines get the answer of the interface; headers beyond 64 KiB
// are not read.
func TestLongRequestLine(t *testing.T) {
	t.Parallel()
	s := startServer(t, "serve", "--data", filepath.Join(t.TempDir(), "data"))
	for _, n := range []int{17 << 10, 60 << 10} {
		if got := s.want(414, "GET", "/events?search="+strings.Repeat("x", n), "", ""); got["code"] != "rest_uri_too_long" {
			t.Errorf("%d bytes: got %v", n, got)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.root+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Long", strings.Repeat("x", 100<<10))
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("headers of 100 KiB: got %s", res.Status)
	}
}
