// Package conferences turns the edit history of a public list of conferences
// into lines of internal/importer, for tests only.
//
// One change of the history is one line about an event with the key
// "event:<id>". Before the first line that needs them there are lines that make
// venues (one for each city and country, key "venue:<city>|<country>"),
// categories (topics, "category:<topic>") and tags (languages, "tag:EN").
package conferences

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"
	"time"

	"daybook/internal/importer"
)

// Change is one line of the history.
type Change struct {
	Seq    int64  `json:"seq"`
	At     int64  `json:"at"` // Unix seconds
	Author int    `json:"author"`
	Action string `json:"action"` // created, updated, removed
	ID     int64  `json:"id"`
	Topic  string `json:"topic"`
	Record *Entry `json:"record"`
}

// Entry is a conference as the history gives it, whole on every line. What
// people typed is not checked.
type Entry struct {
	Name       string `json:"name"`
	URL        string `json:"url"`
	StartDate  string `json:"startDate"`
	EndDate    string `json:"endDate"`
	City       string `json:"city"`
	Country    string `json:"country"`
	Online     bool   `json:"online"`
	Locales    string `json:"locales"`
	CfpURL     string `json:"cfpUrl"`
	CfpEndDate string `json:"cfpEndDate"`
	CocURL     string `json:"cocUrl"`
	SignedOrCC bool   `json:"offersSignLanguageOrCC"`
}

// Place is where a conference takes place; the zero Place is none.
type Place struct{ City, Country string }

// Key is the key of its venue. Cities that differ in case or spaces only share
// it.
func (p Place) Key() string { return "venue:" + fold(p.City) + "|" + fold(p.Country) }

// Name is the name of its venue.
func (p Place) Name() string {
	if p.Country == "" {
		return p.City
	}
	return p.City + ", " + p.Country
}

// Read calls f for each change of a history, plain or gzip, in order.
func Read(r io.Reader, f func(Change) error) error {
	in, err := importer.Open(r)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bufio.NewReader(in))
	for n := 1; ; n++ {
		var c Change
		err := d.Decode(&c)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("change %d of the history: %w", n, err)
		}
		if err := f(c); err != nil {
			return err
		}
	}
}

// Convert writes a history as lines of an import. Malformed dates that can be
// read in one way only are mended; the others are passed on, so that the import
// refuses the line with a reason.
func Convert(w io.Writer, history io.Reader) error {
	out := bufio.NewWriter(w)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	made := map[string]bool{}
	err := Read(history, func(c Change) error {
		for _, l := range c.lines(made) {
			if err := e.Encode(l); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// lines are the line of a change, and before it those that make what it names
// first; made holds their keys.
func (c *Change) lines(made map[string]bool) []importer.Line {
	base := importer.Line{
		At:     importer.Moment{Time: time.Unix(c.At, 0).UTC()},
		Author: fmt.Sprintf("author-%d", c.Author),
	}
	event := base
	event.Kind, event.Key = "event", fmt.Sprintf("event:%d", c.ID)
	var lines []importer.Line
	need := func(kind, key string, fields map[string]any) any {
		if !made[key] {
			made[key] = true
			l := base
			l.Action, l.Kind, l.Key, l.Fields = importer.ActionCreate, kind, key, fields
			lines = append(lines, l)
		}
		return map[string]any{"key": key}
	}
	switch c.Action {
	case "removed":
		event.Action = importer.ActionDelete
		return []importer.Line{event}
	case "created":
		event.Action = importer.ActionCreate
	default: // an update holds the whole entry, so it mends a refused create
		event.Action = importer.ActionPut
	}
	r := c.Record
	if r == nil {
		r = &Entry{}
	}
	event.Fields = map[string]any{
		"title": r.title(), "website": r.website(), "all_day": true, "timezone": "UTC",
		"start_date": r.start(), "end_date": r.end(), "description": r.description(),
		"venue": []any{}, "categories": []any{}, "tags": []any{},
	}
	if p := r.Place(); p != (Place{}) {
		event.Fields["venue"] = need("venue", p.Key(), map[string]any{
			"venue": html.EscapeString(p.Name()), "city": html.EscapeString(p.City), "country": html.EscapeString(p.Country),
		})
	}
	if topic := strings.TrimSpace(c.Topic); topic != "" {
		event.Fields["categories"] = []any{need("category", "category:"+topic, map[string]any{"name": html.EscapeString(topic)})}
	}
	tags := []any{}
	for _, tag := range r.Tags() {
		tags = append(tags, need("tag", "tag:"+tag, map[string]any{"name": tag}))
	}
	event.Fields["tags"] = tags
	return append(lines, event)
}

// plain is a text as it was meant: entities that were typed are characters.
func plain(s string) string { return strings.Join(strings.Fields(html.UnescapeString(s)), " ") }

// fold makes the form in which places are compared.
func fold(s string) string { return strings.ToLower(plain(s)) }

// title is the name as HTML, which titles are read as: "c't <webdev>" keeps its
// last word.
func (r *Entry) title() string { return html.EscapeString(plain(r.Name)) }

// website is the URL, with the scheme that was left out and with blanks encoded.
func (r *Entry) website() string { return mendURL(r.URL) }

func mendURL(s string) string {
	s = strings.Trim(s, "\u202c \t\r\n\u00a0")
	if s == "" {
		return ""
	}
	s = schemeForm.ReplaceAllString(s, "$1://")
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	return strings.ReplaceAll(s, " ", "%20")
}

var (
	// schemeForm is a scheme as it is also mistyped, twice at times.
	schemeForm = regexp.MustCompile(`^(?:https?[:.]*//)*(https?)[:.]*//`)
	dateForm   = regexp.MustCompile(`^(\d{4})[-–—](\d{1,2})[-–—](\d{1,2})$`)
)

// mendDate gives YYYY-MM-DD for a date whose parts are clear: dashes of another
// length, a month or day of one digit. Everything else is left.
func mendDate(s string) string {
	m := dateForm.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return s
	}
	return fmt.Sprintf("%s-%02s-%02s", m[1], m[2], m[3])
}

func (r *Entry) start() string { return mendDate(r.StartDate) }

// end is the last day; without one the conference lasts a day.
func (r *Entry) end() string {
	if r.EndDate == "" {
		return r.start()
	}
	return mendDate(r.EndDate)
}

// nowhere are the words that people put for the place of an online conference.
var nowhere = map[string]bool{
	"online": true, "on-line": true, "virtual": true, "virtually": true, "remote": true, "internet": true,
	"virtual event": true, "virtual conference": true,
}

// Place is where the conference takes place, none for one that is only online.
// A conference that is online too keeps its place.
func (r *Entry) Place() Place {
	p := Place{City: plain(r.City), Country: plain(r.Country)}
	if p.City == "" || nowhere[fold(p.City)] || nowhere[fold(p.Country)] {
		return Place{}
	}
	return p
}

// Tags are the languages, upper case, and "Online" for a conference that can be
// followed from anywhere.
func (r *Entry) Tags() []string {
	var tags []string
	seen := map[string]bool{}
	add := func(tag string) {
		if tag != "" && !seen[tag] {
			seen[tag] = true
			tags = append(tags, tag)
		}
	}
	for l := range strings.SplitSeq(r.Locales, ",") {
		add(strings.ToUpper(strings.TrimSpace(l)))
	}
	if r.Online || r.City != "" && r.Place() == (Place{}) {
		add("Online")
	}
	return tags
}

// description lists what the interface has no field for.
func (r *Entry) description() string {
	var items []string
	link := func(u, text string) string {
		return `<a href="` + html.EscapeString(u) + `">` + html.EscapeString(text) + `</a>`
	}
	add := func(item string) { items = append(items, "<li>"+item+"</li>") }
	if u := mendURL(r.CfpURL); u != "" {
		item := link(u, "Call for papers")
		if until := mendDate(r.CfpEndDate); until != "" {
			item += " until " + html.EscapeString(until)
		}
		add(item)
	}
	if u := mendURL(r.CocURL); u != "" {
		add(link(u, "Code of conduct"))
	}
	if r.SignedOrCC {
		add("Sign language or closed captions")
	}
	if len(items) == 0 {
		return ""
	}
	return "<ul>" + strings.Join(items, "") + "</ul>"
}
