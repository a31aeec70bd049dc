package query

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// Clusters of a map (LISTINGS 1.11).

const (
	maxZoom      = 22
	mostClusters = 2000
)

// cell is a square of a map.
type cell struct{ zoom, column, row int }

// cellAt returns the cell of a place at a zoom of the map.
func cellAt(latitude, longitude float64, zoom int) cell {
	number := math.Exp2(float64(zoom + 2))
	within := func(value float64) int { return int(min(max(math.Floor(value), 0), number-1)) }
	column := within((longitude + 180) / 360 * number)
	row := within((1 - math.Asinh(math.Tan(latitude*math.Pi/180))/math.Pi) / 2 * number)
	return cell{zoom + 2, column, row}
}

// Cluster is what lies in a cell.
type Cluster struct {
	ID                       string
	Events                   int
	Lat, Lng                 float64
	West, South, East, North float64
	Venues                   []*calendar.Record // visible ones of an event of the selection, by id
	Expansion                int                // the zoom at which they part; 0: none
}

// Clusters is a map of a selection.
type Clusters struct {
	Clusters      []Cluster
	Total, Placed int
	Truncated     bool
	Position      calendar.Position
}

// Clusters answers the criteria of a map.
func (service *Service) Clusters(ctx context.Context, criteria *Criteria) (*Clusters, error) {
	everything := *criteria
	everything.box = nil // it is no filter here
	return planned(ctx, service, &everything, func(plan *listPlan) (clusters *Clusters) {
		plan.stepped(func() int {
			clusters = plan.clusters(cmp.Or(criteria.box, &wholeWorld))
			return clusters.Total
		})
		return clusters
	})
}

func (plan *listPlan) clusters(within *box) *Clusters {
	placed, venues := plan.within(within.holds), map[cell][]*option{}
	var cells []cell
	for _, venue := range placed {
		key := cellAt(venue.latitude, venue.longitude, plan.zoom)
		if venues[key] == nil {
			cells = append(cells, key)
		}
		venues[key] = append(venues[key], venue)
	}
	options := make([]option, len(cells), len(cells)+1)
	for i, cell := range cells {
		options[i].numbers = recordsOf(venues[cell])
	}
	options = append(options, option{numbers: recordsOf(placed)})
	var shown readmodel.Filter
	if hidden := blanked(plan.Caller); hidden != nil {
		shown = not(hidden)
	}
	page := plan.search(readmodel.Query{
		Kind: calendar.KindEvent, Filter: plan.filter(), Tallies: []readmodel.Tally{tallyOf(readmodel.FieldVenue, options, shown)},
	})
	counted := &page.Tallied[0]
	counts := countsOf(options, counted)
	clusters := &Clusters{Total: page.Total, Placed: counts[len(cells)], Position: plan.view.Shown().Position}
	for i, cell := range cells {
		if counts[i] > 0 {
			clusters.Clusters = append(clusters.Clusters, clusterOf(cell, venues[cell], counts[i], counted.Values))
		}
	}
	slices.SortFunc(clusters.Clusters, func(a, b Cluster) int {
		return cmp.Or(cmp.Compare(b.Events, a.Events), cmp.Compare(a.ID, b.ID))
	})
	if clusters.Truncated = len(clusters.Clusters) > mostClusters; clusters.Truncated {
		clusters.Clusters = clusters.Clusters[:mostClusters]
	}
	return clusters
}

// clusterOf makes what a cell shows of its venues.
func clusterOf(cell cell, venues []*option, events int, counts map[calendar.ID]int) Cluster {
	cluster := Cluster{ID: fmt.Sprintf("%d/%d/%d", cell.zoom, cell.column, cell.row), Events: events, West: 180, South: 90, East: -180, North: -90}
	var latitude, longitude, weight float64
	venues = slices.DeleteFunc(venues, func(venue *option) bool { return counts[venue.record.ID] == 0 })
	for _, venue := range venues {
		count := float64(counts[venue.record.ID])
		latitude, longitude, weight = latitude+venue.latitude*count, longitude+venue.longitude*count, weight+count
		cluster.West, cluster.East = min(cluster.West, venue.longitude), max(cluster.East, venue.longitude)
		cluster.South, cluster.North = min(cluster.South, venue.latitude), max(cluster.North, venue.latitude)
		cluster.Venues = append(cluster.Venues, venue.record)
	}
	if len(venues) == 1 {
		cluster.Lat, cluster.Lng = venues[0].latitude, venues[0].longitude
		return cluster
	}
	cluster.Lat, cluster.Lng = math.Round(latitude/weight*1e6)/1e6, math.Round(longitude/weight*1e6)/1e6
	for zoom := cell.zoom - 1; zoom <= maxZoom; zoom++ {
		first := cellAt(venues[0].latitude, venues[0].longitude, zoom)
		if slices.ContainsFunc(venues, func(venue *option) bool { return cellAt(venue.latitude, venue.longitude, zoom) != first }) {
			cluster.Expansion = zoom
			break
		}
	}
	return cluster
}
