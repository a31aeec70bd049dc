// Package memstore keeps the event store in memory: the conforming store that callers
// are tested against. It keeps the whole promise of the port but durability, and receipts
// for ever.
package memstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/google/uuid"

	"daybook/calendar"
	"daybook/eventstore"
)

// Store is an event store in memory. It implements eventstore.Store.
type Store struct {
	signal *eventstore.Signal

	mutex  sync.RWMutex
	closed bool
	contents
}

// contents are what a store holds.
type contents struct {
	entries  []eventstore.Entry
	commits  []eventstore.Commit
	records  map[calendar.ID]*eventstore.Held
	history  map[calendar.ID][]int // of a record, as indexes of entries
	ids      []calendar.ID         // of records, ascending
	claims   map[calendar.Claim]calendar.ID
	names    map[calendar.Name][]calendar.ID // ascending
	receipts map[eventstore.ReceiptKey]*eventstore.Receipt
	slugs    []eventstore.Taken
	signed   map[calendar.Position]eventstore.Checkpoint // by size
	lastID   calendar.ID
	log      []logged
}

// logged are the items of one group, kept for Rewind.
type logged struct {
	items []eventstore.Item
	epoch eventstore.Epoch
	head  calendar.Position // after the group
}

// New makes an empty store.
func New() *Store {
	return &Store{signal: eventstore.NewSignal(eventstore.Head{UUID: uuid.New()}), contents: contents{
		records:  map[calendar.ID]*eventstore.Held{},
		history:  map[calendar.ID][]int{},
		claims:   map[calendar.Claim]calendar.ID{},
		names:    map[calendar.Name][]calendar.ID{},
		receipts: map[eventstore.ReceiptKey]*eventstore.Receipt{},
		signed:   map[calendar.Position]eventstore.Checkpoint{},
	}}
}

// Close ends the store; all later calls return eventstore.ErrClosed.
func (s *Store) Close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.closed = true
	s.signal.Close()
	return nil
}

// Reopen closes the store and returns a new one that holds what it held, as a restart of
// the process would find it.
func (s *Store) Reopen() *Store {
	_ = s.Close() // it returns no error
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	return &Store{signal: eventstore.NewSignal(s.signal.Head()), contents: s.upTo(math.MaxUint64)}
}

// Rewind takes the store back to an earlier head, as a failover that loses the last
// entries does: what is appended next makes another history. Of commits that end after
// the position nothing is left.
func (s *Store) Rewind(to calendar.Position) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.contents = s.upTo(to)
	s.signal.Reset(eventstore.Head{Mark: s.mark(), Signed: s.newest(), UUID: s.signal.Head().UUID})
}

// upTo returns what the store held when a position was its head.
func (c *contents) upTo(head calendar.Position) contents {
	past := New()
	for _, logged := range c.log {
		if logged.head <= head {
			items := make([]*eventstore.Item, len(logged.items))
			for i, it := range logged.items {
				it.Result = &eventstore.Result{}
				items[i] = &it
			}
			past.commit(items, logged.epoch)
		}
	}
	return past.contents
}

// Append implements eventstore.Store. A call is a commit.
func (s *Store) Append(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
	items, results := eventstore.NewItems(appends)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err := s.usable(ctx); err != nil {
		for _, it := range items {
			it.Result.Err = err
		}
		return results
	}
	s.commit(items, s.Epoch())
	return results
}

// commit decides items in a group of their own, and writes those that win.
func (s *Store) commit(items []*eventstore.Item, epoch eventstore.Epoch) {
	g := eventstore.NewGroup(epoch, items)
	g.Mark = s.mark()
	g.Records, g.Holders, g.Receipts, g.Signed = s.records, s.claims, s.receipts, s.signed
	for name := range g.Counts {
		g.Counts[name] = len(s.names[name])
	}
	if g.Decide(); !g.Writes() {
		return
	}
	s.write(g)
	group := logged{epoch: epoch, head: s.mark().Position}
	for _, it := range items {
		group.items = append(group.items, *it)
	}
	s.log = append(s.log, group)
	s.signal.Move(g.Head(), len(g.Redacts) > 0)
}

// write writes what a group did not write itself, into the maps that it decided on.
func (s *Store) write(group *eventstore.Group) {
	for i := range group.Entries {
		entry := &group.Entries[i]
		entry.Leaf = [32]byte{} // its commit has it
		s.history[entry.ID] = append(s.history[entry.ID], len(s.entries))
		s.entries = append(s.entries, *entry)
	}
	s.commits = append(s.commits, group.Commits...)
	changes := group.Changes()
	for _, pair := range changes.DroppedNames {
		s.names[pair.Claim] = slices.DeleteFunc(slices.Clone(s.names[pair.Claim]), func(id calendar.ID) bool { return id == pair.Record })
	}
	for _, pair := range changes.Names {
		s.names[pair.Claim] = insert(slices.Clone(s.names[pair.Claim]), pair.Record)
	}
	for _, held := range changes.Records {
		s.ids = insert(s.ids, held.ID)
		s.lastID = max(s.lastID, held.ID)
	}
	s.slugs = append(s.slugs, group.Slugs...)
	for _, id := range group.Redacts {
		s.redact(id)
	}
}

// insert inserts an id into a list in order.
func insert(ids []calendar.ID, id calendar.ID) []calendar.ID {
	at, there := slices.BinarySearch(ids, id)
	if there {
		return ids
	}
	return slices.Insert(ids, at, id)
}

// redact takes away what is left of a record whose last entry erased it.
func (s *Store) redact(id calendar.ID) {
	for _, at := range s.history[id] {
		if entry := &s.entries[at]; entry.Redacted == nil && entry.Version < s.records[id].Version {
			entry.Redact(s.records[id].Position)
		}
	}
	s.slugs = slices.DeleteFunc(s.slugs, func(t eventstore.Taken) bool { return t.Record == id })
}

// mark returns the mark of the head.
func (c *contents) mark() calendar.Mark {
	if n := len(c.commits); n > 0 {
		return calendar.Mark{Position: c.commits[n-1].Last, Hash: c.commits[n-1].Hash}
	}
	return calendar.Mark{}
}

// newest returns the size of the newest checkpoint, 0 for none.
func (c *contents) newest() calendar.Position {
	return slices.Max(slices.AppendSeq([]calendar.Position{0}, maps.Keys(c.signed)))
}

// usable returns why the store cannot be used; the mutex is held.
func (s *Store) usable(ctx context.Context) error {
	if s.closed {
		return eventstore.ErrClosed
	}
	return ctx.Err()
}

// reading runs a function that reads.
func reading[T any](ctx context.Context, store *Store, read func() (T, error)) (none T, err error) {
	store.mutex.RLock()
	defer store.mutex.RUnlock()
	if err := store.usable(ctx); err != nil {
		return none, err
	}
	return read()
}

// Receipt implements eventstore.Store.
func (s *Store) Receipt(ctx context.Context, user calendar.ID, key string) (*eventstore.Receipt, error) {
	return reading(ctx, s, func() (*eventstore.Receipt, error) {
		return s.receipts[eventstore.ReceiptKey{User: user, Key: key}], nil
	})
}

// Sync implements eventstore.Store.
func (s *Store) Sync(ctx context.Context) error {
	_, err := reading(ctx, s, func() (any, error) { return nil, nil })
	return err
}

// NewIDs implements eventstore.Store.
func (s *Store) NewIDs(ctx context.Context, n int) (calendar.ID, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	s.lastID += calendar.ID(n)
	return s.lastID - calendar.ID(n) + 1, nil
}

// Load implements eventstore.Store.
func (s *Store) Load(ctx context.Context, ids ...calendar.ID) ([]eventstore.State, error) {
	return reading(ctx, s, func() ([]eventstore.State, error) {
		out := make([]eventstore.State, len(ids))
		for i, id := range ids {
			if held := s.records[id]; held != nil {
				out[i] = held.State
			}
		}
		return out, nil
	})
}

// At implements eventstore.Store.
func (s *Store) At(ctx context.Context, point eventstore.Point, ids ...calendar.ID) ([]eventstore.Entry, error) {
	if err := point.Check(); err != nil {
		return nil, err
	}
	return reading(ctx, s, func() ([]eventstore.Entry, error) {
		out := make([]eventstore.Entry, len(ids))
		for i, id := range ids {
			for _, at := range s.history[id] {
				if point.Counts(&s.entries[at]) {
					out[i] = s.entries[at]
				}
			}
		}
		return out, nil
	})
}

// Find implements eventstore.Store.
func (s *Store) Find(ctx context.Context, lookup eventstore.Lookup) (eventstore.Found, error) {
	return reading(ctx, s, func() (found eventstore.Found, err error) {
		for _, claim := range lookup.Claims {
			found.Holders = append(found.Holders, s.claims[claim])
		}
		for _, n := range lookup.Names {
			found.Named = append(found.Named, s.names[n])
		}
		for _, claim := range lookup.Slugs {
			var taken []eventstore.Taken
			for _, t := range slices.Backward(s.slugs) {
				if t.Claim == claim {
					taken = append(taken, t)
				}
			}
			found.Taken = append(found.Taken, taken)
		}
		for _, size := range slices.Sorted(maps.Keys(s.signed)) {
			if uint64(size) > lookup.Signed.After && len(found.Signed) < lookup.Signed.Limit {
				found.Signed = append(found.Signed, s.signed[size])
			}
		}
		return found, nil
	})
}

// Records implements eventstore.Store.
func (s *Store) Records(ctx context.Context, kind calendar.Kind, after calendar.ID, limit int) ([]eventstore.Held, error) {
	return reading(ctx, s, func() (out []eventstore.Held, err error) {
		at, _ := slices.BinarySearch(s.ids, after+1)
		for _, id := range s.ids[at:] {
			if held := s.records[id]; len(out) < limit && (kind == 0 || held.Kind == kind) {
				out = append(out, *held)
			}
		}
		if out = cut(out, func(held *eventstore.Held) int { return held.Size() }); kind != 0 || limit <= 0 {
			return out, nil
		}
		last := calendar.ID(math.MaxInt64)
		if len(out) > 0 {
			last = out[len(out)-1].ID
		}
		stray := func(id calendar.ID) {
			if s.records[id] == nil && id > after && id <= last {
				err = fmt.Errorf("%w: claims or names of record %d, which is not there", eventstore.ErrDamaged, id)
			}
		}
		for _, id := range s.claims {
			stray(id)
		}
		for _, ids := range s.names {
			for _, id := range ids {
				stray(id)
			}
		}
		return out, err
	})
}

// Read implements eventstore.Store.
func (s *Store) Read(ctx context.Context, r eventstore.Range) ([]eventstore.Entry, error) {
	return reading(ctx, s, func() (out []eventstore.Entry, err error) {
		if r.Record == 0 {
			out = page(s.entries, r.After, r.Limit)
		}
		for _, at := range page(s.history[r.Record], r.After, r.Limit) {
			out = append(out, s.entries[at])
		}
		return cut(out, (*eventstore.Entry).Size), nil
	})
}

// Commits implements eventstore.Store.
func (s *Store) Commits(ctx context.Context, from calendar.Position, limit int) ([]eventstore.Commit, error) {
	return reading(ctx, s, func() ([]eventstore.Commit, error) {
		return page(s.commits, s.commitOf(from), limit), nil
	})
}

// commitOf returns the index of the commit that holds an entry.
func (c *contents) commitOf(position calendar.Position) int {
	at, _ := slices.BinarySearchFunc(c.commits, position, func(commit eventstore.Commit, position calendar.Position) int {
		return cmp.Compare(commit.Last, position)
	})
	return at
}

// page returns a copy of up to limit elements after the first n.
func page[T any, N int | uint64](all []T, n N, limit int) []T {
	if n >= N(len(all)) || limit <= 0 {
		return nil
	}
	all = all[n:]
	return slices.Clone(all[:min(limit, len(all))])
}

// cut returns the beginning of a page that PageBytes allows, one at least.
func cut[T any](page []T, size func(*T) int) []T {
	left := eventstore.PageBytes
	for i := range page {
		if left -= size(&page[i]); left <= 0 {
			return page[:i+1]
		}
	}
	return page
}

// Head implements eventstore.Store.
func (s *Store) Head(ctx context.Context, point eventstore.Point) (eventstore.Head, error) {
	return reading(ctx, s, func() (eventstore.Head, error) {
		head := s.signal.Head()
		if point == (eventstore.Point{}) {
			return head, nil
		}
		if err := point.Check(); err != nil {
			return eventstore.Head{}, err
		}
		if point.Position > head.Position {
			return eventstore.Head{}, eventstore.ErrAhead
		}
		head.Mark = calendar.Mark{}
		for i := range s.entries {
			if entry := &s.entries[i]; point.Counts(entry) {
				if head.Position = entry.Position; entry.Time.After(head.Time) {
					head.Time = entry.Time
				}
			}
		}
		if head.Position > 0 {
			head.Hash = s.commits[s.commitOf(head.Position)].Hash
		}
		return head, nil
	})
}

// Epoch implements eventstore.Store.
func (s *Store) Epoch() eventstore.Epoch { return s.signal.Epoch() }
