// Package memstore keeps the event store in memory: the conforming store that callers
// are tested against. It keeps the whole promise of the port but durability, and receipts
// for ever.
package memstore

import (
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
	records  map[calendar.ID]*eventstore.Held
	history  map[calendar.ID][]int // of a record, as indexes of entries
	ids      []calendar.ID         // of records, ascending
	claims   map[calendar.Claim]calendar.ID
	names    map[calendar.Name][]calendar.ID // ascending
	receipts map[eventstore.ReceiptKey]*eventstore.Receipt
	slugs    []eventstore.TakenClaim
	signed   map[calendar.Position]eventstore.Checkpoint // by size
	lastID   calendar.ID
	log      []committed
}

// committed is an item that was written, kept for Rewind.
type committed struct {
	eventstore.Item

	epoch eventstore.Epoch
	head  calendar.Position // after it
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
func (store *Store) Close() error {
	store.mutex.Lock()
	defer store.mutex.Unlock()
	store.closed = true
	store.signal.Close()
	return nil
}

// Reopen closes the store and returns a new one that holds what it held, as a restart of
// the process would find it.
func (store *Store) Reopen() *Store {
	_ = store.Close() // it returns no error
	store.mutex.RLock()
	defer store.mutex.RUnlock()
	return &Store{signal: eventstore.NewSignal(store.signal.Head()), contents: store.upTo(math.MaxUint64)}
}

// Rewind takes the store back to an earlier head, as a failover that loses the last
// entries does: what is appended next makes another history. Of commits that end after
// the position nothing is left.
func (store *Store) Rewind(position calendar.Position) {
	store.mutex.Lock()
	defer store.mutex.Unlock()
	store.contents = store.upTo(position)
	store.signal.Reset(eventstore.Head{Mark: store.mark(), UUID: store.signal.Head().UUID})
}

// upTo returns what the store held when a position was its head.
func (contents *contents) upTo(head calendar.Position) contents {
	past := New()
	for _, logged := range contents.log {
		if logged.head <= head {
			past.commit(&logged.Item, logged.epoch)
		}
	}
	return past.contents
}

// Append implements eventstore.Store. A call is a commit.
func (store *Store) Append(ctx context.Context, addition eventstore.Append) eventstore.Result {
	item := eventstore.NewItem(addition)
	store.mutex.Lock()
	defer store.mutex.Unlock()
	if err := store.usable(ctx); err != nil {
		return eventstore.Result{Err: err}
	}
	store.commit(item, store.Epoch())
	return item.Result
}

// commit decides an item in a group of its own, and writes it if it wins.
func (store *Store) commit(item *eventstore.Item, epoch eventstore.Epoch) {
	g := eventstore.NewGroup(epoch, []*eventstore.Item{item})
	g.Mark = store.mark()
	g.Records, g.Holders, g.Receipts, g.Signed = store.records, store.claims, store.receipts, store.signed
	for name := range g.Counts {
		g.Counts[name] = len(store.names[name])
	}
	g.Decide()
	store.write(g)
	store.log = append(store.log, committed{*item, epoch, g.Mark.Position})
	store.signal.Move(g.Mark, len(g.Redacts) > 0)
}

// write writes what a group did not write itself, into the maps that it decided on.
func (store *Store) write(group *eventstore.Group) {
	for i := range group.Entries {
		entry := &group.Entries[i]
		store.history[entry.ID] = append(store.history[entry.ID], len(store.entries))
		store.entries = append(store.entries, *entry)
	}
	changes := group.Changes()
	for _, held := range changes.Before {
		for _, name := range held.Names {
			store.names[name] = slices.DeleteFunc(slices.Clone(store.names[name]), func(id calendar.ID) bool { return id == held.ID })
		}
	}
	for _, pair := range changes.Names {
		store.names[pair.Claim] = insert(slices.Clone(store.names[pair.Claim]), pair.Record)
	}
	for _, held := range changes.Records {
		store.ids = insert(store.ids, held.ID)
		store.lastID = max(store.lastID, held.ID)
	}
	store.slugs = append(store.slugs, group.Slugs...)
	for _, id := range group.Redacts {
		store.redact(id)
	}
}

// insert inserts an id into a list in order.
func insert(ids []calendar.ID, id calendar.ID) []calendar.ID {
	index, there := slices.BinarySearch(ids, id)
	if there {
		return ids
	}
	return slices.Insert(ids, index, id)
}

// redact takes away what is left of a record whose last entry erased it.
func (store *Store) redact(id calendar.ID) {
	for _, index := range store.history[id] {
		if entry := &store.entries[index]; entry.Redacted == nil && entry.Version < store.records[id].Version {
			entry.Redact(store.records[id].Position)
		}
	}
	store.slugs = slices.DeleteFunc(store.slugs, func(taken eventstore.TakenClaim) bool { return taken.Record == id })
}

// mark returns the mark of the head.
func (contents *contents) mark() (mark calendar.Mark) {
	if count := len(contents.entries); count > 0 {
		mark = contents.entries[count-1].Mark()
	}
	return mark
}

// usable returns why the store cannot be used; the mutex is held.
func (store *Store) usable(ctx context.Context) error {
	if store.closed {
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
func (store *Store) Receipt(ctx context.Context, user calendar.ID, key string) (*eventstore.Receipt, error) {
	return reading(ctx, store, func() (*eventstore.Receipt, error) {
		return store.receipts[eventstore.ReceiptKey{User: user, Key: key}], nil
	})
}

// Sync implements eventstore.Store.
func (store *Store) Sync(ctx context.Context) error {
	_, err := reading(ctx, store, func() (any, error) { return nil, nil })
	return err
}

// NewID implements eventstore.Store.
func (store *Store) NewID(ctx context.Context) (calendar.ID, error) {
	store.mutex.Lock()
	defer store.mutex.Unlock()
	if err := store.usable(ctx); err != nil {
		return 0, err
	}
	store.lastID++
	return store.lastID, nil
}

// Load implements eventstore.Store.
func (store *Store) Load(ctx context.Context, ids ...calendar.ID) ([]eventstore.State, error) {
	return reading(ctx, store, func() ([]eventstore.State, error) {
		states := make([]eventstore.State, len(ids))
		for i, id := range ids {
			if held := store.records[id]; held != nil {
				states[i] = held.State
			}
		}
		return states, nil
	})
}

// At implements eventstore.Store.
func (store *Store) At(ctx context.Context, point eventstore.Point, ids ...calendar.ID) ([]eventstore.Entry, error) {
	return reading(ctx, store, func() ([]eventstore.Entry, error) {
		entries := make([]eventstore.Entry, len(ids))
		for i, id := range ids {
			for _, index := range store.history[id] {
				if point.Counts(&store.entries[index]) {
					entries[i] = store.entries[index]
				}
			}
		}
		return entries, nil
	})
}

// Find implements eventstore.Store.
func (store *Store) Find(ctx context.Context, lookup eventstore.Lookup) (eventstore.Found, error) {
	return reading(ctx, store, func() (found eventstore.Found, err error) {
		for _, claim := range lookup.Claims {
			found.Holders = append(found.Holders, store.claims[claim])
		}
		for _, name := range lookup.Names {
			found.Named = append(found.Named, store.names[name])
		}
		for _, claim := range lookup.Slugs {
			for _, taken := range slices.Backward(store.slugs) {
				if taken.Claim == claim {
					found.Taken = append(found.Taken, taken)
				}
			}
		}
		sizes := slices.Sorted(maps.Keys(store.signed))
		if lookup.Signed.Recent {
			slices.Reverse(sizes)
		}
		for _, size := range sizes {
			if uint64(size) > lookup.Signed.After && len(found.Signed) < lookup.Signed.Limit {
				found.Signed = append(found.Signed, store.signed[size])
			}
		}
		return found, nil
	})
}

// Records implements eventstore.Store.
func (store *Store) Records(ctx context.Context, kind calendar.Kind, after calendar.ID, limit int) ([]eventstore.Held, error) {
	return reading(ctx, store, func() (helds []eventstore.Held, err error) {
		index, _ := slices.BinarySearch(store.ids, after+1)
		for _, id := range store.ids[index:] {
			if held := store.records[id]; len(helds) < limit && (kind == 0 || held.Kind == kind) {
				helds = append(helds, *held)
			}
		}
		if helds = cut(helds, func(held *eventstore.Held) int { return held.Size() }); kind != 0 || limit <= 0 {
			return helds, nil
		}
		last := calendar.ID(math.MaxInt64)
		if len(helds) > 0 {
			last = helds[len(helds)-1].ID
		}
		stray := func(id calendar.ID) {
			if store.records[id] == nil && id > after && id <= last {
				err = fmt.Errorf("%w: claims or names of record %d, which is not there", eventstore.ErrDamaged, id)
			}
		}
		for _, id := range store.claims {
			stray(id)
		}
		for _, ids := range store.names {
			for _, id := range ids {
				stray(id)
			}
		}
		return helds, err
	})
}

// Read implements eventstore.Store.
func (store *Store) Read(ctx context.Context, bounds eventstore.Range) ([]eventstore.Entry, error) {
	return reading(ctx, store, func() (entries []eventstore.Entry, err error) {
		if bounds.Record == 0 {
			entries = page(store.entries, bounds.After, bounds.Limit)
		}
		for _, index := range page(store.history[bounds.Record], bounds.After, bounds.Limit) {
			entries = append(entries, store.entries[index])
		}
		if !bounds.Leaves {
			entries = cut(entries, (*eventstore.Entry).Size)
		}
		return entries, nil
	})
}

// page returns a copy of up to limit elements after the first n.
func page[T any](every []T, n uint64, limit int) []T {
	if n >= uint64(len(every)) || limit <= 0 {
		return nil
	}
	every = every[n:]
	return slices.Clone(every[:min(limit, len(every))])
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
func (store *Store) Head(ctx context.Context, point eventstore.Point) (eventstore.Head, error) {
	return reading(ctx, store, func() (eventstore.Head, error) {
		head := store.signal.Head()
		if point == (eventstore.Point{}) {
			return head, nil
		}
		if point.Position > head.Position {
			return eventstore.Head{}, eventstore.ErrAhead
		}
		head.Mark = calendar.Mark{}
		for i := range store.entries {
			if entry := &store.entries[i]; point.Counts(entry) {
				if head.Mark = entry.Mark(); entry.Time.After(head.Time) {
					head.Time = entry.Time
				}
			}
		}
		return head, nil
	})
}

// Epoch implements eventstore.Store.
func (store *Store) Epoch() eventstore.Epoch { return store.signal.Epoch() }
