package feed_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/feed"
)

// pausing is a store of which a relay reads entries, is then paused, and goes on
// long after.
type pausing struct {
	eventstore.Store
	from   calendar.Position // entries after it are held back
	held   chan struct{}     // closed when the relay is paused
	resume chan struct{}
	once   sync.Once
}

func (s *pausing) Read(ctx context.Context, r eventstore.Range) ([]eventstore.Entry, error) {
	entries, err := s.Store.Read(ctx, r)
	if r.After >= uint64(s.from) && len(entries) > 0 {
		s.once.Do(func() { close(s.held) })
		<-s.resume // whatever its context says: a paused process hears nothing
	}
	return entries, err
}

// A relay is paused with entries in its hands, its lease ends, another one takes
// over. When the first wakes up it publishes what it has: the server refuses it.
func testRelayPausedPublishing(t *testing.T, p *natsServers) {
	store, js := newStore(t), p.open(t)
	head := add(t, store, 50)
	paused := &pausing{Store: store, from: head, held: make(chan struct{}), resume: make(chan struct{})}
	old := relay(t, paused, js, feed.RelayOptions{})
	actor(t, old.Run)
	resume := sync.OnceFunc(func() { close(paused.resume) })
	t.Cleanup(resume) // or a test that failed would wait for the relay
	until(t, js, head)
	head = add(t, store, 30)
	select {
	case <-paused.held:
	case <-within(t).Done():
		t.Fatal("the relay reads no entries")
	}

	stop := actor(t, relay(t, store, js, feed.RelayOptions{}).Run)
	made := until(t, js, head).Created
	head = add(t, store, 20)
	until(t, js, head)
	resume()
	waitFor(t, func() bool { return old.Stats().Conflicts > 0 })
	head = add(t, store, 20)
	info := until(t, js, head)
	if info.State.Msgs != uint64(head) || info.State.LastSeq != uint64(head) || !info.Created.Equal(made) {
		t.Errorf("stream of %s holds %d messages up to %d, want that of %s with %d", info.Created, info.State.Msgs, info.State.LastSeq, made, head)
	}
	mustReadAll(t, store, source(t, store, js, feed.SourceOptions{}), 0, head)
	check(t, stop())
}

// A relay finds a stream that it cannot continue and is paused before it deletes
// it; another one makes the stream again. When the first wakes up it leaves that
// one alone.
func testRelayPausedDeleting(t *testing.T, p *natsServers) {
	store, js := newStore(t), p.open(t)
	head := add(t, store, 50)
	_, err := js.CreateStream(within(t), jetstream.StreamConfig{Name: feed.StreamName(feed.DefaultPrefix), Subjects: []string{feed.Subjects(feed.DefaultPrefix)}})
	check(t, err)
	var made time.Time
	// Between the look and the delete, as near as a pause can be to the end.
	paused := &looking{JetStream: js, second: func() {
		stop := actor(t, relay(t, store, js, feed.RelayOptions{}).Run)
		waitFor(t, func() bool {
			info := until(t, js, head)
			made = info.Created
			return info.Config.Metadata[feed.MetaOrigin] != ""
		})
		check(t, stop())
	}}
	old := relay(t, store, paused, feed.RelayOptions{Replicas: len(p.All)})
	actor(t, old.Run)
	waitFor(t, func() bool { return old.Stats().Conflicts > 0 })
	head = add(t, store, 20)
	info := until(t, js, head)
	if !info.Created.Equal(made) || info.State.Msgs != uint64(head) || old.Stats().Rebuilt != 0 {
		t.Errorf("stream of %s holds %d messages, want that of %s with %d; relay %+v", info.Created, info.State.Msgs, made, head, old.Stats())
	}
}

// looking does something before it looks at the stream for the second time.
type looking struct {
	jetstream.JetStream
	mu     sync.Mutex
	looks  int
	second func()
}

func (j *looking) Stream(ctx context.Context, name string) (jetstream.Stream, error) {
	j.mu.Lock()
	j.looks++
	n := j.looks
	j.mu.Unlock()
	if n == 2 {
		j.second()
		ctx = context.WithoutCancel(ctx)
	}
	return j.JetStream.Stream(ctx, name)
}

// Somebody gave the stream settings with which it refuses entries or does not
// answer: the relay takes them back, or makes the stream again where it cannot.
func testSettingsThatRefuse(t *testing.T, p *natsServers) {
	for name, change := range map[string]func(*jetstream.StreamConfig){
		"few messages, new ones refused": func(streamConfig *jetstream.StreamConfig) {
			streamConfig.MaxMsgs, streamConfig.Discard = 100, jetstream.DiscardNew
		},
		"small messages":      func(streamConfig *jetstream.StreamConfig) { streamConfig.MaxMsgSize = 10 },
		"no acknowledgements": func(streamConfig *jetstream.StreamConfig) { streamConfig.NoAck = true },
		"sealed":              func(streamConfig *jetstream.StreamConfig) { streamConfig.Sealed = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, js := setup(t, p)
			info := until(t, js, add(t, store, 100))
			config := info.Config
			change(&config)
			_, err := js.UpdateStream(within(t), config)
			check(t, err)
			head := add(t, store, 50)
			if made := until(t, js, head).Created; made.Equal(info.Created) == config.Sealed {
				t.Errorf("stream of %s, before of %s", made, info.Created)
			}
			mustReadAll(t, store, source(t, store, js, feed.SourceOptions{}), 0, head)
		})
	}
}

// More replicas are wanted than there are servers: a stream that is there keeps its own, gets
// the other settings and is filled, a new one is not made, and what is told names the setting.
func testTooManyReplicas(t *testing.T, p *natsServers) {
	store, js := newStore(t), p.open(t)
	stop := actor(t, relay(t, store, js, feed.RelayOptions{MaxBytes: feed.MinMaxBytes}).Run)
	until(t, js, add(t, store, 100))
	check(t, stop())
	relayOptions := feed.RelayOptions{Replicas: len(p.All) + 2, MaxBytes: 2 * feed.MinMaxBytes}
	stop = actor(t, relay(t, store, js, relayOptions).Run)
	head := add(t, store, 10)
	waitFor(t, func() bool { return until(t, js, head).Config.MaxBytes == relayOptions.MaxBytes })
	if info := until(t, js, head); info.Config.Replicas != len(p.All) || info.State.Msgs != uint64(head) {
		t.Errorf("stream has %d replicas and %d messages, want %d and %d", info.Config.Replicas, info.State.Msgs, len(p.All), head)
	}
	check(t, stop())

	store, js = newStore(t), p.open(t)
	none := relay(t, store, js, relayOptions)
	actor(t, none.Run)
	head = add(t, store, 10)
	waitFor(t, func() bool { return strings.Contains(none.Stats().Error, "feed replicas") })
	if _, err := look(within(t), js); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("got %v, want no stream", err)
	}
	mustReadAll(t, store, source(t, store, js, feed.SourceOptions{}), 0, head)
}

// The server or the account has less room than the stream reserves: what is told names the
// setting, and reading goes on.
func TestTooLittleRoom(t *testing.T) {
	t.Parallel()
	few := newOperator(t)
	few.disk = 100 << 20
	for want, at := range map[string]string{
		"raise max_file_store of the NATS servers": listen(t, &server.Options{JetStreamMaxStore: 100 << 20}),
		"the JetStream limits of the account":      listen(t, few.options(t)),
	} {
		store, js := newStore(t), connect(t, "nats://"+at, feed.ConnectOptions{Credentials: few.credentials(t)})
		r := relay(t, store, js, feed.RelayOptions{})
		actor(t, r.Run)
		head := add(t, store, 10)
		waitFor(t, func() bool { return strings.Contains(r.Stats().Error, want) })
		mustReadAll(t, store, source(t, store, js, feed.SourceOptions{}), 0, head)
	}
}

// skipping is a store that loses an entry on the way to the relay or source.
type skipping struct{ eventstore.Store }

func (s skipping) Read(ctx context.Context, r eventstore.Range) ([]eventstore.Entry, error) {
	entries, err := s.Store.Read(ctx, r)
	return slices.DeleteFunc(entries, func(entry eventstore.Entry) bool { return entry.Position == 7 }), err
}

func testGapInTheStore(t *testing.T, p *natsServers) {
	s, js := skipping{newStore(t)}, p.open(t)
	add(t, s, 10)
	if err := relay(t, s, js, feed.RelayOptions{}).Run(within(t)); !errors.Is(err, eventstore.ErrDamaged) {
		t.Errorf("relay: got %v, want ErrDamaged", err)
	}
	src := source(t, s, js, feed.SourceOptions{Stall: 10 * time.Millisecond})
	if _, _, err := src.Read(within(t), eventstore.Mark{}, 64); !errors.Is(err, eventstore.ErrDamaged) {
		t.Errorf("source: got %v, want ErrDamaged", err)
	}
}
