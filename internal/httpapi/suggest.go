package httpapi

import (
	"context"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/render"
	"daybook/query"
)

// suggest answers what may be meant by what was typed so far.
func (call *call) suggest() error {
	// The public view, no matter who asks.
	return call.ask(query.Request{Params: query.Params("suggest")}, nil, &question{make: func(ctx context.Context) (*answer, error) {
		all, position, err := call.Queries.Suggest(ctx, call.criteria)
		if err != nil {
			return nil, err
		}
		return call.shown(render.Suggestions(&call.root.Links, call.criteria, all), valueJSON, position), nil
	}})
}

// clusters answers the venues of events by the squares of a grid (LISTINGS 1.11).
func (call *call) clusters() error {
	return call.ask(query.Request{Caller: call.caller, Params: query.Params("map")}, nil, &question{make: func(ctx context.Context) (*answer, error) {
		found, err := call.Queries.Clusters(ctx, call.criteria)
		if err != nil {
			return nil, err
		}
		reply := call.shown(render.Clusters(&call.root.Links, found, call.language, call.Now()), valueGeoJSON, found.Position)
		call.addTotals(reply, found.Total, "")
		return reply, nil
	}})
}

// shown is the answer to a list in a form of its own.
func (call *call) shown(value any, media []string, position calendar.Position) *answer {
	reply := call.newAnswer(formats.AppendJSON(nil, value), media, call.weakTag(call.cacheKey))
	reply.show(position)
	return reply
}
