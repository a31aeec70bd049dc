package httpapi

import (
	"context"

	"daybook/query"
)

// clusters answers the venues of events by the squares of a grid (LISTINGS 1.11).
func (call *call) clusters() error {
	return call.ask(query.Request{Caller: call.caller, Params: query.ParamsOf("map")}, nil, &question{make: call.geoMap})
}

func (call *call) geoMap(ctx context.Context) (*answer, error) {
	found, err := call.Queries.Clusters(ctx, call.criteria)
	if err != nil {
		return nil, err
	}
	reply := call.shown(call.mapOf(found), valueGeoJSON, found.Position)
	call.addTotals(reply, found.Total, "")
	return reply, nil
}

var valueGeoJSON = []string{"application/geo+json"}

// mapOf is the GeoJSON of clusters.
func (call *call) mapOf(found *query.Clusters) object {
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
			name, _ := record.Name(call.language)
			properties["venue"] = object{"id": record.ID, "venue": name, "url": call.root.Page(record, record.Status(call.Now()))}
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
