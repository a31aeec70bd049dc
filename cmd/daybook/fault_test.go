package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"daybook/eventstore"
	"daybook/eventstore/feed"
	"daybook/internal/testkit/engines"
	"daybook/projector"
	"daybook/query/readmodel"
	"daybook/query/readmodel/elastic"
)

// These tests break a fleet of processes while clients write and read. Each
// proves that its fault has happened. Afterwards every acknowledged write is in
// the store with its effect, once, and lists equal the store, without a hand.

// during waits, and fails when no writes were acknowledged meanwhile.
func (f *fleet) during(duration time.Duration, what string) {
	f.t.Helper()
	before := f.acknowledged.Load()
	<-time.After(duration)
	eventually(f.t, what, func() bool { return f.acknowledged.Load() > before+20 || f.t.Failed() })
	if f.t.Failed() {
		f.t.FailNow()
	}
}

// newest returns the position of the newest write, as health tells it.
func (f *fleet) newest() float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return float64(f.position)
}

// until waits for something that comes while the clients go on.
func (f *fleet) until(what string, is func() bool) time.Duration {
	f.t.Helper()
	took := eventually(f.t, what, func() bool { return is() || f.t.Failed() })
	if f.t.Failed() {
		f.t.FailNow()
	}
	return took
}

// TestFaultStoreRestarts kills PostgreSQL twice while clients write and read.
func TestFaultStoreRestarts(t *testing.T) {
	t.Parallel()
	store, nats := engines.Own(t, engines.EnginePostgres), engines.Own(t, engines.EngineNATS)
	index, prefix := engines.Elasticsearch(t)
	fleet := newFleet(t, servers{store.URL(), nats.URL(), index}, 2, "--index-prefix", prefix)
	fleet.storeFails = true
	relay, projects := fleet.start("relay", fleet.on), fleet.start("projector", fleet.on)
	fleet.work(4)
	for range 2 {
		fleet.during(2*time.Second, "writes before")
		refused, reads := fleet.refused.Load(), fleet.readsRefused.Load()
		store.Kill9()
		fleet.until("writes and reads are refused", func() bool {
			return fleet.refused.Load() > refused+4 && fleet.readsRefused.Load() > reads
		})
		store.Start()
		fleet.during(2*time.Second, "writes after")
	}
	fleet.heals(relay, projects)
	fleet.check()
}

// streams returns the JetStream of a server.
func streams(t *testing.T, url string) jetstream.JetStream {
	t.Helper()
	conn, js, err := feed.Connect(url, feed.ConnectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return js
}

// stream returns the stream of the feed, nil without one.
func stream(t *testing.T, js jetstream.JetStream) *jetstream.StreamInfo {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	s, err := js.Stream(ctx, feed.StreamName(feed.DefaultPrefix))
	if err != nil {
		return nil
	}
	return s.CachedInfo()
}

// checkStream looks whether the stream has every entry from its first one on,
// once.
func (f *fleet) checkStream(js jetstream.JetStream) {
	f.t.Helper()
	now, err := f.open().Head(f.t.Context(), eventstore.Point{})
	if err != nil {
		f.t.Fatal(err)
	}
	head := now.Position
	streamInfo := stream(f.t, js)
	if streamInfo == nil {
		f.t.Fatal("no stream")
	}
	if streamInfo.State.LastSeq != uint64(head) || streamInfo.State.Msgs != streamInfo.State.LastSeq-streamInfo.State.FirstSeq+1 {
		f.t.Errorf("stream from %d to %d has %d messages, the store has %d entries", streamInfo.State.FirstSeq, streamInfo.State.LastSeq, streamInfo.State.Msgs, head)
	}
}

// TestFaultStreamLost deletes the stream, and then the whole store of JetStream,
// while clients write and read.
func TestFaultStreamLost(t *testing.T) {
	t.Parallel()
	nats := engines.Own(t, engines.EngineNATS)
	store, schema := engines.Postgres(t)
	index, prefix := engines.Elasticsearch(t)
	fleet := newFleet(t, servers{store, nats.URL(), index}, 1, "--store-schema", schema, "--index-prefix", prefix)
	relay, projects := fleet.start("relay", fleet.on), fleet.start("projector", fleet.on)
	fleet.work(4)
	js := streams(t, nats.URL())
	again := func(before *jetstream.StreamInfo) bool {
		streamInfo := stream(t, js)
		return streamInfo != nil && streamInfo.Created.After(before.Created) && streamInfo.State.LastSeq > before.State.LastSeq
	}

	fleet.during(2*time.Second, "writes before")
	before := stream(t, js)
	if before == nil || before.State.Msgs == 0 {
		t.Fatalf("the stream before: %+v", before)
	}
	if err := js.DeleteStream(t.Context(), feed.StreamName(feed.DefaultPrefix)); err != nil {
		t.Fatal(err)
	}
	t.Logf("stream of %d messages deleted; another one after %s", before.State.Msgs, fleet.until("another stream", func() bool { return again(before) }))
	fleet.during(time.Second, "writes after")

	before = stream(t, js)
	nats.Kill9()
	must(t, os.RemoveAll(nats.Data()))
	fleet.during(2*time.Second, "writes without a feed")
	fleet.until("lists without a feed", func() bool {
		v := projects.state()
		return v["visible"].(float64) > float64(before.State.LastSeq)+20
	})
	nats.Start()
	t.Logf("store of %d messages deleted; another stream after %s", before.State.Msgs, fleet.until("another stream", func() bool { return again(before) }))
	fleet.during(time.Second, "writes after")
	fleet.heals(relay, projects)
	fleet.check()
	fleet.checkStream(js)
	if n := relay.counter("daybook_relay_streams_rebuilt_total"); n < 2 {
		t.Errorf("the relay made %v streams anew, want 2", n)
	}
}

// TestFaultSearchStopped kills the search server for a while: writes and single
// reads go on, lists are refused until it is back.
func TestFaultSearchStopped(t *testing.T) {
	t.Parallel()
	for flavour := range engines.SearchServers() {
		t.Run(flavour, func(t *testing.T) {
			t.Parallel()
			index, nats := engines.Own(t, flavour), engines.Own(t, engines.EngineNATS)
			store, schema := engines.Postgres(t)
			fleet := newFleet(t, servers{store, nats.URL(), index.URL()}, 1, "--store-schema", schema, "--index-flavour", flavour)
			relay, projects := fleet.start("relay", fleet.on), fleet.start("projector", fleet.on)
			fleet.until("the projector is ready", func() bool { return projects.state()["code"] == http.StatusOK })
			fleet.work(3)
			fleet.during(2*time.Second, "writes before")
			fleet.until("lists before", func() bool { return fleet.lists.Load() > 0 })
			index.Kill9()
			<-time.After(time.Second) // what was on its way
			acknowledged, reads, lists, refused := fleet.acknowledged.Load(), fleet.reads.Load(), fleet.lists.Load(), fleet.listsRefused.Load()
			fleet.during(6*time.Second, "writes without a search server")
			if n := fleet.lists.Load() - lists; n != 0 {
				t.Errorf("%d lists were answered without a search server", n)
			}
			t.Logf("without a search server: %d writes acknowledged, %d single reads answered, %d lists refused",
				fleet.acknowledged.Load()-acknowledged, fleet.reads.Load()-reads, fleet.listsRefused.Load()-refused)
			if fleet.reads.Load() < reads+10 || fleet.listsRefused.Load() < refused+10 {
				t.Error("too few reads for a proof")
			}
			index.Start()
			t.Logf("lists again after %s", fleet.until("lists after", func() bool { return fleet.lists.Load() > lists+5 }))
			fleet.during(time.Second, "writes after")
			fleet.heals(relay, projects)
			fleet.check()
		})
	}
}

// TestFaultSearchFull has the search server refuse writes with 429, as one does
// whose disk is full or whose queue is.
func TestFaultSearchFull(t *testing.T) {
	t.Parallel()
	nats := engines.Own(t, engines.EngineNATS)
	store, schema := engines.Postgres(t)
	index, prefix := engines.Elasticsearch(t)
	between := newSearch(t, index, nil)
	fleet := newFleet(t, servers{store, nats.URL(), between.URL}, 1, "--store-schema", schema, "--index-prefix", prefix)
	relay, projects := fleet.start("relay", fleet.on), fleet.start("projector", fleet.on)
	fleet.work(3)
	fleet.during(2*time.Second, "writes before")
	for _, busy := range []int32{refuseAll, refuseSome} {
		between.busy.Store(busy)
		fleet.during(5*time.Second, "writes while the index is full")
		for end := time.Now().Add(limit); projects.counter("daybook_projection_retries_total") == 0 && time.Now().Before(end); {
			fleet.during(time.Second, "writes until the projector tries again")
		}
		between.busy.Store(refuseNone)
		// By itself, and with the writes going on.
		want := fleet.newest()
		t.Logf("lists have caught up after %s", fleet.until("lists after", func() bool {
			shows, told := projects.state()["visible"].(float64)
			return told && shows >= want
		}))
	}
	whole, items := between.refusedWrites.Load(), between.refusedItems.Load()
	t.Logf("429 for %d writes as a whole and for %d items", whole, items)
	if whole < 5 || items < 5 || projects.counter("daybook_projection_retries_total") == 0 {
		t.Errorf("the search server refused %d writes and %d items, the projector tried again %v times: too few for a proof",
			whole, items, projects.counter("daybook_projection_retries_total"))
	}
	fleet.heals(relay, projects)
	fleet.check()
}

// keptPosition returns the position that an index keeps.
func keptPosition(t *testing.T, index, prefix string) int64 {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, index+"/"+prefix+"-state/_doc/position", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var doc struct {
		Source struct{ Position int64 } `json:"_source"`
	}
	if err := json.NewDecoder(res.Body).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	return doc.Source.Position
}

// TestFaultKilledAtPoints kills each role at each of its points, and starts
// another process in its place as a supervisor does.
func TestFaultKilledAtPoints(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skipf("%s did not run: it is slow and -short is set", t.Name())
	}
	nats := engines.Own(t, engines.EngineNATS)
	store, schema := engines.Postgres(t)
	index, prefix := engines.Elasticsearch(t)
	var apiTrap, relayTrap, projectorTrap trap
	between := newSearch(t, index, &projectorTrap)
	byStore := servers{through(t, store, newStoreTap(&apiTrap)), nats.URL(), index}
	byFeed := servers{store, through(t, nats.URL(), func() tap { return &feedTap{k: &relayTrap} }), index}
	byIndex := servers{store, nats.URL(), between.URL}
	fleet := newFleet(t, servers{store, nats.URL(), index}, 2, "--store-schema", schema, "--index-prefix", prefix)
	fleet.apisDie = true
	replace := func() {
		fleet.apis[0].Load().kill()
		fleet.apis[0].Store(fleet.start("api", byStore))
	}
	replace()
	relay, projects := fleet.start("relay", byFeed), fleet.start("projector", byIndex)
	fleet.work(4)
	fleet.during(time.Second, "writes before")

	dies := func(k *trap, point string, victim *server) bool {
		select {
		case <-k.set(point, victim):
		case <-time.After(limit):
			t.Errorf("%s: not within %s", point, limit)
			return false
		}
		if !victim.wasKilled() {
			t.Errorf("%s: process %d ended by %s", point, victim.cmd.Process.Pid, victim.cmd.ProcessState)
			return false
		}
		t.Logf("process %d killed, %s", victim.cmd.Process.Pid, point)
		return true
	}
	active := func(what string, s *server, role string) {
		eventually(t, what, func() bool { return s.state()[role] == "active" || t.Failed() })
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for _, point := range []string{pointCommitting, pointCommitted} {
			replayed, broken := fleet.replayed.Load(), fleet.broken.Load()
			if !dies(&apiTrap, point, fleet.apis[0].Load()) {
				return
			}
			fleet.apis[0].Store(fleet.start("api", byStore))
			eventually(t, "clients lost their answers", func() bool { return fleet.broken.Load() > broken || t.Failed() })
			if point == pointCommitted {
				eventually(t, "a write of which nobody was told is answered again", func() bool {
					return fleet.replayed.Load()+fleet.confirmed.Load() > replayed || t.Failed()
				})
			}
		}
	})
	wg.Go(func() {
		js := streams(t, nats.URL())
		for _, point := range []string{pointPublishing, pointPublished, pointBetween} {
			if !dies(&relayTrap, point, relay) {
				return
			}
			before := stream(t, js)
			relay = fleet.start("relay", byFeed)
			active("the next relay", relay, "relay")
			after := stream(t, js)
			if before == nil || after == nil || !after.Created.Equal(before.Created) {
				t.Errorf("%s: the stream was made anew", point)
			}
		}
	})
	wg.Go(func() {
		for _, point := range []string{pointOffered, pointWritten, pointMoved} {
			if !dies(&projectorTrap, point, projects) {
				return
			}
			between.mu.Lock()
			last := between.last
			between.mu.Unlock()
			kept := keptPosition(t, index, prefix)
			if moved := point == pointMoved; last.documents == 0 || moved != (kept == last.newest) || kept > last.newest {
				t.Errorf("%s: the index keeps position %d, %d was written last", point, kept, last.newest)
			}
			projects = fleet.start("projector", byIndex)
			active("the next projector", projects, "projector")
		}
	})
	wg.Wait()
	if t.Failed() {
		return
	}
	fleet.during(time.Second, "writes after")
	fleet.heals(relay, projects)
	fleet.check()
	fleet.checkStream(streams(t, nats.URL()))
}

// TestFaultTwoOfEach runs two relays and two projectors. The active one of each
// is stopped in the midst of a write, replaced by the other, and wakes up after
// that: what it had said reaches the server late and has no effect. Then a relay
// and a projector run without any lease.
func TestFaultTwoOfEach(t *testing.T) {
	t.Parallel()
	nats := engines.Own(t, engines.EngineNATS)
	store, schema := engines.Postgres(t)
	index, prefix := engines.Elasticsearch(t)
	fleet := newFleet(t, servers{store, nats.URL(), index}, 1, "--store-schema", schema, "--index-prefix", prefix)
	var holds [2]atomic.Pointer[held]
	var betweens [2]*search
	var relays, projectors [2]*server
	for i := range 2 {
		by := through(t, nats.URL(), func() tap { return &feedTap{hold: &holds[i]} })
		relays[i] = fleet.start("relay", servers{store, by, index})
		betweens[i] = newSearch(t, index, nil)
		projectors[i] = fleet.start("projector", servers{store, nats.URL(), betweens[i].URL})
	}
	js := streams(t, nats.URL())
	fleet.work(3)
	fleet.during(time.Second, "writes before")
	place := func(of [2]*server, s *server) int {
		if of[0] == s {
			return 0
		}
		return 1
	}

	first, second := active(t, "relay", relays[:])
	h := newHeld()
	holds[place(relays, first)].Store(h)
	<-h.met
	first.signal(syscall.SIGSTOP)
	want := fleet.newest()
	took := fleet.until("the other relay", func() bool {
		v := second.state()
		return v["relay"] == "active" && v["published"].(float64) >= want
	})
	t.Logf("the other relay publishes %s after the first was stopped in the midst of a group", took)
	if took > 20*time.Second {
		t.Errorf("the relay was replaced after %s", took)
	}
	before := stream(t, js)
	close(h.release)
	<-h.done
	first.signal(syscall.SIGCONT)
	fleet.until("the first relay stands by", func() bool { return first.state()["relay"] == "standby" })
	fleet.during(time.Second, "writes after two relays")
	if streamInfo := stream(t, js); streamInfo == nil || !streamInfo.Created.Equal(before.Created) || streamInfo.State.Msgs != streamInfo.State.LastSeq-streamInfo.State.FirstSeq+1 {
		t.Errorf("the stream after a late relay: %+v, before %+v", streamInfo, before)
	}

	first, second = active(t, "projector", projectors[:])
	h = newHeld()
	late := betweens[place(projectors, first)]
	late.hold.Store(h)
	<-h.met
	first.signal(syscall.SIGSTOP)
	// What is held back may be newer than what a client was told of by now.
	want = max(fleet.newest(), float64(h.newest))
	took = fleet.until("the other projector", func() bool {
		v := second.state()
		shows, told := v["visible"].(float64)
		return v["projector"] == "active" && told && shows >= want
	})
	t.Logf("the other projector has caught up %s after the first was stopped in the midst of a batch", took)
	if took > 20*time.Second {
		t.Errorf("the projector was replaced after %s", took)
	}
	close(h.release)
	<-h.done
	if !strings.Contains(h.answer, `"status":409`) || strings.Contains(h.answer, `"status":20`) {
		t.Errorf("the late documents: %s", h.answer)
	}
	first.signal(syscall.SIGCONT)
	fleet.until("the first projector stands by", func() bool { return first.state()["projector"] == "standby" })

	first, _ = active(t, "relay", relays[:])
	fleet.bare(js, index, prefix, first)

	// The active ones die; those that were stopped take over.
	for role, pair := range map[string][]*server{"relay": relays[:], "projector": projectors[:]} {
		first, second := active(t, role, pair)
		first.kill()
		took := fleet.until("the other "+role, func() bool { return second.state()[role] == "active" })
		t.Logf("%s replaced %s after a kill", role, took)
		if took > 15*time.Second {
			t.Errorf("%s replaced after %s", role, took)
		}
		if role == "relay" {
			relays[0] = second
		} else {
			projectors[0] = second
		}
	}
	fleet.heals(relays[0], projectors[0])
	fleet.check()
	fleet.checkStream(js)
}

// bare runs a relay and a projector that ask for no lease next to the active ones
// of the fleet.
func (f *fleet) bare(js jetstream.JetStream, url, prefix string, other *server) {
	f.t.Helper()
	store := f.open()
	relay, source := feed.NewRelay(store, js, feed.RelayOptions{}), feed.NewSource(store, js, feed.SourceOptions{})
	defer source.Close()
	model, err := elastic.Open(url, elastic.Options{Prefix: prefix})
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = model.Close() }()
	if err = model.Reach(f.t.Context()); err == nil && errors.Is(model.Sound(f.t.Context()), readmodel.ErrUnsound) {
		if _, err = model.Next(f.t.Context()); err == nil {
			err = model.Promote(f.t.Context())
		}
	}
	if err != nil {
		f.t.Fatal(err)
	}
	projects := projector.New(model, source, projector.Options{})
	ctx, cancel := context.WithCancel(f.t.Context())
	var wg sync.WaitGroup
	for _, run := range []func(context.Context) error{relay.Run, projects.Run} {
		wg.Go(func() {
			if err := run(ctx); err != nil {
				f.t.Errorf("without a lease: %v", err)
			}
		})
	}
	defer wg.Wait()
	defer cancel()
	const conflicts = "daybook_relay_conflicts_total"
	before := other.counter(conflicts)
	f.until("two relays and two projectors at work", func() bool {
		return float64(relay.Stats().Conflicts)+other.counter(conflicts) > before && projects.Stats().Documents > 20
	})
	f.during(2*time.Second, "writes with two at work")
	relayStats, stats := relay.Stats(), projects.Stats()
	f.t.Logf("without a lease: a relay published %d entries, the server refused it %d times and the one with the lease %v times; a projector wrote %d documents of %d entries",
		relayStats.Published, relayStats.Conflicts, other.counter(conflicts)-before, stats.Documents, stats.Entries)
}
