package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// A process dies at a point that is named by what it and a server have said to
// each other. What stands between them sees it there, so the program needs no
// switches for tests, and what was said is the proof of where it died.
const (
	pointCommitting = "api: half of a group was sent to the store"
	pointCommitted  = "api: the store has committed a group and nobody was answered"
	pointPublishing = "relay: half of a group was sent to the feed"
	pointPublished  = "relay: the feed has kept a group and its acknowledgement did not come"
	pointBetween    = "relay: a group was acknowledged and the next one not sent"
	pointOffered    = "projector: documents were sent and not answered"
	pointWritten    = "projector: documents are written and the position is not"
	pointMoved      = "projector: the position is written and lists do not show it"
)

// trap kills a process when it comes to a point.
type trap struct {
	mu     sync.Mutex
	point  string
	victim *server
	sprung chan struct{}
}

// set has the trap kill a process at a point, once.
func (trap *trap) set(point string, victim *server) (sprung <-chan struct{}) {
	trap.mu.Lock()
	defer trap.mu.Unlock()
	trap.point, trap.victim, trap.sprung = point, victim, make(chan struct{})
	return trap.sprung
}

// at reports whether the process was killed at a point: then nothing more of what
// was said may pass.
func (trap *trap) at(point string) bool {
	if trap == nil {
		return false
	}
	trap.mu.Lock()
	defer trap.mu.Unlock()
	if trap.point != point {
		return false
	}
	trap.victim.kill()
	trap.point = ""
	close(trap.sprung)
	return true
}

// wasKilled reports whether a process that ended was ended by SIGKILL.
func (server *server) wasKilled() bool {
	waitStatus, ok := server.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && waitStatus.Signaled() && waitStatus.Signal() == syscall.SIGKILL
}

// tap hears both sides of a connection, and tells how much of what was said goes
// on; cut ends the connection after it. Each side has one call at a time.
type tap interface {
	up(said []byte) (pass int, cut bool)
	down(said []byte) (pass int, cut bool)
}

// wire stands between processes and a server and returns the address of itself.
func wire(t *testing.T, server string, newTap func() tap) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	ended := false
	hold := func(conn net.Conn) {
		mu.Lock()
		defer mu.Unlock()
		if open[conn] = true; ended {
			_ = conn.Close()
		}
	}
	var group sync.WaitGroup
	t.Cleanup(func() {
		_ = listener.Close()
		mu.Lock()
		ended = true
		for conn := range open {
			_ = conn.Close()
		}
		mu.Unlock()
		group.Wait()
	})
	group.Go(func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			to, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server)
			if err != nil {
				_ = from.Close()
				continue
			}
			hold(from)
			hold(to)
			both := newTap()
			carry := func(from, to net.Conn, hear func([]byte) (int, bool)) {
				defer func() {
					_, _ = from.Close(), to.Close()
					mu.Lock()
					defer mu.Unlock()
					delete(open, from)
					delete(open, to)
				}()
				data := make([]byte, 1<<16)
				for {
					n, err := from.Read(data)
					pass, cut := n, false
					if n > 0 {
						pass, cut = hear(data[:n])
					}
					if _, failed := to.Write(data[:pass]); failed != nil || err != nil || cut {
						return
					}
				}
			}
			group.Go(func() { carry(from, to, both.up) })
			group.Go(func() { carry(to, from, both.down) })
		}
	})
	return listener.Addr().String()
}

// through returns the URL of a server by way of a wire.
func through(t *testing.T, server string, newTap func() tap) string {
	t.Helper()
	address, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	address.Host = wire(t, address.Host, newTap)
	if address.Scheme == "postgres" {
		address.RawQuery = "sslmode=disable"
	}
	return address.String()
}

// messages finds messages of PostgreSQL in what is said: a letter, a length that
// counts itself, and the rest.
type messages struct{ rest []byte }

func (messages *messages) each(said []byte, do func(kind byte, body []byte)) {
	messages.rest = append(messages.rest, said...)
	for len(messages.rest) >= 5 {
		n := 1 + int(binary.BigEndian.Uint32(messages.rest[1:]))
		if len(messages.rest) < n {
			return
		}
		do(messages.rest[0], messages.rest[5:n])
		messages.rest = messages.rest[n:]
	}
}

// storeTap knows the commits of an api process.
type storeTap struct {
	trap        *trap
	asks, tells messages
	greeted     bool            // the first message has no letter
	appends     map[string]bool // names of prepared statements
	committing  atomic.Bool
}

func newStoreTap(trap *trap) func() tap {
	return func() tap { return &storeTap{trap: trap, appends: map[string]bool{}} }
}

func (storeTap *storeTap) up(said []byte) (int, bool) {
	if !storeTap.greeted { // it is one write of a few bytes
		storeTap.greeted = true
		return len(said), false
	}
	begins := false
	storeTap.asks.each(said, func(kind byte, body []byte) {
		parts := bytes.SplitN(body, []byte{0}, 3)
		switch {
		case kind == 'P' && len(parts) > 1 && bytes.HasPrefix(parts[1], []byte("INSERT INTO ")) && bytes.Contains(parts[1], []byte(".entries ")): // name, text
			storeTap.appends[string(parts[0])] = true
		case kind == 'B' && len(parts) > 1 && storeTap.appends[string(parts[1])]: // portal, name
			begins = true
			storeTap.committing.Store(true)
		}
	})
	if begins && storeTap.trap.at(pointCommitting) {
		return len(said) / 2, true
	}
	return len(said), false
}

func (storeTap *storeTap) down(said []byte) (int, bool) {
	committed := false
	storeTap.tells.each(said, func(kind byte, body []byte) {
		switch {
		case kind == 'E':
			storeTap.committing.Store(false)
		case kind == 'Z' && body[0] == 'I' && storeTap.committing.Swap(false): // ready, in no transaction
			committed = true
		}
	})
	if committed && storeTap.trap.at(pointCommitted) {
		return 0, true
	}
	return len(said), false
}

// feedTap knows what a relay publishes.
type feedTap struct{ trap *trap }

// held is something that was said and is kept back.
type held struct {
	met     chan struct{} // closed when there is something
	newest  int64         // of the write to the search server that was met
	release chan struct{}
	done    chan struct{} // closed when it was let go
	answer  string        // of the search server, when it is done
}

func newHeld() *held {
	return &held{met: make(chan struct{}), release: make(chan struct{}), done: make(chan struct{})}
}

func (feedTap *feedTap) up(said []byte) (int, bool) {
	if !bytes.Contains(said, []byte("HPUB daybook.changes.")) {
		return len(said), false
	}
	if feedTap.trap.at(pointPublishing) {
		return len(said) / 2, true
	}
	return len(said), false
}

func (feedTap *feedTap) down(said []byte) (int, bool) {
	if !bytes.Contains(said, []byte(`"stream":"DAYBOOK_CHANGES"`)) || !bytes.Contains(said, []byte(`"seq":`)) {
		return len(said), false
	}
	if feedTap.trap.at(pointPublished) {
		return 0, true
	}
	return len(said), feedTap.trap.at(pointBetween)
}

// written is a write of a projector on its way to the search server.
type written struct {
	body      []byte
	position  bool // it is that of the position, not of documents
	documents int
	newest    int64 // version of the newest document, or the position
}

func readWritten(body []byte) written {
	w := written{body: body}
	for line := range bytes.Lines(body) {
		var a struct {
			Index *struct {
				ID      string `json:"_id"`
				Version int64  `json:"version"`
			} `json:"index"`
		}
		if json.Unmarshal(line, &a) != nil || a.Index == nil {
			continue
		}
		w.position = w.position || a.Index.ID == "position"
		w.documents++
		w.newest = max(w.newest, a.Index.Version)
	}
	return w
}

// What a search server refuses, with 429 where it answers.
const (
	refuseNone int32 = iota
	refuseAll        // whole writes
	refuseSome       // every other item of a write
)

// search stands between processes and a search server.
type search struct {
	URL    string
	server string
	trap   *trap
	busy   atomic.Int32 // refuseNone …
	// hold, when it is set, keeps the next write of documents back.
	hold atomic.Pointer[held]

	refusedWrites, refusedItems atomic.Int64

	mu   sync.Mutex
	last written // the one at which the process died
}

func newSearch(t *testing.T, server string, trap *trap) *search {
	t.Helper()
	s := &search{server: server, trap: trap}
	front := httptest.NewServer(s)
	t.Cleanup(front.Close)
	s.URL = front.URL
	return s
}

// ServeHTTP passes a request on, or does not.
func (search *search) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return // the process has died
	}
	if !strings.HasSuffix(request.URL.Path, "/_bulk") {
		status, header, answer := search.pass(request, body)
		send(writer, status, header, answer)
		return
	}
	write := readWritten(body)
	dies := func(point string) bool {
		search.mu.Lock() // who is told of the death finds what was written last
		defer search.mu.Unlock()
		if !search.trap.at(point) {
			return false
		}
		search.last = write
		return true
	}
	if !write.position {
		if held := search.hold.Swap(nil); held != nil {
			held.newest = write.newest
			close(held.met)
			<-held.release
			status, _, answer := search.pass(request, body)
			held.answer = fmt.Sprintf("%d %s", status, answer)
			close(held.done)
			panic(http.ErrAbortHandler) // the one who asked has slept too long
		}
		if dies(pointOffered) {
			search.pass(request, body) // it comes all the same
			panic(http.ErrAbortHandler)
		}
	}
	var status int
	var header http.Header
	var answer []byte
	switch search.busy.Load() {
	case refuseAll:
		search.refusedWrites.Add(1)
		status, header, answer = http.StatusTooManyRequests, productHeader(), []byte(`{"error":{"root_cause":[],"type":"es_rejected_execution_exception","reason":"rejected execution of coordinating operation"},"status":429}`)
	case refuseSome:
		status, header, answer = search.passHalf(request, body)
	default:
		status, header, answer = search.pass(request, body)
	}
	if status == http.StatusOK && (!write.position && dies(pointWritten) || write.position && dies(pointMoved)) {
		panic(http.ErrAbortHandler)
	}
	send(writer, status, header, answer)
}

func productHeader() http.Header {
	return http.Header{"X-Elastic-Product": {"Elasticsearch"}, "Content-Type": {"application/json"}}
}

func send(writer http.ResponseWriter, status int, header http.Header, answer []byte) {
	maps.Copy(writer.Header(), header)
	writer.WriteHeader(status)
	_, _ = writer.Write(answer)
}

// asIs passes answers on as they are.
var asIs = &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 16}}

func (search *search) pass(request *http.Request, body []byte) (int, http.Header, []byte) {
	// What is held back outlives the request of a process that died.
	out, err := http.NewRequest(request.Method, search.server+request.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return http.StatusBadGateway, nil, []byte(err.Error())
	}
	out.Header = request.Header.Clone()
	res, err := asIs.Do(out)
	if err != nil {
		return http.StatusBadGateway, nil, []byte(err.Error())
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return http.StatusBadGateway, nil, []byte(err.Error())
	}
	return res.StatusCode, res.Header, answer
}

// passHalf passes every other item on and refuses the rest, as a server does of
// which one index has no room left.
func (search *search) passHalf(request *http.Request, body []byte) (int, http.Header, []byte) {
	var items [][]byte
	var actions []string
	lines := bytes.SplitAfter(body, []byte("\n"))
	for i := 0; i < len(lines) && len(lines[i]) > 0; i++ {
		item, action := lines[i], "delete"
		if !bytes.HasPrefix(item, []byte(`{"delete"`)) {
			action = "index"
			i++
			item = bytes.Join([][]byte{item, lines[i]}, nil)
		}
		items, actions = append(items, item), append(actions, action)
	}
	var on []byte
	for i := 1; i < len(items); i += 2 {
		on = append(on, items[i]...)
	}
	var passed struct {
		Items []json.RawMessage `json:"items"`
	}
	if len(on) > 0 {
		status, header, answer := search.pass(request, on)
		if status != http.StatusOK {
			return status, header, answer
		}
		_ = json.Unmarshal(answer, &passed)
	}
	results := make([]string, len(items))
	for i := range items {
		if j := i / 2; i%2 == 1 && j < len(passed.Items) {
			results[i] = string(passed.Items[j])
			continue
		}
		search.refusedItems.Add(1)
		results[i] = fmt.Sprintf(`{%q:{"status":429,"error":{"type":"cluster_block_exception","reason":"blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block];"}}}`, actions[i])
	}
	return http.StatusOK, productHeader(), []byte(`{"errors":true,"items":[` + strings.Join(results, ",") + `]}`)
}
