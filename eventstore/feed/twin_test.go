package feed_test

import (
	"context"
	"encoding/hex"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/feed"
)

// The checks of this package are shown to see what they are for: twins of relay
// and source that are broken in one way each must fail them.

// trusting is a source that gives whatever the stream has: it looks at no
// number.
type trusting struct{ messages jetstream.MessagesContext }

func (s trusting) Read(ctx context.Context, at eventstore.Mark, _ int) ([]eventstore.Entry, eventstore.Mark, error) {
	m, err := s.messages.Next(jetstream.NextContext(ctx))
	if err != nil {
		return nil, at, err
	}
	e, _, err := feed.Decode(m.Headers(), m.Data())
	at.Position = e.Position
	if hash, err := hex.DecodeString(m.Headers().Get(feed.HeaderMark)); err == nil {
		copy(at.Hash[:], hash)
	}
	return []eventstore.Entry{e}, at, err
}

func trust(t *testing.T, js jetstream.JetStream) trusting {
	t.Helper()
	ctx := within(t)
	c, err := stream(ctx, t, js).CreateConsumer(ctx, jetstream.ConsumerConfig{AckPolicy: jetstream.AckNonePolicy})
	check(t, err)
	// What the consumer is asked for may be lost, see Source; then it is asked again.
	messages, err := c.Messages(jetstream.PullHeartbeat(500*time.Millisecond), jetstream.WithMessagesErrOnMissingHeartbeat(false))
	check(t, err)
	t.Cleanup(messages.Stop)
	return trusting{messages}
}

// careless publishes the entries of a store as which says, without expectations.
func careless(t *testing.T, s eventstore.Store, js jetstream.JetStream, which func(i int) (copies int)) {
	t.Helper()
	ctx := within(t)
	for i, m := range messages(ctx, t, s) {
		for range which(i) {
			_, err := js.PublishMsg(ctx, m)
			check(t, err)
		}
	}
}

// messages are those of all entries of a store.
func messages(ctx context.Context, t *testing.T, s eventstore.Store) []*nats.Msg {
	t.Helper()
	entries, err := s.Read(ctx, eventstore.Range{Limit: 1000})
	check(t, err)
	leaf := eventstore.Leaf(&entries[0])
	out := make([]*nats.Msg, len(entries))
	for i := range entries {
		mark, err := mark(ctx, s, entries[i].Position)
		check(t, err)
		of := feed.History{Prefix: feed.DefaultPrefix, Origin: hex.EncodeToString(leaf[:]), Hash: mark.Hash}
		out[i], err = feed.Encode(&entries[i], of, feed.MaxPayload)
		check(t, err)
	}
	return out
}

func testBrokenTwinsAreSeen(t *testing.T, p place) {
	const n = 100
	cases := map[string]struct {
		which  func(i int) int
		seen   bool
		repair bool // the real relay finds it at once
	}{
		"whole":    {which: func(int) int { return 1 }},
		"skips":    {which: func(i int) int { return min(1, i%10) }, seen: true, repair: true},
		"repeats":  {which: func(i int) int { return 1 + i/50 }, seen: true, repair: true},
		"too late": {which: func(i int) int { return min(1, i/50) }, seen: true, repair: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, e := newStore(t), p.open(t)
			js := e.JetStream()
			// A real relay makes the stream with one entry; then the twin begins anew.
			add(t, s, 1)
			stop := actor(t, relay(t, s, js, feed.RelayOptions{}).Run)
			until(t, js, 1)
			check(t, stop())
			config := stream(within(t), t, js).CachedInfo().Config
			check(t, js.DeleteStream(t.Context(), feed.StreamName(feed.DefaultPrefix)))
			remake(within(t), t, js, config)
			add(t, s, n-1)
			careless(t, s, js, c.which)

			err := readAll(within(t), s, trust(t, js), 0, n, 64)
			if c.seen != (err != nil) {
				t.Errorf("check of the twin: got %v, want an error: %t", err, c.seen)
			}
			// The real source is not deceived by that stream.
			mustReadAll(t, s, source(t, s, js, feed.SourceOptions{Stall: 10 * time.Millisecond}), 0, n)
			// The real relay makes it anew.
			r := relay(t, s, js, feed.RelayOptions{})
			actor(t, r.Run)
			head := add(t, s, 1)
			until(t, js, head)
			for ctx := within(t); c.repair && r.Stats().Rebuilt == 0; {
				pause(ctx, t)
			}
			until(t, js, head)
			// The stream has all of it, and is read as soon as a cluster answers for it.
			for ctx := within(t); ; pause(ctx, t) {
				src := source(t, s, js, feed.SourceOptions{})
				mustReadAll(t, s, src, 0, head)
				if src.Stats().FromStream == uint64(head) {
					break
				}
			}
		})
	}
}

// What the server itself refuses, whoever publishes.
func testServerRefuses(t *testing.T, p place) {
	s, e := newStore(t), p.open(t)
	js := e.JetStream()
	add(t, s, 5)
	stop := actor(t, relay(t, s, js, feed.RelayOptions{}).Run)
	until(t, js, 5)
	check(t, stop())
	add(t, s, 5)
	all := messages(t.Context(), t, s)
	for name, at := range map[string]int{"again": 4, "hole": 7} {
		_, err := js.PublishMsg(within(t), all[at-1], jetstream.WithExpectLastSequence(uint64(at-1)))
		var api *jetstream.APIError
		if !errors.As(err, &api) || api.ErrorCode != jetstream.JSErrCodeStreamWrongLastSequence {
			t.Errorf("%s: got %v, want error 10071", name, err)
		}
	}
	if info := until(t, js, 5); info.State.LastSeq != 5 {
		t.Errorf("stream is at %d, want 5", info.State.LastSeq)
	}
}

// skipping is a store that loses an entry on the way to the relay or source.
type skipping struct {
	eventstore.Store
	lost calendar.Position
}

func (s skipping) Read(ctx context.Context, r eventstore.Range) ([]eventstore.Entry, error) {
	entries, err := s.Store.Read(ctx, r)
	for i := range entries {
		if entries[i].Position == s.lost {
			return append(entries[:i:i], entries[i+1:]...), err
		}
	}
	return entries, err
}

func testGapInTheStore(t *testing.T, p place) {
	e := p.open(t)
	s := skipping{newStore(t), 7}
	add(t, s.Store, 10)
	if err := relay(t, s, e.JetStream(), feed.RelayOptions{}).Run(within(t)); !errors.Is(err, eventstore.ErrDamaged) {
		t.Errorf("relay: got %v, want ErrDamaged", err)
	}
	src := source(t, s, e.JetStream(), feed.SourceOptions{Stall: 10 * time.Millisecond})
	if _, _, err := src.Read(within(t), eventstore.Mark{}, 64); !errors.Is(err, eventstore.ErrDamaged) {
		t.Errorf("source: got %v, want ErrDamaged", err)
	}
}

// remake makes a stream that was just deleted. The server clears the folder of
// the old one behind the answer, and until then cannot make the new one. A relay
// that runs may be there first.
func remake(ctx context.Context, t *testing.T, js jetstream.JetStream, config jetstream.StreamConfig) {
	t.Helper()
	for {
		_, err := js.CreateStream(ctx, config)
		var api *jetstream.APIError
		if errors.As(err, &api) && api.ErrorCode == errNoStore {
			pause(ctx, t)
			continue
		}
		if !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			check(t, err)
		}
		return
	}
}

// errNoStore is the server's code for a stream whose folder cannot be made.
const errNoStore jetstream.ErrorCode = 10049
