package feed_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/feed"
)

// unaware is a store that does not find out that its history is another one, as one
// behind a pooler may not for a moment.
type unaware struct{ eventstore.Store }

func (s unaware) Epoch() eventstore.Epoch { return eventstore.Epoch{History: 1} }

func (s unaware) Head(ctx context.Context, p eventstore.Point) (eventstore.Head, error) {
	h, err := s.Store.Head(ctx, p)
	h.Epoch = s.Epoch()
	return h, err
}

// lose makes a store lose all after a position and have others up to a head.
func lose(t *testing.T, s *store, after, head calendar.Position) {
	t.Helper()
	s.Rewind(after)
	for at := after; at < head; {
		at = addOne(t, s, 9)
	}
}

func markOf(t *testing.T, s eventstore.Store, p calendar.Position) eventstore.Mark {
	t.Helper()
	m, err := mark(t.Context(), s, p)
	check(t, err)
	return m
}

// mark returns the mark that a store has for a position.
func mark(ctx context.Context, s eventstore.Store, p calendar.Position) (eventstore.Mark, error) {
	if p == 0 {
		return eventstore.Mark{}, nil
	}
	h, err := s.Head(ctx, eventstore.Point{Position: p})
	return h.Mark, err
}

// untilStream waits until a new source reads all of a store from the stream.
func untilStream(t *testing.T, s *store, js jetstream.JetStream, head calendar.Position) {
	t.Helper()
	for ctx := within(t); ; {
		src := source(t, s, js, feed.SourceOptions{Stall: 50 * time.Millisecond})
		if err := readAll(ctx, s, src, 0, head, 64); err != nil {
			t.Fatal(err)
		}
		st := src.Stats()
		src.Close()
		if st.FromStore == 0 {
			return
		}
		pause(ctx, t)
	}
}

// The store loses entries that were on the stream and were given, and has others in
// their place: the relay makes the stream anew, whatever the new head is, also when it
// or another one begins after the loss.
func testLostTail(t *testing.T, p place) {
	const kept, head = 40, 60
	for name, to := range map[string]calendar.Position{"no entry": kept, "same head": head, "greater head": 80} {
		for _, down := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, relay down %t", name, down), func(t *testing.T) {
				t.Parallel()
				s, js := newStore(t), p.open(t).JetStream()
				stop := actor(t, relay(t, s, js, feed.RelayOptions{}).Run)
				add(t, s, head)
				until(t, js, head)
				if down {
					check(t, stop())
				}
				lose(t, s, kept, to)
				if down {
					actor(t, relay(t, s, js, feed.RelayOptions{}).Run)
				}
				untilStream(t, s, js, to)
			})
		}
	}
}

// The reader waits at the head while the store loses entries, and nothing comes after
// it: it is told all the same.
func testLostWhileReading(t *testing.T, p place) {
	for _, late := range []bool{false, true} {
		for _, down := range []bool{false, true} {
			t.Run(fmt.Sprintf("unaware %t, relay down %t", late, down), func(t *testing.T) {
				t.Parallel()
				s, js := newStore(t), p.open(t).JetStream()
				var seen eventstore.Store = s
				if late {
					seen = unaware{s}
				}
				stop := actor(t, relay(t, seen, js, feed.RelayOptions{}).Run)
				add(t, s, 20)
				until(t, js, 20)
				src := source(t, seen, js, feed.SourceOptions{Stall: 20 * time.Millisecond})
				mustReadAll(t, s, src, 0, 20)
				if down {
					check(t, stop())
				}
				ctx, known, told := within(t), markOf(t, s, 20), make(chan error, 1)
				go func() {
					_, _, err := src.Read(ctx, known, 64)
					told <- err
				}()
				lose(t, s, 10, 15)
				if err := <-told; !errors.Is(err, eventstore.ErrHistory) {
					t.Errorf("got %v, want ErrHistory", err)
				}
				mustReadAll(t, s, src, 10, 15)
			})
		}
	}
}

// turning is a store that goes over to another history when it has read entries after
// a position, before it is asked for anything else.
type turning struct {
	eventstore.Store
	after calendar.Position
	turn  func()
	once  sync.Once
}

func (s *turning) Read(ctx context.Context, r eventstore.Range) ([]eventstore.Entry, error) {
	entries, err := s.Store.Read(ctx, r)
	if r.After == uint64(s.after) && len(entries) > 0 {
		s.once.Do(s.turn)
	}
	return entries, err
}

// The store loses entries just after they were read, and says of the place before them
// what it said before: they get no marks of those that took their place.
func testLostBetweenQuestions(t *testing.T, p place) {
	setup := func(t *testing.T) (*store, *turning) {
		t.Helper()
		s := newStore(t)
		add(t, s, 20)
		return s, &turning{Store: s, after: 10, turn: func() { lose(t, s, 10, 20) }}
	}
	t.Run("relay", func(t *testing.T) {
		t.Parallel()
		s, over := setup(t)
		js := p.open(t).JetStream()
		remadeWith(t, s, js, messages(t.Context(), t, s)[:10])
		actor(t, relay(t, over, js, feed.RelayOptions{}).Run)
		until(t, js, 20)
		untilStream(t, s, js, 20)
	})
	t.Run("source", func(t *testing.T) {
		t.Parallel()
		s, over := setup(t)
		src := source(t, over, p.open(t).JetStream(), feed.SourceOptions{})
		mustReadAll(t, s, src, 10, 20)
	})
}

// compared is a store that goes over to another history once a relay has compared it with
// the stream, before it says where the relay is to go on.
type compared struct {
	eventstore.Store
	turn  func()
	asked atomic.Int32
}

func (s *compared) Head(ctx context.Context, p eventstore.Point) (eventstore.Head, error) {
	if p.Position > 0 && s.asked.Add(1) == 3 { // after the length and the newest message
		s.turn()
	}
	return s.Store.Head(ctx, p)
}

// The store loses entries that the relay just found in the stream: it does not go on
// behind them.
func TestLostWhileCompared(t *testing.T) {
	t.Parallel()
	s, js := newStore(t), embedded(t)
	add(t, s, 20)
	stop := actor(t, relay(t, s, js, feed.RelayOptions{}).Run)
	until(t, js, 20)
	check(t, stop())
	over := &compared{Store: s, turn: func() { lose(t, s, 10, 20) }}
	r := relay(t, over, js, feed.RelayOptions{})
	actor(t, r.Run)
	for ctx := within(t); over.asked.Load() < 3; {
		pause(ctx, t)
	}
	untilStream(t, s, js, add(t, s, 5))
	if st := r.Stats(); st.Rebuilt != 1 {
		t.Errorf("got %+v, want the stream made again", st)
	}
}

// Lost entries lie in the stream between right ones, where no relay looks: all that
// is given is what the store has.
func testLostBetween(t *testing.T, p place) {
	s, js := newStore(t), p.open(t).JetStream()
	add(t, s, 60)
	lost := messages(t.Context(), t, s)
	lose(t, s, 20, 80)
	all := messages(t.Context(), t, s)
	copy(all[20:60], lost[20:])
	remadeWith(t, s, js, all)
	src := source(t, s, js, feed.SourceOptions{})
	if err := readAll(within(t), s, src, 0, 80, 10); err != nil {
		t.Fatal(err)
	}
	if st := src.Stats(); st.FromStream == 0 || st.FromStore < 40 {
		t.Errorf("got %+v, want what is right from the stream and the others from the store", st)
	}
}

// remadeWith makes a stream of a store that holds some messages.
func remadeWith(t *testing.T, s *store, js jetstream.JetStream, all []*nats.Msg) {
	t.Helper()
	stop := actor(t, relay(t, s, js, feed.RelayOptions{}).Run)
	until(t, js, 1)
	check(t, stop())
	config := stream(within(t), t, js).CachedInfo().Config
	check(t, js.DeleteStream(t.Context(), config.Name))
	remake(within(t), t, js, config)
	for _, m := range all {
		_, err := js.PublishMsg(within(t), m)
		check(t, err)
	}
}

// A stream whose messages have no marks, as somebody else may publish them, is not read
// and is made anew once.
func testStreamWithoutMarks(t *testing.T, p place) {
	s, js := newStore(t), p.open(t).JetStream()
	add(t, s, 50)
	all := messages(t.Context(), t, s)
	for _, m := range all {
		delete(m.Header, feed.HeaderMark)
		delete(m.Header, feed.HeaderOrigin)
	}
	remadeWith(t, s, js, all)
	src := source(t, s, js, feed.SourceOptions{})
	mustReadAll(t, s, src, 0, 50)
	if st := src.Stats(); st.FromStream != 0 || !strings.Contains(st.Error, "without a mark") {
		t.Errorf("got %+v, want nothing from the stream", st)
	}
	r := relay(t, s, js, feed.RelayOptions{})
	actor(t, r.Run)
	untilStream(t, s, js, add(t, s, 10))
	if st := r.Stats(); st.Rebuilt != 1 {
		t.Errorf("got %+v, want the stream made anew once", st)
	}
}

// promises is a store that says it has more than it has.
type promises struct {
	eventstore.Store
	asked atomic.Int32
}

func (s *promises) Head(ctx context.Context, p eventstore.Point) (eventstore.Head, error) {
	s.asked.Add(1)
	h, err := s.Store.Head(ctx, p)
	if p == (eventstore.Point{}) {
		h.Position++
	}
	return h, err
}

// A store that says there is more and has nothing is not asked in a circle.
func TestStoreThatPromises(t *testing.T) {
	t.Parallel()
	s, js := newStore(t), embedded(t)
	add(t, s, 5)
	promising := &promises{Store: s}
	src := source(t, promising, js, feed.SourceOptions{Recheck: time.Second})
	r := relay(t, promising, js, feed.RelayOptions{})
	actor(t, r.Run)
	until(t, js, 5)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, _, err := src.Read(ctx, markOf(t, s, 5), 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	// Each asks twice, waits 5 ms, and so on.
	if n := promising.asked.Load(); n > 1000 {
		t.Errorf("the store was asked %d times within a second", n)
	}
}
