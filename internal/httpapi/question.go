package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"strconv"

	"daybook/calendar"
	"daybook/internal/ground/cache"
	"daybook/internal/httpapi/admit"
	"daybook/query"
)

// question is a read whose parameters are checked.
type question struct {
	// lists reports whether the answer shows what lists do: it waits for the position that was
	// asked for, and for the writes of its caller, and is made from the state that lists have then.
	lists bool
	// moves reports whether the state may go over to another one while an answer is made.
	moves bool
	asked cache.Key    // names the answer within its state; nil: each request gets one of its own
	turns *admit.Turns // that the work takes; nil: none
	make  func(ctx context.Context) (*answer, error)
	// streams reports whether the answer has a selection, so that nobody else waits for it.
	streams bool
	// alias is another name of the answer, see call.aliased; "": it has none.
	alias string
	// smaller are the parameters by which a client could ask for a smaller answer, where one that is
	// too large is refused.
	smaller []string
}

// wasAsked stands under the askedKey of questions.
var wasAsked = new(answer)

// maxReopens is how often an answer is made again that shows an older state than was
// waited for.
const maxReopens = 3

// read answers a question: it waits for the position, finds the state, and sends the answer
// that is cached for it, else one that is made in the turn of the client, once for all who
// ask the same.
func (call *call) read(question *question) error {
	if question.lists && (call.caller.Role != calendar.Anonymous || call.sent > 0) {
		var err error
		if call.reached, err = call.await(call.caller, call.sent); err != nil {
			return err
		}
		call.begin(call.ReadDeadline)
	}
	for try := 0; ; try++ {
		var err error
		if question.asked != nil {
			if question.lists {
				call.state, err = call.reachedState()
			}
			call.cacheKey = call.key(answerKey, call.state, 0, question.asked)
		}
		if err != nil {
			return err
		}
		reply := call.cached()
		if reply != nil && reply.position >= call.reached {
			call.cache = CacheHit
		} else if reply, err = call.makeAnswer(question); err != nil {
			if errors.Is(err, query.ErrTooLarge) {
				for _, name := range question.smaller {
					call.problems.Add(name, calendar.ReasonAnswerSize, strconv.Itoa(call.MaxAnswer))
				}
				err = cmp.Or(call.problems.Err(), err)
			}
			return err
		}
		if reply.position < call.reached {
			if try < maxReopens {
				reply.close()
				continue
			}
			err = call.late(reply.position)
		}
		if err == nil {
			if question.alias != "" && reply.key != "" { // the answer itself would stay in memory there
				call.answers.Set(question.alias, &answer{key: reply.key})
			}
			if call.lastGood != "" && reply.selection == nil && reply.status == 0 {
				call.answers.Set(call.lastGood, reply)
			}
			err = call.sendAnswer(reply)
		}
		reply.close()
		return err
	}
}

// cached returns the answer that is cached, else nil. Of a page that looks otherwise from some time
// on it goes on to the key of the later one.
func (call *call) cached() *answer {
	for call.cacheKey != "" {
		reply, ok := call.answers.Get(call.cacheKey)
		if !ok {
			break
		}
		if reply.until.IsZero() || call.Now().Before(reply.until) {
			return reply
		}
		call.cacheKey = string(cache.Key(call.cacheKey).Number(reply.until.Unix()))
	}
	return nil
}

// makeAnswer makes the answer to a question in the turn of the client, once for all who ask for it
// at the same time, and encodes it there: what is made is larger than what is sent, and those who
// wait should not hold both. What is made for others goes on when its client goes away.
func (call *call) makeAnswer(question *question) (*answer, error) {
	// The turn comes before the client makes an answer for others, who are not to wait for it.
	leave, err := call.pass.Turn(call.context, question.turns, false)
	if err != nil {
		return nil, err
	}
	defer leave()
	produce := func(ctx context.Context) (*answer, error) {
		reply, err := question.make(ctx)
		if err == nil && question.smaller != nil && len(reply.bytes) > call.MaxAnswer {
			err = query.ErrTooLarge
		}
		if err != nil {
			return nil, err
		}
		if question.moves { // it may be of two states, and the first one may come again
			now, err := call.Queries.Generation(ctx)
			reply.passing = reply.passing || err != nil || now != call.state || reply.position != 0 && reply.position < call.state.Position
		}
		if call.buffer != nil && call.cacheKey != "" {
			asked := string(cache.Key{askedKey}.Number(int64(calendar.HashStart.Text(string(question.asked))))) // equal ones do no harm
			if _, again := call.answers.Get(asked); again {
				reply.bytes = bytes.Clone(reply.bytes)
			} else {
				call.answers.Set(asked, wasAsked)
				reply.first = true
			}
		}
		if !reply.passing && !reply.first {
			reply.key = call.cacheKey
		}
		if _, encoding, same := call.negotiate(reply); !same && reply.selection == nil {
			call.encodedBody(ctx, encoding, reply, question.turns != nil)
		}
		return reply, nil
	}
	if call.cacheKey == "" || question.streams {
		return produce(call.context)
	}
	call.cache = CacheShared
	_ = call.pass.Enter(admit.Wait, 1) // where there is no room to wait it keeps its slot
	defer call.pass.Resume()
	reply, shared, err := call.once(call.context, call.cacheKey, func(ctx context.Context) (*answer, error) {
		call.pass.Resume()
		call.cache = CacheMiss
		return produce(ctx)
	})
	if shared { // others may still send it
		call.buffer = nil
	}
	if shared && err == nil && reply.first && !reply.passing {
		call.answers.Set(call.cacheKey, reply)
	}
	return reply, err
}

// once returns the answer that is cached under a key, else makes it for all who ask for it at the
// same time, reports whether there were several, and caches it. The work has a deadline of its own.
func (api *api) once(ctx context.Context, key string, produce func(context.Context) (*answer, error)) (*answer, bool, error) {
	if reply, ok := api.answers.Get(key); ok {
		return reply, true, nil
	}
	made, err, shared := api.flights.Do(key, func() (any, error) {
		work, cancel := context.WithTimeout(context.WithoutCancel(ctx), api.ReadDeadline)
		defer cancel()
		reply, err := produce(work)
		if err == nil && !reply.passing && !reply.first {
			api.answers.Set(key, reply)
		}
		return reply, err
	})
	reply, _ := made.(*answer)
	return reply, shared, err
}

// await waits until lists show what a caller is to see, without a slot, and returns the
// position that was reached.
func (call *call) await(caller calendar.Caller, least calendar.Position) (calendar.Position, error) {
	if err := call.pass.Enter(admit.Wait, 1); err != nil {
		return 0, err
	}
	defer call.pass.Resume()
	ctx, cancel := context.WithTimeout(call.client, call.PositionWait+call.ReadDeadline)
	defer cancel()
	return call.Queries.Await(ctx, caller, least)
}
