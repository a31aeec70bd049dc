package httpapi

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"daybook/calendar"
)

// reading returns what answers a read of the past with an answer of its own for each request. A
// client could ask for less by the smaller parameters.
func reading(answers func(call *call, ctx context.Context) (*answer, error), smaller ...string) work {
	return func(call *call) error {
		if err := cmp.Or(call.readPast(), call.invalid()); err != nil {
			return err
		}
		question := &question{smaller: smaller, turns: call.past, make: func(ctx context.Context) (*answer, error) { return answers(call, ctx) }}
		if call.route.Proves {
			question.turns = nil
		}
		return call.read(question)
	}
}

// readPast reads the parameters of a read of the past, by those who may, and the head of the log
// where the route is one of it.
func (call *call) readPast() (err error) {
	call.fresh = valueAskBack
	if err := call.mayReadPast(); err != nil && (!call.route.Proves || call.PublicHistory != PublicHistoryProofs) {
		return err
	}
	_ = call.readParams(call.route.params)
	if call.route.Kind != 0 || call.route.Proves {
		return nil
	}
	call.head, err = call.History.Head(call.context)
	if call.numbers["after"] > int64(call.head) {
		call.problems.Add("after", calendar.ReasonAhead, call.head.String())
	}
	return err
}

// mayReadPast reports whether the setting lets a caller read the past (HISTORY 4.3): nil,
// CodeUnauthorized or CodeForbidden.
func (call *call) mayReadPast() error {
	switch {
	case call.PublicHistory == PublicHistoryAll || call.caller.ReadsAll():
		return nil
	case call.caller.Role == calendar.Anonymous:
		return refusal(calendar.CodeUnauthorized)
	default:
		return refusal(calendar.CodeForbidden)
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
