package feed_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/feed"
	"daybook/eventstore/memstore"
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
	src := source(t, s, e.JetStream(), feed.SourceOptions{Look: limit})
	mustReadAll(t, s, src, 0, head)
	for range 50 {
		p := add(t, s, 1)
		mustReadAll(t, s, src, p-1, p)
	}
	mustReadAll(t, s, src, 17, head+50) // begins anew
	if st := src.Stats(); st.FromStore != 0 || st.Gaps != 0 || st.Duplicates != 0 || !st.Live {
		t.Errorf("got %+v, want all from the stream", st)
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
	s, e := memstore.New(), p.open(t)
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

// In the process the stream is a tail in memory: of many heavy entries it holds the
// newest, nothing of it is on the disk, and nobody who reads misses one, whether he
// follows, is behind the tail, or begins after another start on the same folder.
func TestTail(t *testing.T) {
	t.Parallel()
	const n, size = 2500, 2000 // in the fields and again in the state
	dir, s := t.TempDir(), memstore.New()
	e := embedded(t, dir)
	stop := actor(t, relay(t, s, e.JetStream(), feed.RelayOptions{Sole: true}).Run)
	behind := source(t, s, e.JetStream(), feed.SourceOptions{})
	addOne(t, s, size)
	until(t, e.JetStream(), 1)
	mustReadAll(t, s, behind, 0, 1)
	mustReadAll(t, s, behind, 1, addOne(t, s, size)) // from the stream, which goes on without it
	for range n {
		addOne(t, s, size)
	}
	head := calendar.Position(n + 2)
	info := until(t, e.JetStream(), head)
	if got := info.State; got.Bytes > feed.TailBytes || got.Bytes < feed.TailBytes/2 || got.LastSeq != uint64(head) {
		t.Errorf("stream holds %d bytes, %d to %d, want %d bytes up to %d", got.Bytes, got.FirstSeq, got.LastSeq, feed.TailBytes, head)
	}
	if got := onDisk(t, dir); got > 16<<10 {
		t.Errorf("%d bytes are on the disk", got)
	}
	mustReadAll(t, s, behind, 2, head)
	if st := behind.Stats(); st.FromStore == 0 || st.FromStream < 500 {
		t.Errorf("got %+v, want the old ones from the store and the rest from the stream", st)
	}
	check(t, stop())
	check(t, e.Close())

	e = embedded(t, dir)
	r := relay(t, s, e.JetStream(), feed.RelayOptions{Sole: true})
	actor(t, r.Run)
	if info := until(t, e.JetStream(), head); info.State.Msgs != 0 {
		t.Errorf("stream holds %d messages at the start, want none", info.State.Msgs)
	}
	again := source(t, s, e.JetStream(), feed.SourceOptions{})
	mustReadAll(t, s, again, 0, head)
	mustReadAll(t, s, again, head, addOne(t, s, size))
	if st := again.Stats(); st.FromStore != uint64(head) || st.FromStream != 1 {
		t.Errorf("got %+v, want %d from the store and the next from the stream", st, head)
	}
}

// onDisk gives the bytes of the files below a folder.
func onDisk(t *testing.T, dir string) (n int64) {
	t.Helper()
	check(t, filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	}))
	return n
}

// The stream is that of another store, or of somebody who is no daybook: nothing of
// it is read, it is left alone, and what is told names the setting. In the process,
// where nobody else can be, it is made anew.
func testOtherStore(t *testing.T, p place) {
	cases := map[string]struct {
		before, after int
		sole          bool
	}{
		"of servers":     {before: 80, after: 50},
		"in the process": {before: 50, after: 80, sole: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := p.open(t)
			js := e.JetStream()
			old := memstore.New()
			actor(t, relay(t, old, js, feed.RelayOptions{}).Run)
			theirs := until(t, js, add(t, old, c.before))

			s := memstore.New()
			s.Append(t.Context(), []eventstore.Append{fresh(t, s, 7)}) // another first entry
			head := add(t, s, c.after-1)
			src := source(t, s, js, feed.SourceOptions{})
			mustReadAll(t, s, src, 0, head)
			if st := src.Stats(); st.FromStream != 0 || st.Live || !strings.Contains(st.Error, "--feed-prefix") {
				t.Errorf("got %+v, want nothing from the stream of another store, and why", st)
			}
			if c.sole {
				r := relay(t, s, js, feed.RelayOptions{Sole: true})
				actor(t, r.Run)
				for ctx := within(t); r.Stats().Rebuilt == 0; {
					pause(ctx, t)
				}
				return // the relay of the other one would make it anew, and so on
			}
			log := new(lines)
			r := relay(t, s, js, feed.RelayOptions{Log: slog.New(slog.NewTextHandler(log, nil))})
			actor(t, r.Run)
			for ctx := within(t); r.Stats().Retries < 3; {
				pause(ctx, t)
			}
			if st := r.Stats(); st.Rebuilt != 0 || st.Published != 0 || !strings.Contains(st.Error, "--feed-prefix") || st.Since.IsZero() {
				t.Errorf("got %+v, want that the stream is refused, and why", st)
			}
			if n := strings.Count(log.String(), "--feed-prefix"); n != 1 {
				t.Errorf("told %d times, want once:\n%s", n, log)
			}
			// It belongs to the other one, and to nobody else.
			if now := until(t, js, add(t, old, 50)); !now.Created.Equal(theirs.Created) || now.State.Msgs != uint64(c.before)+50 {
				t.Errorf("stream of %s holds %d messages, want that of %s with %d", now.Created, now.State.Msgs, theirs.Created, c.before+50)
			}
			mustReadAll(t, old, source(t, old, js, feed.SourceOptions{}), 0, calendar.Position(c.before)+50)
		})
	}
}

// A stream that somebody made by hand while a relay published holds messages of this
// store and says not what it was made from: it is made anew.
func testStreamMadeByHand(t *testing.T, p place) {
	s, js := memstore.New(), p.open(t).JetStream()
	head := add(t, s, 20)
	stop := actor(t, relay(t, s, js, feed.RelayOptions{}).Run)
	until(t, js, head)
	check(t, stop())
	name := feed.StreamName(feed.DefaultPrefix)
	stream, err := js.Stream(within(t), name)
	check(t, err)
	first, err := stream.GetMsg(within(t), 1)
	check(t, err)
	check(t, js.DeleteStream(within(t), name))
	for err = errors.New("not made"); err != nil; {
		_, err = js.CreateStream(within(t), jetstream.StreamConfig{Name: name, Subjects: []string{feed.Subjects(feed.DefaultPrefix)}})
	}
	_, err = js.PublishMsg(within(t), &nats.Msg{Subject: first.Subject, Header: first.Header, Data: first.Data})
	check(t, err)
	actor(t, relay(t, s, js, feed.RelayOptions{}).Run)
	if info := until(t, js, head); info.State.Msgs != uint64(head) || info.Config.Metadata[feed.MetaOrigin] == "" {
		t.Errorf("stream holds %d messages, made from %q; want %d, made from the event store", info.State.Msgs, info.Config.Metadata[feed.MetaOrigin], head)
	}
}

// A stream that holds something and that no daybook made is left alone, too.
func testStreamOfSomebodyElse(t *testing.T, p place) {
	s, e := memstore.New(), p.open(t)
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

// A bounded stream drops old messages; the source reads them from the store and
// hands over to the stream at equality.
func testHandOver(t *testing.T, p place) {
	s, e := memstore.New(), p.open(t)
	r := relay(t, s, e.JetStream(), feed.RelayOptions{MaxBytes: feed.MinMaxBytes})
	actor(t, r.Run)
	for range 400 {
		addOne(t, s, 5000)
	}
	info := until(t, e.JetStream(), 400)
	if info.State.FirstSeq < 50 || info.State.Bytes > feed.MinMaxBytes {
		t.Fatalf("stream holds %d bytes from %d on, want it bounded", info.State.Bytes, info.State.FirstSeq)
	}
	src := source(t, s, e.JetStream(), feed.SourceOptions{Recheck: limit})
	mustReadAll(t, s, src, 0, 400)
	st := src.Stats()
	if st.FromStore != info.State.FirstSeq-1 || st.FromStream != info.State.Msgs || st.Gaps != 0 {
		t.Errorf("got %+v, want %d from the store and %d from the stream", st, info.State.FirstSeq-1, info.State.Msgs)
	}
}

func testStreamMadeAgainBeginsWithTheNewest(t *testing.T, p place) {
	s, e := memstore.New(), p.open(t)
	head := add(t, s, 500)
	actor(t, relay(t, s, e.JetStream(), feed.RelayOptions{Replay: 120}).Run)
	info := until(t, e.JetStream(), head)
	if info.State.FirstSeq != 381 || info.State.Msgs != 120 {
		t.Errorf("stream holds %d messages from %d on, want 120 from 381 on", info.State.Msgs, info.State.FirstSeq)
	}
	mustReadAll(t, s, source(t, s, e.JetStream(), feed.SourceOptions{}), 0, head)
}

// lateStore appends an entry at the moment when a silent stream is looked into.
type lateStore struct {
	feed.Store
	late func()
}

func (s *lateStore) Head(ctx context.Context) (calendar.Position, error) {
	if f := s.late; f != nil {
		s.late = nil
		f()
	}
	return s.Store.Head(ctx)
}

// An entry that comes while the source looks at the head after a silence is on
// its way: the feed is not behind.
func TestEntryAfterSilence(t *testing.T) {
	t.Parallel()
	s, e := memstore.New(), embedded(t, t.TempDir())
	js := e.JetStream()
	actor(t, relay(t, s, js, feed.RelayOptions{}).Run)
	until(t, js, add(t, s, 10))
	late := &lateStore{Store: s}
	src := source(t, late, js, feed.SourceOptions{Stall: time.Second, Look: limit})
	mustReadAll(t, s, src, 0, 10)
	late.late = func() { until(t, js, add(t, s, 1)) }
	mustReadAll(t, s, src, 10, 11)
	if late.late != nil {
		t.Fatal("the source did not look at the head")
	}
	if st := src.Stats(); st.FromStream != 11 || st.FromStore != 0 || st.Opened != 1 {
		t.Errorf("got %+v, want 11 from the stream, by one consumer", st)
	}
}

// An entry larger than the feed carries travels without its state and is read
// from the store.
func testLargeEntry(t *testing.T, p place) {
	s, e := memstore.New(), p.open(t)
	// The smaller bound of the two counts: an eighth of the stream, 1 MiB.
	actor(t, relay(t, s, e.JetStream(), feed.RelayOptions{MaxBytes: 8 << 20}).Run)
	add(t, s, 3)
	addOne(t, s, 600<<10) // in the fields and again in the state
	addOne(t, s, 400<<10)
	head := add(t, s, 3)
	until(t, e.JetStream(), head)
	src := source(t, s, e.JetStream(), feed.SourceOptions{Look: limit})
	mustReadAll(t, s, src, 0, head)
	if st := src.Stats(); st.FromStream != uint64(head) {
		t.Errorf("got %+v, want %d from the stream", st, head)
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
	if _, _, err := src.Read(t.Context(), eventstore.Mark{}, 0); err == nil {
		t.Error("limit 0: got no error")
	}
	check(t, src.Close())
	if _, _, err := src.Read(t.Context(), eventstore.Mark{}, 1); !errors.Is(err, eventstore.ErrClosed) {
		t.Errorf("closed source: got %v, want ErrClosed", err)
	}

	closed := memstore.New()
	r := relay(t, closed, e.JetStream(), feed.RelayOptions{})
	check(t, closed.Close())
	if err := r.Run(within(t)); !errors.Is(err, eventstore.ErrClosed) {
		t.Errorf("relay of a closed store: got %v, want ErrClosed", err)
	}
	if _, err := feed.NewRelay(nil, nil, feed.RelayOptions{}); err == nil {
		t.Error("relay without a store: got no error")
	}
	if _, err := feed.NewRelay(s, e.JetStream(), feed.RelayOptions{MaxBytes: 1}); err == nil {
		t.Error("relay with a tiny stream: got no error")
	}
	if _, err := feed.NewRelay(s, e.JetStream(), feed.RelayOptions{Replicas: 6}); err == nil {
		t.Error("relay with six replicas: got no error")
	}
	if _, err := feed.NewSource(nil, nil, feed.SourceOptions{}); err == nil {
		t.Error("source without a store: got no error")
	}
	if _, err := feed.StartEmbedded(feed.EmbeddedOptions{}); err == nil {
		t.Error("embedded without a folder: got no error")
	}
}

// A changed bound is applied to the stream that is there, and what somebody changed of
// its compression is taken back.
func testSettingsAreAdjusted(t *testing.T, p place) {
	s, e := memstore.New(), p.open(t)
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

// testErased: the stream is made anew from the store when a record is erased, also by a
// relay that was cut off, so that no message of it has what is gone: HISTORY 14.2.
func testErased(t *testing.T, p place) {
	s, e := memstore.New(), p.open(t)
	js := e.JetStream()
	stop := actor(t, relay(t, s, js, feed.RelayOptions{}).Run)
	add(t, s, 3)
	at := addOne(t, s, 100)
	until(t, js, add(t, s, 3))
	before := until(t, js, at).Created
	check(t, stop())
	erase := func(at calendar.Position) calendar.Position {
		t.Helper()
		entries, err := s.ReadAll(within(t), at-1, 1)
		check(t, err)
		gone := entries[0]
		res := s.Erase(within(t), eventstore.Erasure{
			Kind: gone.Kind, ID: gone.ID, Expected: gone.Version, Time: gone.Time, State: []byte(`{"deleted":true,"erased":true}`),
		})
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
