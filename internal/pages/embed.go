package pages

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
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

// elementTexts are the texts of <daybook-calendar> by their names in the script, which puts
// values in the places of %s.
//
//go:embed element/texts.json
var elementTexts []byte

// elementConfig stands in that script for what it has of the service.
const elementConfig = `"CONFIG"`

// element writes the script of <daybook-calendar> for this service.
func (pages *Pages) element() ([]byte, error) {
	var keys map[string]string
	if err := json.Unmarshal(elementTexts, &keys); err != nil {
		return nil, err
	}
	words := map[string]any{}
	for _, language := range calendar.Langs {
		of := map[string]any{"twelve": pages.speech(language).Twelve, "sunday": pages.options.WeekStart == "sunday"}
		for name, key := range keys {
			of[name] = word(key, language, "%s")
		}
		words[language.String()] = of
	}
	var selecting []string
	for _, param := range query.Params("events") {
		if _, known := listParams[param.Name]; known && !slices.Contains(shaping, param.Name) {
			selecting = append(selecting, param.Name)
		}
	}
	data, err := json.Marshal(map[string]any{"namespace": pages.options.Namespace, "selecting": selecting, "words": words})
	return bytes.Replace(elementScript, []byte(elementConfig), data, 1), err
}

// serveEmbed answers a page for frames of other sites: another one without header, footer and
// switches, with links that lead out of the frame (PAGES.md P8.2).
func (builder *pageBuilder) serveEmbed() {
	for _, param := range [][2]string{{paramTheme, "auto, light, dark"}, {paramView, "list, month"}} {
		if text := builder.Query.Get(param[0]); text != "" && !slices.Contains(strings.Split(param[1], ", "), text) {
			builder.bad.Add(param[0], calendar.ReasonWord, param[1])
		}
	}
	path := "/events/"
	switch {
	case builder.Route.slug != "":
		builder.Page = pageEvent
		builder.serveRecord()
		return
	case builder.Query.Get(paramView) == "month":
		path = "/events/month/"
	}
	request := *builder.Request
	request.Route, _ = Find(segments[builder.language] + path)
	builder.Request, builder.Page = &request, request.Route.name
	request.Route.serve(builder)
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

// serveOEmbed tells how a page of an event is embedded (oembed.com).
func (builder *pageBuilder) serveOEmbed() {
	status, told := builder.oembed()
	answer := &Answer{Status: status, Type: "application/json; charset=utf-8", Lang: builder.language}
	var err error
	if status == http.StatusOK && builder.Query.Get(paramFormat) == "xml" {
		answer.Type = "text/xml; charset=utf-8"
		answer.Body, err = xml.Marshal(told)
		answer.Body = append([]byte(xml.Header), answer.Body...)
	} else {
		answer.Body, err = json.Marshal(told)
	}
	builder.answer, builder.err = answer, cmp.Or(builder.err, err)
}

func (builder *pageBuilder) oembed() (status int, told any) {
	refuse := func(status int, code calendar.Code, message string) (int, any) {
		return status, map[string]any{"code": code, "message": message, "data": map[string]int{"status": status}}
	}
	size := [2]int{480, 320} // of an embedded event, in pixels
	for i, param := range [2]string{maxWidth, maxHeight} {
		if text := builder.Query.Get(param); text != "" {
			most, err := strconv.Atoi(text)
			if err != nil || most < 1 {
				builder.bad.Add(param, calendar.ReasonTypeInteger, text)
			}
			size[i] = min(size[i], most)
		}
	}
	asked, format := builder.Query.Get(paramURL), builder.Query.Get(paramFormat)
	switch {
	case asked == "":
		return refuse(http.StatusBadRequest, calendar.CodeMissingParam, "url: the page of an event is required")
	case len(builder.bad.Fields) > 0:
		return refuse(http.StatusBadRequest, calendar.CodeInvalidParam, texts.FieldMessage(builder.bad.Fields[0], calendar.LangEN))
	case format != "" && format != "json" && format != "xml":
		return refuse(http.StatusNotImplemented, calendar.CodeInvalidParam, "format: json or xml")
	}
	request := *builder.Request
	var view query.View
	var is, locked bool
	if request.Route, is = builder.eventOf(asked); is {
		*builder = *builder.look(builder.ctx, &request)
		view, locked = builder.readRecord()
	}
	if _, refused := errors.AsType[*calendar.Error](builder.err); !is || refused || builder.answer != nil {
		builder.err = nil
		return refuse(http.StatusNotFound, calendar.CodeNotFound, "url: not the page of an event of this calendar")
	}
	if builder.err != nil {
		return 0, nil
	}
	home, title := builder.absolute(builder.language, "/"), builder.named(view.Record, view.Status).Label
	result := oembed{Version: "1.0", Type: "link", Title: title, ProviderName: builder.Site(), ProviderURL: home, CacheAge: 3600}
	if !locked {
		result.Type, result.Width, result.Height = "rich", size[0], size[1]
		result.HTML = fmt.Sprintf(`<iframe src="%s" width="%d" height="%d" title="%s" sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation" loading="lazy"></iframe>`,
			html.EscapeString(home+"embed"+recordPath(view.Record)), result.Width, result.Height, html.EscapeString(title))
		if len(view.Organizers) > 0 {
			named := builder.named(view.Organizers[0].Record, view.Organizers[0].Status)
			result.AuthorName, result.AuthorURL = named.Label, named.URL()
		}
		result.Thumbnail = view.Record.Fields.String("image_url")
	}
	return http.StatusOK, result
}

// eventOf finds the page of an event by its URL, whatever its scheme.
func (request *Request) eventOf(asked string) (Route, bool) {
	address, err := url.Parse(asked)
	_, base, _ := strings.Cut(request.Base, "://")
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || !strings.EqualFold(address.Host+request.Path, base) {
		return Route{}, false
	}
	below, ok := strings.CutPrefix(address.EscapedPath(), request.Path)
	route, found := Find(below)
	return route, ok && found && route.name == pageEvent
}
