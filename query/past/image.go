package past

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/history"
	"daybook/query"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
)

// imageKey names the entries of an image. Two points with one Counted count the same
// entries: all that a time counts are those whose time is not after the greatest of them.
type imageKey = eventstore.Counted

// image holds the records after the entries that count at a point, and knows which of
// them are not for everybody now.
type image struct {
	s     *Service
	epoch uint64
	key   atomic.Pointer[imageKey]
	size  atomic.Int64 // records
	used  time.Time    // under mu of the Service
	gone  atomic.Bool

	// timed tells that it stands for a time, so that later entries may count too.
	timed atomic.Bool

	following sync.Mutex // held by who reads what is new in the log

	mu       sync.RWMutex // for reading: the entries are those of key
	index    *memindex.Index
	seen     calendar.Position // of the last entry that it knows of
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
	fillBytes = 8 << 20 // of states that wait for later versions of their records
)

// fill makes the image of a key. seen is a position that what counts was looked at after.
func (s *Service) fill(ctx context.Context, f *filling) (*image, error) {
	index, err := memindex.New(memindex.Options{Logger: s.o.Log})
	if err != nil {
		return nil, err
	}
	m := &image{s: s, epoch: f.epoch, index: index, seen: f.seen, versions: map[calendar.ID]int64{}, closed: map[calendar.ID]*calendar.Record{}}
	m.key.Store(&f.imageKey)
	now := s.o.Query.Now()
	latest, held := map[calendar.ID]eventstore.Entry{}, 0
	write := func() error {
		entries := make([]eventstore.Entry, 0, len(latest))
		for _, e := range latest {
			entries = append(entries, e)
		}
		clear(latest)
		held = 0
		records, err := m.write(ctx, entries, f.Position)
		for _, r := range records {
			m.stand(r, now)
		}
		if err == nil && m.size.Load() > int64(s.o.Records) {
			err = errTooLarge
		}
		s.makeRoom(m.size.Load())
		return err
	}
	later := map[calendar.ID]bool{} // those that have an entry which does not count
	read := func(after, to calendar.Position, take func(eventstore.Entry)) error {
		for after < to {
			page, err := s.store.ReadAll(ctx, after, fillPage)
			if err != nil {
				return err
			}
			if len(page) == 0 {
				return eventstore.ErrHistory
			}
			after = page[len(page)-1].Position
			for _, e := range page {
				take(e)
			}
			if held > fillBytes {
				if err := write(); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := read(0, f.Position, func(e eventstore.Entry) {
		if !f.counts(&e) {
			later[e.ID] = true
			return
		}
		held += len(e.State) - len(latest[e.ID].State)
		latest[e.ID] = e
	}); err != nil {
		return nil, err
	}
	if err := write(); err != nil {
		return nil, err
	}
	// How its records stand now is looked up for those that have changed since, or for all
	// where the rest of the log is longer.
	ids := slices.Sorted(maps.Keys(m.versions))
	if int(f.seen-f.Position) <= len(ids) {
		if err := read(f.Position, f.seen, func(e eventstore.Entry) { later[e.ID] = true }); err != nil {
			return nil, err
		}
		ids = slices.DeleteFunc(ids, func(id calendar.ID) bool { return !later[id] })
	}
	return m, m.standAll(ctx, ids, now)
}

// counts tells whether an entry counts, and is of a record that lists have.
func (f *filling) counts(e *eventstore.Entry) bool {
	return e.Position <= f.Position && !e.Time.After(f.Time) && inLists(e)
}

func inLists(e *eventstore.Entry) bool {
	return e.Redacted == nil && slices.Contains(calendar.Kinds[:], e.Kind)
}

// write puts the records after entries into the index, and gives them. What cannot be
// read is left out, as it is by present lists.
func (m *image) write(ctx context.Context, entries []eventstore.Entry, to calendar.Position) ([]*calendar.Record, error) {
	documents := make([]readmodel.Document, 0, len(entries))
	records := make([]*calendar.Record, 0, len(entries))
	for i := range entries {
		e := &entries[i]
		r, err := stateOf(e)
		if err != nil {
			m.s.o.Log.WarnContext(ctx, "left out of an image of the past", "position", e.Position, "error", err)
			continue
		}
		documents = append(documents, readmodel.Document{Position: e.Position, Record: r, Body: e.State})
		records = append(records, r)
	}
	errs, err := m.index.Write(ctx, readmodel.Batch{Documents: documents, Mark: calendar.Mark{Position: to}})
	if err != nil {
		return nil, err
	}
	for i, r := range records {
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

// standAll looks how records of the image stand now that changed since.
func (m *image) standAll(ctx context.Context, ids []calendar.ID, now time.Time) error {
	for some := range slices.Chunk(ids, fillPage) {
		for len(some) > 0 {
			states, err := m.s.store.Load(ctx, some...)
			if err != nil {
				return err
			}
			for i := range states {
				if states[i].Version == m.versions[states[i].ID] {
					continue
				}
				r, err := presentOf(&states[i])
				if err != nil {
					return err
				}
				m.stand(r, now)
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
	for m.seen < head {
		page, err := m.s.store.ReadAll(ctx, m.seen, fillPage)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			return eventstore.ErrHistory
		}
		if err := m.take(ctx, page); err != nil {
			return err
		}
	}
	return nil
}

// take takes later entries.
func (m *image) take(ctx context.Context, page []eventstore.Entry) error {
	now := m.s.o.Query.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	key := *m.key.Load()
	var counted []eventstore.Entry
	for _, e := range page {
		if strings.HasSuffix(e.Change, "."+calendar.Erased) {
			m.s.drop(m) // its texts go with it
			return ErrMoved
		}
		if m.timed.Load() && !e.Time.After(key.Time) && inLists(&e) {
			counted = append(counted, e)
			key.Position = e.Position
		}
	}
	if len(counted) > 0 {
		if _, err := m.write(ctx, counted, key.Position); err != nil {
			m.s.drop(m) // half of them may be in it
			return err
		}
		if m.size.Load() > int64(m.s.o.Records) {
			m.s.drop(m)
			return ErrMoved
		}
		m.key.Store(&key)
	}
	changed := false
	for i := range page {
		if _, ours := m.versions[page[i].ID]; !ours {
			continue
		}
		r, err := stateOf(&page[i])
		if err != nil {
			return err
		}
		if r != nil && m.stand(r, now) {
			changed = true
		}
	}
	if changed {
		m.withdrawn.forget()
	}
	m.seen = page[len(page)-1].Position
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

// queries gives the Service of lists at a moment.
func (m *image) queries(moment time.Time) (*query.Service, error) {
	return m.services.get(moment.Unix(), func(*query.Service) bool { return true }, func() (*query.Service, error) {
		o := m.s.o.Query
		o.Now = func() time.Time { return moment }
		o.LocalIndex = true
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
	return r.all(ctx, k, readmodel.Term{Field: readmodel.FieldNameLower(l), Value: calendar.Fold(name)}, fillPage)
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
