// Package memindex is the read model as a memory image: dense ordinals per kind,
// sets of them per term, id and word, chunked orders by value, and a snapshot
// file to start from.
package memindex

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"daybook/calendar"
	"daybook/internal/ground/compact"
	"daybook/query/readmodel"
)

// Options of an Index; the zero value works.
type Options struct {
	// Records is how many decoded records of other kinds than events are kept for
	// answers; 0: 1,024. It is rounded up to a power of two.
	Records int
	// Logger gets a warning when a snapshot is not used; nil: slog.Default.
	Logger *slog.Logger
	// Holds tells whether the event store has the history of a mark. A snapshot of
	// another one is not used. nil: it is not asked.
	Holds func(context.Context, calendar.Mark) (bool, error)
	// Epoch changes when the event store goes over to another history: what was filled
	// or loaded before is readmodel.ErrForeign then. nil: never.
	Epoch func() uint64
	// Former is the path of the generation that the last one replaced; "": none is kept.
	Former string
}

// Index is a readmodel.Index in memory. What is written is visible at once: a
// query sees whole batches only.
type Index struct {
	o    Options
	path string // of snapshots; "": none

	// mostSteps bounds one hold of the lock while beginnings of words are looked
	// for: about a millisecond.
	mostSteps int
	// scans are the searches that read texts now, one for each processor: each keeps
	// a list of all the texts that it reads.
	scans chan struct{}

	saving sync.Mutex
	next   *Index       // the coming generation; under saving
	saved  uint64       // writes at the last snapshot; under saving
	since  atomic.Int64 // documents that changed after it

	// writing is held by who changes what mu guards, from before mu on: so a snapshot
	// holds writers up, and no reader.
	writing sync.Mutex
	still   chan struct{} // held by the reading that writers wait for

	mu          sync.RWMutex
	kinds       [calendar.KindUser + 1]*kindIndex
	places      table[calendar.ID]                // of numbers of places
	gone        map[calendar.ID]calendar.Position // tombstones
	quarantined map[calendar.ID]readmodel.Quarantined
	marks       readmodel.Marks
	writes      uint64 // changes of the state so far
	digest      readmodel.Digest
	epoch       atomic.Uint64 // that it is of, see Options.Epoch

	generation uint64        // that was put in place
	bound      atomic.Uint64 // the one of the writer
	taken      chan struct{} // closed and made anew when another one is put in place
	erased     chan struct{} // has one when the document of an erased record was written

	// What is visible is known without the lock: it is set as the last of a batch,
	// while the lock is still held.
	shown atomic.Pointer[readmodel.Shown]
	moved atomic.Pointer[chan struct{}] // closed and made anew when the position grows

	records []atomic.Pointer[readmodel.Document] // decoded, by id
	briefs  [mostBriefs]atomic.Pointer[brief]
}

type place struct {
	kind    calendar.Kind
	ordinal uint32
}

// The number of a place has the kind in its highest bits.
const (
	ordinalBits = 28
	mostDocs    = 1<<ordinalBits - 1 // of a kind
)

func (p place) number() uint32 { return uint32(p.kind)<<ordinalBits | p.ordinal }

func placeOf(n uint32) place { return place{calendar.Kind(n >> ordinalBits), n & mostDocs} }

// at gives the place of the live document of an id.
func (x *Index) at(id calendar.ID) (place, bool) {
	n, ok := x.places.get(id)
	return placeOf(n), ok
}

func (x *Index) idAt(n uint32) calendar.ID {
	p := placeOf(n)
	return x.kinds[p.kind].ids[p.ordinal]
}

var (
	_ readmodel.Index   = (*Index)(nil)
	_ readmodel.Counter = (*Index)(nil)
)

// New makes an empty Index; it starts nothing.
func New(o Options) (*Index, error) {
	if o.Records < 0 {
		return nil, fmt.Errorf("memory index: %d records to keep", o.Records)
	}
	if o.Records == 0 {
		o.Records = 1024
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Epoch == nil {
		o.Epoch = func() uint64 { return 0 }
	}
	n := 1
	for n < o.Records {
		n *= 2
	}
	x := &Index{o: o, taken: make(chan struct{}), erased: make(chan struct{}, 1), mostSteps: 1 << 18, scans: make(chan struct{}, runtime.GOMAXPROCS(0)), still: make(chan struct{}, 1), records: make([]atomic.Pointer[readmodel.Document], n)}
	moved := make(chan struct{})
	x.moved.Store(&moved)
	x.empty()
	return x, nil
}

// empty makes everything but the signal new.
func (x *Index) empty() {
	for k := calendar.KindEvent; k <= calendar.KindUser; k++ {
		x.kinds[k] = newKindIndex(readmodel.SchemaOf(k))
	}
	x.places = table[calendar.ID]{keyOf: x.idAt, hash: hashID}
	x.gone = map[calendar.ID]calendar.Position{}
	x.quarantined = map[calendar.ID]readmodel.Quarantined{}
	x.marks = readmodel.Marks{}
	x.digest = readmodel.Digest{Counts: map[calendar.Kind]int{}}
	x.shown.Store(&readmodel.Shown{})
	x.epoch.Store(x.o.Epoch())
	for i := range x.records {
		x.records[i].Store(nil)
	}
	for i := range x.briefs {
		x.briefs[i].Store(nil)
	}
}

// Write takes a batch; see readmodel.Index. It fails as a whole only when ctx
// has ended.
func (x *Index) Write(ctx context.Context, b readmodel.Batch) ([]error, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	errs := make([]error, len(b.Documents))
	work := x.prepare(b.Documents, errs)
	x.writing.Lock()
	defer x.writing.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.bound.Load() != x.generation {
		return nil, readmodel.ErrMoved
	}
	x.writes++
	for i := range b.Documents {
		if errs[i] == nil {
			x.apply(&b.Documents[i], work[i])
			if b.Documents[i].Record.Erased {
				select {
				case x.erased <- struct{}{}:
				default:
				}
			}
		}
	}
	for _, k := range x.kinds[calendar.KindEvent:] {
		k.texts.settle()
	}
	for _, id := range b.Healed {
		delete(x.quarantined, id)
	}
	for _, p := range b.Quarantined {
		x.quarantined[p.ID] = p
	}
	for _, m := range [...]calendar.Mark{b.Reach, b.Mark} {
		if m.Position > x.marks.Reach.Position {
			x.marks.Reach = m
		}
	}
	if b.Mark.Position > x.marks.All.Position {
		x.marks.All = b.Mark
	}
	x.show()
	return errs, nil
}

// show makes visible what was written. The content is named by the digest, so any
// two images of one content agree.
func (x *Index) show() {
	before := x.shown.Swap(&readmodel.Shown{Mark: x.marks.All, Content: binary.LittleEndian.Uint64(x.digest.Sum[:])})
	if x.marks.All.Position > before.Position {
		moved := make(chan struct{})
		close(*x.moved.Swap(&moved))
	}
}

// prepare analyses the documents that are newer than the held ones, outside of
// the lock and on all processors.
func (x *Index) prepare(docs []readmodel.Document, errs []error) []*prepared {
	work := make([]*prepared, len(docs))
	var next atomic.Int64
	one := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(docs) {
				return
			}
			d := &docs[i]
			if errs[i] = check(d); errs[i] != nil || d.Record.Deleted || x.stale(d) {
				continue
			}
			work[i] = prepare(readmodel.SchemaOf(d.Record.Kind), *d)
		}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(docs)/16) {
		wg.Go(one)
	}
	one()
	wg.Wait()
	return work
}

func check(d *readmodel.Document) error {
	switch {
	case d.Record == nil:
		return fmt.Errorf("%w: no record", readmodel.ErrRefused)
	case readmodel.SchemaOf(d.Record.Kind) == nil || d.Record.ID < 1 || d.Position == 0:
		return fmt.Errorf("%w: kind %d, id %d, position %d", readmodel.ErrRefused, d.Record.Kind, d.Record.ID, d.Position)
	case len(d.Body) == 0 && !d.Record.Deleted:
		return fmt.Errorf("%w: %s %d has no body", readmodel.ErrRefused, d.Record.Kind, d.Record.ID)
	}
	return nil
}

func (x *Index) stale(d *readmodel.Document) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return d.Position <= x.held(d.Record.ID)
}

// held gives the position of what is held for an id, 0 for nothing.
func (x *Index) held(id calendar.ID) calendar.Position {
	if at, ok := x.at(id); ok {
		return x.kinds[at.kind].docs[at.ordinal].position
	}
	return x.gone[id]
}

func (x *Index) apply(d *readmodel.Document, p *prepared) {
	id := d.Record.ID
	if d.Position <= x.held(id) {
		return
	}
	x.since.Add(1)
	at, known := x.at(id)
	if known {
		x.count(at.kind, -1, x.leaf(at))
	}
	if known && (d.Record.Deleted || at.kind != d.Record.Kind) {
		x.places.remove(id) // while its place still knows the id
		x.kinds[at.kind].delete(at.ordinal)
		known = false
	}
	if d.Record.Deleted {
		x.gone[id] = d.Position
		x.briefs[id%mostBriefs].Store(nil)
		return
	}
	delete(x.gone, id)
	if known {
		x.kinds[at.kind].replace(at.ordinal, p)
	} else {
		at = place{d.Record.Kind, x.kinds[d.Record.Kind].insert(p)}
		x.places.put(at.number())
	}
	x.count(at.kind, 1, p.leaf)
}

// count takes a document into the digest, or out of it.
func (x *Index) count(kind calendar.Kind, n int, leaf [sha256.Size]byte) {
	if x.digest.Counts[kind] += n; x.digest.Counts[kind] == 0 {
		delete(x.digest.Counts, kind)
	}
	for i := range leaf {
		x.digest.Sum[i] ^= leaf[i]
	}
}

// leaf gives the leaf of a document that is held.
func (x *Index) leaf(at place) [sha256.Size]byte {
	k := x.kinds[at.kind]
	d := &k.docs[at.ordinal]
	body, err := compact.Unpack(nil, d.body())
	if err != nil {
		panic(err) // packed by this program, or checked on loading
	}
	return readmodel.Leaf(at.kind, k.ids[at.ordinal], d.version, body)
}

// Marks gives the marks that are kept in the index, and binds the writer to what answers.
func (x *Index) Marks(ctx context.Context) (readmodel.Marks, error) {
	if err := ctx.Err(); err != nil {
		return readmodel.Marks{}, err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	x.bound.Store(x.generation)
	return x.marks, nil
}

// Visible gives what is written: it is visible at once.
func (x *Index) Visible(ctx context.Context) (readmodel.Shown, error) {
	if x.epoch.Load() != x.o.Epoch() {
		return readmodel.Shown{}, readmodel.ErrForeign
	}
	return *x.shown.Load(), ctx.Err()
}

// Wait waits until Visible is at least p.
func (x *Index) Wait(ctx context.Context, p calendar.Position) error {
	for {
		moved := *x.moved.Load() // before the look at the position
		if x.shown.Load().Position >= p {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Search answers a query; one that does not fit the schema is ErrQuery.
func (x *Index) Search(ctx context.Context, q readmodel.Query) (readmodel.Page, error) {
	if err := ctx.Err(); err != nil {
		return readmodel.Page{}, err
	}
	if err := readmodel.Check(q); err != nil {
		return readmodel.Page{}, err
	}
	page, found, err := x.search(ctx, q, func(*kindIndex, result) {})
	if err != nil {
		return readmodel.Page{}, err
	}
	if len(found) > 0 {
		page.Documents = make([]readmodel.Document, len(found))
	}
	for i := range found {
		d, err := x.document(&found[i])
		if err != nil {
			return readmodel.Page{}, err
		}
		page.Documents[i] = *d
		page.Documents[i].Repeats = found[i].repeats
	}
	return page, nil
}

// search finds the documents of a page; they are decoded outside of the lock. also is
// called with what the filter admits, while the lock is held.
func (x *Index) search(ctx context.Context, q readmodel.Query, also func(*kindIndex, result)) (page readmodel.Page, out []found, err error) {
	first := readmodel.Sort{Field: readmodel.FieldID}
	if len(q.Sort) > 0 {
		first = q.Sort[0]
	}
	filters := make([]readmodel.Filter, 1+len(q.Tallies)) // of the page, and of the tallies
	filters[0] = readmodel.Both(q.Filter, q.Narrow)
	tallied := make([][]readmodel.Tallied, len(q.Tallies))
	for i := range q.Tallies {
		filters[1+i] = readmodel.Both(q.Filter, q.Tallies[i].Filter)
		tallied[i] = make([]readmodel.Tallied, len(q.Tallies[i].Tallies))
	}
	err = x.answers(ctx, q.Kind, filters, first, func(e *evaluation, i int, res result) {
		if i > 0 {
			clear(e.counted)
			for j := range tallied[i-1] {
				tallied[i-1][j] = e.tally(res, &q.Tallies[i-1].Tallies[j])
			}
			return
		}
		page = readmodel.Page{Total: res.count(), Position: x.marks.All.Position, Tallied: tallied}
		defer also(e.k, res)
		if q.Collapse != nil {
			page.Total, out = e.collapse(res, &q)
			return
		}
		ords := e.pageOf(res, page.Total, &q)
		out = make([]found, len(ords))
		for i, o := range ords {
			out[i] = e.k.found(o)
		}
	})
	return page, out, err
}

// found is a document as it is kept; the bytes are never changed.
type found struct {
	id       calendar.ID
	position calendar.Position
	sum      uint64 // calendar.Record.Sum
	body     []byte // packed
	repeats  *readmodel.Repeats
}

func (k *kindIndex) found(o uint32) found {
	return found{k.ids[o], k.docs[o].position, k.docs[o].sum, k.docs[o].body(), nil}
}

// document decodes a document, or finds it among the decoded ones.
func (x *Index) document(f *found) (*readmodel.Document, error) {
	slot := &x.records[uint64(f.id)&uint64(len(x.records)-1)]
	if d := slot.Load(); d != nil && d.Record.ID == f.id && d.Position == f.position && d.Record.Sum == f.sum {
		return d, nil
	}
	body, err := compact.Unpack(nil, f.body)
	if err != nil {
		return nil, fmt.Errorf("unpack document %d: %w", f.id, err)
	}
	r, err := calendar.DecodeText(unsafe.String(unsafe.SliceData(body), len(body))) //nolint:gosec // body is never changed
	if err != nil {
		return nil, fmt.Errorf("read document %d: %w", f.id, err)
	}
	d := &readmodel.Document{Position: f.position, Record: r, Body: body}
	if r.Kind != calendar.KindEvent { // what events link to is read with most lists, an event with few
		slot.Store(d)
	}
	return d, nil
}

// Get gives the live documents of ids.
func (x *Index) Get(ctx context.Context, ids []calendar.ID) (map[calendar.ID]readmodel.Document, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := make(map[calendar.ID]readmodel.Document, len(ids))
	for _, f := range x.get(ids) {
		d, err := x.document(&f)
		if err != nil {
			return nil, err
		}
		out[f.id] = *d
	}
	return out, nil
}

func (x *Index) get(ids []calendar.ID) []found {
	x.mu.RLock()
	defer x.mu.RUnlock()
	out := make([]found, 0, len(ids))
	for _, id := range ids {
		if at, ok := x.at(id); ok {
			out = append(out, x.kinds[at.kind].found(at.ordinal))
		}
	}
	return out
}

// Counts counts the admitted documents by the values of an id field.
func (x *Index) Counts(ctx context.Context, kind calendar.Kind, field string, f readmodel.Filter) (map[calendar.ID]int, error) {
	return x.countsOf(ctx, kind, field, f, nil)
}

// CountsOf gives the counts of some ids.
func (x *Index) CountsOf(ctx context.Context, kind calendar.Kind, field string, f readmodel.Filter, ids []calendar.ID) (map[calendar.ID]int, error) {
	if ids == nil {
		ids = []calendar.ID{}
	}
	return x.countsOf(ctx, kind, field, f, ids)
}

// countsOf gives the counts of some ids; nil is all.
func (x *Index) countsOf(ctx context.Context, kind calendar.Kind, field string, f readmodel.Filter, ids []calendar.ID) (map[calendar.ID]int, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := readmodel.CheckCounts(kind, field, f); err != nil {
		return nil, err
	}
	if field == readmodel.FieldID && ids != nil {
		f = readmodel.And{readmodel.In{Field: field, IDs: ids}, f}
	}
	out := map[calendar.ID]int{}
	var found []calendar.ID
	err := x.answer(ctx, kind, f, func(k *kindIndex, res result) {
		if field != readmodel.FieldID {
			out = k.counts(res, field, ids)
			return
		}
		found = make([]calendar.ID, 0, res.count())
		res.each(func(o uint32) bool {
			found = append(found, k.ids[o])
			return true
		})
	})
	if err != nil {
		return nil, err
	}
	for _, id := range found {
		out[id] = 1
	}
	return out, nil
}

// Quarantined gives the quarantined records, by id.
func (x *Index) Quarantined(ctx context.Context) ([]readmodel.Quarantined, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if len(x.quarantined) == 0 {
		return nil, nil
	}
	return x.sortedQuarantine(), nil
}

func (x *Index) sortedQuarantine() []readmodel.Quarantined {
	return slices.SortedFunc(maps.Values(x.quarantined), func(a, b readmodel.Quarantined) int { return int(a.ID - b.ID) })
}

// Digest sums up the live documents; it is kept up to date by each write.
func (x *Index) Digest(ctx context.Context) (readmodel.Digest, error) {
	if err := ctx.Err(); err != nil {
		return readmodel.Digest{}, err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	d := x.digest
	d.Counts = maps.Clone(d.Counts)
	return d, nil
}

// Reset empties the index, its marks included.
func (x *Index) Reset(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	x.writing.Lock()
	defer x.writing.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.writes++
	x.empty()
	return nil
}
