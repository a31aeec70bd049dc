package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/feed"
	"daybook/eventstore/postgres"
	"daybook/internal/testkit/engines"
)

// soundWithin is how long lists may be out of order once the event store holds another
// history.
const soundWithin = 30 * time.Second

// TestStoreGoesBack: PostgreSQL loses its last entries under running processes with both
// read models, as an older backup is put back or as a standby takes over without them; the
// backup once more while nothing runs. Lists, single reads and the stream of the feed come
// to what the store has by themselves, also when the store has gone on past the head that
// was lost, and no one is told before that all is well.
func TestStoreGoesBack(t *testing.T) {
	t.Parallel()
	t.Run("to a backup", func(t *testing.T) {
		t.Parallel()
		postgresServer := engines.StartPostgres(t)
		var restore func()
		testGoesBack(t, postgresServer.URL(), func() { restore = dumped(t, postgresServer) }, func() { restore() }, true)
	})
	t.Run("to a standby", func(t *testing.T) {
		t.Parallel()
		primary := engines.StartPostgres(t)
		standby := primary.Standby("second")
		proxy := engines.NewProxy(t, primary.URL())
		testGoesBack(t, proxy.URL, func() {
			primary.CaughtUp(standby)
			standby.Cut()
		}, func() {
			primary.Kill9()
			standby.Promote()
			proxy.Switch(standby.URL())
		}, false)
	})
}

// dumped writes the store of a server to a file as pg_dump does, and returns what puts that back.
func dumped(t *testing.T, server engines.PostgresServer) (restore func()) {
	t.Helper()
	path, programs := filepath.Join(t.TempDir(), "dump"), server.Exec("SELECT setting FROM pg_config WHERE name = 'BINDIR'")
	tool := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), filepath.Join(programs, name), append(args, "-d", server.URL())...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	tool("pg_dump", "-Fc", "-n", "daybook", "-f", path)
	return func() {
		t.Helper()
		server.Exec("DROP SCHEMA IF EXISTS daybook CASCADE")
		tool("pg_restore", "--exit-on-error", "--single-transaction", path)
	}
}

// testGoesBack keeps the state of a store and goes back to it later, again where that can
// be done.
func testGoesBack(t *testing.T, on string, keep, goBack func(), again bool) {
	t.Helper()
	index, prefix := engines.Shared(t, engines.Elasticsearch)
	at, feedPrefix := engines.Shared(t, engines.NATS)
	data := t.TempDir()
	own := []string{"--store", on, "--data", data}
	shared := []string{"--store", on, "--feed", at, "--feed-prefix", feedPrefix, "--index", index, "--index-prefix", prefix}
	var whole, api, relay, projector *server
	begin := func(args ...string) *server {
		t.Helper()
		cmd := child(context.Background(), append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
		return beginServerOf(t, cmd, "", cmd.Env)
	}
	role := func(name string) *server { return begin(append([]string{"--role", name}, shared...)...) }
	whole = begin(own...)
	token := whole.token
	api, relay, projector = role("api"), role("relay"), role("projector")

	// add writes records of all kinds by a process.
	add := func(by *server, name string, n int) (first string) {
		t.Helper()
		for i := range n {
			each := fmt.Sprint(name, " ", i)
			by.want(201, "POST", "/organizers", token, fmt.Sprintf(`{"organizer":"People of %s"}`, each))
			by.want(201, "POST", "/categories", token, fmt.Sprintf(`{"name":"Kind of %s"}`, each))
			e := by.want(201, "POST", "/events", token, fmt.Sprintf(
				`{"title":%q,"start_date":"2031-03-10 10:00","end_date":"2031-03-10 12:00","venue":{"venue":"Hall of %s"},"tags":["jazz","tag of %s"]}`, each, each, each))
			if i == 0 {
				first = "/events/" + idOf(e)
			}
		}
		return first
	}
	// sound waits until every process says that it is well at the head, and compares.
	sound := func(what string, within time.Duration) {
		t.Helper()
		store, err := postgres.Open(t.Context(), on, postgres.Options{})
		must(t, err)
		defer func() { _ = store.Close() }()
		now, err := store.Head(t.Context(), eventstore.Point{})
		must(t, err)
		took := eventually(t, what, func() bool {
			for _, s := range []*server{whole, api, relay, projector} {
				v := s.state()
				if v["code"] != 200 || v["status"] != "ok" || v["head"] != float64(now.Position) {
					return false
				}
				if shows, told := v["visible"]; told && shows != v["head"] {
					return false
				}
				if sent, told := v["published"]; told && sent != v["head"] {
					return false
				}
			}
			return true
		})
		t.Logf("%s: all is well after %s", what, took.Round(time.Millisecond))
		if took > within {
			t.Errorf("%s: not before %s", what, took)
		}
		last := presentRecords(t, store)
		for _, s := range []*server{whole, api} {
			f := &fleet{t: t, apis: make([]atomic.Pointer[server], 1), token: token}
			f.apis[0].Store(s)
			f.checkLists(last)
		}
		streamIsOf(t, store, at, feedPrefix)
		mustTool(t, "verify", "--store", on)
		mustTool(t, append([]string{"health"}, shared...)...)
		mustTool(t, append([]string{"health"}, own...)...)
		if t.Failed() {
			t.Fatalf("%s: not as the store has it", what)
		}
	}
	kept := add(whole, "kept", 3)
	keep()
	add(whole, "lost", 5)
	whole.want(200, "PATCH", kept, token, `{"title":"of the lost history"}`)
	sound("before", limit)
	tags := map[*server][2]string{}
	paths := [2]string{kept, "/organizers"}
	for _, s := range []*server{whole, api} {
		var of [2]string
		for i, path := range paths {
			_, header, _ := s.full("GET", s.root+path, token, "", nil)
			of[i] = header.Get("ETag")
		}
		tags[s] = of
	}

	goBack()
	sound("under running processes", soundWithin)
	// The same version of the record again, with another content.
	whole.want(200, "PATCH", kept, token, `{"title":"of the present history"}`)
	for _, s := range []*server{whole, api} {
		for i, path := range paths {
			status, header, b := s.full("GET", s.root+path, token, "", map[string]string{"If-None-Match": tags[s][i]})
			if status != 200 || header.Get("ETag") == tags[s][i] || i == 0 && !strings.Contains(string(b), "of the present history") {
				t.Errorf("%s with the ETag %s of a lost version: %d with %s: %.200s", path, tags[s][i], status, header.Get("ETag"), b)
			}
		}
	}
	add(api, "new", 7)
	sound("past the lost head", soundWithin)
	if !again {
		return
	}

	lost := api.state()["head"].(float64)
	var stopping sync.WaitGroup
	for _, s := range []*server{whole, api, relay, projector} {
		stopping.Go(func() {
			s.ends()
		})
	}
	stopping.Wait()
	goBack()
	api = role("api") // nobody makes the index anew meanwhile
	untrue := func(when string) {
		t.Helper()
		wantTool(t, exitFailed, "", append([]string{"health"}, shared...)...)
		if v := api.state(); v["code"] == 200 {
			t.Errorf("%s: ready with lists of a lost history: %v", when, v)
		}
		if status, b := api.try("GET", api.root+"/events?"+coming, "", ""); status != 503 {
			t.Errorf("%s: a list of a lost history: %d %.200s", when, status, b)
		}
	}
	untrue("below the lost head")
	for api.state()["head"].(float64) <= lost {
		add(api, fmt.Sprint("later ", api.state()["head"]), 2)
	}
	untrue("past the lost head")
	whole, relay, projector = begin(own...), role("relay"), role("projector")
	sound("put back while nothing ran", limit)
}

// presentRecords returns the present records of a store that lists may have.
func presentRecords(t *testing.T, store eventstore.Store) map[calendar.ID]*calendar.Record {
	t.Helper()
	last := map[calendar.ID]*calendar.Record{}
	for position := calendar.Position(0); ; {
		entries, err := store.Read(t.Context(), eventstore.Range{After: uint64(position), Limit: 500})
		must(t, err)
		if len(entries) == 0 {
			return last
		}
		for _, entry := range entries {
			position = entry.Position
			if !entry.Kind.IsPost() && !entry.Kind.IsTerm() {
				continue
			}
			if last[entry.ID], err = calendar.DecodeRecord(entry.State); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// streamIsOf compares the stream of a feed with the entries of a store: it comes to
// the head, and each message is the entry of its position, with its mark.
func streamIsOf(t *testing.T, store eventstore.Store, url, prefix string) {
	t.Helper()
	conn, jetStream, err := feed.Connect(url, feed.ConnectOptions{})
	must(t, err)
	defer conn.Close()
	now, err := store.Head(t.Context(), eventstore.Point{})
	must(t, err)
	head := now.Position
	eventually(t, "the stream has the head", func() bool {
		stream, err := jetStream.Stream(t.Context(), feed.StreamName(prefix))
		return err == nil && stream.CachedInfo().State.LastSeq >= uint64(head)
	})
	stream, err := jetStream.Stream(t.Context(), feed.StreamName(prefix))
	must(t, err)
	if streamState := stream.CachedInfo().State; streamState.FirstSeq != 1 || streamState.LastSeq != uint64(head) || streamState.Msgs != uint64(head) {
		t.Errorf("the stream has %d messages, %d to %d; the store has %d entries", streamState.Msgs, streamState.FirstSeq, streamState.LastSeq, head)
	}
	for position := calendar.Position(0); position < head; {
		entries, err := store.Read(t.Context(), eventstore.Range{After: uint64(position), Limit: 500})
		must(t, err)
		for i := range entries {
			position = entries[i].Position
			mark, err := store.Head(t.Context(), eventstore.Point{Position: position})
			must(t, err)
			rawStreamMsg, err := stream.GetMsg(t.Context(), uint64(position))
			if err != nil {
				t.Errorf("message %d: %v", position, err)
				continue
			}
			if got, want := rawStreamMsg.Header.Get(feed.HeaderMark), hex.EncodeToString(mark.Hash[:]); got != want {
				t.Errorf("message %d has the mark %s, the store %s", position, got, want)
			}
			entry, whole, err := feed.Decode(rawStreamMsg.Header, rawStreamMsg.Data)
			entry.Secret, entry.Salts = entries[i].Secret, entries[i].Salts // do not travel
			if err != nil || !whole || eventstore.Leaf(&entry) != eventstore.Leaf(&entries[i]) {
				t.Errorf("message %d is %s of record %d, version %d (%v); the store has %s of record %d, version %d",
					position, entry.Change, entry.ID, entry.Version, err, entries[i].Change, entries[i].ID, entries[i].Version)
			}
		}
	}
}
