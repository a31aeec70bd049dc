package render

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/query"
)

// thing is an object of json_ld (3.1.8). Keys without content are left out.
type thing struct {
	Context     string `json:"@context"`
	Type        string `json:"@type"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	Image       string `json:"image,omitempty"`
	URL         string `json:"url"`

	AttendanceMode string          `json:"eventAttendanceMode,omitempty"`
	Status         string          `json:"eventStatus,omitempty"`
	Start          string          `json:"startDate,omitempty"`
	End            string          `json:"endDate,omitempty"`
	Location       json.RawMessage `json:"location,omitempty"`
	Organizer      json.RawMessage `json:"organizer,omitempty"`
	Offers         *offer          `json:"offers,omitempty"`
	Performer      string          `json:"performer,omitempty"`

	Address   *address `json:"address,omitempty"`
	Geo       *point   `json:"geo,omitempty"`
	Telephone string   `json:"telephone,omitempty"`
	Email     string   `json:"email,omitempty"`
	SameAs    string   `json:"sameAs,omitempty"`
}

type offer struct {
	Type         string `json:"@type"`
	Price        string `json:"price"`
	Currency     string `json:"priceCurrency"`
	URL          string `json:"url"`
	Category     string `json:"category"`
	Availability string `json:"availability"`
	ValidFrom    string `json:"validFrom,omitempty"`
}

type address struct {
	Type     string `json:"@type"`
	Street   string `json:"streetAddress,omitempty"`
	Locality string `json:"addressLocality,omitempty"`
	Region   string `json:"addressRegion,omitempty"`
	Code     string `json:"postalCode,omitempty"`
	Country  string `json:"addressCountry,omitempty"`
}

type point struct {
	Type      string      `json:"@type"`
	Latitude  json.Number `json:"latitude"`
	Longitude json.Number `json:"longitude"`
}

var ldStatus = map[calendar.EventStatus]string{
	calendar.EventScheduled: "EventScheduled", calendar.EventCancelled: "EventCancelled", calendar.EventPostponed: "EventPostponed",
}

// entities are those of names (2.5).
var entities = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// append writes a thing.
func (t *thing) append(b []byte) []byte {
	to := bytes.NewBuffer(b)
	encoder := json.NewEncoder(to)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(t) // texts, and numbers and objects that were written here
	return bytes.TrimSuffix(to.Bytes(), []byte("\n"))
}

// newThing returns what things of all types have.
func (w *Writer) newThing(of, about string, s *subject) *thing {
	name, _ := s.r.Name(w.Lang)
	return &thing{
		Context: "https://schema.org", Type: of, Name: entities.Replace(name), Description: entities.Replace(about),
		Image: s.f.String("image_url"), URL: s.url,
	}
}

// appendEventLD writes the json_ld of an event.
func (w *Writer) appendEventLD(b []byte, v *query.View, s *subject) []byte {
	status := s.f.EventStatus()
	t := w.newThing("Event", cmp.Or(w.html(s.r, "excerpt"), w.html(s.r, "description")), s)
	t.AttendanceMode, t.Status = "https://schema.org/OfflineEventAttendanceMode", "https://schema.org/"+ldStatus[status]
	t.Start, t.End = iso(s.f.Wall("start_date"), s.f.Wall("utc_start_date")), iso(s.f.Wall("end_date"), s.f.Wall("utc_end_date"))
	t.Performer = "Organization"
	if len(v.Venues) > 0 {
		t.Location = w.postFragment(v.Venues[0]).tail
	}
	if len(v.Organizers) > 0 {
		t.Organizer = w.postFragment(v.Organizers[0]).tail
	}
	if len(s.cost.Values) > 0 && s.cost.Code != "" && status != calendar.EventCancelled {
		t.Offers = &offer{Type: "Offer", Price: s.cost.Values[0], Currency: s.cost.Code, URL: s.url, Category: "primary", Availability: "inStock"}
		if date := s.f.Wall("date"); date != calendar.NoWall {
			clock := date.UTC()
			day := date - calendar.Wall(clock.Hour()*3600+clock.Minute()*60+clock.Second())
			at := calendar.WallToInstant(day, w.site).In(w.site)
			t.Offers.ValidFrom = iso(calendar.WallOf(at), calendar.Wall(at.Unix()))
		}
	}
	return t.append(b)
}

// appendPostLD writes the json_ld of a venue or an organizer.
func (w *Writer) appendPostLD(b []byte, s *subject) []byte {
	of := "Person"
	if s.r.Kind == calendar.KindVenue {
		of = "Place"
	}
	t := w.newThing(of, w.html(s.r, "description"), s)
	t.Telephone, t.Email, t.SameAs = entities.Replace(s.f.String("phone")), s.f.String("email"), s.f.String("website")
	place := address{
		Street: entities.Replace(s.f.String("address")), Locality: entities.Replace(s.f.String("city")),
		Code: entities.Replace(s.f.String("zip")), Country: entities.Replace(s.f.String("country")), Region: entities.Replace(StateProvince(s.f)),
	}
	if place != (address{}) {
		place.Type = "PostalAddress"
		t.Address = &place
	}
	if lat, lng, ok := Point(s.f); ok {
		t.Geo = &point{"GeoCoordinates", json.Number(appendNumber(nil, lat)), json.Number(appendNumber(nil, lng))}
	}
	return t.append(b)
}

// html is the text that HTML returns.
func (w *Writer) html(r *calendar.Record, field string) string {
	text, _ := HTML(r, field, w.Lang)
	return text
}

// iso returns a wall clock as ISO 8601 with its offset, which follows from the same moment
// in UTC.
func iso(w, utc calendar.Wall) string { return string(formats.AppendInstant(nil, w, utc)) }
