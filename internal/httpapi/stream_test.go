package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/internal/httpapi"
	"daybook/internal/testkit/world"
)

// patience is how long a test waits for what has to come.
const patience = time.Minute

// feedOf reads a stream of changes.
type feedOf struct {
	t      *testing.T
	res    *http.Response
	events chan block
}

// block is what stands between two empty lines.
type block struct{ id, event, data, comment, retry string }

func follow(t *testing.T, base, path string, header ...string) *feedOf {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+world.Root+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	of := &feedOf{t: t, res: res, events: make(chan block, 1000)}
	go func() {
		defer close(of.events)
		var b block
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "":
				if lines.Text() == "" {
					of.events <- b
					b = block{}
					continue
				}
				b.comment = value
			case "id":
				b.id = value
			case "event":
				b.event = value
			case "data":
				b.data = value
			case "retry":
				b.retry = value
			}
		}
	}()
	return of
}

// next returns the next block; ok is false at the end.
func (feedOf *feedOf) next() (block block, ok bool) {
	feedOf.t.Helper()
	select {
	case block, ok = <-feedOf.events:
		return block, ok
	case <-time.After(patience):
		feedOf.t.Fatal("nothing came")
		return block, false
	}
}

// change returns the next entry, passing over heartbeats.
func (feedOf *feedOf) change() (block block, entry map[string]any) {
	feedOf.t.Helper()
	for {
		b, ok := feedOf.next()
		if !ok {
			feedOf.t.Fatal("the stream ended")
		}
		if b.event == "change" {
			if err := json.Unmarshal([]byte(b.data), &entry); err != nil {
				feedOf.t.Fatalf("%q: %v", b.data, err)
			}
			return b, entry
		}
	}
}

func (feedOf *feedOf) ends() {
	feedOf.t.Helper()
	for {
		if _, ok := feedOf.next(); !ok {
			return
		}
	}
}

// HISTORY 20.25: new entries once and in order, behind Last-Event-ID without loss.
func TestStream(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{HTTP: httpapi.Options{StreamBeat: 20 * time.Millisecond}})
	server := serve(t, w)
	editor, nobody := w.As(calendar.Editor), w.As(calendar.Anonymous)
	first := editor.Event("First", nil)
	feedOf := follow(t, server.URL, "/changes/stream?multilang_language=fr")
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-store", "X-Accel-Buffering": "no", "Content-Language": "fr", "Access-Control-Allow-Origin": "*",
	} {
		if got := feedOf.res.Header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	start, _ := feedOf.next()
	beat, _ := feedOf.next()
	if start.retry != "3000" || beat != (block{id: first.Position().String(), comment: "heartbeat"}) {
		t.Errorf("first blocks: %+v, %+v", start, beat)
	}
	hidden := editor.Event("Hidden", obj{"status": "draft"})
	second := editor.Event("Second", nil)
	b, e := feedOf.change()
	if b.id != second.Position().String() || e["name"] != "Second" || e["summary"] != "Création : «\u00a0Second\u00a0»" || e["actor"] != nil {
		t.Errorf("got %+v", b)
	}
	editor.Update(hidden.Path(), obj{"status": "publish"})
	if b, e = feedOf.change(); e["action"] != "published" || strings.Count(b.data, "\n") > 0 {
		t.Errorf("got %+v", b)
	}
	// A heartbeat moves the id over what the caller does not get.
	private := editor.Event("Private", obj{"status": "private"}).Position().String()
	for b, ok := feedOf.next(); b.id != private; b, ok = feedOf.next() {
		if !ok || b.event == "change" {
			t.Fatalf("got %+v, want heartbeats up to %s", b, private)
		}
	}
	// Over several pieces of what does not fit.
	for range 300 {
		editor.Update(first.Path(), nil)
	}
	editor.Create(calendar.KindTag, obj{"name": "Far"})
	for query, want := range map[string]string{"kind=tag": "Far", "kind=event&action=created&field=title": "First", "id=" + itoa(second.ID()): "Second"} {
		if _, e := follow(t, server.URL, "/changes/stream?after=0&"+query).change(); e["name"] != want {
			t.Errorf("%s: got %v", query, e["name"])
		}
	}
	again := follow(t, server.URL, "/changes/stream?after=0", "Last-Event-ID", first.Position().String())
	for _, want := range []string{"Second", "Hidden"} {
		if _, e := again.change(); e["name"] != want {
			t.Errorf("behind Last-Event-ID: got %v, want %s", e["name"], want)
		}
	}
	everything := follow(t, server.URL, "/changes/stream?after=0", "Authorization", authorization(w, calendar.Auditor))
	if got := everything.res.Header.Get("Cache-Control"); got != "no-store, private" {
		t.Errorf("Cache-Control with credentials: %s", got)
	}
	for position := 1; position <= int(w.Head()); position++ {
		if b, e := everything.change(); b.id != fmt.Sprint(position) || e["actor"] == nil {
			t.Fatalf("got %+v, want position %d", b, position)
		}
	}
	nobody.Get("/changes/stream?kind=user&after=1e0").WantBad("kind", "after")
	nobody.With("Last-Event-ID", "x").Get("/changes/stream").WantBad("Last-Event-ID")
}

// authorization returns the credentials of a user of a role.
func authorization(w *world.World, role calendar.Role) string {
	return "Bearer " + w.As(role).Token
}

// An address without credentials has a part of the places, callers with credentials have
// room that it cannot take (HISTORY 11).
func TestStreamsOfOneClient(t *testing.T) {
	t.Parallel()
	const places, part = 20, 10 // the default
	w := world.New(t, world.Options{HTTP: httpapi.Options{Streams: places, StreamBeat: 10 * time.Millisecond, TrustForwarded: true}})
	server := serve(t, w)
	asks := func(want int, retry string, header ...string) *feedOf {
		t.Helper()
		of := follow(t, server.URL, "/changes/stream", header...)
		if of.res.StatusCode != want || of.res.Header.Get("Retry-After") != retry {
			t.Errorf("%v: got %d %v, want %d", header, of.res.StatusCode, of.res.Header, want)
		}
		return of
	}
	auditor, editor := authorization(w, calendar.Auditor), authorization(w, calendar.Editor)
	one, another, third := "2001:db8::1", "2001:db8:1::1", "192.0.2.3"
	first := asks(200, "", "X-Forwarded-For", one)
	for i := range part - 1 {
		asks(200, "", "X-Forwarded-For", one+strconv.Itoa(i)) // of the same network
	}
	asks(429, "30", "X-Forwarded-For", one)
	w.As(calendar.Anonymous).With("X-Forwarded-For", one).Get("/changes/stream").WantCode(http.StatusTooManyRequests, "rest_too_many_requests")
	for range places - places/10 - part {
		asks(200, "", "X-Forwarded-For", another)
	}
	asks(503, "5", "X-Forwarded-For", third)
	asks(503, "5", "X-Forwarded-For", another)
	asks(429, "30", "X-Forwarded-For", one)
	asks(200, "", "X-Forwarded-For", one, "Authorization", auditor)
	asks(200, "", "X-Forwarded-For", one, "Authorization", auditor)
	asks(503, "5", "X-Forwarded-For", one, "Authorization", editor)
	_ = first.res.Body.Close()
	for end := time.Now().Add(patience); ; {
		if follow(t, server.URL, "/changes/stream", "X-Forwarded-For", one).res.StatusCode == http.StatusOK {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the place of a stream that ended is taken")
		}
	}
	none := world.New(t, world.Options{HTTP: httpapi.Options{Streams: -1}})
	none.As(calendar.Anonymous).Get("/changes/stream").WantCode(503, "rest_unavailable")
	// A user is no stranger: it may have all that there are.
	w = world.New(t, world.Options{HTTP: httpapi.Options{Streams: part + 1}})
	server, auditor = serve(t, w), authorization(w, calendar.Auditor)
	for range part + 1 {
		asks(200, "", "Authorization", auditor)
	}
	asks(503, "5", "Authorization", auditor)
}

// Streams end when the process drains, and when their token is withdrawn.
func TestStreamsEnd(t *testing.T) {
	t.Parallel()
	draining := make(chan struct{})
	w := world.New(t, world.Options{HTTP: httpapi.Options{Draining: draining, StreamBeat: 10 * time.Millisecond}})
	server := serve(t, w)
	withdrawn := follow(t, server.URL, "/changes/stream", "Authorization", authorization(w, calendar.Auditor))
	withdrawn.next()
	if _, err := w.Users.Revoke(t.Context(), "auditor", 0); err != nil {
		t.Fatal(err)
	}
	withdrawn.ends()
	feedOf := follow(t, server.URL, "/changes/stream")
	feedOf.next()
	close(draining)
	feedOf.ends()
}

// HISTORY 20.25: a client that stops reading is cut off and slows no one.
func TestSlowReaderOfAStream(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{HTTP: httpapi.Options{
		// Late enough for a quick reader on a slow machine.
		StreamLate: 3 * time.Second, StreamBeat: 50 * time.Millisecond,
	}})
	server := serve(t, w)
	editor := w.As(calendar.Editor)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", at.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	if _, err := fmt.Fprintf(conn, "GET %s/changes/stream?after=0 HTTP/1.1\r\nHost: x\r\n\r\n", world.Root); err != nil {
		t.Fatal(err)
	}
	quick := follow(t, server.URL, "/changes/stream?after=0&kind=event")
	var names, want []string
	for i := range 12 {
		editor.Event(fmt.Sprint("Event ", i), obj{"description": strings.Repeat("word ", 39_000)})
		want = append(want, fmt.Sprint("Event ", i))
		_, e := quick.change()
		names = append(names, e["name"].(string))
	}
	if !slices.Equal(names, want) {
		t.Errorf("beside a slow reader: got %v", names)
	}
	// 2 MB do not fit into the buffers of the connection: it is closed.
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	for end := time.After(patience); w.Handler.(*httpapi.Handler).Streams() > 1; {
		select {
		case <-end:
			t.Fatal("nobody was cut off")
		case <-time.After(time.Millisecond):
		}
	}
	n, buffer := 0, make([]byte, 32<<10)
	for {
		m, err := conn.Read(buffer)
		if n += m; err != nil {
			if e, ok := err.(net.Error); ok && e.Timeout() { //nolint:errorlint // as net gives it
				t.Fatal("the connection of a slow reader stays open")
			}
			break
		}
	}
	if n >= 12*39_000*5 {
		t.Errorf("the slow reader was given all: %d bytes", n)
	}
}

// readsCounted counts what is read of the log.
type readsCounted struct {
	eventstore.Store
	reads atomic.Int64
}

func (readsCounted *readsCounted) Read(ctx context.Context, r eventstore.Range) ([]eventstore.Entry, error) {
	readsCounted.reads.Add(1)
	return readsCounted.Store.Read(ctx, r)
}

// What many streams tell is read once for all of them; one that comes later is told what
// it may know then.
func TestStreamsTellTogether(t *testing.T) {
	t.Parallel()
	store := &readsCounted{Store: memstore.New()}
	w := world.New(t, world.Options{Store: store, HTTP: httpapi.Options{StreamBeat: time.Hour, StreamsOfOne: 30}})
	server := serve(t, w)
	editor := w.As(calendar.Editor)
	const many = 20
	all := make([]*feedOf, many)
	for i := range all {
		all[i] = follow(t, server.URL, "/changes/stream")
		all[i].next()
	}
	auditor := follow(t, server.URL, "/changes/stream", "Authorization", authorization(w, calendar.Auditor))
	auditor.next()
	tell := func(name string) {
		editor.Event(name, nil)
		for _, of := range all {
			if block, e := of.change(); e["name"] != name || e["actor"] != nil {
				t.Fatalf("got %+v, want %s", block, name)
			}
		}
		if block, e := auditor.change(); e["name"] != name || e["actor"] == nil {
			t.Fatalf("an auditor got %+v", block)
		}
	}
	tell("First")            // from now on all are at the head
	w.Clock.Add(time.Second) // it stands from now on: what is told is kept
	before, from := store.reads.Load(), w.Head()
	const events = 8
	for i := range events {
		tell(fmt.Sprint("Event ", i))
	}
	if n := store.reads.Load() - before; n > events*many/2 {
		t.Errorf("%d streams read the log %d times for %d events", many, n, events)
	}
	hidden := editor.Event("Hidden", nil)
	editor.Update(hidden.Path(), obj{"status": "private"})
	editor.Event("Last", nil)
	late := follow(t, server.URL, "/changes/stream?after="+from.String())
	for i := range events {
		if _, e := late.change(); e["name"] != fmt.Sprint("Event ", i) {
			t.Errorf("one that came later got %v", e["name"])
		}
	}
	if _, e := late.change(); e["name"] != "Last" {
		t.Errorf("one that came later got %v", e["name"])
	}
}

// What is told together is told to equal listeners: neither another author of the same
// role, nor another language, nor another filter gets what is not his.
func TestStreamsTellEachHisOwn(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{HTTP: httpapi.Options{StreamBeat: time.Hour}})
	server := serve(t, w)
	author, other, auditor := w.As(calendar.Author), w.User("other-author"), w.As(calendar.Auditor)
	author.Event("Opening", nil)
	// What each is told of a draft that is published: action, whether with an actor, and the first word.
	listeners := map[string][]string{}
	feeds := map[string]*feedOf{}
	listen := func(name, query, token string, want ...string) {
		var header []string
		if token != "" {
			header = []string{"Authorization", "Bearer " + token}
		}
		feeds[name], listeners[name] = follow(t, server.URL, "/changes/stream?after=0"+query, header...), want
	}
	listen("author", "", author.Token, "created true Created:", "updated true Changed:")
	listen("another author", "", other.Token, "published false Published:")
	listen("auditor", "", auditor.Token, "created true Created:", "updated true Changed:")
	listen("anonymous", "", "", "published false Published:")
	listen("in French", "&multilang_language=fr", "", "published false Publication")
	listen("of creations", "&action=created", "")
	until := func(of *feedOf, name string) (told []string) {
		t.Helper()
		for {
			_, e := of.change()
			if e["name"] == name {
				return told
			}
			told = append(told, fmt.Sprint(e["action"], " ", e["actor"] != nil, " ", strings.Fields(e["summary"].(string))[0]))
		}
	}
	for _, of := range feeds { // each comes to the head: from then on they are told together
		until(of, "Opening")
	}
	for i := range 3 {
		made := author.Event(fmt.Sprint("Draft ", i), obj{"status": "draft"})
		author.Update(made.Path(), obj{"status": "publish"})
		author.Event(fmt.Sprint("End ", i), nil)
		for name, of := range feeds {
			if told := until(of, fmt.Sprint("End ", i)); !slices.Equal(told, listeners[name]) {
				t.Errorf("%s was told %q, want %q", name, told, listeners[name])
			}
		}
	}
}

// serve answers over the network, by connections that hold little.
func serve(t *testing.T, w *world.World) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(w.Handler)
	server.Config.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		_ = conn.(*net.TCPConn).SetWriteBuffer(8 << 10)
		return ctx
	}
	server.Start()
	t.Cleanup(server.Close)
	return server
}
