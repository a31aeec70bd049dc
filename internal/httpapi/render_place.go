package httpapi

import (
	"strings"

	"daybook/calendar"
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

// appendVenue writes a venue (3.2.2); empty fields are left out.
func (p *renderer) appendVenue(b []byte, r *calendar.Record, status calendar.Status) []byte {
	f := r.Fields
	url := p.root.page(r, status)
	name, shown := r.Name(p.lang)
	b = p.appendPostHead(b, r, status, url)
	b = append(b, `,"venue":`...)
	b = appendName(b, name)
	b = p.appendPostTexts(b, r)
	b = appendFilled(b, `,"address":`, f.String("address"), &nameSafe)
	b = appendFilled(b, `,"city":`, f.String("city"), &nameSafe)
	b = appendFilled(b, `,"country":`, f.String("country"), &nameSafe)
	b = appendFilled(b, `,"province":`, f.String("province"), &nameSafe)
	b = appendFilled(b, `,"state":`, f.String("state"), &nameSafe)
	b = appendFilled(b, `,"zip":`, f.String("zip"), &nameSafe)
	b = appendFilled(b, `,"phone":`, f.String("phone"), &nameSafe)
	b = appendFilled(b, `,"website":`, f.String("website"), &plainSafe)
	b = appendFilled(b, `,"stateprovince":`, stateProvince(f), &nameSafe)
	b = appendBool(b, `,"show_map":`, f.BoolOr("show_map", true))
	b = appendBool(b, `,"show_map_link":`, f.BoolOr("show_map_link", true))
	if lat, lng, ok := point(f); ok {
		b = appendNumber(append(b, `,"geo_lat":`...), lat)
		b = appendNumber(append(b, `,"geo_lng":`...), lng)
	}
	b = appendLanguages(b, r, shown)
	if p.ld {
		b = append(b, `,"json_ld":`...)
		b = p.appendVenueLD(b, r, url)
	}
	return append(b, '}')
}

// appendOrganizer writes an organizer (3.3.2); empty fields are left out.
func (p *renderer) appendOrganizer(b []byte, r *calendar.Record, status calendar.Status) []byte {
	f := r.Fields
	url := p.root.page(r, status)
	name, shown := r.Name(p.lang)
	b = p.appendPostHead(b, r, status, url)
	b = append(b, `,"organizer":`...)
	b = appendName(b, name)
	b = p.appendPostTexts(b, r)
	b = appendFilled(b, `,"phone":`, f.String("phone"), &nameSafe)
	b = appendFilled(b, `,"website":`, f.String("website"), &plainSafe)
	b = appendFilled(b, `,"email":`, f.String("email"), &plainSafe)
	b = appendLanguages(b, r, shown)
	if p.ld {
		b = append(b, `,"json_ld":`...)
		b = p.appendOrganizerLD(b, r, url)
	}
	return append(b, '}')
}

// appendPostTexts writes what venues and organizers share: slug, description,
// excerpt and image, each where there is one.
func (p *renderer) appendPostTexts(b []byte, r *calendar.Record) []byte {
	b = appendFilled(b, `,"slug":`, r.Slug(), &plainSafe)
	b = appendFilled(b, `,"description":`, p.shownHTML(r, "description"), &plainSafe)
	b = appendFilled(b, `,"excerpt":`, p.shownHTML(r, "excerpt"), &plainSafe)
	if image := r.Fields.String("image_url"); image != "" {
		b = appendImage(append(b, `,"image":`...), r.Fields.ID("image"), image)
	}
	return b
}

// point gives the coordinates of a venue when both are stored.
func point(f calendar.Fields) (lat, lng float64, ok bool) {
	lat, hasLat := f.Number("geo_lat")
	lng, hasLng := f.Number("geo_lng")
	return lat, lng, hasLat && hasLng
}
