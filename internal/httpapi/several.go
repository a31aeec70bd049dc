package httpapi

import (
	"context"
	"errors"
	"strconv"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/query"
)

const (
	paramSearches = "searches"
	mostSearches  = 20 // of one request
)

// several answers several lists of events, all of one state.
func (c *call) several() error {
	ctx := c.r.Context()
	body, err := c.receive(maxSearchBody)
	if err != nil {
		return err
	}
	in, err := decodeJSON(body)
	if err != nil {
		return err
	}
	var all []*query.Criteria
	err = c.inTurn(ctx, c.turns, func() (err error) {
		all, err = c.parseSeveral(ctx, in)
		return err
	})
	if err != nil {
		return err
	}
	question := c.present()
	question.space, question.smaller = severalKey, []string{paramSearches}
	question.asked = c.asked().Number(int64(c.lang))
	for _, criteria := range all {
		question.asked = question.asked.Text(criteria.Key)
	}
	question.make = func(ctx context.Context, _ stated) (*answer, error) { return c.runSeveral(ctx, all) }
	return c.read(question)
}

// parseSeveral reads the body of several searches: all that is wrong with any of them is
// told at once.
func (c *call) parseSeveral(ctx context.Context, in calendar.Input) ([]*query.Criteria, error) {
	var problems calendar.Problems
	asked := inputOf(c.query, nil)
	c.lang = calendar.Language(asked, c.loc.lang, &problems)
	if in[paramSearches] == nil {
		return nil, &calendar.Error{Code: calendar.CodeMissingParam, Missing: []string{paramSearches}}
	}
	searches, ok := in[paramSearches].([]any)
	switch {
	case !ok:
		problems.Add(paramSearches, calendar.ReasonTypeList)
	case len(searches) == 0:
		problems.Add(paramSearches, calendar.ReasonEmpty)
	case len(searches) > mostSearches:
		problems.Add(paramSearches, calendar.ReasonTooMany, strconv.Itoa(mostSearches))
		searches = nil
	}
	all := make([]*query.Criteria, len(searches))
	params, now := query.ParamsOf("several"), c.o.Now() // the same day for all of them
	for i, v := range searches {
		name := paramSearches + "[" + strconv.Itoa(i) + "]"
		search, ok := v.(map[string]any)
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
		var err error
		all[i], err = c.Queries.Parse(ctx, query.Request{
			Kind: c.route.kind, Input: known, Lang: c.loc.lang, Caller: c.caller, Past: query.Past{Now: now},
		})
		e, public := errors.AsType[*calendar.Error](err)
		if err != nil && (!public || e.Code != calendar.CodeInvalidParam) {
			return nil, err
		}
		if public {
			for _, fieldError := range e.Fields {
				problems.Add(name+"."+fieldError.Field, fieldError.Reason, fieldError.Args...)
			}
		}
	}
	problems.Fields = append(problems.Fields, c.readLeast()...)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	cost := 0
	for _, criteria := range all {
		cost += criteria.Cost
	}
	return all, c.Queries.Afford(cost)
}

// runSeveral runs several lists and writes them as each would be answered.
func (c *call) runSeveral(ctx context.Context, all []*query.Criteria) (*answer, error) {
	address := c.root.Collection(calendar.KindEvent) + "/"
	var position calendar.Position
	body, err := written(func(data []byte) ([]byte, error) {
		err := c.Queries.Several(ctx, all, func(i int, list *query.List) (err error) {
			if i == 0 {
				data, position = append(data[:0], `{"results":[`...), list.Position
			}
			l := &listing{root: c.root, criteria: all[i], list: list, address: address, links: pageLinks(address, all[i], list)}
			data, err = c.appendList(formats.AppendComma(data, i), openJSON(c.api, l), list)
			return err
		})
		return append(data, "]}"...), err
	})
	if err != nil {
		return nil, err
	}
	ans := newAnswer(body, valueJSON, "", c.lang)
	ans.show(position)
	return ans, nil
}
