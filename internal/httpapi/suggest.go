package httpapi

import (
	"cmp"
	"context"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/query"
	"daybook/query/readmodel"
)

// suggest answers what may be meant by what was typed so far.
func (call *call) suggest() error {
	// The public view, no matter who asks.
	return call.ask(query.Request{Params: query.ParamsOf("suggest")}, nil, &question{make: call.suggestions})
}

func (call *call) suggestions(ctx context.Context) (*answer, error) {
	all, position, err := call.Queries.Suggest(ctx, call.criteria)
	if err != nil {
		return nil, err
	}
	return call.shown(suggestionsOf(call.root, call.criteria, all), valueJSON, position), nil
}

// shown is the answer to a list in a form of its own.
func (call *call) shown(value any, media []string, position calendar.Position) *answer {
	reply := call.newAnswer(formats.AppendJSON(nil, value), media, call.weakTag(call.cacheKey))
	reply.show(position)
	return reply
}

func suggestionsOf(root *root, criteria *query.Criteria, all []query.Suggested) formats.Object {
	object := append(make(formats.Object, 0, 2+2*len(all)), "q", criteria.Typed().Query)
	for i := range all {
		suggested := &all[i]
		highlighter := &readmodel.Highlighter{Search: criteria.Typed(), Spelling: suggested.Spelling}
		list := formats.ListOf(suggested.List, func(suggestion *query.Suggestion) any {
			return suggestionOf(root, criteria.Lang, suggestion, highlighter)
		})
		object = append(object, suggested.Kind.Collection(), formats.Whole(list))
	}
	return object
}

func suggestionOf(root *root, language calendar.Lang, suggestion *query.Suggestion, highlighter *readmodel.Highlighter) formats.Object {
	record, fields := suggestion.Record, suggestion.Record.Fields
	name, in := record.Name(language)
	object := formats.Object{
		"id", record.ID, "slug", record.Slug(), "url", root.Page(record, suggestion.Status), "rest_url", root.Self(record), "text", name,
		"highlight", cmp.Or(highlighter.Name(name, in), readmodel.EscapeHTML(name)), "count", suggestion.Count,
	}
	if suggestion.Namesake {
		object = append(object, "city", fields.String("city"))
	}
	if record.Kind == calendar.KindEvent {
		venue := ""
		if suggestion.Venue != nil {
			venue, _ = suggestion.Venue.Name(language)
		}
		object = append(object, "start_date", fields.Wall("start_date").String(), "end_date", fields.Wall("end_date").String(),
			"timezone", fields.String("timezone"), "all_day", fields.Bool("all_day"), "venue", venue)
	}
	return object
}
