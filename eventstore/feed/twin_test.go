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

// What the server itself refuses, no matter who publishes.
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
