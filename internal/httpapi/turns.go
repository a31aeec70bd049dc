package httpapi

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"daybook/calendar"
	"daybook/internal/ground/keylock"
)

// turns are the turns at work that takes a processor for long: so many at once of one
// anonymous client, and so many of all.
type turns struct {
	one *keylock.Locks[netip.Addr]
	all chan struct{} // nil: any number
}

// acquire waits for the turn of a client, unless it has that, and for that among all. It
// gives the function that ends both, to be called once.
func (t *turns) acquire(ctx context.Context, client netip.Addr, has bool) (release func(), err error) {
	leave := func() {}
	if !has {
		leave, err = t.one.Acquire(ctx, client)
	}
	if err != nil || t.all == nil {
		return leave, err
	}
	select {
	case t.all <- struct{}{}:
		return func() {
			<-t.all
			leave()
		}, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

// workAtOnce is how long the past is read for one client before others have a moment.
const workAtOnce = 5 * time.Millisecond

// pace is the work on one page or piece of the past of an anonymous client. While others of
// the same client wait for their turns it rests for as long as it works, so many requests
// of one take half of a processor and not all of it. A nil one does not rest.
type pace struct {
	turns  *turns
	client netip.Addr
	now    func() time.Time
	since  time.Time
}

// pace begins a work that is in the turn of a client.
func (a *api) pace(c *call, client netip.Addr) *pace {
	if c.caller.Role != calendar.Anonymous {
		return nil
	}
	return &pace{a.past, client, a.o.Now, a.o.Now()}
}

// rest rests where it is time to.
func (p *pace) rest(ctx context.Context) {
	if p == nil {
		return
	}
	worked := p.now().Sub(p.since)
	if worked < workAtOnce {
		return
	}
	if p.turns.one.Waiting(p.client) {
		select {
		case <-time.After(worked):
		case <-ctx.Done(): // the work finds that by itself
		}
	}
	p.since = p.now()
}

// inTurn does work in the turn of the client of a request.
func (a *api) inTurn(ctx context.Context, r *http.Request, c *call, t *turns, work func() error) error {
	leave, err := a.takeTurn(ctx, r, c, t, false)
	if err != nil {
		return err
	}
	defer leave()
	return work()
}

// takeTurn waits for the turn of the client of a request, without a slot, and returns the
// function that ends it. One that has the turn of its client waits for that among all alone,
// or it could wait for itself; it is not refused, as most of the work is done. Callers with
// credentials take no turns.
func (a *api) takeTurn(ctx context.Context, r *http.Request, c *call, t *turns, has bool) (leave func(), err error) {
	if t == nil || c.caller.Role != calendar.Anonymous {
		return func() {}, nil
	}
	if !c.pass.enter(stageWait, 1) && !has {
		return nil, calendar.Fail(calendar.CodeUnavailable, 0)
	}
	defer c.pass.resume()
	return t.acquire(ctx, a.rooms.address(r), has)
}
