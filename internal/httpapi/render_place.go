package httpapi

import (
	"strings"

	"daybook/calendar"
	"daybook/query"
)

// stateProvince is stateprovince as answered (3.2.1): the value sent, else the
// state of a place in the United States or in no country, else the province.
func stateProvince(f calendar.Fields) string {
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
func (p *renderer) appendPost(b []byte, l query.LinkedView) []byte {
	f := p.postFragment(l)
	b = append(b, f.head...)
	if p.ld {
		b = append(append(b, `,"json_ld":`...), f.tail...)
	}
	return append(b, '}')
}

// postFragment gives a venue or organizer: all of it but the brace at its end, and its
// json_ld.
func (p *renderer) postFragment(l query.LinkedView) fragment {
	key := fragmentKey{
		id: l.Record.ID, version: l.Record.Version, sum: l.Record.Sum, root: p.root.secret, status: l.Status,
		form: formPost, lang: p.lang,
	}
	if known, ok := p.a.fragments.get(key); ok {
		return known
	}
	s := &p.other
	*s = subject{r: l.Record, f: l.Record.Fields, status: l.Status, url: p.root.page(l.Record, l.Status)}
	b := p.appendColumns(nil, p.a.layouts.of[s.r.Kind], s)
	end := len(b)
	if s.r.Kind == calendar.KindVenue {
		b = p.appendVenueLD(b, s.r, s.url)
	} else {
		b = p.appendOrganizerLD(b, s.r, s.url)
	}
	p.a.fragments.set(key, b, end)
	return fragment{b[:end:end], b[end:]}
}

func writeRegion(_ *renderer, b []byte, c *column, s *subject) []byte {
	return c.append(b, stateProvince(s.f), nameText)
}

func writeCoordinate(_ *renderer, b []byte, c *column, s *subject) []byte {
	if _, _, ok := point(s.f); !ok {
		return b
	}
	degrees, _ := s.f.Number(c.name)
	return appendNumber(append(b, c.key...), degrees)
}

// point gives the coordinates of a venue when both are stored.
func point(f calendar.Fields) (lat, lng float64, ok bool) {
	lat, hasLat := f.Number("geo_lat")
	lng, hasLng := f.Number("geo_lng")
	return lat, lng, hasLat && hasLng
}
