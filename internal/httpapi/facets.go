package httpapi

import (
	"strconv"

	"daybook/calendar"
	"daybook/internal/texts"
	"daybook/query"
	"daybook/query/readmodel"
)

// appendFacets writes the key facets of a list, nothing where none were asked for.
func appendFacets(b []byte, facets []query.Facet, l calendar.Lang) []byte {
	if facets == nil {
		return b
	}
	b = append(b, `,"facets":{`...)
	for i := range facets {
		f := &facets[i]
		b = appendString(appendComma(b, i), f.Name)
		b = strconv.AppendInt(append(b, `:{"total":`...), int64(f.Total), 10)
		b = append(b, `,"values":[`...)
		for j := range f.Values {
			b = appendFacetValue(appendComma(b, j), f.Name, &f.Values[j], l)
		}
		b = append(b, `]}`...)
	}
	return append(b, '}')
}

func appendFacetValue(b []byte, facet string, v *query.FacetValue, l calendar.Lang) []byte {
	label := v.Label
	if label == "" {
		label = texts.Messages.In("facet."+facet+"."+v.Value, l)
	}
	b = appendString(append(b, `{"value":`...), v.Value)
	b = appendString(append(b, `,"label":`...), label)
	if facet == "categories" || facet == "tags" {
		b = appendString(append(b, `,"slug":`...), v.Slug)
	}
	if facet == "categories" {
		b = appendID(append(b, `,"parent":`...), v.Parent)
		b = strconv.AppendInt(append(b, `,"level":`...), int64(v.Level), 10)
	}
	if facet == "venue" {
		b = appendString(append(b, `,"city":`...), v.City)
	}
	b = strconv.AppendInt(append(b, `,"count":`...), int64(v.Count), 10)
	return append(strconv.AppendBool(append(b, `,"selected":`...), v.Selected), '}')
}

// appendRepeats writes the key collapsed of a record, with what stands before it.
func appendRepeats(b []byte, g *readmodel.Repeats) []byte {
	b = strconv.AppendInt(append(b, `,"collapsed":{"count":`...), int64(g.Count), 10)
	b = append(b, `,"ids":[`...)
	for i, id := range g.IDs {
		b = appendID(appendComma(b, i), id)
	}
	b = appendWall(b, `],"first_start":`, g.First)
	return append(appendWall(b, `,"last_start":`, g.Last), '}')
}

func writeRepeats(_ *renderer, b []byte, _ *column, s *subject) []byte {
	if s.view == nil || s.view.Repeats == nil {
		return b
	}
	return appendRepeats(b, s.view.Repeats)
}
