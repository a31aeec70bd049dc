package feed_test

import (
	"context"
	"errors"
	"log/slog"
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
func testRelayPausedPublishing(t *testing.T, p place) {
	s, e := newStore(t), p.open(t)
	js := e.JetStream()
	head := add(t, s, 50)
	paused := &pausing{Store: s, from: head, held: make(chan struct{}), resume: make(chan struct{})}
	old := relay(t, paused, js, feed.RelayOptions{})
	actor(t, old.Run)
	resume := sync.OnceFunc(func() { close(paused.resume) })
	t.Cleanup(resume) // or a test that failed would wait for the relay
	until(t, js, head)
	head = add(t, s, 30)
	select {
	case <-paused.held:
	case <-within(t).Done():
		t.Fatal("the relay reads no entries")
	}

	stop := actor(t, relay(t, s, js, feed.RelayOptions{}).Run)
	made := until(t, js, head).Created
	head = add(t, s, 20)
	until(t, js, head)
	resume()
	for ctx := within(t); old.Stats().Conflicts == 0; {
		pause(ctx, t)
	}
	head = add(t, s, 20)
	info := until(t, js, head)
	if info.State.Msgs != uint64(head) || info.State.LastSeq != uint64(head) || !info.Created.Equal(made) {
		t.Errorf("stream of %s holds %d messages up to %d, want that of %s with %d", info.Created, info.State.Msgs, info.State.LastSeq, made, head)
	}
	mustReadAll(t, s, source(t, s, js, feed.SourceOptions{}), 0, head)
	check(t, stop())
}

// A relay finds a stream that it cannot continue and is paused before it deletes
// it; another one makes the stream again. When the first wakes up it leaves that
// one alone.
func testRelayPausedDeleting(t *testing.T, p place) {
	s, e := newStore(t), p.open(t)
	js := e.JetStream()
	head := add(t, s, 50)
	_, err := js.CreateStream(within(t), jetstream.StreamConfig{Name: feed.StreamName(feed.DefaultPrefix), Subjects: []string{feed.Subjects(feed.DefaultPrefix)}})
	check(t, err)
	var made time.Time
	// Between the look and the delete, as near as a pause can be to the end.
	paused := &looking{JetStream: js, second: func() {
		stop := actor(t, relay(t, s, js, feed.RelayOptions{}).Run)
		ctx := within(t)
		for info := until(t, js, head); ; info = until(t, js, head) {
			if made = info.Created; info.Config.Metadata[feed.MetaOrigin] != "" {
				break
			}
			pause(ctx, t)
		}
		check(t, stop())
	}}
	old := relay(t, s, paused, feed.RelayOptions{Replicas: p.replicas()})
	actor(t, old.Run)
	for ctx := within(t); old.Stats().Conflicts == 0; {
		pause(ctx, t)
	}
	head = add(t, s, 20)
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
func testSettingsThatRefuse(t *testing.T, p place) {
	cases := map[string]struct {
		change func(*jetstream.StreamConfig)
		anew   bool
	}{
		"few messages, new ones refused": {change: func(c *jetstream.StreamConfig) { c.MaxMsgs, c.Discard = 100, jetstream.DiscardNew }},
		"small messages":                 {change: func(c *jetstream.StreamConfig) { c.MaxMsgSize = 10 }},
		"no acknowledgements":            {change: func(c *jetstream.StreamConfig) { c.NoAck = true }},
		"sealed":                         {change: func(c *jetstream.StreamConfig) { c.Sealed = true }, anew: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, e := newStore(t), p.open(t)
			js := e.JetStream()
			r := relay(t, s, js, feed.RelayOptions{})
			actor(t, r.Run)
			head := add(t, s, 100)
			info := until(t, js, head)
			config := info.Config
			c.change(&config)
			_, err := js.UpdateStream(within(t), config)
			check(t, err)
			head = add(t, s, 50)
			now := until(t, js, head)
			if anew := !now.Created.Equal(info.Created); anew != c.anew {
				t.Errorf("stream was made anew: %t, want %t; relay %+v", anew, c.anew, r.Stats())
			}
			src := source(t, s, js, feed.SourceOptions{})
			mustReadAll(t, s, src, 0, head)
			for ctx := within(t); src.Stats().FromStream == 0; pause(ctx, t) {
				head = add(t, s, 1)
				mustReadAll(t, s, src, head-1, head)
			}
			for ctx := within(t); r.Stats().Error != ""; { // until the next acknowledgement
				until(t, js, add(t, s, 1))
				pause(ctx, t)
			}
		})
	}
}

// More replicas are wanted than there are servers: a stream that is there stays
// as it is and is filled, a new one is not made, and what is told names the
// setting.
func testTooManyReplicas(t *testing.T, p place) {
	s, e := setup(t, p)
	js := e.JetStream()
	head := add(t, s, 100)
	until(t, js, head)
	log := new(lines)
	more := relay(t, s, js, feed.RelayOptions{Replicas: p.replicas() + 2, MaxBytes: 2 * feed.MinMaxBytes, Log: slog.New(slog.NewTextHandler(log, nil))})
	stop := actor(t, more.Run)
	ctx := within(t)
	for until(t, js, head).Config.MaxBytes != 2*feed.MinMaxBytes { // the other setting is applied
		pause(ctx, t)
	}
	if info := until(t, js, head); info.Config.Replicas != p.replicas() || info.State.Msgs != uint64(head) {
		t.Errorf("stream has %d replicas and %d messages, want %d and %d", info.Config.Replicas, info.State.Msgs, p.replicas(), head)
	}
	head = add(t, s, 10)
	until(t, js, head)
	log.want(ctx, t, "stream keeps its replicas")
	check(t, stop())

	s, e = newStore(t), p.open(t)
	log = new(lines)
	none := relay(t, s, e.JetStream(), feed.RelayOptions{Replicas: p.replicas() + 2, Log: slog.New(slog.NewTextHandler(log, nil))})
	actor(t, none.Run)
	head = add(t, s, 10)
	log.want(ctx, t, "create the stream from entry 1 on: feed replicas")
	if _, err := look(ctx, e.JetStream()); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("got %v, want no stream", err)
	}
	if st := none.Stats(); st.Error == "" || st.Published != 0 {
		t.Errorf("got %+v, want an error", st)
	}
	// No one misses anything.
	mustReadAll(t, s, source(t, s, e.JetStream(), feed.SourceOptions{}), 0, head)
}

// The server or the account has less room than the stream reserves: no stream is
// made, the log names the setting, once, and reading goes on.
func TestTooLittleRoom(t *testing.T) {
	t.Parallel()
	few := newOperator(t)
	few.disk = 100 << 20
	cases := map[string]struct {
		o     *server.Options
		creds string
		want  string
	}{
		"of the server":  {o: &server.Options{JetStreamMaxStore: 100 << 20}, want: "raise max_file_store of the NATS servers"},
		"of the account": {o: few.options(t), creds: few.credentials(t), want: "the JetStream limits of the account"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, log := newStore(t), new(lines)
			js := connect(t, "nats://"+listen(t, c.o), feed.ConnectOptions{Credentials: c.creds})
			r := relay(t, s, js, feed.RelayOptions{Log: slog.New(slog.NewTextHandler(log, nil))})
			actor(t, r.Run)
			head := add(t, s, 10)
			log.want(within(t), t, c.want)
			for ctx := within(t); r.Stats().Retries < 3; {
				pause(ctx, t)
			}
			if n := strings.Count(log.String(), c.want); n != 1 {
				t.Errorf("told %d times, want once:\n%s", n, log)
			}
			mustReadAll(t, s, source(t, s, js, feed.SourceOptions{}), 0, head)
		})
	}
}
