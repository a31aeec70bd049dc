package feed_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"daybook/calendar"
	"daybook/eventstore/feed"
	"daybook/internal/testkit/engines"
)

// leader returns the name of the server that leads the stream.
func leader(t *testing.T, js jetstream.JetStream) string {
	t.Helper()
	name := ""
	waitFor(t, func() bool {
		info, err := look(within(t), js)
		if err == nil && info.Cluster != nil {
			name = info.Cluster.Leader
		}
		return name != ""
	})
	return name
}

// The leader of the stream moves while entries come.
func testLeaderMoved(t *testing.T, p *natsServers) {
	s, js := setup(t, p)
	src := source(t, s, js, feed.SourceOptions{Stall: 50 * time.Millisecond})
	at := add(t, s, 100)
	mustReadAll(t, s, src, 0, at)
	until(t, js, at)
	for range 4 {
		before := leader(t, js)
		_, err := js.Conn().RequestWithContext(within(t), "$JS.API.STREAM.LEADER.STEPDOWN."+feed.StreamName(feed.DefaultPrefix), nil)
		check(t, err)
		head := add(t, s, 200)
		mustReadAll(t, s, src, at, head)
		at = head
		until(t, js, at)
		waitFor(t, func() bool { return leader(t, js) != before })
	}
	wantWhole(t, js, at)
}

// wantWhole wants a stream that holds each entry up to p once.
func wantWhole(t *testing.T, js jetstream.JetStream, p calendar.Position) {
	t.Helper()
	if info := until(t, js, p); info.State.LastSeq != uint64(p) || info.State.Msgs != uint64(p) || info.State.FirstSeq != 1 {
		t.Errorf("stream holds %d messages from %d to %d, want %d", info.State.Msgs, info.State.FirstSeq, info.State.LastSeq, p)
	}
}

// A setting is changed: the stream of one server becomes one of three, with all
// that is in it, and back.
func testReplicasChanged(t *testing.T, p *natsServers) {
	s, js := newStore(t), p.open(t)
	var head calendar.Position
	for _, n := range []int{1, 3, 1} {
		stop := actor(t, relay(t, s, js, feed.RelayOptions{Replicas: n}).Run)
		head = add(t, s, 100)
		waitFor(t, func() bool {
			info := until(t, js, head)
			current := 1
			if info.Cluster != nil {
				current += len(slices.DeleteFunc(info.Cluster.Replicas, func(peer *jetstream.PeerInfo) bool { return !peer.Current }))
			}
			return info.Config.Replicas == n && current == n
		})
		check(t, stop())
		wantWhole(t, js, head)
	}
	mustReadAll(t, s, source(t, s, js, feed.SourceOptions{}), 0, head)
}

// Servers end as by a loss of power, alone and all at once, with their disks and
// without: no one who reads misses an entry meanwhile, and the stream comes back.
func TestServersKilled(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skipf("%s did not run: it is slow and -short is set", t.Name())
	}
	for name, n := range map[string]int{"one server": 1, "cluster of three": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startNATS(t, n)
			s, js := setup(t, p)
			src := source(t, s, js, feed.SourceOptions{Stall: 50 * time.Millisecond})
			var at calendar.Position
			follow := func() {
				t.Helper()
				head := add(t, s, 100)
				mustReadAll(t, s, src, at, head)
				at = head
			}
			follow()
			until(t, js, at)

			one := p.All[0]
			if n > 1 { // the others go on without it
				one = p.Server(t, leader(t, js))
			}
			one.Kill9()
			follow()
			if n > 1 {
				until(t, js, at)
			}
			one.Start()
			follow()
			wantWhole(t, js, at)

			for _, disks := range []bool{true, false} {
				for _, one := range p.All {
					if one.Kill9(); !disks {
						check(t, os.RemoveAll(one.Dir))
					}
				}
				follow()
				for _, one := range p.All {
					one.Start()
				}
				follow()
				wantWhole(t, js, at)
			}
			waitFor(t, func() bool { // the follower, too, is back on the stream
				follow()
				return src.Stats().FromStream > 0 && src.Stats().Live
			})
		})
	}
}

// Nothing depends on the servers when the program starts: what reads goes on
// with the store, and the stream is made when they come.
func TestServersComeLate(t *testing.T) {
	t.Parallel()
	p := startNATS(t, 1)
	p.All[0].Kill9()
	s, js := newStore(t), p.open(t)
	actor(t, relay(t, s, js, feed.RelayOptions{}).Run)
	src := source(t, s, js, feed.SourceOptions{})
	head := add(t, s, 50)
	mustReadAll(t, s, src, 0, head)
	p.All[0].Start()
	until(t, js, head)
	waitFor(t, func() bool {
		head = add(t, s, 1)
		mustReadAll(t, s, src, head-1, head)
		return src.Stats().Live
	})
}

// The connection to NATS swallows what is sent and says nothing, while a new one
// would be fine: the source goes on from the store, and relay and source find out
// and make another connection.
func TestSilentConnection(t *testing.T) {
	t.Parallel()
	at := "nats://" + listen(t, &server.Options{})
	between := engines.NewProxy(t, at)
	s, direct := newStore(t), connect(t, at, feed.ConnectOptions{})
	if o := direct.Conn().Opts; time.Duration(o.MaxPingsOut+1)*o.PingInterval > 6*time.Second {
		t.Errorf("silence is found out by %d pings, one every %s", o.MaxPingsOut+1, o.PingInterval)
	}
	through := connect(t, between.URL, feed.ConnectOptions{})
	r := relay(t, s, through, feed.RelayOptions{})
	actor(t, r.Run)
	head := add(t, s, 20)
	until(t, direct, head)
	src := source(t, s, through, feed.SourceOptions{Stall: 100 * time.Millisecond})
	mustReadAll(t, s, src, 0, head)

	between.Swallow(false)
	before := head
	head = add(t, s, 20)
	mustReadAll(t, s, src, before, head)
	if st := src.Stats(); st.FromStore == 0 {
		t.Errorf("got %+v, want entries from the store", st)
	}
	waitFor(t, func() bool { return r.Stats().Error != "" }) // it is known before the connection is another one
	until(t, direct, head)
	waitFor(t, func() bool {
		before, head = head, add(t, s, 1)
		mustReadAll(t, s, src, before, head)
		return src.Stats().Live && r.Stats().Error == ""
	})
}
