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
var entities = strings.NewReplacer(strings.Fields("& &amp; < &lt; > &gt;")...)

// escaped returns the text of a name, left out where it is empty.
func escaped(text string) formats.OptionalText { return formats.OptionalText(entities.Replace(text)) }

// appendLD writes an object of json_ld (3.1.8) of a type: what all
// have, and further members.
func (writer *Writer) appendLD(data []byte, of, about string, subject *subject, further formats.Object) []byte {
	name, _ := subject.Record.Name(writer.Lang)
	data = formats.AppendJSON(data, formats.Object{
		"@context", "https://schema.org", "@type", of, "name", escaped(name), "description", escaped(about),
		"image", formats.OptionalText(subject.Record.Fields.String("image_url")), "url", subject.address,
	})
	return append(formats.AppendMembers(data[:len(data)-1], further), '}')
}

// appendEventLD writes the json_ld of an event.
func (writer *Writer) appendEventLD(data []byte, view *query.View, subject *subject) []byte {
	fields := subject.Record.Fields
	var location, organizer json.RawMessage
	if len(view.Venues) > 0 {
		location = writer.fragment(view.Venues[0]).tail
	}
	if len(view.Organizers) > 0 {
		organizer = writer.fragment(view.Organizers[0]).tail
	}
	var offers formats.Object
	status := fields.EventStatus()
	if len(subject.cost.Values) > 0 && subject.cost.Code != "" && status != calendar.EventCancelled {
		validFrom := ""
		if date := fields.Wall("date"); date != calendar.NoWall {
			day := calendar.Wall(date.UTC().Truncate(24 * time.Hour).Unix())
			instant := calendar.WallToInstant(day, writer.site).In(writer.site)
			validFrom = formats.Instant(calendar.WallOf(instant), calendar.Wall(instant.Unix()))
		}
		offers = formats.Object{
			"@type", "Offer", "price", subject.cost.Values[0], "priceCurrency", subject.cost.Code, "url", subject.address, "category", "primary",
			"availability", "inStock", "validFrom", formats.OptionalText(validFrom),
		}
	}
	about, _ := HTML(subject.Record, "excerpt", writer.Lang)
	if about == "" {
		about, _ = HTML(subject.Record, "description", writer.Lang)
	}
	return writer.appendLD(data, "Event", about, subject, formats.Object{
		"eventAttendanceMode", "https://schema.org/OfflineEventAttendanceMode", "eventStatus", "https://schema.org/" + ldStatus[status],
		"startDate", formats.Instant(fields.Wall("start_date"), fields.Wall("utc_start_date")), "endDate", formats.Instant(fields.Wall("end_date"), fields.Wall("utc_end_date")),
		"location", location, "organizer", organizer, "offers", offers, "performer", "Organization",
	})
}

// appendPostLD writes the json_ld of a venue or an organizer.
func (writer *Writer) appendPostLD(data []byte, subject *subject) []byte {
	fields := subject.Record.Fields
	text := func(name string) formats.OptionalText { return escaped(fields.String(name)) }
	of := "Person"
	if subject.Record.Kind == calendar.KindVenue {
		of = "Place"
	}
	address := formats.Object{
		"@type", "PostalAddress", "streetAddress", text("address"), "addressLocality", text("city"), "addressRegion", escaped(formats.StateProvince(fields)),
		"postalCode", text("zip"), "addressCountry", text("country"),
	}
	if len(formats.AppendMembers(nil, address[2:])) == 0 {
		address = nil
	}
	var geo formats.Object
	if latitude, longitude, ok := formats.Point(fields); ok {
		geo = formats.Object{"@type", "GeoCoordinates", "latitude", latitude, "longitude", longitude}
	}
	about, _ := HTML(subject.Record, "description", writer.Lang)
	return writer.appendLD(data, of, about, subject, formats.Object{
		"address", address, "geo", geo, "telephone", text("phone"),
		"email", formats.OptionalText(fields.String("email")), "sameAs", formats.OptionalText(fields.String("website")),
	})
}
