package feed_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/feed"
)

// unaware is a store that does not find out that its history is another one, as one
// behind a pooler may not for a moment.
type unaware struct{ eventstore.Store }

func (s unaware) Epoch() eventstore.Epoch { return eventstore.Epoch{History: 1} }

func (s unaware) Head(ctx context.Context, point eventstore.Point) (eventstore.Head, error) {
	head, err := s.Store.Head(ctx, point)
	head.Epoch = s.Epoch()
	return head, err
}

// lose makes a store lose all after a position and have others up to a head.
func lose(t *testing.T, s *store, after, head calendar.Position) {
	t.Helper()
	s.Rewind(after)
	for at := after; at < head; {
		at = addOne(t, s, 9)
	}
}

// chaos is a store, a stream and readers, and what happens to them.
type chaos struct {
	t       *testing.T
	dice    *rand.Rand
	store   *store
	seen    eventstore.Store // by relays and sources
	js      jetstream.JetStream
	head    calendar.Position
	stops   []func() error // of relays that run
	readers [2]struct {
		source *feed.Source
		at     calendar.Position
	}
}

// testRandom: relays are killed and started, the stream is damaged and the store loses
// entries, in random order. A reader gets what the store has, each entry once and in
// order, and hears of every loss that concerns it. In the end the stream is whole.
func testRandom(t *testing.T, p *natsServers) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			c := &chaos{t: t, dice: rand.New(rand.NewPCG(seed, 1)), store: s, seen: s, js: p.open(t)}
			if seed%2 == 1 {
				c.seen = unaware{s}
			}
			for i := range c.readers {
				c.openReader(i)
			}
			c.head = add(t, s, 20)
			steps := []func(){
				c.appendSome, c.appendSome, c.appendSome, c.appendSome, c.startRelay, c.startRelay, c.startRelay, c.killRelay, c.killRelay,
				c.loseTail, c.damageStream, func() { c.openReader(c.dice.IntN(len(c.readers))) },
			}
			for range 40 {
				steps[c.dice.IntN(len(steps))]()
				c.readSome(c.dice.IntN(len(c.readers)))
			}
			for len(c.stops) > 0 {
				c.killRelay()
			}
			actor(t, relay(t, c.seen, c.js, feed.RelayOptions{}).Run)
			waitFor(t, c.newestFromStream)
			if info := until(t, c.js, c.head); info.State.LastSeq != uint64(c.head) || info.State.Msgs > uint64(c.head) {
				t.Errorf("stream holds %d messages up to %d, head is %d", info.State.Msgs, info.State.LastSeq, c.head)
			}
		})
	}
}

// newestFromStream appends entries and reports whether a new source reads all of them from
// the stream.
func (c *chaos) newestFromStream() bool {
	before := c.head
	c.head = add(c.t, c.store, 10)
	until(c.t, c.js, c.head)
	src := source(c.t, c.seen, c.js, feed.SourceOptions{Stall: 50 * time.Millisecond})
	check(c.t, readAll(within(c.t), c.store, src, before, c.head, 64))
	sourceStats := src.Stats()
	src.Close()
	return sourceStats.FromStore == 0
}

func (c *chaos) openReader(i int) {
	r := &c.readers[i]
	if r.source != nil {
		r.source.Close()
	}
	r.source = source(c.t, c.seen, c.js, feed.SourceOptions{Stall: 10 * time.Millisecond})
}

// readSome reads up to a random position, in pieces of a random size.
func (c *chaos) readSome(i int) {
	r := &c.readers[i]
	to := r.at + calendar.Position(c.dice.Uint64N(uint64(c.head-r.at)+1))
	if err := readAll(within(c.t), c.store, r.source, r.at, to, 1+c.dice.IntN(64)); err != nil {
		c.t.Fatalf("reader %d: %v; %+v", i, err, r.source.Stats())
	}
	r.at = to
}

func (c *chaos) appendSome() { c.head = add(c.t, c.store, 1+c.dice.IntN(300)) }

func (c *chaos) startRelay() {
	relayOptions := feed.RelayOptions{Replay: []int{0, 50}[c.dice.IntN(2)]}
	if len(c.stops) < 3 {
		c.stops = append(c.stops, actor(c.t, relay(c.t, c.seen, c.js, relayOptions).Run))
	}
}

// killRelay ends a relay, whatever is under way.
func (c *chaos) killRelay() {
	if n := len(c.stops); n > 0 {
		check(c.t, c.stops[n-1]())
		c.stops = c.stops[:n-1]
	}
}

// loseTail makes the store lose entries, and have fewer, as many or more others. Readers that
// are at the head wait for more meanwhile.
func (c *chaos) loseTail() {
	head, kept := c.head, c.head-calendar.Position(c.dice.Uint64N(min(uint64(c.head)-1, 80)))
	ctx := within(c.t)
	var told [len(c.readers)]chan error
	var later []func()
	for i := range c.readers {
		r, known := &c.readers[i], markOf(c.t, c.store, c.readers[i].at)
		if r.at <= kept {
			continue
		}
		told[i] = make(chan error, 1)
		read := func() {
			_, _, err := r.source.Read(ctx, known, 64)
			told[i] <- err
		}
		if r.at == head {
			go read()
		} else {
			later = append(later, read)
		}
	}
	c.head = kept + calendar.Position(c.dice.IntN(120))
	lose(c.t, c.store, kept, c.head)
	for _, read := range later {
		read()
	}
	for i, result := range told {
		if result == nil {
			continue
		}
		if err := <-result; !errors.Is(err, eventstore.ErrHistory) {
			c.t.Fatalf("reader %d at %d of a store that lost all after %d: %v, want ErrHistory", i, c.readers[i].at, kept, err)
		}
		c.readers[i].at = kept
	}
}

// damageStream does what an operator or a broken disk may do. What fails, because a relay
// was there first or no server leads, is no damage.
func (c *chaos) damageStream() {
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Second)
	defer cancel()
	name := feed.StreamName(feed.DefaultPrefix)
	found, err := c.js.Stream(ctx, name)
	if err != nil {
		return
	}
	state := found.CachedInfo().State
	some := state.FirstSeq + c.dice.Uint64N(max(state.LastSeq, state.FirstSeq)-state.FirstSeq+1)
	switch c.dice.IntN(8) {
	case 0:
		_ = c.js.DeleteStream(ctx, name)
	case 1, 2:
		_ = found.Purge(ctx, jetstream.WithPurgeSequence(some))
	case 3:
		_ = found.Purge(ctx)
	case 4, 5:
		_ = found.DeleteMsg(ctx, some)
	case 6:
		_ = found.DeleteMsg(ctx, state.LastSeq)
	case 7: // made by hand
		_ = c.js.DeleteStream(ctx, name)
		byHand := jetstream.StreamConfig{Name: name, Subjects: []string{feed.Subjects(feed.DefaultPrefix)}}
		for err = errors.New("not made"); err != nil && !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) && ctx.Err() == nil; {
			_, err = c.js.CreateStream(ctx, byHand) // the server clears the folder of the old one
		}
	}
}
