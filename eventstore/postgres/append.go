package postgres

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"daybook/calendar"
	"daybook/eventstore"
)

// groupBytes is about the most that one commit sends.
const groupBytes = 8 << 20

// item is one Append on its way to the committer, with all that can be made
// ready outside the commit.
type item struct {
	a       eventstore.Append
	drafts  []draft
	receipt [32]byte // digest of the receipt
	guards  [][32]byte
	size    int
	result  *eventstore.Result
	call    *call
}

// draft is a draft with what is stored of it.
type draft struct {
	entry  eventstore.Entry // without its position
	leaf   [32]byte
	claims []pair
	names  []pair
}

// pair is a claim or a name with what it is found by.
type pair struct {
	calendar.Claim

	digest [32]byte
}

func newPair(c calendar.Claim) pair { return pair{c, pairDigest(c.Space, c.Key)} }

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

// Append does eventstore.Store. When the connection breaks during a commit, the
// store finds out on another one what became of it; an Append gets
// ErrUnavailable when that fails too.
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
	it := &item{a: *a, drafts: make([]draft, len(a.Drafts))}
	for i := range a.Drafts {
		d := &it.drafts[i]
		d.entry = a.Entry(i)
		d.leaf = eventstore.Leaf(&d.entry)
		d.claims = distinctPairs(a.Drafts[i].Claims)
		d.names = distinctPairs(a.Drafts[i].Names)
		it.size += len(d.entry.Fields) + len(d.entry.State)
	}
	for _, g := range a.Guards {
		it.guards = append(it.guards, pairDigest(g.Name.Space, g.Name.Key))
	}
	if a.Receipt != nil {
		it.receipt = receiptDigest(a.Receipt)
		it.size += len(a.Receipt.Answer)
	}
	return it, nil
}

// distinctPairs gives each claim or name once, in order.
func distinctPairs[P ~struct{ Space, Key string }](in []P) []pair {
	out := make([]pair, 0, len(in))
next:
	for _, p := range in {
		n := newPair(calendar.Claim(p))
		for i := range out {
			if out[i].digest == n.digest {
				continue next
			}
		}
		out = append(out, n)
	}
	return out
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
	digest := receiptDigest(a.Receipt)
	found, err := all(ctx, s, scanReceipt, s.q.receipt, digest[:])
	if err != nil {
		return eventstore.Result{Err: wrap(err, "receipt %q", a.Receipt.Key)}
	}
	head, err := s.Head(ctx)
	if err != nil {
		return eventstore.Result{Err: err}
	}
	if len(found) == 0 {
		return eventstore.Result{Position: head}
	}
	if found[0].Fingerprint != a.Receipt.Fingerprint {
		return eventstore.Result{Err: keyReused(a.Receipt.Key)}
	}
	return eventstore.Result{Position: head, Receipt: found[0]}
}

func keyReused(key string) error {
	return fmt.Errorf("receipt %q: %w", key, eventstore.ErrKeyReused)
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
	q := &queue{wanted: 1}
	q.filled.L = &q.mu
	return q
}

// add tells whether the items were taken; a closed queue takes none. The items
// are those of one call.
func (q *queue) add(items []*item) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.items = append(q.items, items...)
	q.calls++
	if q.calls >= q.wanted {
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

// take waits for items and gives those of the next commit, none when the queue
// is closed and empty. It waits for those of enough calls, but not for longer
// than its patience once there are any.
func (q *queue) take(most, enough int, patience time.Duration) []*item {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.await(1, 0)
	if patience > 0 && q.calls < enough {
		q.await(enough, patience)
	}
	n, size := 0, 0
	for n < len(q.items) && n < most && size < groupBytes {
		size += q.items[n].size
		n++
	}
	out := q.items[:n:n]
	q.items = q.items[n:]
	q.calls = callsOf(q.items)
	return out
}

// await waits for items of so many calls, with a patience that is not 0 no longer
// than that; the mutex is held.
func (q *queue) await(calls int, patience time.Duration) {
	q.wanted = calls
	late := false
	if patience > 0 {
		t := time.AfterFunc(patience, func() {
			q.mu.Lock()
			defer q.mu.Unlock()
			late = true
			q.filled.Signal()
		})
		defer t.Stop()
	}
	for q.calls < calls && !late && !q.closed {
		q.filled.Wait()
	}
}

// callsOf counts the calls that items are from; those of one stand together.
func callsOf(items []*item) int {
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
	crowd float64       // calls that a commit may find, about
}

const maxPatience = 2 * time.Millisecond

// note takes a commit for n calls into account.
func (p *pace) note(n int, took time.Duration) {
	p.cost += (took - p.cost) / 8
	p.crowd = max(float64(n), p.crowd-p.crowd/16)
}

// enough is the number of calls from which on nobody is waited for.
func (p *pace) enough() int { return int(p.crowd + 0.5) }

// patience is how long others are waited for at most.
func (p *pace) patience() time.Duration {
	if p.enough() < 2 {
		return 0
	}
	return min(p.cost, maxPatience)
}

// commitAll is the committer: it takes what arrived during the last commit, and
// those who are about to come back from it, until the queue is closed and empty.
func (s *Store) commitAll(ctx context.Context) {
	defer close(s.drained)
	var p pace
	for {
		items := s.queue.take(s.o.Group, p.enough(), p.patience())
		if len(items) == 0 {
			return
		}
		begin := s.o.Now()
		s.commit(ctx, items)
		p.note(callsOf(items), s.o.Now().Sub(begin))
	}
}

// observed writes a group and lets who watches know.
func (s *Store) observed(ctx context.Context, items []*item) error {
	if s.o.Observe == nil {
		return s.writeGroup(ctx, items)
	}
	end := s.o.Observe()
	c := eventstore.Committed{Appends: len(items), Err: s.writeGroup(ctx, items)}
	for _, it := range items {
		if c.Err == nil && it.result.Err == nil && it.result.Receipt == nil && len(it.drafts) > 0 {
			c.Entries += len(it.drafts)
			c.Head = max(c.Head, it.result.Position)
		}
	}
	end(c)
	return c.Err
}

// commit writes a group and answers its callers. When the server refuses the
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
	err := s.observed(ctx, live)
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

// withWriter runs a function on the connection of the committer; lost tells
// whether the connection was.
func (s *Store) withWriter(ctx context.Context, do func(*pgx.Conn) error) (lost bool, err error) {
	c, err := s.write.Acquire(ctx)
	if err != nil {
		return true, err
	}
	defer c.Release()
	s.writerPID.Store(int64(c.Conn().PgConn().PID()))
	err = do(c.Conn())
	return c.Conn().IsClosed(), err
}
