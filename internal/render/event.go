package render

import (
	"slices"
	"strings"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/htmltext"
	"daybook/query"
)

// appendEvent writes an event (3.1.7), blanked where the view says so (6.3).
func (writer *Writer) appendEvent(data []byte, view *query.View) []byte {
	subject := writer.subject(query.LinkedView{Record: view.Record, Status: view.Status})
	subject.view = view
	data = writer.appendColumns(data, writer.Layouts.Of[calendar.KindEvent], &subject)
	if view.Distance != nil {
		data = formats.AppendKm(append(data, `,"distance":`...), *view.Distance)
	}
	data = writer.appendHighlight(data, view)
	if writer.LD && !view.Blanked {
		data = writer.appendEventLD(append(data, `,"json_ld":`...), view, &subject)
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
	return strings.Join(slices.Collect(paragraphs(text)), ""), in
}
