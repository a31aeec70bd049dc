package render

import (
	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/htmltext"
	"daybook/query"
	"daybook/query/readmodel"
)

// appendEvent writes an event (3.1.7), blanked where the view says so (6.3).
func (w *Writer) appendEvent(data []byte, v *query.View) []byte {
	s := &w.event
	*s = subject{
		r: v.Record, f: v.Record.Fields, status: v.Status, url: w.Links.Page(v.Record, v.Status),
		blanked: v.Blanked, view: v,
	}
	data = w.appendColumns(data, w.Layouts.Of[calendar.KindEvent], s)
	if v.Distance != nil {
		data = formats.AppendKm(append(data, `,"distance":`...), *v.Distance)
	}
	data = w.AppendHighlight(data, v)
	if w.LD && !v.Blanked {
		data = w.appendEventLD(append(data, `,"json_ld":`...), v, s)
	}
	return append(data, '}')
}

// AppendHighlight appends the key highlight of an event with a comma in front: its texts that
// a search matches, with marks (LISTINGS 3.4); of a blanked one the title alone is searched.
func (w *Writer) AppendHighlight(data []byte, view *query.View) []byte {
	const key = `,"highlight":`
	if w.Highlighter == nil || !w.wants(key) {
		return data
	}
	title, lang := view.Record.Name(w.Lang)
	marked := formats.Object{"title", formats.Filled(w.Highlighter.Name(title, lang))}
	for _, field := range [...]string{"excerpt", "description"} {
		if text, lang := HTML(view.Record, field, w.Lang); text != "" && !view.Blanked {
			marked = append(marked, field, formats.Filled(w.Highlighter.Snippet(htmltext.PlainText(text), lang, w.HighlightLength)))
		}
	}
	return formats.AppendJSON(append(data, key...), marked)
}

// HTML returns a description or excerpt of a post as it is shown, and its language.
func HTML(record *calendar.Record, field string, lang calendar.Lang) (string, calendar.Lang) {
	text, in := record.Fields.Text(field).In(lang, record.Home)
	return paragraphs(text), in
}

func writeZone(writer *Writer, data []byte, column *Column, s *subject) []byte {
	zone := writer.Zone(s.f.String(column.Name))
	data = column.append(data, zone.Name, plainText)
	return formats.AppendString(append(data, column.more...), zone.Abbreviation(s.f.Wall("utc_start_date").UTC()))
}

func writeCost(writer *Writer, data []byte, column *Column, s *subject) []byte {
	s.cost = calendar.ReadCost(s.f.Strings(column.Name), writer.currency)
	data = column.append(data, s.cost.Text, nameText)
	return formats.AppendJSON(append(data, column.more...), formats.Object{
		"currency_symbol", s.cost.Symbol, "currency_code", "", "currency_position", s.cost.Position,
		"values", formats.Whole(formats.ListOf(s.cost.Values, func(value *string) any { return *value })),
	})
}

func writeWebsite(_ *Writer, data []byte, column *Column, s *subject) []byte {
	if website := s.f.String(column.Name); website != "" {
		return column.append(data, website, nameText)
	}
	return column.append(data, s.url, plainText)
}

func writeTerms(writer *Writer, data []byte, column *Column, s *subject) []byte {
	terms := s.view.Categories
	if column.Name == "tags" {
		terms = s.view.Tags
	}
	return appendEmbedded(writer, data, column.key, terms, writer.appendNested)
}

func writePosts(writer *Writer, data []byte, column *Column, s *subject) []byte {
	return appendEmbedded(writer, data, column.key, s.view.Organizers, writer.appendPost)
}

func writeFirst(writer *Writer, data []byte, column *Column, s *subject) []byte {
	if writer.wants(column.key) {
		data = append(data, column.key...)
		if len(s.view.Venues) == 0 {
			data = append(data, `[]`...)
		} else {
			data = writer.appendPost(data, s.view.Venues[0])
		}
	}
	return appendEmbedded(writer, data, column.more, s.view.Venues, writer.appendPost)
}

// appendEmbedded writes a key with records that an event embeds, until the answer is full.
func appendEmbedded[T any](writer *Writer, data []byte, key string, records []T, one func([]byte, T) []byte) []byte {
	if !writer.wants(key) {
		return data
	}
	data = append(append(data, key...), '[')
	for i, value := range records {
		if writer.full(data) {
			break
		}
		data = one(formats.AppendComma(data, i), value)
	}
	return append(data, ']')
}

// appendNested writes a term that an event embeds.
func (w *Writer) appendNested(data []byte, t query.LinkedView) []byte {
	return append(data, w.fragment(t.Record, "", t.Count, func(data []byte) ([]byte, int) {
		data = w.appendTerm(data, t, w.Layouts.Nested[t.Record.Kind])
		return data, len(data)
	}).head...)
}

func writeRepeats(_ *Writer, data []byte, _ *Column, s *subject) []byte {
	if s.view == nil {
		return data
	}
	return AppendRepeats(data, s.view.Repeats)
}

// AppendRepeats appends the key collapsed of an event with a comma in front, nothing without
// repeats.
func AppendRepeats(data []byte, repeats *readmodel.Repeats) []byte {
	if repeats == nil {
		return data
	}
	return formats.AppendJSON(append(data, `,"collapsed":`...), formats.Object{
		"count", repeats.Count, "ids", formats.Whole(formats.ListOf(repeats.IDs, func(id *calendar.ID) any { return *id })),
		"first_start", repeats.First.String(), "last_start", repeats.Last.String(),
	})
}
