package httpapi

import (
	"context"
	"encoding/json"

	"daybook/query"
)

// clusters answers the venues of events by the squares of a grid (LISTINGS 1.11).
func (c *call) clusters() error {
	criteria, q, err := c.ask(query.Request{Caller: c.caller, Params: query.ParamsOf("map")})
	if err != nil {
		return err
	}
	q.make = func(ctx context.Context, of stated) (*answer, error) {
		found, err := c.Queries.Clusters(ctx, criteria)
		if err != nil {
			return nil, err
		}
		body, err := json.Marshal(c.mapOf(criteria, found))
		if err != nil {
			return nil, err
		}
		ans := newAnswer(body, valueGeoJSON, c.weakTag(of.key), criteria.Lang)
		ans.show(found.Position)
		c.addTotals(ans, found.Total)
		return ans, nil
	}
	return c.read(q)
}

var valueGeoJSON = []string{"application/geo+json"}

// mapOf is the GeoJSON of clusters.
func (c *call) mapOf(criteria *query.Criteria, found *query.Clusters) object {
	features := make([]object, len(found.Clusters))
	for i := range found.Clusters {
		k := &found.Clusters[i]
		properties := object{
			"cluster_id": k.ID, "point_count": k.Events, "venue_count": len(k.Venues), "cluster": len(k.Venues) > 1,
			"bbox": []float64{k.West, k.South, k.East, k.North},
		}
		switch {
		case len(k.Venues) == 1:
			v := k.Venues[0]
			name, _ := v.Name(criteria.Lang)
			properties["venue"] = object{"id": v.ID, "venue": name, "url": c.root.Page(v, v.Status(c.o.Now()))}
		case k.Expansion > 0:
			properties["expansion_zoom"] = k.Expansion
		}
		features[i] = object{
			"type": "Feature", "geometry": object{"type": "Point", "coordinates": []float64{k.Lng, k.Lat}}, "properties": properties,
		}
	}
	out := object{"type": "FeatureCollection", "features": features, "total": found.Total, "placed": found.Placed}
	if found.Truncated {
		out["truncated"] = true
	}
	return out
}
