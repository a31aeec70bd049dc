package formats

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
)

const xmlHead = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

// The name spaces of what RSS and Atom say beside their own.
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
	b = element(b, "title", f.Title)
	b = element(b, "link", f.Home)
	b = element(b, "description", f.Title)
	b = element(b, "language", f.Lang.Tag())
	b = element(b, "lastBuildDate", f.modified().Format(http.TimeFormat))
	b = append(b, "<generator>daybook</generator>"...)
	b = element(b, "ttl", strconv.FormatInt(int64(f.Refresh/time.Minute), 10))
	b = linkTo(b, "atom:link", "self", rssType, f.Self)
	return linkTo(b, "atom:link", "next", rssType, f.Next)
}

func (w *rssWriter) Item(b []byte, e *Event) []byte {
	b = append(b, "\n<item>"...)
	b = element(b, "title", e.plainTitle(w.f.Lang))
	b = element(b, "link", e.URL)
	b = append(append(append(b, `<guid isPermaLink="false">urn:uuid:`...), e.UID...), "</guid>"...)
	if e.Date != calendar.NoWall {
		b = element(b, "pubDate", e.Date.UTC().Format(http.TimeFormat))
	}
	about := e.Excerpt
	if about == "" {
		about = e.Description
	}
	b = element(b, "description", about)
	b = filledElement(b, "content:encoded", e.Description)
	for _, list := range [...][]Term{e.Categories, e.Tags} {
		for i := range list {
			b = element(b, "category", list[i].Name)
		}
	}
	for i := range e.Organizers {
		b = element(b, "dc:creator", e.Organizers[i].Name)
	}
	return append(extensions(b, e), "</item>"...)
}

func (w *rssWriter) End(b []byte) []byte { return append(b, "</channel></rss>\n"...) }

// extensions writes what RSS and Atom say alike: image, times, place.
func extensions(b []byte, e *Event) []byte {
	if e.Image != "" {
		b = attribute(append(b, `<media:content medium="image"`...), "url", e.Image)
		b = append(b, "/>"...)
	}
	b = append(AppendInstant(append(b, "<ev:startdate>"...), e.Start, e.UTCStart), "</ev:startdate>"...)
	b = append(AppendInstant(append(b, "<ev:enddate>"...), e.End, e.UTCEnd), "</ev:enddate>"...)
	b = filledElement(b, "ev:location", e.PlaceLine())
	if len(e.Organizers) > 0 {
		b = filledElement(b, "ev:organizer", e.Organizers[0].Name)
	}
	if lat, lng, ok := e.Point(); ok {
		b = append(appendFloat(append(b, "<georss:point>"...), lat), ' ')
		b = append(appendFloat(b, lng), "</georss:point>"...)
	}
	return b
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
	b = append(attribute(b, "xml:lang", f.Lang.Tag()), '>')
	b = element(b, "id", f.ID)
	b = element(b, "title", f.Title)
	b = moment(b, "updated", f.modified())
	b = linkTo(b, "link", "self", atomType, f.Self)
	b = linkTo(b, "link", "alternate", "text/html", f.Home)
	b = linkTo(b, "link", "next", atomType, f.Next)
	b = linkTo(b, "link", "previous", atomType, f.Previous)
	b = append(b, "<generator>daybook</generator><author>"...)
	return append(element(b, "name", f.Calendar), "</author>"...)
}

func (w *atomWriter) Item(b []byte, e *Event) []byte {
	b = append(b, "\n<entry>"...)
	b = append(append(append(b, "<id>urn:uuid:"...), e.UID...), "</id>"...)
	b = append(appendXML(append(b, `<title type="text">`...), e.plainTitle(w.f.Lang)), "</title>"...)
	b = moment(b, "updated", e.Touched)
	if e.Date != calendar.NoWall {
		b = moment(b, "published", e.Date.UTC())
	}
	b = linkTo(b, "link", "alternate", "text/html", e.URL)
	b = linkTo(b, "link", "alternate", "application/json", e.RestURL)
	b = linkTo(b, "link", "alternate", "text/calendar", e.RestURL+".ics")
	b = linkTo(b, "link", "related", "", e.Website)
	if e.Excerpt != "" {
		b = append(appendXML(append(b, `<summary type="html">`...), e.Excerpt), "</summary>"...)
	}
	b = append(appendXML(append(b, `<content type="html">`...), e.Description), "</content>"...)
	for i := range e.Organizers {
		o := &e.Organizers[i]
		b = element(append(b, "<author>"...), "name", o.Name)
		b = filledElement(b, "uri", o.URL)
		b = append(filledElement(b, "email", o.Email), "</author>"...)
	}
	b = w.categories(b, e.Categories, "/categories")
	b = w.categories(b, e.Tags, "/tags")
	return append(extensions(b, e), "</entry>"...)
}

func (w *atomWriter) categories(b []byte, list []Term, collection string) []byte {
	for i := range list {
		b = attribute(append(b, "<category"...), "term", list[i].Slug)
		b = attribute(b, "label", list[i].Name)
		b = append(attribute(b, "scheme", w.f.Root+collection), "/>"...)
	}
	return b
}

func (w *atomWriter) End(b []byte) []byte { return append(b, "</feed>\n"...) }

// element writes an element with a text.
func element(b []byte, name, text string) []byte {
	b = append(append(append(b, '<'), name...), '>')
	b = append(appendXML(b, text), "</"...)
	return append(append(b, name...), '>')
}

func filledElement(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	return element(b, name, text)
}

func moment(b []byte, name string, t time.Time) []byte {
	return element(b, name, string(appendMoment(nil, t)))
}

// linkTo writes a link element; without a URL nothing.
func linkTo(b []byte, name, rel, media, url string) []byte {
	if url == "" {
		return b
	}
	b = attribute(append(append(b, '<'), name...), "rel", rel)
	if media != "" {
		b = attribute(b, "type", media)
	}
	return append(attribute(b, "href", url), "/>"...)
}

func attribute(b []byte, name, value string) []byte {
	b = append(append(append(b, ' '), name...), `="`...)
	return append(appendXML(b, value), '"')
}

// xmlEscapes are those of content and attributes; characters that XML 1.0 forbids go. A reader
// would make a line feed of a carriage return.
var xmlEscapes = strings.NewReplacer(append(
	[]string{"&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "\r", "&#13;", "\uFFFE", "", "\uFFFF", ""}, without(' ', "\n\t")...,
)...)

func appendXML(b []byte, s string) []byte {
	return append(b, xmlEscapes.Replace(strings.ToValidUTF8(s, "\uFFFD"))...)
}

func appendFloat(b []byte, f float64) []byte { return strconv.AppendFloat(b, f, 'f', -1, 64) }
