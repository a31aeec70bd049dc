package eventstore

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Item is one Append on its way to a commit, with what is made before it.
type Item struct {
	Append

	Entries []Leafed // without positions
	Result  *Result
}

// NewItem checks an Append and makes its entries and leaves. The error is ErrMalformed.
func NewItem(a *Append) (*Item, error) {
	it := &Item{Append: *a}
	if err := it.Check(); err != nil {
		return nil, err
	}
	for i := range it.Drafts {
		e := it.Entry(i)
		it.Entries = append(it.Entries, Leafed{e, Leaf(&e)})
	}
	return it, nil
}

// CommitterOptions are the settings of a Committer.
type CommitterOptions struct {
	// Commit decides items and writes those that win, in one transaction, and sets their
	// Results. An error is that of the whole group. It is never called twice at a time.
	Commit  func(ctx context.Context, items []*Item) error
	Items   int           // a commit takes no further calls once it has so many
	Bytes   int           // as Items
	Observe ObserveCommit // may be nil
	Now     func() time.Time
}

// Committer gathers the appends of concurrent callers into commits that they share: one of
// those that wait commits for all of them, one at a time.
type Committer struct {
	o     CommitterOptions
	turn  chan struct{} // has one while somebody commits
	cost  time.Duration // of a commit, about; of who has the turn, as crowd
	crowd float64       // callers that a commit finds, about

	mutex   sync.Mutex
	waiting []*call
	wanted  int           // calls that the next commit waits for
	enough  chan struct{} // closed when they are there; nil: nobody waits for them
	closed  bool
	callers sync.WaitGroup
}

// call is one call of Append. It is committed whole.
type call struct {
	ctx   context.Context //nolint:containedctx // of the one call
	items []*Item
	size  int
	taken bool // into a commit; of who has the turn
	done  chan struct{}
}

// NewCommitter returns a Committer, which Close ends.
func NewCommitter(o CommitterOptions) *Committer {
	return &Committer{o: o, turn: make(chan struct{}, 1)}
}

// Append has appends committed, together with those of other callers where there are any.
// A caller whose context ends while it commits stays until that is done.
func (c *Committer) Append(ctx context.Context, appends []Append) []Result {
	results := make([]Result, len(appends))
	k := &call{ctx: ctx, done: make(chan struct{})}
	for i := range appends {
		it, err := NewItem(&appends[i])
		if err != nil {
			results[i].Err = err
			continue
		}
		it.Result = &results[i]
		k.items = append(k.items, it)
		for n := range it.Entries {
			k.size += it.Entries[n].Size()
		}
	}
	if len(k.items) == 0 {
		return results
	}
	if !c.enqueue(k) {
		return failed(len(appends), ErrClosed)
	}
	defer c.callers.Done()
	for {
		select {
		case <-k.done:
			return results
		case <-ctx.Done():
			return failed(len(appends), context.Cause(ctx)) // results is not the caller's any more
		case c.turn <- struct{}{}:
			if !k.taken {
				c.commitNext(context.WithoutCancel(ctx))
			}
			<-c.turn
		}
	}
}

func failed(n int, err error) []Result {
	results := make([]Result, n)
	for i := range results {
		results[i].Err = err
	}
	return results
}

// enqueue reports whether the committer takes a call.
func (c *Committer) enqueue(k *call) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.closed {
		return false
	}
	c.callers.Add(1)
	if c.waiting = append(c.waiting, k); len(c.waiting) == c.wanted {
		c.stopWaiting()
	}
	return true
}

func (c *Committer) stopWaiting() {
	if c.enough != nil {
		close(c.enough)
		c.enough = nil
	}
}

// commitNext commits the calls that wait, or the first of them. The caller has the turn.
func (c *Committer) commitNext(ctx context.Context) {
	c.await()
	calls := c.take()
	began := c.o.Now()
	c.commit(ctx, calls)
	c.cost += (c.o.Now().Sub(began) - c.cost) / 8
}

// maxDelay bounds how long others are waited for, whatever commits cost.
const maxDelay = 2 * time.Millisecond

// await waits, where callers come again and again, for as many as the last commits found,
// but no longer than two commits take (ADR 18). One caller alone never waits.
func (c *Committer) await() {
	c.mutex.Lock()
	c.wanted = int(c.crowd + 0.5)
	enough := make(chan struct{})
	if len(c.waiting) >= c.wanted || c.closed {
		close(enough)
	} else {
		c.enough = enough
	}
	c.mutex.Unlock()
	select {
	case <-enough:
	case <-time.After(min(2*c.cost, maxDelay)):
	}
}

// take returns the calls of the next commit.
func (c *Committer) take() []*call {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.enough = nil
	c.crowd = max(float64(len(c.waiting)), c.crowd-c.crowd/16)
	n, items, size := 0, 0, 0
	for n < len(c.waiting) && items < c.o.Items && size < c.o.Bytes {
		k := c.waiting[n]
		k.taken = true
		items += len(k.items)
		size += k.size
		n++
	}
	calls := c.waiting[:n:n]
	c.waiting = c.waiting[n:]
	return calls
}

// commit carries calls out. Those whose caller has gone are left out. When a group is
// refused for what may be the fault of one item, each is tried alone.
func (c *Committer) commit(ctx context.Context, calls []*call) {
	var items []*Item
	for _, k := range calls {
		defer close(k.done)
		err := k.ctx.Err()
		if err == nil {
			items = append(items, k.items...)
			continue
		}
		for _, it := range k.items {
			it.Result.Err = err
		}
	}
	if len(items) == 0 {
		return
	}
	err := c.observed(ctx, items)
	alone := err != nil && len(items) > 1 && !errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrDamaged)
	for i, it := range items {
		if alone {
			err = c.observed(ctx, items[i:i+1])
		}
		if err != nil {
			*it.Result = Result{Err: err}
		}
	}
}

func (c *Committer) observed(ctx context.Context, items []*Item) error {
	if c.o.Observe == nil {
		return c.o.Commit(ctx, items)
	}
	end := c.o.Observe()
	out := Committed{Appends: len(items), Err: c.o.Commit(ctx, items)}
	for _, it := range items {
		if out.Err == nil && it.Result.Err == nil && it.Result.Receipt == nil {
			out.Entries += len(it.Entries)
			out.Head = max(out.Head, it.Result.Position)
		}
	}
	end(out)
	return out.Err
}

// Close takes no more appends, and returns when those that wait are answered.
func (c *Committer) Close() {
	c.mutex.Lock()
	c.closed = true
	c.stopWaiting()
	c.mutex.Unlock()
	c.callers.Wait()
}
