package admit

import (
	"context"
	"net/netip"
	"time"

	"golang.org/x/sync/semaphore"

	"daybook/internal/ground/keylock"
)

// Turns are the turns at work that takes a processor for long: so many at once of one
// anonymous client, and so many of all.
type Turns struct {
	one *OfOne
	all *semaphore.Weighted // nil: any number
}

// NewTurns returns turns of which one client has so many at once and all have so many, any
// number for 0. Turns may share those of one client with others.
func NewTurns(one *OfOne, all int) *Turns {
	turns := &Turns{one: one}
	if all > 0 {
		turns.all = semaphore.NewWeighted(int64(all))
	}
	return turns
}

// OfOne are the turns of each client.
type OfOne = keylock.Locks[netip.Addr]

// Acquire waits for the turn of a client, unless it has that, and for that among all. It
// returns the function that ends both, to be called once.
func (turns *Turns) Acquire(ctx context.Context, client netip.Addr, has bool) (release func(), err error) {
	leave := func() {}
	if !has {
		leave, err = turns.one.Acquire(ctx, client)
	}
	if err != nil || turns.all == nil {
		return leave, err
	}
	if err = turns.all.Acquire(ctx, 1); err != nil {
		leave()
		return nil, err
	}
	return func() {
		turns.all.Release(1)
		leave()
	}, nil
}

// workAtOnce is how long the past is read for one client before others have a moment.
const workAtOnce = 5 * time.Millisecond

// Pace returns what rests the work on one page or piece of the past where it is time to: while
// others of the same anonymous client wait for their turns it rests for as long as it works, so
// many requests of one take half of a processor and not all of it.
func (pass *Pass) Pace(turns *Turns, now func() time.Time) (rest func(context.Context)) {
	if pass.group == groupKnown {
		return func(context.Context) {}
	}
	since := now()
	return func(ctx context.Context) {
		worked := now().Sub(since)
		if worked < workAtOnce {
			return
		}
		if turns.one.Waiting(pass.Address) {
			select {
			case <-time.After(worked):
			case <-ctx.Done(): // the work finds that by itself
			}
		}
		since = now()
	}
}

// Turn waits for the turn of the client of a request, without a slot, and returns the function
// that ends it. A request that has the turn of its client waits for that among all alone, or
// it could wait for itself; it is not refused, as most of its work is done. Callers with
// credentials take no turns, and without turns there are none.
func (pass *Pass) Turn(ctx context.Context, turns *Turns, has bool) (leave func(), err error) {
	if turns == nil || pass.group == groupKnown {
		return func() {}, nil
	}
	if err := pass.Enter(Wait, 1); err != nil && !has {
		return nil, err
	}
	defer pass.Resume()
	return turns.Acquire(ctx, pass.Address, has)
}
