package memindex

import (
	"cmp"
	"slices"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// immediately is the number of documents up to which segments are merged by the writer with
// the documents of a batch, before these are visible.
const immediately = 64

func newLayer(segment *segment) liveSegment {
	live := newBitset(len(segment.Docs))
	for o := range segment.Docs {
		live.set(uint32(o))
	}
	return liveSegment{segment, live, len(segment.Docs)}
}

// mergeable returns the layers that are to be merged with some new documents, nil when
// there are none: all that are smaller than two thirds of what is merged already; or, without
// new documents, one that lost a third of its own, whose texts stay in memory until then. At
// two thirds a document is built a third less often than at the whole, and a query meets as
// many layers.
func mergeable(layers []liveSegment, fresh int) []liveSegment {
	bySize := slices.SortedFunc(slices.Values(layers), func(a, b liveSegment) int { return cmp.Compare(a.number, b.number) })
	sum, last := fresh, 0
	for i, segment := range bySize {
		if 3*segment.number < 2*sum {
			last = i + 1
		}
		sum += segment.number
	}
	if last > 0 || fresh > 0 {
		return bySize[:last]
	}
	for i, segment := range layers {
		if 3*segment.number < 2*len(segment.Docs) {
			return layers[i : i+1]
		}
	}
	return nil
}

// schedule merges what is to be merged of a kind in the background. The caller holds
// writing.
func (index *Index) schedule(kind calendar.Kind) {
	if index.scheduled[kind] || len(mergeable(index.current.Load().kinds[kind], 0)) == 0 {
		return
	}
	index.scheduled[kind] = true
	index.background.Go(func() {
		index.mergeAll(kind)
	})
}

// mergeAll merges as long as there is something to be merged.
func (index *Index) mergeAll(kind calendar.Kind) {
	index.merging.Lock()
	defer index.merging.Unlock()
	for {
		index.writing.Lock()
		some := mergeable(index.current.Load().kinds[kind], 0)
		index.scheduled[kind] = len(some) > 0
		index.writing.Unlock()
		if len(some) == 0 {
			return
		}
		index.merge(kind, some)
	}
}

// merge puts one segment in the place of some layers, unless all of them are gone. What was
// removed from them meanwhile is not current in it. The caller holds merging.
func (index *Index) merge(kind calendar.Kind, old []liveSegment) {
	merged := build(readmodel.SchemaOf(kind), old, nil)
	index.writing.Lock()
	defer index.writing.Unlock()
	next := *index.current.Load()
	segment := newLayer(merged)
	layers := slices.Clone(next.kinds[kind])
	for _, o := range old {
		removed := slices.Clone(o.live)
		if offset := slices.IndexFunc(layers, func(present liveSegment) bool { return present.segment == o.segment }); offset >= 0 {
			removed.andNot(layers[offset].live)
			layers = slices.Delete(layers, offset, offset+1)
		}
		for ordinal := range removed.each {
			place, _ := merged.ordinal(o.Docs[ordinal].ID)
			segment.live.clear(place)
		}
	}
	if len(layers) == len(next.kinds[kind]) {
		return // another generation
	}
	if segment.number = segment.live.count(); segment.number > 0 {
		layers = append([]liveSegment{segment}, layers...)
	}
	next.kinds[kind] = layers
	index.current.Store(&next)
}

// purge makes all segments without documents that are gone.
func (index *Index) purge() {
	index.merging.Lock()
	defer index.merging.Unlock()
	for kind := range index.current.Load().kinds {
		for _, segment := range index.current.Load().kinds[kind] {
			if segment.number < len(segment.Docs) {
				index.merge(calendar.Kind(kind), []liveSegment{segment})
			}
		}
	}
}
