package query

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// snapshot keeps what lists of one generation share, so that it is asked for
// once: counts of events and the tree of categories. Values may be newer than
// the generation, never older.
type snapshot struct {
	gen Generation
	// now is the moment, Unix seconds, that decides which scheduled posts are
	// published: until nextDue all moments decide alike.
	now     int64
	nextDue int64 // the generation ends then; MaxInt64: nothing is scheduled

	// Counted events by linked record, per kind of the link.
	countedOf [calendar.KindTag + 1]lazy[tally]
	// branches are the categories with a counted event, and those above them.
	branches lazy[[]calendar.ID]
	// upcoming are the linked records of a kind with a coming event, as of the
	// last second that was asked for.
	upcoming [calendar.KindTag + 1]atomic.Pointer[upcoming]

	links linkedRecords
	// directories are what facets show of the linked records of a kind.
	directories [calendar.KindTag + 1]lazy[*directory]

	published readmodel.Filter // published posts
	counted   readmodel.And    // events that counts are of
}

// tally is the number of counted events by linked record, and the records that
// have any, in order.
type tally struct {
	counts map[calendar.ID]int
	ids    []calendar.ID
}

type upcoming struct {
	at  calendar.Wall
	ids []calendar.ID
}

func newSnapshot(gen Generation, now, nextDue int64, protectedNow []calendar.ID) *snapshot {
	s := &snapshot{
		gen: gen, now: now, nextDue: nextDue, branches: newLazy[[]calendar.ID](),
		// All moments from the last due publication on decide alike. With that one the
		// filters are the same in most generations, and an index may keep what they find.
		published: published(gen.Due), counted: countedEvents(gen.Due, protectedNow),
	}
	for i := range s.countedOf {
		s.countedOf[i], s.directories[i] = newLazy[tally](), newLazy[*directory]()
	}
	return s
}

// holds tells whether the snapshot is that of a state of the index at a moment.
func (s *snapshot) holds(shown readmodel.Shown, now int64) bool {
	return s != nil && s.gen.Shown == shown && s.gen.Due <= now && now < s.nextDue
}

// lazy is a value that is loaded by the first who needs it; others wait. An
// error is not kept.
type lazy[T any] struct {
	value atomic.Pointer[T]
	turn  chan struct{}
}

func newLazy[T any]() lazy[T] { return lazy[T]{turn: make(chan struct{}, 1)} }

func (l *lazy[T]) get(ctx context.Context, load func(context.Context) (T, error)) (T, error) {
	if v := l.value.Load(); v != nil {
		return *v, nil
	}
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		var zero T
		return zero, ctx.Err()
	}
	if v := l.value.Load(); v != nil {
		return *v, nil
	}
	v, err := load(ctx)
	if err == nil {
		l.value.Store(&v)
	}
	return v, err
}

// Generation gives the present generation. While nothing changes it costs one
// look at what the index shows and the clock.
func (s *Service) Generation(ctx context.Context) (Generation, error) {
	snap, err := s.snapshot(ctx)
	if err != nil {
		return Generation{}, err
	}
	return snap.gen, nil
}

func (s *Service) snapshot(ctx context.Context) (*snapshot, error) {
	shown, err := s.index.Visible(ctx)
	if err != nil {
		return nil, err
	}
	now := s.now().Unix()
	if snap := s.snap.Load(); snap.holds(shown, now) {
		return snap, nil
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if snap := s.snap.Load(); snap.holds(shown, now) {
		return snap, nil
	}
	due, next, err := s.due(ctx, now)
	if err != nil {
		return nil, err
	}
	snap := newSnapshot(Generation{Shown: shown, Due: due}, now, next, s.o.ProtectedNow)
	s.snap.Store(snap)
	return snap, nil
}

// due gives the time of the last scheduled publication that has come, 0 for
// none, and of the next one, MaxInt64 for none.
func (s *Service) due(ctx context.Context, now int64) (last, next int64, err error) {
	next = math.MaxInt64
	for _, k := range calendar.Kinds {
		if !k.IsPost() {
			continue
		}
		first, found, err := s.publication(ctx, k, nil, false)
		switch {
		case err != nil:
			return 0, 0, err
		case !found:
			continue
		case first > now:
			next = min(next, first)
			continue
		}
		at, found, err := s.publication(ctx, k, &readmodel.Range{Field: readmodel.FieldPublished, Max: &now}, true)
		if err != nil {
			return 0, 0, err
		}
		if found {
			last = max(last, at)
		}
		ahead := now + 1
		at, found, err = s.publication(ctx, k, &readmodel.Range{Field: readmodel.FieldPublished, Min: &ahead}, false)
		if err != nil {
			return 0, 0, err
		}
		if found {
			next = min(next, at)
		}
	}
	return last, next, nil
}

// publication gives the first or the last publication time of the scheduled
// posts of a kind, and whether there is any.
func (s *Service) publication(ctx context.Context, k calendar.Kind, r *readmodel.Range, desc bool) (int64, bool, error) {
	f := readmodel.And{hasStatus(calendar.StatusFuture)}
	if r != nil {
		f = append(f, *r)
	}
	page, err := s.index.Search(ctx, readmodel.Query{
		Kind: k, Filter: f, Limit: 1,
		Sort: []readmodel.Sort{{Field: readmodel.FieldPublished, Desc: desc}, {Field: readmodel.FieldID}},
	})
	if err != nil || len(page.Documents) == 0 {
		return 0, false, err
	}
	return int64(page.Documents[0].Record.Fields.Wall("date_utc")), true, nil
}

// The records that a generation keeps for joining are bounded, in number and by the
// bytes of their texts. One takes about 3 KB.
const (
	mostLinked      = 4096
	mostLinkedBytes = 32 << 20
)

// linkedRecords are records that events link to, unknown ones too.
type linkedRecords struct {
	mu    sync.RWMutex
	byID  map[calendar.ID]linkedRecord
	bytes int
}

// linked gives the records of ids, in their order; those that the answer does not show
// are as unknown ones. ErrTooLarge says that they are more than the answer may have.
func (s *snapshot) linked(ctx context.Context, service *Service, ids []calendar.ID, may *allowance) ([]linkedRecord, error) {
	out := make([]linkedRecord, len(ids))
	var missing []int
	s.links.mu.RLock()
	for i, id := range ids {
		var known bool
		if out[i], known = s.links.byID[id]; !known {
			missing = append(missing, i)
		}
	}
	s.links.mu.RUnlock()
	for i := range out {
		var err error
		if out[i], err = may.take(out[i]); err != nil {
			return nil, err
		}
	}
	now := time.Unix(s.now, 0)
	return out, service.fetch(ctx, ids, missing, linkedAtOnce, func(at int, r *calendar.Record) (err error) {
		l := newLinkedRecord(r, now)
		s.links.keep(ids[at], l)
		out[at], err = may.take(l)
		return err
	})
}

// fetch calls use with the records of the ids at some places, which are read so many at
// once; nil where there is none.
func (s *Service) fetch(ctx context.Context, ids []calendar.ID, places []int, atOnce int, use func(at int, r *calendar.Record) error) error {
	for some := range slices.Chunk(places, atOnce) {
		wanted := make([]calendar.ID, len(some))
		for i, at := range some {
			wanted[i] = ids[at]
		}
		documents, err := s.index.Get(ctx, wanted)
		if err != nil {
			return err
		}
		for _, at := range some {
			if err := use(at, documents[ids[at]].Record); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep keeps a record while there is room.
func (k *linkedRecords) keep(id calendar.ID, l linkedRecord) {
	n := 0
	if l.record != nil {
		n = textBytes(l.record)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, known := k.byID[id]; known || len(k.byID) >= mostLinked || k.bytes+n > mostLinkedBytes {
		return
	}
	if k.byID == nil {
		k.byID = map[calendar.ID]linkedRecord{}
	}
	k.byID[id] = l
	k.bytes += n
}

// tally gives the number of counted events by linked record of a kind; the same
// for every caller. Records without any are absent.
func (s *snapshot) tally(ctx context.Context, service *Service, k calendar.Kind) (tally, error) {
	return s.countedOf[k].get(ctx, func(ctx context.Context) (tally, error) {
		counts, err := service.index.Counts(ctx, calendar.KindEvent, linkField(k), s.counted)
		return tally{counts, keys(counts)}, err
	})
}

func (s *snapshot) counts(ctx context.Context, service *Service, k calendar.Kind) (map[calendar.ID]int, error) {
	t, err := s.tally(ctx, service, k)
	return t.counts, err
}

// used gives the terms of a kind that lists have where empty ones are left out: those with
// a counted event, and the categories above them, so that a list holds whole branches.
func (s *snapshot) used(ctx context.Context, service *Service, k calendar.Kind) ([]calendar.ID, error) {
	t, err := s.tally(ctx, service, k)
	if err != nil || k != calendar.KindCategory {
		return t.ids, err
	}
	return s.branches.get(ctx, func(ctx context.Context) ([]calendar.ID, error) { return s.withAbove(ctx, service, t.ids) })
}

// withAbove adds to categories all that stand above them.
func (s *snapshot) withAbove(ctx context.Context, service *Service, ids []calendar.ID) ([]calendar.ID, error) {
	d, err := s.directory(ctx, service, calendar.KindCategory)
	if err != nil {
		return nil, err
	}
	in := make(map[calendar.ID]int, len(ids))
	for _, id := range ids {
		for id != 0 && in[id] == 0 {
			in[id] = 1
			at, known := d.find(id)
			if !known {
				break
			}
			id = d.records[at].Fields.ID("parent")
		}
	}
	return keys(in), nil
}

// withUpcoming gives the linked records of a kind that have a counted event whose
// end is now or later (interface 4.10).
func (s *snapshot) withUpcoming(ctx context.Context, service *Service, k calendar.Kind, at calendar.Wall) ([]calendar.ID, error) {
	if u := s.upcoming[k].Load(); u != nil && u.at == at {
		return u.ids, nil
	}
	end := int64(at)
	counts, err := service.index.Counts(ctx, calendar.KindEvent, linkField(k),
		append(slices.Clone(s.counted), readmodel.Range{Field: readmodel.FieldUTCEnd, Min: &end}))
	if err != nil {
		return nil, err
	}
	u := &upcoming{at: at, ids: keys(counts)}
	s.upcoming[k].Store(u)
	return u.ids, nil
}

// keys gives the ids of counts in order, so that equal filters are equal.
func keys(counts map[calendar.ID]int) []calendar.ID {
	out := make([]calendar.ID, 0, len(counts))
	for id := range counts {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}
