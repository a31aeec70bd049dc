// Package projector maintains a read model: it reads entries in order, makes documents of
// them and writes those into an index together with the position that they reach.
//
// One entry makes one document and nothing else, so projecting is idempotent: whatever is
// projected again changes nothing.
package projector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/ground/lifecycle"
	"daybook/query/readmodel"
)

// Source is where entries are read from.
type Source interface {
	// Read waits until there are entries after a mark and returns up to limit of them, in
	// order and without a gap, and the mark of the last one. eventstore.ErrHistory: the
	// store does not hold the mark any more, and what was made of it has to be rebuilt.
	Read(ctx context.Context, after eventstore.Mark, limit int) ([]eventstore.Entry, eventstore.Mark, error)
}

// Options are the settings of a projector. The zero value works.
type Options struct {
	Log *slog.Logger // nil: no log
	// Batch is the largest number of entries that are written together. 0: 512.
	Batch int
	// MaxWait is the longest wait before something that failed is tried again, so how long
	// lists stay old after servers have come back; it grows from a hundredth. 0: 2 s.
	MaxWait time.Duration
	// Begin, when set, is called with the marks of the index before anything is read. Its
	// error is tried again as if the index had failed.
	Begin func(ctx context.Context, marks readmodel.Marks) error
	// Observe, when set, is called before each batch, and the function that it returns
	// after it. The batch is projected under the context that it returns.
	Observe func(ctx context.Context, first, last calendar.Position) (context.Context, func(error))
}

// Stats are the state of a projector and its counts since its start. The lag in
// entries is the head of the store less Position.
type Stats struct {
	Position  calendar.Position // up to which the index holds everything
	Entries   uint64            // read
	Documents uint64            // written
	Batches   uint64
	Waiting   uint64 // entries of quarantined records that were passed over
	Retries   uint64
	Failure   string // what is tried again now, "" when all is well
}

// Projector maintains one index. One Run at a time.
type Projector struct {
	index   readmodel.Index
	source  Source
	options Options

	quarantined map[calendar.ID]bool // as last read from the index

	mu    sync.Mutex
	stats Stats
}

// New returns a projector; Run starts it.
func New(index readmodel.Index, source Source, options Options) *Projector {
	options.Log = cmp.Or(options.Log, slog.New(slog.DiscardHandler))
	options.Batch = cmp.Or(options.Batch, 512)
	options.MaxWait = cmp.Or(options.MaxWait, 2*time.Second)
	return &Projector{index: index, source: source, options: options}
}

// Stats returns the state and the counts.
func (projector *Projector) Stats() Stats {
	projector.mu.Lock()
	defer projector.mu.Unlock()
	return projector.stats
}

func (projector *Projector) count(f func(*Stats)) {
	projector.mu.Lock()
	defer projector.mu.Unlock()
	f(&projector.stats)
}

// Run projects until the context ends; then it returns nil. Failures of the index and of
// the source are tried again for ever, but for those that waiting does not mend: a closed
// or damaged store (eventstore.ErrClosed, ErrDamaged), an index of another history than
// that of the store (eventstore.ErrHistory, readmodel.ErrForeign), and one of which another
// generation answers now (readmodel.ErrMoved). After ErrMoved another Run goes on from the
// mark of that generation.
func (projector *Projector) Run(ctx context.Context) error {
	err := projector.run(ctx)
	if ctx.Err() != nil {
		return nil //nolint:nilerr // it was asked to end
	}
	return err
}

func (projector *Projector) run(ctx context.Context) error {
	mark, err := projector.begin(ctx)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	var reading sync.WaitGroup
	defer reading.Wait() // the source is not used afterwards
	defer stop()
	batches := make(chan batch, 1)
	next := func(after eventstore.Mark) { reading.Go(func() { batches <- projector.read(ctx, after) }) }
	for next(mark); ; {
		entries := <-batches
		if err := entries.check(mark.Position); err != nil {
			return err
		}
		full := len(entries.entries) == projector.options.Batch
		if full { // more are waiting, and are read while these are written
			next(entries.mark)
		}
		if err := projector.project(ctx, &entries); err != nil {
			return err
		}
		if mark = entries.mark; !full {
			next(mark)
		}
	}
}

// begin reads where the index stands.
func (projector *Projector) begin(ctx context.Context) (eventstore.Mark, error) {
	marks, err := again(ctx, projector, "read the position", func() (readmodel.Marks, error) {
		marks, err := projector.index.Marks(ctx)
		if err == nil && projector.options.Begin != nil {
			err = projector.options.Begin(ctx, marks)
		}
		return marks, err
	})
	if err != nil {
		return marks.All, err
	}
	projector.count(func(stats *Stats) { stats.Position = marks.All.Position })
	return marks.All, projector.refresh(ctx)
}

// batch is what one read of the source returned.
type batch struct {
	entries []eventstore.Entry
	mark    eventstore.Mark // of the last one
	err     error
}

// read reads the entries after a mark.
func (projector *Projector) read(ctx context.Context, after eventstore.Mark) batch {
	entries, err := again(ctx, projector, "read entries", func() (b batch, err error) {
		b.entries, b.mark, err = projector.source.Read(ctx, after, projector.options.Batch)
		return b, err
	})
	entries.err = err
	return entries
}

// check makes sure that the entries follow a position without a gap and end with their
// mark.
func (batch *batch) check(after calendar.Position) error {
	count := len(batch.entries)
	if batch.err == nil && (count == 0 || batch.entries[0].Position != after+1 || batch.entries[count-1].Position != batch.mark.Position || batch.mark.Position != after+calendar.Position(count)) {
		return fmt.Errorf("projector: %w: %d entries after %d with the mark %s", eventstore.ErrDamaged, count, after, batch.mark)
	}
	return batch.err
}

// refresh reads which records are quarantined.
func (projector *Projector) refresh(ctx context.Context) (err error) {
	projector.quarantined, err = again(ctx, projector, "read the quarantine", func() (map[calendar.ID]bool, error) { return quarantine(ctx, projector.index) })
	return err
}

// project writes the documents of entries. The position follows them in another write: an
// index may refuse a document, and then the quarantine has to be stored no later than the
// position, or a crash between would lose it.
func (projector *Projector) project(ctx context.Context, batch *batch) (err error) {
	if projector.options.Observe != nil {
		var end func(error)
		ctx, end = projector.options.Observe(ctx, batch.entries[0].Position, batch.mark.Position)
		defer func() { end(err) }()
	}
	if slices.ContainsFunc(batch.entries, func(entry eventstore.Entry) bool { return projector.quarantined[entry.ID] }) {
		if err := projector.refresh(ctx); err != nil { // it may have been healed, by whatever process
			return err
		}
	}
	var states []eventstore.State
	for i := range batch.entries {
		if entry := &batch.entries[i]; entry.Redacted == nil { // else the entry that erased the record follows
			states = append(states, stateOf(entry))
		}
	}
	// Every state is written, not only the last one of each record: one that cannot be
	// projected stops its record wherever batches begin and end.
	found, err := again(ctx, projector, "write documents", func() (writeOutcome, error) {
		return offer(ctx, projector.index, states, batch.mark, projector.quarantined)
	})
	if err != nil {
		return err
	}
	for _, quarantined := range found.quarantined {
		projector.quarantined[quarantined.ID] = true
		projector.options.Log.Error("record quarantined", "id", int64(quarantined.ID), "position", uint64(quarantined.Position), "reason", quarantined.Reason)
	}
	end := readmodel.Batch{Mark: batch.mark, Reach: batch.mark, Quarantined: found.quarantined}
	if _, err := again(ctx, projector, "write the position", func() ([]error, error) { return projector.index.Write(ctx, end) }); err != nil {
		return err
	}
	projector.count(func(stats *Stats) {
		stats.Position = batch.mark.Position
		stats.Entries += uint64(len(batch.entries))
		stats.Documents += uint64(found.documents)
		stats.Waiting += uint64(found.waiting)
		stats.Batches++
	})
	return nil
}

// permanent are the errors that waiting does not mend, see Run.
var permanent = []error{
	eventstore.ErrClosed, eventstore.ErrDamaged, eventstore.ErrHistory, readmodel.ErrMoved, readmodel.ErrForeign,
}

// again does an operation until it succeeds, with growing waits.
func again[T any](ctx context.Context, projector *Projector, what string, operation func() (T, error)) (T, error) {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = projector.options.MaxWait/100, projector.options.MaxWait
	outage := lifecycle.Outage{Log: projector.options.Log, Message: "projector cannot " + what}
	result, err := backoff.Retry(ctx, func() (T, error) {
		out, err := operation()
		if ctx.Err() != nil || slices.ContainsFunc(permanent, func(target error) bool { return errors.Is(err, target) }) {
			err = backoff.Permanent(err)
		}
		return out, err
	}, backoff.WithBackOff(wait), backoff.WithMaxElapsedTime(0), backoff.WithNotify(func(err error, _ time.Duration) {
		outage.Note(ctx, err)
		projector.count(func(stats *Stats) { stats.Failure, stats.Retries = what+": "+err.Error(), stats.Retries+1 })
	}))
	if err != nil {
		return result, fmt.Errorf("projector: %s: %w", what, err)
	}
	if outage.Ongoing() {
		outage.Note(ctx, nil)
		projector.count(func(stats *Stats) { stats.Failure = "" })
	}
	return result, nil
}
