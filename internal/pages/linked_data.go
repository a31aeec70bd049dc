package pages

import (
	"encoding/json"
	"html/template"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/query"
)

// eventLD is the structured data of an event page (PAGES.md P3.2).
func (l *look) eventLD(v *query.View, s *span) template.JS {
	r, lang := v.Record, l.lang
	title, in := r.Name(lang)
	e := map[string]any{
		"@type": "Event", "name": title, "url": l.CanonicalURL(), "inLanguage": in.Tag(), "startDate": s.from(), "endDate": s.to(),
		"eventStatus": "https://schema.org/EventScheduled", "eventAttendanceMode": "https://schema.org/OfflineEventAttendanceMode",
	}
	switch status := r.Fields.EventStatus(); {
	case status == calendar.EventCancelled:
		e["eventStatus"] = "https://schema.org/EventCancelled"
	case status == calendar.EventPostponed:
		e["eventStatus"] = "https://schema.org/EventPostponed"
	case l.moved != nil:
		before := l.spanOf(l.moved, false, nil)
		e["eventStatus"], e["previousStartDate"] = "https://schema.org/EventRescheduled", before.from()
	}
	description, _ := l.Shown.HTML(r, "description", lang)
	if description == "" {
		description, _ = l.Shown.HTML(r, "excerpt", lang)
	}
	if plain := l.Shown.Plain(description); plain != "" {
		e["description"] = plain
	}
	if image := r.Fields.String("image_url"); image != "" {
		e["image"] = []string{image}
	}
	places := make([]any, 0, len(v.Venues))
	for _, venue := range v.Venues {
		places = append(places, l.placeLD(venue.Record, venue.Status))
	}
	oneOrAll(e, "location", places)
	organizers := make([]any, 0, len(v.Organizers))
	for _, o := range v.Organizers {
		at := l.named(o.Record, o.Status)
		organizers = append(organizers, map[string]any{"@type": "Organization", "name": at.Label(), "url": l.outside(at.Href())})
	}
	oneOrAll(e, "organizer", organizers)
	l.offers(e, r)
	return ldOf(map[string]any{"@graph": []any{e, l.crumbsLD()}})
}

// outside is the whole URL of a path that a link of the page has.
func (l *look) outside(href string) string { return l.Base + strings.TrimPrefix(href, l.Path) }

// crumbsLD is the way to the page as structured data.
func (l *look) crumbsLD() map[string]any {
	items := make([]any, 0, len(l.Crumbs)+1)
	add := func(name, at string) {
		items = append(items, map[string]any{"@type": "ListItem", "position": len(items) + 1, "name": name, "item": at})
	}
	add(l.text("nav.home"), l.outside(l.Href("/")))
	add(l.text("directory.events"), l.outside(l.Href("/events/")))
	for _, c := range l.Crumbs {
		add(c.Label(), l.outside(c.Href()))
	}
	add(l.Heading, l.CanonicalURL())
	return map[string]any{"@type": "BreadcrumbList", "itemListElement": items}
}

// offers tells what an event costs, when all of it are numbers of one currency that is known.
func (l *look) offers(e map[string]any, r *calendar.Record) {
	cost := l.Shown.Cost(r)
	if !cost.Numbers {
		return
	}
	lowest, highest := cost.Values[0], cost.Values[len(cost.Values)-1]
	if len(cost.Values) == 1 && strings.Trim(lowest, "0.") == "" {
		e["isAccessibleForFree"] = true
	}
	if cost.Code == "" || r.Fields.EventStatus() == calendar.EventCancelled {
		return
	}
	offer := map[string]any{"@type": "Offer", "price": lowest, "priceCurrency": cost.Code, "url": e["url"], "availability": "https://schema.org/InStock"}
	if len(cost.Values) > 1 {
		delete(offer, "price")
		offer["@type"], offer["lowPrice"], offer["highPrice"] = "AggregateOffer", lowest, highest
	}
	if date := r.Fields.Wall("date_utc"); date != calendar.NoWall {
		offer["validFrom"] = date.UTC().Format(time.RFC3339)
	}
	e["offers"] = offer
}

// placeLD is a venue; it has an address always.
func (l *look) placeLD(r *calendar.Record, s calendar.Status) map[string]any {
	f, at := r.Fields, l.placeOf(r, s)
	address := map[string]any{"@type": "PostalAddress"}
	for key, value := range map[string]string{
		"streetAddress": at.Address, "addressLocality": at.City, "postalCode": at.Zip, "addressCountry": at.Country, "addressRegion": at.Region,
	} {
		if value != "" {
			address[key] = value
		}
	}
	if len(address) == 1 {
		address["addressLocality"] = at.Label
	}
	out := map[string]any{"@type": "Place", "name": at.Label, "address": address, "url": l.outside(at.Href)}
	lat, hasLat := f.Number("geo_lat")
	if lng, hasLng := f.Number("geo_lng"); hasLat && hasLng {
		out["geo"] = map[string]any{"@type": "GeoCoordinates", "latitude": lat, "longitude": lng}
	}
	return out
}

// oneOrAll sets a key to one value, or to the list of several.
func oneOrAll(m map[string]any, key string, values []any) {
	switch len(values) {
	case 0:
	case 1:
		m[key] = values[0]
	default:
		m[key] = values
	}
}

// ldOf writes structured data for a script element: < is escaped by the encoder.
func ldOf(data map[string]any) template.JS {
	data["@context"] = "https://schema.org"
	b, err := json.Marshal(data)
	if err != nil {
		return ""
	}
	return template.JS(b) //nolint:gosec // JSON, in which < > & are escaped
}
