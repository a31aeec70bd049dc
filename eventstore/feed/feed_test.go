package feed_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/feed"
)

func testEveryPositionOnceInOrder(t *testing.T, p place) {
	const writers, each = 64, 40
	s, e := setup(t, p)
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				if res := s.Append(t.Context(), []eventstore.Append{fresh(t, s, 50)})[0]; res.Err != nil {
					t.Errorf("append: %v", res.Err)
				}
			}
		})
	}
	src := source(t, s, e.JetStream(), feed.SourceOptions{})
	mustReadAll(t, s, src, 0, writers*each)
	wg.Wait()
	info := until(t, e.JetStream(), writers*each)
	if info.State.FirstSeq != 1 || info.State.Msgs != writers*each {
		t.Errorf("stream holds %d messages from %d on, want %d from 1 on", info.State.Msgs, info.State.FirstSeq, writers*each)
	}
}

func testSourceFollowsTheStream(t *testing.T, p place) {
	s, e := setup(t, p)
	head := add(t, s, 300)
	until(t, e.JetStream(), head)
	// On a slow machine servers are too late now and then: another source is asked.
	for ctx := within(t); ; pause(ctx, t) {
		src := source(t, s, e.JetStream(), feed.SourceOptions{})
		mustReadAll(t, s, src, 0, head)
		for range 50 {
			head = add(t, s, 1)
			mustReadAll(t, s, src, head-1, head)
		}
		mustReadAll(t, s, src, 17, head) // begins again
		st := src.Stats()
		src.Close()
		if st.FromStore == 0 {
			return
		}
	}
}

// bent does something once before it creates, deletes or reads.
type bent struct {
	jetstream.JetStream
	create, remove func()
}

func once(f *func()) {
	if g := *f; g != nil {
		*f = nil
		g()
	}
}

func (j *bent) CreateStream(ctx context.Context, c jetstream.StreamConfig) (jetstream.Stream, error) {
	once(&j.create)
	return j.JetStream.CreateStream(ctx, c)
}

func (j *bent) DeleteStream(ctx context.Context, name string) error {
	once(&j.remove)
	return j.JetStream.DeleteStream(ctx, name)
}

// Two relays find no stream and make it: the one that comes second leaves the
// stream of the first alone.
func testTwoRelaysMakeTheStream(t *testing.T, p place) {
	s, e := newStore(t), p.open(t)
	js := e.JetStream()
	head := add(t, s, 100)
	var made time.Time
	late := relay(t, s, &bent{JetStream: js, create: func() {
		stop := actor(t, relay(t, s, js, feed.RelayOptions{}).Run)
		made = until(t, js, head).Created
		check(t, stop())
		head = add(t, s, 100)
	}}, feed.RelayOptions{})
	actor(t, late.Run)
	for ctx := within(t); late.Stats().Position < 200; {
		pause(ctx, t)
	}
	if info := until(t, js, head); !info.Created.Equal(made) || info.State.Msgs != 200 {
		t.Errorf("stream of %v holds %d messages, want that of %v with 200", info.Created, info.State.Msgs, made)
	}
	if st := late.Stats(); st.Rebuilt != 0 || st.Published != 100 {
		t.Errorf("got %+v, want 100 entries published and no stream made", st)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func stream(ctx context.Context, t *testing.T, js jetstream.JetStream) jetstream.Stream {
	t.Helper()
	s, err := js.Stream(ctx, feed.StreamName(feed.DefaultPrefix))
	check(t, err)
	return s
}

// The stream is that of another store, or of somebody who is no daybook: nothing of
// it is read, it is left alone, and the error names the setting.
func testOtherStore(t *testing.T, p place) {
	const before, after = 80, 50
	js := p.open(t).JetStream()
	old := newStore(t)
	actor(t, relay(t, old, js, feed.RelayOptions{}).Run)
	theirs := until(t, js, add(t, old, before))

	s := newStore(t)
	s.Append(t.Context(), []eventstore.Append{fresh(t, s, 7)}) // another first entry
	head := add(t, s, after-1)
	src := source(t, s, js, feed.SourceOptions{})
	mustReadAll(t, s, src, 0, head)
	if st := src.Stats(); st.FromStream != 0 || st.Live || !strings.Contains(st.Error, "--feed-prefix") {
		t.Errorf("got %+v, want nothing from the stream of another store, and why", st)
	}
	log := new(lines)
	r := relay(t, s, js, feed.RelayOptions{Log: slog.New(slog.NewTextHandler(log, nil))})
	actor(t, r.Run)
	for ctx := within(t); r.Stats().Retries < 3; {
		pause(ctx, t)
	}
	if st := r.Stats(); st.Rebuilt != 0 || st.Published != 0 || !strings.Contains(st.Error, "--feed-prefix") {
		t.Errorf("got %+v, want that the stream is refused, and why", st)
	}
	if n := strings.Count(log.String(), "--feed-prefix"); n != 1 {
		t.Errorf("logged %d times, want once:\n%s", n, log)
	}
	// It belongs to the other one, and to no one else.
	if now := until(t, js, add(t, old, 50)); !now.Created.Equal(theirs.Created) || now.State.Msgs != before+50 {
		t.Errorf("stream of %s holds %d messages, want that of %s with %d", now.Created, now.State.Msgs, theirs.Created, before+50)
	}
	mustReadAll(t, old, source(t, old, js, feed.SourceOptions{}), 0, before+50)
}

// A stream that holds something and that no daybook made is left alone, too.
func testStreamOfSomebodyElse(t *testing.T, p place) {
	s, e := newStore(t), p.open(t)
	js := e.JetStream()
	_, err := js.CreateStream(within(t), jetstream.StreamConfig{Name: feed.StreamName(feed.DefaultPrefix), Subjects: []string{"orders"}})
	check(t, err)
	_, err = js.Publish(within(t), "orders", []byte("one"))
	check(t, err)
	head := add(t, s, 10)
	r := relay(t, s, js, feed.RelayOptions{})
	actor(t, r.Run)
	for ctx := within(t); r.Stats().Retries < 3; {
		pause(ctx, t)
	}
	mustReadAll(t, s, source(t, s, js, feed.SourceOptions{}), 0, head)
	if info := until(t, js, 1); info.State.Msgs != 1 || info.State.LastSeq != 1 {
		t.Errorf("stream holds %+v, want the one message of its owner", info.State)
	}
}

// A bounded stream drops old messages; the source reads them from the store and goes over
// to the stream.
func testHandOver(t *testing.T, p place) {
	s, e := newStore(t), p.open(t)
	r := relay(t, s, e.JetStream(), feed.RelayOptions{MaxBytes: feed.MinMaxBytes})
	actor(t, r.Run)
	for range 400 {
		addOne(t, s, 5000)
	}
	info := until(t, e.JetStream(), 400)
	if info.State.FirstSeq < 50 || info.State.Bytes > feed.MinMaxBytes {
		t.Fatalf("stream holds %d bytes from %d on, want it bounded", info.State.Bytes, info.State.FirstSeq)
	}
	src := source(t, s, e.JetStream(), feed.SourceOptions{})
	mustReadAll(t, s, src, 0, 400)
	if st := src.Stats(); st.FromStore < info.State.FirstSeq-1 {
		t.Errorf("got %+v, want at least %d from the store", st, info.State.FirstSeq-1)
	}
	for ctx := within(t); !src.Stats().Live; pause(ctx, t) {
		head := add(t, s, 1)
		mustReadAll(t, s, src, head-1, head)
	}
}

func testStreamMadeAgainBeginsWithTheNewest(t *testing.T, p place) {
	s, e := newStore(t), p.open(t)
	head := add(t, s, 500)
	actor(t, relay(t, s, e.JetStream(), feed.RelayOptions{Replay: 120}).Run)
	info := until(t, e.JetStream(), head)
	if info.State.FirstSeq != 381 || info.State.Msgs != 120 {
		t.Errorf("stream holds %d messages from %d on, want 120 from 381 on", info.State.Msgs, info.State.FirstSeq)
	}
	mustReadAll(t, s, source(t, s, e.JetStream(), feed.SourceOptions{}), 0, head)
}

// An entry larger than the feed carries travels without its state and is read
// from the store.
func testLargeEntry(t *testing.T, p place) {
	s, e := newStore(t), p.open(t)
	// The smaller bound of the two counts: an eighth of the stream, 1 MiB.
	actor(t, relay(t, s, e.JetStream(), feed.RelayOptions{MaxBytes: 8 << 20}).Run)
	add(t, s, 3)
	addOne(t, s, 600<<10) // in the fields and again in the state
	addOne(t, s, 400<<10)
	head := add(t, s, 3)
	until(t, e.JetStream(), head)
	src := source(t, s, e.JetStream(), feed.SourceOptions{})
	mustReadAll(t, s, src, 0, head)
	if st := src.Stats(); st.FromStore == 0 {
		t.Errorf("got %+v, want the large one from the store", st)
	}
	for seq, want := range map[uint64]string{3: "", 4: "fields,state", 5: ""} {
		m, err := stream(within(t), t, e.JetStream()).GetMsg(within(t), seq)
		check(t, err)
		if got := m.Header.Get(feed.HeaderOmitted); got != want {
			t.Errorf("message %d: %s is %q, want %q", seq, feed.HeaderOmitted, got, want)
		}
	}
}

func TestEndings(t *testing.T) {
	t.Parallel()
	s, e := setup(t, inside{})
	src := source(t, s, e.JetStream(), feed.SourceOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() {
		_, _, err := src.Read(ctx, eventstore.Mark{}, 1)
		result <- err
	}()
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled read: got %v, want context.Canceled", err)
	}
	src.Close()

	closed := newStore(t)
	r := relay(t, closed, e.JetStream(), feed.RelayOptions{})
	check(t, closed.Close())
	if err := r.Run(within(t)); !errors.Is(err, eventstore.ErrClosed) {
		t.Errorf("relay of a closed store: got %v, want ErrClosed", err)
	}
}

// A changed bound is applied to the stream that is there, and what somebody changed of
// its compression is taken back.
func testSettingsAreAdjusted(t *testing.T, p place) {
	s, e := newStore(t), p.open(t)
	js := e.JetStream()
	head := add(t, s, 10)
	for _, size := range []int64{feed.MinMaxBytes, 4 * feed.MinMaxBytes} {
		stop := actor(t, relay(t, s, js, feed.RelayOptions{MaxBytes: size}).Run)
		for ctx := within(t); ; pause(ctx, t) {
			if c := until(t, js, head).Config; c.MaxBytes == size && c.Compression == jetstream.S2Compression {
				break
			}
		}
		check(t, stop())
		config := until(t, js, head).Config
		config.Compression = jetstream.NoCompression
		_, err := js.UpdateStream(within(t), config)
		check(t, err)
	}
	if info := until(t, js, head); info.State.Msgs != 10 {
		t.Errorf("stream holds %d messages, want 10", info.State.Msgs)
	}
}

// testErased: the stream is made again from the store when a record is erased, also by a
// relay that was cut off, so that no message of it has what is gone: HISTORY 14.2.
func testErased(t *testing.T, p place) {
	s, e := newStore(t), p.open(t)
	js := e.JetStream()
	stop := actor(t, relay(t, s, js, feed.RelayOptions{}).Run)
	add(t, s, 3)
	at := addOne(t, s, 100)
	until(t, js, add(t, s, 3))
	before := until(t, js, at).Created
	check(t, stop())
	erase := func(at calendar.Position) calendar.Position {
		t.Helper()
		entries, err := s.Read(within(t), eventstore.Range{After: uint64(at - 1), Limit: 1})
		check(t, err)
		gone := entries[0]
		res := s.Append(within(t), []eventstore.Append{{
			Time: gone.Time, Redact: []calendar.ID{gone.ID},
			Drafts: []eventstore.Draft{{
				Kind: gone.Kind, ID: gone.ID, Expected: gone.Version, Change: eventstore.ErasedChange(gone.Kind),
				Fields: []byte(`{}`), State: []byte(`{"deleted":true,"erased":true}`),
			}},
		}})[0]
		check(t, res.Err)
		return res.Position
	}
	by := erase(at)
	r := relay(t, s, js, feed.RelayOptions{})
	actor(t, r.Run)
	info := until(t, js, by)
	if info.Created.Equal(before) {
		t.Error("the stream was not made anew")
	}
	m, err := stream(within(t), t, js).GetMsg(within(t), uint64(at))
	check(t, err)
	if got := m.Header.Get(feed.HeaderRedacted); got != by.String() || !bytes.Contains(m.Data, []byte(`"state":null`)) {
		t.Errorf("message %d: %s is %q, want %s; %s", at, feed.HeaderRedacted, got, by, m.Data)
	}
	until(t, js, add(t, s, 2))
	if n := r.Stats().Rebuilt; n != 1 {
		t.Errorf("made anew %d times, want once", n)
	}
	by = erase(at - 1) // under the relay that runs
	until(t, js, by)
	if n := r.Stats().Rebuilt; n != 2 {
		t.Errorf("made anew %d times, want twice", n)
	}
	src := source(t, s, js, feed.SourceOptions{})
	mustReadAll(t, s, src, 0, by)
}
