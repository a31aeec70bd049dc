package eventstore

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"daybook/calendar"
)

// Item is one Append on its way to a commit. The entries of its drafts have all but their
// positions.
type Item struct {
	Append

	Result Result
}

// NewItems completes the entries of appends. Each call draws other salts, so they have other
// leaves.
func NewItems(appends []Append) []*Item {
	items := make([]*Item, len(appends))
	for i := range appends {
		item := &Item{Append: appends[i]}
		item.Drafts = slices.Clone(item.Drafts)
		for count := range item.Drafts {
			entry := &item.Drafts[count].Entry
			entry.Time, entry.Actor, entry.Cause, entry.Salts = Moment(item.Time), item.Actor, item.Cause, newSalts(entry.Secret != nil)
			entry.Leaf = Leaf(entry)
		}
		items[i] = item
	}
	return items
}

// Results returns the results of items.
func Results(items []*Item) []Result {
	results := make([]Result, len(items))
	for i, item := range items {
		results[i] = item.Result
	}
	return results
}

// Committed is what came of one group commit.
type Committed struct {
	Appends int               // that shared the commit, the losing ones too
	Entries int               // that were written; 0 for a group that wrote only receipts, or nothing
	Head    calendar.Position // of the log after it
	Err     error             // of the group as a whole: nothing of it was written
}

// ObserveCommit observes group commits: a store calls it when it begins one, and the
// function that it returns when that one has ended. Every append waits for both, so they
// must be quick.
type ObserveCommit func() func(Committed)

// Committer gathers the appends of concurrent callers into commits that they share.
type Committer struct {
	write    func(ctx context.Context, items []*Item) (*Group, error)
	observe  ObserveCommit
	maxItems int
	maxBytes int

	calls   chan *call
	closing context.Context
	close   context.CancelFunc // ends closing
	running sync.WaitGroup
	crowd   float64 // calls that a commit finds, about
}

// call is one call of Append. It is committed whole.
type call struct {
	items []*Item
	size  int
	done  chan struct{}
}

// A commit takes no further calls once it has so many items, or bytes.
const maxItems, maxBytes = 256, 8 << 20

// NewCommitter returns a Committer, which Close ends. write decides items and writes those
// that win, in one transaction; its error is that of the whole group. It is never called
// twice at a time, and a context that ends does not end it. observe may be nil.
func NewCommitter(ctx context.Context, write func(ctx context.Context, items []*Item) (*Group, error), observe ObserveCommit) *Committer {
	if observe == nil {
		observe = func() func(Committed) { return func(Committed) {} }
	}
	ctx = context.WithoutCancel(ctx)
	committer := &Committer{write: write, observe: observe, maxItems: maxItems, maxBytes: maxBytes, calls: make(chan *call)}
	committer.closing, committer.close = context.WithCancel(ctx)
	committer.running.Go(func() { committer.run(ctx) })
	return committer
}

// Append has appends committed, together with those of other callers where there are any.
func (committer *Committer) Append(ctx context.Context, appends []Append) []Result {
	err := context.Cause(ctx)
	if err == nil {
		call := &call{items: NewItems(appends), done: make(chan struct{})}
		for _, item := range call.items {
			for i := range item.Drafts {
				call.size += item.Drafts[i].Size()
			}
		}
		select {
		case committer.calls <- call:
			select {
			case <-call.done:
				return Results(call.items)
			case <-ctx.Done(): // the items are not the caller's any more
			}
		case <-committer.closing.Done():
			err = ErrClosed
		case <-ctx.Done():
		}
	}
	return slices.Repeat([]Result{{Err: cmp.Or(err, context.Cause(ctx))}}, len(appends))
}

// run commits calls until the committer is closed.
func (committer *Committer) run(ctx context.Context) {
	for {
		select {
		case call := <-committer.calls:
			committer.commit(ctx, committer.gather(call))
		case <-committer.closing.Done():
			return
		}
	}
}

// maxDelay bounds how long others are waited for.
const maxDelay = 2 * time.Millisecond

// gather returns the calls of the next commit. Where callers come again and again it waits
// for as many as the last commits found (ADR 2). One caller alone never waits.
func (committer *Committer) gather(call *call) (calls []*call) {
	wanted := int(committer.crowd + 0.5)
	var late <-chan time.Time
	if wanted > 1 {
		late = time.After(maxDelay)
	}
	for items, size := 0, 0; call != nil; call = committer.next(len(calls) < wanted, late) {
		calls, items, size = append(calls, call), items+len(call.items), size+call.size
		if items >= committer.maxItems || size >= committer.maxBytes {
			break
		}
	}
	committer.crowd = max(float64(len(calls)), committer.crowd-committer.crowd/16)
	return calls
}

// next returns another call that is there, or that comes before it is late, nil for none.
func (committer *Committer) next(wait bool, late <-chan time.Time) *call {
	select {
	case call := <-committer.calls:
		return call
	default:
	}
	if !wait {
		return nil
	}
	select {
	case call := <-committer.calls:
		return call
	case <-late:
		return nil
	}
}

// commit carries calls out.
func (committer *Committer) commit(ctx context.Context, calls []*call) {
	var items []*Item
	for _, call := range calls {
		defer close(call.done)
		items = append(items, call.items...)
	}
	end := committer.observe()
	group, err := committer.write(ctx, items)
	if err != nil {
		for _, item := range items {
			item.Result = Result{Err: err}
		}
		group = &Group{}
	}
	end(Committed{Appends: len(items), Entries: len(group.Entries), Head: group.Mark.Position, Err: err})
}

// Close takes no more appends, and returns when those that were taken are answered.
func (committer *Committer) Close() {
	committer.close()
	committer.running.Wait()
}
