package feed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/ground/lifecycle"
	"daybook/internal/ground/pause"
)

const (
	// groupEntries is how many entries share an acknowledgement. One group is sent while
	// another one is acknowledged; each ends after eventstore.PageBytes too.
	groupEntries = 256

	// A cluster drops what is asked of it while a leader changes, so asking again soon is
	// what mends it.
	requestWait = 2 * time.Second
	minRetry    = 20 * time.Millisecond
	maxRetry    = time.Second
)

// RelayOptions are the settings of a relay. The zero value works.
type RelayOptions struct {
	Log *slog.Logger // nil: no log
	// Prefix names the stream and its subjects, see StreamName. "": DefaultPrefix.
	Prefix string
	// MaxBytes bounds the stream; the oldest messages drop out and are read from the store
	// instead. 0: DefaultMaxBytes.
	MaxBytes int64
	// Replicas is the number of servers of a cluster that keep the stream, 1 to 5. 0: 1. A
	// stream that is there gets as many when a relay begins.
	Replicas int
	// Replay is the number of newest entries that a stream is filled with when it is made
	// again. 0: 100,000.
	Replay int
	// Observe, when set, is called with every group of entries that is given to the
	// server, and the function that it returns when the group is acknowledged, or with the
	// error that ended the wait for it.
	Observe func(ctx context.Context, first, last calendar.Position) (context.Context, func(error))
}

func (relayOptions *RelayOptions) fill() {
	relayOptions.Log = cmp.Or(relayOptions.Log, slog.New(slog.DiscardHandler))
	relayOptions.Prefix = cmp.Or(relayOptions.Prefix, DefaultPrefix)
	relayOptions.MaxBytes = cmp.Or(relayOptions.MaxBytes, DefaultMaxBytes)
	relayOptions.Replicas = cmp.Or(relayOptions.Replicas, 1)
	relayOptions.Replay = cmp.Or(relayOptions.Replay, 100_000)
}

// RelayStats are counts since the start of a relay.
type RelayStats struct {
	Position  calendar.Position // of the last entry that the stream is known to hold
	Published uint64            // entries that the server acknowledged
	Conflicts uint64            // times that another relay was met
	Rebuilt   uint64            // times that the stream was made new
	Retries   uint64            // times that an error made the relay begin again
	Error     string            // what made it begin again; "" when all is well since
}

// Relay publishes the entries of a store. Any number of relays may run on one stream: the
// server refuses whatever is not the next entry, so the stream is right even when two are
// active.
type Relay struct {
	store        eventstore.Store
	source       *Source // of the store alone
	jetStream    jetstream.JetStream
	relayOptions RelayOptions

	// Of Run alone:
	wait  *backoff.ExponentialBackOff // before the relay begins again
	seen  *jetstream.StreamInfo       // the stream that the session began with
	clean calendar.Position           // head of the store when this relay made the stream: nothing erased up to there is in it

	mu     sync.Mutex
	stats  RelayStats
	outage lifecycle.Outage
}

// NewRelay returns a relay; Run starts it.
func NewRelay(store eventstore.Store, jetStream jetstream.JetStream, relayOptions RelayOptions) *Relay {
	relayOptions.fill()
	relay := &Relay{store: store, source: NewSource(store, nil, SourceOptions{}), jetStream: jetStream, relayOptions: relayOptions, wait: backoff.NewExponentialBackOff()}
	relay.wait.InitialInterval, relay.wait.MaxInterval = minRetry, maxRetry
	relay.outage = lifecycle.Outage{Log: relayOptions.Log, Message: "relay begins again"}
	return relay
}

// Stats returns the counts.
func (relay *Relay) Stats() RelayStats {
	relay.mu.Lock()
	defer relay.mu.Unlock()
	return relay.stats
}

func (relay *Relay) count(f func(*RelayStats)) {
	relay.mu.Lock()
	defer relay.mu.Unlock()
	f(&relay.stats)
}

// What ends a session.
var (
	errConflict = errors.New("stream is not where this relay left it")
	errErased   = errors.New("a record was erased whose entries the stream holds")
)

// Run publishes until the context ends; then it returns nil. It returns an error when the
// store is closed or damaged; whatever else goes wrong is tried again for ever.
func (relay *Relay) Run(ctx context.Context) error {
	for {
		err := relay.session(ctx)
		if errors.Is(err, errErased) {
			err = relay.drop(ctx, "a record was erased")
		}
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // it was asked to end
		case err == nil:
			continue
		case errors.Is(err, eventstore.ErrClosed), errors.Is(err, eventstore.ErrDamaged):
			return fmt.Errorf("relay: %w", err)
		case errors.Is(err, errConflict):
			relay.count(func(relayStats *RelayStats) { relayStats.Conflicts++ })
			relay.relayOptions.Log.InfoContext(ctx, "relay met another one", "error", err)
		default:
			relay.count(func(relayStats *RelayStats) { relayStats.Retries, relayStats.Error = relayStats.Retries+1, err.Error() })
			relay.outage.Note(ctx, err)
		}
		if pause.For(ctx, relay.wait.NextBackOff()) != nil {
			return nil //nolint:nilerr // it was asked to end
		}
	}
}

// session publishes from the last sequence of the stream on until something is not as it
// should be.
func (relay *Relay) session(ctx context.Context) error {
	if _, err := eventstore.Wait(ctx, relay.store, 0); err != nil {
		return fmt.Errorf("wait for the first entry: %w", err)
	}
	epoch := relay.store.Epoch().History // of what is compared with the stream
	origin, err := readOrigin(ctx, relay.store)
	if err != nil {
		return err
	}
	last, err := relay.ensure(ctx, origin)
	if err != nil {
		return err
	}
	head := eventstore.Head{}
	if last > 0 {
		if head, err = relay.store.Head(ctx, eventstore.Point{Position: last}); err != nil {
			return fmt.Errorf("mark of entry %d: %w", last, err)
		}
	}
	if relay.store.Epoch().History != epoch {
		return eventstore.ErrHistory
	}
	relay.count(func(relayStats *RelayStats) { relayStats.Position = last })
	groups := make(chan group)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return relay.publish(ctx, head.Mark, origin, groups) })
	g.Go(func() error { return relay.acknowledge(ctx, groups) })
	return g.Wait()
}

// group is entries that were sent.
type group struct {
	first, last calendar.Position
	ack         jetstream.PubAckFuture
	end         func(error) // from Observe
}

// publish sends the entries after a mark. Each message expects the one before it as the
// last of the stream, so the last one of a group, which alone asks for an acknowledgement,
// can be stored only when all are.
func (relay *Relay) publish(ctx context.Context, mark eventstore.Mark, origin string, result chan<- group) (err error) {
	// The server refuses larger messages, and ones that a small stream cannot hold several
	// of would empty it.
	limit := int(min(relay.jetStream.Conn().MaxPayload(), relay.relayOptions.MaxBytes/8, MaxPayload))
	for {
		var entries []eventstore.Entry
		if entries, mark, err = relay.source.Read(ctx, mark, groupEntries); err != nil {
			return err
		}
		g := group{first: entries[0].Position, last: mark.Position, end: func(error) {}}
		if relay.relayOptions.Observe != nil {
			_, g.end = relay.relayOptions.Observe(ctx, g.first, g.last)
		}
		for i := range entries {
			message, err := relay.message(&entries[i], origin, limit)
			switch {
			case err != nil:
			case i < len(entries)-1:
				err = relay.jetStream.Conn().PublishMsg(message)
			default:
				g.ack, err = relay.jetStream.PublishMsgAsync(message, jetstream.WithRetryAttempts(0))
			}
			if err != nil {
				g.end(err)
				return fmt.Errorf("publish up to entry %d: %w", g.last, err)
			}
		}
		select {
		case result <- g:
		case <-ctx.Done():
			g.end(ctx.Err())
			return ctx.Err()
		}
	}
}

// message makes the message of an entry.
func (relay *Relay) message(entry *eventstore.Entry, origin string, limit int) (*nats.Msg, error) {
	// A message that is deleted stays in the files of the servers, a stream does not.
	if entry.Change == eventstore.ErasedChange(entry.Kind) && entry.Position > relay.clean {
		return nil, errErased
	}
	message, err := Encode(entry, relay.relayOptions.Prefix, origin, limit)
	if err == nil {
		message.Header[jetstream.ExpectedStreamHeader] = []string{StreamName(relay.relayOptions.Prefix)}
		message.Header[jetstream.ExpectedLastSeqHeader] = []string{(entry.Position - 1).String()}
	}
	return message, err
}

// acknowledge waits for the acknowledgements of groups.
func (relay *Relay) acknowledge(ctx context.Context, in <-chan group) error {
	for {
		var sent group
		select {
		case sent = <-in:
		case <-ctx.Done():
			return ctx.Err()
		}
		var err error
		select {
		case ack := <-sent.ack.Ok():
			if ack.Sequence != uint64(sent.last) {
				err = fmt.Errorf("%w: stored at %d", errConflict, ack.Sequence)
			}
		case err = <-sent.ack.Err(): // also when none came within requestWait, see Connect
			if code(err) == jetstream.JSErrCodeStreamWrongLastSequence {
				err = fmt.Errorf("%w: %w", errConflict, err)
			}
		case <-ctx.Done():
			err = ctx.Err()
		}
		if sent.end(err); err != nil {
			return fmt.Errorf("entry %d: %w", sent.last, err)
		}
		relay.wait.Reset()
		relay.outage.Note(ctx, nil)
		relay.count(func(relayStats *RelayStats) {
			relayStats.Position, relayStats.Published, relayStats.Error = sent.last, relayStats.Published+uint64(sent.last-sent.first)+1, ""
		})
	}
}
