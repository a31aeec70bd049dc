package httpapi

import (
	"context"
	"slices"
	"strings"

	"daybook/calendar"
)

// pastRead is a read of the past by those who may read it.
type pastRead struct {
	answer  func(asked *readParams, ctx context.Context) (*answer, error)
	stream  func(asked *readParams) error // in place of answer
	smaller []string                      // the parameters by which a client could ask for less
	proof   bool                          // of HISTORY 12
}

// serve answers a request.
func (pastRead *pastRead) serve(call *call) error {
	call.fresh = valueAskBack
	if err := call.mayReadPast(); err != nil && (!pastRead.proof || call.settings.PublicHistory != PublicHistoryProofs) {
		return err
	}
	asked := call.readParams(call.route.params)
	if call.route.kind == 0 && !pastRead.proof {
		var err error
		if asked.head, err = call.History.Head(call.request.Context()); err != nil {
			return err
		}
		if asked.numbers["after"] > int64(asked.head) {
			asked.problems.Add("after", calendar.ReasonAhead, asked.head.String())
		}
	}
	if pastRead.stream != nil {
		return pastRead.stream(asked)
	}
	if err := asked.err(); err != nil {
		return err
	}
	question := &question{smaller: pastRead.smaller, make: func(ctx context.Context, _ answerState) (*answer, error) {
		reply, err := pastRead.answer(asked, ctx)
		return reply, refusedProof(err)
	}}
	if !pastRead.proof {
		question.turns = call.past
	}
	return call.read(question)
}

// mayReadPast reports whether the setting lets a caller read the past (HISTORY 4.3): nil,
// CodeUnauthorized or CodeForbidden.
func (call *call) mayReadPast() error {
	switch {
	case call.settings.PublicHistory == PublicHistoryAll || call.caller.ReadsAll():
		return nil
	case call.caller.Role == calendar.Anonymous:
		return calendar.Fail(calendar.CodeUnauthorized, 0)
	default:
		return calendar.Fail(calendar.CodeForbidden, 0)
	}
}

// maxGroups bounds the header Cache-Groups, in bytes.
const maxGroups = 4 << 10

// name names a record that the answer is of and those that its sentences name, and reports
// whether all of them found room. What does not name all is not kept without being asked for.
func (answer *answer) name(id calendar.ID, named []calendar.ID) bool {
	slices.Sort(named)
	groups := cacheGroups(slices.Insert(slices.Compact(named), 0, id)...)
	whole := len(groups) <= maxGroups
	if !whole {
		groups = cacheGroups(id)
	}
	answer.add(headerGroups, groups)
	return whole
}

// cacheGroups names the records that an answer shows (RFC 9875).
func cacheGroups(ids ...calendar.ID) string {
	groups := make([]string, len(ids))
	for i, id := range ids {
		groups[i] = `"daybook-` + id.String() + `"`
	}
	return strings.Join(groups, ", ")
}
