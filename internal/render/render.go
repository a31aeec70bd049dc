// Package render writes records as JSON by the field tables. It depends on views of records
// and on the URLs that they have, not on requests.
package render

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/htmltext"
	"daybook/query"
	"daybook/query/readmodel"
)

// Renderer is what all answers are rendered with. It is safe for concurrent use.
type Renderer struct {
	Layouts  *Layouts
	site     *time.Location
	currency calendar.Currency
	keeps    bool
}

// New returns a Renderer; keeps says that records keep fragments of answers.
func New(site *time.Location, currency calendar.Currency, keeps bool) *Renderer {
	return &Renderer{NewLayouts(), site, currency, keeps}
}

// Zone returns the time zone of a stored name.
func (renderer *Renderer) Zone(name string) calendar.Zone {
	zone, ok := calendar.ParseZone(name)
	if !ok {
		zone.Name = name
	}
	return zone
}

// Answer is what an answer shows of its records.
type Answer struct {
	Links  *Links
	Lang   calendar.Lang
	LD     bool     // with json_ld: single reads
	Fields []string // the keys of a record, nil for all
	Bare   bool     // events without the venues and organizers that they link to
	// Highlighter marks what a search matched; nil: events have no such key. Snippets have
	// at most HighlightLength characters.
	Highlighter     *readmodel.Highlighter
	HighlightLength int
	// Limit is the size from which on events embed nothing more; 0: none.
	Limit int
	// Store is the UUID of the store, of which those of events are made.
	Store *uuid.UUID
}

// Writer writes the records of one answer.
type Writer struct {
	*Renderer
	Answer
	fields map[string]bool
	limit  int  // Limit as it applies to the present record
	over   bool // it was reached
}

// Writer returns a Writer for an answer.
func (renderer *Renderer) Writer(answer Answer) *Writer {
	writer := &Writer{Renderer: renderer, Answer: answer}
	if answer.Fields != nil {
		writer.fields = map[string]bool{}
		for _, text := range answer.Fields {
			writer.fields[text] = true
		}
	}
	return writer
}

// Record appends a record. It returns query.ErrTooLarge where something was left out of it
// because of the limit.
func (writer *Writer) Record(data []byte, view *query.View) ([]byte, error) {
	from := len(data)
	writer.limit, writer.over = writer.Limit, false
	if writer.fields != nil {
		writer.limit = from + 2*writer.Limit // most of the record is dropped again
	}
	switch record := view.Record; {
	case record.Kind == calendar.KindEvent:
		data = writer.appendEvent(data, view)
	case record.Kind.IsPost():
		data = writer.appendLinked(data, query.LinkedView{Record: record, Status: view.Status, Count: query.NoCount})
	default:
		subject := writer.subject(query.LinkedView{Record: record, Count: view.Count})
		data = append(writer.appendColumns(data, writer.Layouts.Of[record.Kind], &subject), '}')
	}
	if writer.fields != nil {
		data = keepFields(data[:from], string(data[from:]), writer.fields)
	}
	if writer.over {
		return data, query.ErrTooLarge
	}
	return data, nil
}

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

// wants reports whether a key is written; it comes with its comma and colon.
func (writer *Writer) wants(key string) bool {
	name := key[len(`,"`) : len(key)-len(`":`)]
	if writer.Bare && (name == "venue" || name == "venues" || name == "organizer") {
		return false
	}
	return writer.fields == nil || writer.fields[name]
}

// full reports whether the answer has reached its limit.
func (writer *Writer) full(data []byte) bool {
	writer.over = writer.over || writer.Limit > 0 && len(data) > writer.limit
	return writer.over
}
