package feed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"daybook/calendar"
	"daybook/eventstore"
)

// What a stream is not read for. The relay will make it anew.
var (
	errStreamAhead = errors.New("stream is ahead of the event store")
	errStreamLost  = errors.New("stream holds entries of another history")
)

// SourceOptions are the settings of a source. The zero value works.
type SourceOptions struct {
	Log *slog.Logger // nil: no log
	// Prefix names the stream, see StreamName. "": DefaultPrefix.
	Prefix string
	// Stall is how long the stream may be silent before the source looks at the
	// head of the store; what is still missing after as long again is read from
	// the store. 0: 1.25 s.
	Stall time.Duration
	// Recheck is how long the source reads from the store before it looks at
	// the stream again. 0: 1 s.
	Recheck time.Duration
	// Look is how long the servers may take to answer when the source looks at
	// the stream; nothing is read meanwhile. 0: 1 s.
	Look time.Duration
}

// SourceStats are counts since the start of a source.
type SourceStats struct {
	FromStream uint64 // entries
	FromStore  uint64 // entries
	Duplicates uint64 // messages that were read before
	Gaps       uint64 // holes found in the stream
	Opened     uint64 // consumers made
	Live       bool   // reads from the stream now
	Error      string // why not, as far as it is told; "" when it does
}

// Source reads entries in order and without a gap: from the stream where it has
// them, else from the store. It gives none of another history than that of the store.
type Source struct {
	store Store
	js    jetstream.JetStream
	o     SourceOptions

	mu      sync.Mutex // held by Read
	closed  bool
	cursor  eventstore.Mark           // of the last entry that was given
	place   place                     // of the cursor
	epoch   uint64                    // of the store when the cursor was last found in it; 0: never
	origin  string                    // of the store, "" while unknown
	live    jetstream.MessagesContext // nil: reads from the store
	again   <-chan time.Time          // when to look at the stream again; nil: now
	first   uint64                    // first sequence of the stream when last looked at
	last    uint64                    // last sequence of the stream when last looked at
	silence calendar.Position         // head of the store when the stream was last silent
	tails   bool                      // the stream was found to be behind the store
	told    string                    // the last reason told for not reading from the stream
	wait    waiting                   // for entries of the store

	mute       bool // the consumer has given none of the messages that there were for it
	muted      int  // consumers in a row that gave none, below maxMute
	unanswered int  // looks at the stream in a row that got no answer, up to maxUnanswered

	statsMu sync.Mutex
	stats   SourceStats
}

// NewSource makes a source; it starts nothing. Close it in the end.
func NewSource(store Store, js jetstream.JetStream, o SourceOptions) (*Source, error) {
	if store == nil || js == nil {
		return nil, errors.New("source: store and JetStream are required")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Prefix == "" {
		o.Prefix = DefaultPrefix
	}
	if err := CheckPrefix(o.Prefix); err != nil {
		return nil, fmt.Errorf("source: prefix %q %w", o.Prefix, err)
	}
	if o.Stall <= 0 {
		o.Stall = 2*heartbeat + 250*time.Millisecond // the consumer asks again before
	}
	if o.Recheck <= 0 {
		o.Recheck = time.Second
	}
	if o.Look <= 0 {
		o.Look = time.Second
	}
	return &Source{store: store, js: js, o: o}, nil
}

// Stats gives the counts.
func (s *Source) Stats() SourceStats {
	s.statsMu.Lock()
	defer s.statsMu.Unlock()
	return s.stats
}

func (s *Source) count(f func(*SourceStats)) {
	s.statsMu.Lock()
	defer s.statsMu.Unlock()
	f(&s.stats)
}

// Close ends the source. A Read that is under way is to be ended by its context.
func (s *Source) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.stop()
	return nil
}

// Read waits until there are entries after those that a mark names, and gives up to
// limit of them, in order and without a gap, without their secrets, and the mark of
// the last one. It gives fewer where they are large: batchBytes, or one. It is cheap
// to go on with the mark that came with the last entry given; any other one begins
// anew. Errors: the context's, those of the store, eventstore.ErrDamaged for a hole in
// the store, and eventstore.ErrHistory when the store does not hold the mark, which
// may come at any time: what was read may be of a history that is lost, and the
// reader has to begin anew from a mark that the store holds. One caller at a time.
func (s *Source) Read(ctx context.Context, after eventstore.Mark, limit int) ([]eventstore.Entry, eventstore.Mark, error) {
	if limit < 1 {
		return nil, after, fmt.Errorf("source: limit %d, must be at least 1", limit)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, after, eventstore.ErrClosed
	}
	if after != s.cursor {
		s.stop()
		s.again, s.tails, s.first, s.silence = nil, false, 0, 0
		s.cursor, s.epoch = after, 0
	}
	for {
		entries, to, err := s.step(ctx, limit)
		if errors.Is(err, eventstore.ErrHistory) {
			s.epoch = 0 // who asks again all the same is told again
		}
		if err != nil {
			return nil, after, err
		}
		// What was read while the store went over to another history may be of both.
		if len(entries) > 0 && s.store.Epoch() == s.epoch {
			s.cursor, s.place = to.mark(), to
			return entries, s.cursor, nil
		}
	}
}

// step reads once from where there is something to read: none when that was nothing.
func (s *Source) step(ctx context.Context, limit int) ([]eventstore.Entry, place, error) {
	if err := s.check(ctx); err != nil {
		return nil, place{}, err
	}
	if s.live == nil && s.due() {
		if err := s.open(ctx); err != nil {
			return nil, place{}, err
		}
	}
	if s.live != nil {
		return s.fromStream(ctx, limit)
	}
	return s.fromStore(ctx, limit)
}

// check makes sure that the store holds the cursor, when the source begins and when
// the store has gone over to another history.
func (s *Source) check(ctx context.Context) error {
	epoch := s.store.Epoch()
	if epoch == s.epoch {
		return nil
	}
	s.stop()
	s.again, s.first, s.origin = nil, 0, ""
	at, err := find(ctx, s.store, s.cursor)
	if err != nil {
		return err
	}
	s.place, s.epoch = at, epoch
	return nil
}

// due tells whether it is time to look at the stream.
func (s *Source) due() bool {
	if s.again == nil || s.first > 1 && uint64(s.cursor.Position)+1 == s.first {
		return true
	}
	select {
	case <-s.again:
		return true
	default:
		return false
	}
}

// stop ends the consumer. The server removes it soon, as nobody asks for more.
func (s *Source) stop() {
	if s.live != nil {
		s.live.Stop()
		s.live = nil
		s.count(func(c *SourceStats) { c.Live = false })
	}
}

// tail makes the source read from the store for a while, and at least once: it
// forgets where the stream begins, or due would send it straight back.
func (s *Source) tail() {
	s.stop()
	s.first = 0
	s.again = time.After(s.o.Recheck << s.unanswered)
}

// open begins to read from the stream when it has the next entry or will get
// it; else the source goes on with the store. The error is the context's or one
// of the store.
func (s *Source) open(ctx context.Context) error {
	s.again = nil
	if s.origin == "" {
		origin, err := readOrigin(ctx, s.store)
		if err != nil {
			return err
		}
		if origin == "" {
			s.tail()
			return nil
		}
		s.origin = origin
	}
	if err := s.consume(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.tell(ctx, err)
		s.unanswered = min(s.unanswered+1, maxUnanswered)
		if !errors.Is(err, context.DeadlineExceeded) {
			s.unanswered = 0
		}
		s.tail()
		return nil
	}
	s.unanswered = 0
	return nil
}

// maxUnanswered bounds how much less often the source looks at a stream of
// which no server answers, say because it has no leader: each look keeps the
// reader waiting.
const maxUnanswered = 3

// tell logs why the stream is not read, once.
func (s *Source) tell(ctx context.Context, err error) {
	s.count(func(c *SourceStats) { c.Error = err.Error() })
	if text := err.Error(); text != s.told {
		s.told = text
		level := slog.LevelWarn
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			level = slog.LevelDebug // the relay makes it when it starts
		}
		s.o.Log.Log(ctx, level, "feed not readable, reading from the event store", "error", err)
	}
}

// consume makes the consumer if the stream fits.
func (s *Source) consume(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.o.Look)
	defer cancel()
	s.first = 0
	stream, err := s.js.Stream(ctx, StreamName(s.o.Prefix))
	if err != nil {
		return err
	}
	// What the relay will delete, because the store never had it, is not read before.
	reason, err := fault(ctx, s.store, stream, s.o.Prefix, s.origin)
	if err != nil {
		return err
	}
	if reason != "" {
		return fmt.Errorf("stream is %s", reason)
	}
	info := stream.CachedInfo()
	next := uint64(s.cursor.Position) + 1
	before := s.last
	s.first, s.last = info.State.FirstSeq, info.State.LastSeq
	if first := s.first; first > next {
		s.tail()
		s.first = first
		return nil
	}
	if s.tails && s.last < uint64(s.cursor.Position) && s.last <= before {
		s.tail() // nobody publishes
		return nil
	}
	consumer, err := stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		Description:       "daybook source",
		DeliverPolicy:     jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:       next,
		AckPolicy:         jetstream.AckNonePolicy,
		InactiveThreshold: time.Minute,
		MemoryStorage:     true,
		Replicas:          1,
	})
	if err != nil {
		return err
	}
	// A cluster may lose what is asked for before all servers know of the
	// consumer, and says nothing; without a sign of life it is asked again.
	live, err := consumer.Messages(jetstream.PullMaxMessagesWithBytesLimit(pullMessages, pullBytes),
		jetstream.PullHeartbeat(heartbeat), jetstream.WithMessagesErrOnMissingHeartbeat(false))
	if err != nil {
		return err
	}
	s.live, s.tails, s.told = live, false, ""
	s.mute = s.last >= next
	s.count(func(c *SourceStats) { c.Live, c.Opened, c.Error = true, c.Opened+1, "" })
	return nil
}

const (
	// pullMessages is how many messages the server may send ahead, pullBytes how many
	// bytes for one request, of which two may be open: no less than the largest message
	// with what NATS adds.
	pullMessages = 1024
	pullBytes    = MaxPayload + 64<<10

	// batchBytes is the size of fields and states from which on a batch is given.
	batchBytes = 4 << 20

	// heartbeat is the pause of a consumer after which it gives a sign of life.
	// Two that are missing mean that it knows of nobody who waits.
	heartbeat = 500 * time.Millisecond

	// muteWait is how long a new consumer may take to give the first of the
	// messages that the stream has for it, maxMute how many in a row are made.
	muteWait = 250 * time.Millisecond
	maxMute  = 3
)

// fromStore gives entries of the store and the place of the last one; none when it
// is time to look at the stream.
func (s *Source) fromStore(ctx context.Context, limit int) ([]eventstore.Entry, place, error) {
	if uint64(s.place.at)+1 < s.first { // hand over at equality
		limit = int(min(uint64(limit), s.first-1-uint64(s.place.at)))
	}
	entries, at, err := s.place.read(ctx, s.store, limit)
	if err != nil {
		return nil, at, err
	}
	if len(entries) == 0 {
		return nil, at, s.wait.forMore(ctx, s.store, at.at, s.o.Recheck)
	}
	s.wait = waiting{}
	s.count(func(c *SourceStats) { c.FromStore += uint64(len(entries)) })
	return entries, at, nil
}

// sizeOf gives what an entry takes, but for what all of them take.
func sizeOf(e *eventstore.Entry) int { return len(e.Fields) + len(e.State) }

// The waits for messages but the first. A reader that is behind gets as many as it
// asks for, not what has come so far.
const (
	onTheWay = 20 * time.Millisecond  // for one that the stream has already
	atOnce   = 10 * time.Microsecond  // for one that lies here already
	lying    = 200 * time.Microsecond // for one behind it
)

// fromStream gives what the consumer has and the place of the last entry, waiting for
// the first. None means that the consumer was given up, or that there was nothing for
// a while.
func (s *Source) fromStream(ctx context.Context, limit int) ([]eventstore.Entry, place, error) {
	got, err := s.messages(ctx, limit)
	if err != nil || len(got) == 0 {
		return nil, place{}, err
	}
	to, err := s.prove(ctx, got)
	if errors.Is(err, errStreamLost) {
		s.tell(ctx, err)
		s.tail()
		return nil, place{}, nil
	}
	if err != nil {
		s.stop() // the messages are read again
		s.again = nil
		return nil, place{}, err
	}
	out := make([]eventstore.Entry, len(got))
	for i := range got {
		out[i] = got[i].entry
	}
	s.count(func(c *SourceStats) { c.FromStream += uint64(len(out)) })
	return out, to, nil
}

// received is an entry as it came with a message.
type received struct {
	entry eventstore.Entry
	mark  eventstore.Mark // that the message tells
}

// prove makes sure that what messages told is what the store holds now, and gives the
// place of the last: marks of the same history are the same.
func (s *Source) prove(ctx context.Context, got []received) (place, error) {
	at := s.place
	commits, err := at.ways(ctx, s.store, len(got))
	if err != nil {
		return at, err
	}
	for i := range got {
		if at, commits, err = at.next(commits); err != nil || at.mark() != got[i].mark {
			return at, fmt.Errorf("%w: mark %s", errStreamLost, got[i].mark)
		}
	}
	return at, nil
}

// messages gives what the consumer has, waiting for the first.
func (s *Source) messages(ctx context.Context, limit int) ([]received, error) {
	stall := s.o.Stall
	if s.mute {
		stall = min(stall, muteWait<<s.muted)
	}
	first, cancel := context.WithTimeout(ctx, stall)
	defer cancel()
	// A message that lies here was sent while the reader was busy, and more may
	// lie behind it, whatever the stream said of each when it was the newest.
	late, wait := true, jetstream.NextMaxWait(atOnce)
	var out []received
	at, size := s.cursor.Position, 0
	for len(out) < limit && size < batchBytes {
		m, err := s.live.Next(wait)
		if late && len(out) == 0 && errors.Is(err, nats.ErrTimeout) {
			late, wait = false, jetstream.NextContext(first)
			continue
		}
		if err != nil {
			if len(out) > 0 && errors.Is(err, nats.ErrTimeout) {
				break // all that is there
			}
			if len(out) == 0 && first.Err() != nil {
				if s.mute && stall < s.o.Stall && ctx.Err() == nil {
					s.unheard()
					return nil, nil
				}
				return nil, s.silent(ctx)
			}
			s.o.Log.Info("feed interrupted, reading from the event store", "error", err)
			s.tail()
			break
		}
		s.mute, s.muted = false, 0
		seq, behind, err := sequence(m)
		if err == nil && seq <= at {
			s.count(func(c *SourceStats) { c.Duplicates++ })
			continue
		}
		if err != nil || seq > at+1 {
			s.gap(at, seq)
			break
		}
		r, err := s.take(ctx, m, seq)
		if errors.Is(err, errStreamAhead) || errors.Is(err, errStreamLost) {
			s.tell(ctx, err)
			s.tail()
			break
		}
		if err != nil {
			s.stop() // the message is read again
			if len(out) == 0 {
				return nil, err
			}
			s.again = nil
			break
		}
		out = append(out, r)
		at = seq
		size += sizeOf(&r.entry)
		switch {
		case behind > 0:
			wait = jetstream.NextMaxWait(onTheWay)
		case late:
			wait = jetstream.NextMaxWait(lying)
		default:
			limit = len(out) // the newest, as it came
		}
	}
	return out, nil
}

// unheard deals with a new consumer that gives nothing of what the stream has:
// it is made again.
func (s *Source) unheard() {
	s.muted++
	s.stop()
	s.again = nil
	if s.muted == maxMute {
		s.muted = 0
		s.tail()
	}
}

// gap deals with a stream that lost messages, or dropped them because it is full:
// the store has them, and the stream is read again from the one that it did have.
func (s *Source) gap(at, seq calendar.Position) {
	s.count(func(c *SourceStats) { c.Gaps++ })
	s.o.Log.Info("gap in the feed, reading from the event store", "position", uint64(at+1))
	s.tail()
	s.first = uint64(max(seq, at+2)) // at least one entry from the store, so it goes on
}

// silent deals with a stream that gave nothing for a while. Entries that the
// store had at the last silence already are overdue; younger ones may be on
// their way.
func (s *Source) silent(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	at, err := s.store.Head(ctx)
	if err != nil {
		return fmt.Errorf("read the head: %w", err)
	}
	if at <= s.cursor.Position {
		return eventstore.CheckMark(ctx, s.store, s.cursor)
	}
	overdue := s.silence > s.cursor.Position
	s.silence = at
	if overdue {
		s.o.Log.Warn("feed is behind, reading from the event store", "position", uint64(s.cursor.Position), "head", uint64(at))
		s.tails = true
		s.tail()
	}
	return nil
}

// sequence gives the place of a message in the stream, and how many there are
// behind it.
func sequence(m jetstream.Msg) (at calendar.Position, behind uint64, err error) {
	meta, err := m.Metadata()
	if err != nil {
		return 0, 0, fmt.Errorf("message of the feed: %w", err)
	}
	return calendar.Position(meta.Sequence.Stream), meta.NumPending, nil
}

// take gives the entry of a message; one that is too large for the feed or
// damaged is read from the store.
func (s *Source) take(ctx context.Context, m jetstream.Msg, seq calendar.Position) (received, error) {
	h := m.Headers()
	mark, ok := markOf(h, seq)
	if !ok || h.Get(HeaderOrigin) != s.origin {
		return received{}, fmt.Errorf("%w: message %d", errStreamLost, seq)
	}
	e, whole, err := Decode(h, m.Data())
	if err == nil && whole && e.Position == seq {
		return received{entry: e, mark: mark}, nil
	}
	entries, err := s.store.ReadAll(ctx, seq-1, 1)
	if err != nil {
		return received{}, fmt.Errorf("read entry %d: %w", seq, err)
	}
	if len(entries) == 0 {
		return received{}, errStreamAhead
	}
	if err := checkDense(seq-1, entries[0].Position); err != nil {
		return received{}, err
	}
	strip(&entries[0])
	return received{entry: entries[0], mark: mark}, nil
}
