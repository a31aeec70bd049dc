package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"daybook/internal/importer"
	"daybook/internal/testkit/engines"
)

// openHistory opens the edit history of conferences that DAYBOOK_HISTORY names or, where
// DAYBOOK_REQUIRE has "history", the one in ../shared/data next to the module. What is made
// of it takes minutes, so without either the test does not run.
func openHistory(t *testing.T) *os.File {
	t.Helper()
	path := os.Getenv("DAYBOOK_HISTORY")
	if path == "" {
		if !engines.Required("history") {
			engines.Require(t, "history", "neither DAYBOOK_REQUIRE nor DAYBOOK_HISTORY asks for it")
		}
		path = filepath.Join("..", "..", "..", "shared", "data", "conference-history.ndjson.gz")
	}
	file, err := os.Open(path)
	if err != nil {
		engines.Require(t, "history", err.Error()+" (DAYBOOK_HISTORY names the file)")
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}

// conferenceChange is one line of the history.
type conferenceChange struct {
	At     int64 // Unix seconds
	Author int
	Action string // created, updated, removed
	ID     int64
	Topic  string
	Record conferenceEntry
}

// conferenceEntry is a conference as the history gives it, whole on every line. What people
// typed is not checked.
type conferenceEntry struct {
	Name, URL, StartDate, EndDate, City, Country, Locales, CfpURL, CfpEndDate, CocURL string
	Online, OffersSignLanguageOrCC                                                    bool
}

// conferenceLines returns the history as lines of an import. A change is one line about an
// event with the key "event:<id>". Before the first line that needs them there are lines
// that create venues (key "venue:<city>|<country>"), categories ("category:<topic>") and
// tags ("tag:EN"). Malformed dates that can be read in one way only are corrected; the
// others are passed on, so that the import refuses the line.
func conferenceLines(t *testing.T) []byte {
	t.Helper()
	history, err := importer.Open(openHistory(t))
	must(t, err)
	var out bytes.Buffer
	lines := json.NewEncoder(&out)
	lines.SetEscapeHTML(false)
	created := map[string]bool{}
	for changes := json.NewDecoder(history); ; {
		var change conferenceChange
		if err := changes.Decode(&change); errors.Is(err, io.EOF) {
			return out.Bytes()
		} else if err != nil {
			t.Fatal(err)
		}
		line := importer.Line{
			At: importer.Moment{Time: time.Unix(change.At, 0).UTC()}, Author: fmt.Sprintf("author-%d", change.Author),
			Kind: "event", Key: fmt.Sprintf("event:%d", change.ID),
		}
		switch change.Action {
		case "removed":
			line.Action = importer.ActionDelete
		case "created":
			line.Action = importer.ActionCreate
		default: // an update holds the whole entry, so it repairs a refused create
			line.Action = importer.ActionPut
		}
		if change.Action != "removed" {
			line.Fields = change.fields(func(kind, key string, fields map[string]any) any {
				if !created[key] {
					created[key] = true
					must(t, lines.Encode(importer.Line{At: line.At, Author: line.Author, Action: importer.ActionCreate, Kind: kind, Key: key, Fields: fields}))
				}
				return map[string]any{"key": key}
			})
		}
		must(t, lines.Encode(line))
	}
}

// fields returns the fields of the event; reference returns the value of a field that names
// another record, which it creates when it is named first.
func (conferenceChange *conferenceChange) fields(reference func(kind, key string, fields map[string]any) any) map[string]any {
	conferenceEntry := &conferenceChange.Record
	end := conferenceEntry.EndDate
	if end == "" {
		end = conferenceEntry.StartDate
	}
	fields := map[string]any{
		"title": html.EscapeString(plainText(conferenceEntry.Name)), "website": conferenceURL(conferenceEntry.URL), "all_day": true, "timezone": "UTC",
		"start_date": conferenceDate(conferenceEntry.StartDate), "end_date": conferenceDate(end), "description": conferenceEntry.description(),
		"venue": []any{}, "categories": []any{},
	}
	city, country := plainText(conferenceEntry.City), plainText(conferenceEntry.Country)
	placed := city != "" && !onlineWords[strings.ToLower(city)] && !onlineWords[strings.ToLower(country)]
	if placed {
		name := city
		if country != "" {
			name += ", " + country
		}
		fields["venue"] = reference("venue", strings.ToLower("venue:"+city+"|"+country), map[string]any{
			"venue": html.EscapeString(name), "city": html.EscapeString(city), "country": html.EscapeString(country),
		})
	}
	if topic := strings.TrimSpace(conferenceChange.Topic); topic != "" {
		fields["categories"] = []any{reference("category", "category:"+topic, map[string]any{"name": html.EscapeString(topic)})}
	}
	names := strings.Split(strings.ToUpper(conferenceEntry.Locales), ",")
	if conferenceEntry.Online || conferenceEntry.City != "" && !placed {
		names = append(names, "Online")
	}
	tags, seen := []any{}, map[string]bool{"": true}
	for _, name := range names {
		if name = strings.TrimSpace(name); !seen[name] {
			seen[name] = true
			tags = append(tags, reference("tag", "tag:"+name, map[string]any{"name": name}))
		}
	}
	fields["tags"] = tags
	return fields
}

// description lists what the interface has no field for.
func (conferenceEntry *conferenceEntry) description() string {
	items := ""
	link := func(address, text, more string) {
		if address = conferenceURL(address); address != "" {
			items += `<li><a href="` + html.EscapeString(address) + `">` + text + `</a>` + more + `</li>`
		}
	}
	until := ""
	if conferenceEntry.CfpEndDate != "" {
		until = " until " + html.EscapeString(conferenceDate(conferenceEntry.CfpEndDate))
	}
	link(conferenceEntry.CfpURL, "Call for papers", until)
	link(conferenceEntry.CocURL, "Code of conduct", "")
	if conferenceEntry.OffersSignLanguageOrCC {
		items += "<li>Sign language or closed captions</li>"
	}
	if items == "" {
		return ""
	}
	return "<ul>" + items + "</ul>"
}

// plainText is a text as it was meant: entities that were typed are characters.
func plainText(text string) string {
	return strings.Join(strings.Fields(html.UnescapeString(text)), " ")
}

// onlineWords are what people put for the place of an online conference, lower case.
var onlineWords = map[string]bool{
	"online": true, "on-line": true, "virtual": true, "virtually": true, "remote": true, "internet": true,
	"virtual event": true, "virtual conference": true,
}

var (
	// mistypedScheme is a scheme as it is also mistyped, twice at times.
	mistypedScheme = regexp.MustCompile(`^(?:https?[:.]*//)*(https?)[:.]*//`)
	mistypedDate   = regexp.MustCompile(`^(\d{4})[-–—](\d{1,2})[-–—](\d{1,2})$`)
)

// conferenceURL is a URL with the scheme that was left out and with blanks encoded.
func conferenceURL(text string) string {
	text = strings.Trim(text, "\u202c \t\r\n\u00a0")
	if text == "" {
		return ""
	}
	text = mistypedScheme.ReplaceAllString(text, "$1://")
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	return strings.ReplaceAll(text, " ", "%20")
}

// conferenceDate returns YYYY-MM-DD for a date whose parts are clear: dashes of another
// length, a month or day of one digit. It leaves everything else.
func conferenceDate(text string) string {
	texts := mistypedDate.FindStringSubmatch(strings.TrimSpace(text))
	if texts == nil {
		return text
	}
	return fmt.Sprintf("%s-%02s-%02s", texts[1], texts[2], texts[3])
}
