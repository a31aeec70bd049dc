package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
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
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+world.Root+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	f := &feedOf{t: t, res: res, events: make(chan block, 1000)}
	go func() {
		defer close(f.events)
		var b block
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "":
				if lines.Text() == "" {
					f.events <- b
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
	return f
}

// next returns the next block; ok is false at the end.
func (f *feedOf) next() (b block, ok bool) {
	f.t.Helper()
	select {
	case b, ok = <-f.events:
		return b, ok
	case <-time.After(patience):
		f.t.Fatal("nothing came")
		return b, false
	}
}

// change returns the next entry, passing over heartbeats.
func (f *feedOf) change() (b block, entry map[string]any) {
	f.t.Helper()
	for {
		b, ok := f.next()
		if !ok {
			f.t.Fatal("the stream ended")
		}
		if b.event == "change" {
			if err := json.Unmarshal([]byte(b.data), &entry); err != nil {
				f.t.Fatalf("%q: %v", b.data, err)
			}
			return b, entry
		}
	}
}

func (f *feedOf) ends() {
	f.t.Helper()
	for {
		if _, ok := f.next(); !ok {
			return
		}
	}
}

// HISTORY 20.25: new entries once and in order, behind Last-Event-ID without loss.
func TestStream(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{HTTP: httpapi.Options{StreamBeat: 20 * time.Millisecond}})
	server := serve(t, w)
	editor := w.As(calendar.Editor)
	first := editor.Event("First", nil)
	from := w.Head()
	f := follow(t, server.URL, "/changes/stream?multilang_language=fr")
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-store", "X-Accel-Buffering": "no", "Content-Language": "fr",
		"Access-Control-Allow-Origin": "*",
	} {
		if got := f.res.Header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if b, _ := f.next(); b.retry != "3000" {
		t.Errorf("first block: %+v", b)
	}
	beat, _ := f.next()
	if beat.comment != "heartbeat" || beat.id != from.String() || beat.data != "" {
		t.Errorf("heartbeat: %+v", beat)
	}
	hidden := editor.Event("Hidden", obj{"status": "draft"})
	second := editor.Event("Second", nil)
	b, e := f.change()
	if b.id != second.Header.Get("Daybook-Position") || e["name"] != "Second" || e["summary"] != "Création : «\u00a0Second\u00a0»" || e["actor"] != nil {
		t.Errorf("got %+v", b)
	}
	editor.Update(hidden.Path(calendar.KindEvent), obj{"status": "publish"})
	if b, e = f.change(); e["action"] != "published" || strings.Count(b.data, "\n") > 0 {
		t.Errorf("got %+v", b)
	}
	// A heartbeat moves the id over what the caller does not get.
	private := editor.Event("Private", obj{"status": "private"})
	for b, ok := f.next(); b.id != private.Header.Get("Daybook-Position"); b, ok = f.next() {
		if !ok || b.event == "change" {
			t.Fatalf("got %+v, want heartbeats up to %s", b, private.Header.Get("Daybook-Position"))
		}
	}
	// Behind an id, from the beginning, with filters, with rights.
	again := follow(t, server.URL, "/changes/stream?after=0", "Last-Event-ID", first.Header.Get("Daybook-Position"))
	for _, want := range []string{"Second", "Hidden"} {
		if _, e := again.change(); e["name"] != want {
			t.Errorf("behind Last-Event-ID: got %v, want %s", e["name"], want)
		}
	}
	titles := follow(t, server.URL, "/changes/stream?after=0&kind=event&action=created&field=title")
	if _, e := titles.change(); e["name"] != "First" {
		t.Errorf("with filters: got %v", e)
	}
	token := authorization(w, calendar.Auditor)
	everything := follow(t, server.URL, "/changes/stream?after=0", "Authorization", token)
	if got := everything.res.Header.Get("Cache-Control"); got != "no-store, private" {
		t.Errorf("Cache-Control with credentials: %s", got)
	}
	for position := 1; position <= int(w.Head()); position++ {
		if b, e := everything.change(); b.id != fmt.Sprint(position) || e["actor"] == nil {
			t.Fatalf("got %+v, want position %d", b, position)
		}
	}
	nobody := w.As(calendar.Anonymous)
	ahead := fmt.Sprint(w.Head() + 1)
	nobody.Get("/changes/stream?after=" + ahead).WantBad("after")
	nobody.Get("/changes/stream?after=1e0").WantBad("after")
	nobody.With("Last-Event-ID", ahead).Get("/changes/stream").WantBad("Last-Event-ID")
	nobody.With("Last-Event-ID", "x").Get("/changes/stream").WantBad("Last-Event-ID")
	nobody.Get("/changes/stream?kind=user").WantBad("kind")
	if r := nobody.Do(http.MethodHead, "/changes/stream", nil).Want(200); len(r.Body) > 0 || r.Header.Get("Content-Type") != "text/event-stream; charset=utf-8" {
		t.Errorf("HEAD: %v %s", r.Header, r.Body)
	}
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
		f := follow(t, server.URL, "/changes/stream", header...)
		if f.res.StatusCode != want || f.res.Header.Get("Retry-After") != retry {
			t.Errorf("%v: got %d %v, want %d", header, f.res.StatusCode, f.res.Header, want)
		}
		return f
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

// A thousand strangers want a stream at once: as many as there are places get one, the
// others are told at once, callers with credentials have room, others read as before, and
// who goes makes room.
func TestStreamsOfManyStrangers(t *testing.T) {
	t.Parallel()
	const strangers, places = 1000, 90
	var open atomic.Int64
	w := world.New(t, world.Options{HTTP: httpapi.Options{
		TrustForwarded: true, StreamBeat: time.Hour, Streaming: func(by int) { open.Add(int64(by)) },
	}})
	server := serve(t, w)
	event := w.As(calendar.Editor).Event("Concert", nil)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	client := &http.Client{Transport: &http.Transport{MaxIdleConns: -1}}
	defer client.CloseIdleConnections()
	var got [2]atomic.Int64 // served, refused
	var asked, gone sync.WaitGroup
	asked.Add(strangers)
	for i := range strangers {
		gone.Go(func() {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+world.Root+"/changes/stream?after=0", http.NoBody)
			if err != nil {
				t.Error(err)
			}
			r.Header.Set("X-Forwarded-For", fmt.Sprintf("192.0.%d.%d", i>>8, i&255))
			res, err := client.Do(r)
			if err != nil {
				t.Error(err)
				asked.Done()
				return
			}
			defer func() { _ = res.Body.Close() }()
			switch {
			case res.StatusCode == http.StatusOK:
				got[0].Add(1)
			case res.StatusCode == http.StatusServiceUnavailable && res.Header.Get("Retry-After") == "5":
				got[1].Add(1)
			default:
				t.Errorf("got %d %v", res.StatusCode, res.Header)
			}
			asked.Done()
			_, _ = io.Copy(io.Discard, res.Body) // until it leaves
		})
	}
	asked.Wait()
	if got[0].Load() != places || got[1].Load() != strangers-places || open.Load() != places {
		t.Errorf("%d were served and %d refused, %d are open; want %d and %d", got[0].Load(), got[1].Load(), open.Load(), places, strangers-places)
	}
	w.As(calendar.Anonymous).Read(event.Path(calendar.KindEvent))
	w.As(calendar.Editor).Event("Another", nil)
	known := follow(t, server.URL, "/changes/stream", "Authorization", authorization(w, calendar.Editor)).res
	if known.StatusCode != http.StatusOK {
		t.Errorf("a caller with credentials got %d", known.StatusCode)
	}
	_ = known.Body.Close()
	leave()
	gone.Wait()
	for end := time.After(patience); open.Load() > 0; {
		select {
		case <-end:
			t.Fatalf("%d streams are open of strangers who left", open.Load())
		case <-time.After(time.Millisecond):
		}
	}
	if f := follow(t, server.URL, "/changes/stream"); f.res.StatusCode != http.StatusOK {
		t.Errorf("who came later got %d", f.res.StatusCode)
	}
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
	f := follow(t, server.URL, "/changes/stream")
	f.next()
	close(draining)
	f.ends()
}

// HISTORY 20.25: a client that stops reading is cut off and slows no one.
func TestSlowReaderOfAStream(t *testing.T) {
	t.Parallel()
	var open atomic.Int64
	w := world.New(t, world.Options{Unchecked: true, HTTP: httpapi.Options{
		// Late enough for a quick reader on a slow machine.
		StreamLate: 3 * time.Second, StreamBeat: 50 * time.Millisecond, Streaming: func(by int) { open.Add(int64(by)) },
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
	for end := time.After(patience); open.Load() > 1; {
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

// A stream looks at all that is there, over several pieces.
func TestStreamSkipsMuch(t *testing.T) {
	t.Parallel()
	w, editor, _ := newWorld(t, world.Options{HTTP: httpapi.Options{StreamBeat: time.Hour}})
	tag := editor.Create(calendar.KindTag, obj{"name": "Jazz"}).Path(calendar.KindTag)
	for range 300 {
		editor.Update(tag, nil)
	}
	last := editor.Event("Last", nil)
	f := follow(t, serve(t, w).URL, "/changes/stream?after=0&kind=event")
	if b, _ := f.change(); b.id != last.Header.Get("Daybook-Position") {
		t.Errorf("got %+v", b)
	}
}

// readsCounted counts what is read of the log.
type readsCounted struct {
	eventstore.Store
	reads atomic.Int64
}

func (s *readsCounted) Read(ctx context.Context, r eventstore.Range) ([]eventstore.Entry, error) {
	s.reads.Add(1)
	return s.Store.Read(ctx, r)
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
		for _, f := range all {
			if b, e := f.change(); e["name"] != name || e["actor"] != nil {
				t.Fatalf("got %+v, want %s", b, name)
			}
		}
		if b, e := auditor.change(); e["name"] != name || e["actor"] == nil {
			t.Fatalf("an auditor got %+v", b)
		}
	}
	tell("First") // from now on all are at the head
	before, from := store.reads.Load(), w.Head()
	const events = 8
	for i := range events {
		tell(fmt.Sprint("Event ", i))
	}
	if n := store.reads.Load() - before; n > events*many/2 {
		t.Errorf("%d streams read the log %d times for %d events", many, n, events)
	}
	hidden := editor.Event("Hidden", nil)
	editor.Update(hidden.Path(calendar.KindEvent), obj{"status": "private"})
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

// companions counts who reads the beginning of the log at once; each waits a moment for
// others.
type companions struct {
	eventstore.Store
	here, most atomic.Int32
}

func (s *companions) Read(ctx context.Context, r eventstore.Range) ([]eventstore.Entry, error) {
	if r.Record == 0 && r.After == 0 {
		if n := s.here.Add(1); n > s.most.Load() {
			s.most.Store(n)
		}
		defer s.here.Add(-1)
		<-time.After(100 * time.Millisecond)
	}
	return s.Store.Read(ctx, r)
}

// Streams of one client that are behind, and its pages, read one after the other where the
// work is done in the process: it leaves a processor to others.
func TestStreamsOfOneClientTakeTurns(t *testing.T) {
	t.Parallel()
	store := &companions{Store: memstore.New()}
	w := world.New(t, world.Options{Store: store, HTTP: httpapi.Options{MakeAtOnce: 1}})
	server := serve(t, w)
	w.As(calendar.Editor).Event("First", nil)
	store.most.Store(0)
	streams := make([]*feedOf, 3)
	for i := range streams {
		streams[i] = follow(t, server.URL, "/changes/stream?after=0")
	}
	if res := follow(t, server.URL, "/changes?order=asc").res; res.StatusCode != http.StatusOK {
		t.Errorf("a page: %d", res.StatusCode)
	}
	for _, f := range streams {
		f.change()
	}
	if n := store.most.Load(); n != 1 {
		t.Errorf("one client read at %d places at once", n)
	}
}

// What streams that are at the head were told while a record was public is nothing for
// one who comes later: he looks for himself.
func TestNewcomersOfAStreamLookForThemselves(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{HTTP: httpapi.Options{StreamBeat: time.Hour}})
	server := serve(t, w)
	editor := w.As(calendar.Editor)
	editor.Event("First", nil)
	there := follow(t, server.URL, "/changes/stream?after=0")
	wantName := func(f *feedOf, want string) {
		t.Helper()
		if _, e := f.change(); e["name"] != want {
			t.Errorf("got %v, want %s", e["name"], want)
		}
	}
	wantName(there, "First") // it is at the head now
	from := w.Head()
	w.Clock.Add(time.Second) // it stands from now on: all is one tick, and what is told is kept
	hidden := editor.Event("Hidden", nil)
	wantName(there, "Hidden")
	editor.Update(hidden.Path(calendar.KindEvent), obj{"status": "private"})
	late := follow(t, server.URL, "/changes/stream?after="+from.String())
	editor.Event("Last", nil)
	wantName(late, "Last")
	wantName(there, "Last")
}

// What is told together is told to equal listeners: neither another author of the same
// role, nor another language, nor another filter gets what is not his.
func TestStreamsTellEachHisOwn(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{HTTP: httpapi.Options{StreamBeat: time.Hour}})
	server := serve(t, w)
	author, other, auditor := w.As(calendar.Author), w.AsOther(calendar.Author), authorization(w, calendar.Auditor)
	author.Event("Opening", nil)
	listeners := []struct {
		name  string
		feed  *feedOf
		draft bool   // gets the author's draft
		actor bool   // is told who made it
		first string // of the summary of its publication; "": it is not told of it
	}{
		{"author", follow(t, server.URL, "/changes/stream?after=0", "Authorization", "Bearer "+author.Token), true, true, "Changed: "},
		{"another author", follow(t, server.URL, "/changes/stream?after=0", "Authorization", "Bearer "+other.Token), false, false, "Published: "},
		{"auditor", follow(t, server.URL, "/changes/stream?after=0", "Authorization", auditor), true, true, "Changed: "},
		{"anonymous", follow(t, server.URL, "/changes/stream?after=0"), false, false, "Published: "},
		{"in French", follow(t, server.URL, "/changes/stream?after=0&multilang_language=fr"), false, false, "Publication : "},
		{"of creations", follow(t, server.URL, "/changes/stream?after=0&action=created"), false, false, ""},
	}
	// Each comes to the head: from then on they are told together.
	named := func(l *feedOf, want string) map[string]any {
		t.Helper()
		for {
			if _, e := l.change(); e["name"] == want {
				return e
			}
		}
	}
	for _, l := range listeners {
		named(l.feed, "Opening")
	}
	for i := range 3 {
		draft, end := fmt.Sprint("Draft ", i), fmt.Sprint("End ", i)
		made := author.Event(draft, obj{"status": "draft"})
		author.Update(made.Path(calendar.KindEvent), obj{"status": "publish"})
		author.Event(end, nil)
		for _, l := range listeners {
			var told []map[string]any
			for {
				_, e := l.feed.change()
				if e["name"] == end {
					break
				}
				told = append(told, e)
			}
			if l.draft {
				if len(told) == 0 || told[0]["action"] != "created" {
					t.Fatalf("%s was told %v, want the draft", l.name, told)
				}
				told = told[1:]
			}
			if l.first == "" {
				if len(told) > 0 {
					t.Errorf("%s was told %v", l.name, told)
				}
				continue
			}
			if len(told) != 1 || !strings.HasPrefix(told[0]["summary"].(string), l.first) || (told[0]["actor"] != nil) != l.actor {
				t.Errorf("%s was told %v, want %q, with an actor: %t", l.name, told, l.first, l.actor)
			}
		}
	}
}

// serve answers over the network, by connections that hold little.
func serve(t *testing.T, w *world.World) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(w.Handler)
	server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		_ = c.(*net.TCPConn).SetWriteBuffer(8 << 10)
		return ctx
	}
	server.Start()
	t.Cleanup(server.Close)
	return server
}
