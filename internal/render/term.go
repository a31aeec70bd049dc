package render

import (
	"strconv"

	"daybook/internal/formats"
	"daybook/query"
)

// appendTerm writes a term (3.4.2) in its own or in the nested layout.
func (writer *Writer) appendTerm(data []byte, linkedView query.LinkedView, layout []Column) []byte {
	s := &writer.other
	*s = subject{record: linkedView.Record, fields: linkedView.Record.Fields, url: writer.Links.Page(linkedView.Record, ""), count: linkedView.Count}
	return append(writer.appendColumns(data, layout, s), '}')
}

func writeCount(_ *Writer, data []byte, column *Column, subject *subject) []byte {
	if subject.count == query.NoCount {
		return data
	}
	return strconv.AppendInt(append(data, column.key...), int64(subject.count), 10)
}

func writeTermURLs(writer *Writer, data []byte, column *Column, subject *subject) []byte {
	collection := writer.Links.Collection(subject.record.Kind)
	up := ""
	if parent := subject.fields.ID("parent"); parent != 0 {
		up = collection + "/" + parent.String()
	}
	return formats.AppendJSON(append(data, column.key...), formats.Object{"self", writer.Links.Self(subject.record), "collection", collection, "up", formats.OptionalText(up)})
}
