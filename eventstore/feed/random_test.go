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

func (unaware unaware) Epoch() eventstore.Epoch { return eventstore.Epoch{History: 1} }

func (unaware unaware) Head(ctx context.Context, point eventstore.Point) (eventstore.Head, error) {
	head, err := unaware.Store.Head(ctx, point)
	head.Epoch = unaware.Epoch()
	return head, err
}

// lose makes a store lose all after a position and have others up to a head.
func lose(t *testing.T, store *store, after, head calendar.Position) {
	t.Helper()
	store.Rewind(after)
	for position := after; position < head; {
		position = addOne(t, store, 9)
	}
}

// chaos is a store, a stream and readers, and what happens to them.
type chaos struct {
	t         *testing.T
	dice      *rand.Rand
	store     *store
	seen      eventstore.Store // by relays and sources
	jetStream jetstream.JetStream
	head      calendar.Position
	stops     []func() error // of relays that run
	readers   [2]struct {
		source   *feed.Source
		position calendar.Position
	}
}

// testRandom: relays are killed and started, the stream is damaged and the store loses
// entries, in random order. A reader gets what the store has, each entry once and in
// order, and hears of every loss that concerns it. In the end the stream is whole.
func testRandom(t *testing.T, natsServers *natsServers) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			store := newStore(t)
			c := &chaos{t: t, dice: rand.New(rand.NewPCG(seed, 1)), store: store, seen: store, jetStream: natsServers.open(t)}
			if seed%2 == 1 {
				c.seen = unaware{store}
			}
			for i := range c.readers {
				c.openReader(i)
			}
			c.head = add(t, store, 20)
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
			actor(t, relay(t, c.seen, c.jetStream, feed.RelayOptions{}).Run)
			waitFor(t, c.newestFromStream)
			if info := until(t, c.jetStream, c.head); info.State.LastSeq != uint64(c.head) || info.State.Msgs > uint64(c.head) {
				t.Errorf("stream holds %d messages up to %d, head is %d", info.State.Msgs, info.State.LastSeq, c.head)
			}
		})
	}
}

// newestFromStream appends entries and reports whether a new source reads all of them from
// the stream.
func (chaos *chaos) newestFromStream() bool {
	before := chaos.head
	chaos.head = add(chaos.t, chaos.store, 10)
	until(chaos.t, chaos.jetStream, chaos.head)
	src := source(chaos.t, chaos.seen, chaos.jetStream, feed.SourceOptions{Stall: 50 * time.Millisecond})
	check(chaos.t, readAll(within(chaos.t), chaos.store, src, before, chaos.head, 64))
	sourceStats := src.Stats()
	src.Close()
	return sourceStats.FromStore == 0
}

func (chaos *chaos) openReader(i int) {
	r := &chaos.readers[i]
	if r.source != nil {
		r.source.Close()
	}
	r.source = source(chaos.t, chaos.seen, chaos.jetStream, feed.SourceOptions{Stall: 10 * time.Millisecond})
}

// readSome reads up to a random position, in pieces of a random size.
func (chaos *chaos) readSome(i int) {
	r := &chaos.readers[i]
	position := r.position + calendar.Position(chaos.dice.Uint64N(uint64(chaos.head-r.position)+1))
	if err := readAll(within(chaos.t), chaos.store, r.source, r.position, position, 1+chaos.dice.IntN(64)); err != nil {
		chaos.t.Fatalf("reader %d: %v; %+v", i, err, r.source.Stats())
	}
	r.position = position
}

func (chaos *chaos) appendSome() { chaos.head = add(chaos.t, chaos.store, 1+chaos.dice.IntN(300)) }

func (chaos *chaos) startRelay() {
	relayOptions := feed.RelayOptions{Replay: []int{0, 50}[chaos.dice.IntN(2)]}
	if len(chaos.stops) < 3 {
		chaos.stops = append(chaos.stops, actor(chaos.t, relay(chaos.t, chaos.seen, chaos.jetStream, relayOptions).Run))
	}
}

// killRelay ends a relay, whatever is under way.
func (chaos *chaos) killRelay() {
	if n := len(chaos.stops); n > 0 {
		check(chaos.t, chaos.stops[n-1]())
		chaos.stops = chaos.stops[:n-1]
	}
}

// loseTail makes the store lose entries, and have fewer, as many or more others. Readers that
// are at the head wait for more meanwhile.
func (chaos *chaos) loseTail() {
	head, kept := chaos.head, chaos.head-calendar.Position(chaos.dice.Uint64N(min(uint64(chaos.head)-1, 80)))
	ctx := within(chaos.t)
	var told [len(chaos.readers)]chan error
	var later []func()
	for i := range chaos.readers {
		r, known := &chaos.readers[i], markOf(chaos.t, chaos.store, chaos.readers[i].position)
		if r.position <= kept {
			continue
		}
		told[i] = make(chan error, 1)
		read := func() {
			_, _, err := r.source.Read(ctx, known, 64)
			told[i] <- err
		}
		if r.position == head {
			go read()
		} else {
			later = append(later, read)
		}
	}
	chaos.head = kept + calendar.Position(chaos.dice.IntN(120))
	lose(chaos.t, chaos.store, kept, chaos.head)
	for _, read := range later {
		read()
	}
	for i, result := range told {
		if result == nil {
			continue
		}
		if err := <-result; !errors.Is(err, eventstore.ErrHistory) {
			chaos.t.Fatalf("reader %d at %d of a store that lost all after %d: %v, want ErrHistory", i, chaos.readers[i].position, kept, err)
		}
		chaos.readers[i].position = kept
	}
}

// damageStream does what an operator or a broken disk may do. What fails, because a relay
// was there first or no server leads, is no damage.
func (chaos *chaos) damageStream() {
	ctx, cancel := context.WithTimeout(chaos.t.Context(), 2*time.Second)
	defer cancel()
	name := feed.StreamName(feed.DefaultPrefix)
	found, err := chaos.jetStream.Stream(ctx, name)
	if err != nil {
		return
	}
	state := found.CachedInfo().State
	some := state.FirstSeq + chaos.dice.Uint64N(max(state.LastSeq, state.FirstSeq)-state.FirstSeq+1)
	switch chaos.dice.IntN(8) {
	case 0:
		_ = chaos.jetStream.DeleteStream(ctx, name)
	case 1, 2:
		_ = found.Purge(ctx, jetstream.WithPurgeSequence(some))
	case 3:
		_ = found.Purge(ctx)
	case 4, 5:
		_ = found.DeleteMsg(ctx, some)
	case 6:
		_ = found.DeleteMsg(ctx, state.LastSeq)
	case 7: // made by hand
		_ = chaos.jetStream.DeleteStream(ctx, name)
		byHand := jetstream.StreamConfig{Name: name, Subjects: []string{feed.Subjects(feed.DefaultPrefix)}}
		for err = errors.New("not made"); err != nil && !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) && ctx.Err() == nil; {
			_, err = chaos.jetStream.CreateStream(ctx, byHand) // the server clears the folder of the old one
		}
	}
}
