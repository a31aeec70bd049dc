package sqlite

import (
	"context"
	"runtime"
	"sync"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/ground/groupcommit"
)

// The most that one commit takes.
const (
	groupAppends = 256
	groupBytes   = 8 << 20
)

// item is one Append on its way to the committer, with all that can be made
// ready outside the commit.
type item struct {
	groupcommit.Part

	a       eventstore.Append
	entries []eventstore.Entry // without positions
	leaves  [][32]byte
	bodies  [][]byte
	result  *eventstore.Result
}

// Append does eventstore.Store.
func (s *Store) Append(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
	results := make([]eventstore.Result, len(appends))
	if len(appends) == 0 {
		return results
	}
	if err := s.usable(ctx); err != nil {
		return failAll(len(appends), err)
	}
	if len(appends) == 1 && appends[0].LooksUp() {
		results[0] = s.lookUp(ctx, &appends[0])
		return results
	}
	items := make([]*item, 0, len(appends))
	for i := range appends {
		it, err := newItem(&appends[i])
		if err != nil {
			results[i].Err = err
			continue
		}
		if it.a.Later = it.a.Later && len(appends) == 1; it.a.Later {
			results[i] = s.appendLater(it)
			return results
		}
		it.result = &results[i]
		items = append(items, it)
	}
	if len(items) == 0 {
		return results
	}
	if err := s.share(ctx, items); err != nil {
		return failAll(len(appends), err)
	}
	return results
}

// share has items committed, with those of others where there are any.
func (s *Store) share(ctx context.Context, items []*item) error {
	call := groupcommit.Begin(items)
	if s.commitAlone(ctx, items) {
		return nil
	}
	if !s.queue.Add(items) {
		return eventstore.ErrClosed
	}
	return call.Wait(ctx)
}

func newItem(a *eventstore.Append) (*item, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	it := &item{a: *a, entries: make([]eventstore.Entry, len(a.Drafts)), leaves: make([][32]byte, len(a.Drafts)), bodies: make([][]byte, len(a.Drafts))}
	size := 0
	for i := range a.Drafts {
		e := a.Entry(i)
		it.entries[i] = e
		it.leaves[i] = eventstore.Leaf(&e)
		it.bodies[i] = packBody(e.Fields, e.State)
		size += len(it.bodies[i])
	}
	if a.Receipt != nil {
		size += len(a.Receipt.Answer)
	}
	it.Part = groupcommit.Sized(size)
	return it, nil
}

// written is an entry with what is stored beside it.
type written struct {
	entry *eventstore.Entry
	leaf  *[32]byte
	body  []byte // packed
}

// placed adds the entries of an item, of which the last has a position, to others.
func (it *item) placed(to []written, last calendar.Position) []written {
	for i := range it.entries {
		it.entries[i].Position = last - calendar.Position(len(it.entries)-1-i)
		to = append(to, written{&it.entries[i], &it.leaves[i], it.bodies[i]})
	}
	return to
}

func failAll(n int, err error) []eventstore.Result {
	results := make([]eventstore.Result, n)
	for i := range results {
		results[i].Err = err
	}
	return results
}

// appendLater takes an item for which nobody waits.
func (s *Store) appendLater(it *item) eventstore.Result {
	key := it.a.Receipt.Name()
	it.result = &eventstore.Result{}
	s.later.Store(key, it)
	if !s.queue.AddLater(it) {
		s.later.CompareAndDelete(key, it)
		return eventstore.Result{Err: eventstore.ErrClosed}
	}
	return eventstore.Result{}
}

// lookUp answers an Append that only looks for its receipt: without the committer,
// unless that has something for it.
func (s *Store) lookUp(ctx context.Context, a *eventstore.Append) eventstore.Result {
	if err := a.Check(); err != nil {
		return eventstore.Result{Err: err}
	}
	if _, waits := s.later.Load(a.Receipt.Name()); waits {
		it := &item{a: *a, result: &eventstore.Result{}}
		if err := s.share(ctx, []*item{it}); err != nil {
			return eventstore.Result{Err: err}
		}
		return *it.result
	}
	if lacks(s.filter, a.Receipt.Name()) {
		return eventstore.Result{Position: s.signal.Head()}
	}
	found, err := all(ctx, s, s.read.receipt, scanReceipt, int64(a.Receipt.User), a.Receipt.Key)
	if err != nil {
		return eventstore.Result{Err: wrap(err, "receipt %q", a.Receipt.Key)}
	}
	res := eventstore.Result{Position: s.signal.Head()}
	if len(found) == 0 {
		return res
	}
	if found[0].Fingerprint != a.Receipt.Fingerprint {
		return eventstore.Result{Err: found[0].Reused()}
	}
	res.Receipt = found[0]
	return res
}

// turn is had by who commits: the committer, or a caller that is alone.
type turn struct {
	sync.Mutex
	delay groupcommit.Delay
}

// delayCommits is how many commits' time others are waited for at most (ADR 18).
const delayCommits = 2

// commitAll is the committer: it takes what arrived during the last commit
// until the queue is closed and empty.
func (s *Store) commitAll(ctx context.Context) {
	defer close(s.drained)
	last := 0
	for {
		// Those who were just answered are about to come back: let them run, so
		// that they share this commit instead of waiting for the next one.
		for n := -1; last > 1 && n < s.queue.Len(); {
			n = s.queue.Len()
			runtime.Gosched()
		}
		over := s.queue.Wait()
		s.turn.Lock()
		if over {
			s.turn.Unlock()
			return
		}
		items := s.queue.Take(&s.turn.delay)
		last = s.commitTurn(ctx, items)
		s.turn.Unlock()
	}
}

// commitTurn commits items and gives the number of calls that they are from.
// The turn is had by the caller.
func (s *Store) commitTurn(ctx context.Context, items []*item) int {
	n := groupcommit.Calls(items)
	begin := s.o.Now()
	s.commit(ctx, items)
	s.turn.delay.Note(n, s.o.Now().Sub(begin))
	return n
}

// commitAlone commits the one item of a call at once when nobody else commits or
// is expected to: to wake the committer and be woken by it costs a good part of
// a commit. It tells whether it did. The call then ends with the commit even when
// its context ends before.
func (s *Store) commitAlone(ctx context.Context, items []*item) bool {
	if len(items) > 1 || !s.turn.TryLock() {
		return false
	}
	defer s.turn.Unlock()
	if s.turn.delay.Most() > 0 || !s.queue.Idle() {
		return false
	}
	s.commitTurn(context.WithoutCancel(ctx), append(s.queue.TakeLater(), items...))
	return true
}

// observed lets who watches know of a commit. Only who commits calls it: one at a
// time.
func (s *Store) observed(appends int, write func() error) error {
	if s.o.Observe == nil {
		return write()
	}
	before := s.writer.head
	end := s.o.Observe()
	err := write()
	end(eventstore.Committed{Appends: appends, Entries: int(s.writer.head - before), Head: s.writer.head, Err: err})
	return err
}

// commit writes a group and answers its callers.
func (s *Store) commit(ctx context.Context, items []*item) {
	defer func() {
		for _, it := range items { // what nobody waits for is written now, or lost
			if it.a.Later {
				s.later.CompareAndDelete(it.a.Receipt.Name(), it)
			}
		}
	}()
	groupcommit.Commit(items, func(live []*item) error {
		return s.observed(len(live), func() error {
			if err := s.permitted(ctx); err != nil {
				return err
			}
			if err := s.writeGroup(ctx, live); err != nil {
				return err
			}
			return s.permitted(ctx)
		})
	}, lasting, func(it *item, err error) { *it.result = eventstore.Result{Err: err} })
}
