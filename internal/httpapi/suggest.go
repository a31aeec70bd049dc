package httpapi

import (
	"context"
	"net/http"
	"strconv"

	"daybook/calendar"
	"daybook/internal/httpapi/openapi"
	"daybook/internal/render"
	"daybook/query"
	"daybook/query/readmodel"
)

func suggestRoute() *route {
	rt := logRoute("/suggest", "suggest", (*api).suggest, openapi.Operation{
		Args: argumentsOf(calendar.KindEvent, query.SuggestParams()), Sends: []string{headerMinPosition},
		Headers: []string{"ETag", headerPosition}, Content: openapi.JSON(openapi.Ref("Suggestions")),
	})
	rt.Tag, rt.operations[0].Group = calendar.KindEvent.Collection(), "search"
	return rt
}

// suggest answers what may be meant by what was typed so far.
func (a *api) suggest(w http.ResponseWriter, r *http.Request) error {
	c := callOf(r)
	least, refused := minPosition(r.Header)
	in := inputOf(c.query, query.SuggestParams().IsList)
	// The public view, whoever asks.
	criteria, err := a.Queries.Parse(r.Context(), query.Request{Kind: calendar.KindEvent, Input: in, Lang: c.loc.lang, Suggest: true})
	if err = withProblem(err, refused); err != nil {
		return err
	}
	c.lang = criteria.Lang
	q := a.present(c, least)
	q.asked = c.asked().Number(int64(c.route.number)).Text(criteria.Key)
	q.make = func(ctx context.Context, of stated) (*answer, error) {
		all, at, err := a.Queries.Suggest(ctx, criteria)
		if err != nil {
			return nil, err
		}
		ans := newAnswer(appendSuggestions(nil, c.root, criteria, all), valueJSON, a.weakTag(of.key), criteria.Lang)
		ans.show(at)
		return ans, nil
	}
	return a.read(w, r, c, q)
}

func appendSuggestions(b []byte, root *root, c *query.Criteria, all []query.Suggested) []byte {
	b = render.AppendString(append(b, `{"q":`...), c.Typed().Query)
	var h *readmodel.Highlighter
	for i := range all {
		of := &all[i]
		if h == nil || of.Spelling != all[i-1].Spelling {
			h = readmodel.NewHighlighter(c.Typed(), of.Spelling)
		}
		b = append(append(append(b, `,"`...), of.Kind.Collection()...), `":[`...)
		for j := range of.List {
			b = appendSuggestion(render.AppendComma(b, j), root, c.Lang, &of.List[j], h)
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

func appendSuggestion(b []byte, root *root, l calendar.Lang, s *query.Suggestion, h *readmodel.Highlighter) []byte {
	r := s.View.Record
	name, in := r.Name(l)
	marked := h.Name(name, in)
	if marked == "" {
		marked = readmodel.EscapeHTML(name)
	}
	b = strconv.AppendInt(append(b, `{"id":`...), int64(r.ID), 10)
	b = render.AppendString(append(b, `,"slug":`...), r.Slug())
	b = render.AppendString(append(b, `,"url":`...), root.Page(r, s.View.Status))
	b = render.AppendString(append(b, `,"rest_url":`...), root.Self(r))
	b = render.AppendString(append(b, `,"text":`...), name)
	b = render.AppendString(append(b, `,"highlight":`...), marked)
	b = strconv.AppendInt(append(b, `,"count":`...), int64(s.Count), 10)
	if s.Namesake {
		b = render.AppendString(append(b, `,"city":`...), r.Fields.String("city"))
	}
	if r.Kind == calendar.KindEvent {
		f := r.Fields
		venue := ""
		if len(s.View.Venues) > 0 {
			venue, _ = s.View.Venues[0].Record.Name(l)
		}
		b = render.AppendString(append(b, `,"start_date":`...), f.Wall("start_date").String())
		b = render.AppendString(append(b, `,"end_date":`...), f.Wall("end_date").String())
		b = render.AppendString(append(b, `,"timezone":`...), f.String("timezone"))
		b = strconv.AppendBool(append(b, `,"all_day":`...), f.Bool("all_day"))
		b = render.AppendString(append(b, `,"venue":`...), venue)
	}
	return append(b, '}')
}
