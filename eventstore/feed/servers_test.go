package feed_test

import (
	"os"
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
	ctx := within(t)
	for {
		info, err := look(ctx, js)
		if err == nil && info.Cluster != nil && info.Cluster.Leader != "" {
			return info.Cluster.Leader
		}
		pause(ctx, t)
	}
}

// The leader of the stream moves while entries come.
func testLeaderMoved(t *testing.T, p place) {
	s, e := setup(t, p)
	js := e.JetStream()
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
		for ctx := within(t); leader(t, js) == before; {
			pause(ctx, t)
		}
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
func testReplicasChanged(t *testing.T, p place) {
	s, js := newStore(t), p.open(t).JetStream()
	var head calendar.Position
	for _, n := range []int{1, 3, 1} {
		stop := actor(t, relay(t, s, js, feed.RelayOptions{Replicas: n}).Run)
		head = add(t, s, 100)
		ctx := within(t)
		for {
			info := until(t, js, head)
			current := 1
			if info.Cluster != nil {
				for _, peer := range info.Cluster.Replicas {
					if peer.Current {
						current++
					}
				}
			}
			if info.Config.Replicas == n && current == n {
				break
			}
			pause(ctx, t)
		}
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
			p := outside{startNATS(t, n)}
			s, e := setup(t, p)
			js := e.JetStream()
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

			if n > 1 { // the others go on without it
				one := p.Server(t, leader(t, js))
				one.Kill9()
				follow()
				until(t, js, at)
				one.Start()
			} else {
				p.All[0].Kill9()
				follow()
				p.All[0].Start()
			}
			follow()
			wantWhole(t, js, at)

			for _, one := range p.All {
				one.Kill9()
			}
			follow()
			for _, one := range p.All {
				one.Start()
			}
			follow()
			wantWhole(t, js, at)

			for _, one := range p.All {
				one.Kill9()
				check(t, os.RemoveAll(one.Dir))
			}
			follow()
			for _, one := range p.All {
				one.Start()
			}
			follow()
			wantWhole(t, js, at)
			again := source(t, s, js, feed.SourceOptions{})
			mustReadAll(t, s, again, 0, at)
			for ctx := within(t); src.Stats().FromStream == 0 || !src.Stats().Live; { // the follower, too, is back on the stream
				follow()
				pause(ctx, t)
			}
		})
	}
}

// Nothing depends on the servers when the program starts: what reads goes on
// with the store, and the stream is made when they come.
func TestServersComeLate(t *testing.T) {
	t.Parallel()
	p := outside{startNATS(t, 1)}
	p.All[0].Kill9()
	s, js := newStore(t), p.open(t).JetStream()
	actor(t, relay(t, s, js, feed.RelayOptions{}).Run)
	src := source(t, s, js, feed.SourceOptions{})
	head := add(t, s, 50)
	mustReadAll(t, s, src, 0, head)
	p.All[0].Start()
	until(t, js, head)
	for ctx := within(t); !src.Stats().Live; {
		head = add(t, s, 1)
		mustReadAll(t, s, src, head-1, head)
		pause(ctx, t)
	}
}

// The connection breaks, and what was under way is lost with it: the relay does
// not wait for the acknowledgement.
func TestConnectionBroken(t *testing.T) {
	t.Parallel()
	at := "nats://" + listen(t, &server.Options{})
	p := engines.NewProxy(t, at)
	js := connect(t, p.URL, feed.ConnectOptions{})
	s := newStore(t)
	published := make(chan calendar.Position, 100)
	r := relay(t, s, js, feed.RelayOptions{Observe: func(_, last calendar.Position) func(error) {
		published <- last
		return func(error) {}
	}})
	actor(t, r.Run)
	head := add(t, s, 10)
	until(t, js, head)
	p.Swallow(false)
	head = add(t, s, 1)
	for ctx, last := within(t), calendar.Position(0); last < head; {
		select {
		case last = <-published:
		case <-ctx.Done():
			t.Fatal("the relay publishes nothing")
		}
	}
	p.Switch(at)
	wantWhole(t, js, head)
	for ctx := within(t); r.Stats().Position < head; {
		pause(ctx, t)
	}
	if st := r.Stats(); st.Retries == 0 {
		t.Errorf("got %+v, want a relay that began again", st)
	}
}
