package httpapi

import (
	"strconv"

	"daybook/calendar"
	"daybook/internal/render"
	"daybook/internal/texts"
	"daybook/query"
)

// appendFacets writes the key facets of a list, nothing where none were asked for.
func appendFacets(b []byte, facets []query.Facet, l calendar.Lang) []byte {
	if facets == nil {
		return b
	}
	b = append(b, `,"facets":{`...)
	for i := range facets {
		f := &facets[i]
		b = render.AppendString(render.AppendComma(b, i), f.Name)
		b = strconv.AppendInt(append(b, `:{"total":`...), int64(f.Total), 10)
		b = append(b, `,"values":[`...)
		for j := range f.Values {
			b = appendFacetValue(render.AppendComma(b, j), f.Name, &f.Values[j], l)
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
	b = render.AppendString(append(b, `{"value":`...), v.Value)
	b = render.AppendString(append(b, `,"label":`...), label)
	if facet == "categories" || facet == "tags" {
		b = render.AppendString(append(b, `,"slug":`...), v.Slug)
	}
	if facet == "categories" {
		b = strconv.AppendInt(append(b, `,"parent":`...), int64(v.Parent), 10)
		b = strconv.AppendInt(append(b, `,"level":`...), int64(v.Level), 10)
	}
	if facet == "venue" {
		b = render.AppendString(append(b, `,"city":`...), v.City)
	}
	b = strconv.AppendInt(append(b, `,"count":`...), int64(v.Count), 10)
	return append(strconv.AppendBool(append(b, `,"selected":`...), v.Selected), '}')
}
