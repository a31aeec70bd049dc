package formats

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"daybook/calendar"
	"daybook/internal/htmltext"
)

var jsonFeedFormat = Format{
	Name: "jsonfeed", Media: []string{"application/feed+json"}, Header: "application/feed+json; charset=utf-8",
	Disposition: inline, Extension: "json", Marks: true, Schema: "JSONFeed", Open: JSONFeed,
}

// JSONFeed writes JSON Feed 1.1.
func JSONFeed(f *Feed) Writer { return &jsonFeed{f: f} }

type jsonFeed struct {
	f *Feed
	n int // items so far
}

func (w *jsonFeed) Begin(b []byte) []byte {
	f := w.f
	b = AppendJSON(b, Object{
		"version", "https://jsonfeed.org/version/1.1", "title", f.Title, "home_page_url", f.Home, "feed_url", f.Self,
		"next_url", Filled(f.Next), "language", f.Lang.Tag(),
		"_daybook",
		Object{"about", f.Root + "/doc", "total", f.Total, "", json.RawMessage(f.Facets)},
	})
	return append(b[:len(b)-1], `,"items":[`...)
}

func (w *jsonFeed) Item(b []byte, e *Event) []byte {
	b = AppendComma(b, w.n)
	w.n++
	published := ""
	if e.Date != calendar.NoWall {
		published = moment(e.Date.UTC())
	}
	var point List
	if lat, lng, ok := e.Point(); ok {
		point = List{lng, lat}
	}
	return AppendJSON(b, Object{
		"id", "urn:uuid:" + e.UID, "url", e.URL, "external_url", Filled(e.Website),
		"title", e.plainTitle(w.f.Lang), "content_html", e.Description, "summary", Filled(htmltext.PlainText(e.Excerpt)),
		"image", Filled(e.Image), "date_published", Filled(published), "date_modified", moment(e.Touched),
		"authors", ListOf(e.Organizers, func(o *Organizer) any { return Object{"name", o.Name, "url", o.URL} }),
		"tags", ListOf(slices.Concat(e.Categories, e.Tags), func(t *Term) any { return t.Name }),
		"language", e.Lang.Tag(),
		"_daybook",
		Object{
			"event_id", e.ID, "start", e.start(), "end", e.end(), "timezone", e.Zone.Name, "all_day", e.AllDay,
			"status", string(e.Status), "event_status", string(e.EventStatus), "cost", Filled(e.Cost), "location", Filled(e.PlaceLine()),
			"geo", point,
			"categories", ListOf(e.Categories, (*Term).id), "tags", ListOf(e.Tags, (*Term).id),
			"venues", ListOf(e.Venues, (*Venue).id), "organizers", ListOf(e.Organizers, (*Organizer).id),
			"ticketed", e.flag(e.Ticketed, Filled("")), "featured", e.flag(e.Featured, Filled("")),
			"distance", e.distance(), "rest_url", e.RestURL, "", json.RawMessage(e.More),
		},
	})
}

func (w *jsonFeed) End(b []byte) []byte { return append(b, "]}"...) }

func (t *Times) start() string { return Instant(t.Start, t.UTCStart) }
func (t *Times) end() string   { return Instant(t.End, t.UTCEnd) }

// flag returns a boolean of an event, or what a blanked one has instead.
func (e *Event) flag(v bool, blank any) any {
	if e.Blanked {
		return blank
	}
	return v
}

func (e *Event) distance() json.RawMessage {
	if e.Distance == nil {
		return nil
	}
	return AppendKm(nil, *e.Distance)
}

// AppendKm writes metres as kilometres with three decimals.
func AppendKm(b []byte, metres int64) []byte {
	return fmt.Appendf(b, "%d.%03d", metres/1000, metres%1000)
}

// moment writes a moment in UTC with Z.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

var geoJSONFormat = Format{
	Name: "geojson", Media: []string{"application/geo+json"}, Header: "application/geo+json",
	Disposition: inline, Extension: "geojson", Single: true, Marks: true, Schema: "FeatureCollection", Open: GeoJSON,
}

// GeoJSON writes GeoJSON (RFC 7946): a feature for each event or, with Venues, for each
// venue.
func GeoJSON(f *Feed) Writer {
	if f.Venues {
		return &venuesWriter{f: f, at: map[calendar.ID]int{}}
	}
	return &geoWriter{f: f}
}

type geoWriter struct {
	f *Feed
	n int // features so far
}

const collectionHead = `{"type":"FeatureCollection","features":[`

func (w *geoWriter) Begin(b []byte) []byte {
	if w.f.Single {
		return b
	}
	return append(b, collectionHead...)
}

func (w *geoWriter) Item(b []byte, e *Event) []byte {
	b = AppendComma(b, w.n)
	w.n++
	var geometry, venue, image any
	if lat, lng, ok := e.Point(); ok {
		geometry = pointAt(lat, lng)
	}
	if len(e.Venues) > 0 {
		v := &e.Venues[0]
		venue = Object{"id", v.ID, "venue", Filled(v.Name), "address", Filled(v.Address), "city", Filled(v.City), "country", Filled(v.Country)}
	}
	if e.Image != "" {
		image = e.Image
	}
	return appendFeature(b, e.ID, geometry, Object{
		"id", e.ID, "uid", e.UID, "title", e.Title, "url", e.URL, "rest_url", e.RestURL,
		"start", e.start(), "end", e.end(), "timezone", e.Zone.Name, "all_day", e.AllDay,
		"status", string(e.Status), "event_status", string(e.EventStatus), "cost", e.Cost, "categories", slugs(e.Categories), "tags", slugs(e.Tags),
		"venue", venue, "organizers", Whole(ListOf(e.Organizers, (*Organizer).name)), "image", image,
		"featured", e.flag(e.Featured, nil), "ticketed", e.flag(e.Ticketed, nil), "distance", e.distance(), "", json.RawMessage(e.More),
	})
}

func appendFeature(b []byte, id calendar.ID, geometry any, properties Object) []byte {
	return AppendJSON(b, Object{"type", "Feature", "id", id, "geometry", geometry, "properties", properties})
}

func pointAt(lat, lng float64) Object { return Object{"type", "Point", "coordinates", List{lng, lat}} }

func slugs(terms []Term) List { return Whole(ListOf(terms, func(t *Term) any { return t.Slug })) }

func (w *geoWriter) End(b []byte) []byte {
	if w.f.Single {
		return b
	}
	return fmt.Appendf(b, `],"total":%d}`, w.f.Total)
}

// venueEvents is how many events of a venue are given.
const venueEvents = 100

// venuesWriter gathers the venues of events, and writes them at the end.
type venuesWriter struct {
	f        *Feed
	places   []place
	at       map[calendar.ID]int // of a venue in places
	unplaced int
}

type place struct {
	Venue

	count  int
	events []byte // the first ones, as elements of an array
}

func (w *venuesWriter) Begin(b []byte) []byte { return append(b, collectionHead...) }

func (w *venuesWriter) Item(b []byte, e *Event) []byte {
	venues := slices.DeleteFunc(slices.Clone(e.Venues), func(v Venue) bool { return !v.HasPoint })
	slices.SortFunc(venues, func(x, y Venue) int { return cmp.Compare(x.ID, y.ID) })
	if len(venues) == 0 {
		w.unplaced++
	}
	for _, v := range venues {
		at, known := w.at[v.ID]
		if !known {
			at = len(w.places)
			w.at[v.ID], w.places = at, append(w.places, place{Venue: v})
		}
		if p := &w.places[at]; p.count < venueEvents {
			p.events = AppendJSON(AppendComma(p.events, p.count), Object{
				"id", e.ID, "title", e.Title, "url", e.URL, "start", e.start(), "end", e.end(), "all_day", e.AllDay,
			})
		}
		w.places[at].count++
	}
	return b
}

func (w *venuesWriter) End(b []byte) []byte {
	for i := range w.places {
		p := &w.places[i]
		b = appendFeature(AppendComma(b, i), p.ID, pointAt(p.Lat, p.Lng), Object{
			"id", p.ID, "venue", p.Name, "url", p.URL, "address", p.Address, "city", p.City, "country", p.Country,
			"count", p.count, "events", json.RawMessage("[" + string(p.events) + "]"),
		})
	}
	return fmt.Appendf(b, `],"total":%d,"unplaced":%d}`, w.f.Total, w.unplaced)
}

// Entry is an element of the array of a calendar widget (LISTINGS 1.13). start and end
// are its texts.
func (e *Event) Entry(b []byte, l calendar.Lang, start, end string) []byte {
	classes := ListOf(e.Categories, func(t *Term) any { return "category-" + t.Slug })
	if e.Featured {
		classes = append(classes, "featured")
	}
	return AppendJSON(b, Object{
		"id", e.ID.String(), "title", e.plainTitle(l), "start", start, "end", end, "allDay", e.AllDay, "url", e.URL,
		"resourceIds", Whole(ListOf(e.Venues, func(v *Venue) any { return v.ID.String() })), "classNames", Whole(classes),
		"extendedProps",
		Object{
			"timezone", e.Zone.Name, "status", string(e.Status), "location", e.PlaceLine(), "excerpt", htmltext.PlainText(e.Excerpt),
			"image", e.Image, "cost", e.Cost, "categories", slugs(e.Categories), "tags", slugs(e.Tags),
			"featured", e.flag(e.Featured, nil), "ticketed", e.flag(e.Ticketed, nil), "rest_url", e.RestURL,
		},
	})
}
