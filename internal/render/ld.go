package render

import (
	"daybook/calendar"
	"daybook/internal/formats"
)

// The json_ld objects of section 3.1.8. Keys without content are left out.

// ldStatus are the values of eventStatus.
var ldStatus = map[calendar.EventStatus]string{
	calendar.EventScheduled: "EventScheduled", calendar.EventCancelled: "EventCancelled", calendar.EventPostponed: "EventPostponed",
}

// appendEventLD writes the json_ld of an event up to its place and organizer.
func (w *Writer) appendEventLD(b []byte, r *calendar.Record, url string) []byte {
	f := r.Fields
	about := w.html(r, "excerpt")
	if about == "" {
		about = w.html(r, "description")
	}
	b = w.appendLDHead(b, "Event", r, about, url)
	b = append(b, `,"eventAttendanceMode":"https://schema.org/OfflineEventAttendanceMode"`+
		`,"eventStatus":"https://schema.org/`...)
	b = append(append(b, ldStatus[f.EventStatus()]...), '"')
	b = appendISO(b, `,"startDate":`, f.Wall("start_date"), f.Wall("utc_start_date"))
	return appendISO(b, `,"endDate":`, f.Wall("end_date"), f.Wall("utc_end_date"))
}

// appendEventOffer writes the json_ld of an event from there on.
func (w *Writer) appendEventOffer(b []byte, r *calendar.Record, url string, cost calendar.Cost) []byte {
	if len(cost.Values) > 0 && cost.Code != "" && r.Fields.EventStatus() != calendar.EventCancelled {
		b = append(b, `,"offers":{"@type":"Offer","price":`...)
		b = AppendString(b, cost.Values[0])
		b = append(b, `,"priceCurrency":`...)
		b = AppendString(b, cost.Code)
		b = append(b, `,"url":`...)
		b = AppendString(b, url)
		b = append(b, `,"category":"primary","availability":"inStock"`...)
		if date := r.Fields.Wall("date"); date != calendar.NoWall {
			t := date.UTC()
			day := date - calendar.Wall(t.Hour()*3600+t.Minute()*60+t.Second())
			at := calendar.WallToInstant(day, w.site).In(w.site)
			b = appendISO(b, `,"validFrom":`, calendar.WallOf(at), calendar.Wall(at.Unix()))
		}
		b = append(b, '}')
	}
	return append(b, `,"performer":"Organization"}`...)
}

// appendLDHead writes the keys that all objects begin with.
func (w *Writer) appendLDHead(b []byte, kind string, r *calendar.Record, about, url string) []byte {
	name, _ := r.Name(w.Lang)
	b = append(b, `{"@context":"https://schema.org","@type":"`...)
	b = append(append(b, kind...), '"')
	b = appendFilled(b, `,"name":`, name, nameText)
	b = appendFilled(b, `,"description":`, about, nameText)
	b = appendFilled(b, `,"image":`, r.Fields.String("image_url"), plainText)
	b = append(b, `,"url":`...)
	return AppendString(b, url)
}

// appendVenueLD writes the json_ld of a venue.
func (w *Writer) appendVenueLD(b []byte, r *calendar.Record, url string) []byte {
	f := r.Fields
	b = w.appendLDHead(b, "Place", r, w.html(r, "description"), url)
	parts := [...]struct{ key, value string }{
		{`,"streetAddress":`, f.String("address")},
		{`,"addressLocality":`, f.String("city")},
		{`,"addressRegion":`, StateProvince(f)},
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
	if lat, lng, ok := Point(f); ok {
		b = appendNumber(append(b, `,"geo":{"@type":"GeoCoordinates","latitude":`...), lat)
		b = appendNumber(append(b, `,"longitude":`...), lng)
		b = append(b, '}')
	}
	b = appendFilled(b, `,"telephone":`, f.String("phone"), nameText)
	b = appendFilled(b, `,"sameAs":`, f.String("website"), plainText)
	return append(b, '}')
}

// appendOrganizerLD writes the json_ld of an organizer.
func (w *Writer) appendOrganizerLD(b []byte, r *calendar.Record, url string) []byte {
	f := r.Fields
	b = w.appendLDHead(b, "Person", r, w.html(r, "description"), url)
	b = appendFilled(b, `,"telephone":`, f.String("phone"), nameText)
	b = appendFilled(b, `,"email":`, f.String("email"), plainText)
	b = appendFilled(b, `,"sameAs":`, f.String("website"), plainText)
	return append(b, '}')
}

// html is the text that HTML returns.
func (w *Writer) html(r *calendar.Record, field string) string {
	text, _ := HTML(r, field, w.Lang)
	return text
}

// appendISO appends a key with a wall clock as ISO 8601 with its offset, which follows from
// the same moment in UTC.
func appendISO(b []byte, key string, w, utc calendar.Wall) []byte {
	return append(formats.AppendInstant(append(append(b, key...), '"'), w, utc), '"')
}
