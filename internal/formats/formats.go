// Package formats writes events as iCalendar, RSS, Atom, JSON Feed, GeoJSON and CSV. It
// knows events as they are shown, and nothing of where they come from: what is blank in an
// event is left out, so no one sees here what the event does not show.
package formats

import (
	"cmp"
	"iter"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"daybook/calendar"
	"daybook/internal/htmltext"
	"daybook/internal/texts"
)

// Format is a format of lists.
type Format struct {
	Name   string   // as the ending of a path and the parameter name it; part of keys, and so of tags
	Media  []string // the members of Accept that select it, in lower case; the first is its own
	Header []string // value of Content-Type
	// Disposition begins the value of Content-Disposition, and Extension ends that of the
	// file name. JSON has none: it writes lists and single records of all kinds, the others
	// lists of events.
	Disposition, Extension string
	Single                 bool   // it writes single events, too
	Surveys                bool   // it needs all events before it writes the first one
	Facets                 bool   // it shows facets, as JSON does
	Records                bool   // Item writes what stands before a whole record, which follows
	Schema                 string // its name in the documentation; "": it is no JSON
	Open                   func(*Feed) Writer
}

// The values of Disposition.
const (
	inline     = "inline"
	attachment = "attachment"
)

// All are the formats; the first is the default.
var All = []*Format{&JSON, &icsFormat, &rssFormat, &atomFormat, &jsonFeedFormat, &geoJSONFormat, &CSVFormat, &NDJSON}

// Exports reports whether the format is an extension for events.
func (format *Format) Exports() bool { return format.Disposition != "" }

// Fits reports whether lists or single records of a kind may be answered in the format.
func (format *Format) Fits(kind calendar.Kind, single bool) bool {
	return !format.Exports() || kind == calendar.KindEvent && (format.Single || !single)
}

// Choose returns the format of a name that lists or single records of a kind may be answered in, else
// of those that Accept names the one that it weighs most, of equals the first (LISTINGS 1.3).
func Choose(name string, accepted iter.Seq2[string, int], kind calendar.Kind, single bool) *Format {
	best, most := &JSON, 0
	for _, format := range All {
		if format.Name == name && format.Fits(kind, single) {
			return format
		}
	}
	for media, weight := range accepted {
		if weight <= most {
			continue
		}
		for _, format := range All {
			if format.Fits(kind, single) && slices.Contains(format.Media, media) {
				best, most = format, weight
			}
		}
	}
	return best
}

// Names returns the names of the formats for which of returns true.
func Names(of func(*Format) bool) (names []string) {
	for _, format := range All {
		if of(format) {
			names = append(names, format.Name)
		}
	}
	return names
}

// Event is an event as it is shown to somebody. Texts are plain, but for those of HTML.
type Event struct {
	Times

	ID       calendar.ID
	UID      string // UID of the id
	Blanked  bool
	Status   calendar.Status
	Version  int64
	Touched  time.Time     // last touch, UTC
	Date     calendar.Wall // of publication, UTC; NoWall: never
	Modified calendar.Wall // UTC

	Title, Description, Excerpt string // the last two as HTML with absolute links
	EventStatus                 calendar.EventStatus
	URL, RestURL, Website       string // Website: its own one, else ""
	Cost                        string
	CostValues                  []string
	Ticketed, Featured          bool
	Categories, Tags            []Linked
	Venues, Organizers          []Linked
	Image                       string // URL, "" without one
	Parent                      string // UID of the parent, "" without one
	Lang                        calendar.Lang
	Langs                       []calendar.Lang
	Distance                    *int64 // metres; nil: nobody asks for it
	// More are further members of JSON objects, each after a comma.
	More []byte
}

// Times are when an event is.
type Times struct {
	AllDay           bool
	Zone             calendar.Zone
	Start, End       calendar.Wall // in the zone
	UTCStart, UTCEnd calendar.Wall
}

// Linked is a visible record that an event links to.
type Linked struct {
	*calendar.Record

	Name string
	URL  string // of venues and organizers
}

// Tombstone is an event that is no more.
type Tombstone struct {
	Times

	ID      calendar.ID
	UID     string
	Version int64
	Touched time.Time
}

// Feed is what a format says besides its events.
type Feed struct {
	Title    string // feed title
	Calendar string // calendar name
	Root     string // {root}
	Home     string // home page
	Self     string // the feed as it was asked for
	Next     string // the page after it, "" for none
	Previous string
	ID       string // urn:uuid: of the feed
	Lang     calendar.Lang
	Modified time.Time // zero: there is no such moment
	Refresh  time.Duration
	Site     *time.Location
	Total    int
	Store    uuid.UUID // of the store, of which those of records are made

	// Of the envelope of interface 4.1.
	Collection string // of its records
	Cursor     string // of the next step, "" for none
	TotalPages int
	Typos      Object // nil: none were asked for

	// Of iCalendar.
	Zones      Zones
	Tombstones []Tombstone
	Single     bool // one event; GeoJSON too

	Venues bool // GeoJSON of venues

	Zone *time.Location // of calendar widgets; nil: that of each event

	Facets []byte // of JSON and JSON Feed: a member after a comma, or none

	// Of CSV.
	Columns []string // picked ones; nil: all
	BOM     bool
	Raw     bool
}

// Writer writes a feed: Begin once, Item for each event in order, End once. Each appends
// to b and gives it back; none looks back at what b held.
type Writer interface {
	Begin(data []byte) []byte
	Item(data []byte, event *Event) []byte
	End(data []byte) []byte
}

// plainTitle returns the title as calendar programs and feed readers show it: it says that
// the event does not take place.
func (event *Event) plainTitle(language calendar.Lang) string {
	if event.EventStatus == calendar.EventScheduled {
		return event.Title
	}
	return texts.Messages.In("feed.title."+string(event.EventStatus), language, event.Title)
}

// epoch stands in feeds for a moment that there is not.
var epoch = time.Unix(0, 0).UTC()

// modified returns the moment of the last change, never none.
func (feed *Feed) modified() time.Time {
	if feed.Modified.IsZero() {
		return epoch
	}
	return feed.Modified.UTC()
}

// UID returns the UUID (version 5) of what has a name in a store.
func UID(store uuid.UUID, name string) string {
	return uuid.NewSHA1(store, []byte(name)).String()
}

// Extension returns the extension of the URL of a file: lower case, without its dot, letters
// and digits only; else "" (interface 3.5).
func Extension(address string) string {
	if i := strings.IndexAny(address, "?#"); i >= 0 {
		address = address[:i]
	}
	_, address, _ = strings.Cut(address, "://")
	_, file, _ := strings.Cut(address, "/")
	if extension := path.Ext(file); plainExtension.MatchString(extension) {
		return strings.ToLower(extension[1:])
	}
	return ""
}

var plainExtension = regexp.MustCompile(`^\.[0-9A-Za-z]+$`)

// PlaceLine returns the place of an event in one line: that of the first visible venue.
func (event *Event) PlaceLine() string {
	if len(event.Venues) == 0 {
		return ""
	}
	name, fields := event.Venues[0].Name, event.Venues[0].Fields
	return joined(", ", name, fields.String("address"), fields.String("city"), StateProvince(fields), fields.String("zip"), fields.String("country"))
}

// joined joins the parts that are not empty; one that equals the one before it counts once.
func joined(by string, parts ...string) string {
	var builder strings.Builder
	last := ""
	for _, text := range parts {
		if text == "" || text == last {
			continue
		}
		if last != "" {
			builder.WriteString(by)
		}
		builder.WriteString(text)
		last = text
	}
	return builder.String()
}

// Point returns the coordinates of the first visible venue that has any.
func (event *Event) Point() (latitude, longitude float64, ok bool) {
	for i := 0; !ok && i < len(event.Venues); i++ {
		latitude, longitude, ok = Point(event.Venues[i].Fields)
	}
	return latitude, longitude, ok
}

// StateProvince returns stateprovince as answered (3.2.1): the value sent, else the
// state of a place in the United States or in no country, else the province.
func StateProvince(fields calendar.Fields) string {
	state := ""
	switch strings.ToLower(fields.String("country")) {
	case "", "us", "united states":
		state = fields.String("state")
	}
	return cmp.Or(fields.String("stateprovince"), state, fields.String("province"))
}

// Point returns the coordinates of a venue when both are stored.
func Point(fields calendar.Fields) (latitude, longitude float64, ok bool) {
	latitude, hasLat := fields.Number("geo_lat")
	longitude, hasLng := fields.Number("geo_lng")
	return latitude, longitude, hasLat && hasLng
}

// Instant returns a wall clock with its offset, which follows from the same moment in UTC:
// YYYY-MM-DDTHH:MM:SS±HH:MM.
func Instant(wall, utc calendar.Wall) string {
	return time.Unix(int64(utc), 0).In(time.FixedZone("", int(wall-utc))).Format("2006-01-02T15:04:05-07:00")
}

// decimal returns a number without an exponent.
func decimal(number float64) string { return string(appendFloat(nil, number)) }

func appendFloat(data []byte, number float64) []byte {
	return strconv.AppendFloat(data, number, 'f', -1, 64)
}

// plainDescription returns the description as text with the targets of its links.
func (event *Event) plainDescription() string {
	return htmltext.PlainTextWithLinks(event.Description, event.URL)
}

func (event *Event) plainExcerpt() string {
	return htmltext.PlainTextWithLinks(event.Excerpt, event.URL)
}
