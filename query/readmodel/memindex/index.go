// Package memindex is the read model in memory: immutable segments of documents, and a
// state that names the segments and their current documents.
package memindex

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"daybook/calendar"
	"daybook/internal/ground/compact"
	"daybook/query/readmodel"
)

// Options are the settings of an Index; the zero value works.
type Options struct {
	// Logger gets a warning when a snapshot is not used; nil: slog.Default.
	Logger *slog.Logger
	// Holds reports whether the event store has the history of a mark. A snapshot of
	// another one is not used. nil: it is not asked.
	Holds func(context.Context, calendar.Mark) (bool, error)
	// Epoch changes when the event store goes over to another history: what was filled
	// or loaded before is readmodel.ErrForeign then. nil: never.
	Epoch func() uint64
	// NoTexts leaves out what searches need: they find nothing.
	NoTexts bool
	// Once says that documents are written once, and never compared or saved: their texts
	// are not packed, and the digest counts them only.
	Once bool
	// Former is the path of the generation that the last one replaced; "": none is kept.
	Former string
}

// state is what a read sees. It never changes.
type state struct {
	kinds       [calendar.KindTag + 1][]layer
	stamps      [calendar.KindTag + 1]uint64 // of the documents of a kind
	marks       readmodel.Marks
	content     uint64 // sum of the hashes of the documents
	quarantined map[calendar.ID]readmodel.Quarantined
}

// stamps number the states of kinds.
var stamps atomic.Uint64

// documents is the number of current documents.
func (s *state) documents() (n int) {
	for _, layers := range s.kinds {
		for _, layer := range layers {
			n += layer.n
		}
	}
	return n
}

// get returns the current document of an id.
func (s *state) get(id calendar.ID) (l layer, o uint32, found bool) {
	for _, layers := range s.kinds {
		for _, l := range layers {
			if o, known := l.ordinal(id); known && l.live.has(o) {
				return l, o, true
			}
		}
	}
	return layer{}, 0, false
}

func (s *state) shown() readmodel.Shown {
	return readmodel.Shown{Mark: s.marks.All, Content: s.content}
}

// Index implements readmodel.Index in memory. What is written is visible at once: a read
// sees whole batches only.
type Index struct {
	o    Options
	path string // of snapshots; "": none

	current atomic.Pointer[state]
	moved   atomic.Pointer[chan struct{}] // closed and replaced when the position grows

	writing    sync.Mutex                        // held by a writer
	gone       map[calendar.ID]calendar.Position // tombstones
	generation uint64                            // that was put in place
	bound      uint64                            // the one of the writer
	writes     uint64                            // changes of the state
	taken      chan struct{}                     // closed and replaced when another one is put in place
	epoch      atomic.Uint64                     // see Options.Epoch
	erased     chan struct{}                     // has one when the document of an erased record was written

	merging    sync.Mutex // held while segments are merged
	background sync.WaitGroup
	scheduled  [calendar.KindTag + 1]bool // a merge in the background; under writing

	saving sync.Mutex
	next   *Index       // the coming generation; under saving
	saved  uint64       // writes at the last snapshot; under saving
	since  atomic.Int64 // documents that changed after it

	records [1024]atomic.Pointer[readmodel.Document] // decoded, of other kinds than events; by id
}

// New returns an empty Index; it starts nothing.
func New(options Options) *Index {
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	if options.Epoch == nil {
		options.Epoch = func() uint64 { return 0 }
	}
	index := &Index{o: options, gone: map[calendar.ID]calendar.Position{}, taken: make(chan struct{}), erased: make(chan struct{}, 1)}
	moved := make(chan struct{})
	index.moved.Store(&moved)
	index.epoch.Store(index.o.Epoch())
	s := &state{quarantined: map[calendar.ID]readmodel.Quarantined{}}
	for kind := range s.stamps {
		s.stamps[kind] = stamps.Add(1)
	}
	index.current.Store(s)
	return index
}

// view implements readmodel.View: no state changes.
type view struct {
	*state
	x *Index
}

// View implements readmodel.Index.
func (x *Index) View(ctx context.Context) (readmodel.View, error) {
	if x.epoch.Load() != x.o.Epoch() {
		return nil, readmodel.ErrForeign
	}
	return &view{x.current.Load(), x}, ctx.Err()
}

// Shown implements readmodel.View.
func (v *view) Shown() readmodel.Shown { return v.shown() }

// Close implements readmodel.View.
func (v *view) Close() {}

// Stamp implements readmodel.View.
func (v *view) Stamp(ctx context.Context, kind calendar.Kind) (uint64, error) {
	return v.stamps[kind], ctx.Err()
}

// show makes a state visible.
func (x *Index) show(s *state) {
	before := x.current.Swap(s)
	if s.marks.All.Position > before.marks.All.Position {
		moved := make(chan struct{})
		close(*x.moved.Swap(&moved))
	}
}

// Write implements readmodel.Index. It fails as a whole only when the context has ended.
func (x *Index) Write(ctx context.Context, batch readmodel.Batch) ([]error, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	errs := make([]error, len(batch.Documents))
	newest := map[calendar.ID]*readmodel.Document{}
	for i := range batch.Documents {
		document := &batch.Documents[i]
		if errs[i] = document.Check(); errs[i] == nil && (newest[document.Record.ID] == nil || newest[document.Record.ID].Position < document.Position) {
			newest[document.Record.ID] = document
		}
	}
	entries := analyseAll(newest, &x.o)
	x.writing.Lock()
	defer x.writing.Unlock()
	if x.bound != x.generation {
		return nil, readmodel.ErrMoved
	}
	x.writes++
	before := x.current.Load()
	next := *before
	w := change{x: x, state: &next, removed: map[*segment]bitset{}}
	for i := range entries {
		w.apply(&entries[i])
	}
	w.finish()
	next.quarantined = maps.Clone(before.quarantined)
	for _, id := range batch.Healed {
		delete(next.quarantined, id)
	}
	for _, quarantined := range batch.Quarantined {
		next.quarantined[quarantined.ID] = quarantined
	}
	for _, mark := range [...]calendar.Mark{batch.Reach, batch.Mark} {
		if mark.Position > next.marks.Reach.Position {
			next.marks.Reach = mark
		}
	}
	if batch.Mark.Position > next.marks.All.Position {
		next.marks.All = batch.Mark
	}
	x.show(&next)
	for i := range entries { // after that: a reader who caches one now sees that it is gone
		if entries[i].record.Deleted {
			x.cached(entries[i].ID).Store(nil)
		}
	}
	for kind := range next.kinds {
		x.schedule(calendar.Kind(kind))
	}
	return errs, nil
}

// analyseAll prepares documents on all processors.
func analyseAll(docs map[calendar.ID]*readmodel.Document, options *Options) []entry {
	entries := make([]entry, len(docs))
	tasks := make([]func(), 0, len(docs))
	for _, document := range docs {
		e := &entries[len(tasks)]
		tasks = append(tasks, func() { *e = analyse(readmodel.SchemaOf(document.Record.Kind), document, options) })
	}
	do(len(docs) >= 16, tasks)
	return entries
}

// change is a batch on its way into a state, with one document of an id at most.
type change struct {
	x       *Index
	state   *state
	removed map[*segment]bitset // current documents without those that go
	fresh   [calendar.KindTag + 1][]*entry
}

// apply applies a document that is newer than the one that is held.
func (w *change) apply(e *entry) {
	layer, o, found := w.state.get(e.ID)
	if e.Position <= w.x.gone[e.ID] || found && e.Position <= layer.Docs[o].Position {
		return
	}
	w.x.since.Add(1)
	if found {
		w.state.content -= layer.Docs[o].hash()
		if w.removed[layer.segment] == nil {
			w.removed[layer.segment] = slices.Clone(layer.live)
		}
		w.removed[layer.segment].clear(o)
	}
	if !e.record.Deleted {
		delete(w.x.gone, e.ID)
		w.state.content += e.hash()
		w.fresh[e.record.Kind] = append(w.fresh[e.record.Kind], e)
		return
	}
	w.x.gone[e.ID] = e.Position
	if e.record.Erased {
		select {
		case w.x.erased <- struct{}{}:
		default:
		}
	}
}

// hash names a document, so that any two indices with the same documents have the same
// content.
func (d *doc) hash() uint64 { return uint64(calendar.HashStart.Number(uint64(d.Position))) }

// finish puts the fresh documents into segments.
func (w *change) finish() {
	for kind, layers := range w.state.kinds {
		changed := len(w.fresh[kind]) > 0
		kept := make([]layer, 0, len(layers)+1)
		for _, l := range layers {
			if live := w.removed[l.segment]; live != nil {
				l.live, l.n, changed = live, live.count(), true
			}
			if l.n > 0 {
				kept = append(kept, l)
			}
		}
		if !changed {
			continue
		}
		w.state.stamps[kind] = stamps.Add(1)
		if fresh := w.fresh[kind]; len(fresh) > 0 {
			kept = withFresh(readmodel.SchemaOf(calendar.Kind(kind)), kept, fresh)
		}
		w.state.kinds[kind] = kept
	}
}

// withFresh adds a layer of new documents, merged with those of the small ones.
func withFresh(schema *readmodel.Schema, layers []layer, fresh []*entry) []layer {
	small, n := mergeable(layers, len(fresh)), len(fresh)
	for _, l := range small {
		n += l.n
	}
	if n > immediately {
		small = nil
	}
	merged := newLayer(build(schema, small, fresh))
	return append(slices.DeleteFunc(layers, func(l layer) bool {
		return slices.ContainsFunc(small, func(s layer) bool { return s.segment == l.segment })
	}), merged)
}

// cached returns where the decoded record of an id is cached.
func (x *Index) cached(id calendar.ID) *atomic.Pointer[readmodel.Document] {
	return &x.records[uint64(id)%uint64(len(x.records))]
}

// document decodes a document, or returns the cached one.
func (x *Index) document(d *doc) (*readmodel.Document, error) {
	slot := x.cached(d.ID)
	if known := slot.Load(); known != nil && known.Record.ID == d.ID && known.Position == d.Position && known.Record.Sum == d.Sum {
		return known, nil
	}
	body := d.Body
	if !x.o.Once {
		var err error
		if body, err = compact.Unpack(nil, d.Body); err != nil {
			return nil, fmt.Errorf("unpack document %d: %w", d.ID, err)
		}
	}
	record, err := calendar.DecodeRecord(unsafe.String(unsafe.SliceData(body), len(body))) //nolint:gosec // body is never changed
	if err != nil {
		return nil, fmt.Errorf("read document %d: %w", d.ID, err)
	}
	out := &readmodel.Document{Position: d.Position, Record: record, Body: body}
	if record.Kind != calendar.KindEvent { // what events link to is read with most lists, an event with few
		slot.Store(out)
		if _, _, found := x.current.Load().get(d.ID); !found { // else what was erased meanwhile stays
			slot.CompareAndSwap(out, nil)
		}
	}
	return out, nil
}

// Marks implements readmodel.Index. It binds the writer to what answers.
func (x *Index) Marks(ctx context.Context) (readmodel.Marks, error) {
	x.writing.Lock()
	defer x.writing.Unlock()
	x.bound = x.generation
	return x.current.Load().marks, ctx.Err()
}

// Visible implements readmodel.Index: what is written is visible at once.
func (x *Index) Visible(ctx context.Context) (readmodel.Shown, error) {
	if x.epoch.Load() != x.o.Epoch() {
		return readmodel.Shown{}, readmodel.ErrForeign
	}
	return x.current.Load().shown(), ctx.Err()
}

// Wait implements readmodel.Index.
func (x *Index) Wait(ctx context.Context, position calendar.Position) error {
	for {
		moved := *x.moved.Load() // before the look at the position
		if x.current.Load().marks.All.Position >= position {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Get implements readmodel.View.
func (v *view) Get(ctx context.Context, ids []calendar.ID) (map[calendar.ID]readmodel.Document, error) {
	out := make(map[calendar.ID]readmodel.Document, len(ids))
	for _, id := range ids {
		layer, o, found := v.get(id)
		if !found {
			continue
		}
		document, err := v.x.document(&layer.Docs[o])
		if err != nil {
			return nil, err
		}
		out[id] = *document
	}
	return out, ctx.Err()
}

// Quarantined implements readmodel.Index.
func (x *Index) Quarantined(ctx context.Context) ([]readmodel.Quarantined, error) {
	return slices.SortedFunc(maps.Values(x.current.Load().quarantined), func(a, b readmodel.Quarantined) int { return int(a.ID - b.ID) }), ctx.Err()
}
