package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"daybook/eventstore"
	"daybook/eventstore/feed"
	"daybook/internal/testkit/engines"
)

// These tests break a fleet of processes while clients write and read. Each
// proves that its fault has happened. Afterwards every acknowledged write is in
// the store with its effect, once, and lists equal the store, without a hand.

// during waits a second, and fails when no writes were acknowledged meanwhile.
func (fleet *fleet) during(what string) {
	fleet.t.Helper()
	before := fleet.acknowledged.Load()
	<-time.After(time.Second)
	eventually(fleet.t, what, func() bool { return fleet.acknowledged.Load() > before+20 || fleet.t.Failed() })
	if fleet.t.Failed() {
		fleet.t.FailNow()
	}
}

// newest returns the position of the newest write, as health tells it.
func (fleet *fleet) newest() float64 {
	fleet.mu.Lock()
	defer fleet.mu.Unlock()
	return float64(fleet.position)
}

// until waits for something that comes while the clients go on.
func (fleet *fleet) until(what string, is func() bool) time.Duration {
	fleet.t.Helper()
	took := eventually(fleet.t, what, func() bool { return is() || fleet.t.Failed() })
	if fleet.t.Failed() {
		fleet.t.FailNow()
	}
	return took
}

// streams returns the JetStream of a server.
func streams(t *testing.T, url string) jetstream.JetStream {
	t.Helper()
	conn, jetStream, err := feed.Connect(url, feed.ConnectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return jetStream
}

// stream returns the stream of the feed, nil without one.
func stream(t *testing.T, jetStream jetstream.JetStream) *jetstream.StreamInfo {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	s, err := jetStream.Stream(ctx, feed.StreamName(feed.DefaultPrefix))
	if err != nil {
		return nil
	}
	return s.CachedInfo()
}

// checkStream looks whether the stream has every entry from its first one on,
// once.
func (fleet *fleet) checkStream(jetStream jetstream.JetStream) {
	fleet.t.Helper()
	now, err := fleet.open().Head(fleet.t.Context(), eventstore.Point{})
	if err != nil {
		fleet.t.Fatal(err)
	}
	head := now.Position
	streamInfo := stream(fleet.t, jetStream)
	if streamInfo == nil {
		fleet.t.Fatal("no stream")
	}
	if streamInfo.State.LastSeq != uint64(head) || streamInfo.State.Msgs != streamInfo.State.LastSeq-streamInfo.State.FirstSeq+1 {
		fleet.t.Errorf("stream from %d to %d has %d messages, the store has %d entries", streamInfo.State.FirstSeq, streamInfo.State.LastSeq, streamInfo.State.Msgs, head)
	}
}

// TestFaultServers breaks one server after the other: PostgreSQL is killed; the stream is
// deleted, and then the whole store of JetStream; the search server is gone, and refuses writes
// with 429, as one does whose queue or disk is full.
func TestFaultServers(t *testing.T) {
	t.Parallel()
	store, nats := engines.Own(t, engines.Postgres), engines.Own(t, engines.NATS)
	index := engines.Own(t, engines.Elasticsearch)
	between := newSearch(t, index.URL(), nil)
	fleet := newFleet(t, servers{store.URL(), nats.URL(), between.URL}, 2)
	relay, projects := fleet.start("relay", fleet.servers), fleet.start("projector", fleet.servers)
	fleet.work(4)
	fleet.during("writes before")

	fleet.storeFails.Store(true)
	refused, reads := fleet.refused.Load(), fleet.readsRefused.Load()
	store.Kill9()
	fleet.until("writes and reads are refused", func() bool {
		return fleet.refused.Load() > refused+4 && fleet.readsRefused.Load() > reads
	})
	store.Start()
	fleet.during("writes with the store back")
	fleet.storeFails.Store(false)

	jetStream := streams(t, nats.URL())
	for _, lose := range []func(){
		func() { must(t, jetStream.DeleteStream(t.Context(), feed.StreamName(feed.DefaultPrefix))) },
		func() {
			nats.Kill9()
			must(t, os.RemoveAll(nats.Data()))
			want := fleet.newest() + 20
			fleet.until("lists without a feed", func() bool {
				shows, told := projects.state()["visible"].(float64)
				return told && shows > want
			})
			nats.Start()
		},
	} {
		var before *jetstream.StreamInfo
		fleet.until("a stream", func() bool {
			before = stream(t, jetStream)
			return before != nil && before.State.Msgs > 0
		})
		lose()
		took := fleet.until("another stream", func() bool {
			now := stream(t, jetStream)
			return now != nil && now.Created.After(before.Created) && now.State.LastSeq > before.State.LastSeq
		})
		t.Logf("stream of %d messages deleted; another one after %s", before.State.Msgs, took)
	}
	if n := relay.counter("daybook_relay_streams_rebuilt_total"); n < 2 {
		t.Errorf("the relay made %v streams anew, want 2", n)
	}

	fleet.until("lists before", func() bool { return projects.state()["status"] == "ok" })
	index.Kill9()
	listsRefused := fleet.listsRefused.Load()
	fleet.until("what was on its way", func() bool { return fleet.listsRefused.Load() > listsRefused+5 })
	reads, lists := fleet.reads.Load(), fleet.lists.Load()
	fleet.during("writes without a search server")
	fleet.until("reads without a search server", func() bool {
		return fleet.reads.Load() > reads+10 && fleet.listsRefused.Load() > listsRefused+15
	})
	if n := fleet.lists.Load() - lists; n != 0 {
		t.Errorf("%d lists were answered without a search server", n)
	}
	index.Start()
	fleet.until("lists with the search server back", func() bool { return fleet.lists.Load() > lists+5 })
	retries := projects.counter("daybook_projection_retries_total")
	for _, busy := range []int32{refuseAll, refuseSome} {
		between.busy.Store(busy)
		fleet.until("the projector tries again", func() bool {
			tried := projects.counter("daybook_projection_retries_total")
			return tried > retries && map[int32]int64{refuseAll: between.refusedWrites.Load(), refuseSome: between.refusedItems.Load()}[busy] >= 5
		})
		between.busy.Store(refuseNone)
		// By itself, and with the writes going on.
		want := fleet.newest()
		t.Logf("lists have caught up after %s", fleet.until("lists after", func() bool {
			shows, told := projects.state()["visible"].(float64)
			return told && shows >= want
		}))
		retries = projects.counter("daybook_projection_retries_total")
	}
	fleet.heals(relay, projects)
	fleet.check()
	fleet.checkStream(jetStream)
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
	skipIfShort(t)
	nats := engines.Own(t, engines.NATS)
	store, schema := engines.Shared(t, engines.Postgres)
	index, prefix := engines.Shared(t, engines.Elasticsearch)
	var apiTrap, relayTrap, projectorTrap trap
	between := newSearch(t, index, &projectorTrap)
	byStore := servers{through(t, store, newStoreTap(&apiTrap)), nats.URL(), index}
	byFeed := servers{store, through(t, nats.URL(), func() tap { return &feedTap{trap: &relayTrap} }), index}
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
	fleet.during("writes before")

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
	var group sync.WaitGroup
	group.Go(func() {
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
	group.Go(func() {
		jetStream := streams(t, nats.URL())
		for _, point := range []string{pointPublishing, pointPublished, pointBetween} {
			if !dies(&relayTrap, point, relay) {
				return
			}
			before := stream(t, jetStream)
			relay = fleet.start("relay", byFeed)
			active("the next relay", relay, "relay")
			after := stream(t, jetStream)
			if before == nil || after == nil || !after.Created.Equal(before.Created) {
				t.Errorf("%s: the stream was made anew", point)
			}
		}
	})
	group.Go(func() {
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
	group.Wait()
	if t.Failed() {
		return
	}
	fleet.during("writes after")
	fleet.heals(relay, projects)
	fleet.check()
	fleet.checkStream(streams(t, nats.URL()))
}

// TestFaultProjectorSleeps runs two projectors. The active one is stopped in the midst of a
// write, replaced by the other, and wakes up after that: what it had said reaches the server
// late and has no effect.
func TestFaultProjectorSleeps(t *testing.T) {
	t.Parallel()
	store, schema := engines.Shared(t, engines.Postgres)
	url, feedPrefix := engines.Shared(t, engines.NATS)
	index, prefix := engines.Shared(t, engines.Elasticsearch)
	fleet := newFleet(t, servers{store, url, index}, 1, "--store-schema", schema, "--feed-prefix", feedPrefix, "--index-prefix", prefix)
	var betweens [2]*search
	var projectors [2]*server
	for i := range 2 {
		betweens[i] = newSearch(t, index, nil)
		projectors[i] = fleet.start("projector", servers{store, url, betweens[i].URL})
	}
	relay := fleet.start("relay", fleet.servers)
	fleet.work(3)
	fleet.during("writes before")

	first, second := active(t, "projector", projectors[:])
	held := newHeld()
	betweens[slices.Index(projectors[:], first)].hold.Store(held)
	<-held.met
	first.signal(syscall.SIGSTOP)
	// What is held back may be newer than what a client was told of by now.
	want := max(fleet.newest(), float64(held.newest))
	took := fleet.until("the other projector", func() bool {
		v := second.state()
		shows, told := v["visible"].(float64)
		return v["projector"] == "active" && told && shows >= want
	})
	t.Logf("the other projector has caught up %s after the first was stopped in the midst of a batch", took)
	if took > 20*time.Second {
		t.Errorf("the projector was replaced after %s", took)
	}
	close(held.release)
	<-held.done
	if !strings.Contains(held.answer, `"status":409`) || strings.Contains(held.answer, `"status":20`) {
		t.Errorf("the late documents: %s", held.answer)
	}
	first.signal(syscall.SIGCONT)
	fleet.until("the first projector stands by", func() bool { return first.state()["projector"] == "standby" })
	fleet.heals(relay, second)
	fleet.check()
}
