package eventstore

import (
	"cmp"
	"context"
	"sync"
	"time"

	"daybook/calendar"
)

// Item is one Append on its way to a commit, with what is made before it.
type Item struct {
	Append

	Entries []Entry // with leaves, without positions
	Result  *Result
}

// NewItems checks appends and makes their entries and leaves. It returns a Result for each:
// those that are ErrMalformed have it already, and no Item.
func NewItems(appends []Append) ([]*Item, []Result) {
	items, results := make([]*Item, 0, len(appends)), make([]Result, len(appends))
	for i := range appends {
		item := &Item{Append: appends[i], Result: &results[i]}
		if item.Result.Err = item.Check(); item.Result.Err != nil {
			continue
		}
		for n := range item.Drafts {
			entry := item.Entry(n)
			entry.Leaf = Leaf(&entry)
			item.Entries = append(item.Entries, entry)
		}
		items = append(items, item)
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

// Committer gathers the appends of concurrent callers into commits that they share.
type Committer struct {
	write    func(ctx context.Context, items []*Item) error
	observe  ObserveCommit
	maxItems int
	maxBytes int

	calls   chan *call
	closing chan struct{}
	close   func()        // closes closing
	ended   chan struct{} // when the last commit is done
	crowd   float64       // calls that a commit finds, about
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
// that win, in one transaction, and sets their Results; its error is that of the whole
// group. It is never called twice at a time, and a context that ends does not end it.
// observe may be nil.
func NewCommitter(ctx context.Context, write func(ctx context.Context, items []*Item) error, observe ObserveCommit) *Committer {
	if observe == nil {
		observe = func() func(Committed) { return func(Committed) {} }
	}
	closing := make(chan struct{})
	committer := &Committer{
		write: write, observe: observe, maxItems: maxItems, maxBytes: maxBytes, calls: make(chan *call),
		closing: closing, close: sync.OnceFunc(func() { close(closing) }), ended: make(chan struct{}),
	}
	go committer.run(context.WithoutCancel(ctx))
	return committer
}

// Append has appends committed, together with those of other callers where there are any.
func (committer *Committer) Append(ctx context.Context, appends []Append) []Result {
	items, results := NewItems(appends)
	if len(items) == 0 {
		return results
	}
	k := &call{items: items, done: make(chan struct{})}
	for _, item := range items {
		for i := range item.Entries {
			k.size += item.Entries[i].Size()
		}
	}
	err := context.Cause(ctx)
	if err == nil {
		select {
		case committer.calls <- k:
		case <-committer.closing:
			err = ErrClosed
		case <-ctx.Done():
		}
	}
	if err == nil {
		select {
		case <-k.done:
			return results
		case <-ctx.Done():
		}
	}
	results = make([]Result, len(appends)) // the others are not the caller's any more
	for i := range results {
		results[i].Err = cmp.Or(err, context.Cause(ctx))
	}
	return results
}

// run commits calls until the committer is closed.
func (committer *Committer) run(ctx context.Context) {
	defer close(committer.ended)
	for {
		select {
		case call := <-committer.calls:
			committer.commit(ctx, committer.gather(call))
		case <-committer.closing:
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
	out := Committed{Appends: len(items), Err: committer.write(ctx, items)}
	for _, item := range items {
		if out.Err != nil {
			*item.Result = Result{Err: out.Err}
		} else if item.Result.Err == nil && item.Result.Receipt == nil && len(item.Entries) > 0 {
			out.Entries += len(item.Entries)
			out.Head = item.Result.Position
		}
	}
	end(out)
}

// Close takes no more appends, and returns when those that were taken are answered.
func (committer *Committer) Close() {
	committer.close()
	<-committer.ended
}
