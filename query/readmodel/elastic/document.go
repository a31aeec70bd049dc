package elastic

import (
	"fmt"
	"unicode/utf8"

	"daybook/calendar"
	"daybook/internal/ground/compact"
	"daybook/query/readmodel"
)

// item makes the two lines of a document in a bulk request.
func (names names) item(generation generation, document *readmodel.Document) []byte {
	record := document.Record
	fields := object{readmodel.FieldID: record.ID}
	if record.Deleted {
		fields[fieldDeleted] = true
	} else {
		addFields(fields, record)
		addTexts(fields, record)
		fields[fieldBody] = compact.Pack(document.Body) // base64
	}
	item := action(names.write(record.Kind.Collection(), generation), record.ID.String(), document.Position)
	return append(append(item, encode(fields)...), '\n')
}

// action begins an item.
func action(index, id string, version calendar.Position) []byte {
	return fmt.Appendf(nil, `{"index":{"_index":"%s","_id":"%s","version_type":"external","version":%d}}`+"\n", index, id, version)
}

// addFields adds the values of the schema, except texts.
func addFields(fields object, record *calendar.Record) {
	schema := readmodel.SchemaOf(record.Kind)
	for i := range schema.Fields {
		field := &schema.Fields[i]
		switch {
		case field.Keyword != nil:
			if text := clip(field.Keyword(record)); text != "" {
				fields[field.Name] = text
			}
		case field.Numbers != nil:
			if numbers := field.Numbers(record); len(numbers) > 0 {
				fields[field.Name] = numbers
			}
		}
	}
}

// clip cuts a keyword to the length that an engine takes.
func clip(text string) string {
	if len(text) <= maxKeyword {
		return text
	}
	count := maxKeyword
	for !utf8.RuneStart(text[count]) {
		count--
	}
	return text[:count]
}
