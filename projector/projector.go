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
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"daybook/calendar"
	"daybook/eventstore"
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
	// MinWait and MaxWait bound the wait before something that failed is tried
	// again; it grows from one to the other. 0: 50 ms and 10 s.
	MinWait, MaxWait time.Duration
	// Begin, when set, is called with the marks of the index before anything is read. Its
	// error is tried again as if the index had failed.
	Begin func(ctx context.Context, at readmodel.Marks) error
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
	index  readmodel.Index
	source Source
	o      Options

	quarantined map[calendar.ID]bool // as last read from the index

	work   sync.WaitGroup // of what goes on while a batch is written
	behind chan error     // gets the result of the write of a position that does; nil: none does

	mu    sync.Mutex
	stats Stats
}

// New returns a projector; Run starts it.
func New(index readmodel.Index, source Source, o Options) (*Projector, error) {
	if index == nil || source == nil {
		return nil, errors.New("projector: index and source are required")
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Batch = cmp.Or(o.Batch, 512)
	o.MinWait = cmp.Or(o.MinWait, 50*time.Millisecond)
	o.MaxWait = max(o.MinWait, cmp.Or(o.MaxWait, 10*time.Second))
	return &Projector{index: index, source: source, o: o}, nil
}

// Stats returns the state and the counts.
func (p *Projector) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}

func (p *Projector) count(f func(*Stats)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(&p.stats)
}

// Run projects until the context ends; then it returns nil. Failures of the index and of
// the source are tried again for ever, but for those that waiting does not mend: a closed
// or damaged store (eventstore.ErrClosed, ErrDamaged), an index of another history than
// that of the store (eventstore.ErrHistory, readmodel.ErrForeign), and one of which another
// generation answers now (readmodel.ErrMoved). After ErrMoved another Run goes on from the
// mark of that generation.
func (p *Projector) Run(ctx context.Context) error {
	err := p.run(ctx, func(calendar.Position) bool { return false })
	if ctx.Err() != nil {
		return nil //nolint:nilerr // it was asked to end
	}
	return err
}

// run projects until reached returns true for a position.
func (p *Projector) run(ctx context.Context, reached func(calendar.Position) bool) error {
	at, err := p.begin(ctx)
	if err != nil || reached(at.Position) {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer p.work.Wait() // source and index are not used afterwards
	defer stop()
	reads := make(chan read, 1)
	next := func(after eventstore.Mark) { p.work.Go(func() { reads <- p.read(ctx, after) }) }
	for next(at); !reached(at.Position); {
		select {
		case err := <-p.behind:
			if p.behind = nil; err != nil {
				return err
			}
		case r := <-reads:
			if err := r.check(at.Position); err != nil {
				return err
			}
			full := len(r.entries) == p.o.Batch
			if full { // more are waiting, and are read while these are written
				next(r.to)
			}
			if err := p.observed(ctx, r, full); err != nil {
				return err
			}
			if at = r.to; !full {
				next(at)
			}
		}
	}
	return p.wait()
}

// begin reads where the index stands.
func (p *Projector) begin(ctx context.Context) (eventstore.Mark, error) {
	marks, err := again(ctx, p, "read the position", func() (readmodel.Marks, error) {
		marks, err := p.index.Marks(ctx)
		if err == nil && p.o.Begin != nil {
			err = p.o.Begin(ctx, marks)
		}
		return marks, err
	})
	if err != nil {
		return marks.All, err
	}
	p.behind = nil
	p.count(func(s *Stats) { s.Position = marks.All.Position })
	return marks.All, p.refresh(ctx)
}

// read is what one read of the source returned.
type read struct {
	entries []eventstore.Entry
	to      eventstore.Mark // of the last one
	err     error
}

// read reads the entries after a mark.
func (p *Projector) read(ctx context.Context, after eventstore.Mark) read {
	r, err := again(ctx, p, "read entries", func() (r read, err error) {
		r.entries, r.to, err = p.source.Read(ctx, after, p.o.Batch)
		return r, err
	})
	r.err = err
	return r
}

// check makes sure that the entries follow a position without a gap and end with their
// mark.
func (r *read) check(after calendar.Position) error {
	if r.err != nil {
		return r.err
	}
	for i := range r.entries {
		if want := after + calendar.Position(i) + 1; r.entries[i].Position != want {
			return fmt.Errorf("projector: %w: entry %d after %d", eventstore.ErrDamaged, r.entries[i].Position, want-1)
		}
	}
	if n := len(r.entries); n == 0 || r.entries[n-1].Position != r.to.Position {
		return fmt.Errorf("projector: %d entries after %d with the mark %s", n, after, r.to)
	}
	return nil
}

// wait waits for the write of a position that goes on.
func (p *Projector) wait() (err error) {
	if p.behind != nil {
		err = <-p.behind
		p.behind = nil
	}
	return err
}

// refresh reads which records are quarantined.
func (p *Projector) refresh(ctx context.Context) error {
	list, err := again(ctx, p, "read the quarantine", func() ([]readmodel.Quarantined, error) { return p.index.Quarantined(ctx) })
	if err != nil {
		return err
	}
	p.quarantined = make(map[calendar.ID]bool, len(list))
	for _, q := range list {
		p.quarantined[q.ID] = true
	}
	return nil
}

// batch is what entries come to.
type batch struct {
	ids         []calendar.ID                        // records in the order of their first entry
	chains      map[calendar.ID][]readmodel.Document // their documents, oldest first
	quarantined map[calendar.ID]readmodel.Quarantined
	waiting     uint64
}

// fold makes documents of entries. A record stops at its first entry that cannot
// be read. All entries are read, not only the last of each record, so that the
// result does not depend on where batches begin and end.
func (p *Projector) fold(r read) *batch {
	b := &batch{chains: map[calendar.ID][]readmodel.Document{}, quarantined: map[calendar.ID]readmodel.Quarantined{}}
	for i := range r.entries {
		e := &r.entries[i]
		if !hasDocument(e.Kind) || e.Redacted != nil { // the entry that erased the record follows
			continue
		}
		if _, stopped := b.quarantined[e.ID]; stopped || p.quarantined[e.ID] {
			b.waiting++
			continue
		}
		d, err := document(e.Kind, e.ID, e.Version, e.Position, e.State)
		if err != nil {
			b.stop(e.ID, e.Position, err)
			continue
		}
		if b.chains[e.ID] == nil {
			b.ids = append(b.ids, e.ID)
		}
		b.chains[e.ID] = append(b.chains[e.ID], d)
	}
	return b
}

func (b *batch) stop(id calendar.ID, at calendar.Position, reason error) {
	b.quarantined[id] = readmodel.Quarantined{ID: id, Position: at, Reason: reason.Error()}
}

// observed projects entries between the two calls of Options.Observe.
func (p *Projector) observed(ctx context.Context, r read, full bool) (err error) {
	if p.o.Observe != nil {
		var end func(error)
		ctx, end = p.o.Observe(ctx, r.entries[0].Position, r.to.Position)
		defer func() { end(err) }()
	}
	return p.project(ctx, r, full)
}

// project writes what entries come to. The position follows the documents in a
// write of its own: an index may refuse a document, and then the quarantine has
// to be kept no later than the position, or a crash between would lose it.
//
// After a full batch more are waiting, and the position is written while the documents
// of the next one are.
func (p *Projector) project(ctx context.Context, r read, full bool) error {
	if slices.ContainsFunc(r.entries, func(e eventstore.Entry) bool { return p.quarantined[e.ID] }) {
		if err := p.refresh(ctx); err != nil { // it may have been healed, by whatever process
			return err
		}
	}
	b := p.fold(r)
	documents, err := p.offer(ctx, r.to, b)
	if err != nil {
		return err
	}
	end := readmodel.Batch{Mark: r.to, Reach: r.to}
	for _, id := range slices.Sorted(maps.Keys(b.quarantined)) {
		q := b.quarantined[id]
		end.Quarantined = append(end.Quarantined, q)
		p.o.Log.Error("record quarantined", "id", int64(id), "position", uint64(q.Position), "reason", q.Reason)
	}
	if err := p.wait(); err != nil {
		return err
	}
	keep := func() error {
		if _, err := p.write(ctx, end); err != nil {
			return err
		}
		p.count(func(s *Stats) {
			s.Position = r.to.Position
			s.Entries += uint64(len(r.entries))
			s.Documents += uint64(documents)
			s.Waiting += b.waiting
			s.Batches++
		})
		return nil
	}
	if full && len(end.Quarantined) == 0 {
		behind := make(chan error, 1)
		p.behind = behind
		p.work.Go(func() { behind <- keep() })
		return nil
	}
	if err := keep(); err != nil || len(end.Quarantined) == 0 {
		return err
	}
	return p.refresh(ctx)
}

// offer writes the last document of each record and returns how many were taken. Where
// it is refused all of the record are written in order, and the record stops at the first
// that is refused.
func (p *Projector) offer(ctx context.Context, to eventstore.Mark, b *batch) (taken int, err error) {
	last, again := make([]readmodel.Document, len(b.ids)), []readmodel.Document(nil)
	for i, id := range b.ids {
		last[i] = b.chains[id][len(b.chains[id])-1]
	}
	errs, err := p.write(ctx, readmodel.Batch{Documents: last, Reach: to})
	for i, refused := range errs {
		if refused == nil {
			taken++
			continue
		}
		again = append(again, b.chains[b.ids[i]]...)
	}
	if err != nil || len(again) == 0 {
		return taken, err
	}
	errs, err = p.write(ctx, readmodel.Batch{Documents: again, Reach: to})
	for i, refused := range slices.Backward(errs) {
		if refused != nil {
			b.stop(again[i].Record.ID, again[i].Position, refused)
		}
	}
	return taken, err
}

// write writes a batch until it is taken. The errors that come back are
// refusals, one place per document.
func (p *Projector) write(ctx context.Context, b readmodel.Batch) ([]error, error) {
	if len(b.Documents) == 0 && b.Mark.Position == 0 && len(b.Quarantined) == 0 && len(b.Healed) == 0 {
		return nil, nil
	}
	return again(ctx, p, "write documents", func() ([]error, error) { return writeOnce(ctx, p.index, b) })
}

// writeOnce writes a batch; an error that is no refusal fails it whole.
func writeOnce(ctx context.Context, index readmodel.Index, b readmodel.Batch) ([]error, error) {
	errs, err := index.Write(ctx, b)
	if err != nil {
		return nil, err
	}
	if len(errs) != len(b.Documents) {
		return nil, fmt.Errorf("index answered %d of %d documents", len(errs), len(b.Documents))
	}
	for i, err := range errs {
		if err != nil && !errors.Is(err, readmodel.ErrRefused) {
			return nil, fmt.Errorf("document of record %d: %w", b.Documents[i].Record.ID, err)
		}
	}
	return errs, nil
}

// again does an operation until it succeeds, with growing waits.
func again[T any](ctx context.Context, p *Projector, what string, operation func() (T, error)) (T, error) {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = p.o.MinWait, p.o.MaxWait
	failed := false
	out, err := backoff.Retry(ctx, func() (T, error) {
		out, err := operation()
		if errors.Is(err, eventstore.ErrClosed) || errors.Is(err, eventstore.ErrDamaged) || errors.Is(err, eventstore.ErrHistory) ||
			errors.Is(err, readmodel.ErrMoved) || errors.Is(err, readmodel.ErrForeign) || ctx.Err() != nil {
			err = backoff.Permanent(err)
		}
		return out, err
	}, backoff.WithBackOff(wait), backoff.WithMaxElapsedTime(0), backoff.WithNotify(func(err error, d time.Duration) {
		failed = true
		p.o.Log.Warn("projector tries again", "operation", what, "error", err, "wait", d)
		p.count(func(s *Stats) { s.Failure, s.Retries = what+": "+err.Error(), s.Retries+1 })
	}))
	if err != nil {
		return out, fmt.Errorf("projector: %s: %w", what, err)
	}
	if failed {
		p.o.Log.Info("projector goes on", "operation", what)
		p.count(func(s *Stats) { s.Failure = "" })
	}
	return out, nil
}
