package sqlite

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"daybook/eventstore"
)

// The most that one commit takes.
const (
	groupAppends = 256
	groupBytes   = 8 << 20
)

// item is one Append on its way to the committer, with all that can be made
// ready outside the commit.
type item struct {
	a       eventstore.Append
	entries []eventstore.Entry // without positions
	leaves  [][32]byte
	size    int
	result  *eventstore.Result
	call    *call
}

// call is one call of Append that waits for its items.
type call struct {
	left      atomic.Int32
	done      chan struct{}
	abandoned atomic.Bool // nobody waits any more
}

func (c *call) finish(n int) {
	if c.left.Add(-int32(n)) == 0 {
		close(c.done)
	}
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
	c := &call{done: make(chan struct{})}
	items := make([]*item, 0, len(appends))
	for i := range appends {
		it, err := newItem(&appends[i])
		if err != nil {
			results[i].Err = err
			continue
		}
		it.result, it.call = &results[i], c
		items = append(items, it)
	}
	if len(items) == 0 {
		return results
	}
	c.left.Store(int32(len(items)))
	if s.commitAlone(ctx, items) {
		return results
	}
	if !s.queue.add(items) {
		return failAll(len(appends), eventstore.ErrClosed)
	}
	select {
	case <-c.done:
		return results
	case <-ctx.Done():
		c.abandoned.Store(true)
		return failAll(len(appends), ctx.Err())
	}
}

func newItem(a *eventstore.Append) (*item, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	it := &item{a: *a, entries: make([]eventstore.Entry, len(a.Drafts)), leaves: make([][32]byte, len(a.Drafts))}
	for i := range a.Drafts {
		e := a.Entry(i)
		it.entries[i] = e
		it.leaves[i] = eventstore.Leaf(&e)
		it.size += len(e.Fields) + 2*len(e.State)
	}
	if a.Receipt != nil {
		it.size += len(a.Receipt.Answer)
	}
	return it, nil
}

func failAll(n int, err error) []eventstore.Result {
	results := make([]eventstore.Result, n)
	for i := range results {
		results[i].Err = err
	}
	return results
}

// lookUp answers an Append that only looks for its receipt, without the
// committer.
func (s *Store) lookUp(ctx context.Context, a *eventstore.Append) eventstore.Result {
	if err := a.Check(); err != nil {
		return eventstore.Result{Err: err}
	}
	if lacks(s.sieve, receiptKey{a.Receipt.User, a.Receipt.Key}) {
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
		return eventstore.Result{Err: keyReused(a.Receipt.Key)}
	}
	res.Receipt = found[0]
	return res
}

// queue holds the items that wait for the committer.
type queue struct {
	mu     sync.Mutex
	filled sync.Cond
	items  []*item
	calls  int // that the items are from
	wanted int // calls that the committer waits for
	closed bool
}

func newQueue() *queue {
	q := &queue{}
	q.filled.L = &q.mu
	return q
}

// add takes the items of a call and tells whether it did; a closed queue takes
// none.
func (q *queue) add(items []*item) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.items = append(q.items, items...)
	if q.calls++; q.calls >= q.wanted {
		q.filled.Signal()
	}
	return true
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.filled.Signal()
}

func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items)
}

// idle tells that nobody waits and that the queue is open.
func (q *queue) idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items) == 0 && !q.closed
}

// wait waits for items; it is over when the queue is closed and empty.
func (q *queue) wait() (over bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wanted = 1
	for len(q.items) == 0 && !q.closed {
		q.filled.Wait()
	}
	return len(q.items) == 0
}

// take gives the items of the next commit. It waits for those of enough calls,
// but no longer than patience.
func (q *queue) take(enough int, patience time.Duration) []*item {
	q.mu.Lock()
	defer q.mu.Unlock()
	if patience > 0 && q.calls < enough {
		q.await(enough, patience)
	}
	n, size := 0, 0
	for n < len(q.items) && n < groupAppends && size < groupBytes {
		size += q.items[n].size
		n++
	}
	out := q.items[:n:n]
	q.items = q.items[n:]
	q.calls = calls(q.items)
	return out
}

// await waits for items of enough calls; the mutex is held.
func (q *queue) await(enough int, patience time.Duration) {
	q.wanted = enough
	late := false
	t := time.AfterFunc(patience, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		late = true
		q.filled.Signal()
	})
	defer t.Stop()
	for q.calls < enough && !late && !q.closed {
		q.filled.Wait()
	}
}

// calls counts the calls that items are from; those of one stand together.
func calls(items []*item) int {
	n := 0
	for i := range items {
		if i == 0 || items[i].call != items[i-1].call {
			n++
		}
	}
	return n
}

// pace tells how long company is worth waiting for. A commit costs nearly the
// same for one append and for many, so where many callers come again and again
// they had better share it. One caller alone never waits.
type pace struct {
	cost  time.Duration // of a commit, about
	crowd float64       // callers that a commit may find, about
}

// The most that is waited for company: commits, and whatever they cost.
const (
	patientCommits = 2
	maxPatience    = 2 * time.Millisecond
)

// note takes a commit for n calls into account.
func (p *pace) note(n int, took time.Duration) {
	p.cost += (took - p.cost) / 8
	p.crowd = max(float64(n), p.crowd-p.crowd/16)
}

// enough is the number of calls from which on nobody is waited for.
func (p *pace) enough() int { return int(math.Round(p.crowd)) }

// patience is how long others are waited for at most.
func (p *pace) patience() time.Duration {
	if p.enough() < 2 {
		return 0
	}
	return min(patientCommits*p.cost, maxPatience)
}

// turn is had by who commits: the committer, or a caller that is alone.
type turn struct {
	sync.Mutex
	pace pace
}

// commitAll is the committer: it takes what arrived during the last commit
// until the queue is closed and empty.
func (s *Store) commitAll(ctx context.Context) {
	defer close(s.drained)
	last := 0
	for {
		// Those who were just answered are about to come back: let them run, so
		// that they share this commit instead of waiting for the next one.
		for n := -1; last > 1 && n < s.queue.len(); {
			n = s.queue.len()
			runtime.Gosched()
		}
		over := s.queue.wait()
		s.turn.Lock()
		if over {
			s.turn.Unlock()
			return
		}
		items := s.queue.take(s.turn.pace.enough(), s.turn.pace.patience())
		last = s.commitTurn(ctx, items)
		s.turn.Unlock()
	}
}

// commitTurn commits items and gives the number of calls that they are from.
// The turn is had by the caller.
func (s *Store) commitTurn(ctx context.Context, items []*item) int {
	n := calls(items)
	begin := s.o.Now()
	s.commit(ctx, items)
	s.turn.pace.note(n, s.o.Now().Sub(begin))
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
	if s.turn.pace.patience() > 0 || !s.queue.idle() {
		return false
	}
	s.commitTurn(context.WithoutCancel(ctx), items)
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

// commit writes a group and answers its callers. When the engine refuses the
// group for what may be the fault of one item, each is tried alone.
func (s *Store) commit(ctx context.Context, items []*item) {
	live := items[:0:0]
	for _, it := range items {
		if it.call.abandoned.Load() {
			it.call.finish(1)
		} else {
			live = append(live, it)
		}
	}
	if len(live) == 0 {
		return
	}
	err := s.observed(len(live), func() error { return s.writeGroup(ctx, live) })
	switch {
	case err == nil:
	case len(live) > 1 && !lasting(err):
		for _, it := range live {
			s.commit(ctx, []*item{it})
		}
		return
	default:
		for _, it := range live {
			*it.result = eventstore.Result{Err: err}
		}
	}
	// Items of one call stand together: one wake-up for all of them.
	for i := 0; i < len(live); {
		j := i + 1
		for j < len(live) && live[j].call == live[i].call {
			j++
		}
		live[i].call.finish(j - i)
		i = j
	}
}
