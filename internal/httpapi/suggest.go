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
	criteria, question, err := call.ask(query.Request{Params: query.ParamsOf("suggest")})
	if err != nil {
		return err
	}
	question.make = func(ctx context.Context, state answerState) (*answer, error) {
		all, position, err := call.Queries.Suggest(ctx, criteria)
		if err != nil {
			return nil, err
		}
		body := formats.AppendJSON(nil, suggestionsOf(call.root, criteria, all))
		ans := newAnswer(body, valueJSON, call.weakTag(state.key), criteria.Lang)
		ans.show(position)
		return ans, nil
	}
	return call.read(question)
}

// suggestion is a suggestion as it is answered.
type suggestion struct {
	ID        calendar.ID `json:"id"`
	Slug      string      `json:"slug"`
	URL       string      `json:"url"`
	RestURL   string      `json:"rest_url"`
	Text      string      `json:"text"`
	Highlight string      `json:"highlight"`
	Count     int         `json:"count"`
	City      any         `json:"city,omitempty"` // of a venue with a namesake
	*suggestedEvent
}

// suggestedEvent is what suggestions of events have besides.
type suggestedEvent struct {
	StartDate string `json:"start_date"`
	EndDate   string `json:"end_date"`
	Timezone  string `json:"timezone"`
	AllDay    bool   `json:"all_day"`
	Venue     string `json:"venue"`
}

func suggestionsOf(root *root, criteria *query.Criteria, all []query.Suggested) formats.Object {
	out := make(formats.Object, 0, 2+2*len(all))
	out = append(out, "q", criteria.Typed().Query)
	for i := range all {
		suggested := &all[i]
		highlighter := readmodel.NewHighlighter(criteria.Typed(), suggested.Spelling)
		list := make([]suggestion, len(suggested.List))
		for j := range suggested.List {
			list[j] = suggestionOf(root, criteria.Lang, &suggested.List[j], highlighter)
		}
		out = append(out, suggested.Kind.Collection(), list)
	}
	return out
}

func suggestionOf(root *root, lang calendar.Lang, s *query.Suggestion, highlighter *readmodel.Highlighter) suggestion {
	record := s.Record
	fields := record.Fields
	name, in := record.Name(lang)
	out := suggestion{
		ID: record.ID, Slug: record.Slug(), URL: root.Page(record, s.Status), RestURL: root.Self(record), Text: name,
		Highlight: cmp.Or(highlighter.Name(name, in), readmodel.EscapeHTML(name)), Count: s.Count,
	}
	if s.Namesake {
		out.City = fields.String("city")
	}
	if record.Kind == calendar.KindEvent {
		out.suggestedEvent = &suggestedEvent{fields.Wall("start_date").String(), fields.Wall("end_date").String(), fields.String("timezone"), fields.Bool("all_day"), ""}
		if s.Venue != nil {
			out.Venue, _ = s.Venue.Name(lang)
		}
	}
	return out
}
