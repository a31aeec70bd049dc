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

func newLayer(s *segment) layer {
	live := newBitset(len(s.Docs))
	for o := range s.Docs {
		live.set(uint32(o))
	}
	return layer{s, live, len(s.Docs)}
}

// mergeable returns the layers that are to be merged with some new documents, nil when
// there are none: all that are smaller than two thirds of what is merged already; or, without
// new documents, one that lost most of its own. At two thirds a document is built a third less
// often than at the whole, and a query meets as many layers.
func mergeable(layers []layer, fresh int) []layer {
	bySize := slices.SortedFunc(slices.Values(layers), func(a, b layer) int { return cmp.Compare(a.n, b.n) })
	sum, last := fresh, 0
	for i, l := range bySize {
		if 3*l.n < 2*sum {
			last = i + 1
		}
		sum += l.n
	}
	if last > 0 || fresh > 0 {
		return bySize[:last]
	}
	for i, l := range layers {
		if 2*l.n < len(l.Docs) {
			return layers[i : i+1]
		}
	}
	return nil
}

// schedule merges what is to be merged of a kind in the background. The caller holds
// writing.
func (x *Index) schedule(kind calendar.Kind) {
	if x.scheduled[kind] || len(mergeable(x.current.Load().kinds[kind], 0)) == 0 {
		return
	}
	x.scheduled[kind] = true
	x.background.Go(func() {
		x.mergeAll(kind)
	})
}

// mergeAll merges as long as there is something to be merged.
func (x *Index) mergeAll(kind calendar.Kind) {
	x.merging.Lock()
	defer x.merging.Unlock()
	for {
		x.writing.Lock()
		some := mergeable(x.current.Load().kinds[kind], 0)
		x.scheduled[kind] = len(some) > 0
		x.writing.Unlock()
		if len(some) == 0 {
			return
		}
		x.merge(kind, some)
	}
}

// merge puts one segment in the place of some layers, unless all of them are gone. What was
// removed from them meanwhile is not current in it. The caller holds merging.
func (x *Index) merge(kind calendar.Kind, old []layer) {
	merged := build(readmodel.SchemaOf(kind), old, nil)
	x.writing.Lock()
	defer x.writing.Unlock()
	next := *x.current.Load()
	l := newLayer(merged)
	layers := slices.Clone(next.kinds[kind])
	for _, o := range old {
		removed := slices.Clone(o.live)
		if at := slices.IndexFunc(layers, func(present layer) bool { return present.segment == o.segment }); at >= 0 {
			removed.andNot(layers[at].live)
			layers = slices.Delete(layers, at, at+1)
		}
		for at := range removed.each {
			place, _ := merged.ordinal(o.Docs[at].ID)
			l.live.clear(place)
		}
	}
	if len(layers) == len(next.kinds[kind]) {
		return // another generation
	}
	if l.n = l.live.count(); l.n > 0 {
		layers = append([]layer{l}, layers...)
	}
	next.kinds[kind] = layers
	x.current.Store(&next)
}

// purge makes all segments without documents that are gone.
func (x *Index) purge() {
	x.merging.Lock()
	defer x.merging.Unlock()
	for kind := range x.current.Load().kinds {
		for _, l := range x.current.Load().kinds[kind] {
			if l.n < len(l.Docs) {
				x.merge(calendar.Kind(kind), []layer{l})
			}
		}
	}
}
