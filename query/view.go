package query

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// View makes the view of a record from the store, for single reads and answers
// of writes, with some of the records that it links to: linked records come from the
// store, counts from the read model. While the read model is out of reach the last known counts stand, so single
// records stay readable. Protected events are not blanked here: the caller of
// View checks the right to read first.
func (s *Service) View(ctx context.Context, c calendar.Caller, r *calendar.Record, l calendar.Lang, e Embeds, m Moment) (View, error) {
	now := m.Now
	if now.IsZero() {
		now = s.now()
	}
	v := View{Record: r, Touched: r.Changed}
	if r.Kind.IsPost() {
		v.Status = r.Status(cmp.Or(m.Own, now))
	}
	switch {
	case r.Kind.IsTerm() && m.Uncounted:
		v.Count = NoCount
	case r.Kind.IsTerm():
		counts, err := s.countsOf(ctx, r.Kind, []calendar.ID{r.ID}, now.Unix())
		if err != nil {
			return View{}, err
		}
		v.Count = counts[r.ID]
	case r.Kind == calendar.KindEvent:
		stored := linksOf(r)
		linked := stored.only(e)
		ids := slices.Concat(linked[:]...)
		if len(ids) == 0 {
			break
		}
		slices.Sort(ids)
		ids = slices.Compact(ids)
		j := joiner{caller: c, lang: l, now: now, ids: ids, found: make([]linkedRecord, 0, len(ids)), uncounted: m.Uncounted}
		load := m.Load
		if load == nil {
			load = s.records.Load
		}
		may := allowance{caller: c, lang: l, now: now, left: s.o.MaxAnswer}
		for some := range slices.Chunk(ids, linkedAtOnce) {
			records, err := load(ctx, some...)
			if err != nil {
				return View{}, err
			}
			for _, r := range records {
				found, err := may.take(newLinkedRecord(r, now))
				if err != nil {
					return View{}, err
				}
				j.found = append(j.found, found)
			}
		}
		for at, k := range linkKinds {
			if k.IsTerm() && len(linked[at]) > 0 && !m.Uncounted {
				var err error
				if j.counts[k], err = s.countsOf(ctx, k, linked[at], now.Unix()); err != nil {
					return View{}, err
				}
			}
		}
		j.join(&v, linked)
		v.Touched = j.touched(r, linked)
	}
	v.Mark = v.mark()
	return v, nil
}

// countsLimit is how long a single read waits for counts from a read model in
// another process. One that hangs must not keep single records from being read.
const countsLimit = time.Second

// countsOf gives the number of counted events of some terms: those of the present
// generation where they are there, else just these from the read model.
func (s *Service) countsOf(ctx context.Context, k calendar.Kind, ids []calendar.ID, now int64) (map[calendar.ID]int, error) {
	if s.o.LocalIndex {
		return s.countsNow(ctx, k, ids, now)
	}
	within, cancel := context.WithTimeout(ctx, countsLimit)
	defer cancel()
	counts, err := s.countsNow(within, k, ids, now)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		return s.lastCounts(k), nil
	}
	return counts, err
}

// lastCounts gives the counts of the last generation that asked for them.
func (s *Service) lastCounts(k calendar.Kind) map[calendar.ID]int {
	if snap := s.snap.Load(); snap != nil {
		if known := snap.countedOf[k].value.Load(); known != nil {
			return known.counts
		}
	}
	return nil
}

func (s *Service) countsNow(ctx context.Context, k calendar.Kind, ids []calendar.ID, now int64) (map[calendar.ID]int, error) {
	counts, err := s.presentCounts(ctx, k, ids, now)
	if err != nil && errors.Is(err, readmodel.ErrUnavailable) {
		return s.lastCounts(k), nil
	}
	return counts, err
}

func (s *Service) presentCounts(ctx context.Context, k calendar.Kind, ids []calendar.ID, now int64) (map[calendar.ID]int, error) {
	shown, err := s.index.Visible(ctx)
	if err != nil {
		return nil, err
	}
	if snap := s.snap.Load(); snap.holds(shown, now) {
		if known := snap.countedOf[k].value.Load(); known != nil {
			return known.counts, nil
		}
	}
	if index, ok := s.index.(readmodel.Counter); ok && s.o.LocalIndex {
		snap, err := s.snapshot(ctx)
		if err != nil {
			return nil, err
		}
		counts, err := index.CountsOf(ctx, calendar.KindEvent, linkField(k), snap.counted, ids)
		if !errors.Is(err, errors.ErrUnsupported) {
			return counts, err
		}
	}
	if counts, ok := s.tallies.get(shown, now, k, ids); ok {
		return counts, nil
	}
	f := append(countedEvents(now, s.o.ProtectedNow), readmodel.In{Field: linkField(k), IDs: ids})
	counts, err := s.index.Counts(ctx, calendar.KindEvent, linkField(k), f)
	if err == nil {
		s.tallies.keep(shown, now, k, ids, counts)
	}
	return counts, err
}

// tallies are the counts of terms that were asked of an index at one state and second:
// answers to many writes name the same terms, and an index in another process shows
// another state once in a while only. The zero value is ready.
type tallies struct {
	mu    sync.Mutex
	shown readmodel.Shown
	now   int64
	of    [calendar.KindTag + 1]map[calendar.ID]int
}

// get gives the counts of terms, false unless all of them are known.
func (c *tallies) get(shown readmodel.Shown, now int64, k calendar.Kind, ids []calendar.ID) (map[calendar.ID]int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shown != shown || c.now != now {
		return nil, false
	}
	out := make(map[calendar.ID]int, len(ids))
	for _, id := range ids {
		n, ok := c.of[k][id]
		if !ok {
			return nil, false
		}
		out[id] = n
	}
	return out, true
}

// keep keeps counts; terms without any are absent in them.
func (c *tallies) keep(shown readmodel.Shown, now int64, k calendar.Kind, ids []calendar.ID, counts map[calendar.ID]int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shown != shown || c.now != now {
		c.shown, c.now, c.of = shown, now, [calendar.KindTag + 1]map[calendar.ID]int{}
	}
	if c.of[k] == nil {
		c.of[k] = map[calendar.ID]int{}
	}
	for _, id := range ids {
		c.of[k][id] = counts[id]
	}
}

// Read answers a single read: it finds the record by id or slug, checks that the
// caller may read it, in the order of interface 7.2 and 7.3 (CodeNotFound, CodeErased,
// CodeNoLongerAvailable, CodeNotAccessible, CodePasswordProtected), and gives its view.
// The password is checked by verify, which is called for protected events that the
// caller needs it for; nil (reads by slug) refuses them.
func (s *Service) Read(ctx context.Context, k calendar.Kind, id calendar.ID, slug string, c calendar.Caller, l calendar.Lang, e Embeds,
	verify func(ctx context.Context, id calendar.ID) (bool, error),
) (View, error) {
	snap, err := s.current(ctx)
	if err != nil {
		return View{}, err
	}
	r, err := s.find(ctx, snap, k, id, slug)
	switch {
	case err != nil:
		return View{}, err
	case r == nil || r.Kind != k || r.Deleted:
		return View{}, s.records.Absent(ctx, k, id)
	}
	now := s.now()
	switch {
	case k == calendar.KindEvent && r.Status(now) == calendar.StatusTrash:
		return View{}, calendar.Fail(calendar.CodeNoLongerAvailable, k)
	case !calendar.MayRead(c, r, now):
		return View{}, calendar.Fail(calendar.CodeNotAccessible, k)
	case k == calendar.KindEvent && calendar.NeedsPassword(c, r):
		fits := false
		if verify != nil {
			if fits, err = verify(ctx, r.ID); err != nil {
				return View{}, err
			}
		}
		if !fits {
			return View{}, calendar.Fail(calendar.CodePasswordProtected, k)
		}
	}
	if snap != nil && k == calendar.KindEvent {
		views := [1]View{{Record: r, Status: r.Status(now)}}
		err := s.embed(ctx, joiner{caller: c, lang: l, now: now}, e, views[:], snap)
		if !errors.Is(err, readmodel.ErrUnavailable) {
			views[0].Mark = views[0].mark()
			return views[0], err
		}
	}
	return s.View(ctx, c, r, l, e, Moment{})
}

// find gives a record by slug when there is one, else by id; nil when unknown.
func (s *Service) find(ctx context.Context, snap *snapshot, k calendar.Kind, id calendar.ID, slug string) (*calendar.Record, error) {
	if slug != "" {
		return s.records.BySlug(ctx, k, strings.ToLower(slug))
	}
	if id <= 0 {
		return nil, nil
	}
	if snap != nil {
		found, err := s.index.Get(ctx, []calendar.ID{id})
		if r := found[id].Record; r != nil || ignoreUnavailable(err) != nil {
			return r, err
		}
	}
	found, err := s.records.Load(ctx, id)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// current gives the snapshot of an index in this process that shows all that the store
// has: a document then costs less than a record of the store. nil: while it is behind
// the store or out of reach, and while entries are quarantined.
func (s *Service) current(ctx context.Context) (*snapshot, error) {
	if !s.o.LocalIndex {
		return nil, nil
	}
	head, err := s.records.Head(ctx) // first: what the index shows after it is no older
	if err != nil {
		return nil, err
	}
	snap, err := s.snapshot(ctx)
	if err != nil || snap.gen.Position < head {
		return nil, ignoreUnavailable(err)
	}
	if quarantined, err := s.index.Quarantined(ctx); err != nil || len(quarantined) > 0 {
		return nil, ignoreUnavailable(err)
	}
	return snap, nil
}

func ignoreUnavailable(err error) error {
	if errors.Is(err, readmodel.ErrUnavailable) {
		return nil
	}
	return err
}

// mark is a hash of all that the view depends on beside the version of its
// record.
func (v *View) mark() uint64 {
	h := calendar.HashStart.Text(string(v.Status))
	if v.Blanked {
		h = h.Number(1)
	}
	h = h.Number(uint64(v.Count))
	for _, list := range [...][]LinkedView{v.Venues, v.Organizers} {
		h = h.Number(uint64(len(list)))
		for _, l := range list {
			h = of(h, l.Record).Text(string(l.Status))
		}
	}
	for _, list := range [...][]TermView{v.Categories, v.Tags} {
		h = h.Number(uint64(len(list)))
		for _, t := range list {
			h = of(h, t.Record).Number(uint64(t.Count))
		}
	}
	return uint64(h)
}

// of gives the hash with the content of a record.
func of(h calendar.Hash, r *calendar.Record) calendar.Hash {
	return h.Number(uint64(r.ID)).Number(uint64(r.Version)).Number(r.Sum)
}
