package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/ground/pause"
)

// Sizes and times of the relay. Together they bound what is under way at the
// server to flightBytes, one group and one message.
const (
	groupEntries = 256     // entries per read of the store and per acknowledgement
	groupBytes   = 1 << 20 // a group with more is cut
	maxFlights   = 8       // groups that wait for their acknowledgement,
	flightBytes  = 8 << 20 // and when they are of more, no other is sent

	minPoll = 5 * time.Millisecond
	maxPoll = time.Second

	// gather is how long entries are gathered for a stream that nobody else can reach.
	gather = 20 * time.Millisecond

	// A cluster drops what is asked of it while a leader changes, so asking again
	// soon is what mends it.
	requestWait = 2 * time.Second
	minRetry    = 20 * time.Millisecond
	maxRetry    = time.Second
	maxRemake   = 30 * time.Second
)

// RelayOptions are the settings of a relay. The zero value works.
type RelayOptions struct {
	Log *slog.Logger // nil: no log
	// Prefix names the stream and its subjects, see StreamName. "": DefaultPrefix.
	Prefix string
	// MaxBytes bounds the stream; the oldest messages drop out and are read from
	// the store instead. 0: DefaultMaxBytes, of a Sole relay TailBytes; at least
	// MinMaxBytes.
	MaxBytes int64
	// Replicas is the number of servers of a cluster that keep the stream, 1 to
	// 5. 0: 1. A stream that is there gets as many when a relay begins.
	Replicas int
	// Replay is the number of newest entries that a stream is filled with when
	// it is made again. 0: 100,000; none of a Sole relay.
	Replay int
	// AckWait is how long the server may take to acknowledge, and Standby how
	// long a relay that met another one watches before it takes over. 0: 2 s
	// and 250 ms.
	AckWait, Standby time.Duration
	// Sole says that nobody else can reach the stream, as in an embedded server.
	// Then it is a tail in memory that begins at the head: its one reader takes
	// from the store what went before.
	Sole bool
	// Observe, when set, is told of every group of entries that is given to the
	// server, and what it gives, of its acknowledgement or of the error that
	// ended the wait for it.
	Observe func(first, last calendar.Position) func(error)
	// Now is the clock of the times in RelayStats. nil: time.Now.
	Now func() time.Time
}

func (o *RelayOptions) fill() error {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Prefix == "" {
		o.Prefix = DefaultPrefix
	}
	if err := CheckPrefix(o.Prefix); err != nil {
		return fmt.Errorf("relay: prefix %q %w", o.Prefix, err)
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = DefaultMaxBytes
		if o.Sole {
			o.MaxBytes = TailBytes
		}
	}
	if o.MaxBytes < MinMaxBytes {
		return fmt.Errorf("relay: stream of %d bytes, must be at least %d", o.MaxBytes, MinMaxBytes)
	}
	if o.Replicas < 0 || o.Replicas > 5 {
		return fmt.Errorf("relay: %d replicas, must be 1 to 5", o.Replicas)
	}
	if o.Replay < 0 {
		return fmt.Errorf("relay: replay of %d entries, must not be negative", o.Replay)
	}
	o.Replicas = max(o.Replicas, 1)
	if o.Replay == 0 && !o.Sole {
		o.Replay = 100_000
	}
	if o.AckWait <= 0 {
		o.AckWait = requestWait
	}
	if o.Standby <= 0 {
		o.Standby = 250 * time.Millisecond
	}
	return nil
}

// RelayStats are counts since the start of a relay.
type RelayStats struct {
	Position  calendar.Position // of the last entry that the stream is known to hold
	Published uint64            // entries that the server acknowledged
	Conflicts uint64            // times that another relay was met
	Rebuilt   uint64            // times that the stream was made new
	Retries   uint64            // times that an error made the relay begin again
	Standby   bool              // another relay is active
	Error     string            // what made it begin again; "" when all is well since
	Since     time.Time         // when Error began, whatever it said at first; zero without one
	// Moved is when the relay last did its work: the server acknowledged, or the store
	// had nothing that is not on the stream. It looks at least once in a second, so
	// one that is active and has not moved for many of them, does not.
	Moved time.Time
}

// Relay publishes the entries of a store. Any number of relays may run on one
// stream: one is active and the others are ready to take over; the server
// refuses whatever is not the next entry, so the stream is right even when two
// are active.
type Relay struct {
	store Store
	js    jetstream.JetStream
	o     RelayOptions

	// clean is the head of the store when this relay made the stream: what was erased up
	// to there is not in it. Of Run alone.
	clean calendar.Position

	mu    sync.Mutex
	stats RelayStats
}

// NewRelay makes a relay; Run starts it.
func NewRelay(store Store, js jetstream.JetStream, o RelayOptions) (*Relay, error) {
	if store == nil || js == nil {
		return nil, errors.New("relay: store and JetStream are required")
	}
	if err := o.fill(); err != nil {
		return nil, err
	}
	return &Relay{store: store, js: js, o: o}, nil
}

// Stats gives the counts.
func (r *Relay) Stats() RelayStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stats
}

func (r *Relay) count(f func(*RelayStats)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.stats)
}

// What ends a session.
var (
	errConflict = errors.New("stream is not where this relay left it")
	errStorage  = errors.New("stream cannot keep messages")
	errBroken   = errors.New("connection to NATS lost")
	errErased   = errors.New("a record was erased whose entries the stream holds")
)

// Run publishes until the context ends; then it gives nil. It gives an error
// when the store is closed or is itself at fault (eventstore.ErrDamaged); whatever else goes
// wrong is tried again for ever.
func (r *Relay) Run(ctx context.Context) error {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = minRetry, maxRetry
	remake := backoff.NewExponentialBackOff() // filling a stream is work
	remake.InitialInterval, remake.MaxInterval = maxRetry, maxRemake
	standby, failed, told := false, false, ""
	full := calendar.Position(0) // what the stream held when it was deleted because it failed
	done := func() {
		failed, told = false, ""
		wait.Reset()
		if r.Stats().Position > full {
			remake.Reset()
		}
		r.count(func(s *RelayStats) { s.Error, s.Since, s.Moved = "", time.Time{}, r.o.Now() })
	}
	for {
		err := r.session(ctx, standby, done)
		backOff := wait
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // it was asked to end
		case errors.Is(err, eventstore.ErrClosed), errors.Is(err, eventstore.ErrDamaged):
			return fmt.Errorf("relay: %w", err)
		case errors.Is(err, errConflict):
			standby = true
			r.count(func(s *RelayStats) { s.Conflicts++ })
			r.o.Log.Info("relay met another one", "position", uint64(r.Stats().Position))
			continue
		case errors.Is(err, errErased):
			if err = r.dropErased(ctx); err == nil {
				continue
			}
		case errors.Is(err, errStorage) && failed:
			if err := r.dropFailed(ctx); err != nil {
				r.o.Log.Warn("stream not deleted", "error", err)
			}
			full, backOff = r.Stats().Position, remake
		}
		// Once may be a setting, which the next session mends.
		failed = errors.Is(err, errStorage)
		standby = false
		next := backOff.NextBackOff()
		r.count(func(s *RelayStats) {
			if s.Error == "" {
				s.Since = r.o.Now()
			}
			s.Retries, s.Error = s.Retries+1, err.Error()
		})
		level := slog.LevelWarn
		if err.Error() == told { // tried for ever, told once
			level = slog.LevelDebug
		}
		told = err.Error()
		r.o.Log.Log(ctx, level, "relay begins again", "error", err, "wait", next)
		if pause.For(ctx, next) != nil {
			return nil //nolint:nilerr // it was asked to end
		}
	}
}

// session publishes from the stream's own last sequence on until something is
// not as it should be. done is called whenever the server has acknowledged, and when
// there is nothing for it to.
func (r *Relay) session(ctx context.Context, standby bool, done func()) error {
	if standby {
		if err := r.standBy(ctx); err != nil {
			return err
		}
	}
	origin, err := r.waitOrigin(ctx)
	if err != nil {
		return err
	}
	epoch := r.store.Epoch() // of what is compared with the stream
	last, err := r.ensure(ctx, origin)
	if err != nil {
		return err
	}
	r.count(func(s *RelayStats) { s.Position = last })
	mark, err := r.store.Mark(ctx, last)
	if err != nil {
		return fmt.Errorf("mark of entry %d: %w", last, err)
	}
	from, err := find(ctx, r.store, mark)
	if err != nil {
		return err
	}
	groups := make(chan group, 1)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return r.read(ctx, &reading{origin: origin, epoch: epoch, place: from}, groups) })
	g.Go(func() error { return r.publish(ctx, groups, done) })
	return g.Wait()
}

// standBy watches the stream and returns when the store has had entries for a
// while that nobody published, or the stream others that nobody took away.
func (r *Relay) standBy(ctx context.Context) error {
	r.count(func(s *RelayStats) { s.Standby = true })
	defer r.count(func(s *RelayStats) { s.Standby = false })
	var before uint64
	waiting := false
	for {
		origin, err := readOrigin(ctx, r.store)
		if err != nil {
			return err
		}
		stream, err := r.look(ctx)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		info := stream.CachedInfo()
		reason, err := r.fault(ctx, stream, origin)
		if err != nil {
			return err
		}
		at, err := r.store.Head(ctx)
		if err != nil {
			return err
		}
		wanting := reason != "" || info.State.LastSeq < uint64(at)
		if wanting && waiting && info.State.LastSeq == before {
			return nil
		}
		before, waiting = info.State.LastSeq, wanting
		r.count(func(s *RelayStats) { s.Position = calendar.Position(before) })
		// Not the same wait in all relays, or two take over at once for ever.
		if err := pause.For(ctx, r.o.Standby/2+rand.N(r.o.Standby)); err != nil {
			return err
		}
	}
}

// group is entries made ready to be published; one without any says that the store
// has no more.
type group struct {
	messages []*nats.Msg
	size     int // of the payloads, in bytes
	last     calendar.Position
	end      func(error) // from Observe
}

// first is the position of the first entry.
func (g *group) first() calendar.Position { return g.last - calendar.Position(len(g.messages)) + 1 }

// ended lets who watches know of the end of a group.
func (g *group) ended(err error) {
	if g.end != nil {
		g.end(err)
	}
}

// reading is where a session is in the store.
type reading struct {
	origin string
	epoch  uint64 // of the store when the stream was compared with it
	place  place  // of the last entry that was read
}

// read makes groups of the entries after a place. Wake-ups of the store are a
// hint; the poll is what is relied on.
func (r *Relay) read(ctx context.Context, at *reading, out chan<- group) error {
	poll, wait := minPoll, waiting{}
	for {
		entries, commits, err := r.page(ctx, at)
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			if err := give(ctx, out, group{}); err != nil {
				return err
			}
			if err := wait.more(ctx, r.store, at.place.at, poll); err != nil {
				return err
			}
			if r.o.Sole { // nobody waits for it
				if err := pause.For(ctx, gather); err != nil {
					return err
				}
			}
			poll = min(2*poll, maxPoll)
			continue
		}
		poll, wait = minPoll, waiting{}
		for len(entries) > 0 {
			var g group
			for len(entries) > 0 && g.size < groupBytes {
				m, err := r.message(at, &entries[0], &commits)
				if err != nil {
					return err
				}
				g.messages = append(g.messages, m)
				g.size += len(m.Data)
				entries = entries[1:]
			}
			g.last = at.place.at
			if err := give(ctx, out, g); err != nil {
				return err
			}
		}
	}
}

func give(ctx context.Context, out chan<- group, g group) error {
	select {
	case out <- g:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// page reads the next entries and their commits. eventstore.ErrHistory: they do not
// continue what the stream holds, which is to be compared with the store again.
func (r *Relay) page(ctx context.Context, at *reading) ([]eventstore.Entry, []eventstore.Commit, error) {
	if recent, ok := r.store.(eventstore.Recent); ok {
		if entries, commits, ok := recent.Recent(at.place.at, groupEntries); ok && r.store.Epoch() == at.epoch {
			for len(commits) > 0 && commits[0].Last <= at.place.commit.Last {
				commits = commits[1:]
			}
			return entries, commits, nil
		}
	}
	entries, err := r.store.ReadAll(ctx, at.place.at, groupEntries)
	if err != nil {
		return nil, nil, fmt.Errorf("read entries after %d: %w", at.place.at, err)
	}
	commits, err := at.place.ways(ctx, r.store, len(entries))
	if err != nil {
		return nil, nil, err
	}
	if r.store.Epoch() != at.epoch {
		return nil, nil, eventstore.ErrHistory
	}
	return entries, commits, nil
}

// message makes the message of the next entry and goes on to its place.
func (r *Relay) message(at *reading, e *eventstore.Entry, commits *[]eventstore.Commit) (*nats.Msg, error) {
	before := at.place.at
	if err := checkDense(before, e.Position); err != nil {
		return nil, err
	}
	// A message that is deleted stays in the files of the servers, a stream does not.
	if e.Change == eventstore.ErasedChange(e.Kind) && e.Position > r.clean {
		return nil, errErased
	}
	var err error
	if at.place, *commits, err = at.place.next(*commits); err != nil {
		return nil, err
	}
	m, err := Encode(e, History{r.o.Prefix, at.origin, at.place.commit.Hash}, r.messageLimit())
	if err != nil {
		return nil, err
	}
	m.Header[jetstream.ExpectedStreamHeader] = []string{StreamName(r.o.Prefix)}
	m.Header[jetstream.ExpectedLastSeqHeader] = []string{before.String()}
	return m, nil
}

// messageLimit is the size from which on an entry travels without its state:
// the server refuses larger messages, and ones that a small stream cannot hold
// several of would empty it.
func (r *Relay) messageLimit() int {
	if _, followed := r.store.(eventstore.Recent); followed && r.o.Sole {
		return 0 // nobody reads it here
	}
	return int(min(r.js.Conn().MaxPayload(), r.o.MaxBytes/8, MaxPayload))
}

// reply is the server's answer to a publish.
type reply struct {
	Sequence uint64              `json:"seq"`
	Error    *jetstream.APIError `json:"error"`
}

// publish sends groups and takes their acknowledgements. Only the last message
// of a group asks for one: each expects the one before it as the stream's last,
// so the last can be stored only when all are.
func (r *Relay) publish(ctx context.Context, groups <-chan group, done func()) (err error) {
	conn := r.js.Conn()
	inbox := conn.NewInbox()
	replies := make(chan *nats.Msg, maxFlights)
	sub, err := conn.ChanSubscribe(inbox+".*", replies)
	if err != nil {
		return fmt.Errorf("subscribe to acknowledgements: %w", err)
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only on a closed connection
	broken := conn.StatusChanged(nats.RECONNECTING)
	defer conn.RemoveStatusListener(broken)
	var flights []group
	underWay := 0 // bytes of the flights
	defer func() {
		for _, g := range flights { // never acknowledged
			g.ended(err)
		}
	}()
	timeout := time.NewTimer(r.o.AckWait)
	defer timeout.Stop()
	for {
		in := groups
		if len(flights) == maxFlights || underWay >= flightBytes {
			in = nil
		}
		var late <-chan time.Time
		if len(flights) > 0 {
			late = timeout.C
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-broken: // what is under way may be lost, and its acknowledgement is
			return errBroken
		case <-late:
			return fmt.Errorf("entry %d: no acknowledgement within %s", flights[0].last, r.o.AckWait)
		case g := <-in:
			if len(g.messages) == 0 {
				if len(flights) == 0 {
					done()
				}
				continue
			}
			if len(flights) == 0 {
				timeout.Reset(r.o.AckWait)
			}
			if r.o.Observe != nil {
				g.end = r.o.Observe(g.first(), g.last)
			}
			flights = append(flights, g)
			underWay += g.size
			last := g.messages[len(g.messages)-1]
			last.Reply = inbox + "." + g.last.String()
			for _, m := range g.messages {
				if err := conn.PublishMsg(m); err != nil {
					return fmt.Errorf("publish up to entry %d: %w", g.last, err)
				}
			}
		case m := <-replies:
			if len(flights) == 0 { // a stream that was made again at that moment answers, too
				return fmt.Errorf("%w: an acknowledgement that nobody waits for", errConflict)
			}
			g := flights[0]
			if err := checkReply(m, g.last); err != nil {
				return err
			}
			g.ended(nil)
			flights[0] = group{} // its messages are not held any more
			flights = flights[1:]
			underWay -= g.size
			timeout.Reset(r.o.AckWait)
			r.count(func(s *RelayStats) {
				s.Position = g.last
				s.Published += uint64(len(g.messages))
			})
			done()
		}
	}
}

// checkReply tells whether the server stored the entry at its position.
func checkReply(m *nats.Msg, want calendar.Position) error {
	if len(m.Data) == 0 { // status 503: no stream listens
		return fmt.Errorf("entry %d: %w", want, jetstream.ErrNoStreamResponse)
	}
	var a reply
	if err := json.Unmarshal(m.Data, &a); err != nil {
		return fmt.Errorf("entry %d: acknowledgement: %w", want, err)
	}
	switch {
	case a.Error != nil && a.Error.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence:
		return fmt.Errorf("entry %d: %w: %s", want, errConflict, a.Error.Description)
	case a.Error != nil && a.Error.ErrorCode == codeStoreFailed:
		return fmt.Errorf("entry %d: %w: %s", want, errStorage, a.Error.Description)
	case a.Error != nil:
		return fmt.Errorf("entry %d: %w", want, a.Error)
	case a.Sequence != uint64(want):
		return fmt.Errorf("entry %d: %w: stored at %d", want, errConflict, a.Sequence)
	}
	return nil
}
