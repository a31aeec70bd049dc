package render

import (
	"strconv"

	"daybook/internal/formats"
	"daybook/query"
)

// appendTerm writes a term (3.4.2) in its own or in the nested layout.
func (writer *Writer) appendTerm(data []byte, linkedView query.LinkedView, layout []Column) []byte {
	s := &writer.other
	*s = subject{Record: linkedView.Record, address: writer.Links.Page(linkedView.Record, ""), count: linkedView.Count}
	return append(writer.appendColumns(data, layout, s), '}')
}

func writeCount(_ *Writer, data []byte, column *Column, subject *subject) []byte {
	if subject.count == query.NoCount {
		return data
	}
	return strconv.AppendInt(append(data, column.key...), int64(subject.count), 10)
}

func writeTermURLs(writer *Writer, data []byte, column *Column, subject *subject) []byte {
	collection := writer.Links.Collection(subject.Kind)
	up := ""
	if parent := subject.Fields.ID("parent"); parent != 0 {
		up = collection + "/" + parent.String()
	}
	return formats.AppendJSON(append(data, column.key...), formats.Object{"self", writer.Links.Self(subject.Record), "collection", collection, "up", formats.OptionalText(up)})
}
