package feed_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/feed"
	"daybook/eventstore/memstore"
)

func TestMain(m *testing.M) {
	// The tests wait for servers most of their time: more run at once than there are processors.
	_ = flag.Set("test.parallel", "4")
	goleak.VerifyTestMain(m)
}

// limit is what no wait of a test comes near to, unless something is broken.
const limit = 30 * time.Second

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

// store is an event store in memory.
type store = memstore.Store

func newStore(t *testing.T) *store {
	t.Helper()
	store := memstore.New()
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// add appends n entries of fresh records and returns the head.
func add(t *testing.T, store eventstore.Store, n int) calendar.Position {
	t.Helper()
	var position calendar.Position
	for range n {
		position = addOne(t, store, 100)
	}
	return position
}

// addOne appends one entry with a state of about size bytes.
func addOne(t *testing.T, store eventstore.Store, size int) calendar.Position {
	t.Helper()
	res := store.Append(t.Context(), fresh(t, store, size))
	if res.Err != nil {
		t.Fatalf("append: %v", res.Err)
	}
	return res.Position
}

func fresh(tb testing.TB, store eventstore.Store, size int) eventstore.Append {
	tb.Helper()
	id, err := store.NewID(tb.Context())
	if err != nil {
		tb.Fatalf("new id: %v", err)
	}
	fields := fmt.Sprintf(`{"title":"%d %s"}`, id, strings.Repeat("x", size))
	return eventstore.Append{
		Time:  time.UnixMilli(1_700_000_000_000 + int64(id)),
		Actor: 1,
		Cause: eventstore.Cause{Client: "test", Request: "r" + id.String()},
		Drafts: []eventstore.Draft{{Entry: eventstore.Entry{
			Kind:    calendar.KindEvent,
			ID:      id,
			Version: 1,
			Change:  "event.created",
			Fields:  json.RawMessage(fields),
			State:   json.RawMessage(`{"fields":` + fields + `}`),
			Secret:  []byte("the secret"),
		}}},
	}
}

// actor runs f until the test or stop ends it; stop gives its error.
func actor(t *testing.T, f func(context.Context) error) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	result := make(chan error, 1)
	go func() {
		err := errors.New("ended by the test")
		defer func() { result <- err }() // t.Fatal within f ends the goroutine
		err = f(ctx)
	}()
	stop = sync.OnceValue(func() error { cancel(); return <-result })
	t.Cleanup(func() { _ = stop() })
	return stop
}

func relay(t *testing.T, store eventstore.Store, jetStream jetstream.JetStream, relayOptions feed.RelayOptions) *feed.Relay {
	t.Helper()
	if c, ok := jetStream.(connected); ok && relayOptions.Replicas == 0 {
		relayOptions.Replicas = c.replicas
	}
	return feed.NewRelay(store, jetStream, relayOptions)
}

// source makes a source that never gives up waiting for the stream by itself.
func source(t *testing.T, store eventstore.Store, jetStream jetstream.JetStream, sourceOptions feed.SourceOptions) *feed.Source {
	t.Helper()
	if sourceOptions.Stall == 0 {
		sourceOptions.Stall = limit
	}
	if sourceOptions.Recheck == 0 {
		sourceOptions.Recheck = 5 * time.Millisecond
	}
	src := feed.NewSource(store, jetStream, sourceOptions)
	t.Cleanup(src.Close)
	return src
}

// until waits until the stream holds position position.
func until(t *testing.T, jetStream jetstream.JetStream, position calendar.Position) *jetstream.StreamInfo {
	t.Helper()
	ctx := within(t)
	for {
		got, err := look(ctx, jetStream)
		if err == nil && got.State.LastSeq >= uint64(position) {
			return got
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("stream is not at %d: %+v, %v", position, got, err)
		}
	}
}

// look returns the stream as it is now. Servers that have no leader do not answer.
func look(ctx context.Context, jetStream jetstream.JetStream) (*jetstream.StreamInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	stream, err := jetStream.Stream(ctx, feed.StreamName(feed.DefaultPrefix))
	if err != nil {
		return nil, err
	}
	return stream.CachedInfo(), nil
}

// mark returns the mark that a store has for a position.
func mark(ctx context.Context, store eventstore.Store, position calendar.Position) (eventstore.Mark, error) {
	if position == 0 {
		return eventstore.Mark{}, nil
	}
	head, err := store.Head(ctx, eventstore.Point{Position: position})
	return head.Mark, err
}

func markOf(t *testing.T, store eventstore.Store, position calendar.Position) eventstore.Mark {
	t.Helper()
	m, err := mark(t.Context(), store, position)
	check(t, err)
	return m
}

// pause gives way for a moment, in a loop that waits for something.
func pause(ctx context.Context, t *testing.T) {
	t.Helper()
	select {
	case <-time.After(2 * time.Millisecond):
	case <-ctx.Done():
		t.Fatal("waited too long")
	}
}

// readAll reads the entries in (after, upTo] and tells what is wrong with them:
// each position exactly once, in order, as the store has it but for the secret, and
// with the mark that the store has.
func readAll(ctx context.Context, store eventstore.Store, source *feed.Source, after, upTo calendar.Position, n int) error {
	at, err := mark(ctx, store, after)
	if err != nil {
		return err
	}
	for after < upTo {
		var got []eventstore.Entry
		if got, at, err = source.Read(ctx, at, n); err != nil {
			return fmt.Errorf("read after %d: %w", after, err)
		}
		if len(got) == 0 || len(got) > n {
			return fmt.Errorf("read after %d: got %d entries, want 1 to %d", after, len(got), n)
		}
		want, err := store.Read(ctx, eventstore.Range{After: uint64(after), Limit: len(got)})
		if err != nil {
			return err
		}
		for i := range got {
			after++
			if got[i].Position != after {
				return fmt.Errorf("got entry %d, want %d", got[i].Position, after)
			}
			if i >= len(want) {
				return fmt.Errorf("got entry %d, which the store has not", after)
			}
			want[i].Secret, want[i].Salts, want[i].Leaf = nil, eventstore.Salts{}, [32]byte{}
			want[i].Commit = eventstore.Commit{Hash: want[i].Commit.Hash}
			if redacted := want[i].Redacted; redacted != nil {
				want[i].Redacted = &eventstore.Redacted{By: redacted.By}
			}
			if diff := diff(want[i], got[i]); diff != "" {
				return fmt.Errorf("entry %d (-want +got):\n%s", after, diff)
			}
		}
		if at.Position != after {
			return fmt.Errorf("got mark %s with entry %d", at, after)
		}
		if err := eventstore.CheckMark(ctx, store, at); err != nil {
			return err
		}
	}
	return nil
}

func mustReadAll(t *testing.T, store eventstore.Store, source *feed.Source, after, upTo calendar.Position) {
	t.Helper()
	if err := readAll(within(t), store, source, after, upTo, 64); err != nil {
		t.Fatal(err)
	}
}

// setup is a store, a JetStream and a running relay.
func setup(t *testing.T, natsServers *natsServers) (*store, jetstream.JetStream) {
	t.Helper()
	store, jetStream := newStore(t), natsServers.open(t)
	actor(t, relay(t, store, jetStream, feed.RelayOptions{}).Run)
	return store, jetStream
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// waitFor waits until something is so.
func waitFor(t *testing.T, is func() bool) {
	t.Helper()
	for ctx := within(t); !is(); {
		pause(ctx, t)
	}
}

// diff is cmp.Diff that is quick for large equal entries.
func diff(want, got eventstore.Entry) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}
