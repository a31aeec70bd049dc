package query

import (
	"context"
	"sync/atomic"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// head is what an answer to anonymous callers needs of an event beside what is
// rendered of it alone. It holds for one content of the record, in whatever history.
type head struct {
	id      calendar.ID
	version int64
	sum     uint64 // calendar.Record.Sum
	changed time.Time
	status  calendar.Status
	blanked bool
	links   links
}

// heads are the events that were read last. A head takes about 200 bytes, so all
// of them take some 7 MB at most. The zero value is ready.
type heads [1 << 15]atomic.Pointer[head]

// get gives the head of an event by the sum of its record, nil when it is not there.
func (t *heads) get(id calendar.ID, sum uint64) *head {
	if h := t[uint64(id)%uint64(len(t))].Load(); h != nil && h.id == id && h.sum == sum {
		return h
	}
	return nil
}

// keep takes the head of a document and gives it; nil when it is not that of an
// event, or of one whose status depends on the moment.
func (t *heads) keep(d *readmodel.Document) *head {
	r := d.Record
	status := calendar.Status(r.Fields.String("status"))
	if r.Kind != calendar.KindEvent || r.Deleted || status == calendar.StatusFuture {
		return nil
	}
	h := &head{
		id: r.ID, version: r.Version, sum: r.Sum, changed: r.Changed, status: status,
		blanked: calendar.NeedsPassword(calendar.Caller{}, r), links: linksOf(r),
	}
	t[uint64(h.id)%uint64(len(t))].Store(h)
	return h
}

// Whole fills in the records of lean views, all of them with one multi-get. It is
// false when one has changed meanwhile, so that its view does not hold any more.
func (s *Service) Whole(ctx context.Context, views ...*View) (bool, error) {
	ids := make([]calendar.ID, 0, len(views))
	for _, v := range views {
		if v.Record == nil {
			ids = append(ids, v.known.id)
		}
	}
	if len(ids) == 0 {
		return true, nil
	}
	found, err := s.index.Get(ctx, ids)
	if err != nil {
		return false, err
	}
	for _, v := range views {
		if v.Record != nil {
			continue
		}
		d, ok := found[v.known.id]
		if !ok || d.Record.Version != v.known.version || d.Record.Sum != v.known.sum {
			return false, nil
		}
		v.Record = d.Record
	}
	return true, nil
}

// Glance gives the lean view of an event that everybody may read, as Read and
// View would give it to an anonymous caller, from an index in this process that
// shows all that the store has. In every other case, errors too, it is false and
// Read tells.
func (s *Service) Glance(ctx context.Context, id calendar.ID, l calendar.Lang, e Embeds) (View, bool) {
	index, local := s.index.(readmodel.Summer)
	if !local || !s.o.LocalIndex || id <= 0 {
		return View{}, false
	}
	least, err := s.records.Head(ctx) // first: what the index shows after it is no older
	if err != nil {
		return View{}, false
	}
	snap, err := s.snapshot(ctx)
	if err != nil || snap.gen.Position < least {
		return View{}, false
	}
	if poison, err := s.index.Poisoned(ctx); err != nil || len(poison) > 0 {
		return View{}, false
	}
	sum, err := index.SumOf(ctx, id)
	if err != nil || sum == 0 {
		return View{}, false
	}
	h := s.heads.get(id, sum)
	if h == nil {
		found, err := s.index.Get(ctx, []calendar.ID{id})
		if err != nil {
			return View{}, false
		}
		d, ok := found[id]
		if !ok {
			return View{}, false
		}
		if h = s.heads.keep(&d); h == nil {
			return View{}, false
		}
	}
	if h.status != calendar.StatusPublish || h.blanked {
		return View{}, false
	}
	views := [1]View{{known: h, Status: h.status}}
	if err := s.embed(ctx, &Criteria{Kind: calendar.KindEvent, Lang: l, embeds: e}, views[:], snap, time.Unix(snap.now, 0)); err != nil {
		return View{}, false
	}
	views[0].Mark = views[0].mark()
	return views[0], true
}
