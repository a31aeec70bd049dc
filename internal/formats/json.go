package formats

import (
	"fmt"
	"strconv"

	"daybook/calendar"
	"daybook/internal/canonjson"
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
	b = append(b, `{"version":"https://jsonfeed.org/version/1.1"`...)
	b = textKey(b, "title", f.Title)
	b = textKey(b, "home_page_url", f.Home)
	b = textKey(b, "feed_url", f.Self)
	b = filledKey(b, "next_url", f.Next)
	b = textKey(b, "language", f.Lang.Tag())
	b = append(b, `,"_daybook":{"about":`...)
	b = appendJSON(b, f.Root+"/doc")
	b = strconv.AppendInt(append(b, `,"total":`...), int64(f.Total), 10)
	return append(append(b, f.Facets...), `},"items":[`...)
}

func (w *jsonFeed) Item(b []byte, e *Event) []byte {
	if w.n++; w.n > 1 {
		b = append(b, ',')
	}
	b = append(append(append(b, `{"id":"urn:uuid:`...), e.UID...), '"')
	b = textKey(b, "url", e.URL)
	b = filledKey(b, "external_url", e.Website)
	b = textKey(b, "title", e.plainTitle(w.f.Lang))
	b = textKey(b, "content_html", e.Description)
	b = filledKey(b, "summary", htmltext.PlainText(e.Excerpt))
	b = filledKey(b, "image", e.Image)
	if e.Date != calendar.NoWall {
		b = append(appendMoment(append(b, `,"date_published":"`...), e.Date.UTC()), '"')
	}
	b = append(appendMoment(append(b, `,"date_modified":"`...), e.Touched), '"')
	if len(e.Organizers) > 0 {
		b = append(b, `,"authors":`...)
		b = appendList(b, e.Organizers, func(b []byte, o *Organizer) []byte {
			b = appendJSON(append(b, `{"name":`...), o.Name)
			return append(textKey(b, "url", o.URL), '}')
		})
	}
	if len(e.Categories)+len(e.Tags) > 0 {
		names := make([]string, 0, len(e.Categories)+len(e.Tags))
		for _, list := range [...][]Term{e.Categories, e.Tags} {
			for i := range list {
				names = append(names, list[i].Name)
			}
		}
		b = appendList(append(b, `,"tags":`...), names, appendJSONOf)
	}
	b = textKey(b, "language", e.Lang.Tag())
	b = append(b, `,"_daybook":{"event_id":`...)
	b = appendID(b, &e.ID)
	b = e.times(b)
	b = textKey(b, "status", string(e.Status))
	b = textKey(b, "event_status", string(e.EventStatus))
	b = filledKey(b, "cost", e.Cost)
	b = filledKey(b, "location", e.PlaceLine())
	if lat, lng, ok := e.Point(); ok {
		b = appendPosition(append(b, `,"geo":`...), lat, lng)
	}
	b = idsKey(b, "categories", e.Categories, (*Term).id)
	b = idsKey(b, "tags", e.Tags, (*Term).id)
	b = idsKey(b, "venues", e.Venues, (*Venue).id)
	b = idsKey(b, "organizers", e.Organizers, (*Organizer).id)
	if !e.Blanked {
		b = strconv.AppendBool(append(b, `,"ticketed":`...), e.Ticketed)
		b = strconv.AppendBool(append(b, `,"featured":`...), e.Featured)
	}
	b = e.distance(b)
	return append(append(textKey(b, "rest_url", e.RestURL), e.More...), "}}"...)
}

func (w *jsonFeed) End(b []byte) []byte { return append(b, "]}"...) }

// times writes when an event is.
func (t *Times) times(b []byte) []byte {
	b = t.instants(b)
	b = textKey(b, "timezone", t.Zone.Name)
	return strconv.AppendBool(append(b, `,"all_day":`...), t.AllDay)
}

func (t *Times) instants(b []byte) []byte {
	b = append(AppendInstant(append(b, `,"start":"`...), t.Start, t.UTCStart), '"')
	return append(AppendInstant(append(b, `,"end":"`...), t.End, t.UTCEnd), '"')
}

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
	n int
}

const collectionHead = `{"type":"FeatureCollection","features":[`

func (w *geoWriter) Begin(b []byte) []byte {
	if w.f.Single {
		return b
	}
	return append(b, collectionHead...)
}

func (w *geoWriter) Item(b []byte, e *Event) []byte {
	if w.n++; w.n > 1 {
		b = append(b, ',')
	}
	b = appendID(append(b, `{"type":"Feature","id":`...), &e.ID)
	b = append(b, `,"geometry":`...)
	if lat, lng, ok := e.Point(); ok {
		b = appendPoint(b, lat, lng)
	} else {
		b = append(b, "null"...)
	}
	b = appendID(append(b, `,"properties":{"id":`...), &e.ID)
	b = textKey(b, "uid", e.UID)
	b = textKey(b, "title", e.Title)
	b = textKey(b, "url", e.URL)
	b = textKey(b, "rest_url", e.RestURL)
	b = e.times(b)
	b = textKey(b, "status", string(e.Status))
	b = textKey(b, "event_status", string(e.EventStatus))
	b = textKey(b, "cost", e.Cost)
	b = appendList(append(b, `,"categories":`...), e.Categories, appendSlug)
	b = appendList(append(b, `,"tags":`...), e.Tags, appendSlug)
	b = append(b, `,"venue":`...)
	if len(e.Venues) == 0 {
		b = append(b, "null"...)
	} else {
		v := &e.Venues[0]
		b = appendID(append(b, `{"id":`...), &v.ID)
		b = filledKey(b, "venue", v.Name)
		b = filledKey(b, "address", v.Address)
		b = filledKey(b, "city", v.City)
		b = append(filledKey(b, "country", v.Country), '}')
	}
	b = appendList(append(b, `,"organizers":`...), e.Organizers, func(b []byte, o *Organizer) []byte { return appendJSON(b, o.Name) })
	b = append(b, `,"image":`...)
	if e.Image == "" {
		b = append(b, "null"...)
	} else {
		b = appendJSON(b, e.Image)
	}
	b = flagKey(b, "featured", e.Blanked, e.Featured)
	b = flagKey(b, "ticketed", e.Blanked, e.Ticketed)
	return append(append(e.distance(b), e.More...), "}}"...)
}

func (e *Event) distance(b []byte) []byte {
	if e.Distance == nil {
		return b
	}
	return AppendKm(append(b, `,"distance":`...), *e.Distance)
}

// AppendKm writes metres as kilometres with three decimals.
func AppendKm(b []byte, metres int64) []byte {
	return fmt.Appendf(b, "%d.%03d", metres/1000, metres%1000)
}

func (w *geoWriter) End(b []byte) []byte {
	if w.f.Single {
		return b
	}
	return append(strconv.AppendInt(append(b, `],"total":`...), int64(w.f.Total), 10), '}')
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
	from := len(w.places)
	placed := false
	for i := range e.Venues {
		v := &e.Venues[i]
		if !v.HasPoint {
			continue
		}
		placed = true
		at, known := w.at[v.ID]
		if !known {
			at = len(w.places)
			for at > from && w.places[at-1].ID > v.ID { // those of one event are by id
				at--
			}
			w.places = append(w.places, place{})
			copy(w.places[at+1:], w.places[at:])
			w.places[at] = place{Venue: *v}
			for i := at; i < len(w.places); i++ {
				w.at[w.places[i].ID] = i
			}
		}
		p := &w.places[at]
		if p.count++; p.count > venueEvents {
			continue
		}
		if p.count > 1 {
			p.events = append(p.events, ',')
		}
		p.events = appendID(append(p.events, `{"id":`...), &e.ID)
		p.events = textKey(p.events, "title", e.Title)
		p.events = textKey(p.events, "url", e.URL)
		p.events = e.instants(p.events)
		p.events = append(strconv.AppendBool(append(p.events, `,"all_day":`...), e.AllDay), '}')
	}
	if !placed {
		w.unplaced++
	}
	return b
}

func (w *venuesWriter) End(b []byte) []byte {
	for i := range w.places {
		p := &w.places[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = appendID(append(b, `{"type":"Feature","id":`...), &p.ID)
		b = appendPoint(append(b, `,"geometry":`...), p.Lat, p.Lng)
		b = appendID(append(b, `,"properties":{"id":`...), &p.ID)
		b = textKey(b, "venue", p.Name)
		b = textKey(b, "url", p.URL)
		b = textKey(b, "address", p.Address)
		b = textKey(b, "city", p.City)
		b = textKey(b, "country", p.Country)
		b = strconv.AppendInt(append(b, `,"count":`...), int64(p.count), 10)
		b = append(append(append(b, `,"events":[`...), p.events...), "]}}"...)
	}
	b = strconv.AppendInt(append(b, `],"total":`...), int64(w.f.Total), 10)
	b = strconv.AppendInt(append(b, `,"unplaced":`...), int64(w.unplaced), 10)
	return append(b, '}')
}

// Entry is an element of the array of a calendar widget (LISTINGS 1.13). start and end
// are its texts.
func (e *Event) Entry(b []byte, l calendar.Lang, start, end string) []byte {
	b = append(appendID(append(b, `{"id":"`...), &e.ID), '"')
	b = textKey(b, "title", e.plainTitle(l))
	b = textKey(b, "start", start)
	b = textKey(b, "end", end)
	b = strconv.AppendBool(append(b, `,"allDay":`...), e.AllDay)
	b = textKey(b, "url", e.URL)
	b = append(b, `,"resourceIds":`...)
	b = appendList(b, e.Venues, func(b []byte, v *Venue) []byte { return append(appendID(append(b, '"'), &v.ID), '"') })
	classes := make([]string, 0, len(e.Categories)+1)
	for i := range e.Categories {
		classes = append(classes, "category-"+e.Categories[i].Slug)
	}
	if e.Featured {
		classes = append(classes, "featured")
	}
	b = appendList(append(b, `,"classNames":`...), classes, appendJSONOf)
	b = appendJSON(append(b, `,"extendedProps":{"timezone":`...), e.Zone.Name)
	b = textKey(b, "status", string(e.Status))
	b = textKey(b, "location", e.PlaceLine())
	b = textKey(b, "excerpt", htmltext.PlainText(e.Excerpt))
	b = textKey(b, "image", e.Image)
	b = textKey(b, "cost", e.Cost)
	b = appendList(append(b, `,"categories":`...), e.Categories, appendSlug)
	b = appendList(append(b, `,"tags":`...), e.Tags, appendSlug)
	b = flagKey(b, "featured", e.Blanked, e.Featured)
	b = flagKey(b, "ticketed", e.Blanked, e.Ticketed)
	return append(textKey(b, "rest_url", e.RestURL), "}}"...)
}

// The writers of JSON.

func textKey(b []byte, key, value string) []byte {
	b = append(append(append(b, `,"`...), key...), `":`...)
	return appendJSON(b, value)
}

func filledKey(b []byte, key, value string) []byte {
	if value == "" {
		return b
	}
	return textKey(b, key, value)
}

// flagKey writes a boolean, null in a blanked event.
func flagKey(b []byte, key string, blanked, v bool) []byte {
	b = append(append(append(b, `,"`...), key...), `":`...)
	if blanked {
		return append(b, "null"...)
	}
	return strconv.AppendBool(b, v)
}

func idsKey[T any](b []byte, key string, list []T, id func(*T) calendar.ID) []byte {
	if len(list) == 0 {
		return b
	}
	b = append(append(append(b, `,"`...), key...), `":`...)
	return appendList(b, list, func(b []byte, v *T) []byte {
		n := id(v)
		return appendID(b, &n)
	})
}

func appendList[T any](b []byte, list []T, each func([]byte, *T) []byte) []byte {
	b = append(b, '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = each(b, &list[i])
	}
	return append(b, ']')
}

func appendSlug(b []byte, t *Term) []byte { return appendJSON(b, t.Slug) }

func appendID(b []byte, id *calendar.ID) []byte { return strconv.AppendInt(b, int64(*id), 10) }

func appendPoint(b []byte, lat, lng float64) []byte {
	return append(appendPosition(append(b, `{"type":"Point","coordinates":`...), lat, lng), '}')
}

func appendPosition(b []byte, lat, lng float64) []byte {
	b = append(appendFloat(append(b, '['), lng), ',')
	return append(appendFloat(b, lat), ']')
}

func appendJSONOf(b []byte, s *string) []byte { return appendJSON(b, *s) }

// jsonText is the form of JSON strings in formats.
var jsonText = canonjson.NewEscapes(map[byte]string{'\t': `\u0009`, '\r': `\u000d`})

func appendJSON(b []byte, s string) []byte {
	return append(canonjson.AppendText(append(b, '"'), s, jsonText), '"')
}
