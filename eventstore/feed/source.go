package feed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/ground/pause"
)

// SourceOptions are the settings of a source. The zero value works.
type SourceOptions struct {
	Log *slog.Logger // nil: no log
	// Prefix names the stream, see StreamName. "": DefaultPrefix.
	Prefix string
	// Stall is how long the stream may bring nothing before the source looks whether the
	// store has more. 0: 1.25 s.
	Stall time.Duration
	// Recheck is how long the source reads from the store before it looks at the stream
	// again. 0: 1 s.
	Recheck time.Duration
}

// SourceStats are counts since the start of a source.
type SourceStats struct {
	FromStream uint64 // entries
	FromStore  uint64 // entries
	Live       bool   // reads from the stream
	Error      string // why not, "" when it does
}

// Source reads entries in order and without a gap: from the stream where it has them,
// else from the store. It returns none of another history than that of the store. It is
// for one goroutine.
type Source struct {
	store         eventstore.Store
	jetStream     jetstream.JetStream // nil: the store alone
	sourceOptions SourceOptions

	mark  eventstore.Mark           // of the last entry that was read
	epoch uint64                    // of the history in which the store had it; 0: not looked for
	live  jetstream.MessagesContext // nil: reads from the store
	again time.Time                 // when to look at the stream again
	stats SourceStats
}

// NewSource returns a source, of the store alone when js is nil. It starts nothing; Close
// it in the end.
func NewSource(store eventstore.Store, jetStream jetstream.JetStream, sourceOptions SourceOptions) *Source {
	sourceOptions.Log = cmp.Or(sourceOptions.Log, slog.New(slog.DiscardHandler))
	sourceOptions.Prefix = cmp.Or(sourceOptions.Prefix, DefaultPrefix)
	sourceOptions.Stall = cmp.Or(sourceOptions.Stall, 2*heartbeat+250*time.Millisecond)
	sourceOptions.Recheck = cmp.Or(sourceOptions.Recheck, time.Second)
	return &Source{store: store, jetStream: jetStream, sourceOptions: sourceOptions}
}

// Stats returns the counts.
func (source *Source) Stats() SourceStats {
	source.stats.Live = source.live != nil
	return source.stats
}

// Close ends the consumer. The server removes it soon, as no one asks for more.
func (source *Source) Close() {
	if source.live != nil {
		source.live.Stop()
		source.live = nil
	}
}

// Read waits until there are entries after those that a mark names, and returns up to
// limit of them without their secrets, and the mark of the last one. Where they are large
// it returns fewer: eventstore.PageBytes, or one. To go on with the mark that came last is
// cheap. Errors are those of the store and of the context, eventstore.ErrDamaged for a hole
// in the store, and eventstore.ErrHistory when the store does not hold the mark, which may
// come at any time: the reader then begins again with a mark that the store holds.
func (source *Source) Read(ctx context.Context, after eventstore.Mark, limit int) ([]eventstore.Entry, eventstore.Mark, error) {
	if after != source.mark {
		source.mark, source.epoch = after, 0
	}
	for {
		epoch := source.store.Epoch().History
		if epoch != source.epoch {
			source.Close()
			if err := eventstore.CheckMark(ctx, source.store, after); err != nil {
				return nil, after, err
			}
			source.epoch, source.again = epoch, time.Time{}
		}
		entries, err := source.next(ctx, limit)
		switch last := len(entries) - 1; {
		case ctx.Err() == nil && source.store.Epoch().History != epoch:
			// What was read may be of both histories.
		case err != nil:
			source.epoch = 0
			return nil, after, err
		case last >= 0:
			source.mark = entries[last].Mark()
			return entries, source.mark, nil
		}
	}
}

// next returns entries of the stream, else of the store; none when there was nothing for
// a while.
func (source *Source) next(ctx context.Context, limit int) (entries []eventstore.Entry, err error) {
	if source.jetStream != nil && source.live == nil && !time.Now().Before(source.again) {
		err = source.open(ctx)
	}
	if err == nil && source.live != nil {
		if entries, err = source.messages(ctx, limit); err == nil {
			err = source.prove(ctx, entries)
		}
		if err == nil {
			source.stats.FromStream += uint64(len(entries))
			return entries, nil
		}
	}
	if err != nil { // the store is read for a while
		source.Close()
		source.again = time.Now().Add(source.sourceOptions.Recheck)
		if text := err.Error(); ctx.Err() == nil && text != source.stats.Error {
			source.stats.Error = text
			source.sourceOptions.Log.InfoContext(ctx, "feed not readable, reading from the event store", "error", err)
		}
	}
	entries, err = source.store.Read(ctx, eventstore.Range{After: uint64(source.mark.Position), Limit: limit, Recent: true})
	if err != nil {
		return nil, fmt.Errorf("read entries after %d: %w", source.mark.Position, err)
	}
	if len(entries) == 0 {
		return nil, source.wait(ctx)
	}
	source.stats.FromStore += uint64(len(entries))
	entries = slices.Clone(entries) // those of the store are shared
	for i := range entries {
		if want := source.mark.Position + calendar.Position(i) + 1; entries[i].Position != want {
			return nil, fmt.Errorf("%w: entry %d where %d is next", eventstore.ErrDamaged, entries[i].Position, want)
		}
	}
	first := entries[0].Commit
	proven := first.First == entries[0].Position && first.Last <= entries[len(entries)-1].Position &&
		eventstore.ChainHash(source.mark.Hash, entries[:first.Last-source.mark.Position]) == first.Hash
	for i := range entries {
		strip(&entries[i])
	}
	if proven {
		return entries, nil // the chain from the mark to them was read
	}
	return entries, source.prove(ctx, nil)
}

// ahead is the pause before a store is read again that has a head and not yet its entries.
const ahead = 5 * time.Millisecond

// wait waits a while for an entry of the store.
func (source *Source) wait(ctx context.Context) error {
	head, err := source.store.Head(ctx, eventstore.Point{})
	if err != nil {
		return fmt.Errorf("read the head: %w", err)
	}
	if head.Position > source.mark.Position {
		return pause.For(ctx, ahead)
	}
	select {
	case <-head.Moved:
		return nil
	case <-time.After(source.sourceOptions.Recheck):
		return eventstore.CheckMark(ctx, source.store, source.mark)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Bounds of a consumer.
const (
	lookLimit = time.Second            // for the servers to answer a look at the stream
	heartbeat = 500 * time.Millisecond // sign of life of a consumer that has nothing

	// Waits for a message behind another one: for one that the stream has, and for one
	// that came while the reader was busy.
	onTheWay = 20 * time.Millisecond
	waiting  = 200 * time.Microsecond

	// pullMessages is how many messages the server may send ahead, pullBytes how many
	// bytes for one request, of which two may be open: no less than the largest message
	// with what NATS adds.
	pullMessages = 1024
	pullBytes    = MaxPayload + 64<<10
)

// open makes a consumer that begins with the next position, if the stream continues the
// store. It is not jetstream's ordered consumer: that one makes itself again, for as long
// as it takes, where this source is to read from the store.
func (source *Source) open(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	stream, err := readable(ctx, source.store, source.jetStream, source.sourceOptions.Prefix)
	if err != nil {
		return err
	}
	next, has := uint64(source.mark.Position)+1, stream.CachedInfo().State
	if has.FirstSeq > next || has.LastSeq < next-1 {
		return errors.New("stream does not have what is next")
	}
	consumer, err := stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		Description: "daybook source", DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: next,
		AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: time.Minute, MemoryStorage: true, Replicas: 1,
	})
	if err != nil {
		return err
	}
	source.stats.Error = ""
	source.live, err = consumer.Messages(jetstream.PullMaxMessagesWithBytesLimit(pullMessages, pullBytes), jetstream.PullHeartbeat(heartbeat))
	return err
}

// messages returns what the consumer has, waiting for the first; none when there was
// nothing for a while. Any surprise is an error: silence although the store has more, a
// gap, and a message that is damaged or shortened.
func (source *Source) messages(ctx context.Context, limit int) (entries []eventstore.Entry, err error) {
	within, cancel := context.WithTimeout(ctx, source.sourceOptions.Stall)
	defer cancel()
	wait := jetstream.NextContext(within)
	for size := 0; len(entries) < limit && size < eventstore.PageBytes; {
		message, err := source.live.Next(wait)
		if err != nil && len(entries) > 0 {
			break
		}
		if errors.Is(err, context.DeadlineExceeded) {
			head, err := source.store.Head(ctx, eventstore.Point{})
			if err == nil && head.Position > source.mark.Position {
				err = errors.New("stream is behind")
			}
			return nil, err
		}
		if err != nil {
			return nil, err
		}
		meta, err := message.Metadata()
		want := source.mark.Position + calendar.Position(len(entries)) + 1
		if err == nil && meta.Sequence.Stream < uint64(want) {
			continue
		}
		entry, whole, decodeErr := Decode(message.Headers(), message.Data())
		if err = errors.Join(err, decodeErr); err == nil && (!whole || entry.Position != want) {
			err = fmt.Errorf("stream does not have the whole entry %d next", want)
		}
		if err != nil {
			return nil, err
		}
		entries, size = append(entries, entry), size+entry.Size()
		wait = jetstream.NextMaxWait(waiting)
		if meta.NumPending > 0 {
			wait = jetstream.NextMaxWait(onTheWay)
		}
	}
	return entries, nil
}

// prove makes sure that the store has the mark of the cursor, and those of messages behind
// it.
func (source *Source) prove(ctx context.Context, messages []eventstore.Entry) error {
	marks := make([]eventstore.Mark, 0, len(messages)+1)
	if source.mark.Position > 0 {
		marks = append(marks, source.mark)
	}
	for i := range messages {
		marks = append(marks, messages[i].Mark())
	}
	if len(marks) == 0 {
		return nil
	}
	stored, err := source.store.Read(ctx, eventstore.Range{After: uint64(marks[0].Position) - 1, Limit: len(marks), Leaves: true})
	if err != nil {
		return fmt.Errorf("commit of entry %d: %w", marks[0].Position, err)
	}
	for i, mark := range marks {
		if i >= len(stored) || stored[i].Mark() != mark {
			return fmt.Errorf("%w: mark %s is not in it any more", eventstore.ErrHistory, mark)
		}
	}
	return nil
}
