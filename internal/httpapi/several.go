package httpapi

import (
	"context"
	"errors"
	"strconv"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/param"
	"daybook/query"
)

const paramSearches = "searches"

// several answers several lists of events, all of one state.
func (call *call) several() error {
	call.format = &formats.JSON
	body, err := call.receive(maxSearchBody)
	if err != nil {
		return err
	}
	input, err := param.DecodeJSON(body)
	if err != nil {
		return err
	}
	all, err := call.parseSeveral(input)
	if err != nil {
		return err
	}
	question := &question{lists: true, moves: true, turns: call.turns, smaller: []string{paramSearches}, asked: call.asked().Number(int64(call.language))}
	for _, criteria := range all {
		question.asked = question.asked.Text(criteria.Key)
	}
	question.make = func(ctx context.Context) (*answer, error) { return call.runSeveral(ctx, all) }
	return call.read(question)
}

// parseSeveral reads the body of several searches: all that is wrong with any of them is
// told at once.
func (call *call) parseSeveral(input calendar.Input) ([]*query.Criteria, error) {
	problems := &call.problems
	asked := call.query.Input(nil)
	call.language = calendar.Language(asked, call.location.language, problems)
	if input[paramSearches] == nil {
		return nil, &calendar.Error{Code: calendar.CodeMissingParam, Missing: []string{paramSearches}}
	}
	searches, ok := input[paramSearches].([]any)
	switch limit := int(parameters[paramSearches].Bound("maxItems")); {
	case !ok:
		problems.Add(paramSearches, calendar.ReasonTypeList)
	case len(searches) == 0:
		problems.Add(paramSearches, calendar.ReasonEmpty)
	case len(searches) > limit:
		problems.Add(paramSearches, calendar.ReasonTooMany, strconv.Itoa(limit))
		searches = nil
	}
	var all []*query.Criteria
	params, now, cost := query.Params("several"), call.Now(), 0 // the same day for all of them
	for i, value := range searches {
		name := paramSearches + "[" + strconv.Itoa(i) + "]"
		search, ok := value.(map[string]any)
		if !ok {
			problems.Add(name, calendar.ReasonTypeObject)
			continue
		}
		known := make(calendar.Input, len(search)+1)
		if l, sent := asked["multilang_language"]; sent && len(problems.Fields) == 0 {
			known["multilang_language"] = l
		}
		for i := range params {
			if v, sent := search[params[i].Name]; sent {
				known[params[i].Name] = params[i].FromJSON(v)
			}
		}
		err := call.parse(query.Request{
			Kind: call.route.Kind, Input: known, Lang: call.location.language, Caller: call.caller, Past: query.Past{Now: now},
		})
		if err == nil {
			all, cost = append(all, call.criteria), cost+call.criteria.Cost
			continue
		}
		problem, public := errors.AsType[*calendar.Error](err)
		if !public || problem.Code != calendar.CodeInvalidParam {
			return nil, err
		}
		for _, fieldError := range problem.Fields {
			problems.Add(name+"."+fieldError.Field, fieldError.Reason, fieldError.Args...)
		}
	}
	call.sent = call.readPosition(headerMinPosition)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return all, call.Queries.Afford(cost)
}

// runSeveral runs several lists and writes them as each would be answered.
func (call *call) runSeveral(ctx context.Context, criteria []*query.Criteria) (*answer, error) {
	var position calendar.Position
	body, err := call.write(func(data []byte) ([]byte, error) {
		err := call.Queries.Several(ctx, criteria, func(i int, list *query.List) (err error) {
			if i == 0 {
				data, position = append(data[:0], `{"results":[`...), list.Position
			}
			call.criteria = criteria[i]
			data, err = call.appendList(formats.AppendComma(data, i), &listing{list: list})
			return err
		})
		return append(data, "]}"...), err
	})
	if err != nil {
		return nil, err
	}
	answer := call.newAnswer(body, valueJSON, "")
	answer.show(position)
	return answer, nil
}
