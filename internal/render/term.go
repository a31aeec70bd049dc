package render

import (
	"strconv"

	"daybook/internal/formats"
	"daybook/query"
)

// appendTerm writes a term (3.4.2) in its own or in the nested layout.
func (w *Writer) appendTerm(b []byte, t query.LinkedView, layout []Column) []byte {
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
	up := ""
	if parent := s.f.ID("parent"); parent != 0 {
		up = collection + "/" + parent.String()
	}
	return formats.AppendJSON(append(b, c.key...), formats.Object{"self", w.Links.Self(s.r), "collection", collection, "up", formats.Filled(up)})
}
