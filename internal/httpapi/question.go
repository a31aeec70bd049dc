package httpapi

import (
	"context"
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/singleflight"

	"daybook/calendar"
	"daybook/internal/ground/cache"
	"daybook/internal/httpapi/admit"
	"daybook/query"
)

// question is a read whose parameters are checked.
type question struct {
	// waits reports whether the read waits for the position that was asked for, and for the
	// writes of its caller.
	waits bool
	// state finds the state that the answer is made from. nil: each request gets an answer
	// of its own.
	state func(ctx context.Context) (query.Generation, error)
	// moves reports whether the state may go over to another one while an answer is made.
	moves bool
	// space, asked and number name the answer within its state.
	space  byte
	asked  cache.Key
	number int64
	turns  *admit.Turns // that the work takes; nil: none
	make   func(ctx context.Context, of stated) (*answer, error)
	// streams reports whether the answer has a selection, so that nobody else waits for it.
	streams bool
	// alias is another name of the answer, see api.aliasOf; "": it has none.
	alias string
	// smaller are the parameters by which a client could ask for a smaller answer.
	smaller []string
}

// stated is the state that an answer is made from, and the key of the answer.
type stated struct {
	query.Generation

	key string
}

// maxReopens is how often an answer is made again that shows an older state than was
// waited for.
const maxReopens = 3

// read answers a question: it waits for the position, finds the state, and sends the answer
// that is cached for it, else one that is made in the turn of the client, once for all who
// ask the same.
func (c *call) read(q *question) error {
	ctx, end, err := c.whenReached(c.r.Context(), q)
	if err != nil {
		return err
	}
	defer end()
	for try := 0; ; try++ {
		of, err := c.findState(ctx, q)
		if err != nil {
			return err
		}
		ans := c.cached(&of)
		if ans != nil && ans.position >= c.reached {
			c.cache = CacheHit
			c.setAlias(q.alias, ans)
			return c.sendAnswer(ans)
		}
		if ans, err = c.makeAnswer(ctx, q, of); err != nil {
			return c.tooLarge(err, q.smaller...)
		}
		if ans.position < c.reached && try < maxReopens {
			ans.close()
			continue
		}
		if ans.position < c.reached {
			err = c.late(ans.position)
		}
		if err == nil {
			c.setAlias(q.alias, ans)
			if c.lastGood != "" && ans.selection == nil && ans.page == nil {
				c.answers.Set(c.lastGood, ans)
			}
			err = c.sendAnswer(ans)
		}
		ans.close()
		return err
	}
}

// findState finds the state and names the answer.
func (c *call) findState(ctx context.Context, q *question) (of stated, err error) {
	if q.state == nil {
		return of, nil
	}
	if of.Generation, err = q.state(ctx); err == nil {
		of.key = c.key(q.space, of.Generation, q.number, q.asked)
	}
	return of, err
}

// cached returns the answer that is cached under a key, else nil. Of a page that looks
// otherwise from some time on it goes on to the key of the later one.
func (a *api) cached(of *stated) *answer {
	for of.key != "" {
		ans, ok := a.answers.Get(of.key)
		if !ok {
			break
		}
		if ans.until.IsZero() || a.o.Now().Before(ans.until) {
			return ans
		}
		of.key = string(cache.Key(of.key).Number(ans.until.Unix()))
	}
	return nil
}

// makeAnswer makes the answer to a question in the turn of the client and encodes it there:
// what is made is larger than what is sent, and those who wait should not hold both.
func (c *call) makeAnswer(ctx context.Context, q *question, of stated) (*answer, error) {
	// The turn comes before the client makes an answer for others, who are not to wait for it.
	leave, err := c.pass.Turn(ctx, q.turns, false)
	if err != nil {
		return nil, err
	}
	produce := func(ctx context.Context, pass *admit.Pass) (*answer, error) {
		ans, err := q.make(ctx, of)
		if err != nil {
			return nil, err
		}
		if q.moves { // it may be of two states, and the first one may come again
			now, err := c.Queries.Generation(ctx)
			ans.passing = ans.passing || err != nil || now != of.Generation || ans.position != 0 && ans.position < of.Position
		}
		if _, encoding, same := c.negotiate(ans); !same && ans.selection == nil {
			_, err = c.encodedBody(ctx, pass, encoding, ans, q.turns != nil)
		}
		return ans, err
	}
	if of.key == "" || q.streams {
		defer leave()
		ans, err := produce(ctx, &c.pass)
		if err == nil && !ans.passing {
			ans.key = of.key
		}
		return ans, err
	}
	c.cache = CacheShared
	first := false
	made := c.once(ctx, of.key, func(ctx context.Context, pass *admit.Pass) (*answer, error) {
		first = true
		return produce(ctx, pass)
	})
	c.pass.Enter(admit.Wait, 1) // where there is no room to wait it keeps its slot
	defer c.pass.Resume()
	select {
	case done := <-made:
		defer leave()
		if first {
			c.cache = CacheMiss
		}
		if done.Err != nil {
			return nil, done.Err
		}
		return done.Val.(*answer), nil //nolint:forcetypeassert // nothing else is made
	case <-ctx.Done():
		go func() { // the work goes on, and keeps the turn
			<-made
			leave()
		}()
		return nil, ctx.Err()
	}
}

// once makes the answer of a key for all who ask for it at the same time, and caches it. The
// work has a slot and a deadline of its own: it goes on when those who ask go away.
func (c *call) once(ctx context.Context, key string, produce func(ctx context.Context, pass *admit.Pass) (*answer, error)) <-chan singleflight.Result {
	slot := c.pass.Another()
	return c.flights.DoChan(key, func() (_ any, err error) {
		defer func() {
			if value := recover(); value != nil {
				err = fmt.Errorf("panic: %v\n%s", value, debug.Stack())
			}
		}()
		slot.Resume()
		defer slot.Leave()
		work, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.o.ReadDeadline)
		defer cancel()
		ans, err := produce(work, &slot)
		if err == nil && !ans.passing {
			ans.key = key
			c.answers.Set(key, ans)
		}
		return ans, err
	})
}

// whenReached waits until lists show what a question needs, without a slot, and returns the
// context of the work that begins then.
func (c *call) whenReached(ctx context.Context, q *question) (_ context.Context, end context.CancelFunc, err error) {
	if !q.waits {
		return ctx, func() {}, nil
	}
	if c.reached, err = c.await(c.caller, c.sent); err != nil {
		return ctx, nil, err
	}
	ctx, end = c.within(c.o.ReadDeadline)
	return ctx, end, nil
}

// await waits until lists show what a caller is to see, without a slot, and returns the
// position that was reached.
func (c *call) await(of calendar.Caller, least calendar.Position) (calendar.Position, error) {
	if !c.pass.Enter(admit.Wait, 1) {
		return 0, calendar.Fail(calendar.CodeUnavailable, 0)
	}
	defer c.pass.Resume()
	ctx, cancel := c.within(c.o.PositionWait + c.o.ReadDeadline)
	defer cancel()
	return c.Queries.Await(ctx, of, least)
}

// inTurn does work in the turn of the client of a request.
func (c *call) inTurn(ctx context.Context, t *admit.Turns, work func() error) error {
	leave, err := c.pass.Turn(ctx, t, false)
	if err != nil {
		return err
	}
	defer leave()
	return work()
}

// present makes a question about the present state of lists.
func (c *call) present() *question {
	return &question{
		waits: c.caller.Role != calendar.Anonymous || c.sent > 0,
		state: c.reachedState, moves: true, space: listKey, turns: c.turns,
	}
}
