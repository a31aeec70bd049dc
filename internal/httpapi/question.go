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

// maker makes an answer from a state.
type maker func(ctx context.Context, state answerState) (*answer, error)

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
	asked cache.Key    // names the answer within its state
	turns *admit.Turns // that the work takes; nil: none
	make  maker
	// streams reports whether the answer has a selection, so that nobody else waits for it.
	streams bool
	// alias is another name of the answer, see api.aliasOf; "": it has none.
	alias string
	// smaller are the parameters by which a client could ask for a smaller answer, where one that is
	// too large is refused.
	smaller []string
}

// answerState is the state that an answer is made from, and the key of the answer.
type answerState struct {
	query.Generation

	key string
}

// maxReopens is how often an answer is made again that shows an older state than was
// waited for.
const maxReopens = 3

// read answers a question: it waits for the position, finds the state, and sends the answer
// that is cached for it, else one that is made in the turn of the client, once for all who
// ask the same.
func (call *call) read(question *question) error {
	ctx := call.request.Context()
	if question.waits {
		var err error
		if call.reached, err = call.await(call.caller, call.sent); err != nil {
			return err
		}
		var end context.CancelFunc
		ctx, end = call.within(call.settings.ReadDeadline) // the work begins
		defer end()
	}
	for try := 0; ; try++ {
		stated, err := call.findState(ctx, question)
		if err != nil {
			return err
		}
		answer := call.cached(&stated)
		if answer != nil && answer.position >= call.reached {
			call.cache = CacheHit
		} else if answer, err = call.makeAnswer(ctx, question, stated); err != nil {
			return call.tooLarge(err, question.smaller...)
		}
		if answer.position < call.reached {
			if try < maxReopens {
				answer.close()
				continue
			}
			err = call.late(answer.position)
		}
		if err == nil {
			call.setAlias(question.alias, answer)
			if call.lastGood != "" && answer.selection == nil && answer.status == 0 {
				call.answers.Set(call.lastGood, answer)
			}
			err = call.sendAnswer(answer)
		}
		answer.close()
		return err
	}
}

// findState finds the state and names the answer.
func (call *call) findState(ctx context.Context, question *question) (stated answerState, err error) {
	if question.state == nil {
		return stated, nil
	}
	if stated.Generation, err = question.state(ctx); err == nil {
		stated.key = call.key(answerKey, stated.Generation, 0, question.asked)
	}
	return stated, err
}

// cached returns the answer that is cached under a key, else nil. Of a page that looks
// otherwise from some time on it goes on to the key of the later one.
func (api *api) cached(stated *answerState) *answer {
	for stated.key != "" {
		answer, ok := api.answers.Get(stated.key)
		if !ok {
			break
		}
		if answer.until.IsZero() || api.settings.Now().Before(answer.until) {
			return answer
		}
		stated.key = string(cache.Key(stated.key).Number(answer.until.Unix()))
	}
	return nil
}

// makeAnswer makes the answer to a question in the turn of the client and encodes it there:
// what is made is larger than what is sent, and those who wait should not hold both.
func (call *call) makeAnswer(ctx context.Context, question *question, stated answerState) (*answer, error) {
	// The turn comes before the client makes an answer for others, who are not to wait for it.
	leave, err := call.pass.Turn(ctx, question.turns, false)
	if err != nil {
		return nil, err
	}
	produce := func(ctx context.Context, pass *admit.Pass) (*answer, error) {
		reply, err := question.make(ctx, stated)
		if err == nil && question.smaller != nil && len(reply.bytes) > call.settings.MaxAnswer {
			err = query.ErrTooLarge
		}
		if err != nil {
			return nil, err
		}
		if question.moves { // it may be of two states, and the first one may come again
			now, err := call.Queries.Generation(ctx)
			reply.passing = reply.passing || err != nil || now != stated.Generation || reply.position != 0 && reply.position < stated.Position
		}
		if _, encoding, same := call.negotiate(reply); !same && reply.selection == nil {
			call.encodedBody(ctx, pass, encoding, reply, question.turns != nil)
		}
		return reply, nil
	}
	if stated.key == "" || question.streams {
		defer leave()
		reply, err := produce(ctx, &call.pass)
		if err == nil && !reply.passing {
			reply.key = stated.key
		}
		return reply, err
	}
	call.cache = CacheShared
	first := false
	made := call.once(ctx, stated.key, func(ctx context.Context, pass *admit.Pass) (*answer, error) {
		first = true
		return produce(ctx, pass)
	})
	_ = call.pass.Enter(admit.Wait, 1) // where there is no room to wait it keeps its slot
	defer call.pass.Resume()
	select {
	case done := <-made:
		defer leave()
		if first {
			call.cache = CacheMiss
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
func (call *call) once(ctx context.Context, key string, produce func(ctx context.Context, pass *admit.Pass) (*answer, error)) <-chan singleflight.Result {
	slot := call.pass.Another()
	return call.flights.DoChan(key, func() (_ any, err error) {
		defer func() {
			if value := recover(); value != nil {
				err = fmt.Errorf("panic: %v\n%s", value, debug.Stack())
			}
		}()
		slot.Resume()
		defer slot.Leave()
		work, cancel := context.WithTimeout(context.WithoutCancel(ctx), call.settings.ReadDeadline)
		defer cancel()
		answer, err := produce(work, &slot)
		if err == nil && !answer.passing {
			answer.key = key
			call.answers.Set(key, answer)
		}
		return answer, err
	})
}

// await waits until lists show what a caller is to see, without a slot, and returns the
// position that was reached.
func (call *call) await(caller calendar.Caller, least calendar.Position) (calendar.Position, error) {
	if err := call.pass.Enter(admit.Wait, 1); err != nil {
		return 0, err
	}
	defer call.pass.Resume()
	ctx, cancel := call.within(call.settings.PositionWait + call.settings.ReadDeadline)
	defer cancel()
	return call.Queries.Await(ctx, caller, least)
}

// present makes a question about the present state of lists.
func (call *call) present() *question {
	return &question{
		waits: call.caller.Role != calendar.Anonymous || call.sent > 0,
		state: call.reachedState, moves: true, turns: call.turns,
	}
}
