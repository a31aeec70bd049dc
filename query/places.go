package query

import (
	"math"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// earthRadius is the radius of the great circle distance, in kilometres (interface 4.8).
const earthRadius = 6371.0088

// circle is what lies at most so many kilometres from a place, in degrees.
type circle struct{ latitude, longitude, km float64 }

// distance returns the great circle distance of a place from the centre, in kilometres
// (haversine).
func (circle *circle) distance(latitude, longitude float64) float64 {
	const rad = math.Pi / 180
	a := math.Sin((latitude - circle.latitude) * rad / 2)
	b := math.Sin((longitude - circle.longitude) * rad / 2)
	h := a*a + math.Cos(circle.latitude*rad)*math.Cos(latitude*rad)*b*b
	return 2 * earthRadius * math.Asin(math.Sqrt(min(h, 1)))
}

func (circle *circle) holds(latitude, longitude float64) bool {
	return circle.distance(latitude, longitude) <= circle.km
}

// box is what lies between bounds in degrees, both included; west above east crosses
// longitude 180.
type box struct{ west, south, east, north float64 }

func (box *box) holds(latitude, longitude float64) bool {
	west, east := longitude >= box.west, longitude <= box.east
	return latitude >= box.south && latitude <= box.north && (west && east || box.west > box.east && (west || east))
}

// wholeWorld is where all places are.
var wholeWorld = box{west: -180, south: -90, east: 180, north: 90}

// byPlaces are the filters by the places of venues, as far as the caller sees these on
// events (interface 4.8).
func (plan *listPlan) byPlaces() (and readmodel.And) {
	at := func(holds func(latitude, longitude float64) bool) readmodel.Filter {
		return in(readmodel.FieldVenue, recordsOf(plan.within(holds))...)
	}
	switch {
	case plan.near != nil:
		and = append(and, at(plan.near.holds))
	case plan.geoloc != nil && *plan.geoloc:
		and = append(and, at(wholeWorld.holds))
	case plan.geoloc != nil:
		and = append(and, not(at(wholeWorld.holds)))
	}
	if plan.box != nil {
		and = append(and, at(plan.box.holds))
	}
	return and
}

// within returns the venues in an area that the caller sees, by id.
func (plan *listPlan) within(holds func(latitude, longitude float64) bool) (result []*option) {
	venues := plan.directory(calendar.KindVenue).options
	for i := range venues {
		if venue := &venues[i]; venue.located && holds(venue.latitude, venue.longitude) && plan.sees(venue.record) {
			result = append(result, venue)
		}
	}
	return result
}

// metres returns the distance of the venues in a circle from its centre, in whole metres.
func (plan *listPlan) metres(from *circle) map[calendar.ID]int64 {
	result := map[calendar.ID]int64{}
	for _, venue := range plan.within(from.holds) {
		result[venue.record.ID] = int64(math.Round(from.distance(venue.latitude, venue.longitude) * 1000))
	}
	return result
}
