package query

import (
	"slices"
	"testing"

	"daybook/calendar"
)

// TestGreatCircle holds the radius of interface 4.8.
func TestGreatCircle(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		from     circle
		lat, lng float64
		min, max float64
	}{
		{"none", circle{lat: 42, lng: -71}, 42, -71, 0, 0},
		{"one degree of a great circle", circle{}, 0, 1, 111.19507, 111.19509},
		{"over the date line", circle{lng: 179.5}, 0, -179.5, 111.19507, 111.19509},
		{"pole to pole", circle{lat: 90}, -90, 0, 20015.11, 20015.12},
		{"other side", circle{lat: 10, lng: 20}, -10, -160, 20015.11, 20015.12},
		{"Paris to London", circle{lat: 48.8584, lng: 2.2945}, 51.5007, -0.1246, 340.5, 340.8},
	} {
		if d := tt.from.distance(tt.lat, tt.lng); d < tt.min || d > tt.max {
			t.Errorf("%s: %.5f km, want %.5f to %.5f", tt.name, d, tt.min, tt.max)
		}
	}
}

// TestPlaces: an event is where its venue is, as far as the caller sees the venue.
func TestPlaces(t *testing.T) {
	t.Parallel()
	venues := []fields{
		{"city": "München", "geo_lat": 48.8584, "geo_lng": 2.2945},   // 1 to 2: 340.6 km
		{"city": "munchen", "geo_lat": 51.5007, "geo_lng": -0.1246},  //
		{"city": "New  York", "geo_lat": 0.0, "geo_lng": 179.9},      // 3 to 4: 22.2 km over the date line
		{"city": "", "geo_lat": 0.0, "geo_lng": -179.9},              //
		{"city": "L’Aquila", "geo_lat": 89.9, "geo_lng": 0.0},        // 5 to 6: 22.2 km over the pole
		{"city": "l'aquila", "geo_lat": 89.9, "geo_lng": 180.0},      //
		{"city": "Stoke‑on–Trent", "geo_lat": 60.0, "geo_lng": 10.0}, // 7 to 8: 55.6 km, not 111
		{"city": "", "geo_lat": 60.0, "geo_lng": 11.0, "author": 7},  //
		{"city": "New York"}, // nowhere
		{"city": "New York", "geo_lat": 48.85, "geo_lng": 2.3, "status": "draft", "author": contributor.ID},
	}
	var records []*calendar.Record
	for i, f := range venues {
		id := calendar.ID(i + 1)
		records = append(
			records, record(t, calendar.KindVenue, id, "Venue", f),
			event(t, 100+id, "Event", "2030-05-10", "2030-05-10", fields{"venue": ids(id)}),
		)
	}
	s, _, _, _ := setup(t, records)
	for _, tt := range []struct {
		caller calendar.Caller
		sent   string
		want   []calendar.ID
	}{
		{anonymous, "geoloc_lat=48.8584&geoloc_lng=2.2945&geoloc_radius=0.001", ids(1)},
		{anonymous, "geoloc_lat=48.8584&geoloc_lng=2.2945&geoloc_radius=340", ids(1)},
		{contributor, "geoloc_lat=48.8584&geoloc_lng=2.2945&geoloc_radius=340", ids(1, 10)},
		{editor, "geoloc_lat=48.8584&geoloc_lng=2.2945&geoloc_radius=340", ids(1, 10)},
		{anonymous, "geoloc_lat=48.8584&geoloc_lng=2.2945&geoloc_radius=341", ids(1, 2)},
		{anonymous, "geoloc_lat=0&geoloc_lng=179.9&geoloc_radius=22", ids(3)},
		{anonymous, "geoloc_lat=0&geoloc_lng=-179.9&geoloc_radius=22.3", ids(3, 4)},
		{anonymous, "geoloc_lat=90&geoloc_lng=-77&geoloc_radius=11.2", ids(5, 6)},
		{anonymous, "geoloc_lat=60&geoloc_lng=10&geoloc_radius=55", ids(7)},
		{anonymous, "geoloc_lat=60&geoloc_lng=10&geoloc_radius=56", ids(7, 8)},
		{anonymous, "geoloc_lat=0&geoloc_lng=0&geoloc_radius=20000", ids(1, 2, 5, 6, 7, 8)},
		{anonymous, "geoloc=true", ids(1, 2, 3, 4, 5, 6, 7, 8)},
		{anonymous, "geoloc=false", ids(9, 10)},
		{anonymous, "bbox=-180,-90,180,90", ids(1, 2, 3, 4, 5, 6, 7, 8)},
		{anonymous, "bbox=10,60,11,60", ids(7, 8)},
		{anonymous, "bbox=10.1,59,10.9,61", ids()},
		{anonymous, "bbox=179,-1,-179,1", ids(3, 4)},
		{anonymous, "bbox=5,0,2.2945,90", ids(1, 2, 3, 4, 5, 6, 7, 8)},
		{anonymous, "bbox=2.299,48,2.301,49", ids()},
		{anonymous, "city=MÜNCHEN", ids(1, 2)},
		{anonymous, "city= new york", ids(3, 9)},
		{contributor, "city=New York", ids(3, 9, 10)},
		{anonymous, "city=new", ids()},
		{anonymous, "city=LʼAquila", ids(5, 6)},
		{anonymous, "city=Laquila", ids()},
		{anonymous, "city=stoke-on-trent,Nowhere,MÜNCHEN", ids(1, 2, 7)},
		{anonymous, "venue=1,10", ids(1)},
		{contributor, "venue=1,10", ids(1, 10)},
		{author, "venue=1,10", ids(1)},
	} {
		l, _, err := list(t, s, calendar.KindEvent, tt.caller, input(tt.sent+always))
		if err != nil {
			t.Errorf("%s: %v", tt.sent, err)
			continue
		}
		got := idsOf(l)
		for i := range got {
			got[i] -= 100
		}
		if slices.Sort(got); !slices.Equal(got, tt.want) {
			t.Errorf("%s by %s: %v, want %v", tt.sent, tt.caller.Role, got, tt.want)
		}
	}
}
