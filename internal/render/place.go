package render

import (
	"strings"

	"daybook/calendar"
	"daybook/query"
)

// StateProvince returns stateprovince as answered (3.2.1): the value sent, else the
// state of a place in the United States or in no country, else the province.
func StateProvince(f calendar.Fields) string {
	if s := f.String("stateprovince"); s != "" {
		return s
	}
	switch strings.ToLower(f.String("country")) {
	case "", "us", "united states":
		if s := f.String("state"); s != "" {
			return s
		}
	}
	return f.String("province")
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
	key := fragmentKey{
		id: l.Record.ID, version: l.Record.Version, sum: l.Record.Sum, links: w.Links.Secret, status: l.Status,
		form: formPost, lang: w.Lang,
	}
	if cached, ok := w.fragments.Get(key); ok {
		return cached
	}
	s := &w.other
	*s = subject{r: l.Record, f: l.Record.Fields, status: l.Status, url: w.Links.Page(l.Record, l.Status)}
	b := w.appendColumns(nil, w.Layouts.Of[s.r.Kind], s)
	end := len(b)
	b = w.appendPostLD(b, s)
	w.fragments.add(key, b, end)
	return fragment{b[:end:end], b[end:]}
}

func writeRegion(_ *Writer, b []byte, c *Column, s *subject) []byte {
	return c.append(b, StateProvince(s.f), nameText)
}

func writeCoordinate(_ *Writer, b []byte, c *Column, s *subject) []byte {
	if _, _, ok := Point(s.f); !ok {
		return b
	}
	degrees, _ := s.f.Number(c.Name)
	return appendNumber(append(b, c.key...), degrees)
}

// Point returns the coordinates of a venue when both are stored.
func Point(f calendar.Fields) (lat, lng float64, ok bool) {
	lat, hasLat := f.Number("geo_lat")
	lng, hasLng := f.Number("geo_lng")
	return lat, lng, hasLat && hasLng
}
