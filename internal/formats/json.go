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
func JSONFeed(feed *Feed) Writer { return &jsonFeed{f: feed} }

type jsonFeed struct {
	f *Feed
	n int // items so far
}

func (w *jsonFeed) Begin(data []byte) []byte {
	feed := w.f
	data = AppendJSON(data, Object{
		"version", "https://jsonfeed.org/version/1.1", "title", feed.Title, "home_page_url", feed.Home, "feed_url", feed.Self,
		"next_url", Filled(feed.Next), "language", feed.Lang.Tag(),
		"_daybook",
		Object{"about", feed.Root + "/doc", "total", feed.Total, "", json.RawMessage(feed.Facets)},
	})
	return append(data[:len(data)-1], `,"items":[`...)
}

func (w *jsonFeed) Item(data []byte, event *Event) []byte {
	data = AppendComma(data, w.n)
	w.n++
	published := ""
	if event.Date != calendar.NoWall {
		published = moment(event.Date.UTC())
	}
	var point List
	if lat, lng, ok := event.Point(); ok {
		point = List{lng, lat}
	}
	return AppendJSON(data, Object{
		"id", "urn:uuid:" + event.UID, "url", event.URL, "external_url", Filled(event.Website),
		"title", event.plainTitle(w.f.Lang), "content_html", event.Description, "summary", Filled(htmltext.PlainText(event.Excerpt)),
		"image", Filled(event.Image), "date_published", Filled(published), "date_modified", moment(event.Touched),
		"authors", ListOf(event.Organizers, func(organizer *Organizer) any { return Object{"name", organizer.Name, "url", organizer.URL} }),
		"tags", ListOf(slices.Concat(event.Categories, event.Tags), func(t *Term) any { return t.Name }),
		"language", event.Lang.Tag(),
		"_daybook",
		Object{
			"event_id", event.ID, "start", event.start(), "end", event.end(), "timezone", event.Zone.Name, "all_day", event.AllDay,
			"status", string(event.Status), "event_status", string(event.EventStatus), "cost", Filled(event.Cost), "location", Filled(event.PlaceLine()),
			"geo", point,
			"categories", ListOf(event.Categories, (*Term).id), "tags", ListOf(event.Tags, (*Term).id),
			"venues", ListOf(event.Venues, (*Venue).id), "organizers", ListOf(event.Organizers, (*Organizer).id),
			"ticketed", event.flag(event.Ticketed, Filled("")), "featured", event.flag(event.Featured, Filled("")),
			"distance", event.distance(), "rest_url", event.RestURL, "", json.RawMessage(event.More),
		},
	})
}

func (w *jsonFeed) End(data []byte) []byte { return append(data, "]}"...) }

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
func AppendKm(data []byte, metres int64) []byte {
	return fmt.Appendf(data, "%d.%03d", metres/1000, metres%1000)
}

// moment writes a moment in UTC with Z.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

var geoJSONFormat = Format{
	Name: "geojson", Media: []string{"application/geo+json"}, Header: "application/geo+json",
	Disposition: inline, Extension: "geojson", Single: true, Marks: true, Schema: "FeatureCollection", Open: GeoJSON,
}

// GeoJSON writes GeoJSON (RFC 7946): a feature for each event or, with Venues, for each
// venue.
func GeoJSON(feed *Feed) Writer {
	if feed.Venues {
		return &venuesWriter{f: feed, at: map[calendar.ID]int{}}
	}
	return &geoWriter{f: feed}
}

type geoWriter struct {
	f *Feed
	n int // features so far
}

const collectionHead = `{"type":"FeatureCollection","features":[`

func (w *geoWriter) Begin(data []byte) []byte {
	if w.f.Single {
		return data
	}
	return append(data, collectionHead...)
}

func (w *geoWriter) Item(data []byte, event *Event) []byte {
	data = AppendComma(data, w.n)
	w.n++
	var geometry, venue, image any
	if lat, lng, ok := event.Point(); ok {
		geometry = pointAt(lat, lng)
	}
	if len(event.Venues) > 0 {
		v := &event.Venues[0]
		venue = Object{"id", v.ID, "venue", Filled(v.Name), "address", Filled(v.Address), "city", Filled(v.City), "country", Filled(v.Country)}
	}
	if event.Image != "" {
		image = event.Image
	}
	return appendFeature(data, event.ID, geometry, Object{
		"id", event.ID, "uid", event.UID, "title", event.Title, "url", event.URL, "rest_url", event.RestURL,
		"start", event.start(), "end", event.end(), "timezone", event.Zone.Name, "all_day", event.AllDay,
		"status", string(event.Status), "event_status", string(event.EventStatus), "cost", event.Cost, "categories", slugs(event.Categories), "tags", slugs(event.Tags),
		"venue", venue, "organizers", Whole(ListOf(event.Organizers, (*Organizer).name)), "image", image,
		"featured", event.flag(event.Featured, nil), "ticketed", event.flag(event.Ticketed, nil), "distance", event.distance(), "", json.RawMessage(event.More),
	})
}

func appendFeature(data []byte, id calendar.ID, geometry any, properties Object) []byte {
	return AppendJSON(data, Object{"type", "Feature", "id", id, "geometry", geometry, "properties", properties})
}

func pointAt(lat, lng float64) Object { return Object{"type", "Point", "coordinates", List{lng, lat}} }

func slugs(terms []Term) List { return Whole(ListOf(terms, func(t *Term) any { return t.Slug })) }

func (w *geoWriter) End(data []byte) []byte {
	if w.f.Single {
		return data
	}
	return fmt.Appendf(data, `],"total":%d}`, w.f.Total)
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

func (w *venuesWriter) Begin(data []byte) []byte { return append(data, collectionHead...) }

func (w *venuesWriter) Item(data []byte, event *Event) []byte {
	venues := slices.DeleteFunc(slices.Clone(event.Venues), func(v Venue) bool { return !v.HasPoint })
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
				"id", event.ID, "title", event.Title, "url", event.URL, "start", event.start(), "end", event.end(), "all_day", event.AllDay,
			})
		}
		w.places[at].count++
	}
	return data
}

func (w *venuesWriter) End(data []byte) []byte {
	for i := range w.places {
		place := &w.places[i]
		data = appendFeature(AppendComma(data, i), place.ID, pointAt(place.Lat, place.Lng), Object{
			"id", place.ID, "venue", place.Name, "url", place.URL, "address", place.Address, "city", place.City, "country", place.Country,
			"count", place.count, "events", json.RawMessage("[" + string(place.events) + "]"),
		})
	}
	return fmt.Appendf(data, `],"total":%d,"unplaced":%d}`, w.f.Total, w.unplaced)
}

// Entry is an element of the array of a calendar widget (LISTINGS 1.13). start and end
// are its texts.
func (e *Event) Entry(data []byte, lang calendar.Lang, start, end string) []byte {
	classes := ListOf(e.Categories, func(t *Term) any { return "category-" + t.Slug })
	if e.Featured {
		classes = append(classes, "featured")
	}
	return AppendJSON(data, Object{
		"id", e.ID.String(), "title", e.plainTitle(lang), "start", start, "end", end, "allDay", e.AllDay, "url", e.URL,
		"resourceIds", Whole(ListOf(e.Venues, func(venue *Venue) any { return venue.ID.String() })), "classNames", Whole(classes),
		"extendedProps",
		Object{
			"timezone", e.Zone.Name, "status", string(e.Status), "location", e.PlaceLine(), "excerpt", htmltext.PlainText(e.Excerpt),
			"image", e.Image, "cost", e.Cost, "categories", slugs(e.Categories), "tags", slugs(e.Tags),
			"featured", e.flag(e.Featured, nil), "ticketed", e.flag(e.Ticketed, nil), "rest_url", e.RestURL,
		},
	})
}
