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

// JSON and NDJSON write whole records.
var (
	JSON = Format{
		Name: "json", Media: []string{"application/json", "application/*", "*/*"}, Header: []string{"application/json; charset=utf-8"},
		Records: true, Open: func(feed *Feed) Writer { return &envelope{feed: feed} },
	}
	NDJSON = Format{
		Name: "ndjson", Media: []string{"application/x-ndjson"}, Header: []string{"application/x-ndjson; charset=utf-8"},
		Disposition: attachment, Extension: "ndjson", Records: true, Open: func(*Feed) Writer { return &recordLines{} },
	}
)

// envelope is that of interface 4.1.
type envelope struct {
	feed  *Feed
	count int // records so far
}

func (envelope *envelope) Begin(data []byte) []byte {
	return append(append(append(data, `{"`...), envelope.feed.Collection...), `":[`...)
}

func (envelope *envelope) Item(data []byte, _ *Event) []byte {
	envelope.count++
	return AppendComma(data, envelope.count-1)
}

func (envelope *envelope) End(data []byte) []byte {
	feed := envelope.feed
	members := append(Object{
		"rest_url", feed.Self, "next_rest_url", OptionalText(feed.Next), "next_cursor", OptionalText(feed.Cursor),
		"previous_rest_url", OptionalText(feed.Previous), "total", feed.Total, "total_pages", feed.TotalPages,
	}, feed.Typos...)
	return append(append(AppendMembers(append(data, ']'), members), feed.Facets...), '}')
}

// recordLines are records, each in one that ends.
type recordLines struct{ count int }

func (recordLines *recordLines) Begin(data []byte) []byte { return data }

func (recordLines *recordLines) Item(data []byte, _ *Event) []byte {
	if recordLines.count++; recordLines.count == 1 {
		return data
	}
	return append(data, '\n')
}

func (recordLines *recordLines) End(data []byte) []byte { return recordLines.Item(data, nil) }

var jsonFeedFormat = Format{
	Name: "jsonfeed", Media: []string{"application/feed+json"}, Header: []string{"application/feed+json; charset=utf-8"},
	Disposition: inline, Extension: "json", Facets: true, Schema: "JSONFeed", Open: JSONFeed,
}

// JSONFeed writes JSON Feed 1.1.
func JSONFeed(feed *Feed) Writer { return &jsonFeed{feed: feed} }

type jsonFeed struct {
	feed  *Feed
	count int // items so far
}

func (jsonFeed *jsonFeed) Begin(data []byte) []byte {
	feed := jsonFeed.feed
	data = AppendJSON(data, Object{
		"version", "https://jsonfeed.org/version/1.1", "title", feed.Title, "home_page_url", feed.Home, "feed_url", feed.Self,
		"next_url", OptionalText(feed.Next), "language", feed.Lang.Tag(),
		"_daybook",
		Object{"about", feed.Root + "/doc", "total", feed.Total, "", json.RawMessage(feed.Facets)},
	})
	return append(data[:len(data)-1], `,"items":[`...)
}

func (jsonFeed *jsonFeed) Item(data []byte, event *Event) []byte {
	data = AppendComma(data, jsonFeed.count)
	jsonFeed.count++
	published := ""
	if event.Date != calendar.NoWall {
		published = moment(event.Date.UTC())
	}
	var point List
	if latitude, longitude, ok := event.Point(); ok {
		point = List{longitude, latitude}
	}
	return AppendJSON(data, Object{
		"id", "urn:uuid:" + event.UID, "url", event.URL, "external_url", OptionalText(event.Website),
		"title", event.plainTitle(jsonFeed.feed.Lang), "content_html", event.Description, "summary", OptionalText(htmltext.PlainText(event.Excerpt)),
		"image", OptionalText(event.Image), "date_published", OptionalText(published), "date_modified", moment(event.Touched),
		"authors", ListOf(event.Organizers, func(organizer *Linked) any { return Object{"name", organizer.Name, "url", organizer.URL} }),
		"tags", ListOf(slices.Concat(event.Categories, event.Tags), func(term *Linked) any { return term.Name }),
		"language", event.Lang.Tag(),
		"_daybook",
		Object{
			"event_id", event.ID, "start", event.start(), "end", event.end(), "timezone", event.Zone.Name, "all_day", event.AllDay,
			"status", string(event.Status), "event_status", string(event.EventStatus), "cost", OptionalText(event.Cost), "location", OptionalText(event.PlaceLine()),
			"geo", point,
			"categories", ListOf(event.Categories, (*Linked).id), "tags", ListOf(event.Tags, (*Linked).id),
			"venues", ListOf(event.Venues, (*Linked).id), "organizers", ListOf(event.Organizers, (*Linked).id),
			"ticketed", event.flag(event.Ticketed, OptionalText("")), "featured", event.flag(event.Featured, OptionalText("")),
			"distance", event.distance(), "rest_url", event.RestURL, "", json.RawMessage(event.More),
		},
	})
}

func (jsonFeed *jsonFeed) End(data []byte) []byte { return append(data, "]}"...) }

func (times *Times) start() string { return Instant(times.Start, times.UTCStart) }
func (times *Times) end() string   { return Instant(times.End, times.UTCEnd) }

// flag returns a boolean of an event, or what a blanked one has instead.
func (event *Event) flag(value bool, blank any) any {
	if event.Blanked {
		return blank
	}
	return value
}

func (event *Event) distance() json.RawMessage {
	if event.Distance == nil {
		return nil
	}
	return AppendKm(nil, *event.Distance)
}

// AppendKm writes metres as kilometres with three decimals.
func AppendKm(data []byte, metres int64) []byte {
	return fmt.Appendf(data, "%d.%03d", metres/1000, metres%1000)
}

// moment writes a moment in UTC with Z.
func moment(instant time.Time) string { return instant.UTC().Format("2006-01-02T15:04:05Z") }

var geoJSONFormat = Format{
	Name: "geojson", Media: []string{"application/geo+json"}, Header: []string{"application/geo+json"},
	Disposition: inline, Extension: "geojson", Single: true, Schema: "FeatureCollection", Open: GeoJSON,
}

// GeoJSON writes GeoJSON (RFC 7946): a feature for each event or, with Venues, for each
// venue.
func GeoJSON(feed *Feed) Writer {
	if feed.Venues {
		return &venuesWriter{feed: feed, at: map[calendar.ID]int{}}
	}
	return &geoWriter{feed: feed}
}

type geoWriter struct {
	feed  *Feed
	count int // features so far
}

const collectionHead = `{"type":"FeatureCollection","features":[`

func (geoWriter *geoWriter) Begin(data []byte) []byte {
	if geoWriter.feed.Single {
		return data
	}
	return append(data, collectionHead...)
}

func (geoWriter *geoWriter) Item(data []byte, event *Event) []byte {
	data = AppendComma(data, geoWriter.count)
	geoWriter.count++
	var geometry, venue, image any
	if latitude, longitude, ok := event.Point(); ok {
		geometry = pointAt(latitude, longitude)
	}
	if len(event.Venues) > 0 {
		v := &event.Venues[0]
		venue = Object{"id", v.ID, "venue", OptionalText(v.Name), "address", OptionalText(v.Fields.String("address")), "city", OptionalText(v.Fields.String("city")), "country", OptionalText(v.Fields.String("country"))}
	}
	if event.Image != "" {
		image = event.Image
	}
	return appendFeature(data, event.ID, geometry, Object{
		"id", event.ID, "uid", event.UID, "title", event.Title, "url", event.URL, "rest_url", event.RestURL,
		"start", event.start(), "end", event.end(), "timezone", event.Zone.Name, "all_day", event.AllDay,
		"status", string(event.Status), "event_status", string(event.EventStatus), "cost", event.Cost, "categories", slugs(event.Categories), "tags", slugs(event.Tags),
		"venue", venue, "organizers", Whole(ListOf(event.Organizers, (*Linked).name)), "image", image,
		"featured", event.flag(event.Featured, nil), "ticketed", event.flag(event.Ticketed, nil), "distance", event.distance(), "", json.RawMessage(event.More),
	})
}

func appendFeature(data []byte, id calendar.ID, geometry any, properties Object) []byte {
	return AppendJSON(data, Object{"type", "Feature", "id", id, "geometry", geometry, "properties", properties})
}

func pointAt(latitude, longitude float64) Object {
	return Object{"type", "Point", "coordinates", List{longitude, latitude}}
}

func slugs(terms []Linked) List {
	return Whole(ListOf(terms, func(term *Linked) any { return term.Slug() }))
}

func (geoWriter *geoWriter) End(data []byte) []byte {
	if geoWriter.feed.Single {
		return data
	}
	return fmt.Appendf(data, `],"total":%d}`, geoWriter.feed.Total)
}

// venueEvents is how many events of a venue are given.
const venueEvents = 100

// venuesWriter gathers the venues of events, and writes them at the end.
type venuesWriter struct {
	feed     *Feed
	places   []place
	at       map[calendar.ID]int // of a venue in places
	unplaced int
}

type place struct {
	Linked

	count  int
	events []byte // the first ones, as elements of an array
}

func (venuesWriter *venuesWriter) Begin(data []byte) []byte { return append(data, collectionHead...) }

func (venuesWriter *venuesWriter) Item(data []byte, event *Event) []byte {
	venues := slices.DeleteFunc(slices.Clone(event.Venues), func(venue Linked) bool {
		_, _, ok := Point(venue.Fields)
		return !ok
	})
	slices.SortFunc(venues, func(x, y Linked) int { return cmp.Compare(x.ID, y.ID) })
	if len(venues) == 0 {
		venuesWriter.unplaced++
	}
	for _, venue := range venues {
		index, known := venuesWriter.at[venue.ID]
		if !known {
			index = len(venuesWriter.places)
			venuesWriter.at[venue.ID], venuesWriter.places = index, append(venuesWriter.places, place{Linked: venue})
		}
		if p := &venuesWriter.places[index]; p.count < venueEvents {
			p.events = AppendJSON(AppendComma(p.events, p.count), Object{
				"id", event.ID, "title", event.Title, "url", event.URL, "start", event.start(), "end", event.end(), "all_day", event.AllDay,
			})
		}
		venuesWriter.places[index].count++
	}
	return data
}

func (venuesWriter *venuesWriter) End(data []byte) []byte {
	for i := range venuesWriter.places {
		place := &venuesWriter.places[i]
		latitude, longitude, _ := Point(place.Fields)
		data = appendFeature(AppendComma(data, i), place.ID, pointAt(latitude, longitude), Object{
			"id", place.ID, "venue", place.Name, "url", place.URL,
			"address", place.Fields.String("address"), "city", place.Fields.String("city"), "country", place.Fields.String("country"),
			"count", place.count, "events", json.RawMessage("[" + string(place.events) + "]"),
		})
	}
	return fmt.Appendf(data, `],"total":%d,"unplaced":%d}`, venuesWriter.feed.Total, venuesWriter.unplaced)
}

// Calendar is the array of calendar widgets (LISTINGS 1.13), which is no format of lists.
var Calendar = Format{Name: "calendar", Header: JSON.Header, Open: func(feed *Feed) Writer { return &entries{feed: feed} }}

type entries struct {
	feed  *Feed
	count int // events so far
}

func (entries *entries) Begin(data []byte) []byte { return append(data, '[') }
func (entries *entries) End(data []byte) []byte   { return append(data, ']') }

func (entries *entries) Item(data []byte, event *Event) []byte {
	data = AppendComma(data, entries.count)
	entries.count++
	classes := ListOf(event.Categories, func(term *Linked) any { return "category-" + term.Slug() })
	if event.Featured {
		classes = append(classes, "featured")
	}
	start, end := entries.time(event.Start, event.UTCStart), entries.time(event.End, event.UTCEnd)
	if event.AllDay {
		start, end = event.Start.UTC().Format(time.DateOnly), event.End.UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	}
	return AppendJSON(data, Object{
		"id", event.ID.String(), "title", event.plainTitle(entries.feed.Lang), "start", start, "end", end, "allDay", event.AllDay, "url", event.URL,
		"resourceIds", Whole(ListOf(event.Venues, func(venue *Linked) any { return venue.ID.String() })), "classNames", Whole(classes),
		"extendedProps",
		Object{
			"timezone", event.Zone.Name, "status", string(event.Status), "location", event.PlaceLine(), "excerpt", htmltext.PlainText(event.Excerpt),
			"image", event.Image, "cost", event.Cost, "categories", slugs(event.Categories), "tags", slugs(event.Tags),
			"featured", event.flag(event.Featured, nil), "ticketed", event.flag(event.Ticketed, nil), "rest_url", event.RestURL,
		},
	})
}

// time gives a time in the zone of the answer.
func (entries *entries) time(wall, utc calendar.Wall) string {
	switch zone := entries.feed.Zone; zone {
	case nil:
		return Instant(wall, utc)
	case time.UTC:
		return moment(utc.UTC())
	default:
		return Instant(calendar.WallOf(time.Unix(int64(utc), 0).In(zone)), utc)
	}
}
