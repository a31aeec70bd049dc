package query

import (
	"context"
	"math"
	"slices"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// earthRadius is the radius of the great circle distance, in kilometres (interface 4.8).
const earthRadius = 6371.0088

// circle is what lies at most so many kilometres from a place, in degrees.
type circle struct{ lat, lng, km float64 }

// distance returns the great circle distance of a place from the centre, in kilometres
// (haversine).
func (c *circle) distance(lat, lng float64) float64 {
	const rad = math.Pi / 180
	a := math.Sin((lat - c.lat) * rad / 2)
	b := math.Sin((lng - c.lng) * rad / 2)
	h := a*a + math.Cos(c.lat*rad)*math.Cos(lat*rad)*b*b
	return 2 * earthRadius * math.Asin(math.Sqrt(min(h, 1)))
}

func (c *circle) holds(lat, lng float64) bool { return c.distance(lat, lng) <= c.km }

// box is what lies between bounds in degrees, both included; west above east crosses
// longitude 180.
type box struct{ west, south, east, north float64 }

func (b *box) holds(lat, lng float64) bool {
	if lat < b.south || lat > b.north {
		return false
	}
	if b.west > b.east {
		return lng >= b.west || lng <= b.east
	}
	return lng >= b.west && lng <= b.east
}

func everywhere(_, _ float64) bool { return true }

// addPlaces adds the filters by the places of venues, as far as the caller sees these on
// events (interface 4.8).
func (st *state) addPlaces(ctx context.Context, c *Criteria, f *choice) error {
	r := &c.run
	if r.near == nil && r.geoloc == swNone && r.box == nil && r.cities == nil && r.countries == nil {
		return nil
	}
	d, err := st.directory(ctx, calendar.KindVenue)
	if err != nil {
		return err
	}
	visible := d.visible(c.Caller, st.shared, c.withdrawn)
	in := func(ids []calendar.ID) readmodel.Filter { return readmodel.In{Field: readmodel.FieldVenue, IDs: ids} }
	switch {
	case r.near != nil:
		f.add("", in(visible.within(r.near.holds)))
	case r.geoloc == swOn:
		f.add("", in(visible.within(everywhere)))
	case r.geoloc == swOff:
		f.add("", not(in(visible.within(everywhere))))
	}
	if r.box != nil {
		f.add("", in(visible.within(r.box.holds)))
	}
	if r.cities != nil {
		f.add("city", in(visible.cities.of(r.cities)))
	}
	if r.countries != nil {
		f.add("country", in(visible.countries.of(r.countries)))
	}
	return nil
}

// within returns the venues in an area, by id.
func (v *visible) within(holds func(lat, lng float64) bool) []calendar.ID {
	out := []calendar.ID{}
	for at, p := range v.points {
		if p.known && v.seen[at] && holds(p.lat, p.lng) {
			out = append(out, v.records[at].ID)
		}
	}
	return out
}

// metres returns the distance of the venues in a circle from its centre, in whole metres.
func (v *visible) metres(from *circle) map[calendar.ID]int64 {
	out := map[calendar.ID]int64{}
	for at, p := range v.points {
		if !p.known || !v.seen[at] {
			continue
		}
		if km := from.distance(p.lat, p.lng); km <= from.km {
			out[v.records[at].ID] = int64(math.Round(km * 1000))
		}
	}
	return out
}

// names are the cities or the countries of venues.
type names struct {
	keys   []string        // as readmodel.PlaceKey makes them, in the order of the venues
	groups [][]calendar.ID // by key, ascending
	index  map[string]int  // of keys
}

func (n *names) add(r *calendar.Record, detail string) {
	key := readmodel.PlaceKey(r.Fields.String(detail))
	if key == "" {
		return
	}
	at, known := n.index[key]
	if !known {
		at = len(n.keys)
		n.index[key] = at
		n.keys, n.groups = append(n.keys, key), append(n.groups, nil)
	}
	n.groups[at] = append(n.groups[at], r.ID)
}

// of returns the venues of some names, by id.
func (n *names) of(keys []string) []calendar.ID {
	out := []calendar.ID{}
	for _, key := range keys {
		if at, known := n.index[key]; known {
			out = append(out, n.groups[at]...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
