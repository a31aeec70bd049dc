package pages

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/internal/texts"
	"daybook/query"
)

// Own parameters of embedded pages and of oEmbed.
const (
	paramView   = "view"
	paramTheme  = "theme"
	paramURL    = "url"
	paramFormat = "format"
	maxWidth    = "maxwidth"
	maxHeight   = "maxheight"
)

//go:embed element/daybook-calendar.js
var elementScript []byte

// elementFile is the path of the script of <daybook-calendar>.
const elementFile = "/embed/v1/daybook-calendar.js"

// elementConfig stands in that script for what it has of the service.
const elementConfig = `"CONFIG"`

// elementTexts are the texts of <daybook-calendar> by their names in the script, which puts
// values in the places of %s.
var elementTexts = map[string]string{
	"title": "list.title", "allDay": "event.all_day", "until": "until", "comma": "comma", "more": "count.more.other", "moreOne": "count.more.one", "zone": "zone.told",
	"previous": "step.previous", "next": "step.next", "previousPage": "pager.previous", "nextPage": "pager.next",
	"empty": "empty.list", "emptyMonth": "empty.period", "error": "error.503", "cancelled": "badge.cancelled", "postponed": "badge.postponed",
	"one": "count.events.one", "many": "count.events.many", "other": "count.events.other",
}

// shaping are the parameters of lists that do not select, beside those that pages do not
// know.
var shaping = []string{paramPage, paramPerPage, "facets", "facet_limit", "facet_query", "highlight", "highlight_length"}

// element writes the script of <daybook-calendar> for this service.
func (p *Pages) element() ([]byte, error) {
	var selecting []string
	for _, param := range query.Params(calendar.KindEvent) {
		if !slices.Contains(outside, param.Name) && !slices.Contains(shaping, param.Name) {
			selecting = append(selecting, param.Name)
		}
	}
	words := map[string]any{}
	for _, l := range calendar.Langs {
		of := map[string]any{"twelve": p.speech(l).twelve, "sunday": p.o.Sunday}
		for name, key := range elementTexts {
			of[name] = word(key, l, "%s")
		}
		words[l.String()] = of
	}
	b, err := json.Marshal(map[string]any{"namespace": p.o.Namespace, "selecting": selecting, "words": words})
	if err != nil {
		return nil, err
	}
	return bytes.Replace(elementScript, []byte(elementConfig), b, 1), nil
}

// embedded tells that the page is one for frames of other sites.
func (r *Request) embedded() bool { return r.Route.name == pageEmbed }

// Embedded is the same for templates.
func (l *look) Embedded() bool { return l.embedded() }

// IsEvent tells that the page is that of an event, IsPeriod that it is a month, week or day.
func (l *look) IsEvent() bool { return l.Route.of == pageEvent }

func (l *look) IsPeriod() bool { _, is := l.Body.(*periodBody); return is }

// Theme is the theme that an embedded page was asked for, "" for that of the reader.
func (l *look) Theme() string {
	if theme := l.Query.Get(paramTheme); l.Embedded() && (theme == "light" || theme == "dark") {
		return theme
	}
	return ""
}

// checkWord checks a parameter that takes one of some words.
func (l *look) checkWord(name string, words ...string) {
	if v := l.Query.Get(name); v != "" && !slices.Contains(words, v) {
		l.bad.Add(name, calendar.ReasonWord, strings.Join(words, ","))
	}
}

// serveEmbed answers a page for frames of other sites: without header, footer and
// switches, with links that lead out of the frame (PAGES.md P8.2).
func (l *look) serveEmbed() {
	l.checkWord(paramTheme, "auto", "light", "dark")
	if l.Route.of == pageEvent {
		if l.err = l.bad.Err(); l.err != nil {
			return
		}
		if v, locked := l.readRecord(); !l.done() {
			l.event(&v, locked)
		}
		l.NoIndex = true
		return
	}
	l.checkWord(paramView, "list", "month")
	month := l.Query.Get(paramView) == "month"
	path, over := "/events/", period{}
	if month {
		first := units[0].start(l.today(nil))
		path, over = monthPath(first), units[0].over(first)
	}
	if l.choose(path, over, query.Of{}); l.err != nil {
		return
	}
	if month {
		l.period(units[0])
	} else {
		l.Title, l.Heading = l.text("list.title"), l.text("list.title")
		l.Body = l.list()
	}
	l.NoIndex = true
}

// outOfFrame makes links lead out of the frame. In a page "<a " begins links only: texts
// and attributes are escaped.
func outOfFrame(page []byte) []byte {
	return bytes.ReplaceAll(page, []byte("<a "), []byte(`<a target="_top" `))
}

// oembed is an answer of oEmbed 1.0.
type oembed struct {
	XMLName      xml.Name `json:"-" xml:"oembed"`
	Version      string   `json:"version" xml:"version"`
	Type         string   `json:"type" xml:"type"`
	Title        string   `json:"title" xml:"title"`
	ProviderName string   `json:"provider_name" xml:"provider_name"`
	ProviderURL  string   `json:"provider_url" xml:"provider_url"`
	AuthorName   string   `json:"author_name,omitempty" xml:"author_name,omitempty"`
	AuthorURL    string   `json:"author_url,omitempty" xml:"author_url,omitempty"`
	CacheAge     int      `json:"cache_age" xml:"cache_age"`
	HTML         string   `json:"html,omitempty" xml:"html,omitempty"`
	Width        int      `json:"width,omitempty" xml:"width,omitempty"`
	Height       int      `json:"height,omitempty" xml:"height,omitempty"`
	Thumbnail    string   `json:"thumbnail_url,omitempty" xml:"thumbnail_url,omitempty"`
}

// Sizes of an embedded event in pixels, and for how many seconds consumers may keep what
// they were told.
const (
	embedWidth, embedHeight = 480, 320
	oembedAge               = 3600
)

// serveOEmbed tells how a page of an event is embedded (oembed.com).
func (p *Pages) serveOEmbed(ctx context.Context, r *Request) (*Answer, error) {
	var bad calendar.Problems
	size := func(name string, standard int) int {
		v := r.Query.Get(name)
		if v == "" {
			return standard
		}
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 {
			bad.Add(name, calendar.ReasonTypeInteger, v)
		}
		return min(n, standard)
	}
	width, height := size(maxWidth, embedWidth), size(maxHeight, embedHeight)
	asked := r.Query.Get(paramURL)
	if asked == "" {
		return oembedError(http.StatusBadRequest, calendar.CodeMissingParam, "url: the page of an event is required")
	}
	if refused := bad.Fields; len(refused) > 0 {
		return oembedError(http.StatusBadRequest, calendar.CodeInvalidParam, texts.FieldMessage(refused[0], calendar.LangEN))
	}
	format := cmp.Or(r.Query.Get(paramFormat), "json")
	if format != "json" && format != "xml" {
		return oembedError(http.StatusNotImplemented, calendar.CodeInvalidParam, "format: json or xml")
	}
	none := func() (*Answer, error) {
		return oembedError(http.StatusNotFound, calendar.CodeNotFound, "url: not the page of an event of this calendar")
	}
	route, ok := p.eventOf(r, asked)
	if !ok {
		return none()
	}
	page := *r
	page.Route = route
	l := p.look(ctx, &page)
	v, locked := l.readRecord()
	if _, refused := errors.AsType[*calendar.Error](l.err); refused || l.answer != nil {
		return none()
	}
	if l.err != nil {
		return nil, l.err
	}
	title, _ := v.Record.Name(route.lang)
	home := r.Base + segments[route.lang] + "/"
	out := oembed{Version: "1.0", Type: "link", Title: title, ProviderName: p.o.Brand.Name, ProviderURL: home, CacheAge: oembedAge}
	if !locked {
		out.Type, out.Width, out.Height = "rich", width, height
		out.HTML = fmt.Sprintf(`<iframe src="%s" width="%d" height="%d" title="%s" sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation" loading="lazy"></iframe>`,
			escaped(home+"embed"+recordPath(v.Record)), width, height, escaped(title))
		if len(v.Organizers) > 0 {
			o := l.named(v.Organizers[0].Record, v.Organizers[0].Status)
			out.AuthorName, out.AuthorURL = o.Label, o.URL()
		}
		out.Thumbnail = v.Record.Fields.String("image_url")
	}
	a := &Answer{Status: http.StatusOK, Type: "application/json; charset=utf-8", Lang: route.lang, Open: true}
	if format == "xml" {
		a.Type = "text/xml; charset=utf-8"
		body, err := xml.Marshal(out)
		a.Body = append([]byte(xml.Header), body...)
		return a, err
	}
	var err error
	a.Body, err = json.Marshal(out)
	return a, err
}

// eventOf finds the page of an event by its URL, whatever its scheme.
func (p *Pages) eventOf(r *Request, asked string) (Route, bool) {
	u, err := url.Parse(asked)
	base, baseErr := url.Parse(r.Base)
	if err != nil || baseErr != nil || !strings.EqualFold(u.Host, base.Host) || u.Scheme != "http" && u.Scheme != "https" {
		return Route{}, false
	}
	below, ok := strings.CutPrefix(u.EscapedPath(), base.EscapedPath())
	if !ok || !strings.HasPrefix(below, "/") {
		return Route{}, false
	}
	route, ok := Find(below)
	return route, ok && !route.wrong && route.name == pageEvent
}

// oembedError is a refusal in the form of the interface.
func oembedError(status int, code calendar.Code, message string) (*Answer, error) {
	body, err := json.Marshal(map[string]any{"code": code, "message": message, "data": map[string]int{"status": status}})
	return &Answer{Status: status, Type: "application/json; charset=utf-8", Body: body, Lang: calendar.LangEN, Open: true}, err
}
