package feed_test

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"daybook/calendar"
	"daybook/eventstore/feed"
)

// A transport that repeats, drops and swaps messages between server and source.

type badJetStream struct {
	jetstream.JetStream
	bend func([]jetstream.Msg) []jetstream.Msg
}

func (j badJetStream) Stream(ctx context.Context, name string) (jetstream.Stream, error) {
	s, err := j.JetStream.Stream(ctx, name)
	return badStream{s, j.bend}, err
}

type badStream struct {
	jetstream.Stream
	bend func([]jetstream.Msg) []jetstream.Msg
}

func (s badStream) CreateConsumer(ctx context.Context, c jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	consumer, err := s.Stream.CreateConsumer(ctx, c)
	return badConsumer{consumer, s.bend}, err
}

type badConsumer struct {
	jetstream.Consumer
	bend func([]jetstream.Msg) []jetstream.Msg
}

func (c badConsumer) Messages(o ...jetstream.PullMessagesOpt) (jetstream.MessagesContext, error) {
	m, err := c.Consumer.Messages(o...)
	return &badMessages{MessagesContext: m, bend: c.bend}, err
}

// badMessages bends each message that comes, together with the one before.
type badMessages struct {
	jetstream.MessagesContext
	bend func([]jetstream.Msg) []jetstream.Msg
	last jetstream.Msg
	out  []jetstream.Msg
}

func (m *badMessages) Next(o ...jetstream.NextOpt) (jetstream.Msg, error) {
	for len(m.out) == 0 {
		msg, err := m.MessagesContext.Next(o...)
		if err != nil {
			return nil, err
		}
		if m.last == nil {
			m.last = msg
		}
		m.out = m.bend([]jetstream.Msg{m.last, msg})
		m.last = msg
	}
	next := m.out[0]
	m.out = m.out[1:]
	return next, nil
}

func testBadTransport(t *testing.T, p place) {
	const n = 400
	type messages = []jetstream.Msg
	cases := map[string]struct {
		bend func(r *rand.Rand, m messages) messages
		seen func(feed.SourceStats) bool
	}{
		"repeats": {
			func(_ *rand.Rand, m messages) messages { return messages{m[0], m[1], m[1]} },
			func(s feed.SourceStats) bool { return s.FromStream > 0 },
		},
		"drops": {
			func(r *rand.Rand, m messages) messages { return m[1 : 1+min(1, r.IntN(20))] },
			func(s feed.SourceStats) bool { return s.FromStore > 0 && s.FromStream > 0 },
		},
		"swaps": {
			func(r *rand.Rand, m messages) messages {
				if r.IntN(20) == 0 {
					return messages{m[1], m[0]}
				}
				return m[1:]
			},
			func(s feed.SourceStats) bool { return s.FromStream > 0 },
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, e := setup(t, p)
			head := add(t, s, n)
			until(t, e.JetStream(), head)
			r := rand.New(rand.NewPCG(1, 2))
			js := badJetStream{e.JetStream(), func(m messages) messages { return c.bend(r, m) }}
			src := source(t, s, js, feed.SourceOptions{Stall: 5 * time.Millisecond})
			if err := readAll(within(t), s, src, 0, head, 10); err != nil {
				t.Fatal(err)
			}
			// On a slow machine the source may have given the stream up.
			for ctx := within(t); !c.seen(src.Stats()); {
				before := head
				head = add(t, s, 50)
				if err := readAll(ctx, s, src, before, head, 10); err != nil {
					t.Fatalf("%v; got %+v, which is not what this transport comes to", err, src.Stats())
				}
			}
		})
	}
}

// deafJetStream loses what the first consumers are asked for, as a cluster does
// whose servers do not all know of a consumer yet.
type deafJetStream struct {
	jetstream.JetStream
	consumers atomic.Int32
	deaf      int32
}

func (j *deafJetStream) Stream(ctx context.Context, name string) (jetstream.Stream, error) {
	s, err := j.JetStream.Stream(ctx, name)
	return deafStream{s, j}, err
}

type deafStream struct {
	jetstream.Stream
	j *deafJetStream
}

func (s deafStream) CreateConsumer(ctx context.Context, c jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	if s.j.consumers.Add(1) <= s.j.deaf {
		c.FilterSubject = feed.Subject(feed.DefaultPrefix, calendar.KindEvent, 0) + ".nothing" // nobody publishes there
	}
	return s.Stream.CreateConsumer(ctx, c)
}

func testDeafConsumer(t *testing.T, p place) {
	for name, deaf := range map[string]int32{"once": 1, "always": 1 << 30} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, e := setup(t, p)
			head := add(t, s, 50)
			until(t, e.JetStream(), head)
			js := &deafJetStream{JetStream: e.JetStream(), deaf: deaf}
			src := source(t, s, js, feed.SourceOptions{Stall: 50 * time.Millisecond})
			mustReadAll(t, s, src, 0, head)
			if st := src.Stats(); st.FromStore == 0 {
				t.Errorf("got %+v, want entries from the store", st)
			}
			for ctx := within(t); deaf == 1 && src.Stats().FromStream == 0; pause(ctx, t) {
				head = add(t, s, 1)
				mustReadAll(t, s, src, head-1, head)
			}
		})
	}
}
