package render

import (
	"cmp"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/query"
	"daybook/query/readmodel"
)

// Suggestions are what may be meant by what was typed, by kind.
func Suggestions(links *Links, criteria *query.Criteria, all []query.Suggested) formats.Object {
	object := append(make(formats.Object, 0, 2+2*len(all)), "q", criteria.Typed().Query)
	for i := range all {
		suggested := &all[i]
		highlighter := readmodel.NewHighlighter(criteria.Typed(), suggested.Spelling)
		list := formats.ListOf(suggested.List, func(suggestion *query.Suggestion) any {
			return suggestionOf(links, criteria.Lang, suggestion, highlighter)
		})
		object = append(object, suggested.Kind.Collection(), formats.Whole(list))
	}
	return object
}

func suggestionOf(links *Links, language calendar.Lang, suggestion *query.Suggestion, highlighter *readmodel.Highlighter) formats.Object {
	record, fields := suggestion.Record, suggestion.Record.Fields
	name, in := record.Name(language)
	object := formats.Object{
		"id", record.ID, "slug", record.Slug(), "url", links.Page(record, suggestion.Status), "rest_url", links.Self(record), "text", name,
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
