package query

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"daybook/calendar"
	"daybook/internal/ground/keylock"
	"daybook/query/readmodel"
)

// state is the read model as one request sees it.
type state struct {
	*Service
	*shared
	view readmodel.View
}

// moment is the one that decides which scheduled posts are published.
func (st *state) moment() time.Time { return time.Unix(st.second, 0) }

// shared is what requests of one generation share.
type shared struct {
	gen Generation
	// second is the moment, Unix time, that decides which scheduled posts are published:
	// until nextDue all moments decide alike.
	second  int64
	nextDue int64 // the generation ends then; MaxInt64: nothing is scheduled

	published readmodel.Filter // published posts
	counted   readmodel.And    // events that counts are of

	counts      [calendar.KindTag + 1]listedCounts // by kind of the link
	directories [calendar.KindTag + 1]lazy[*directory]
	links       linkedRecords
}

// listedCounts are the numbers of counted events by linked record.
type listedCounts struct {
	all  lazy[map[calendar.ID]int]
	some sync.Map // calendar.ID → int: those that were asked for by themselves
}

// holds returns what is valid for a state of the index at a moment.
func holds(shown readmodel.Shown, now int64) func(*shared) bool {
	return func(g *shared) bool { return g.gen.Shown == shown && g.gen.Due <= now && now < g.nextDue }
}

// lazy is a value that is loaded by the first caller who needs it; others wait. An error is
// not stored.
type lazy[T any] struct {
	value   atomic.Pointer[T]
	loading keylock.Locks[struct{}]
}

// known returns the loaded value while it is valid; nil: it always is.
func (l *lazy[T]) known(valid func(T) bool) (v T, ok bool) {
	if p := l.value.Load(); p != nil && (valid == nil || valid(*p)) {
		return *p, true
	}
	return v, false
}

func (l *lazy[T]) get(ctx context.Context, valid func(T) bool, load func() (T, error)) (T, error) {
	if v, ok := l.known(valid); ok {
		return v, nil
	}
	release, err := l.loading.Acquire(ctx, struct{}{})
	if err != nil {
		var none T
		return none, err
	}
	defer release()
	if v, ok := l.known(valid); ok {
		return v, nil
	}
	v, err := load()
	if err == nil {
		l.value.Store(&v)
	}
	return v, err
}

// Generation returns the present generation. While nothing changes it costs one look at
// what the index shows and the clock.
func (s *Service) Generation(ctx context.Context) (Generation, error) {
	shown, err := s.index.Visible(ctx)
	if err != nil {
		return Generation{}, err
	}
	if g, ok := s.shared.known(holds(shown, s.now().Unix())); ok {
		return g.gen, nil
	}
	return present(ctx, s, func(st *state) (Generation, error) { return Generation{shown, st.gen.Due}, nil })
}

// present returns what is made of the present state, again when it moved meanwhile.
func present[T any](ctx context.Context, s *Service, made func(*state) (T, error)) (out T, err error) {
	err = readmodel.Read(ctx, s.index, func(view readmodel.View) error {
		st, err := s.stateOf(ctx, view)
		if err == nil {
			out, err = made(st)
		}
		return err
	})
	return out, err
}

// stateOf adds to a view what its generation shares.
func (s *Service) stateOf(ctx context.Context, view readmodel.View) (*state, error) {
	now := s.now().Unix()
	g, err := s.shared.get(ctx, holds(view.Shown(), now), func() (*shared, error) {
		due, next, err := dueTimes(ctx, view, now)
		return &shared{
			gen: Generation{Shown: view.Shown(), Due: due}, second: now, nextDue: next,
			// All moments from the last due publication on decide alike. With that one the
			// filters are the same in most generations.
			published: published(due), counted: countedEvents(due, s.o.ProtectedNow),
		}, err
	})
	return &state{s, g, view}, err
}

// dueTimes returns the time of the last scheduled publication that has come, 0 for none,
// and of the next one, MaxInt64 for none.
func dueTimes(ctx context.Context, view readmodel.View, now int64) (last, next int64, err error) {
	next = math.MaxInt64
	for _, k := range calendar.Kinds {
		for _, in := range []readmodel.Range{{Max: &now}, {Min: new(now + 1)}} {
			if in.Field = readmodel.FieldPublished; !k.IsPost() {
				continue
			}
			page, err := view.Search(ctx, readmodel.Query{
				Kind: k, Filter: readmodel.And{hasStatus(calendar.StatusFuture), in}, Limit: 1,
				Sort: readmodel.By(in.Max != nil, readmodel.FieldPublished, readmodel.FieldID),
			})
			if err != nil {
				return 0, 0, err
			}
			for _, d := range page.Documents {
				if at := int64(d.Record.Fields.Wall("date_utc")); in.Max != nil {
					last = max(last, at)
				} else {
					next = min(next, at)
				}
			}
		}
	}
	return last, next, nil
}

// allCounts returns the number of counted events by linked record of a kind; the same for
// every caller. Records without any are absent.
func (st *state) allCounts(ctx context.Context, k calendar.Kind) (map[calendar.ID]int, error) {
	return st.counts[k].all.get(ctx, nil, func() (map[calendar.ID]int, error) {
		return readmodel.Counts(ctx, st.view, calendar.KindEvent, linkField(k), st.counted, nil)
	})
}

// countsOf returns those of allCounts that belong to some records at least.
func (st *state) countsOf(ctx context.Context, k calendar.Kind, ids []calendar.ID) (map[calendar.ID]int, error) {
	out, missing := st.knownCounts(k, ids)
	if len(missing) == 0 {
		return out, nil
	}
	fresh, err := readmodel.Counts(ctx, st.view, calendar.KindEvent, linkField(k), st.counted, missing)
	if err != nil {
		return nil, err
	}
	for _, id := range missing {
		out[id] = fresh[id]
		st.counts[k].some.Store(id, fresh[id])
	}
	return out, nil
}

func (g *shared) knownCounts(k calendar.Kind, ids []calendar.ID) (known map[calendar.ID]int, missing []calendar.ID) {
	if all, ok := g.counts[k].all.known(nil); ok {
		return all, nil
	}
	known = make(map[calendar.ID]int, len(ids))
	for _, id := range ids {
		if n, ok := g.counts[k].some.Load(id); ok {
			known[id], _ = n.(int)
		} else {
			missing = append(missing, id)
		}
	}
	return known, missing
}

// usedTerms returns the terms of a kind that lists have where empty ones are left out: those
// with a counted event, and the categories above them, so that a list holds whole branches.
func (st *state) usedTerms(ctx context.Context, k calendar.Kind) ([]calendar.ID, error) {
	counts, err := st.allCounts(ctx, k)
	if err != nil || k != calendar.KindCategory {
		return keys(counts), err
	}
	return st.withAbove(ctx, keys(counts))
}

// withAbove adds to categories all that stand above them.
func (st *state) withAbove(ctx context.Context, ids []calendar.ID) ([]calendar.ID, error) {
	d, err := st.directory(ctx, calendar.KindCategory)
	if err != nil {
		return nil, err
	}
	in := make(map[calendar.ID]int, len(ids))
	for _, id := range ids {
		in[id] = 1
		if at, known := d.find(id); known {
			for _, above := range d.above(at) {
				in[d.records[above].ID] = 1
			}
		}
	}
	return keys(in), nil
}

// coming admits the counted events that end at a moment or later.
func (g *shared) coming(at calendar.Wall) readmodel.And {
	return append(slices.Clone(g.counted), readmodel.Range{Field: readmodel.FieldUTCEnd, Min: new(int64(at))})
}

// keys returns the ids of counts in order, so that equal filters are equal.
func keys(counts map[calendar.ID]int) []calendar.ID {
	out := slices.AppendSeq(make([]calendar.ID, 0, len(counts)), maps.Keys(counts))
	slices.Sort(out)
	return out
}

// The records that a generation caches for joining are bounded by the bytes of their texts;
// the rest of one takes about linkedBytes.
const (
	maxLinkedBytes = 32 << 20
	linkedBytes    = 3 << 10
)

// linkedRecords are records that events link to: calendar.ID → *calendar.Record, nil for
// unknown ones.
type linkedRecords struct {
	sync.Map
	bytes atomic.Int64
}

// load returns the records of ids, in their order, nil for unknown ones.
func (st *state) load(ctx context.Context, ids ...calendar.ID) ([]*calendar.Record, error) {
	out := make([]*calendar.Record, len(ids))
	var missing []calendar.ID
	for i, id := range ids {
		r, known := st.links.Load(id)
		if out[i], _ = r.(*calendar.Record); !known {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return out, nil
	}
	found, err := st.view.Get(ctx, missing)
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		if r := found[id].Record; r != nil {
			out[i] = r
		}
	}
	for _, id := range missing { // while there is room
		if n := int64(len(found[id].Body) + linkedBytes); st.links.bytes.Load()+n <= maxLinkedBytes {
			st.links.Store(id, found[id].Record)
			st.links.bytes.Add(n)
		}
	}
	return out, nil
}
