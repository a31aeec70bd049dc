package memindex

import (
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"daybook/calendar"
)

// Copy gives an index with the same content, which then changes by itself; it has no
// snapshots. The bytes of documents, most of the memory, are those of both. Writes wait
// meanwhile, searches do not.
func (x *Index) Copy() (*Index, error) {
	y, err := New(x.o)
	if err != nil {
		return nil, err
	}
	x.writing.Lock()
	defer x.writing.Unlock()
	head := reader{b: x.appendHead(nil)}
	_ = head.bytes(uint64(len(fingerprint())))
	y.readHead(&head)
	var workers errgroup.Group
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i := calendar.KindEvent; i <= calendar.KindUser; i++ {
		from, to := x.kinds[i], y.kinds[i]
		to.docs, to.ids, to.live, to.blocks = slices.Clone(from.docs), slices.Clone(from.ids), slices.Clone(from.live), nil
		for l := range from.texts.home {
			to.texts.home[l] = slices.Clone(from.texts.home[l])
		}
		for _, add := range from.builders() {
			workers.Go(func() error {
				var m image
				add(&m)
				for at, f := range m.frames {
					r := reader{b: m.built[at]}
					if to.readFrame(f, &r, nil); r.bad || len(r.b) > 0 {
						return fmt.Errorf("copy of a memory index: %w: frame %+v", errDamaged, f)
					}
				}
				return nil
			})
		}
	}
	if err := workers.Wait(); err != nil {
		return nil, err
	}
	y.placeAll()
	y.writes = x.writes
	y.epoch.Store(x.epoch.Load())
	y.show()
	return y, nil
}
