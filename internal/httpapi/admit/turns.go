package admit

import (
	"context"
	"net/netip"
	"time"

	"daybook/calendar"
	"daybook/internal/ground/keylock"
)

// Turns are the turns at work that takes a processor for long: so many at once of one
// anonymous client, and so many of all.
type Turns struct {
	one *OfOne
	all chan struct{} // nil: any number
}

// NewTurns returns turns of which one client has so many at once and all have so many, any
// number for 0. Turns may share those of one client with others.
func NewTurns(one *OfOne, all int) *Turns {
	turns := &Turns{one: one}
	if all > 0 {
		turns.all = make(chan struct{}, all)
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
	select {
	case turns.all <- struct{}{}:
		return func() {
			<-turns.all
			leave()
		}, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

// workAtOnce is how long the past is read for one client before others have a moment.
const workAtOnce = 5 * time.Millisecond

// Pace is the work on one page or piece of the past of an anonymous client. While others of
// the same client wait for their turns it rests for as long as it works, so many requests
// of one take half of a processor and not all of it. A nil one does not rest.
type Pace struct {
	turns  *Turns
	client netip.Addr
	now    func() time.Time
	since  time.Time
}

// Pace begins a work in the turn of the client of a request.
func (pass *Pass) Pace(turns *Turns, now func() time.Time) *Pace {
	if pass.group == groupKnown {
		return nil
	}
	return &Pace{turns, pass.Address, now, now()}
}

// Rest rests where it is time to.
func (pace *Pace) Rest(ctx context.Context) {
	if pace == nil {
		return
	}
	worked := pace.now().Sub(pace.since)
	if worked < workAtOnce {
		return
	}
	if pace.turns.one.Waiting(pace.client) {
		select {
		case <-time.After(worked):
		case <-ctx.Done(): // the work finds that by itself
		}
	}
	pace.since = pace.now()
}

// Turn waits for the turn of the client of a request, without a slot, and returns the function
// that ends it. A request that has the turn of its client waits for that among all alone, or
// it could wait for itself; it is not refused, as most of its work is done. Callers with
// credentials take no turns, and without turns there are none.
func (pass *Pass) Turn(ctx context.Context, turns *Turns, has bool) (leave func(), err error) {
	if turns == nil || pass.group == groupKnown {
		return func() {}, nil
	}
	if !pass.Enter(Wait, 1) && !has {
		return nil, calendar.Fail(calendar.CodeUnavailable, 0)
	}
	defer pass.Resume()
	return turns.Acquire(ctx, pass.Address, has)
}
