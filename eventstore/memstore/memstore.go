// Package memstore keeps the event store in memory: the conforming store that
// callers are tested against. It keeps the whole promise of eventstore.Store
// but durability, and receipts for ever.
package memstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/google/uuid"

	"daybook/calendar"
	"daybook/eventstore"
)

// Store is an event store in memory.
type Store struct {
	mu       sync.RWMutex
	closed   bool
	signal   *eventstore.Signal
	entries  []eventstore.Entry
	leaves   [][32]byte
	commits  []eventstore.Commit
	records  map[calendar.ID]*record
	ids      []calendar.ID // of records, ascending
	claims   map[calendar.Claim]calendar.ID
	names    map[calendar.Name]map[calendar.ID]bool
	receipts map[eventstore.ReceiptKey]*eventstore.Receipt
	slugs    []eventstore.SlugTaken
	signed   []eventstore.Checkpoint
	lastID   calendar.ID
	erased   []calendar.ID
	log      []logged
	uuid     [16]byte
}

// logged are the Appends of one commit with their entries, kept for Rewind.
type logged struct {
	appends []eventstore.Append
	entries []eventstore.Entry
	erased  []calendar.ID // of an erasure, in which all win or none
}

// toLog makes ready what is to be committed.
func toLog(appends ...eventstore.Append) logged {
	l := logged{appends: appends}
	for _, a := range appends {
		for n := range a.Drafts {
			l.entries = append(l.entries, a.Entry(n))
		}
	}
	return l
}

var _ eventstore.Verifier = (*Store)(nil)

type record struct {
	*eventstore.Held

	entries []int // places in Store.entries
}

// New makes an empty store.
func New() *Store {
	return &Store{
		signal:   &eventstore.Signal{},
		records:  map[calendar.ID]*record{},
		claims:   map[calendar.Claim]calendar.ID{},
		names:    map[calendar.Name]map[calendar.ID]bool{},
		receipts: map[eventstore.ReceiptKey]*eventstore.Receipt{},
		uuid:     uuid.New(),
	}
}

// Close ends the store; all later calls give eventstore.ErrClosed.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.signal.Close()
	return nil
}

// Reopen closes the store and gives a new one that holds what it held, as a
// restart of the process would find it.
func (s *Store) Reopen() *Store {
	_ = s.Close() // gives no error
	s.mu.Lock()
	defer s.mu.Unlock()
	n := &Store{
		signal:   &eventstore.Signal{},
		entries:  slices.Clone(s.entries),
		leaves:   slices.Clone(s.leaves),
		commits:  slices.Clone(s.commits),
		records:  maps.Clone(s.records),
		ids:      slices.Clone(s.ids),
		claims:   maps.Clone(s.claims),
		names:    maps.Clone(s.names),
		receipts: maps.Clone(s.receipts),
		slugs:    slices.Clone(s.slugs),
		signed:   slices.Clone(s.signed),
		erased:   slices.Clone(s.erased),
		log:      slices.Clone(s.log),
		uuid:     s.uuid,
	}
	if len(n.ids) > 0 {
		n.lastID = n.ids[len(n.ids)-1]
	}
	n.signal.Move(calendar.Position(len(n.entries)))
	return n
}

// Rewind takes the store back to an earlier head, as a failover that loses the last
// entries does: what is appended next makes another history. Of commits that end
// after the position nothing is left, receipts without entries stay.
func (s *Store) Rewind(to calendar.Position) {
	s.mu.Lock()
	defer s.mu.Unlock()
	past := New()
	for key, r := range s.receipts {
		if r.Position == 0 {
			past.receipts[key] = r
		}
	}
	for i := range s.log {
		if s.commits[i].Last > to {
			break
		}
		past.decide(s.log[i], s.log[i].appends[0].Epoch)
	}
	for _, c := range s.signed {
		if c.Size <= calendar.Position(len(past.entries)) {
			past.signed = append(past.signed, c)
		}
	}
	s.entries, s.leaves, s.commits, s.log = past.entries, past.leaves, past.commits, past.log
	s.slugs, s.signed, s.erased = past.slugs, past.signed, past.erased
	s.records, s.ids, s.claims, s.names, s.receipts = past.records, past.ids, past.claims, past.names, past.receipts
	s.signal.Reset(calendar.Position(len(s.entries)))
}

// Append does eventstore.Store.
func (s *Store) Append(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
	results := make([]eventstore.Result, len(appends))
	for i := range appends {
		results[i] = s.appendOne(ctx, &appends[i])
		if appends[i].Later && len(appends) == 1 && (results[i].Err == nil || errors.Is(results[i].Err, eventstore.ErrKeyReused)) {
			results[i] = eventstore.Result{} // told to nobody
		}
	}
	return results
}

func (s *Store) appendOne(ctx context.Context, a *eventstore.Append) eventstore.Result {
	if err := a.Check(); err != nil {
		return eventstore.Result{Err: err}
	}
	if err := ctx.Err(); err != nil {
		return eventstore.Result{Err: err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return eventstore.Result{Err: eventstore.ErrClosed}
	}
	res := s.decide(toLog(*a), s.Epoch())
	s.signal.Move(calendar.Position(len(s.entries)))
	return res
}

// decide decides Appends in a group of their own and writes them with their entries,
// all of them or none. The result is that of the first one, or of the one that lost.
func (s *Store) decide(l logged, epoch uint64) (first eventstore.Result) {
	g := eventstore.NewGroup(calendar.Position(len(s.entries)), epoch)
	if g.Holders = s.claims; len(l.appends) > 1 { // of one alone nothing is taken that is not kept
		g.Holders = maps.Clone(s.claims)
	}
	for i := range l.appends {
		a := &l.appends[i]
		for _, guard := range a.Guards {
			g.Counts[guard.Name] = len(s.names[guard.Name])
		}
		for i := range a.Drafts {
			if id := a.Drafts[i].ID; s.records[id] != nil {
				g.Records[id] = s.records[id].Held
			}
		}
		if a.Receipt != nil { // it is looked for, also when nobody waits
			g.Receipts[a.Receipt.Name()] = s.receipts[a.Receipt.Name()]
		}
	}
	for i := range l.appends {
		res, accepted := g.Decide(&l.appends[i])
		switch {
		case res.Err != nil:
			return res
		case i == 0:
			first = res
		}
		if !accepted {
			l.entries = nil
		}
	}
	if len(l.entries) > 0 {
		s.claims = g.Holders
		s.write(l, g)
	}
	for _, r := range g.Kept {
		s.keep(r)
	}
	return first
}

func (s *Store) write(l logged, g *eventstore.Group) {
	first := calendar.Position(len(s.entries)) + 1
	at := map[calendar.ID][]int{} // entries by record
	for _, e := range l.entries {
		e.Position = calendar.Position(len(s.entries)) + 1
		at[e.ID] = append(at[e.ID], len(s.entries))
		s.entries = append(s.entries, e)
		s.leaves = append(s.leaves, eventstore.Leaf(&e))
	}
	for id, before := range g.Before {
		s.put(g.Records[id], before, at[id])
	}
	s.log = append(s.log, l)
	s.slugs = append(s.slugs, g.Slugs...)
	var before [32]byte
	if n := len(s.commits); n > 0 {
		before = s.commits[n-1].Hash
	}
	s.commits = append(s.commits, eventstore.Commit{
		First: first,
		Last:  calendar.Position(len(s.entries)),
		Hash:  eventstore.ChainHash(before, first, s.leaves[first-1:]),
	})
	for _, id := range l.erased {
		s.redact(id)
	}
}

// put keeps a record with its new entries in the place of the one before.
func (s *Store) put(h, before *eventstore.Held, entries []int) {
	if len(h.Secret) == 0 {
		h.Secret = nil
	}
	if before == nil {
		at, _ := slices.BinarySearch(s.ids, h.ID)
		s.ids = slices.Insert(s.ids, at, h.ID)
		s.lastID = max(s.lastID, h.ID)
	} else {
		entries = append(slices.Clip(s.records[h.ID].entries), entries...)
		for _, name := range before.Names {
			delete(s.names[name], h.ID)
			if len(s.names[name]) == 0 {
				delete(s.names, name)
			}
		}
	}
	for _, name := range h.Names {
		if s.names[name] == nil {
			s.names[name] = map[calendar.ID]bool{}
		}
		s.names[name][h.ID] = true
	}
	s.records[h.ID] = &record{h, entries}
}

// read locks the store for reading; the caller unlocks when there is no error.
func (s *Store) read(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.RLock()
	if s.closed {
		s.mu.RUnlock()
		return eventstore.ErrClosed
	}
	return nil
}

// Load does eventstore.Store.
func (s *Store) Load(ctx context.Context, ids ...calendar.ID) ([]eventstore.State, error) {
	if err := s.read(ctx); err != nil {
		return nil, err
	}
	defer s.mu.RUnlock()
	out := make([]eventstore.State, len(ids))
	for i, id := range ids {
		if r := s.records[id]; r != nil {
			out[i] = r.State
		}
	}
	return out, nil
}

// Versions does eventstore.Store.
func (s *Store) Versions(ctx context.Context, ids ...calendar.ID) ([]int64, error) {
	states, err := s.Load(ctx, ids...)
	out := make([]int64, len(states))
	for i := range states {
		out[i] = states[i].Version
	}
	return out, err
}

// History does eventstore.Store.
func (s *Store) History(ctx context.Context, id calendar.ID, after int64, limit int) ([]eventstore.Entry, error) {
	if err := s.read(ctx); err != nil {
		return nil, err
	}
	defer s.mu.RUnlock()
	var out []eventstore.Entry
	if r := s.records[id]; r != nil {
		for _, at := range page(r.entries, max(after, 0), limit) {
			out = append(out, s.entries[at])
		}
	}
	return eventstore.CutPage(out), nil
}

// ReadAll does eventstore.Store.
func (s *Store) ReadAll(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Entry, error) {
	if err := s.read(ctx); err != nil {
		return nil, err
	}
	defer s.mu.RUnlock()
	return slices.Clone(eventstore.CutPage(page(s.entries, after, limit))), nil
}

// Records does eventstore.Store.
func (s *Store) Records(ctx context.Context, kind calendar.Kind, after calendar.ID, limit int) ([]eventstore.State, error) {
	if err := s.read(ctx); err != nil {
		return nil, err
	}
	defer s.mu.RUnlock()
	at, _ := slices.BinarySearch(s.ids, after+1)
	var out []eventstore.State
	for _, id := range s.ids[at:] {
		if len(out) >= limit {
			break
		}
		if r := s.records[id]; kind == 0 || r.Kind == kind {
			out = append(out, r.State)
		}
	}
	return eventstore.CutPage(out), nil
}

// Wait does eventstore.Store.
func (s *Store) Wait(ctx context.Context, after calendar.Position) (calendar.Position, error) {
	return s.signal.Wait(ctx, after)
}

// Head does eventstore.Store.
func (s *Store) Head(ctx context.Context) (calendar.Position, error) {
	if err := s.read(ctx); err != nil {
		return 0, err
	}
	defer s.mu.RUnlock()
	return calendar.Position(len(s.entries)), nil
}

// Mark does eventstore.Store.
func (s *Store) Mark(ctx context.Context, p calendar.Position) (eventstore.Mark, error) {
	if err := s.read(ctx); err != nil {
		return eventstore.Mark{}, err
	}
	defer s.mu.RUnlock()
	at, _ := slices.BinarySearchFunc(s.commits, p, func(c eventstore.Commit, p calendar.Position) int {
		return cmp.Compare(c.Last, p)
	})
	switch {
	case p == 0:
		return eventstore.Mark{}, nil
	case at == len(s.commits):
		return eventstore.Mark{}, eventstore.ErrAhead
	default:
		return eventstore.Mark{Position: p, Hash: s.commits[at].Hash}, nil
	}
}

// UUID does eventstore.Store.
func (s *Store) UUID(ctx context.Context) ([16]byte, error) {
	if err := s.read(ctx); err != nil {
		return [16]byte{}, err
	}
	defer s.mu.RUnlock()
	return s.uuid, nil
}

// Epoch does eventstore.Store.
func (s *Store) Epoch() uint64 { return s.signal.Epoch() }

// Find does eventstore.Store.
func (s *Store) Find(ctx context.Context, claims []calendar.Claim, names []calendar.Name) (holders []calendar.ID, found [][]calendar.ID, err error) {
	if err := s.read(ctx); err != nil {
		return nil, nil, err
	}
	defer s.mu.RUnlock()
	holders = make([]calendar.ID, len(claims))
	for i, c := range claims {
		holders[i] = s.claims[c]
	}
	found = make([][]calendar.ID, len(names))
	for i, n := range names {
		found[i] = slices.Sorted(maps.Keys(s.names[n]))
	}
	return holders, found, nil
}

// NewIDs does eventstore.Store.
func (s *Store) NewIDs(ctx context.Context, n int) (calendar.ID, error) {
	if err := eventstore.CheckCount(n); err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, eventstore.ErrClosed
	}
	first := s.lastID + 1
	s.lastID += calendar.ID(n)
	return first, nil
}

// ReadStored does eventstore.Verifier; memory is the medium.
func (s *Store) ReadStored(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Entry, error) {
	return s.ReadAll(ctx, after, limit)
}

// Commits does eventstore.Verifier.
func (s *Store) Commits(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Commit, error) {
	if err := s.read(ctx); err != nil {
		return nil, err
	}
	defer s.mu.RUnlock()
	at, _ := slices.BinarySearchFunc(s.commits, after+1, func(c eventstore.Commit, p calendar.Position) int {
		return int(int64(c.First) - int64(p))
	})
	return slices.Clone(page(s.commits, at, limit)), nil
}

// Leaves does eventstore.Verifier.
func (s *Store) Leaves(ctx context.Context, after calendar.Position, limit int) ([][32]byte, error) {
	if err := s.read(ctx); err != nil {
		return nil, err
	}
	defer s.mu.RUnlock()
	return slices.Clone(page(s.leaves, after, limit)), nil
}

// page gives up to limit elements after the first n.
func page[T any, N int | int64 | calendar.Position](all []T, n N, limit int) []T {
	if n >= N(len(all)) || limit <= 0 {
		return nil
	}
	all = all[n:]
	return all[:min(limit, len(all))]
}

// Holdings does eventstore.Verifier.
func (s *Store) Holdings(ctx context.Context, after calendar.ID, limit int) ([]eventstore.Holding, error) {
	if err := s.read(ctx); err != nil {
		return nil, err
	}
	defer s.mu.RUnlock()
	at, _ := slices.BinarySearch(s.ids, after+1)
	ids := s.ids[at:]
	out := make([]eventstore.Holding, 0, min(max(limit, 0), len(ids)))
	for _, id := range ids[:cap(out)] {
		r := s.records[id]
		out = append(out, eventstore.Holding{ID: id, Claims: r.Claims, Names: r.Names})
	}
	return out, nil
}

// Inspect does eventstore.Verifier.
func (s *Store) Inspect(ctx context.Context) error {
	if err := s.read(ctx); err != nil {
		return err
	}
	defer s.mu.RUnlock()
	for c, id := range s.claims {
		if r := s.records[id]; r == nil || !slices.Contains(r.Claims, c) {
			return fmt.Errorf("%w: claim %s/%s of record %d, which does not hold it", eventstore.ErrDamaged, c.Space, c.Key, id)
		}
	}
	for n, ids := range s.names {
		for id := range ids {
			if r := s.records[id]; r == nil || !slices.Contains(r.Names, n) {
				return fmt.Errorf("%w: name %s/%s of record %d, which does not have it", eventstore.ErrDamaged, n.Space, n.Key, id)
			}
		}
	}
	return nil
}
