// Package groupcommit gathers the appends of many callers into commits that they
// share: a queue, the commit delay, and the way of a group
// through a commit. What an append is and what a commit does is the store's.
package groupcommit

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Part is what an append on its way to the committer embeds.
type Part struct {
	call  *Call
	size  int
	later bool // nobody waits for it
}

// Sized gives a Part of so many bytes, about.
func Sized(bytes int) Part { return Part{size: bytes} }

func (p *Part) part() *Part { return p }

// Member is a pointer to a struct that embeds a Part.
type Member interface{ part() *Part }

// Call is one caller that waits for its members.
type Call struct {
	left      atomic.Int32
	done      chan struct{}
	abandoned atomic.Bool // nobody waits any more
}

// Begin makes members those of one call.
func Begin[T Member](members []T) *Call {
	c := &Call{done: make(chan struct{})}
	c.left.Store(int32(len(members)))
	for _, m := range members {
		m.part().call = c
	}
	return c
}

// Wait waits until all members are answered, or gives the error of the context;
// then those that wait in the queue are not committed, others may be.
func (c *Call) Wait(ctx context.Context) error {
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
		c.abandoned.Store(true)
		return ctx.Err()
	}
}

func (c *Call) finish(n int) {
	if c.left.Add(-int32(n)) == 0 {
		close(c.done)
	}
}

// Calls counts the calls that wait for members; those of one stand together.
func Calls[T Member](members []T) int {
	n := 0
	for i, m := range members {
		if p := m.part(); !p.later && (i == 0 || p.call != members[i-1].part().call) {
			n++
		}
	}
	return n
}

// Commit carries members out with write and answers their calls. Those whose
// caller has gone are left out. When write refuses the group for what may be the
// fault of one member, each is tried alone; after an error that is lasting, and of
// one alone, fail gives the error to the members.
func Commit[T Member](members []T, write func([]T) error, lasting func(error) bool, fail func(T, error)) {
	live := members[:0:0]
	for _, m := range members {
		if c := m.part().call; c.abandoned.Load() {
			c.finish(1)
		} else {
			live = append(live, m)
		}
	}
	if len(live) == 0 {
		return
	}
	err := write(live)
	switch {
	case err == nil:
	case len(live) > 1 && !lasting(err):
		for _, m := range live {
			Commit([]T{m}, write, lasting, fail)
		}
		return
	default:
		for _, m := range live {
			fail(m, err)
		}
	}
	// Members of one call stand together: one wake-up for all of them.
	for i := 0; i < len(live); {
		c, j := live[i].part().call, i+1
		for j < len(live) && live[j].part().call == c {
			j++
		}
		c.finish(j - i)
		i = j
	}
}

// Queue holds the members that wait for the committer.
type Queue[T Member] struct {
	most, bytes int // of one commit

	mu      sync.Mutex
	filled  sync.Cond
	members []T
	calls   int // that the members are from
	wanted  int // calls that the committer waits for
	closed  bool

	later   []T  // nobody waits for them
	overdue bool // they go alone
	timer   *time.Timer
}

// Linger is how long members for which nobody waits are kept for the next commit,
// before they have one of their own.
const Linger = 50 * time.Millisecond

// New makes a queue whose commits take at most so many members, and no more once
// they have so many bytes; one member always.
func New[T Member](most, bytes int) *Queue[T] {
	q := &Queue[T]{most: max(most, 1), bytes: max(bytes, 1), wanted: 1}
	q.filled.L = &q.mu
	return q
}

// Add takes the members of a call and tells whether it did; a closed queue takes
// none.
func (q *Queue[T]) Add(members []T) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.members = append(q.members, members...)
	if q.calls++; q.calls >= q.wanted {
		q.filled.Signal()
	}
	return true
}

// AddLater takes a member for which nobody waits and tells whether it did. It goes
// with the next commit, or alone after Linger.
func (q *Queue[T]) AddLater(m T) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	p := m.part()
	p.later, p.call = true, &Call{done: make(chan struct{})}
	p.call.left.Store(1)
	if q.later = append(q.later, m); len(q.later) == 1 {
		q.timer = time.AfterFunc(Linger, q.hurry)
	}
	return true
}

// hurry lets the members for which nobody waits go alone.
func (q *Queue[T]) hurry() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.later) > 0 {
		q.overdue = true
		q.filled.Signal()
	}
}

// TakeLater gives the members for which nobody waits, for a commit that is made. They
// came before those that are in it.
func (q *Queue[T]) TakeLater() []T {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.takeLater()
}

// takeLater is TakeLater; the mutex is held. All of them go: they are no more than
// what was committed since the last time, and small.
func (q *Queue[T]) takeLater() []T {
	out := q.later
	q.later, q.overdue = nil, false
	if len(out) > 0 {
		q.timer.Stop()
	}
	return out
}

// Close takes no more members; those that wait can still be taken.
func (q *Queue[T]) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.filled.Signal()
}

// Len gives the number of members that wait.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.members)
}

// Idle tells that nobody waits and that the queue is open.
func (q *Queue[T]) Idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.members) == 0 && !q.closed
}

// Wait waits for members; it is over when the queue is closed and empty.
func (q *Queue[T]) Wait() (over bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wanted = 1
	for len(q.members) == 0 && !q.overdue && !q.closed {
		q.filled.Wait()
	}
	return len(q.members)+len(q.later) == 0
}

// Take gives the members of the next commit, those for which nobody waits before
// the others. It waits for as many calls as are expected, within the commit delay.
func (q *Queue[T]) Take(p *Delay) []T {
	q.mu.Lock()
	defer q.mu.Unlock()
	if most := p.Most(); most > 0 && len(q.members) > 0 && q.calls < p.enough() {
		q.await(p.enough(), most)
	}
	later := q.takeLater()
	n, size := 0, 0
	for n < len(q.members) && n < q.most && size < q.bytes {
		size += q.members[n].part().size
		n++
	}
	out := q.members[:n:n]
	q.members = q.members[n:]
	q.calls = Calls(q.members)
	return append(later, out...)
}

// await waits for members of enough calls; the mutex is held.
func (q *Queue[T]) await(enough int, most time.Duration) {
	q.wanted = enough
	late := false
	t := time.AfterFunc(most, func() {
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

// Delay is the commit delay: how long others are worth waiting for. A commit costs nearly the same
// for one append and for many, so where many callers come again and again they had
// better share it. One caller alone never waits.
type Delay struct {
	// Commits is how many commits' time others are waited for at most.
	Commits int

	cost  time.Duration // of a commit, about
	crowd float64       // callers that a commit may find, about
}

// maxDelay bounds what is waited, whatever commits cost.
const maxDelay = 2 * time.Millisecond

// Note takes a commit for n calls into account; one that nobody waited for says
// nothing.
func (p *Delay) Note(n int, took time.Duration) {
	if n == 0 {
		return
	}
	p.cost += (took - p.cost) / 8
	p.crowd = max(float64(n), p.crowd-p.crowd/16)
}

// enough is the number of calls from which on nobody is waited for.
func (p *Delay) enough() int { return int(math.Round(p.crowd)) }

// Most is how long others are waited for at most; 0 for who is alone.
func (p *Delay) Most() time.Duration {
	if p.enough() < 2 {
		return 0
	}
	return min(time.Duration(p.Commits)*p.cost, maxDelay)
}
