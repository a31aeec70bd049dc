package render

import (
	"time"

	"daybook/calendar"
	"daybook/query"
)

// Clusters is the GeoJSON of the clusters of a map at a moment.
func Clusters(links *Links, found *query.Clusters, language calendar.Lang, now time.Time) map[string]any {
	type object = map[string]any
	features := make([]object, len(found.Clusters))
	for i := range found.Clusters {
		cluster := &found.Clusters[i]
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
