package eventstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"daybook/calendar"
)

// Item is an Append on its way to a commit. The entries of its drafts have all but their
// positions.
type Item struct {
	Append

	Result Result

	done chan struct{}
}

// NewDraft returns the draft of a change of a record (nil before the first) at a moment,
// and the record after it.
func NewDraft(before *calendar.Record, change calendar.Change, instant time.Time) (Draft, *calendar.Record, error) {
	after, err := calendar.Apply(before, change, instant)
	if err != nil {
		return Draft{}, nil, err
	}
	fields, err := calendar.EncodeChange(change)
	state, stateErr := calendar.EncodeRecord(after)
	entry := Entry{Kind: change.Kind, ID: change.ID, Version: after.Version, Change: change.Name, Fields: fields, State: state, Secret: change.Secret}
	claims, names := holds(after, change.Secret)
	return Draft{entry, claims, names}, after, cmp.Or(err, stateErr)
}

// NewItem completes the entries of an Append. Each call draws other salts, so they have other
// leaves.
func NewItem(addition Append) *Item {
	item := &Item{Append: addition, done: make(chan struct{})}
	item.Drafts = slices.Clone(item.Drafts)
	for i := range item.Drafts {
		entry := &item.Drafts[i].Entry
		entry.Time, entry.Actor, entry.Cause = Moment(item.Time), item.Actor, item.Cause
		_, _ = rand.Read(entry.Salts[:]) // it never fails
		if entry.Secret == nil {
			clear(entry.Salts.Of(4))
		}
		entry.Leaf = Leaf(entry)
	}
	return item
}

// Committed is what came of one group commit.
type Committed struct {
	*Group // an empty one with Err

	Appends int   // that shared the commit, the losing ones too
	Err     error // of the group as a whole: nothing of it was written
}

// ObserveCommit observes group commits: a store calls it when it begins one, and the
// function that it returns when that one has ended. Every append waits for both, so they
// must be quick.
type ObserveCommit func() func(Committed)

// Committer gathers the appends of concurrent callers into commits that they share.
type Committer struct {
	write   func(ctx context.Context, items []*Item) (*Group, error)
	observe ObserveCommit

	items   chan *Item
	closing context.Context
	close   context.CancelFunc // ends closing
	running sync.WaitGroup
	crowd   float64 // items that a commit finds, about
}

// A commit takes no further items once it has so many items, or bytes.
const maxItems, maxBytes = 256, 8 << 20

// NewCommitter returns a Committer, which Close ends. write decides items and writes those
// that win, in one transaction; its error is that of the whole group. It is never called
// twice at a time, and a context that ends does not end it. observe may be nil.
func NewCommitter(ctx context.Context, write func(ctx context.Context, items []*Item) (*Group, error), observe ObserveCommit) *Committer {
	if observe == nil {
		observe = func() func(Committed) { return func(Committed) {} }
	}
	ctx = context.WithoutCancel(ctx)
	committer := &Committer{write: write, observe: observe, items: make(chan *Item)}
	committer.closing, committer.close = context.WithCancel(ctx)
	committer.running.Go(func() { committer.run(ctx) })
	return committer
}

// Append has an Append committed, together with those of other callers where there are any.
func (committer *Committer) Append(ctx context.Context, addition Append) Result {
	if ctx.Err() == nil {
		item := NewItem(addition)
		select {
		case committer.items <- item:
			select {
			case <-item.done:
				return item.Result
			case <-ctx.Done(): // the item is not the caller's any more
			}
		case <-committer.closing.Done():
			return Result{Err: ErrClosed}
		case <-ctx.Done():
		}
	}
	return Result{Err: context.Cause(ctx)}
}

// run commits items until the committer is closed.
func (committer *Committer) run(ctx context.Context) {
	for {
		select {
		case item := <-committer.items:
			committer.commit(ctx, committer.gather(item))
		case <-committer.closing.Done():
			return
		}
	}
}

// maxDelay bounds how long others are waited for.
const maxDelay = 2 * time.Millisecond

// gather returns the items of the next commit. Where callers come again and again it waits
// for as many as the last commits found (ADR 2). One caller alone never waits.
func (committer *Committer) gather(item *Item) (items []*Item) {
	wanted, late := int(committer.crowd+0.5), time.After(maxDelay)
	for size := 0; ; {
		items = append(items, item)
		for i := range item.Drafts {
			size += item.Drafts[i].Size()
		}
		if len(items) >= maxItems || size >= maxBytes {
			return items
		}
		select {
		case item = <-committer.items:
			continue
		default:
		}
		if len(items) >= wanted {
			return items
		}
		select {
		case item = <-committer.items:
		case <-late:
			return items
		}
	}
}

// commit carries items out.
func (committer *Committer) commit(ctx context.Context, items []*Item) {
	committer.crowd = max(float64(len(items)), committer.crowd-committer.crowd/16)
	end := committer.observe()
	group, err := committer.write(ctx, items)
	if err != nil {
		group = &Group{}
	}
	end(Committed{group, len(items), err})
	for _, item := range items {
		if err != nil {
			item.Result = Result{Err: err}
		}
		close(item.done)
	}
}

// Close takes no more appends, and returns when those that were taken are answered.
func (committer *Committer) Close() {
	committer.close()
	committer.running.Wait()
}

// Signal holds the head of a store and wakes those who wait for it to move.
type Signal struct {
	now atomic.Pointer[Head]

	mutex sync.Mutex    // of those who change it
	moved chan struct{} // Head.Moved; nil when it is closed
}

// NewSignal returns the Signal of a store that was opened, with its mark and UUID.
func NewSignal(head Head) *Signal {
	signal := &Signal{moved: make(chan struct{})}
	head.Epoch = Epoch{History: 1}
	signal.set(head)
	return signal
}

// Head returns the present head, for Store.Head of the zero Point.
func (signal *Signal) Head() Head { return *signal.now.Load() }

// Epoch returns the present epoch.
func (signal *Signal) Epoch() Epoch { return signal.now.Load().Epoch }

// Move learns of another mark, unless it is behind the one that is known. erased says that
// records were erased meanwhile.
func (signal *Signal) Move(mark Mark, erased bool) {
	signal.mutex.Lock()
	defer signal.mutex.Unlock()
	now := signal.Head()
	if mark.Position > now.Position {
		now.Mark = mark
	} else if !erased {
		return
	}
	if erased {
		now.Epoch.Erasures++
	}
	signal.set(now)
}

// Reset learns that the store has another history, with this mark and UUID.
func (signal *Signal) Reset(head Head) {
	signal.mutex.Lock()
	defer signal.mutex.Unlock()
	head.Epoch = signal.Epoch()
	head.Epoch.History++
	signal.set(head)
}

// Close wakes all who wait; they ask for the head, which is ErrClosed by then.
func (signal *Signal) Close() {
	signal.mutex.Lock()
	defer signal.mutex.Unlock()
	if signal.moved != nil {
		close(signal.moved)
		signal.moved = nil
	}
}

func (signal *Signal) set(head Head) {
	if signal.moved == nil {
		return
	}
	before := signal.moved
	signal.moved = make(chan struct{})
	head.Moved = signal.moved
	signal.now.Store(&head)
	close(before)
}
