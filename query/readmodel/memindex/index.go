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
	// Once reads the record of a document, whose own one has the kind and the id only, when it
	// is not nil: then documents are written once, and never compared or saved, so that their
	// texts are not packed, and the digest counts them only.
	Once func(*readmodel.Document) *calendar.Record
	// Former is the path of the generation that the last one replaced; "": none is kept.
	Former string
}

// state is what a read sees. It never changes.
type state struct {
	kinds       [calendar.KindTag + 1][]liveSegment
	stamps      [calendar.KindTag + 1]uint64 // of the documents of a kind
	marks       readmodel.Marks
	content     uint64 // sum of the hashes of the documents
	quarantined map[calendar.ID]readmodel.Quarantined
}

// stamps number the states of kinds.
var stamps atomic.Uint64

// documents is the number of current documents.
func (state *state) documents() (count int) {
	for _, layers := range state.kinds {
		for _, layer := range layers {
			count += layer.number
		}
	}
	return count
}

// get returns the current document of an id.
func (state *state) get(id calendar.ID) (segment liveSegment, ordinal uint32, found bool) {
	for _, layers := range slices.Backward(state.kinds[:]) { // events are the most
		for _, l := range layers {
			if o, known := l.ordinal(id); known && l.live.has(o) {
				return l, o, true
			}
		}
	}
	return liveSegment{}, 0, false
}

func (state *state) shown() readmodel.VisibleState {
	return readmodel.VisibleState{Mark: state.marks.All, Content: state.content}
}

// Index implements readmodel.Index in memory. What is written is visible at once: a read
// sees whole batches only.
type Index struct {
	options Options
	path    string // of snapshots; "": none

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
	index := &Index{options: options, gone: map[calendar.ID]calendar.Position{}, taken: make(chan struct{}), erased: make(chan struct{}, 1)}
	moved := make(chan struct{})
	index.moved.Store(&moved)
	index.epoch.Store(index.options.Epoch())
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
	index *Index
}

// View implements readmodel.Index.
func (index *Index) View(ctx context.Context) (readmodel.View, error) {
	if index.epoch.Load() != index.options.Epoch() {
		return nil, readmodel.ErrForeign
	}
	return &view{index.current.Load(), index}, ctx.Err()
}

// Shown implements readmodel.View.
func (view *view) Shown() readmodel.VisibleState { return view.shown() }

// Close implements readmodel.View.
func (view *view) Close() {}

// Stamp implements readmodel.View.
func (view *view) Stamp(ctx context.Context, kind calendar.Kind) (uint64, error) {
	return view.stamps[kind], ctx.Err()
}

// show makes a state visible.
func (index *Index) show(state *state) {
	before := index.current.Swap(state)
	if state.marks.All.Position > before.marks.All.Position {
		moved := make(chan struct{})
		close(*index.moved.Swap(&moved))
	}
}

// Write implements readmodel.Index. It fails as a whole only when the context has ended.
func (index *Index) Write(ctx context.Context, batch readmodel.Batch) ([]error, error) {
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
	entries := analyseAll(newest, &index.options)
	index.writing.Lock()
	defer index.writing.Unlock()
	if index.bound != index.generation {
		return nil, readmodel.ErrMoved
	}
	index.writes++
	before := index.current.Load()
	next := *before
	w := change{index: index, state: &next, removed: map[*segment]bitset{}}
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
	index.show(&next)
	for i := range entries { // after that: a reader who caches one now sees that it is gone
		if entries[i].record.Deleted {
			index.cached(entries[i].ID).Store(nil)
		}
	}
	for kind := range next.kinds {
		index.schedule(calendar.Kind(kind))
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
	do(len(docs) >= 4, tasks)
	return entries
}

// change is a batch on its way into a state, with one document of an id at most.
type change struct {
	index   *Index
	state   *state
	removed map[*segment]bitset // current documents without those that go
	fresh   [calendar.KindTag + 1][]*entry
}

// apply applies a document that is newer than the one that is held.
func (change *change) apply(entry *entry) {
	layer, ordinal, found := change.state.get(entry.ID)
	if entry.Position <= change.index.gone[entry.ID] || found && entry.Position <= layer.Docs[ordinal].Position {
		return
	}
	change.index.since.Add(1)
	if found {
		change.state.content -= layer.Docs[ordinal].hash()
		if change.removed[layer.segment] == nil {
			change.removed[layer.segment] = slices.Clone(layer.live)
		}
		change.removed[layer.segment].clear(ordinal)
	}
	if !entry.record.Deleted {
		delete(change.index.gone, entry.ID)
		change.state.content += entry.hash()
		change.fresh[entry.record.Kind] = append(change.fresh[entry.record.Kind], entry)
		return
	}
	change.index.gone[entry.ID] = entry.Position
	if entry.record.Erased {
		select {
		case change.index.erased <- struct{}{}:
		default:
		}
	}
}

// hash names a document, so that any two indices with the same documents have the same
// content.
func (doc *doc) hash() uint64 { return uint64(calendar.HashStart.Number(uint64(doc.Position))) }

// finish puts the fresh documents into segments.
func (change *change) finish() {
	for kind, layers := range change.state.kinds {
		changed := len(change.fresh[kind]) > 0
		kept := make([]liveSegment, 0, len(layers)+1)
		for _, segment := range layers {
			if live := change.removed[segment.segment]; live != nil {
				segment.live, segment.number, changed = live, live.count(), true
			}
			if segment.number > 0 {
				kept = append(kept, segment)
			}
		}
		if !changed {
			continue
		}
		change.state.stamps[kind] = stamps.Add(1)
		if fresh := change.fresh[kind]; len(fresh) > 0 {
			kept = withFresh(readmodel.SchemaOf(calendar.Kind(kind)), kept, fresh)
		}
		change.state.kinds[kind] = kept
	}
}

// withFresh adds a layer of new documents, merged with those of the small ones.
func withFresh(schema *readmodel.Schema, layers []liveSegment, fresh []*entry) []liveSegment {
	small, count := mergeable(layers, len(fresh)), len(fresh)
	for _, segment := range small {
		count += segment.number
	}
	if count > immediately {
		small = nil
	}
	merged := newLayer(build(schema, small, fresh))
	return append(slices.DeleteFunc(layers, func(segment liveSegment) bool {
		return slices.ContainsFunc(small, func(s liveSegment) bool { return s.segment == segment.segment })
	}), merged)
}

// cached returns where the decoded record of an id is cached.
func (index *Index) cached(id calendar.ID) *atomic.Pointer[readmodel.Document] {
	return &index.records[uint64(id)%uint64(len(index.records))]
}

// maxCached is how many bytes of JSON a cached record may have.
const maxCached = 32 << 10

// document decodes a document, or returns the cached one.
func (index *Index) document(doc *doc) (*readmodel.Document, error) {
	slot := index.cached(doc.ID)
	if known := slot.Load(); known != nil && known.Position == doc.Position && known.Record.Sum == doc.Sum {
		return known, nil
	}
	body := doc.Body
	if index.options.Once == nil {
		var err error
		if body, err = compact.Unpack(nil, doc.Body); err != nil {
			return nil, fmt.Errorf("unpack document %d: %w", doc.ID, err)
		}
	}
	record, err := calendar.DecodeRecord(unsafe.String(unsafe.SliceData(body), len(body))) //nolint:gosec // body is never changed
	if err != nil {
		return nil, fmt.Errorf("read document %d: %w", doc.ID, err)
	}
	document := &readmodel.Document{Position: doc.Position, Record: record, Body: body}
	if record.Kind != calendar.KindEvent && len(body) <= maxCached { // what events link to is read with most lists, an event with few
		slot.Store(document)
		if _, _, found := index.current.Load().get(doc.ID); !found { // else what was erased meanwhile stays
			slot.CompareAndSwap(document, nil)
		}
	}
	return document, nil
}

// Marks implements readmodel.Index. It binds the writer to what answers.
func (index *Index) Marks(ctx context.Context) (readmodel.Marks, error) {
	index.writing.Lock()
	defer index.writing.Unlock()
	index.bound = index.generation
	return index.current.Load().marks, ctx.Err()
}

// Visible implements readmodel.Index: what is written is visible at once.
func (index *Index) Visible(ctx context.Context) (readmodel.VisibleState, error) {
	if index.epoch.Load() != index.options.Epoch() {
		return readmodel.VisibleState{}, readmodel.ErrForeign
	}
	return index.current.Load().shown(), ctx.Err()
}

// Wait implements readmodel.Index.
func (index *Index) Wait(ctx context.Context, position calendar.Position) error {
	for {
		moved := *index.moved.Load() // before the look at the position
		if index.current.Load().marks.All.Position >= position {
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
func (view *view) Get(ctx context.Context, ids ...calendar.ID) ([]*calendar.Record, error) {
	records := make([]*calendar.Record, len(ids))
	for i, id := range ids {
		layer, ordinal, found := view.get(id)
		if !found {
			continue
		}
		document, err := view.index.document(&layer.Docs[ordinal])
		if err != nil {
			return nil, err
		}
		records[i] = document.Record
	}
	return records, ctx.Err()
}

// Quarantined implements readmodel.Index.
func (index *Index) Quarantined(ctx context.Context) ([]readmodel.Quarantined, error) {
	return slices.SortedFunc(maps.Values(index.current.Load().quarantined), func(a, b readmodel.Quarantined) int { return int(a.ID - b.ID) }), ctx.Err()
}
