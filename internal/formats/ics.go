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
func ICS(f *Feed) Writer { return &icsWriter{f: f} }

type icsWriter struct {
	f    *Feed
	line []byte // the one that is folded
}

func (w *icsWriter) Begin(b []byte) []byte {
	f := w.f
	b = append(b, "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//daybook//events//EN\r\nCALSCALE:GREGORIAN\r\n"...)
	if !f.Single {
		title, refresh := escaped(f.Title), Duration(f.Refresh)
		b = w.lines(b, "NAME:", title, "X-WR-CALNAME:", title, "X-WR-TIMEZONE:", escaped(f.Site.String()), "URL:", f.Home,
			"LAST-MODIFIED:", stamp(f.modified()), "REFRESH-INTERVAL;VALUE=DURATION:", refresh, "X-PUBLISHED-TTL:", refresh,
			"SOURCE;VALUE=URI:", f.Self)
	}
	return f.Zones.append(b)
}

// Item writes a VEVENT.
func (w *icsWriter) Item(b []byte, e *Event) []byte {
	b = w.head(b, e.UID, e.Touched, e.Version)
	if e.Date != calendar.NoWall {
		b = w.lines(b, "CREATED:", stamp(e.Date.UTC()))
	}
	b = w.times(b, &e.Times)
	about := e.plainDescription()
	if about == "" {
		about = e.plainExcerpt()
	}
	place := e.PlaceLine()
	b = w.lines(b, "SUMMARY:", escaped(e.plainTitle(w.f.Lang)), "DESCRIPTION:", escaped(about))
	if e.Description != "" {
		b = w.lines(b, "X-ALT-DESC;FMTTYPE=text/html:<html><body>", escaped(e.Description)+"</body></html>")
	}
	b = w.lines(b, "LOCATION:", escaped(place))
	if lat, lng, ok := e.Point(); ok {
		b = w.lines(b, "GEO:", degrees(lat)+";"+degrees(lng))
	}
	if len(e.Venues) > 0 && e.Venues[0].HasPoint {
		v := &e.Venues[0]
		b = w.lines(b, "X-APPLE-STRUCTURED-LOCATION;VALUE=URI;X-ADDRESS=", quoted(place)+";X-TITLE="+quoted(v.Name)+":geo:"+degrees(v.Lat)+","+degrees(v.Lng))
	}
	b = w.organizers(b, e.Organizers)
	terms := joinAll(",", slices.Concat(e.Categories, e.Tags), func(t *Term) any { return escaped(t.Name) })
	b = w.lines(b, "CATEGORIES:", terms, "URL:", e.URL)
	if e.Image != "" {
		media := ":"
		if t := imageTypes[Extension(e.Image)]; t != "" {
			media = ";FMTTYPE=image/" + t + ":"
		}
		b = w.lines(b, "IMAGE;VALUE=URI;DISPLAY=BADGE"+media, e.Image, "ATTACH"+media, e.Image)
	}
	class, transparency := "PUBLIC", "OPAQUE"
	if e.Status == calendar.StatusPrivate {
		class = "PRIVATE"
	}
	if e.AllDay {
		transparency = "TRANSPARENT"
	}
	return w.lines(b, "LINK;VALUE=URI;LINKREL=related:", e.Website, "LINK;VALUE=URI;LINKREL=alternate;FMTTYPE=application/json:", e.RestURL,
		"RELATED-TO;RELTYPE=PARENT:", e.Parent, "STATUS:", statusOf(e), "CLASS:", class, "TRANSP:", transparency, "X-COST:", escaped(e.Cost),
		"END:", "VEVENT")
}

func (w *icsWriter) End(b []byte) []byte {
	cancelled := escaped(texts.Messages.In("feed.cancelled", w.f.Lang))
	for i := range w.f.Tombstones {
		t := &w.f.Tombstones[i]
		b = w.times(w.head(b, t.UID, t.Touched, t.Version), &t.Times)
		b = w.lines(b, "SUMMARY:", cancelled, "STATUS:", "CANCELLED", "TRANSP:", "TRANSPARENT", "X-DAYBOOK-WITHDRAWN:", "TRUE", "END:", "VEVENT")
	}
	return append(b, "END:VCALENDAR\r\n"...)
}

// head begins a VEVENT.
func (w *icsWriter) head(b []byte, uid string, touched time.Time, version int64) []byte {
	return w.lines(b, "BEGIN:", "VEVENT", "UID:", uid, "DTSTAMP:", stamp(touched), "LAST-MODIFIED:", stamp(touched),
		"SEQUENCE:", strconv.FormatInt(version, 10))
}

func statusOf(e *Event) string {
	unpublished := e.Status == calendar.StatusFuture || e.Status == calendar.StatusDraft || e.Status == calendar.StatusPending
	switch {
	case unpublished, e.Status != calendar.StatusTrash && e.EventStatus == calendar.EventPostponed:
		return "TENTATIVE"
	case e.Status == calendar.StatusTrash, e.EventStatus == calendar.EventCancelled:
		return "CANCELLED"
	default:
		return "CONFIRMED"
	}
}

// times writes DTSTART and DTEND.
func (w *icsWriter) times(b []byte, t *Times) []byte {
	parameter, start, end := ":", stamp(t.UTCStart.UTC()), stamp(t.UTCEnd.UTC())
	switch {
	case t.AllDay:
		parameter, start, end = ";VALUE=DATE:", t.Start.UTC().Format(dayLayout), (t.End + daySeconds).UTC().Format(dayLayout)
	case t.zoned():
		parameter, start, end = ";TZID="+t.Zone.Name+":", clock(t.Start), clock(t.End)
	}
	b = w.lines(b, "DTSTART"+parameter, start)
	if t.AllDay || t.UTCEnd != t.UTCStart {
		b = w.lines(b, "DTEND"+parameter, end)
	}
	return b
}

func clock(at calendar.Wall) string { return at.UTC().Format(clockLayout) }
func stamp(at time.Time) string     { return at.UTC().Format(stampLayout) }

// organizers writes the first one that has an e-mail as ORGANIZER, and the others.
func (w *icsWriter) organizers(b []byte, list []Organizer) []byte {
	host := slices.IndexFunc(list, func(o Organizer) bool { return o.Email != "" })
	if host >= 0 {
		b = w.lines(b, "ORGANIZER;CN=", quoted(list[host].Name)+":mailto:"+list[host].Email)
	}
	for i := range list {
		if o := &list[i]; i != host {
			parts := slices.DeleteFunc([]string{o.Name, o.Phone, o.Email, o.Website}, func(s string) bool { return s == "" })
			b = w.lines(b, "CONTACT:", escaped(strings.Join(parts, ", ")))
		}
	}
	return b
}

// imageTypes are the media types of images by the ending of their URL.
var imageTypes = map[string]string{
	"jpg": "jpeg", "jpeg": "jpeg", "png": "png", "gif": "gif", "webp": "webp", "avif": "avif", "svg": "svg+xml",
}

// lines writes lines: what they begin with and values in turns, without those whose value is
// empty. One that is too long is cut between characters, and goes on behind a space.
func (w *icsWriter) lines(b []byte, namesAndValues ...string) []byte {
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
			b = append(append(b, line[:n]...), "\r\n"...)
			if line = line[n:]; len(line) == 0 {
				break
			}
			b = append(b, ' ')
		}
	}
	return b
}

// textEscapes are those of text values (RFC 5545, 3.3.11); of control characters tabs alone stay.
var textEscapes = strings.NewReplacer(append(
	[]string{`\`, `\\`, ";", `\;`, ",", `\,`, "\r\n", `\n`, "\n", `\n`, "\r", `\n`}, without(0xA0, "\t")...,
)...)

func escaped(s string) string { return textEscapes.Replace(strings.ToValidUTF8(s, "\uFFFD")) }

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
func quoted(s string) string {
	return `"` + strings.Map(func(r rune) rune {
		switch {
		case r == '"':
			return '\''
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, s) + `"`
}

// degrees returns a coordinate with up to six decimals.
func degrees(d float64) string {
	d = math.Round(d*1e6) / 1e6
	return decimal(d + 0) // no -0
}

// Duration gives a duration of whole seconds as ISO 8601 has it: PT1H, P1DT30M.
func Duration(d time.Duration) string {
	n := int64(d / time.Second)
	parts := [...]struct {
		seconds int64
		unit    byte
	}{{daySeconds, 'D'}, {3600, 'H'}, {60, 'M'}, {1, 'S'}}
	b := []byte{'P'}
	clock := false
	for i, p := range parts {
		k := n / p.seconds
		n %= p.seconds
		if k == 0 && (p.unit != 'S' || len(b) > 1) {
			continue
		}
		if i > 0 && !clock {
			clock = true
			b = append(b, 'T')
		}
		b = append(strconv.AppendInt(b, k, 10), p.unit)
	}
	return string(b)
}
