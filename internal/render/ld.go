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
func escaped(text string) formats.OptionalText { return formats.OptionalText(entities.Replace(text)) }

// appendLD writes an object of json_ld (3.1.8) of a type: what all
// have, and further members.
func (writer *Writer) appendLD(data []byte, of, about string, subject *subject, further formats.Object) []byte {
	name, _ := subject.record.Name(writer.Lang)
	data = formats.AppendJSON(data, formats.Object{
		"@context", "https://schema.org", "@type", of, "name", escaped(name), "description", escaped(about),
		"image", formats.OptionalText(subject.fields.String("image_url")), "url", subject.url,
	})
	return append(formats.AppendMembers(data[:len(data)-1], further), '}')
}

// appendEventLD writes the json_ld of an event.
func (writer *Writer) appendEventLD(data []byte, view *query.View, subject *subject) []byte {
	var location, organizer json.RawMessage
	if len(view.Venues) > 0 {
		location = writer.postFragment(view.Venues[0]).tail
	}
	if len(view.Organizers) > 0 {
		organizer = writer.postFragment(view.Organizers[0]).tail
	}
	var offers formats.Object
	status := subject.fields.EventStatus()
	if len(subject.cost.Values) > 0 && subject.cost.Code != "" && status != calendar.EventCancelled {
		validFrom := ""
		if date := subject.fields.Wall("date"); date != calendar.NoWall {
			day := calendar.Wall(date.UTC().Truncate(24 * time.Hour).Unix())
			instant := calendar.WallToInstant(day, writer.site).In(writer.site)
			validFrom = formats.Instant(calendar.WallOf(instant), calendar.Wall(instant.Unix()))
		}
		offers = formats.Object{
			"@type", "Offer", "price", subject.cost.Values[0], "priceCurrency", subject.cost.Code, "url", subject.url, "category", "primary",
			"availability", "inStock", "validFrom", formats.OptionalText(validFrom),
		}
	}
	about := writer.html(subject.record, "excerpt")
	if about == "" {
		about = writer.html(subject.record, "description")
	}
	return writer.appendLD(data, "Event", about, subject, formats.Object{
		"eventAttendanceMode", "https://schema.org/OfflineEventAttendanceMode", "eventStatus", "https://schema.org/" + ldStatus[status],
		"startDate", formats.Instant(subject.fields.Wall("start_date"), subject.fields.Wall("utc_start_date")), "endDate", formats.Instant(subject.fields.Wall("end_date"), subject.fields.Wall("utc_end_date")),
		"location", location, "organizer", organizer, "offers", offers, "performer", "Organization",
	})
}

// appendPostLD writes the json_ld of a venue or an organizer.
func (writer *Writer) appendPostLD(data []byte, subject *subject) []byte {
	of := "Person"
	if subject.record.Kind == calendar.KindVenue {
		of = "Place"
	}
	var address, geo formats.Object
	street, city, region := subject.fields.String("address"), subject.fields.String("city"), stateProvince(subject.fields)
	zip, country := subject.fields.String("zip"), subject.fields.String("country")
	if street+city+region+zip+country != "" {
		address = formats.Object{
			"@type", "PostalAddress", "streetAddress", escaped(street), "addressLocality", escaped(city), "addressRegion", escaped(region),
			"postalCode", escaped(zip), "addressCountry", escaped(country),
		}
	}
	if lat, lng, ok := point(subject.fields); ok {
		geo = formats.Object{"@type", "GeoCoordinates", "latitude", lat, "longitude", lng}
	}
	return writer.appendLD(data, of, writer.html(subject.record, "description"), subject, formats.Object{
		"address", address, "geo", geo, "telephone", escaped(subject.fields.String("phone")),
		"email", formats.OptionalText(subject.fields.String("email")), "sameAs", formats.OptionalText(subject.fields.String("website")),
	})
}

// html is the text that HTML returns.
func (writer *Writer) html(record *calendar.Record, field string) string {
	text, _ := HTML(record, field, writer.Lang)
	return text
}
