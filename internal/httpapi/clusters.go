package httpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"daybook/query"
)

// clusters answers the venues of events by the squares of a grid (LISTINGS 1.11).
func (a *api) clusters(w http.ResponseWriter, r *http.Request) error {
	c := callOf(r)
	criteria, q, err := a.ask(r, c, query.Request{Caller: c.caller, Params: query.ParamsOf("map")})
	if err != nil {
		return err
	}
	q.make = func(ctx context.Context, of stated) (*answer, error) {
		found, err := a.Queries.Clusters(ctx, criteria)
		if err != nil {
			return nil, err
		}
		body, err := json.Marshal(a.mapOf(c, criteria, found))
		if err != nil {
			return nil, err
		}
		ans := newAnswer(body, valueGeoJSON, a.weakTag(of.key), criteria.Lang)
		ans.show(found.Position)
		a.addTotals(ans, found.Total)
		return ans, nil
	}
	return a.read(w, r, c, q)
}

var valueGeoJSON = []string{"application/geo+json"}

// mapOf is the GeoJSON of clusters.
func (a *api) mapOf(c *call, criteria *query.Criteria, found *query.Clusters) object {
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
			properties["venue"] = object{"id": v.ID, "venue": name, "url": c.root.Page(v, v.Status(a.o.Now()))}
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
