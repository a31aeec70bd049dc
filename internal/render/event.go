package render

import (
	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/htmltext"
	"daybook/query"
	"daybook/query/readmodel"
)

// appendEvent writes an event (3.1.7), blanked where the view says so (6.3).
func (w *Writer) appendEvent(b []byte, v *query.View) []byte {
	s := &w.event
	*s = subject{
		r: v.Record, f: v.Record.Fields, status: v.Status, url: w.Links.Page(v.Record, v.Status),
		blanked: v.Blanked, view: v,
	}
	b = w.appendColumns(b, w.Layouts.Of[calendar.KindEvent], s)
	if v.Distance != nil {
		b = formats.AppendKm(append(b, `,"distance":`...), *v.Distance)
	}
	b = w.AppendHighlight(b, v)
	if w.LD && !v.Blanked {
		b = w.appendEventLD(append(b, `,"json_ld":`...), v, s)
	}
	return append(b, '}')
}

// AppendHighlight appends the key highlight of an event with a comma in front: its texts that
// a search matches, with marks (LISTINGS 3.4); of a blanked one the title alone is searched.
func (w *Writer) AppendHighlight(b []byte, v *query.View) []byte {
	const key = `,"highlight":`
	if w.Highlighter == nil || !w.wants(key) {
		return b
	}
	title, l := v.Record.Name(w.Lang)
	marked := formats.Object{"title", formats.Filled(w.Highlighter.Name(title, l))}
	for _, field := range [...]string{"excerpt", "description"} {
		if text, l := HTML(v.Record, field, w.Lang); text != "" && !v.Blanked {
			marked = append(marked, field, formats.Filled(w.Highlighter.Snippet(htmltext.PlainText(text), l, w.HighlightLength)))
		}
	}
	return formats.AppendJSON(append(b, key...), marked)
}

// HTML returns a description or excerpt of a post as it is shown, and its language.
func HTML(r *calendar.Record, field string, l calendar.Lang) (string, calendar.Lang) {
	s, in := r.Fields.Text(field).In(l, r.Home)
	return paragraphs(s), in
}

func writeZone(w *Writer, b []byte, c *Column, s *subject) []byte {
	zone := w.Zone(s.f.String(c.Name))
	b = c.append(b, zone.Name, plainText)
	return formats.AppendString(append(b, c.more...), zone.Abbreviation(s.f.Wall("utc_start_date").UTC()))
}

func writeCost(w *Writer, b []byte, c *Column, s *subject) []byte {
	s.cost = calendar.ReadCost(s.f.Strings(c.Name), w.currency)
	b = c.append(b, s.cost.Text, nameText)
	return formats.AppendJSON(append(b, c.more...), formats.Object{
		"currency_symbol", s.cost.Symbol, "currency_code", "", "currency_position", s.cost.Position,
		"values", formats.Whole(formats.ListOf(s.cost.Values, func(value *string) any { return *value })),
	})
}

func writeWebsite(_ *Writer, b []byte, c *Column, s *subject) []byte {
	if website := s.f.String(c.Name); website != "" {
		return c.append(b, website, nameText)
	}
	return c.append(b, s.url, plainText)
}

func writeTerms(w *Writer, b []byte, c *Column, s *subject) []byte {
	terms := s.view.Categories
	if c.Name == "tags" {
		terms = s.view.Tags
	}
	return appendEmbedded(w, b, c.key, terms, w.appendNested)
}

func writePosts(w *Writer, b []byte, c *Column, s *subject) []byte {
	return appendEmbedded(w, b, c.key, s.view.Organizers, w.appendPost)
}

func writeFirst(w *Writer, b []byte, c *Column, s *subject) []byte {
	if w.wants(c.key) {
		b = append(b, c.key...)
		if len(s.view.Venues) == 0 {
			b = append(b, `[]`...)
		} else {
			b = w.appendPost(b, s.view.Venues[0])
		}
	}
	return appendEmbedded(w, b, c.more, s.view.Venues, w.appendPost)
}

// appendEmbedded writes a key with records that an event embeds, until the answer is full.
func appendEmbedded[T any](w *Writer, b []byte, key string, records []T, one func([]byte, T) []byte) []byte {
	if !w.wants(key) {
		return b
	}
	b = append(append(b, key...), '[')
	for i, r := range records {
		if w.full(b) {
			break
		}
		b = one(formats.AppendComma(b, i), r)
	}
	return append(b, ']')
}

// appendNested writes a term that an event embeds.
func (w *Writer) appendNested(b []byte, t query.LinkedView) []byte {
	return append(b, w.fragment(t.Record, "", t.Count, func(b []byte) ([]byte, int) {
		b = w.appendTerm(b, t, w.Layouts.Nested[t.Record.Kind])
		return b, len(b)
	}).head...)
}

func writeRepeats(_ *Writer, b []byte, _ *Column, s *subject) []byte {
	if s.view == nil {
		return b
	}
	return AppendRepeats(b, s.view.Repeats)
}

// AppendRepeats appends the key collapsed of an event with a comma in front, nothing without
// repeats.
func AppendRepeats(b []byte, r *readmodel.Repeats) []byte {
	if r == nil {
		return b
	}
	return formats.AppendJSON(append(b, `,"collapsed":`...), formats.Object{
		"count", r.Count, "ids", formats.Whole(formats.ListOf(r.IDs, func(id *calendar.ID) any { return *id })),
		"first_start", r.First.String(), "last_start", r.Last.String(),
	})
}
