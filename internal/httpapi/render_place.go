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
	url := p.root.page(l.Record, l.Status)
	var b []byte
	var end int
	if l.Record.Kind == calendar.KindVenue {
		b = p.appendVenue(b, l.Record, l.Status, url)
		end = len(b)
		b = p.appendVenueLD(b, l.Record, url)
	} else {
		b = p.appendOrganizer(b, l.Record, l.Status, url)
		end = len(b)
		b = p.appendOrganizerLD(b, l.Record, url)
	}
	p.a.fragments.set(key, b, end)
	return fragment{b[:end:end], b[end:]}
}

// appendVenue writes the head of a venue; empty fields are left out.
func (p *renderer) appendVenue(b []byte, r *calendar.Record, status calendar.Status, url string) []byte {
	f := r.Fields
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
	return appendLanguages(b, r, shown)
}

// appendOrganizer writes the head of an organizer; empty fields are left out.
func (p *renderer) appendOrganizer(b []byte, r *calendar.Record, status calendar.Status, url string) []byte {
	f := r.Fields
	name, shown := r.Name(p.lang)
	b = p.appendPostHead(b, r, status, url)
	b = append(b, `,"organizer":`...)
	b = appendName(b, name)
	b = p.appendPostTexts(b, r)
	b = appendFilled(b, `,"phone":`, f.String("phone"), &nameSafe)
	b = appendFilled(b, `,"website":`, f.String("website"), &plainSafe)
	b = appendFilled(b, `,"email":`, f.String("email"), &plainSafe)
	return appendLanguages(b, r, shown)
}

// appendPostTexts writes what venues and organizers share: the slug, and description,
// excerpt and image, each where there is one.
func (p *renderer) appendPostTexts(b []byte, r *calendar.Record) []byte {
	b = appendText(append(b, `,"slug":`...), r.Slug(), &plainSafe)
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
