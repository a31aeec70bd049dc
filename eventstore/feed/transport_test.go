package feed_test

import (
	"bytes"
	"context"
	"maps"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"daybook/eventstore/feed"
)

// badJetStream is a transport that changes what comes: bend gets the number of the consumer,
// and the last two messages.
type badJetStream struct {
	jetstream.JetStream
	consumers *atomic.Int32
	bend      func(consumer int32, last, m jetstream.Msg) []jetstream.Msg
}

func (j badJetStream) Stream(ctx context.Context, name string) (jetstream.Stream, error) {
	stream, err := j.JetStream.Stream(ctx, name)
	return badStream{stream, j}, err
}

type badStream struct {
	jetstream.Stream
	j badJetStream
}

func (s badStream) CreateConsumer(ctx context.Context, consumerConfig jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	consumer, err := s.Stream.CreateConsumer(ctx, consumerConfig)
	return badConsumer{consumer, s.j, s.j.consumers.Add(1)}, err
}

type badConsumer struct {
	jetstream.Consumer
	j      badJetStream
	number int32
}

func (c badConsumer) Messages(pullMessagesOpts ...jetstream.PullMessagesOpt) (jetstream.MessagesContext, error) {
	messagesContext, err := c.Consumer.Messages(pullMessagesOpts...)
	return &badMessages{MessagesContext: messagesContext, badConsumer: c}, err
}

type badMessages struct {
	jetstream.MessagesContext
	badConsumer
	last jetstream.Msg
	out  []jetstream.Msg
}

func (m *badMessages) Next(nextOpts ...jetstream.NextOpt) (jetstream.Msg, error) {
	for len(m.out) == 0 {
		msg, err := m.MessagesContext.Next(nextOpts...)
		if err != nil {
			return nil, err
		}
		m.out, m.last = m.j.bend(m.number, m.last, msg), msg
	}
	next := m.out[0]
	m.out = m.out[1:]
	return next, nil
}

// forged is a message of another history.
type forged struct{ jetstream.Msg }

func (f forged) Data() []byte {
	return bytes.Replace(f.Msg.Data(), []byte("event.created"), []byte("event.updated"), 1)
}

func (f forged) Headers() nats.Header {
	header := maps.Clone(f.Msg.Headers())
	header[feed.HeaderMark] = []string{strings.Repeat("0f", 32)}
	return header
}

// A transport repeats, drops, swaps and forges messages between server and source, or gives
// nothing, as a cluster does whose servers do not all know of a consumer yet.
func testBadTransport(t *testing.T, p *natsServers) {
	for name, bend := range map[string]func(n int32, last, msg jetstream.Msg) []jetstream.Msg{
		"repeats, drops, swaps and forges": func(_ int32, last, msg jetstream.Msg) []jetstream.Msg {
			switch n := rand.IntN(60); {
			case n == 0:
				return nil
			case n == 1 && last != nil:
				return []jetstream.Msg{msg, last}
			case n == 2:
				return []jetstream.Msg{forged{msg}}
			default:
				return []jetstream.Msg{msg, msg}[:1+n%2]
			}
		},
		"gives nothing once": func(n int32, _, msg jetstream.Msg) []jetstream.Msg { return []jetstream.Msg{msg}[:min(n-1, 1)] },
		"gives nothing":      func(int32, jetstream.Msg, jetstream.Msg) []jetstream.Msg { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, js := setup(t, p)
			head := add(t, store, 200)
			until(t, js, head)
			src := source(t, store, badJetStream{js, new(atomic.Int32), bend}, feed.SourceOptions{Stall: 20 * time.Millisecond})
			mustReadAll(t, store, src, 0, head)
			waitFor(t, func() bool {
				before := head
				head = add(t, store, 20)
				mustReadAll(t, store, src, before, head)
				sourceStats := src.Stats()
				return sourceStats.FromStore > 0 && (sourceStats.FromStream > 0) == (name != "gives nothing")
			})
		})
	}
}
