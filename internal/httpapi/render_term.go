package httpapi

import (
	"strconv"

	"daybook/query"
)

// appendTerm writes a term (3.4.2) in its own or in the nested layout.
func (p *renderer) appendTerm(b []byte, t query.TermView, layout []column) []byte {
	s := &p.other
	*s = subject{r: t.Record, f: t.Record.Fields, url: p.root.page(t.Record, ""), count: t.Count}
	return append(p.appendColumns(b, layout, s), '}')
}

func writeTaxonomy(_ *renderer, b []byte, c *column, s *subject) []byte {
	b = append(append(b, c.key...), `"event_`...)
	return append(append(b, s.r.Kind.String()...), '"')
}

func writeCount(_ *renderer, b []byte, c *column, s *subject) []byte {
	if s.count == query.NoCount {
		return b
	}
	return strconv.AppendInt(append(b, c.key...), int64(s.count), 10)
}

func writeTermURLs(p *renderer, b []byte, c *column, s *subject) []byte {
	collection := p.root.collection(s.r.Kind)
	b = append(append(b, c.key...), `{"self":`...)
	b = appendString(b, collection+"/"+s.r.ID.String())
	b = append(b, `,"collection":`...)
	b = appendString(b, collection)
	if parent := s.f.ID("parent"); parent != 0 {
		b = append(b, `,"up":`...)
		b = appendString(b, collection+"/"+parent.String())
	}
	return append(b, '}')
}
