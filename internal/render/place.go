package render

import (
	"cmp"
	"strings"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/query"
)

// StateProvince returns stateprovince as answered (3.2.1): the value sent, else the
// state of a place in the United States or in no country, else the province.
func StateProvince(f calendar.Fields) string {
	state := ""
	switch strings.ToLower(f.String("country")) {
	case "", "us", "united states":
		state = f.String("state")
	}
	return cmp.Or(f.String("stateprovince"), state, f.String("province"))
}

// appendPost writes a venue (3.2.2) or an organizer (3.3.2).
func (w *Writer) appendPost(b []byte, l query.LinkedView) []byte {
	f := w.postFragment(l)
	b = append(b, f.head...)
	if w.LD {
		b = append(append(b, `,"json_ld":`...), f.tail...)
	}
	return append(b, '}')
}

// postFragment returns a venue or organizer: all of it but the brace at its end, and its
// json_ld.
func (w *Writer) postFragment(l query.LinkedView) fragment {
	return w.fragment(l.Record, l.Status, 0, func(b []byte) ([]byte, int) {
		s := &w.other
		*s = subject{r: l.Record, f: l.Record.Fields, status: l.Status, url: w.Links.Page(l.Record, l.Status)}
		b = w.appendColumns(b, w.Layouts.Of[s.r.Kind], s)
		return w.appendPostLD(b, s), len(b)
	})
}

func writeRegion(_ *Writer, b []byte, c *Column, s *subject) []byte {
	return c.append(b, StateProvince(s.f), nameText)
}

func writeCoordinate(_ *Writer, b []byte, c *Column, s *subject) []byte {
	if _, _, ok := Point(s.f); !ok {
		return b
	}
	degrees, _ := s.f.Number(c.Name)
	return formats.AppendJSON(append(b, c.key...), degrees)
}

// Point returns the coordinates of a venue when both are stored.
func Point(f calendar.Fields) (lat, lng float64, ok bool) {
	lat, hasLat := f.Number("geo_lat")
	lng, hasLng := f.Number("geo_lng")
	return lat, lng, hasLat && hasLng
}
