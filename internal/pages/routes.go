package pages

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"daybook/calendar"
)

// name is that of a page: its data-page.
type name string

// The pages of PAGES.md P1.1.
const (
	pageHome      name = "home"
	pageList      name = "list"
	pageMonth     name = "month"
	pageWeek      name = "week"
	pageDay       name = "day"
	pageMap       name = "map"
	pageSearch    name = "search"
	pageEvent     name = "event"
	pageVenue     name = "venue"
	pageOrganizer name = "organizer"
	pageCategory  name = "category"
	pageTag       name = "tag"
	pageDirectory name = "directory"
	pageHistory   name = "history"
	pageDocs      name = "docs"
	pageEmbed     name = "embed"
	pageError     name = "error"
)

// page is a row of the table of pages and files.
type page struct {
	name    name           // "" for a file, which is there once, without a language
	pattern string         // of its path; {slug} and {period} stand for what a path names
	form    *regexp.Regexp // the same, for the path below the language
	kind    calendar.Kind  // of records and directories
	of      name           // the page that a history is of
	unit    *unit          // of month, week and day
	title   string         // key of its heading, "" where the page makes it
	own     []string       // parameters beside those of pages and of lists
	only    []string       // those of lists that it takes; nil: all
	selects bool           // it shows a selection of events
	past    bool           // and on demand those that have ended
	noIndex bool
	media   string // of a file
	serve   func(*pageBuilder)

	// Stays tells that it is made from the event store while the read model is away, Still that
	// it shows nothing of the calendar.
	Stays, Still bool
	// Open tells that pages of every origin may load it, as reads of the interface, Unlocks that
	// a password may be sent to it, and Asset that it is a file that pages load.
	Open, Unlocks, Asset bool
	// Desk tells that it is a path of the desk.
	Desk bool
	// Cache is its Cache-Control, "" for that of pages.
	Cache string
}

var (
	pages       []*page
	errorPage   = page{name: pageError, pattern: "/"}
	recordPages = map[calendar.Kind]*page{}
)

// elementFile is the path of the script of <daybook-calendar>.
const elementFile = "/embed/v1/daybook-calendar.js"

func init() { // what serves a page finds other pages
	icon := func(builder *pageBuilder) { builder.send(builder.assets.named["favicon.svg"].Body) }
	pages = []*page{
		{name: pageHome, pattern: "/", own: []string{paramPast, "event", "venue", "organizer"}, only: []string{paramPage}, selects: true, serve: (*pageBuilder).serveHome},
		{name: pageList, pattern: "/events/", title: "list.title", selects: true, past: true, serve: (*pageBuilder).serveList},
		{name: pageMap, pattern: "/events/map/", title: "map.title", selects: true, serve: (*pageBuilder).serveList},
		{name: pageSearch, pattern: "/search/", title: "search.title", selects: true, noIndex: true, serve: (*pageBuilder).serveList},
		{name: pageDocs, pattern: "/docs/", title: "docs.title", serve: (*pageBuilder).serveDocs},
		{name: pageEmbed, pattern: "/embed/events/", own: []string{paramView, paramTheme}, selects: true, past: true, serve: (*pageBuilder).serveEmbed},
		{name: pageEmbed, pattern: "/embed/event/{slug}/", kind: calendar.KindEvent, own: []string{paramTheme}, serve: (*pageBuilder).serveEmbed, Stays: true},
		{pattern: "/robots.txt", media: "text/plain; charset=utf-8", serve: func(builder *pageBuilder) { builder.write("robots.txt", builder.options.Prefixes) }, Still: true},
		{pattern: "/opensearch.xml", media: "application/opensearchdescription+xml; charset=utf-8", serve: func(builder *pageBuilder) { builder.write("opensearch.xml", builder.text("search.title")) }, Still: true},
		{pattern: "/favicon.svg", media: medias[".svg"], serve: icon, Still: true},
		{pattern: "/favicon.ico", media: medias[".svg"], serve: icon, Still: true},
		{pattern: "/sitemap.xml", media: mediaXML, serve: func(builder *pageBuilder) {
			builder.write("sitemap.xml", keep(builder, &builder.siteMap, (*pageBuilder).makeSiteFiles))
		}},
		{pattern: "/sitemap/{slug}", media: mediaXML, serve: (*pageBuilder).serveSiteFile},
		{pattern: "/assets/{slug}", Asset: true},
		{pattern: "/desk/", media: TypeHTML, serve: (*pageBuilder).serveDesk, Still: true, Desk: true, Cache: "no-store"},
		{pattern: deskAssets + "{slug}", Asset: true, Desk: true},
		{pattern: elementFile, media: medias[".js"], serve: func(builder *pageBuilder) { builder.send(builder.script) }, Still: true, Open: true, Cache: "public, max-age=300, stale-while-revalidate=86400"},
		{pattern: "/oembed", own: []string{paramURL, paramFormat, maxWidth, maxHeight}, serve: (*pageBuilder).serveOEmbed, Stays: true, Open: true},
	}
	for _, unit := range units {
		for _, period := range []string{"", "{period}/"} {
			pages = append(pages, &page{name: unit.page, pattern: "/events/" + string(unit.page) + "/" + period, unit: unit, selects: true, noIndex: unit.page != pageMonth, serve: (*pageBuilder).servePeriod})
		}
	}
	for _, kind := range calendar.Kinds {
		of, path, isEvent := name(kind.String()), "/"+kind.String()+"/{slug}/", kind == calendar.KindEvent
		if kind.IsTerm() {
			path = "/events" + path
		}
		recordPages[kind] = &page{name: of, pattern: path, kind: kind, own: []string{paramAsOf, paramZone}, selects: !isEvent, past: !isEvent, serve: (*pageBuilder).serveRecord, Stays: true, Unlocks: isEvent}
		pages = append(pages, recordPages[kind],
			&page{name: pageHistory, pattern: path + "history/", kind: kind, of: of, own: []string{paramPage, paramZone, paramFrom, paramTo}, noIndex: true, serve: (*pageBuilder).serveHistory, Stays: true})
		if !isEvent {
			pages = append(pages, &page{name: pageDirectory, pattern: "/" + kind.Collection() + "/", kind: kind, title: "directory." + kind.Collection(), serve: (*pageBuilder).serveDirectory})
		}
	}
	named := strings.NewReplacer(`\{slug\}`, "([^/]+)", `\{period\}`, `([\dW-]+)`)
	for _, p := range pages {
		p.form = regexp.MustCompile("^" + named.Replace(regexp.QuoteMeta(strings.TrimSuffix(p.pattern, "/"))) + "/?$")
	}
}

// unit is a length of time that has a page.
type unit struct {
	page   name
	layout string                                     // of its name in paths; "": it is a week
	start  func(day time.Time) time.Time              // first day of the one in which a day is
	step   func(first time.Time, count int) time.Time // first day of the nth one after it
	label  func(s locale, first time.Time) string
}

var units = []*unit{
	{pageMonth, "2006-01", func(instant time.Time) time.Time { return instant.AddDate(0, 0, 1-instant.Day()) }, func(instant time.Time, count int) time.Time { return instant.AddDate(0, count, 0) }, locale.month},
	{pageWeek, "", func(instant time.Time) time.Time { return instant.AddDate(0, 0, -(int(instant.Weekday())+6)%7) }, func(instant time.Time, count int) time.Time { return instant.AddDate(0, 0, 7*count) }, locale.week},
	{pageDay, time.DateOnly, func(instant time.Time) time.Time { return instant }, func(instant time.Time, count int) time.Time { return instant.AddDate(0, 0, count) }, locale.date},
}

// format names the one that begins with a day.
func (unit *unit) format(first time.Time) string {
	if unit.layout != "" {
		return first.Format(unit.layout)
	}
	year, week := first.ISOWeek()
	return fmt.Sprintf("%04d-W%02d", year, week)
}

// path is that of the page on which a day is.
func (unit *unit) path(day time.Time) string {
	return "/events/" + string(unit.page) + "/" + unit.format(unit.start(day)) + "/"
}

func monthPath(instant time.Time) string { return units[0].path(instant) }
func dayPath(instant time.Time) string   { return units[2].path(instant) }

// over is the one that begins with a day.
func (unit *unit) over(first time.Time) period {
	return period{true, first, unit.step(first, 1).AddDate(0, 0, -1)}
}

// parse reads YYYY-MM, YYYY-Www or YYYY-MM-DD: the first day, in UTC.
func (unit *unit) parse(text string) (first time.Time, ok bool) {
	if unit.layout != "" {
		first, _ = time.Parse(unit.layout, text)
	} else {
		var year, week int
		_, _ = fmt.Sscanf(text, "%4d-W%2d", &year, &week)     // what it cannot read is not written so
		fourth := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC) // is in week 1
		first = unit.step(unit.start(fourth), week-1)
	}
	return first, first.Year() >= 1 && unit.format(first) == text
}

// Route is where a path leads.
type Route struct {
	*page

	language calendar.Lang
	slug     string      // or the name of a file
	id       calendar.ID // of a record that is not named by its slug
	// period is that of a path, and first its first day.
	period string
	first  time.Time
	// proper is the path, moved the same where it was written in another way, else "".
	proper string
	moved  string
	// wrong tells that the path is one of a page but names what there is not: month 13, or no text.
	wrong bool
}

// segments are the language segments of paths, in the order of calendar.Langs.
var segments = [...]string{calendar.LangCN: "/cn", calendar.LangEN: "", calendar.LangFR: "/fr", calendar.LangES: "/es"}

// FirstSegments returns the first segments of the paths of pages. No prefix of the interface
// may begin with one of them.
func FirstSegments() (names []string) {
	for _, page := range pages {
		names = append(names, strings.Split(page.pattern, "/")[1])
	}
	return names
}

var slashes = regexp.MustCompile("//+")

// Find returns where an escaped path below the base URL leads, false for no page.
func Find(escaped string) (Route, bool) {
	path := slashes.ReplaceAllString(escaped, "/")
	route, below := Route{language: calendar.LangEN}, path
	for _, language := range calendar.Langs {
		if text := segments[language]; text != "" && strings.HasPrefix(path+"/", text+"/") {
			route.language, below = language, path[len(text):]
		}
	}
	var named []string
	i := slices.IndexFunc(pages, func(p *page) bool {
		named = p.form.FindStringSubmatch(below)
		return named != nil && (p.name != "" || below == path)
	})
	if i < 0 {
		return route, false
	}
	switch route.page = pages[i]; {
	case len(named) < 2:
	case route.unit != nil:
		first, ok := route.unit.parse(named[1])
		route.period, route.first, route.wrong = named[1], first, !ok
	default:
		slug, err := url.PathUnescape(named[1])
		route.slug, route.wrong = strings.ToLower(slug), err != nil || !utf8.ValidString(slug)
	}
	if route.proper = segments[route.language] + route.below(); route.proper != escaped && !route.wrong {
		route.moved = route.proper
	}
	return route, true
}

// Nowhere is the route of a path that is none of a page, in a language.
func Nowhere(language calendar.Lang) Route { return Route{page: &errorPage, language: language} }

// below is the path of a route below its language, with a query for a record without a slug.
func (route Route) below() string {
	if route.slug == "" && route.id != 0 {
		return "/" + route.named().String()
	}
	return strings.NewReplacer("{slug}", url.PathEscape(route.slug), "{period}", route.period).Replace(route.pattern)
}

// named is what names a record without a slug.
func (route Route) named() params {
	if route.id == 0 {
		return nil
	}
	return params{{Name: route.kind.String(), Value: route.id.String()}}
}

// recordPath is the path of the page of a record below its language.
func recordPath(record *calendar.Record) string {
	return Route{page: recordPages[record.Kind], slug: record.Slug(), id: record.ID}.below()
}

// onto adds a query to a path that may have one.
func onto(path, query string) string {
	if strings.Contains(path, "?") {
		query = strings.Replace(query, "?", "&", 1)
	}
	return path + query
}
