package httpapi

import "daybook/calendar"

// The json_ld objects of section 3.1.8. Keys without content are left out.

// ldStatus are the values of eventStatus.
var ldStatus = map[calendar.EventStatus]string{
	calendar.EventScheduled: "EventScheduled", calendar.EventCancelled: "EventCancelled", calendar.EventPostponed: "EventPostponed",
}

// appendEventLD writes the json_ld of an event up to its place and organizer.
func (p *renderer) appendEventLD(b []byte, r *calendar.Record, url string) []byte {
	f := r.Fields
	about := p.shownHTML(r, "excerpt")
	if about == "" {
		about = p.shownHTML(r, "description")
	}
	b = p.appendLDHead(b, "Event", r, about, url)
	b = append(b, `,"eventAttendanceMode":"https://schema.org/OfflineEventAttendanceMode"`+
		`,"eventStatus":"https://schema.org/`...)
	b = append(append(b, ldStatus[f.EventStatus()]...), '"')
	b = appendISO(b, `,"startDate":`, f.Wall("start_date"), f.Wall("utc_start_date"))
	return appendISO(b, `,"endDate":`, f.Wall("end_date"), f.Wall("utc_end_date"))
}

// appendEventOffer writes the json_ld of an event from there on.
func (p *renderer) appendEventOffer(b []byte, r *calendar.Record, url string, cost calendar.Cost) []byte {
	if len(cost.Values) > 0 && cost.Code != "" && r.Fields.EventStatus() != calendar.EventCancelled {
		b = append(b, `,"offers":{"@type":"Offer","price":`...)
		b = appendString(b, cost.Values[0])
		b = append(b, `,"priceCurrency":`...)
		b = appendString(b, cost.Code)
		b = append(b, `,"url":`...)
		b = appendString(b, url)
		b = append(b, `,"category":"primary","availability":"inStock"`...)
		if date := r.Fields.Wall("date"); date != calendar.NoWall {
			t := date.UTC()
			day := date - calendar.Wall(t.Hour()*3600+t.Minute()*60+t.Second())
			at := calendar.WallToInstant(day, p.a.o.Site).In(p.a.o.Site)
			b = appendISO(b, `,"validFrom":`, calendar.WallOf(at), calendar.Wall(at.Unix()))
		}
		b = append(b, '}')
	}
	return append(b, `,"performer":"Organization"}`...)
}

// appendLDHead writes the keys that all objects begin with.
func (p *renderer) appendLDHead(b []byte, kind string, r *calendar.Record, about, url string) []byte {
	name, _ := r.Name(p.lang)
	b = append(b, `{"@context":"https://schema.org","@type":"`...)
	b = append(append(b, kind...), '"')
	b = appendFilled(b, `,"name":`, name, nameText)
	b = appendFilled(b, `,"description":`, about, nameText)
	b = appendFilled(b, `,"image":`, r.Fields.String("image_url"), plainText)
	b = append(b, `,"url":`...)
	return appendString(b, url)
}

// appendVenueLD writes the json_ld of a venue.
func (p *renderer) appendVenueLD(b []byte, r *calendar.Record, url string) []byte {
	f := r.Fields
	b = p.appendLDHead(b, "Place", r, p.shownHTML(r, "description"), url)
	parts := [...]struct{ key, value string }{
		{`,"streetAddress":`, f.String("address")},
		{`,"addressLocality":`, f.String("city")},
		{`,"addressRegion":`, stateProvince(f)},
		{`,"postalCode":`, f.String("zip")},
		{`,"addressCountry":`, f.String("country")},
	}
	before := len(b)
	b = append(b, `,"address":{"@type":"PostalAddress"`...)
	bare := len(b)
	for _, part := range parts {
		b = appendFilled(b, part.key, part.value, nameText)
	}
	if len(b) == bare {
		b = b[:before]
	} else {
		b = append(b, '}')
	}
	if lat, lng, ok := point(f); ok {
		b = appendNumber(append(b, `,"geo":{"@type":"GeoCoordinates","latitude":`...), lat)
		b = appendNumber(append(b, `,"longitude":`...), lng)
		b = append(b, '}')
	}
	b = appendFilled(b, `,"telephone":`, f.String("phone"), nameText)
	b = appendFilled(b, `,"sameAs":`, f.String("website"), plainText)
	return append(b, '}')
}

// appendOrganizerLD writes the json_ld of an organizer.
func (p *renderer) appendOrganizerLD(b []byte, r *calendar.Record, url string) []byte {
	f := r.Fields
	b = p.appendLDHead(b, "Person", r, p.shownHTML(r, "description"), url)
	b = appendFilled(b, `,"telephone":`, f.String("phone"), nameText)
	b = appendFilled(b, `,"email":`, f.String("email"), plainText)
	b = appendFilled(b, `,"sameAs":`, f.String("website"), plainText)
	return append(b, '}')
}

// appendISO writes a key with a wall clock as ISO 8601 with its offset, which
// follows from the same moment in UTC.
func appendISO(b []byte, key string, w, utc calendar.Wall) []byte {
	b = append(append(b, key...), '"')
	b = clockOf(w).append(b, 'T')
	offset := int(w - utc)
	sign := byte('+')
	if offset < 0 {
		sign, offset = '-', -offset
	}
	b = append(b, sign)
	b = append(appendTwo(b, offset/3600), ':')
	return append(appendTwo(b, offset/60%60), '"')
}
