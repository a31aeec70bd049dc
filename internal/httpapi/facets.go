package httpapi

import (
	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/texts"
	"daybook/query"
)

// facetValue is a value of a facet as it is answered.
type facetValue struct {
	Value    string       `json:"value"`
	Label    string       `json:"label"`
	Slug     *string      `json:"slug,omitempty"`
	Parent   *calendar.ID `json:"parent,omitempty"`
	Level    *int         `json:"level,omitempty"`
	City     *string      `json:"city,omitempty"`
	Count    int          `json:"count"`
	Selected bool         `json:"selected"`
}

// appendFacets writes the key facets of a list, nothing where none were asked for.
func appendFacets(data []byte, facets []query.Facet, lang calendar.Lang) []byte {
	if facets == nil {
		return data
	}
	all := formats.Object{}
	for i := range facets {
		facet := &facets[i]
		values := make([]facetValue, len(facet.Values))
		for j := range facet.Values {
			value := &facet.Values[j]
			out := facetValue{Value: value.Value, Label: value.Label, Count: value.Count, Selected: value.Selected}
			if value.Label == "" {
				out.Label = texts.Messages.In("facet."+facet.Name+"."+value.Value, lang)
			}
			switch facet.Name {
			case "categories":
				out.Slug, out.Parent, out.Level = &value.Slug, &value.Parent, &value.Level
			case "tags":
				out.Slug = &value.Slug
			case "venue":
				out.City = &value.City
			}
			values[j] = out
		}
		all = append(all, facet.Name, object{"total": facet.Total, "values": values})
	}
	return formats.AppendJSON(append(data, `,"facets":`...), all)
}
