package eventstore

import (
	"context"
	"errors"
	"sync"
	"time"

	"daybook/calendar"
)

// Item is one Append on its way to a commit, with what is made before it.
type Item struct {
	Append

	Entries []Leafed // without positions
	Result  *Result
}

// NewItems checks appends and makes their entries and leaves. It returns a Result for each:
// those that are ErrMalformed have it already, and no Item.
func NewItems(appends []Append) ([]*Item, []Result) {
	items, results := make([]*Item, 0, len(appends)), make([]Result, len(appends))
	for i := range appends {
		it := &Item{Append: appends[i], Result: &results[i]}
		if it.Result.Err = it.Check(); it.Result.Err != nil {
			continue
		}
		for n := range it.Drafts {
			e := it.Entry(n)
			it.Entries = append(it.Entries, Leafed{e, Leaf(&e)})
		}
		items = append(items, it)
	}
	return items, results
}

// Committed is what came of one group commit.
type Committed struct {
	Appends int               // that shared the commit, the losing ones too
	Entries int               // that were written; 0 for a group that wrote only receipts, or nothing
	Head    calendar.Position // of the last of these entries
	Err     error             // of the group as a whole: nothing of it was written
}

// ObserveCommit observes group commits: a store calls it when it begins one, and the
// function that it returns when that one has ended. Every append waits for both, so they
// must be quick.
type ObserveCommit func() func(Committed)

// CommitterOptions are the settings of a Committer.
type CommitterOptions struct {
	// Commit decides items and writes those that win, in one transaction, and sets their
	// Results. An error is that of the whole group. It is never called twice at a time.
	Commit  func(ctx context.Context, items []*Item) error
	Items   int           // a commit takes no further calls once it has so many
	Bytes   int           // as Items
	Observe ObserveCommit // may be nil
}

// Committer gathers the appends of concurrent callers into commits that they share.
type Committer struct {
	o     CommitterOptions
	calls chan *call
	ended chan struct{} // when the last commit is done
	crowd float64       // calls that a commit finds, about

	mutex   sync.Mutex // of closed
	closed  bool
	callers sync.WaitGroup
}

// call is one call of Append. It is committed whole.
type call struct {
	ctx   context.Context //nolint:containedctx // of the one call
	items []*Item
	done  chan struct{}
}

// NewCommitter returns a Committer, which Close ends.
func NewCommitter(o CommitterOptions) *Committer {
	if o.Observe == nil {
		o.Observe = func() func(Committed) { return func(Committed) {} }
	}
	c := &Committer{o: o, calls: make(chan *call), ended: make(chan struct{})}
	go c.run()
	return c
}

// Append has appends committed, together with those of other callers where there are any.
func (c *Committer) Append(ctx context.Context, appends []Append) []Result {
	if !c.enter() {
		return failed(len(appends), ErrClosed)
	}
	defer c.callers.Done()
	items, results := NewItems(appends)
	if len(items) == 0 {
		return results
	}
	k := &call{ctx, items, make(chan struct{})}
	select {
	case c.calls <- k:
	case <-ctx.Done():
		return failed(len(appends), context.Cause(ctx))
	}
	select {
	case <-k.done:
		return results
	case <-ctx.Done():
		return failed(len(appends), context.Cause(ctx)) // results is not the caller's any more
	}
}

// enter reports whether the committer takes a call.
func (c *Committer) enter() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !c.closed {
		c.callers.Add(1)
	}
	return !c.closed
}

func failed(n int, err error) []Result {
	results := make([]Result, n)
	for i := range results {
		results[i].Err = err
	}
	return results
}

// run commits calls until there can be no more.
func (c *Committer) run() {
	defer close(c.ended)
	for first := range c.calls {
		c.commit(c.gather(first))
	}
}

// maxDelay bounds how long others are waited for.
const maxDelay = 2 * time.Millisecond

// gather returns the calls of the next commit. Where callers come again and again it waits
// for as many as the last commits found (ADR 18). One caller alone never waits.
func (c *Committer) gather(first *call) []*call {
	wanted := int(c.crowd + 0.5)
	var late <-chan time.Time
	if wanted > 1 {
		late = time.After(maxDelay)
	}
	var calls []*call
	items, size := 0, 0
	for k := first; k != nil; k = c.next(len(calls) < wanted, late) {
		calls = append(calls, k)
		items += len(k.items)
		for _, it := range k.items {
			for i := range it.Entries {
				size += it.Entries[i].Size()
			}
		}
		if items >= c.o.Items || size >= c.o.Bytes {
			break
		}
	}
	c.crowd = max(float64(len(calls)), c.crowd-c.crowd/16)
	return calls
}

// next returns another call that is there, or that comes before it is late, nil for none.
func (c *Committer) next(wait bool, late <-chan time.Time) *call {
	select {
	case k := <-c.calls:
		return k
	default:
	}
	if !wait {
		return nil
	}
	select {
	case k := <-c.calls:
		return k
	case <-late:
		return nil
	}
}

// commit carries calls out. Those whose caller has gone are left out. When a group is
// refused for what may be the fault of one item, each is tried alone.
func (c *Committer) commit(calls []*call) {
	ctx := context.WithoutCancel(calls[0].ctx)
	var items []*Item
	for _, k := range calls {
		defer close(k.done)
		if k.ctx.Err() == nil {
			items = append(items, k.items...)
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
	end := c.o.Observe()
	out := Committed{Appends: len(items), Err: c.o.Commit(ctx, items)}
	for _, it := range items {
		if out.Err == nil && it.Result.Err == nil && it.Result.Receipt == nil && len(it.Entries) > 0 {
			out.Entries += len(it.Entries)
			out.Head = it.Result.Position
		}
	}
	end(out)
	return out.Err
}

// Close takes no more appends, and returns when those that wait are answered.
func (c *Committer) Close() {
	c.mutex.Lock()
	first := !c.closed
	c.closed = true
	c.mutex.Unlock()
	c.callers.Wait()
	if first {
		close(c.calls)
	}
	<-c.ended
}
