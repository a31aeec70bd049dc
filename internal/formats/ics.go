package formats

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"daybook/calendar"
	"daybook/internal/texts"
)

// maxLine is the longest line of iCalendar in octets, without its break (RFC 5545, 3.1).
const maxLine = 75

const (
	stampLayout = "20060102T150405Z"
	clockLayout = "20060102T150405"
	dayLayout   = "20060102"
	daySeconds  = 24 * 60 * 60
)

var icsFormat = Format{
	Name: "ics", Media: []string{"text/calendar"}, Header: []string{"text/calendar; charset=utf-8"},
	Disposition: inline, Extension: "ics", Single: true, Surveys: true, Open: ICS,
}

// ICS writes iCalendar (RFC 5545, 7986, 9253).
func ICS(feed *Feed) Writer { return &icsWriter{feed: feed} }

type icsWriter struct {
	feed *Feed
	line []byte // the one that is folded
}

func (icsWriter *icsWriter) Begin(data []byte) []byte {
	feed := icsWriter.feed
	data = append(data, "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//daybook//events//EN\r\nCALSCALE:GREGORIAN\r\n"...)
	if !feed.Single {
		title, refresh := escaped(feed.Title), Duration(feed.Refresh)
		data = icsWriter.lines(data, "NAME:", title, "X-WR-CALNAME:", title, "X-WR-TIMEZONE:", escaped(feed.Site.String()), "URL:", feed.Home,
			"LAST-MODIFIED:", stamp(feed.modified()), "REFRESH-INTERVAL;VALUE=DURATION:", refresh, "X-PUBLISHED-TTL:", refresh,
			"SOURCE;VALUE=URI:", feed.Self)
	}
	return feed.Zones.append(data)
}

// Item writes a VEVENT.
func (icsWriter *icsWriter) Item(data []byte, event *Event) []byte {
	data = icsWriter.head(data, event.UID, event.Touched, event.Version)
	if event.Date != calendar.NoWall {
		data = icsWriter.lines(data, "CREATED:", stamp(event.Date.UTC()))
	}
	data = icsWriter.times(data, &event.Times)
	about := event.plainDescription()
	if about == "" {
		about = event.plainExcerpt()
	}
	place := event.PlaceLine()
	data = icsWriter.lines(data, "SUMMARY:", escaped(event.plainTitle(icsWriter.feed.Lang)), "DESCRIPTION:", escaped(about))
	if event.Description != "" {
		data = icsWriter.lines(data, "X-ALT-DESC;FMTTYPE=text/html:<html><body>", escaped(event.Description)+"</body></html>")
	}
	data = icsWriter.lines(data, "LOCATION:", escaped(place))
	if latitude, longitude, ok := event.Point(); ok {
		data = icsWriter.lines(data, "GEO:", degrees(latitude)+";"+degrees(longitude))
	}
	if len(event.Venues) > 0 {
		if latitude, longitude, ok := Point(event.Venues[0].Fields); ok {
			data = icsWriter.lines(data, "X-APPLE-STRUCTURED-LOCATION;VALUE=URI;X-ADDRESS=", quoted(place)+";X-TITLE="+quoted(event.Venues[0].Name)+":geo:"+degrees(latitude)+","+degrees(longitude))
		}
	}
	data = icsWriter.organizers(data, event.Organizers)
	terms := joinAll(",", slices.Concat(event.Categories, event.Tags), func(term *Linked) any { return escaped(term.Name) })
	data = icsWriter.lines(data, "CATEGORIES:", terms, "URL:", event.URL)
	if event.Image != "" {
		media := ":"
		if text := imageTypes[Extension(event.Image)]; text != "" {
			media = ";FMTTYPE=image/" + text + ":"
		}
		data = icsWriter.lines(data, "IMAGE;VALUE=URI;DISPLAY=BADGE"+media, event.Image, "ATTACH"+media, event.Image)
	}
	class, transparency := "PUBLIC", "OPAQUE"
	if event.Status == calendar.StatusPrivate {
		class = "PRIVATE"
	}
	if event.AllDay {
		transparency = "TRANSPARENT"
	}
	return icsWriter.lines(data, "LINK;VALUE=URI;LINKREL=related:", event.Website, "LINK;VALUE=URI;LINKREL=alternate;FMTTYPE=application/json:", event.RestURL,
		"RELATED-TO;RELTYPE=PARENT:", event.Parent, "STATUS:", statusOf(event), "CLASS:", class, "TRANSP:", transparency, "X-COST:", escaped(event.Cost),
		"END:", "VEVENT")
}

func (icsWriter *icsWriter) End(data []byte) []byte {
	cancelled := escaped(texts.Messages.In("feed.cancelled", icsWriter.feed.Lang))
	for i := range icsWriter.feed.Tombstones {
		tombstone := &icsWriter.feed.Tombstones[i]
		data = icsWriter.times(icsWriter.head(data, tombstone.UID, tombstone.Touched, tombstone.Version), &tombstone.Times)
		data = icsWriter.lines(data, "SUMMARY:", cancelled, "STATUS:", "CANCELLED", "TRANSP:", "TRANSPARENT", "X-DAYBOOK-WITHDRAWN:", "TRUE", "END:", "VEVENT")
	}
	return append(data, "END:VCALENDAR\r\n"...)
}

// head begins a VEVENT.
func (icsWriter *icsWriter) head(data []byte, uid string, touched time.Time, version int64) []byte {
	return icsWriter.lines(data, "BEGIN:", "VEVENT", "UID:", uid, "DTSTAMP:", stamp(touched), "LAST-MODIFIED:", stamp(touched),
		"SEQUENCE:", strconv.FormatInt(version, 10))
}

func statusOf(event *Event) string {
	unpublished := event.Status == calendar.StatusFuture || event.Status == calendar.StatusDraft || event.Status == calendar.StatusPending
	switch {
	case unpublished, event.Status != calendar.StatusTrash && event.EventStatus == calendar.EventPostponed:
		return "TENTATIVE"
	case event.Status == calendar.StatusTrash, event.EventStatus == calendar.EventCancelled:
		return "CANCELLED"
	default:
		return "CONFIRMED"
	}
}

// times writes DTSTART and DTEND.
func (icsWriter *icsWriter) times(data []byte, times *Times) []byte {
	parameter, start, end := ":", stamp(times.UTCStart.UTC()), stamp(times.UTCEnd.UTC())
	switch {
	case times.AllDay:
		parameter, start, end = ";VALUE=DATE:", times.Start.UTC().Format(dayLayout), (times.End + daySeconds).UTC().Format(dayLayout)
	case times.zoned():
		parameter, start, end = ";TZID="+times.Zone.Name+":", clock(times.Start), clock(times.End)
	}
	data = icsWriter.lines(data, "DTSTART"+parameter, start)
	if times.AllDay || times.UTCEnd != times.UTCStart {
		data = icsWriter.lines(data, "DTEND"+parameter, end)
	}
	return data
}

func clock(wall calendar.Wall) string { return wall.UTC().Format(clockLayout) }
func stamp(instant time.Time) string  { return instant.UTC().Format(stampLayout) }

// organizers writes the first one that has an e-mail as ORGANIZER, and the others.
func (icsWriter *icsWriter) organizers(data []byte, list []Linked) []byte {
	host := slices.IndexFunc(list, func(organizer Linked) bool { return organizer.Fields.String("email") != "" })
	if host >= 0 {
		data = icsWriter.lines(data, "ORGANIZER;CN=", quoted(list[host].Name)+":mailto:"+list[host].Fields.String("email"))
	}
	for i, organizer := range list {
		if i != host {
			fields := organizer.Fields
			parts := slices.DeleteFunc([]string{organizer.Name, fields.String("phone"), fields.String("email"), fields.String("website")}, func(text string) bool { return text == "" })
			data = icsWriter.lines(data, "CONTACT:", escaped(strings.Join(parts, ", ")))
		}
	}
	return data
}

// imageTypes are the media types of images by the ending of their URL.
var imageTypes = map[string]string{
	"jpg": "jpeg", "jpeg": "jpeg", "png": "png", "gif": "gif", "webp": "webp", "avif": "avif", "svg": "svg+xml",
}

// lines writes lines: what they begin with and values in turns, without those whose value is
// empty. One that is too long is cut between characters, and goes on behind a space.
func (icsWriter *icsWriter) lines(data []byte, namesAndValues ...string) []byte {
	for pair := range slices.Chunk(namesAndValues, 2) {
		if pair[1] == "" {
			continue
		}
		icsWriter.line = append(append(icsWriter.line[:0], pair[0]...), pair[1]...)
		for line, room := icsWriter.line, maxLine; ; room = maxLine - 1 {
			count := min(room, len(line))
			for count < len(line) && !utf8.RuneStart(line[count]) {
				count--
			}
			data = append(append(data, line[:count]...), "\r\n"...)
			if line = line[count:]; len(line) == 0 {
				break
			}
			data = append(data, ' ')
		}
	}
	return data
}

// textEscapes are those of text values (RFC 5545, 3.3.11); of control characters tabs alone stay.
var textEscapes = strings.NewReplacer(append(
	[]string{`\`, `\\`, ";", `\;`, ",", `\,`, "\r\n", `\n`, "\n", `\n`, "\r", `\n`}, without(0xA0, "\t")...,
)...)

func escaped(text string) string { return textEscapes.Replace(strings.ToValidUTF8(text, "\uFFFD")) }

// without returns the pairs of a Replacer that drops the control characters below end, but
// for some.
func without(end rune, some string) (pairs []string) {
	for letter := range end {
		if unicode.IsControl(letter) && !strings.ContainsRune(some, letter) {
			pairs = append(pairs, string(letter), "")
		}
	}
	return pairs
}

// quoted returns a text as the value of a parameter.
func quoted(text string) string {
	return `"` + strings.Map(func(letter rune) rune {
		switch {
		case letter == '"':
			return '\''
		case unicode.IsControl(letter):
			return -1
		}
		return letter
	}, text) + `"`
}

// degrees returns a coordinate with up to six decimals.
func degrees(d float64) string {
	d = math.Round(d*1e6) / 1e6
	return decimal(d + 0) // no -0
}

// Duration gives a duration of whole seconds as ISO 8601 has it: PT1H, P1DT30M.
func Duration(duration time.Duration) string {
	number := int64(duration / time.Second)
	parts := [...]struct {
		seconds int64
		unit    byte
	}{{daySeconds, 'D'}, {3600, 'H'}, {60, 'M'}, {1, 'S'}}
	data := []byte{'P'}
	clock := false
	for i, p := range parts {
		k := number / p.seconds
		number %= p.seconds
		if k == 0 && (p.unit != 'S' || len(data) > 1) {
			continue
		}
		if i > 0 && !clock {
			clock = true
			data = append(data, 'T')
		}
		data = append(strconv.AppendInt(data, k, 10), p.unit)
	}
	return string(data)
}
