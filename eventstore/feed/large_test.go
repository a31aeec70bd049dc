package feed_test

import (
	"sync"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/feed"
)

// What a source holds of large entries is bounded by bytes: what the server sends
// ahead, and what one read gives. It runs alone: on a busy machine the source asks twice.
func TestSourceHoldsFewBytes(t *testing.T) {
	const entries, size = 30, 400 << 10 // in the fields and again in the state
	addr := listen(t, &server.Options{})
	s, js := newStore(t), connect(t, "nats://"+addr, feed.ConnectOptions{})
	actor(t, relay(t, s, js, feed.RelayOptions{}).Run)
	for range entries {
		addOne(t, s, size)
	}
	until(t, js, entries)

	// How often the source asks depends on the machine: again when a sign of life is late.
	asked, err := js.Conn().SubscribeSync("$JS.API.CONSUMER.MSG.NEXT.>")
	check(t, err)
	check(t, js.Conn().Flush())
	own := connect(t, "nats://"+addr, feed.ConnectOptions{})
	src := source(t, s, own, feed.SourceOptions{})
	mustReadAll(t, s, src, 0, 1)
	// What comes is here when nothing more does; looking too early sees less.
	came := own.Conn().Stats().InBytes
	for ctx := within(t); ; {
		before := came
		for range 100 {
			pause(ctx, t)
		}
		if came = own.Conn().Stats().InBytes; came == before {
			break
		}
	}
	check(t, js.Conn().Flush())
	requests, _, err := asked.Pending()
	check(t, err)
	const request = feed.MaxPayload + 64<<10 + 2*size // a message may begin within its bytes
	if most := uint64(requests)*request + 1<<20; requests == 0 || came > most {
		t.Errorf("the server sent %d bytes ahead of %d for %d requests, want at most %d", came, entries*2*size, requests, most)
	}
	reads, at := 0, markOf(t, s, 1)
	for at.Position < entries {
		var got []eventstore.Entry
		var err error
		got, at, err = src.Read(within(t), at, 1000)
		check(t, err)
		reads++
		held := 0
		for _, e := range got {
			held += len(e.Fields) + len(e.State)
		}
		if held > 4<<20+3*size {
			t.Errorf("one read gave %d entries of %d bytes", len(got), held)
		}
	}
	mustReadAll(t, s, source(t, s, own, feed.SourceOptions{}), 0, entries)
	if st := src.Stats(); st.FromStream == 0 {
		t.Errorf("got %+v in %d reads, want them from the stream", st, reads)
	}
}

// A relay gives the server no more of large entries at once than flights of 8 MiB
// and what is behind them, and tells of each group and of its end.
func TestRelayHoldsFewBytes(t *testing.T) {
	t.Parallel()
	const entries = 12
	s, js := newStore(t), embedded(t)
	for range entries {
		addOne(t, s, 3500<<10) // 7 MiB, a group of its own
	}
	var (
		mu         sync.Mutex
		open, most int
		told       calendar.Position
	)
	r := relay(t, s, js, feed.RelayOptions{Observe: func(first, last calendar.Position) func(error) {
		mu.Lock()
		defer mu.Unlock()
		if first != told+1 || last < first {
			t.Errorf("told of %d to %d after %d", first, last, told)
		}
		told = last
		open++
		most = max(most, open)
		return func(err error) {
			mu.Lock()
			defer mu.Unlock()
			open--
			if err != nil {
				t.Errorf("up to %d: %v", last, err)
			}
		}
	}})
	stop := actor(t, r.Run)
	for ctx := within(t); r.Stats().Position < entries; {
		pause(ctx, t)
	}
	check(t, stop())
	if most > 2 || open != 0 || told != entries {
		t.Errorf("told up to %d, %d groups of 7 MiB were under way at once, want at most 2; %d did not end", told, most, open)
	}
}
