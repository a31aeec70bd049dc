package query

import (
	"math"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// earthRadius is the radius of the great circle distance, in kilometres (interface 4.8).
const earthRadius = 6371.0088

// circle is what lies at most so many kilometres from a place, in degrees.
type circle struct{ lat, lng, km float64 }

// distance returns the great circle distance of a place from the centre, in kilometres
// (haversine).
func (circle *circle) distance(lat, lng float64) float64 {
	const rad = math.Pi / 180
	a := math.Sin((lat - circle.lat) * rad / 2)
	b := math.Sin((lng - circle.lng) * rad / 2)
	h := a*a + math.Cos(circle.lat*rad)*math.Cos(lat*rad)*b*b
	return 2 * earthRadius * math.Asin(math.Sqrt(min(h, 1)))
}

func (circle *circle) holds(lat, lng float64) bool { return circle.distance(lat, lng) <= circle.km }

// box is what lies between bounds in degrees, both included; west above east crosses
// longitude 180.
type box struct{ west, south, east, north float64 }

func (box *box) holds(lat, lng float64) bool {
	west, east := lng >= box.west, lng <= box.east
	return lat >= box.south && lat <= box.north && (west && east || box.west > box.east && (west || east))
}

func everywhere(_, _ float64) bool { return true }

// byPlaces are the filters by the places of venues, as far as the caller sees these on
// events (interface 4.8).
func (plan *listPlan) byPlaces() (and readmodel.And) {
	at := func(holds func(lat, lng float64) bool) readmodel.Filter {
		return in(readmodel.FieldVenue, plan.within(holds)...)
	}
	switch {
	case plan.near != nil:
		and = append(and, at(plan.near.holds))
	case plan.geoloc != nil && *plan.geoloc:
		and = append(and, at(everywhere))
	case plan.geoloc != nil:
		and = append(and, not(at(everywhere)))
	}
	if plan.box != nil {
		and = append(and, at(plan.box.holds))
	}
	return and
}

// within returns the venues in an area that the caller sees, by id.
func (plan *listPlan) within(holds func(lat, lng float64) bool) []calendar.ID {
	venues, out := plan.directory(calendar.KindVenue), []calendar.ID{}
	for at, point := range venues.points {
		if point.known && holds(point.lat, point.lng) && plan.sees(venues.records[at]) {
			out = append(out, venues.records[at].ID)
		}
	}
	return out
}

// metres returns the distance of the venues in a circle from its centre, in whole metres.
func (plan *listPlan) metres(from *circle) map[calendar.ID]int64 {
	venues, out := plan.directory(calendar.KindVenue), map[calendar.ID]int64{}
	for _, id := range plan.within(from.holds) {
		at, _ := venues.find(id)
		out[id] = int64(math.Round(from.distance(venues.points[at].lat, venues.points[at].lng) * 1000))
	}
	return out
}

// placeDetails are the details of venues that lists are filtered and counted by.
var placeDetails = [...]string{"city", "country"}
