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
func leader(t *testing.T, jetStream jetstream.JetStream) string {
	t.Helper()
	name := ""
	waitFor(t, func() bool {
		info, err := look(within(t), jetStream)
		if err == nil && info.Cluster != nil {
			name = info.Cluster.Leader
		}
		return name != ""
	})
	return name
}

// wantWhole wants a stream that holds each entry up to position once.
func wantWhole(t *testing.T, jetStream jetstream.JetStream, position calendar.Position) {
	t.Helper()
	if info := until(t, jetStream, position); info.State.LastSeq != uint64(position) || info.State.Msgs != uint64(position) || info.State.FirstSeq != 1 {
		t.Errorf("stream holds %d messages from %d to %d, want %d", info.State.Msgs, info.State.FirstSeq, info.State.LastSeq, position)
	}
}

// A setting is changed: the stream of one server becomes one of three, with all
// that is in it, and back.
func testReplicasChanged(t *testing.T, natsServers *natsServers) {
	store, jetStream := newStore(t), natsServers.open(t)
	var head calendar.Position
	for _, n := range []int{1, 3, 1} {
		stop := actor(t, relay(t, store, jetStream, feed.RelayOptions{Replicas: n}).Run)
		head = add(t, store, 100)
		waitFor(t, func() bool {
			info := until(t, jetStream, head)
			current := 1
			if info.Cluster != nil {
				current += len(slices.DeleteFunc(info.Cluster.Replicas, func(peer *jetstream.PeerInfo) bool { return !peer.Current }))
			}
			return info.Config.Replicas == n && current == n
		})
		check(t, stop())
		wantWhole(t, jetStream, head)
	}
	mustReadAll(t, store, source(t, store, jetStream, feed.SourceOptions{}), 0, head)
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
			natsServers := startNATS(t, n)
			store, jetStream := setup(t, natsServers)
			src := source(t, store, jetStream, feed.SourceOptions{Stall: 50 * time.Millisecond})
			var position calendar.Position
			follow := func() {
				t.Helper()
				head := add(t, store, 100)
				mustReadAll(t, store, src, position, head)
				position = head
			}
			follow()
			until(t, jetStream, position)

			one := natsServers.All[0]
			if n > 1 { // the others go on without it
				one = natsServers.Server(t, leader(t, jetStream))
			}
			one.Kill9()
			follow()
			if n > 1 {
				until(t, jetStream, position)
			}
			one.Start()
			follow()
			wantWhole(t, jetStream, position)

			for _, disks := range []bool{true, false} {
				for _, one := range natsServers.All {
					if one.Kill9(); !disks {
						check(t, os.RemoveAll(one.Dir))
					}
				}
				follow()
				for _, one := range natsServers.All {
					one.Start()
				}
				follow()
				wantWhole(t, jetStream, position)
			}
			waitFor(t, func() bool { // the follower, too, is back on the stream
				follow()
				return src.Stats().FromStream > 0 && src.Stats().Live
			})
		})
	}
}

// The connection to NATS swallows what is sent and says nothing, while a new one
// would be fine: the source goes on from the store, and relay and source find out
// and make another connection.
func TestSilentConnection(t *testing.T) {
	t.Parallel()
	at := "nats://" + listen(t, &server.Options{})
	between := engines.NewProxy(t, at)
	store, direct := newStore(t), connect(t, at, feed.ConnectOptions{})
	if options := direct.Conn().Opts; time.Duration(options.MaxPingsOut+1)*options.PingInterval > 6*time.Second {
		t.Errorf("silence is found out by %d pings, one every %s", options.MaxPingsOut+1, options.PingInterval)
	}
	through := connect(t, between.URL, feed.ConnectOptions{})
	r := relay(t, store, through, feed.RelayOptions{})
	actor(t, r.Run)
	head := add(t, store, 20)
	until(t, direct, head)
	src := source(t, store, through, feed.SourceOptions{Stall: 100 * time.Millisecond})
	mustReadAll(t, store, src, 0, head)

	between.Swallow(false)
	before := head
	head = add(t, store, 20)
	mustReadAll(t, store, src, before, head)
	if sourceStats := src.Stats(); sourceStats.FromStore == 0 {
		t.Errorf("got %+v, want entries from the store", sourceStats)
	}
	waitFor(t, func() bool { return r.Stats().Error != "" }) // it is known before the connection is another one
	until(t, direct, head)
	waitFor(t, func() bool {
		before, head = head, add(t, store, 1)
		mustReadAll(t, store, src, before, head)
		return src.Stats().Live && r.Stats().Error == ""
	})
}
