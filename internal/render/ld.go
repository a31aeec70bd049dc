package render

import (
	"encoding/json"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/query"
)

var ldStatus = map[calendar.EventStatus]string{
	calendar.EventScheduled: "EventScheduled", calendar.EventCancelled: "EventCancelled", calendar.EventPostponed: "EventPostponed",
}

// entities are those of names (2.5).
var entities = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// escaped returns the text of a name, left out where it is empty.
func escaped(text string) formats.Filled { return formats.Filled(entities.Replace(text)) }

// appendLD writes an object of json_ld (3.1.8) of a type: what all
// have, and further members.
func (w *Writer) appendLD(data []byte, of, about string, s *subject, further formats.Object) []byte {
	name, _ := s.r.Name(w.Lang)
	data = formats.AppendJSON(data, formats.Object{
		"@context", "https://schema.org", "@type", of, "name", escaped(name), "description", escaped(about),
		"image", formats.Filled(s.f.String("image_url")), "url", s.url,
	})
	return append(formats.AppendMembers(data[:len(data)-1], further), '}')
}

// appendEventLD writes the json_ld of an event.
func (w *Writer) appendEventLD(data []byte, view *query.View, s *subject) []byte {
	var location, organizer json.RawMessage
	if len(view.Venues) > 0 {
		location = w.postFragment(view.Venues[0]).tail
	}
	if len(view.Organizers) > 0 {
		organizer = w.postFragment(view.Organizers[0]).tail
	}
	var offers formats.Object
	status := s.f.EventStatus()
	if len(s.cost.Values) > 0 && s.cost.Code != "" && status != calendar.EventCancelled {
		validFrom := ""
		if date := s.f.Wall("date"); date != calendar.NoWall {
			day := calendar.Wall(date.UTC().Truncate(24 * time.Hour).Unix())
			at := calendar.WallToInstant(day, w.site).In(w.site)
			validFrom = formats.Instant(calendar.WallOf(at), calendar.Wall(at.Unix()))
		}
		offers = formats.Object{
			"@type", "Offer", "price", s.cost.Values[0], "priceCurrency", s.cost.Code, "url", s.url, "category", "primary",
			"availability", "inStock", "validFrom", formats.Filled(validFrom),
		}
	}
	about := w.html(s.r, "excerpt")
	if about == "" {
		about = w.html(s.r, "description")
	}
	return w.appendLD(data, "Event", about, s, formats.Object{
		"eventAttendanceMode", "https://schema.org/OfflineEventAttendanceMode", "eventStatus", "https://schema.org/" + ldStatus[status],
		"startDate", formats.Instant(s.f.Wall("start_date"), s.f.Wall("utc_start_date")), "endDate", formats.Instant(s.f.Wall("end_date"), s.f.Wall("utc_end_date")),
		"location", location, "organizer", organizer, "offers", offers, "performer", "Organization",
	})
}

// appendPostLD writes the json_ld of a venue or an organizer.
func (w *Writer) appendPostLD(data []byte, s *subject) []byte {
	of := "Person"
	if s.r.Kind == calendar.KindVenue {
		of = "Place"
	}
	var address, geo formats.Object
	street, city, region := s.f.String("address"), s.f.String("city"), StateProvince(s.f)
	zip, country := s.f.String("zip"), s.f.String("country")
	if street+city+region+zip+country != "" {
		address = formats.Object{
			"@type", "PostalAddress", "streetAddress", escaped(street), "addressLocality", escaped(city), "addressRegion", escaped(region),
			"postalCode", escaped(zip), "addressCountry", escaped(country),
		}
	}
	if lat, lng, ok := Point(s.f); ok {
		geo = formats.Object{"@type", "GeoCoordinates", "latitude", lat, "longitude", lng}
	}
	return w.appendLD(data, of, w.html(s.r, "description"), s, formats.Object{
		"address", address, "geo", geo, "telephone", escaped(s.f.String("phone")),
		"email", formats.Filled(s.f.String("email")), "sameAs", formats.Filled(s.f.String("website")),
	})
}

// html is the text that HTML returns.
func (w *Writer) html(record *calendar.Record, field string) string {
	text, _ := HTML(record, field, w.Lang)
	return text
}
