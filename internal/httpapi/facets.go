package httpapi

import (
	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/texts"
	"daybook/query"
)

// appendFacets writes the key facets of a list, nothing where none were asked for.
func appendFacets(data []byte, facets []query.Facet, language calendar.Lang) []byte {
	if facets == nil {
		return data
	}
	all := formats.Object{}
	for i := range facets {
		facet := &facets[i]
		values := formats.ListOf(facet.Values, func(value *query.FacetValue) any {
			label := value.Label
			if label == "" {
				label = texts.Messages.In("facet."+facet.Name+"."+value.Value, language)
			}
			object := formats.Object{"value", value.Value, "label", label}
			switch facet.Name {
			case "categories":
				object = append(object, "slug", value.Slug, "parent", value.Parent, "level", value.Level)
			case "tags":
				object = append(object, "slug", value.Slug)
			case "venue":
				object = append(object, "city", value.City)
			}
			return append(object, "count", value.Count, "selected", value.Selected)
		})
		all = append(all, facet.Name, formats.Object{"total", facet.Total, "values", formats.Whole(values)})
	}
	return formats.AppendMembers(data, formats.Object{"facets", all})
}
