package feed_test

import (
	"context"
	"errors"
	"fmt"
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
// their place: the relay makes the stream again, whatever the new head is, also when it
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
