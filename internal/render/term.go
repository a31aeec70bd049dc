package render

import (
	"strconv"

	"daybook/internal/formats"
	"daybook/query"
)

// appendTerm writes a term (3.4.2) in its own or in the nested layout.
func (w *Writer) appendTerm(data []byte, t query.LinkedView, layout []Column) []byte {
	s := &w.other
	*s = subject{r: t.Record, f: t.Record.Fields, url: w.Links.Page(t.Record, ""), count: t.Count}
	return append(w.appendColumns(data, layout, s), '}')
}

func writeCount(_ *Writer, data []byte, column *Column, s *subject) []byte {
	if s.count == query.NoCount {
		return data
	}
	return strconv.AppendInt(append(data, column.key...), int64(s.count), 10)
}

func writeTermURLs(writer *Writer, data []byte, column *Column, s *subject) []byte {
	collection := writer.Links.Collection(s.r.Kind)
	up := ""
	if parent := s.f.ID("parent"); parent != 0 {
		up = collection + "/" + parent.String()
	}
	return formats.AppendJSON(append(data, column.key...), formats.Object{"self", writer.Links.Self(s.r), "collection", collection, "up", formats.Filled(up)})
}
