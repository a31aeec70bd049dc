package feed_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/feed"
)

func stream(t *testing.T, jetStream jetstream.JetStream) jetstream.Stream {
	t.Helper()
	s, err := jetStream.Stream(within(t), feed.StreamName(feed.DefaultPrefix))
	check(t, err)
	return s
}

// refused wants a relay of a store to leave a stream alone, and readers to read the store.
func refused(t *testing.T, store *store, jetStream jetstream.JetStream, head calendar.Position) {
	t.Helper()
	r := relay(t, store, jetStream, feed.RelayOptions{})
	actor(t, r.Run)
	src := source(t, store, jetStream, feed.SourceOptions{})
	mustReadAll(t, store, src, 0, head)
	waitFor(t, func() bool { return r.Stats().Retries > 2 })
	if relayStats, sourceStats := r.Stats(), src.Stats(); relayStats.Rebuilt != 0 || relayStats.Published != 0 || !strings.Contains(relayStats.Error, "--feed-prefix") || sourceStats.FromStream != 0 {
		t.Errorf("got %+v and %+v, want that the stream is refused, and why", relayStats, sourceStats)
	}
}

// The stream is that of another store: nothing of it is read, it is left alone, and the error
// names the setting.
func testOtherStore(t *testing.T, natsServers *natsServers) {
	old, jetStream := setup(t, natsServers)
	theirs := until(t, jetStream, add(t, old, 80))
	store := newStore(t)
	addOne(t, store, 7) // another first entry
	refused(t, store, jetStream, add(t, store, 49))
	if now := until(t, jetStream, add(t, old, 50)); !now.Created.Equal(theirs.Created) || now.State.Msgs != 130 {
		t.Errorf("stream of %s holds %d messages, want that of %s with 130", now.Created, now.State.Msgs, theirs.Created)
	}
}

// A stream that holds something and that no daybook made is left alone, too.
func testStreamOfSomebodyElse(t *testing.T, natsServers *natsServers) {
	jetStream := natsServers.open(t)
	_, err := jetStream.CreateStream(within(t), jetstream.StreamConfig{Name: feed.StreamName(feed.DefaultPrefix), Subjects: []string{"orders"}})
	check(t, err)
	_, err = jetStream.Publish(within(t), "orders", []byte("one"))
	check(t, err)
	store := newStore(t)
	refused(t, store, jetStream, add(t, store, 10))
	if info := until(t, jetStream, 1); info.State.Msgs != 1 || info.State.LastSeq != 1 {
		t.Errorf("stream holds %+v, want the one message of its owner", info.State)
	}
}

func testStreamMadeAgainBeginsWithTheNewest(t *testing.T, natsServers *natsServers) {
	store, jetStream := newStore(t), natsServers.open(t)
	head := add(t, store, 500)
	actor(t, relay(t, store, jetStream, feed.RelayOptions{Replay: 120}).Run)
	if info := until(t, jetStream, head); info.State.FirstSeq != 381 || info.State.Msgs != 120 {
		t.Errorf("stream holds %d messages from %d on, want 120 from 381 on", info.State.Msgs, info.State.FirstSeq)
	}
	mustReadAll(t, store, source(t, store, jetStream, feed.SourceOptions{}), 0, head)
}

// An entry larger than the feed carries travels without its state and is read
// from the store.
func testLargeEntry(t *testing.T, natsServers *natsServers) {
	store, jetStream := newStore(t), natsServers.open(t)
	// The smaller bound of the two counts: an eighth of the stream, 1 MiB.
	actor(t, relay(t, store, jetStream, feed.RelayOptions{MaxBytes: 8 << 20}).Run)
	large := addOne(t, store, 600<<10) // in the fields and again in the state
	head := addOne(t, store, 400<<10)
	until(t, jetStream, head)
	mustReadAll(t, store, source(t, store, jetStream, feed.SourceOptions{}), 0, head)
	for seq, want := range map[calendar.Position]string{large: "fields,state", head: ""} {
		rawStreamMsg, err := stream(t, jetStream).GetMsg(within(t), uint64(seq))
		check(t, err)
		if got := rawStreamMsg.Header.Get(feed.HeaderOmitted); got != want {
			t.Errorf("message %d: %s is %q, want %q", seq, feed.HeaderOmitted, got, want)
		}
	}
}

// testErased: the stream is made again from the store when a record is erased, also by a
// relay that was cut off, so that no message of it has what is gone: HISTORY 14.2.
func testErased(t *testing.T, natsServers *natsServers) {
	store, jetStream := newStore(t), natsServers.open(t)
	stop := actor(t, relay(t, store, jetStream, feed.RelayOptions{}).Run)
	until(t, jetStream, add(t, store, 7))
	check(t, stop())
	erase := func(position calendar.Position) (by calendar.Position) {
		t.Helper()
		entries, err := store.Read(within(t), eventstore.Range{After: uint64(position - 1), Limit: 1})
		check(t, err)
		gone := entries[0]
		res := store.Append(within(t), eventstore.Append{
			Time: gone.Time, Redact: []calendar.ID{gone.ID},
			Drafts: []eventstore.Draft{{Entry: eventstore.Entry{
				Kind:    gone.Kind,
				ID:      gone.ID,
				Version: gone.Version + 1,
				Change:  eventstore.ErasedChange(gone.Kind),
				Fields:  []byte(`{}`),
				State:   []byte(`{"deleted":true,"erased":true}`),
			}}},
		})
		check(t, res.Err)
		return res.Position
	}
	by := erase(4)
	r := relay(t, store, jetStream, feed.RelayOptions{})
	for rebuilt, at := range []uint64{4, 3} {
		if at == 4 {
			actor(t, r.Run)
		} else {
			by = erase(3) // under the relay that runs
		}
		until(t, jetStream, by)
		rawStreamMsg, err := stream(t, jetStream).GetMsg(within(t), at)
		check(t, err)
		if got := rawStreamMsg.Header.Get(feed.HeaderRedacted); got != by.String() || !bytes.Contains(rawStreamMsg.Data, []byte(`"state":null`)) {
			t.Errorf("message %d: %s is %q, want %s; %s", at, feed.HeaderRedacted, got, by, rawStreamMsg.Data)
		}
		if number := r.Stats().Rebuilt; number != uint64(rebuilt+1) {
			t.Errorf("made again %d times after erasure %d", number, rebuilt+1)
		}
	}
	mustReadAll(t, store, source(t, store, jetStream, feed.SourceOptions{}), 0, by)
}
