package formats

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
)

const xmlHead = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

// The name spaces of what RSS and Atom say besides their own.
const xmlSpaces = ` xmlns:ev="http://purl.org/rss/1.0/modules/event/" xmlns:georss="http://www.georss.org/georss" xmlns:media="http://search.yahoo.com/mrss/"`

var rssFormat = Format{
	Name: "rss", Media: []string{rssType}, Header: rssType + "; charset=utf-8", Disposition: inline, Extension: "rss", Open: RSS,
}

const rssType = "application/rss+xml"

// RSS writes RSS 2.0.
func RSS(f *Feed) Writer { return &rssWriter{f: f} }

type rssWriter struct{ f *Feed }

func (w *rssWriter) Begin(b []byte) []byte {
	f := w.f
	b = append(b, xmlHead+`<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/elements/1.1/"`+
		` xmlns:content="http://purl.org/rss/1.0/modules/content/"`+xmlSpaces+"><channel>"...)
	b = elements(b, "title", f.Title, "link", f.Home, "description", f.Title, "language", f.Lang.Tag(),
		"lastBuildDate", f.modified().Format(http.TimeFormat), "generator", "daybook", "ttl", strconv.Itoa(int(f.Refresh/time.Minute)))
	return links(b, "atom:link", "self", rssType, f.Self, "next", rssType, f.Next)
}

func (w *rssWriter) Item(b []byte, e *Event) []byte {
	b = elements(append(b, "\n<item>"...), "title", e.plainTitle(w.f.Lang), "link", e.URL)
	b = append(append(append(b, `<guid isPermaLink="false">urn:uuid:`...), e.UID...), "</guid>"...)
	if e.Date != calendar.NoWall {
		b = elements(b, "pubDate", e.Date.UTC().Format(http.TimeFormat))
	}
	b = elements(b, "description", cmp.Or(e.Excerpt, e.Description))
	b = filledElements(b, "content:encoded", e.Description)
	for _, t := range slices.Concat(e.Categories, e.Tags) {
		b = elements(b, "category", t.Name)
	}
	for i := range e.Organizers {
		b = elements(b, "dc:creator", e.Organizers[i].Name)
	}
	return append(extensions(b, e), "</item>"...)
}

func (w *rssWriter) End(b []byte) []byte { return append(b, "</channel></rss>\n"...) }

// extensions writes what RSS and Atom say alike: image, times, place.
func extensions(b []byte, e *Event) []byte {
	if e.Image != "" {
		b = emptyElement(b, "media:content", "medium", "image", "url", e.Image)
	}
	var host, point string
	if len(e.Organizers) > 0 {
		host = e.Organizers[0].Name
	}
	if lat, lng, ok := e.Point(); ok {
		point = decimal(lat) + " " + decimal(lng)
	}
	return filledElements(b, "ev:startdate", e.start(), "ev:enddate", e.end(), "ev:location", e.PlaceLine(), "ev:organizer", host, "georss:point", point)
}

var atomFormat = Format{
	Name: "atom", Media: []string{atomType}, Header: atomType + "; charset=utf-8", Disposition: inline, Extension: "atom", Open: Atom,
}

// Atom writes Atom (RFC 4287).
func Atom(f *Feed) Writer { return &atomWriter{f: f} }

type atomWriter struct{ f *Feed }

const atomType = "application/atom+xml"

func (w *atomWriter) Begin(b []byte) []byte {
	f := w.f
	b = append(b, xmlHead+`<feed xmlns="http://www.w3.org/2005/Atom"`+xmlSpaces...)
	b = append(attributes(b, "xml:lang", f.Lang.Tag()), '>')
	b = elements(b, "id", f.ID, "title", f.Title, "updated", moment(f.modified()))
	b = links(b, "link", "self", atomType, f.Self, "alternate", "text/html", f.Home, "next", atomType, f.Next, "previous", atomType, f.Previous)
	b = append(elements(b, "generator", "daybook"), "<author>"...)
	return append(elements(b, "name", f.Calendar), "</author>"...)
}

func (w *atomWriter) Item(b []byte, e *Event) []byte {
	b = elements(append(b, "\n<entry>"...), "id", "urn:uuid:"+e.UID)
	b = append(appendXML(append(b, `<title type="text">`...), e.plainTitle(w.f.Lang)), "</title>"...)
	b = elements(b, "updated", moment(e.Touched))
	if e.Date != calendar.NoWall {
		b = elements(b, "published", moment(e.Date.UTC()))
	}
	b = links(b, "link", "alternate", "text/html", e.URL, "alternate", "application/json", e.RestURL,
		"alternate", "text/calendar", e.RestURL+".ics", "related", "", e.Website)
	if e.Excerpt != "" {
		b = append(appendXML(append(b, `<summary type="html">`...), e.Excerpt), "</summary>"...)
	}
	b = append(appendXML(append(b, `<content type="html">`...), e.Description), "</content>"...)
	for i := range e.Organizers {
		o := &e.Organizers[i]
		b = elements(append(b, "<author>"...), "name", o.Name)
		b = append(filledElements(b, "uri", o.URL, "email", o.Email), "</author>"...)
	}
	for _, t := range e.Categories {
		b = emptyElement(b, "category", "term", t.Slug, "label", t.Name, "scheme", w.f.Root+"/categories")
	}
	for _, t := range e.Tags {
		b = emptyElement(b, "category", "term", t.Slug, "label", t.Name, "scheme", w.f.Root+"/tags")
	}
	return append(extensions(b, e), "</entry>"...)
}

func (w *atomWriter) End(b []byte) []byte { return append(b, "</feed>\n"...) }

// elements writes elements with a text: names and texts in turns.
func elements(b []byte, namesAndTexts ...string) []byte {
	for pair := range slices.Chunk(namesAndTexts, 2) {
		b = appendXML(append(append(append(b, '<'), pair[0]...), '>'), pair[1])
		b = append(append(append(b, "</"...), pair[0]...), '>')
	}
	return b
}

// filledElements is elements without those whose text is empty.
func filledElements(b []byte, namesAndTexts ...string) []byte {
	for pair := range slices.Chunk(namesAndTexts, 2) {
		if pair[1] != "" {
			b = elements(b, pair...)
		}
	}
	return b
}

// links writes elements that link: relation, media type and URL in turns, without those
// whose URL is empty.
func links(b []byte, element string, relations ...string) []byte {
	for link := range slices.Chunk(relations, 3) {
		if link[2] != "" {
			b = emptyElement(b, element, "rel", link[0], "type", link[1], "href", link[2])
		}
	}
	return b
}

// emptyElement writes an element without content: names and values of attributes in turns.
func emptyElement(b []byte, name string, namesAndValues ...string) []byte {
	return append(attributes(append(append(b, '<'), name...), namesAndValues...), "/>"...)
}

// attributes writes attributes, without those whose value is empty.
func attributes(b []byte, namesAndValues ...string) []byte {
	for pair := range slices.Chunk(namesAndValues, 2) {
		if pair[1] != "" {
			b = append(appendXML(append(append(append(b, ' '), pair[0]...), `="`...), pair[1]), '"')
		}
	}
	return b
}

// xmlEscapes are those of content and attributes; characters that XML 1.0 forbids go. A reader
// would make a line feed of a carriage return.
var xmlEscapes = strings.NewReplacer(append(
	[]string{"&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "\r", "&#13;", "\uFFFE", "", "\uFFFF", ""}, without(' ', "\n\t")...,
)...)

func appendXML(b []byte, s string) []byte {
	return append(b, xmlEscapes.Replace(strings.ToValidUTF8(s, "\uFFFD"))...)
}
