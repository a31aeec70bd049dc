package render

import (
	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/htmltext"
	"daybook/query"
	"daybook/query/readmodel"
)

// appendEvent writes an event (3.1.7), blanked where the view says so (6.3).
func (writer *Writer) appendEvent(data []byte, view *query.View) []byte {
	s := &writer.event
	*s = subject{
		Record: view.Record, status: view.Status, address: writer.Links.Page(view.Record, view.Status),
		blanked: view.Blanked, view: view,
	}
	data = writer.appendColumns(data, writer.Layouts.Of[calendar.KindEvent], s)
	if view.Distance != nil {
		data = formats.AppendKm(append(data, `,"distance":`...), *view.Distance)
	}
	data = writer.appendHighlight(data, view)
	if writer.LD && !view.Blanked {
		data = writer.appendEventLD(append(data, `,"json_ld":`...), view, s)
	}
	return append(data, '}')
}

// appendHighlight appends the key highlight of an event with a comma in front: its texts that
// a search matches, with marks (LISTINGS 3.4); of a blanked one the title alone is searched.
func (writer *Writer) appendHighlight(data []byte, view *query.View) []byte {
	const key = `,"highlight":`
	if writer.Highlighter == nil || !writer.wants(key) {
		return data
	}
	title, language := view.Record.Name(writer.Lang)
	marked := formats.Object{"title", formats.OptionalText(writer.Highlighter.Name(title, language))}
	for _, field := range [...]string{"excerpt", "description"} {
		if text, lang := HTML(view.Record, field, writer.Lang); text != "" && !view.Blanked {
			marked = append(marked, field, formats.OptionalText(writer.Highlighter.Snippet(htmltext.PlainText(text), lang, writer.HighlightLength)))
		}
	}
	return formats.AppendJSON(append(data, key...), marked)
}

// HTML returns a description or excerpt of a post as it is shown, and its language.
func HTML(record *calendar.Record, field string, language calendar.Lang) (string, calendar.Lang) {
	text, in := record.Fields.Text(field).In(language, record.Home)
	return paragraphs(text), in
}

func writeZone(writer *Writer, data []byte, column *Column, subject *subject) []byte {
	zone := writer.Zone(subject.Fields.String(column.Name))
	data = column.append(data, zone.Name, plainText)
	return formats.AppendString(append(data, column.more...), zone.Abbreviation(subject.Fields.Wall("utc_start_date").UTC()))
}

func writeCost(writer *Writer, data []byte, column *Column, subject *subject) []byte {
	subject.cost = calendar.ReadCost(subject.Fields.Strings(column.Name), writer.currency)
	data = column.append(data, subject.cost.Text, nameText)
	return formats.AppendJSON(append(data, column.more...), formats.Object{
		"currency_symbol", subject.cost.Symbol, "currency_code", "", "currency_position", subject.cost.Position,
		"values", formats.Whole(formats.ListOf(subject.cost.Values, func(value *string) any { return *value })),
	})
}

func writeWebsite(_ *Writer, data []byte, column *Column, subject *subject) []byte {
	if website := subject.Fields.String(column.Name); website != "" {
		return column.append(data, website, nameText)
	}
	return column.append(data, subject.address, plainText)
}

func writeTerms(writer *Writer, data []byte, column *Column, subject *subject) []byte {
	terms := subject.view.Categories
	if column.Name == "tags" {
		terms = subject.view.Tags
	}
	return appendEmbedded(writer, data, column.key, terms, writer.appendNested)
}

func writePosts(writer *Writer, data []byte, column *Column, subject *subject) []byte {
	return appendEmbedded(writer, data, column.key, subject.view.Organizers, writer.appendPost)
}

func writeFirst(writer *Writer, data []byte, column *Column, subject *subject) []byte {
	if writer.wants(column.key) {
		data = append(data, column.key...)
		if len(subject.view.Venues) == 0 {
			data = append(data, `[]`...)
		} else {
			data = writer.appendPost(data, subject.view.Venues[0])
		}
	}
	return appendEmbedded(writer, data, column.more, subject.view.Venues, writer.appendPost)
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
func (writer *Writer) appendNested(data []byte, linkedView query.LinkedView) []byte {
	return append(data, writer.fragment(linkedView.Record, "", linkedView.Count, func(data []byte) ([]byte, int) {
		data = writer.appendTerm(data, linkedView, writer.Layouts.Nested[linkedView.Record.Kind])
		return data, len(data)
	}).head...)
}

func writeRepeats(_ *Writer, data []byte, _ *Column, subject *subject) []byte {
	return appendRepeats(data, subject.view.Repeats)
}

// appendRepeats appends the key collapsed of an event with a comma in front, nothing without
// repeats.
func appendRepeats(data []byte, repeats *readmodel.Repeats) []byte {
	if repeats == nil {
		return data
	}
	return formats.AppendJSON(append(data, `,"collapsed":`...), formats.Object{
		"count", repeats.Count, "ids", formats.Whole(formats.ListOf(repeats.IDs, func(id *calendar.ID) any { return *id })),
		"first_start", repeats.First.String(), "last_start", repeats.Last.String(),
	})
}
