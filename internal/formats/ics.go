package formats

import (
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
		b = w.text(b, "NAME:", f.Title)
		b = w.text(b, "X-WR-CALNAME:", f.Title)
		b = w.text(b, "X-WR-TIMEZONE:", f.Site.String())
		b = w.raw(b, "URL:", f.Home)
		b = w.stamp(b, "LAST-MODIFIED:", f.modified())
		refresh := Duration(f.Refresh)
		b = w.raw(b, "REFRESH-INTERVAL;VALUE=DURATION:", refresh)
		b = w.raw(b, "X-PUBLISHED-TTL:", refresh)
		b = w.raw(b, "SOURCE;VALUE=URI:", f.Self)
	}
	return f.Zones.append(b)
}

// Item writes a VEVENT.
func (w *icsWriter) Item(b []byte, e *Event) []byte {
	b = w.head(b, e.UID, e.Touched, e.Version)
	if e.Date != calendar.NoWall {
		b = w.stamp(b, "CREATED:", e.Date.UTC())
	}
	b = w.times(b, &e.Times)
	b = w.text(b, "SUMMARY:", e.plainTitle(w.f.Lang))
	about := e.plainDescription()
	if about == "" {
		about = e.plainExcerpt()
	}
	b = w.filled(b, "DESCRIPTION:", about)
	if e.Description != "" {
		from := len(b)
		b = append(b, "X-ALT-DESC;FMTTYPE=text/html:<html><body>"...)
		b = append(appendEscaped(b, e.Description), "</body></html>"...)
		b = w.fold(b, from)
	}
	place := e.PlaceLine()
	b = w.filled(b, "LOCATION:", place)
	if lat, lng, ok := e.Point(); ok {
		b = append(appendDegrees(append(b, "GEO:"...), lat), ';')
		b = append(appendDegrees(b, lng), "\r\n"...)
	}
	if len(e.Venues) > 0 && e.Venues[0].HasPoint {
		v := &e.Venues[0]
		from := len(b)
		b = appendQuoted(append(b, "X-APPLE-STRUCTURED-LOCATION;VALUE=URI;X-ADDRESS="...), place)
		b = appendQuoted(append(b, ";X-TITLE="...), v.Name)
		b = append(appendDegrees(append(b, ":geo:"...), v.Lat), ',')
		b = w.fold(appendDegrees(b, v.Lng), from)
	}
	b = w.organizers(b, e.Organizers)
	b = w.categories(b, e)
	b = w.raw(b, "URL:", e.URL)
	if e.Image != "" {
		b = w.image(b, "IMAGE;VALUE=URI;DISPLAY=BADGE", e.Image)
		b = w.image(b, "ATTACH", e.Image)
	}
	if e.Website != "" {
		b = w.raw(b, "LINK;VALUE=URI;LINKREL=related:", e.Website)
	}
	b = w.raw(b, "LINK;VALUE=URI;LINKREL=alternate;FMTTYPE=application/json:", e.RestURL)
	if e.Parent != "" {
		b = w.raw(b, "RELATED-TO;RELTYPE=PARENT:", e.Parent)
	}
	b = w.raw(b, "STATUS:", statusOf(e))
	class := "PUBLIC"
	if e.Status == calendar.StatusPrivate {
		class = "PRIVATE"
	}
	b = w.raw(b, "CLASS:", class)
	transparency := "OPAQUE"
	if e.AllDay {
		transparency = "TRANSPARENT"
	}
	b = w.raw(b, "TRANSP:", transparency)
	b = w.filled(b, "X-COST:", e.Cost)
	return append(b, "END:VEVENT\r\n"...)
}

func (w *icsWriter) End(b []byte) []byte {
	cancelled := texts.Messages.In("feed.cancelled", w.f.Lang)
	for i := range w.f.Tombstones {
		t := &w.f.Tombstones[i]
		b = w.times(w.head(b, t.UID, t.Touched, t.Version), &t.Times)
		b = w.text(b, "SUMMARY:", cancelled)
		b = append(b, "STATUS:CANCELLED\r\nTRANSP:TRANSPARENT\r\nX-DAYBOOK-WITHDRAWN:TRUE\r\nEND:VEVENT\r\n"...)
	}
	return append(b, "END:VCALENDAR\r\n"...)
}

// head begins a VEVENT.
func (w *icsWriter) head(b []byte, uid string, touched time.Time, version int64) []byte {
	b = w.raw(append(b, "BEGIN:VEVENT\r\n"...), "UID:", uid)
	b = w.stamp(b, "DTSTAMP:", touched)
	b = w.stamp(b, "LAST-MODIFIED:", touched)
	return append(strconv.AppendInt(append(b, "SEQUENCE:"...), version, 10), "\r\n"...)
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
	switch {
	case t.AllDay:
		b = append(b, "DTSTART;VALUE=DATE:"...)
		b = append(t.Start.UTC().AppendFormat(b, dayLayout), "\r\nDTEND;VALUE=DATE:"...)
		return append((t.End+daySeconds).UTC().AppendFormat(b, dayLayout), "\r\n"...)
	case t.zoned():
		b = w.clock(b, "DTSTART;TZID=", t.Zone.Name, t.Start)
		if t.UTCEnd != t.UTCStart {
			b = w.clock(b, "DTEND;TZID=", t.Zone.Name, t.End)
		}
	default:
		b = w.stamp(b, "DTSTART:", t.UTCStart.UTC())
		if t.UTCEnd != t.UTCStart {
			b = w.stamp(b, "DTEND:", t.UTCEnd.UTC())
		}
	}
	return b
}

func (w *icsWriter) clock(b []byte, name, zone string, at calendar.Wall) []byte {
	b = append(append(append(b, name...), zone...), ':')
	return append(at.UTC().AppendFormat(b, clockLayout), "\r\n"...)
}

// organizers writes the first one that has an e-mail as ORGANIZER, and the others.
func (w *icsWriter) organizers(b []byte, list []Organizer) []byte {
	host := -1
	for i := range list {
		if o := &list[i]; o.Email != "" {
			host = i
			from := len(b)
			b = append(appendQuoted(append(b, "ORGANIZER;CN="...), o.Name), ":mailto:"...)
			b = w.fold(append(b, o.Email...), from)
			break
		}
	}
	for i := range list {
		if o := &list[i]; i != host {
			b = w.filled(b, "CONTACT:", strings.Join(filled(o.Name, o.Phone, o.Email, o.Website), ", "))
		}
	}
	return b
}

// filled gives the texts that are not empty.
func filled(texts ...string) []string {
	out := texts[:0]
	for _, s := range texts {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

func (w *icsWriter) categories(b []byte, e *Event) []byte {
	if len(e.Categories)+len(e.Tags) == 0 {
		return b
	}
	from := len(b)
	b = append(b, "CATEGORIES:"...)
	n := 0
	for _, list := range [...][]Term{e.Categories, e.Tags} {
		for i := range list {
			if n++; n > 1 {
				b = append(b, ',')
			}
			b = appendEscaped(b, list[i].Name)
		}
	}
	return w.fold(b, from)
}

// imageTypes are the media types of images by the ending of their URL.
var imageTypes = map[string]string{
	"jpg": "jpeg", "jpeg": "jpeg", "png": "png", "gif": "gif", "webp": "webp", "avif": "avif", "svg": "svg+xml",
}

func (w *icsWriter) image(b []byte, name, url string) []byte {
	from := len(b)
	b = append(b, name...)
	if t := imageTypes[Extension(url)]; t != "" {
		b = append(append(b, ";FMTTYPE=image/"...), t...)
	}
	return w.fold(append(append(b, ':'), url...), from)
}

// The writers of lines.

// raw writes a line whose value is written as it is.
func (w *icsWriter) raw(b []byte, name, value string) []byte {
	from := len(b)
	return w.fold(append(append(b, name...), value...), from)
}

// text writes a line with a text.
func (w *icsWriter) text(b []byte, name, value string) []byte {
	from := len(b)
	return w.fold(appendEscaped(append(b, name...), value), from)
}

// filled is text for one that is not empty.
func (w *icsWriter) filled(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return w.text(b, name, value)
}

func (w *icsWriter) stamp(b []byte, name string, t time.Time) []byte {
	return append(t.UTC().AppendFormat(append(b, name...), stampLayout), "\r\n"...)
}

// fold ends the line that begins at from: one that is too long is cut between characters,
// and goes on behind a space.
func (w *icsWriter) fold(b []byte, from int) []byte {
	if len(b)-from <= maxLine {
		return append(b, "\r\n"...)
	}
	w.line = append(w.line[:0], b[from:]...)
	b = b[:from]
	room := maxLine
	for line := w.line; ; room = maxLine - 1 {
		n := min(room, len(line))
		for n < len(line) && !utf8.RuneStart(line[n]) {
			n--
		}
		b = append(append(b, line[:n]...), "\r\n"...)
		if line = line[n:]; len(line) == 0 {
			return b
		}
		b = append(b, ' ')
	}
}

// textEscapes are those of text values (RFC 5545, 3.3.11); of control characters tabs alone stay.
var textEscapes = strings.NewReplacer(append(
	[]string{`\`, `\\`, ";", `\;`, ",", `\,`, "\r\n", `\n`, "\n", `\n`, "\r", `\n`}, without(0xA0, "\t")...,
)...)

func appendEscaped(b []byte, s string) []byte {
	return append(b, textEscapes.Replace(strings.ToValidUTF8(s, "\uFFFD"))...)
}

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

// appendQuoted writes a text as the value of a parameter.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"':
			b = append(b, '\'')
		case !unicode.IsControl(r):
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// appendDegrees writes a coordinate with up to six decimals.
func appendDegrees(b []byte, degrees float64) []byte {
	s := strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(degrees, 'f', 6, 64), "0"), ".")
	if s == "-0" {
		s = "0"
	}
	return append(b, s...)
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
