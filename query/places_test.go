package query

import (
	"testing"
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
