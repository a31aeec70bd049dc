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
type cell struct{ zoom, x, y int }

// cellAt returns the cell of a place at a zoom of the map.
func cellAt(lat, lng float64, zoom int) cell {
	n := math.Exp2(float64(zoom + 2))
	within := func(v float64) int { return int(min(max(math.Floor(v), 0), n-1)) }
	x := within((lng + 180) / 360 * n)
	y := within((1 - math.Asinh(math.Tan(lat*math.Pi/180))/math.Pi) / 2 * n)
	return cell{zoom + 2, x, y}
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
	return planned(ctx, service, criteria, func(plan *listPlan) (out *Clusters) {
		plan.stepped(func(plan *listPlan) int {
			out = plan.clusters()
			return out.Total
		})
		return out
	})
}

func (plan *listPlan) clusters() *Clusters {
	within := everywhere
	if box := plan.box; box != nil { // it is no filter here
		within, plan.box = box.holds, nil
	}
	venues, placed, places := plan.directory(calendar.KindVenue), plan.within(within), map[cell]int{}
	var cells []cell
	var options []option // by cell
	for _, id := range placed {
		at, _ := venues.find(id)
		key := cellAt(venues.points[at].lat, venues.points[at].lng, plan.zoom)
		if _, known := places[key]; !known {
			places[key] = len(cells)
			cells, options = append(cells, key), append(options, option{})
		}
		option := &options[places[key]]
		option.numbers = append(option.numbers, id)
	}
	options = append(options, option{numbers: placed})
	tally := tallyOf(readmodel.FieldVenue, options)
	if tally.Field = readmodel.FieldVenue; blanked(plan.Caller) != nil {
		tally.Filter = not(blanked(plan.Caller))
	}
	page := plan.search(readmodel.Query{Kind: calendar.KindEvent, Filter: plan.filter(), Tallies: []readmodel.Tally{tally}})
	counted := &page.Tallied[0]
	counts := countsOf(options, counted)
	out := &Clusters{Total: page.Total, Placed: counts[len(cells)], Position: plan.view.Shown().Position}
	for i, cell := range cells {
		if counts[i] > 0 {
			out.Clusters = append(out.Clusters, venues.cluster(cell, options[i].numbers, counts[i], counted.Values))
		}
	}
	slices.SortFunc(out.Clusters, func(a, b Cluster) int {
		return cmp.Or(cmp.Compare(b.Events, a.Events), cmp.Compare(a.ID, b.ID))
	})
	if out.Truncated = len(out.Clusters) > mostClusters; out.Truncated {
		out.Clusters = out.Clusters[:mostClusters]
	}
	return out
}

// cluster makes what a cell shows of its venues.
func (directory *directory) cluster(cell cell, ids []calendar.ID, events int, counts map[calendar.ID]int) Cluster {
	out := Cluster{ID: fmt.Sprintf("%d/%d/%d", cell.zoom, cell.x, cell.y), Events: events, West: 180, South: 90, East: -180, North: -90}
	var lat, lng, weight float64
	var places []point
	for _, id := range ids {
		n := counts[id]
		i, ok := directory.find(id)
		if n == 0 || !ok {
			continue
		}
		p := directory.points[i]
		lat, lng, weight = lat+p.lat*float64(n), lng+p.lng*float64(n), weight+float64(n)
		out.West, out.East = min(out.West, p.lng), max(out.East, p.lng)
		out.South, out.North = min(out.South, p.lat), max(out.North, p.lat)
		out.Venues, places = append(out.Venues, directory.records[i]), append(places, p)
	}
	if len(places) == 1 {
		out.Lat, out.Lng = places[0].lat, places[0].lng
		return out
	}
	out.Lat, out.Lng = math.Round(lat/weight*1e6)/1e6, math.Round(lng/weight*1e6)/1e6
	for zoom := cell.zoom - 2 + 1; zoom <= maxZoom; zoom++ {
		first := cellAt(places[0].lat, places[0].lng, zoom)
		if slices.ContainsFunc(places, func(p point) bool { return cellAt(p.lat, p.lng, zoom) != first }) {
			out.Expansion = zoom
			break
		}
	}
	return out
}
