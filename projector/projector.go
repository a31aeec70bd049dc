// Package projector keeps a read model: it reads entries in order, makes
// documents of them and writes those into an index together with the position
// that they reach.
//
// One entry gives one document and nothing else, so projecting is idempotent:
// whatever is projected again changes nothing.
package projector

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/query/readmodel"
)

// Source gives entries.
type Source interface {
	// Read waits until there are entries after those that a mark names and gives up
	// to limit of them, in order and without a gap, and the mark of the last one.
	// eventstore.ErrHistory: they are not of the store any more, and what was made
	// of them has to be made anew.
	Read(ctx context.Context, after eventstore.Mark, limit int) ([]eventstore.Entry, eventstore.Mark, error)
}

// Options are the settings of a projector. The zero value works.
type Options struct {
	Log *slog.Logger // nil: no log
	// Batch is the largest number of entries that are written at once. 0: 512.
	Batch int
	// MinWait and MaxWait bound the wait before something that failed is tried
	// again; it grows from one to the other. 0: 50 ms and 10 s.
	MinWait, MaxWait time.Duration
	// Begin, when set, is asked with the marks of the index before anything is read.
	// What it fails with is tried again as if the index had failed.
	Begin func(ctx context.Context, at readmodel.Marks) error
	// Observe, when set, is told of every batch that is projected, and what it
	// gives, of its end. The work is done under the context that it gives.
	Observe func(ctx context.Context, first, last calendar.Position) (context.Context, func(error))
}

func (o *Options) fill() error {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Batch < 0 {
		return fmt.Errorf("projector: batch of %d entries, must not be negative", o.Batch)
	}
	if o.Batch == 0 {
		o.Batch = 512
	}
	if o.MinWait <= 0 {
		o.MinWait = 50 * time.Millisecond
	}
	if o.MaxWait <= 0 {
		o.MaxWait = 10 * time.Second
	}
	o.MaxWait = max(o.MinWait, o.MaxWait)
	return nil
}

// Stats are the state of a projector and its counts since its start. The lag in
// entries is the head of the store less Position.
type Stats struct {
	Position    calendar.Position // up to which the index holds everything
	Entries     uint64            // read
	Documents   uint64            // written
	Batches     uint64
	Waiting     uint64 // entries of quarantined records that were passed over
	Quarantined int    // records
	Retries     uint64
	Failure     string // what is tried again now, "" when all is well
}

// Projector keeps one index. One Run at a time.
type Projector struct {
	index  readmodel.Index
	source Source
	o      Options

	mu          sync.Mutex
	stats       Stats
	quarantined map[calendar.ID]bool // as last read from the index, or more
}

// New makes a projector; Run starts it.
func New(index readmodel.Index, source Source, o Options) (*Projector, error) {
	if index == nil || source == nil {
		return nil, errors.New("projector: index and source are required")
	}
	if err := o.fill(); err != nil {
		return nil, err
	}
	return &Projector{index: index, source: source, o: o}, nil
}

// Stats gives the state and the counts.
func (p *Projector) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Quarantined = len(p.quarantined)
	return s
}

func (p *Projector) count(f func(*Stats)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(&p.stats)
}

// Run projects until the context ends; then it gives nil. Failures of the index
// and of the source are tried again for ever, with one exception: what waiting
// cannot mend is given back. That is a closed or damaged store
// (eventstore.ErrClosed, ErrDamaged), an index that was made from another history
// than that of the store (eventstore.ErrHistory, readmodel.ErrForeign) and one of
// which another generation answers now (readmodel.ErrMoved). After ErrMoved another
// Run goes on from the mark of that generation.
func (p *Projector) Run(ctx context.Context) error {
	err := p.run(ctx, func(calendar.Position) bool { return false })
	if ctx.Err() != nil {
		return nil //nolint:nilerr // it was asked to end
	}
	return err
}

// run projects until reached says so.
func (p *Projector) run(ctx context.Context, reached func(calendar.Position) bool) error {
	at, err := p.begin(ctx)
	if err != nil {
		return err
	}
	if reached(at.Position) {
		return nil
	}
	in := p.reading(ctx, at)
	defer in.end()
	var behind tail
	defer func() { _ = behind.wait() }() // told already, or of a batch after the first error
	in.ask()
	for !reached(at.Position) {
		r, err := in.take(ctx, &behind)
		if err != nil {
			return err
		}
		if err := r.checkDense(at.Position); err != nil {
			return err
		}
		full := len(r.entries) == p.o.Batch
		if full { // more are waiting, and are read while these are written
			in.ask()
		}
		if err := p.observed(ctx, r, &behind); err != nil {
			return err
		}
		at = r.to
		if !full {
			in.ask()
		}
	}
	return behind.wait()
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
	if err := p.refresh(ctx); err != nil {
		return marks.All, err
	}
	p.count(func(s *Stats) { s.Position = marks.All.Position })
	return marks.All, nil
}

// reads gives what a source gives: one read for each ask, which may come while the
// entries before are still written.
type reads struct {
	asked chan struct{} // closed by who reads
	out   chan read     // closed after an error or the end
	stop  context.CancelFunc
}

// read is what one read gave.
type read struct {
	entries []eventstore.Entry
	to      eventstore.Mark // of the last one
	err     error
}

// reading reads the entries after a mark, until it is ended or the context ends.
func (p *Projector) reading(ctx context.Context, at eventstore.Mark) *reads {
	ctx, stop := context.WithCancel(ctx)
	in := &reads{asked: make(chan struct{}, 1), out: make(chan read), stop: stop}
	go func() {
		defer close(in.out)
		for range in.asked {
			r, err := again(ctx, p, "read entries", func() (read, error) {
				entries, to, err := p.source.Read(ctx, at, p.o.Batch)
				return read{entries: entries, to: to}, err
			})
			r.err = err
			select {
			case in.out <- r:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
			at = r.to
		}
	}()
	return in
}

// ask asks for a read; what it gives is to be taken before the next.
func (in *reads) ask() { in.asked <- struct{}{} }

// take waits for what was asked for, or for the error of the write that goes on
// behind.
func (in *reads) take(ctx context.Context, behind *tail) (read, error) {
	for {
		select {
		case r, ok := <-in.out:
			if !ok {
				return r, ctx.Err()
			}
			return r, r.err
		case err := <-behind.done:
			behind.done = nil
			if err != nil {
				return read{}, err
			}
		}
	}
}

// end ends the reading: nobody uses the source any more when it comes back.
func (in *reads) end() {
	in.stop()
	close(in.asked)
	for range in.out { // nobody takes it
	}
}

// checkDense makes sure that the entries follow a position without a gap and end
// with their mark.
func (r *read) checkDense(after calendar.Position) error {
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

// tail is the write of the position that goes on while the documents of the next
// batch are written: it is behind them, never ahead. The zero value is none.
type tail struct{ done chan error }

// wait waits for the write that is under way.
func (t *tail) wait() error {
	if t.done == nil {
		return nil
	}
	err := <-t.done
	t.done = nil
	return err
}

// start begins a write; the one before must have been waited for.
func (t *tail) start(write func() error) {
	done := make(chan error, 1)
	t.done = done
	go func() { done <- write() }()
}

// refresh reads which records are quarantined.
func (p *Projector) refresh(ctx context.Context) error {
	list, err := again(ctx, p, "read the quarantine", func() ([]readmodel.Quarantined, error) { return p.index.Quarantined(ctx) })
	if err != nil {
		return err
	}
	ids := make(map[calendar.ID]bool, len(list))
	for _, q := range list {
		ids[q.ID] = true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.quarantined = ids
	return nil
}

// waiting tells which records of the entries are quarantined. It asks the index
// anew when there may be one, so a record that was healed meanwhile, by whatever
// process, is projected.
func (p *Projector) waiting(ctx context.Context, entries []eventstore.Entry) (map[calendar.ID]bool, error) {
	known := func() map[calendar.ID]bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.quarantined // replaced, never changed
	}
	for i := range entries {
		if known()[entries[i].ID] {
			if err := p.refresh(ctx); err != nil {
				return nil, err
			}
			break
		}
	}
	return known(), nil
}

// batch is what entries come to.
type batch struct {
	to          eventstore.Mark
	ids         []calendar.ID                        // records in the order of their first entry
	chains      map[calendar.ID][]readmodel.Document // their documents, oldest first
	quarantined map[calendar.ID]readmodel.Quarantined
	waiting     uint64
}

// fold makes documents of entries. A record stops at its first entry that cannot
// be read. All entries are read, not only the last of each record, so that the
// result does not depend on where batches begin and end.
func fold(r read, waiting map[calendar.ID]bool) *batch {
	entries := r.entries
	b := &batch{
		to:          r.to,
		chains:      make(map[calendar.ID][]readmodel.Document, len(entries)),
		quarantined: map[calendar.ID]readmodel.Quarantined{},
	}
	for i := range entries {
		e := &entries[i]
		if !hasDocument(e.Kind) || e.Redacted != nil { // the entry that erased the record follows
			continue
		}
		if _, stopped := b.quarantined[e.ID]; stopped || waiting[e.ID] {
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

// observed projects entries and lets who watches know.
func (p *Projector) observed(ctx context.Context, r read, behind *tail) (err error) {
	if p.o.Observe != nil {
		var end func(error)
		ctx, end = p.o.Observe(ctx, r.entries[0].Position, r.to.Position)
		defer func() { end(err) }()
	}
	return p.project(ctx, r, behind)
}

// project writes what entries come to. The position follows the documents in a
// write of its own: an index may refuse a document, and then the quarantine has
// to be kept no later than the position, or a crash between would lose it.
//
// After a full batch more are waiting, and the position is written beside the
// documents of the next one.
func (p *Projector) project(ctx context.Context, r read, behind *tail) error {
	waiting, err := p.waiting(ctx, r.entries)
	if err != nil {
		return err
	}
	b := fold(r, waiting)
	// Only the last document of a record is offered, unless it is refused.
	var refused []calendar.ID
	documents := make([]readmodel.Document, len(b.ids))
	for i, id := range b.ids {
		documents[i] = b.chains[id][len(b.chains[id])-1]
	}
	errs, err := p.write(ctx, readmodel.Batch{Documents: documents, Reach: b.to})
	if err != nil {
		return err
	}
	for i, id := range b.ids {
		if errs[i] != nil {
			refused = append(refused, id)
		}
	}
	if err := p.stepwise(ctx, b, refused); err != nil {
		return err
	}
	end := readmodel.Batch{Mark: b.to, Reach: b.to}
	for _, id := range sortedKeys(b.quarantined) {
		end.Quarantined = append(end.Quarantined, b.quarantined[id])
		p.o.Log.Error("record quarantined", "id", int64(id), "position", uint64(b.quarantined[id].Position), "reason", b.quarantined[id].Reason)
	}
	if err := behind.wait(); err != nil {
		return err
	}
	keep := func() error {
		if _, err := p.write(ctx, end); err != nil {
			return err
		}
		p.count(func(s *Stats) {
			s.Position = b.to.Position
			s.Entries += uint64(len(r.entries))
			s.Documents += uint64(len(documents) - len(refused))
			s.Waiting += b.waiting
			s.Batches++
		})
		return nil
	}
	switch {
	case len(b.quarantined) > 0:
		if err := keep(); err != nil {
			return err
		}
		return p.refresh(ctx)
	case len(r.entries) == p.o.Batch:
		behind.start(keep)
		return nil
	default:
		return keep()
	}
}

// stepwise writes the documents of records whose last one was refused one after
// the other, up to the first that is refused: there the record stops.
func (p *Projector) stepwise(ctx context.Context, b *batch, ids []calendar.ID) error {
	for step := 0; len(ids) > 0; step++ {
		documents := make([]readmodel.Document, len(ids))
		for i, id := range ids {
			documents[i] = b.chains[id][step]
		}
		errs, err := p.write(ctx, readmodel.Batch{Documents: documents, Reach: b.to})
		if err != nil {
			return err
		}
		var on []calendar.ID
		for i, id := range ids {
			switch {
			case errs[i] != nil:
				b.stop(id, documents[i].Position, errs[i])
			case step+1 < len(b.chains[id]):
				on = append(on, id)
			}
		}
		ids = on
	}
	return nil
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
