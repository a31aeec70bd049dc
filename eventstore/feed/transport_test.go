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

func (badJetStream badJetStream) Stream(ctx context.Context, name string) (jetstream.Stream, error) {
	stream, err := badJetStream.JetStream.Stream(ctx, name)
	return badStream{stream, badJetStream}, err
}

type badStream struct {
	jetstream.Stream
	badJetStream badJetStream
}

func (badStream badStream) CreateConsumer(ctx context.Context, consumerConfig jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	consumer, err := badStream.Stream.CreateConsumer(ctx, consumerConfig)
	return badConsumer{consumer, badStream.badJetStream, badStream.badJetStream.consumers.Add(1)}, err
}

type badConsumer struct {
	jetstream.Consumer
	badJetStream badJetStream
	number       int32
}

func (badConsumer badConsumer) Messages(pullMessagesOpts ...jetstream.PullMessagesOpt) (jetstream.MessagesContext, error) {
	messagesContext, err := badConsumer.Consumer.Messages(pullMessagesOpts...)
	return &badMessages{MessagesContext: messagesContext, badConsumer: badConsumer}, err
}

type badMessages struct {
	jetstream.MessagesContext
	badConsumer
	last jetstream.Msg
	out  []jetstream.Msg
}

func (badMessages *badMessages) Next(nextOpts ...jetstream.NextOpt) (jetstream.Msg, error) {
	for len(badMessages.out) == 0 {
		msg, err := badMessages.MessagesContext.Next(nextOpts...)
		if err != nil {
			return nil, err
		}
		badMessages.out, badMessages.last = badMessages.badJetStream.bend(badMessages.number, badMessages.last, msg), msg
	}
	next := badMessages.out[0]
	badMessages.out = badMessages.out[1:]
	return next, nil
}

// forged is a message of another history.
type forged struct{ jetstream.Msg }

func (forged forged) Data() []byte {
	return bytes.Replace(forged.Msg.Data(), []byte("event.created"), []byte("event.updated"), 1)
}

func (forged forged) Headers() nats.Header {
	header := maps.Clone(forged.Msg.Headers())
	header[feed.HeaderMark] = []string{strings.Repeat("0f", 32)}
	return header
}

// A transport repeats, drops, swaps and forges messages between server and source, or gives
// nothing, as a cluster does whose servers do not all know of a consumer yet.
func testBadTransport(t *testing.T, natsServers *natsServers) {
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
			store, jetStream := setup(t, natsServers)
			head := add(t, store, 200)
			until(t, jetStream, head)
			src := source(t, store, badJetStream{jetStream, new(atomic.Int32), bend}, feed.SourceOptions{Stall: 20 * time.Millisecond})
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
