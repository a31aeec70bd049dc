package feed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"daybook/eventstore"
)

// RecentStore is a store of this process that nobody else writes to.
type RecentStore interface {
	Store
	eventstore.Recent
}

// Follower is the source of a reader beside the store: what was just written comes
// from the memory of the store, all else from its file. No stream stands between.
type Follower struct {
	store RecentStore

	mu     sync.Mutex      // held by Read
	cursor eventstore.Mark // of the last entry that was given
	epoch  uint64          // of the store when the cursor was last found in it; 0: never
	wait   waiting
}

// NewFollower makes a follower; it starts nothing.
func NewFollower(store RecentStore) (*Follower, error) {
	if store == nil {
		return nil, errors.New("follower: a store is required")
	}
	return &Follower{store: store}, nil
}

// followerWait is how long a follower waits for the store to move before it looks by
// itself.
const followerWait = time.Second

// Read does what Source.Read does.
func (f *Follower) Read(ctx context.Context, after eventstore.Mark, limit int) ([]eventstore.Entry, eventstore.Mark, error) {
	if limit < 1 {
		return nil, after, fmt.Errorf("follower: limit %d, must be at least 1", limit)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		epoch := f.store.Epoch()
		if after != f.cursor || epoch != f.epoch {
			if err := eventstore.CheckMark(ctx, f.store, after); err != nil {
				f.epoch = 0 // who asks again all the same is told again
				return nil, after, err
			}
			f.cursor, f.epoch = after, epoch
		}
		entries, to, err := f.next(ctx, limit)
		if err == nil && len(entries) == 0 {
			err = f.wait.forMore(ctx, f.store, after.Position, followerWait)
		}
		if err != nil {
			return nil, after, err
		}
		// What was read while the store went over to another history may be of both.
		if len(entries) > 0 && f.store.Epoch() == epoch {
			f.cursor, f.wait = to, waiting{}
			return entries, to, nil
		}
	}
}

// next gives what there is behind the cursor.
func (f *Follower) next(ctx context.Context, limit int) ([]eventstore.Entry, eventstore.Mark, error) {
	if entries, commits, ok := f.store.Recent(f.cursor.Position, limit); ok {
		at := f.cursor.Position
		for i := range entries {
			if err := checkDense(at, entries[i].Position); err != nil {
				return nil, f.cursor, err
			}
			at = entries[i].Position
			strip(&entries[i])
		}
		return entries, eventstore.Mark{Position: at, Hash: commits[len(commits)-1].Hash}, nil
	}
	if head, err := f.store.Head(ctx); err != nil || head <= f.cursor.Position {
		return nil, f.cursor, err
	}
	at, err := find(ctx, f.store, f.cursor)
	if err != nil {
		return nil, f.cursor, err
	}
	entries, at, err := at.read(ctx, f.store, limit)
	return entries, at.mark(), err
}
