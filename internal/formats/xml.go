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
	Name: "rss", Media: []string{rssType}, Header: []string{rssType + "; charset=utf-8"}, Disposition: inline, Extension: "rss", Open: RSS,
}

const rssType = "application/rss+xml"

// RSS writes RSS 2.0.
func RSS(feed *Feed) Writer { return &rssWriter{feed: feed} }

type rssWriter struct{ feed *Feed }

func (rssWriter *rssWriter) Begin(data []byte) []byte {
	feed := rssWriter.feed
	data = append(data, xmlHead+`<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/elements/1.1/"`+
		` xmlns:content="http://purl.org/rss/1.0/modules/content/"`+xmlSpaces+"><channel>"...)
	data = elements(data, "title", feed.Title, "link", feed.Home, "description", feed.Title, "language", feed.Lang.Tag(),
		"lastBuildDate", feed.modified().Format(http.TimeFormat), "generator", "daybook", "ttl", strconv.Itoa(int(feed.Refresh/time.Minute)))
	return links(data, "atom:link", "self", rssType, feed.Self, "next", rssType, feed.Next)
}

func (rssWriter *rssWriter) Item(data []byte, event *Event) []byte {
	data = elements(append(data, "\n<item>"...), "title", event.plainTitle(rssWriter.feed.Lang), "link", event.URL)
	data = append(append(append(data, `<guid isPermaLink="false">urn:uuid:`...), event.UID...), "</guid>"...)
	if event.Date != calendar.NoWall {
		data = elements(data, "pubDate", event.Date.UTC().Format(http.TimeFormat))
	}
	data = elements(data, "description", cmp.Or(event.Excerpt, event.Description))
	data = filledElements(data, "content:encoded", event.Description)
	for _, term := range slices.Concat(event.Categories, event.Tags) {
		data = elements(data, "category", term.Name)
	}
	for i := range event.Organizers {
		data = elements(data, "dc:creator", event.Organizers[i].Name)
	}
	return append(extensions(data, event), "</item>"...)
}

func (rssWriter *rssWriter) End(data []byte) []byte { return append(data, "</channel></rss>\n"...) }

// extensions writes what RSS and Atom say alike: image, times, place.
func extensions(data []byte, event *Event) []byte {
	if event.Image != "" {
		data = emptyElement(data, "media:content", "medium", "image", "url", event.Image)
	}
	var host, point string
	if len(event.Organizers) > 0 {
		host = event.Organizers[0].Name
	}
	if latitude, longitude, ok := event.Point(); ok {
		point = decimal(latitude) + " " + decimal(longitude)
	}
	return filledElements(data, "ev:startdate", event.start(), "ev:enddate", event.end(), "ev:location", event.PlaceLine(), "ev:organizer", host, "georss:point", point)
}

var atomFormat = Format{
	Name: "atom", Media: []string{atomType}, Header: []string{atomType + "; charset=utf-8"}, Disposition: inline, Extension: "atom", Open: Atom,
}

// Atom writes Atom (RFC 4287).
func Atom(feed *Feed) Writer { return &atomWriter{feed: feed} }

type atomWriter struct{ feed *Feed }

const atomType = "application/atom+xml"

func (atomWriter *atomWriter) Begin(data []byte) []byte {
	feed := atomWriter.feed
	data = append(data, xmlHead+`<feed xmlns="http://www.w3.org/2005/Atom"`+xmlSpaces...)
	data = append(attributes(data, "xml:lang", feed.Lang.Tag()), '>')
	data = elements(data, "id", feed.ID, "title", feed.Title, "updated", moment(feed.modified()))
	data = links(data, "link", "self", atomType, feed.Self, "alternate", "text/html", feed.Home, "next", atomType, feed.Next, "previous", atomType, feed.Previous)
	data = append(elements(data, "generator", "daybook"), "<author>"...)
	return append(elements(data, "name", feed.Calendar), "</author>"...)
}

func (atomWriter *atomWriter) Item(data []byte, event *Event) []byte {
	data = elements(append(data, "\n<entry>"...), "id", "urn:uuid:"+event.UID)
	data = append(appendXML(append(data, `<title type="text">`...), event.plainTitle(atomWriter.feed.Lang)), "</title>"...)
	data = elements(data, "updated", moment(event.Touched))
	if event.Date != calendar.NoWall {
		data = elements(data, "published", moment(event.Date.UTC()))
	}
	data = links(data, "link", "alternate", "text/html", event.URL, "alternate", "application/json", event.RestURL,
		"alternate", "text/calendar", event.RestURL+".ics", "related", "", event.Website)
	if event.Excerpt != "" {
		data = append(appendXML(append(data, `<summary type="html">`...), event.Excerpt), "</summary>"...)
	}
	data = append(appendXML(append(data, `<content type="html">`...), event.Description), "</content>"...)
	for i := range event.Organizers {
		organizer := &event.Organizers[i]
		data = elements(append(data, "<author>"...), "name", organizer.Name)
		data = append(filledElements(data, "uri", organizer.URL, "email", organizer.Fields.String("email")), "</author>"...)
	}
	for _, term := range event.Categories {
		data = emptyElement(data, "category", "term", term.Slug(), "label", term.Name, "scheme", atomWriter.feed.Root+"/categories")
	}
	for _, term := range event.Tags {
		data = emptyElement(data, "category", "term", term.Slug(), "label", term.Name, "scheme", atomWriter.feed.Root+"/tags")
	}
	return append(extensions(data, event), "</entry>"...)
}

func (atomWriter *atomWriter) End(data []byte) []byte { return append(data, "</feed>\n"...) }

// elements writes elements with a text: names and texts in turns.
func elements(data []byte, namesAndTexts ...string) []byte {
	for pair := range slices.Chunk(namesAndTexts, 2) {
		data = appendXML(append(append(append(data, '<'), pair[0]...), '>'), pair[1])
		data = append(append(append(data, "</"...), pair[0]...), '>')
	}
	return data
}

// filledElements is elements without those whose text is empty.
func filledElements(data []byte, namesAndTexts ...string) []byte {
	for pair := range slices.Chunk(namesAndTexts, 2) {
		if pair[1] != "" {
			data = elements(data, pair...)
		}
	}
	return data
}

// links writes elements that link: relation, media type and URL in turns, without those
// whose URL is empty.
func links(data []byte, element string, relations ...string) []byte {
	for link := range slices.Chunk(relations, 3) {
		if link[2] != "" {
			data = emptyElement(data, element, "rel", link[0], "type", link[1], "href", link[2])
		}
	}
	return data
}

// emptyElement writes an element without content: names and values of attributes in turns.
func emptyElement(data []byte, name string, namesAndValues ...string) []byte {
	return append(attributes(append(append(data, '<'), name...), namesAndValues...), "/>"...)
}

// attributes writes attributes, without those whose value is empty.
func attributes(data []byte, namesAndValues ...string) []byte {
	for pair := range slices.Chunk(namesAndValues, 2) {
		if pair[1] != "" {
			data = append(appendXML(append(append(append(data, ' '), pair[0]...), `="`...), pair[1]), '"')
		}
	}
	return data
}

// xmlEscapes are those of content and attributes; characters that XML 1.0 forbids go. A reader
// would make a line feed of a carriage return.
var xmlEscapes = strings.NewReplacer(append(
	[]string{"&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "\r", "&#13;", "\uFFFE", "", "\uFFFF", ""}, without(' ', "\n\t")...,
)...)

func appendXML(data []byte, text string) []byte {
	return append(data, xmlEscapes.Replace(strings.ToValidUTF8(text, "\uFFFD"))...)
}
