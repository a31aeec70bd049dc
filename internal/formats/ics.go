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
	Name: "ics", Media: []string{"text/calendar"}, Header: "text/calendar; charset=utf-8",
	Disposition: inline, Extension: "ics", Single: true, Surveys: true, Open: ICS,
}

// ICS writes iCalendar (RFC 5545, 7986, 9253).
func ICS(feed *Feed) Writer { return &icsWriter{f: feed} }

type icsWriter struct {
	f    *Feed
	line []byte // the one that is folded
}

func (w *icsWriter) Begin(data []byte) []byte {
	feed := w.f
	data = append(data, "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//daybook//events//EN\r\nCALSCALE:GREGORIAN\r\n"...)
	if !feed.Single {
		title, refresh := escaped(feed.Title), Duration(feed.Refresh)
		data = w.lines(data, "NAME:", title, "X-WR-CALNAME:", title, "X-WR-TIMEZONE:", escaped(feed.Site.String()), "URL:", feed.Home,
			"LAST-MODIFIED:", stamp(feed.modified()), "REFRESH-INTERVAL;VALUE=DURATION:", refresh, "X-PUBLISHED-TTL:", refresh,
			"SOURCE;VALUE=URI:", feed.Self)
	}
	return feed.Zones.append(data)
}

// Item writes a VEVENT.
func (w *icsWriter) Item(data []byte, event *Event) []byte {
	data = w.head(data, event.UID, event.Touched, event.Version)
	if event.Date != calendar.NoWall {
		data = w.lines(data, "CREATED:", stamp(event.Date.UTC()))
	}
	data = w.times(data, &event.Times)
	about := event.plainDescription()
	if about == "" {
		about = event.plainExcerpt()
	}
	place := event.PlaceLine()
	data = w.lines(data, "SUMMARY:", escaped(event.plainTitle(w.f.Lang)), "DESCRIPTION:", escaped(about))
	if event.Description != "" {
		data = w.lines(data, "X-ALT-DESC;FMTTYPE=text/html:<html><body>", escaped(event.Description)+"</body></html>")
	}
	data = w.lines(data, "LOCATION:", escaped(place))
	if lat, lng, ok := event.Point(); ok {
		data = w.lines(data, "GEO:", degrees(lat)+";"+degrees(lng))
	}
	if len(event.Venues) > 0 && event.Venues[0].HasPoint {
		venue := &event.Venues[0]
		data = w.lines(data, "X-APPLE-STRUCTURED-LOCATION;VALUE=URI;X-ADDRESS=", quoted(place)+";X-TITLE="+quoted(venue.Name)+":geo:"+degrees(venue.Lat)+","+degrees(venue.Lng))
	}
	data = w.organizers(data, event.Organizers)
	terms := joinAll(",", slices.Concat(event.Categories, event.Tags), func(t *Term) any { return escaped(t.Name) })
	data = w.lines(data, "CATEGORIES:", terms, "URL:", event.URL)
	if event.Image != "" {
		media := ":"
		if t := imageTypes[Extension(event.Image)]; t != "" {
			media = ";FMTTYPE=image/" + t + ":"
		}
		data = w.lines(data, "IMAGE;VALUE=URI;DISPLAY=BADGE"+media, event.Image, "ATTACH"+media, event.Image)
	}
	class, transparency := "PUBLIC", "OPAQUE"
	if event.Status == calendar.StatusPrivate {
		class = "PRIVATE"
	}
	if event.AllDay {
		transparency = "TRANSPARENT"
	}
	return w.lines(data, "LINK;VALUE=URI;LINKREL=related:", event.Website, "LINK;VALUE=URI;LINKREL=alternate;FMTTYPE=application/json:", event.RestURL,
		"RELATED-TO;RELTYPE=PARENT:", event.Parent, "STATUS:", statusOf(event), "CLASS:", class, "TRANSP:", transparency, "X-COST:", escaped(event.Cost),
		"END:", "VEVENT")
}

func (w *icsWriter) End(data []byte) []byte {
	cancelled := escaped(texts.Messages.In("feed.cancelled", w.f.Lang))
	for i := range w.f.Tombstones {
		t := &w.f.Tombstones[i]
		data = w.times(w.head(data, t.UID, t.Touched, t.Version), &t.Times)
		data = w.lines(data, "SUMMARY:", cancelled, "STATUS:", "CANCELLED", "TRANSP:", "TRANSPARENT", "X-DAYBOOK-WITHDRAWN:", "TRUE", "END:", "VEVENT")
	}
	return append(data, "END:VCALENDAR\r\n"...)
}

// head begins a VEVENT.
func (w *icsWriter) head(data []byte, uid string, touched time.Time, version int64) []byte {
	return w.lines(data, "BEGIN:", "VEVENT", "UID:", uid, "DTSTAMP:", stamp(touched), "LAST-MODIFIED:", stamp(touched),
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
func (w *icsWriter) times(data []byte, t *Times) []byte {
	parameter, start, end := ":", stamp(t.UTCStart.UTC()), stamp(t.UTCEnd.UTC())
	switch {
	case t.AllDay:
		parameter, start, end = ";VALUE=DATE:", t.Start.UTC().Format(dayLayout), (t.End + daySeconds).UTC().Format(dayLayout)
	case t.zoned():
		parameter, start, end = ";TZID="+t.Zone.Name+":", clock(t.Start), clock(t.End)
	}
	data = w.lines(data, "DTSTART"+parameter, start)
	if t.AllDay || t.UTCEnd != t.UTCStart {
		data = w.lines(data, "DTEND"+parameter, end)
	}
	return data
}

func clock(at calendar.Wall) string { return at.UTC().Format(clockLayout) }
func stamp(at time.Time) string     { return at.UTC().Format(stampLayout) }

// organizers writes the first one that has an e-mail as ORGANIZER, and the others.
func (w *icsWriter) organizers(data []byte, list []Organizer) []byte {
	host := slices.IndexFunc(list, func(organizer Organizer) bool { return organizer.Email != "" })
	if host >= 0 {
		data = w.lines(data, "ORGANIZER;CN=", quoted(list[host].Name)+":mailto:"+list[host].Email)
	}
	for i := range list {
		if organizer := &list[i]; i != host {
			parts := slices.DeleteFunc([]string{organizer.Name, organizer.Phone, organizer.Email, organizer.Website}, func(text string) bool { return text == "" })
			data = w.lines(data, "CONTACT:", escaped(strings.Join(parts, ", ")))
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
func (w *icsWriter) lines(data []byte, namesAndValues ...string) []byte {
	for pair := range slices.Chunk(namesAndValues, 2) {
		if pair[1] == "" {
			continue
		}
		w.line = append(append(w.line[:0], pair[0]...), pair[1]...)
		for line, room := w.line, maxLine; ; room = maxLine - 1 {
			n := min(room, len(line))
			for n < len(line) && !utf8.RuneStart(line[n]) {
				n--
			}
			data = append(append(data, line[:n]...), "\r\n"...)
			if line = line[n:]; len(line) == 0 {
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
	for r := range end {
		if unicode.IsControl(r) && !strings.ContainsRune(some, r) {
			pairs = append(pairs, string(r), "")
		}
	}
	return pairs
}

// quoted returns a text as the value of a parameter.
func quoted(text string) string {
	return `"` + strings.Map(func(r rune) rune {
		switch {
		case r == '"':
			return '\''
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, text) + `"`
}

// degrees returns a coordinate with up to six decimals.
func degrees(d float64) string {
	d = math.Round(d*1e6) / 1e6
	return decimal(d + 0) // no -0
}

// Duration gives a duration of whole seconds as ISO 8601 has it: PT1H, P1DT30M.
func Duration(duration time.Duration) string {
	n := int64(duration / time.Second)
	parts := [...]struct {
		seconds int64
		unit    byte
	}{{daySeconds, 'D'}, {3600, 'H'}, {60, 'M'}, {1, 'S'}}
	data := []byte{'P'}
	clock := false
	for i, p := range parts {
		k := n / p.seconds
		n %= p.seconds
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
