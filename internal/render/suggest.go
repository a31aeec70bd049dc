package render

import (
	"cmp"
	"time"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/htmltext"
	"daybook/query"
	"daybook/query/readmodel"
)

// Suggestions are what may be meant by what was typed, by kind.
func Suggestions(links *Links, criteria *query.Criteria, all []query.Suggested) formats.Object {
	shown, language := append(make(formats.Object, 0, 2+2*len(all)), "q", criteria.Search.Query), criteria.Lang
	for _, suggested := range all {
		highlighter := &readmodel.Highlighter{Search: criteria.Search, Spelling: suggested.Spelling}
		list := formats.ListOf(suggested.List, func(suggestion *query.Suggestion) any {
			record, fields := suggestion.Record, suggestion.Record.Fields
			name, in := record.Name(language)
			object := formats.Object{
				"id", record.ID, "slug", record.Slug(), "url", links.Page(record, suggestion.Status), "rest_url", links.Self(record), "text", name,
				"highlight", cmp.Or(highlighter.Name(name, in), htmltext.Escape(name)), "count", suggestion.Count,
			}
			if suggestion.Namesake {
				object = append(object, "city", fields.String("city"))
			}
			if record.Kind == calendar.KindEvent {
				venue := ""
				if suggestion.Venue != nil {
					venue, _ = suggestion.Venue.Name(language)
				}
				object = append(object, "start_date", fields.Wall("start_date").String(), "end_date", fields.Wall("end_date").String(),
					"timezone", fields.String("timezone"), "all_day", fields.Bool("all_day"), "venue", venue)
			}
			return object
		})
		shown = append(shown, suggested.Kind.Collection(), formats.Whole(list))
	}
	return shown
}

// Clusters is the GeoJSON of the clusters of a map at a moment.
func Clusters(links *Links, found *query.Clusters, language calendar.Lang, now time.Time) map[string]any {
	type object = map[string]any
	features := make([]object, len(found.Clusters))
	for i, cluster := range found.Clusters {
		properties := object{
			"cluster_id": cluster.ID, "point_count": cluster.Events, "venue_count": len(cluster.Venues), "cluster": len(cluster.Venues) > 1,
			"bbox": []float64{cluster.West, cluster.South, cluster.East, cluster.North},
		}
		switch {
		case len(cluster.Venues) == 1:
			record := cluster.Venues[0]
			name, _ := record.Name(language)
			properties["venue"] = object{"id": record.ID, "venue": name, "url": links.Page(record, record.Status(now))}
		case cluster.Expansion > 0:
			properties["expansion_zoom"] = cluster.Expansion
		}
		features[i] = object{
			"type": "Feature", "geometry": object{"type": "Point", "coordinates": []float64{cluster.Lng, cluster.Lat}}, "properties": properties,
		}
	}
	result := object{"type": "FeatureCollection", "features": features, "total": found.Total, "placed": found.Placed}
	if found.Truncated {
		result["truncated"] = true
	}
	return result
}
