package past

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/history"
	"daybook/internal/htmltext"
	"daybook/query"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
)

// imageKey names the entries of an image: those up to Position whose time is not after
// Time. Position is the greatest one that counts at a point, Time the greatest time.
type imageKey struct {
	Position calendar.Position
	Time     time.Time
}

// reach tells which entries an image has: all up to Position whose time is not after Time.
type reach struct {
	imageKey
	// passed is a time that none of the others up to Position is before; zero: there are none.
	passed time.Time
}

// leadsTo tells whether what counts at a key are the entries of the reach, and some behind
// it only.
func (r *reach) leadsTo(k imageKey) bool {
	return k.Position >= r.Position && !k.Time.Before(r.Time) && (r.passed.IsZero() || k.Time.Before(r.passed))
}

// answers tells whether a reach has what counts at a point, where least counted when it
// was asked for. Of a time, more may have come since.
func (r *reach) answers(p eventstore.Point, least imageKey) bool {
	return r.imageKey == least ||
		p.Position == 0 && r.Position >= least.Position && !r.Time.After(p.Time) && (r.passed.IsZero() || r.passed.After(p.Time))
}

// earlier gives the earlier one of two times; zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// image holds the records after the entries that count at a point, and knows which of
// them are not for everybody now.
type image struct {
	s     *Service
	epoch eventstore.Epoch
	reach atomic.Pointer[reach]
	size  atomic.Int64 // records
	gone  atomic.Bool

	// Under mu of the Service:
	used time.Time
	// live is the last moment about the present that asked for it; it goes along with them.
	// Zero: others asked for it, too.
	live time.Time

	// timed tells that it stands for a time, so that later entries may count too.
	timed atomic.Bool

	following sync.Mutex // held by who reads what is new in the log

	mu       sync.RWMutex // for reading: the entries are those of reach
	index    *memindex.Index
	seen     calendar.Position // of the last entry that it knows of
	skipped  time.Time         // as passed, of those between reach and seen
	versions map[calendar.ID]int64
	// closed are those of its records that not everybody gets now, as they are now.
	closed map[calendar.ID]*calendar.Record

	services  keptOf[int64, *query.Service]     // by the second of the moment
	withdrawn keptOf[calendar.ID, *withdrawnTo] // by the user; 0: of those who own nothing
}

// keptOf are a few values that are made when they are asked for. The zero value is empty.
type keptOf[K comparable, V any] struct {
	mu sync.Mutex
	of map[K]V
}

const mostKeptOf = 64

func (k *keptOf[K, V]) get(key K, fits func(V) bool, produce func() (V, error)) (V, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if v, there := k.of[key]; there && fits(v) {
		return v, nil
	}
	v, err := produce()
	if err != nil {
		return v, err
	}
	if k.of == nil || len(k.of) >= mostKeptOf {
		k.of = map[K]V{}
	}
	k.of[key] = v
	return v, nil
}

func (k *keptOf[K, V]) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.of = nil
}

// How much is read and written at once.
const (
	fillPage  = 1000
	fillAhead = 4       // pages that are read before they are written
	fillBytes = 4 << 20 // of states that wait for later versions of their records
)

// pages reads the entries behind a position up to another one; what follows is read while
// a page is used.
func (s *Service) pages(ctx context.Context, after, to calendar.Position, use func([]eventstore.Entry) error) error {
	work, ctx := errgroup.WithContext(ctx)
	read := make(chan []eventstore.Entry, fillAhead)
	work.Go(func() error {
		defer close(read)
		for after < to {
			page, err := s.store.Read(ctx, eventstore.Range{After: uint64(after), Limit: int(min(fillPage, to-after))})
			if err != nil {
				return err
			}
			if len(page) == 0 {
				return eventstore.ErrHistory
			}
			after = page[len(page)-1].Position
			select {
			case read <- page:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	work.Go(func() error {
		for page := range read {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := use(page); err != nil {
				return err
			}
		}
		return nil
	})
	return work.Wait()
}

// fill makes the image of what is wanted: of the whole log, or of a kept image and the
// entries behind it. seen is a position that what counts was looked at after.
func (s *Service) fill(ctx context.Context, f *filling) (*image, error) {
	m, err := s.first(ctx, f)
	if err != nil {
		return nil, err
	}
	now := s.o.Query.Now()
	is := *m.reach.Load()
	latest, held := map[calendar.ID]eventstore.Entry{}, 0
	newest := map[calendar.ID]bool{}                               // records that are taken: whether no later entry of them was read
	last := func() ([]*calendar.Record, error) { return nil, nil } // waits for what is being written
	defer func() { _, _ = last() }()
	written := func() error {
		records, err := last()
		last = func() ([]*calendar.Record, error) { return nil, nil }
		for _, r := range records {
			m.stand(r, now)
		}
		if err == nil && m.size.Load() > int64(s.o.Records) {
			err = errTooLarge
		}
		s.makeRoom(m.size.Load())
		return err
	}
	write := func() error {
		entries := make([]eventstore.Entry, 0, len(latest))
		for _, e := range latest {
			entries = append(entries, e)
		}
		slices.SortFunc(entries, func(a, b eventstore.Entry) int { return cmp.Compare(a.Position, b.Position) })
		clear(latest)
		held = 0
		next := m.begin(ctx, entries, is.Position)
		err := written()
		last = next
		return err
	}
	m.skipped = time.Time{}
	take := func(page []eventstore.Entry) error {
		for i := range page {
			e := &page[i]
			if !f.counts(e) {
				m.skipped = earlier(m.skipped, e.Time)
				if newest[e.ID] {
					newest[e.ID] = false
				}
				continue
			}
			is.passed, m.skipped = earlier(is.passed, m.skipped), time.Time{}
			is.Position = e.Position
			if inLists(e) {
				held += len(e.State) - len(latest[e.ID].State)
				latest[e.ID] = *e
				newest[e.ID] = true
			}
		}
		if held > fillBytes {
			return write()
		}
		return nil
	}
	if err := s.pages(ctx, is.Position, f.Position, take); err != nil {
		return nil, err
	}
	if err := write(); err != nil {
		return nil, err
	}
	if err := written(); err != nil {
		return nil, err
	}
	is.imageKey = f.imageKey
	m.reach.Store(&is)
	ids := make([]calendar.ID, 0, len(newest))
	if f.seen-f.Position <= calendar.Position(len(newest)) {
		// What changed since is found faster in the log than by asking for each.
		err = s.pages(ctx, f.Position, f.seen, take)
		for id, is := range newest {
			if !is {
				ids = append(ids, id)
			}
		}
	} else {
		if m.skipped = f.Time; f.byTime { // which counts none of them
			m.skipped = m.skipped.Add(time.Millisecond)
		}
		for id := range newest {
			ids = append(ids, id)
		}
	}
	if err != nil {
		return nil, err
	}
	return m, m.standAll(ctx, ids, now)
}

// first gives the image that a filling goes on from: a copy of its base, else an empty one.
func (s *Service) first(ctx context.Context, f *filling) (*image, error) {
	if f.base != nil {
		m, err := f.base.copy(ctx, f)
		if !errors.Is(err, ErrMoved) {
			return m, err
		}
		f.base = nil
	}
	index, err := memindex.New(memindex.Options{Logger: s.o.Log})
	if err != nil {
		return nil, err
	}
	m := &image{s: s, epoch: f.epoch, index: index, seen: f.seen, versions: map[calendar.ID]int64{}, closed: map[calendar.ID]*calendar.Record{}}
	m.reach.Store(&reach{})
	return m, nil
}

// copy gives another image with the same records, which nobody else has; ErrMoved says
// that this one does not lead to what is wanted any more.
func (m *image) copy(ctx context.Context, f *filling) (*image, error) {
	m.following.Lock()
	defer m.following.Unlock()
	if err := m.followTo(ctx, f.seen); err != nil { // an erased record must not be in it
		return nil, err
	}
	is := *m.reach.Load()
	if m.gone.Load() || !is.leadsTo(f.imageKey) {
		return nil, ErrMoved
	}
	index, err := m.index.Copy()
	if err != nil {
		return nil, err
	}
	out := &image{s: m.s, epoch: m.epoch, index: index, seen: f.seen, versions: maps.Clone(m.versions), closed: maps.Clone(m.closed)}
	out.reach.Store(&is)
	out.size.Store(m.size.Load())
	return out, nil
}

// counts tells whether an entry counts.
func (f *filling) counts(e *eventstore.Entry) bool {
	return e.Position <= f.Position && !e.Time.After(f.Time)
}

// inLists tells whether an entry is of a record that lists have.
func inLists(e *eventstore.Entry) bool {
	return e.Redacted == nil && slices.Contains(calendar.Kinds[:], e.Kind)
}

// write puts the records after entries into the index, and gives them. What cannot be
// read is left out, as it is by present lists.
func (m *image) write(ctx context.Context, entries []eventstore.Entry, to calendar.Position) ([]*calendar.Record, error) {
	return m.begin(ctx, entries, to)()
}

// begin begins a write and gives what waits for its end, to be called in the same order.
// Of two that are under way the index keeps what is later: while it takes the records of
// one, those of the other are made ready.
func (m *image) begin(ctx context.Context, entries []eventstore.Entry, to calendar.Position) (end func() ([]*calendar.Record, error)) {
	documents := make([]readmodel.Document, 0, len(entries))
	var errs []error
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		states, damaged := statesOf(entries)
		for i, r := range states {
			e := &entries[i]
			if damaged[i] != nil {
				m.s.o.Log.WarnContext(ctx, "left out of an image of the past", "position", e.Position, "error", damaged[i])
				continue
			}
			documents = append(documents, readmodel.Document{Position: e.Position, Record: r, Body: e.State})
		}
		errs, err = m.index.Write(ctx, readmodel.Batch{Documents: documents, Mark: calendar.Mark{Position: to}})
	}()
	return func() ([]*calendar.Record, error) {
		<-done
		if err != nil {
			return nil, err
		}
		records := make([]*calendar.Record, len(documents))
		for i := range documents {
			r := documents[i].Record
			records[i] = r
			switch {
			case errs[i] != nil:
				m.s.o.Log.WarnContext(ctx, "left out of an image of the past", "position", documents[i].Position, "error", errs[i])
			case r.Deleted:
				delete(m.versions, r.ID)
			default:
				m.versions[r.ID] = r.Version
			}
		}
		m.size.Store(int64(len(m.versions)))
		return records, nil
	}
}

// statesOf is stateOf of several entries, on all processors.
func statesOf(entries []eventstore.Entry) ([]*calendar.Record, []error) {
	records, errs := make([]*calendar.Record, len(entries)), make([]error, len(entries))
	var next atomic.Int64
	one := func() {
		for i := int(next.Add(1)) - 1; i < len(entries); i = int(next.Add(1)) - 1 {
			records[i], errs[i] = stateOf(&entries[i])
		}
	}
	var work sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0)-1, len(entries)/16) {
		work.Go(one)
	}
	one()
	work.Wait()
	return records, errs
}

// stand notes how a record of the image stands now, and tells whether that is another way
// than before for somebody.
func (m *image) stand(r *calendar.Record, now time.Time) bool {
	was, before := m.closed[r.ID]
	if history.Gate(calendar.Caller{}, r.Kind, r, now) == nil {
		delete(m.closed, r.ID)
		return before
	}
	is := &calendar.Record{ID: r.ID, Kind: r.Kind, Deleted: r.Deleted, Fields: calendar.Fields{}}
	same := before && was.Deleted == is.Deleted
	for _, name := range [...]string{"status", "author", "protected", "date_utc"} {
		if v, there := r.Fields[name]; there {
			is.Fields[name] = v
		}
		same = same && was.Fields[name] == is.Fields[name]
	}
	m.closed[r.ID] = is
	return !same
}

// standAll looks how some of the records stand now.
func (m *image) standAll(ctx context.Context, ids []calendar.ID, now time.Time) error {
	return m.s.presentOf(ctx, ids, func(r *calendar.Record) {
		if _, ours := m.versions[r.ID]; ours {
			m.stand(r, now)
		}
	})
}

// presentOf gives the present states of records, of which each is there.
func (s *Service) presentOf(ctx context.Context, ids []calendar.ID, use func(*calendar.Record)) error {
	slices.Sort(ids)
	for some := range slices.Chunk(ids, fillPage) {
		for len(some) > 0 {
			states, err := s.store.Load(ctx, some...)
			if err != nil {
				return err
			}
			for i := range states {
				r, err := presentOf(&states[i])
				if err != nil {
					return err
				}
				use(r)
			}
			some = some[len(states):]
		}
	}
	return nil
}

// follow reads the log up to a head: how records stand now, and entries that count too.
func (m *image) follow(ctx context.Context, head calendar.Position) error {
	m.following.Lock()
	defer m.following.Unlock()
	return m.followTo(ctx, head)
}

func (m *image) followTo(ctx context.Context, head calendar.Position) error {
	for m.seen < head {
		page, err := m.s.store.Read(ctx, eventstore.Range{After: uint64(m.seen), Limit: fillPage})
		if err != nil {
			return err
		}
		if len(page) == 0 {
			return eventstore.ErrHistory
		}
		is := m.reach.Load()
		err = m.take(ctx, page, func(e *eventstore.Entry) bool { return m.timed.Load() && !e.Time.After(is.Time) }, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

// advance takes the entries that count between what the image has and a moment about the
// present; ErrMoved says that it does not lead there any more.
func (m *image) advance(ctx context.Context, f *filling) error {
	m.following.Lock()
	defer m.following.Unlock()
	is := m.reach.Load()
	if m.gone.Load() || !is.leadsTo(f.imageKey) {
		return ErrMoved
	}
	counts := func(e *eventstore.Entry) bool { return !e.Time.After(f.Time) }
	m.skipped = time.Time{}
	for after, to := is.Position, max(m.seen, f.seen, f.Position); after < to; {
		page, err := m.s.store.Read(ctx, eventstore.Range{After: uint64(after), Limit: int(min(fillPage, to-after))})
		if err != nil {
			return err
		}
		if len(page) == 0 {
			return eventstore.ErrHistory
		}
		after = page[len(page)-1].Position
		var known []calendar.ID // of which later entries were seen, maybe
		for i := range page {
			if e := &page[i]; e.Position <= m.seen && counts(e) && inLists(e) {
				known = append(known, e.ID)
			}
		}
		present := make(map[calendar.ID]*calendar.Record, len(known))
		slices.Sort(known)
		if err := m.s.presentOf(ctx, slices.Compact(known), func(r *calendar.Record) { present[r.ID] = r }); err != nil {
			return err
		}
		if err := m.take(ctx, page, counts, present); err != nil {
			return err
		}
	}
	return nil
}

// take takes entries that follow each other, from behind the reach. present are records
// as they are now of which entries were seen before.
func (m *image) take(ctx context.Context, page []eventstore.Entry, counts func(*eventstore.Entry) bool, present map[calendar.ID]*calendar.Record) error {
	now := m.s.o.Query.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	is := *m.reach.Load()
	var counted []eventstore.Entry
	for i := range page {
		e := &page[i]
		if e.Position > m.seen && strings.HasSuffix(e.Change, "."+calendar.Erased) {
			m.s.drop(m) // its texts go with it
			return ErrMoved
		}
		if !counts(e) {
			m.skipped = earlier(m.skipped, e.Time)
			continue
		}
		is.passed, m.skipped = earlier(is.passed, m.skipped), time.Time{}
		is.Position = e.Position
		if e.Time.After(is.Time) {
			is.Time = e.Time.UTC()
		}
		if inLists(e) {
			counted = append(counted, *e)
		}
	}
	if !is.passed.IsZero() && !is.passed.After(is.Time) {
		m.s.drop(m) // one was passed over before it stood for a time
		return ErrMoved
	}
	if is.Position > m.reach.Load().Position {
		if _, err := m.write(context.WithoutCancel(ctx), counted, is.Position); err != nil { // a request that ends drops no image
			m.s.drop(m) // half of them may be in it
			return err
		}
		if m.size.Load() > int64(m.s.o.Records) {
			m.s.drop(m)
			return ErrMoved
		}
	}
	m.reach.Store(&is)
	changed := false
	for i := range page {
		e := &page[i]
		if _, ours := m.versions[e.ID]; !ours {
			continue
		}
		r := present[e.ID]
		if e.Position > m.seen {
			var err error
			if r, err = stateOf(e); err != nil {
				m.s.drop(m)
				return err
			}
		}
		if r != nil && m.stand(r, now) {
			changed = true
		}
	}
	if changed {
		m.withdrawn.forget()
		m.services.forget()
	}
	m.seen = max(m.seen, page[len(page)-1].Position)
	return nil
}

// withdrawnTo are what a caller gets no more until a scheduled post becomes due.
type withdrawnTo struct {
	records *query.Withdrawn
	from    int64
	until   int64
}

// withdrawnFrom gives what a caller gets no more.
func (m *image) withdrawnFrom(c calendar.Caller) *query.Withdrawn {
	if c.ReadsAll() {
		return nil
	}
	owner := calendar.ID(0)
	if c.ReadsOwn() {
		owner = c.ID
	}
	now := m.s.o.Query.Now()
	kept, _ := m.withdrawn.get(owner, func(w *withdrawnTo) bool { return w.from <= now.Unix() && now.Unix() < w.until }, func() (*withdrawnTo, error) {
		w := &withdrawnTo{records: &query.Withdrawn{}, from: now.Unix(), until: math.MaxInt64}
		ids := make([]calendar.ID, 0, len(m.closed))
		for id := range m.closed {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		for _, id := range ids {
			r := m.closed[id]
			if history.Gate(c, r.Kind, r, now) == nil {
				continue
			}
			w.records.Add(r.Kind, id)
			if r.Status(now) == calendar.StatusFuture {
				w.until = min(w.until, int64(r.Fields.Wall("date_utc")))
			}
		}
		return w, nil
	})
	return kept.records
}

// queries gives the Service of lists at a moment; under mu.
func (m *image) queries(moment time.Time) (*query.Service, error) {
	return m.services.get(moment.Unix(), func(*query.Service) bool { return true }, func() (*query.Service, error) {
		o := m.s.o.Query
		o.Now = func() time.Time { return moment }
		o.LocalIndex = true
		for id, r := range m.closed {
			if r.Fields.Bool("protected") {
				o.ProtectedNow = append(o.ProtectedNow, id)
			}
		}
		slices.Sort(o.ProtectedNow)
		return query.New(m.index, records{m.index}, o)
	})
}

// records are the records of an image.
type records struct{ index readmodel.Index }

// Load gives records; nil for those that the image lacks.
func (r records) Load(ctx context.Context, ids ...calendar.ID) ([]*calendar.Record, error) {
	found, err := r.index.Get(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]*calendar.Record, len(ids))
	for i, id := range ids {
		out[i] = found[id].Record
	}
	return out, nil
}

// BySlug gives the record of a kind that has a slug; nil when none has.
func (r records) BySlug(ctx context.Context, k calendar.Kind, slug string) (*calendar.Record, error) {
	found, err := r.all(ctx, k, readmodel.Term{Field: readmodel.FieldSlug, Value: slug}, 1)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// ByName gives the records of a kind whose shown name equals name, case aside, by id.
func (r records) ByName(ctx context.Context, k calendar.Kind, l calendar.Lang, name string) ([]*calendar.Record, error) {
	return r.all(ctx, k, readmodel.Term{Field: readmodel.FieldNameLower(l), Value: htmltext.NameKey(name)}, fillPage)
}

func (r records) all(ctx context.Context, k calendar.Kind, f readmodel.Filter, limit int) ([]*calendar.Record, error) {
	page, err := r.index.Search(ctx, readmodel.Query{Kind: k, Filter: f, Sort: []readmodel.Sort{{Field: readmodel.FieldID}}, Limit: limit})
	if err != nil {
		return nil, err
	}
	out := make([]*calendar.Record, len(page.Documents))
	for i := range page.Documents {
		out[i] = page.Documents[i].Record
	}
	return out, nil
}

// Absent says that there is none: lists know nothing else of what is erased.
func (records) Absent(_ context.Context, k calendar.Kind, _ calendar.ID) error {
	return calendar.Fail(calendar.CodeNotFound, k)
}

// Head gives the position of the last entry that counts.
func (r records) Head(ctx context.Context) (calendar.Position, error) {
	shown, err := r.index.Visible(ctx)
	return shown.Position, err
}
