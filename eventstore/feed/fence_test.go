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

func (pausing *pausing) Read(ctx context.Context, r eventstore.Range) ([]eventstore.Entry, error) {
	entries, err := pausing.Store.Read(ctx, r)
	if r.After >= uint64(pausing.from) && len(entries) > 0 {
		pausing.once.Do(func() { close(pausing.held) })
		<-pausing.resume // whatever its context says: a paused process hears nothing
	}
	return entries, err
}

// A relay is paused with entries in its hands, its lease ends, another one takes
// over. When the first wakes up it publishes what it has: the server refuses it.
func testRelayPausedPublishing(t *testing.T, natsServers *natsServers) {
	store, jetStream := newStore(t), natsServers.open(t)
	head := add(t, store, 50)
	paused := &pausing{Store: store, from: head, held: make(chan struct{}), resume: make(chan struct{})}
	old := relay(t, paused, jetStream, feed.RelayOptions{})
	actor(t, old.Run)
	resume := sync.OnceFunc(func() { close(paused.resume) })
	t.Cleanup(resume) // or a test that failed would wait for the relay
	until(t, jetStream, head)
	head = add(t, store, 30)
	select {
	case <-paused.held:
	case <-within(t).Done():
		t.Fatal("the relay reads no entries")
	}

	stop := actor(t, relay(t, store, jetStream, feed.RelayOptions{}).Run)
	made := until(t, jetStream, head).Created
	head = add(t, store, 20)
	until(t, jetStream, head)
	resume()
	waitFor(t, func() bool { return old.Stats().Conflicts > 0 })
	head = add(t, store, 20)
	info := until(t, jetStream, head)
	if info.State.Msgs != uint64(head) || info.State.LastSeq != uint64(head) || !info.Created.Equal(made) {
		t.Errorf("stream of %s holds %d messages up to %d, want that of %s with %d", info.Created, info.State.Msgs, info.State.LastSeq, made, head)
	}
	mustReadAll(t, store, source(t, store, jetStream, feed.SourceOptions{}), 0, head)
	check(t, stop())
}

// A relay finds a stream that it cannot continue and is paused before it deletes
// it; another one makes the stream again. When the first wakes up it leaves that
// one alone.
func testRelayPausedDeleting(t *testing.T, natsServers *natsServers) {
	store, jetStream := newStore(t), natsServers.open(t)
	head := add(t, store, 50)
	_, err := jetStream.CreateStream(within(t), jetstream.StreamConfig{Name: feed.StreamName(feed.DefaultPrefix), Subjects: []string{feed.Subjects(feed.DefaultPrefix)}})
	check(t, err)
	var made time.Time
	// Between the look and the delete, as near as a pause can be to the end.
	paused := &looking{JetStream: jetStream, second: func() {
		stop := actor(t, relay(t, store, jetStream, feed.RelayOptions{}).Run)
		waitFor(t, func() bool {
			info := until(t, jetStream, head)
			made = info.Created
			return info.Config.Metadata[feed.MetaOrigin] != ""
		})
		check(t, stop())
	}}
	old := relay(t, store, paused, feed.RelayOptions{Replicas: len(natsServers.All)})
	actor(t, old.Run)
	waitFor(t, func() bool { return old.Stats().Conflicts > 0 })
	head = add(t, store, 20)
	info := until(t, jetStream, head)
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

func (looking *looking) Stream(ctx context.Context, name string) (jetstream.Stream, error) {
	looking.mu.Lock()
	looking.looks++
	n := looking.looks
	looking.mu.Unlock()
	if n == 2 {
		looking.second()
		ctx = context.WithoutCancel(ctx)
	}
	return looking.JetStream.Stream(ctx, name)
}

// Somebody gave the stream settings with which it refuses entries or does not
// answer: the relay takes them back, or makes the stream again where it cannot.
func testSettingsThatRefuse(t *testing.T, natsServers *natsServers) {
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
			store, jetStream := setup(t, natsServers)
			info := until(t, jetStream, add(t, store, 100))
			config := info.Config
			change(&config)
			_, err := jetStream.UpdateStream(within(t), config)
			check(t, err)
			head := add(t, store, 50)
			if made := until(t, jetStream, head).Created; made.Equal(info.Created) == config.Sealed {
				t.Errorf("stream of %s, before of %s", made, info.Created)
			}
			mustReadAll(t, store, source(t, store, jetStream, feed.SourceOptions{}), 0, head)
		})
	}
}

// More replicas are wanted than there are servers: a stream that is there keeps its own, gets
// the other settings and is filled, a new one is not made, and what is told names the setting.
func testTooManyReplicas(t *testing.T, natsServers *natsServers) {
	store, jetStream := newStore(t), natsServers.open(t)
	stop := actor(t, relay(t, store, jetStream, feed.RelayOptions{MaxBytes: feed.MinMaxBytes}).Run)
	until(t, jetStream, add(t, store, 100))
	check(t, stop())
	relayOptions := feed.RelayOptions{Replicas: len(natsServers.All) + 2, MaxBytes: 2 * feed.MinMaxBytes}
	stop = actor(t, relay(t, store, jetStream, relayOptions).Run)
	head := add(t, store, 10)
	waitFor(t, func() bool { return until(t, jetStream, head).Config.MaxBytes == relayOptions.MaxBytes })
	if info := until(t, jetStream, head); info.Config.Replicas != len(natsServers.All) || info.State.Msgs != uint64(head) {
		t.Errorf("stream has %d replicas and %d messages, want %d and %d", info.Config.Replicas, info.State.Msgs, len(natsServers.All), head)
	}
	check(t, stop())

	store, jetStream = newStore(t), natsServers.open(t)
	none := relay(t, store, jetStream, relayOptions)
	actor(t, none.Run)
	head = add(t, store, 10)
	waitFor(t, func() bool { return strings.Contains(none.Stats().Error, "feed replicas") })
	if _, err := look(within(t), jetStream); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("got %v, want no stream", err)
	}
	mustReadAll(t, store, source(t, store, jetStream, feed.SourceOptions{}), 0, head)
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
		store, jetStream := newStore(t), connect(t, "nats://"+at, feed.ConnectOptions{Credentials: few.credentials(t)})
		r := relay(t, store, jetStream, feed.RelayOptions{})
		actor(t, r.Run)
		head := add(t, store, 10)
		waitFor(t, func() bool { return strings.Contains(r.Stats().Error, want) })
		mustReadAll(t, store, source(t, store, jetStream, feed.SourceOptions{}), 0, head)
	}
}

// skipping is a store that loses an entry on the way to the relay or source.
type skipping struct{ eventstore.Store }

func (skipping skipping) Read(ctx context.Context, r eventstore.Range) ([]eventstore.Entry, error) {
	entries, err := skipping.Store.Read(ctx, r)
	return slices.DeleteFunc(entries, func(entry eventstore.Entry) bool { return entry.Position == 7 }), err
}

func testGapInTheStore(t *testing.T, natsServers *natsServers) {
	s, jetStream := skipping{newStore(t)}, natsServers.open(t)
	add(t, s, 10)
	if err := relay(t, s, jetStream, feed.RelayOptions{}).Run(within(t)); !errors.Is(err, eventstore.ErrDamaged) {
		t.Errorf("relay: got %v, want ErrDamaged", err)
	}
	src := source(t, s, jetStream, feed.SourceOptions{Stall: 10 * time.Millisecond})
	if _, _, err := src.Read(within(t), eventstore.Mark{}, 64); !errors.Is(err, eventstore.ErrDamaged) {
		t.Errorf("source: got %v, want ErrDamaged", err)
	}
}
