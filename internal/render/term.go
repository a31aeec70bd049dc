package render

import (
	"strconv"

	"daybook/query"
)

// appendTerm writes a term (3.4.2) in its own or in the nested layout.
func (w *Writer) appendTerm(b []byte, t query.TermView, layout []Column) []byte {
	s := &w.other
	*s = subject{r: t.Record, f: t.Record.Fields, url: w.Links.Page(t.Record, ""), count: t.Count}
	return append(w.appendColumns(b, layout, s), '}')
}

func writeTaxonomy(_ *Writer, b []byte, c *Column, s *subject) []byte {
	b = append(append(b, c.key...), `"event_`...)
	return append(append(b, s.r.Kind.String()...), '"')
}

func writeCount(_ *Writer, b []byte, c *Column, s *subject) []byte {
	if s.count == query.NoCount {
		return b
	}
	return strconv.AppendInt(append(b, c.key...), int64(s.count), 10)
}

func writeTermURLs(w *Writer, b []byte, c *Column, s *subject) []byte {
	collection := w.Links.Collection(s.r.Kind)
	b = append(append(b, c.key...), `{"self":`...)
	b = AppendString(b, collection+"/"+s.r.ID.String())
	b = append(b, `,"collection":`...)
	b = AppendString(b, collection)
	if parent := s.f.ID("parent"); parent != 0 {
		b = append(b, `,"up":`...)
		b = AppendString(b, collection+"/"+parent.String())
	}
	return append(b, '}')
}
