package pages

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
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

// page is a row of the table of pages.
type page struct {
	name    name
	pattern string        // of its path; {slug} and {period} stand for what a path names
	kind    calendar.Kind // of records and directories
	of      name          // the page that a history is of, or that is embedded
	unit    *unit         // of month, week and day
	title   string        // key of its heading, "" where the page makes it
	own     []string      // parameters beside language and preview
	only    []string      // those of lists that it takes; nil: all
	selects bool          // it shows a selection of events
	past    bool          // and on demand those that have ended
	stays   bool          // it is made from the event store while the read model is away
	noIndex bool
	serve   func(*look)
}

var (
	pages       []page
	errorPage   = page{name: pageError, pattern: "/"}
	filePage    page
	recordPages = map[calendar.Kind]*page{}
)

func init() { // what serves a page finds other pages
	zone := []string{paramZone}
	pages = []page{
		{name: pageHome, pattern: "/", own: []string{paramZone, paramPast, "event", "venue", "organizer"}, only: []string{paramPage}, selects: true, serve: (*look).serveHome},
		{name: pageList, pattern: "/events/", title: "list.title", own: zone, selects: true, past: true, serve: (*look).serveList},
		{name: pageMap, pattern: "/events/map/", title: "map.title", own: zone, selects: true, serve: (*look).serveList},
		{name: pageSearch, pattern: "/search/", title: "search.title", own: zone, selects: true, noIndex: true, serve: (*look).serveList},
		{name: pageDocs, pattern: "/docs/", title: "docs.title", serve: (*look).serveDocs},
		{name: pageEmbed, pattern: "/embed/events/", of: pageList, own: []string{paramZone, paramView, paramTheme}, selects: true, past: true, noIndex: true, serve: (*look).serveEmbed},
		{name: pageEmbed, pattern: "/embed/event/{slug}/", of: pageEvent, kind: calendar.KindEvent, own: []string{paramView, paramTheme}, stays: true, noIndex: true, serve: (*look).serveEmbed},
	}
	for _, u := range units {
		for _, pattern := range []string{"/events/" + string(u.page) + "/", "/events/" + string(u.page) + "/{period}/"} {
			pages = append(pages, page{name: u.page, pattern: pattern, unit: u, own: zone, selects: true, noIndex: u.page != pageMonth, serve: (*look).servePeriod})
		}
	}
	for _, k := range calendar.Kinds {
		of, path := name(k.String()), "/"+k.String()+"/{slug}/"
		if k.IsTerm() {
			path = "/events" + path
		}
		pages = append(pages,
			page{name: of, pattern: path, kind: k, own: []string{paramAsOf, paramZone}, selects: k != calendar.KindEvent, past: k != calendar.KindEvent, stays: true, serve: (*look).serveRecord},
			page{name: pageHistory, pattern: path + "history/", kind: k, of: of, own: []string{paramPage, paramZone, paramFrom, paramTo}, stays: true, noIndex: true, serve: (*look).serveHistory})
		if k != calendar.KindEvent {
			pages = append(pages, page{name: pageDirectory, pattern: "/" + k.Collection() + "/", kind: k, title: "directory." + k.Collection(), serve: (*look).serveDirectory})
		}
	}
	for i := range pages {
		if p := &pages[i]; p.name == name(p.kind.String()) {
			recordPages[p.kind] = p
		}
	}
}

// unit is a length of time that has a page.
type unit struct {
	page   name
	layout string                                 // of its name in paths; "": it is a week
	start  func(day time.Time) time.Time          // first day of the one in which a day is
	step   func(first time.Time, n int) time.Time // first day of the nth one after it
	label  func(s speech, first time.Time) string
}

var units = []*unit{
	{pageMonth, "2006-01", func(t time.Time) time.Time { return t.AddDate(0, 0, 1-t.Day()) }, func(t time.Time, n int) time.Time { return t.AddDate(0, n, 0) }, speech.month},
	{pageWeek, "", func(t time.Time) time.Time { return t.AddDate(0, 0, -(int(t.Weekday())+6)%7) }, func(t time.Time, n int) time.Time { return t.AddDate(0, 0, 7*n) }, speech.week},
	{pageDay, time.DateOnly, func(t time.Time) time.Time { return t }, func(t time.Time, n int) time.Time { return t.AddDate(0, 0, n) }, speech.date},
}

// format names the one that begins with a day.
func (u *unit) format(first time.Time) string {
	if u.layout != "" {
		return first.Format(u.layout)
	}
	year, week := first.ISOWeek()
	return fmt.Sprintf("%04d-W%02d", year, week)
}

// path is that of the page on which a day is.
func (u *unit) path(day time.Time) string {
	return "/events/" + string(u.page) + "/" + u.format(u.start(day)) + "/"
}

func monthPath(t time.Time) string { return units[0].path(t) }
func dayPath(t time.Time) string   { return units[2].path(t) }

// over is the one that begins with a day.
func (u *unit) over(first time.Time) period {
	return period{true, first, u.step(first, 1).AddDate(0, 0, -1)}
}

var weekForm = regexp.MustCompile(`^(\d{4})-W(\d\d)$`)

// parse reads YYYY-MM, YYYY-Www or YYYY-MM-DD: the first day, in UTC.
func (u *unit) parse(s string) (first time.Time, ok bool) {
	if u.layout != "" {
		first, _ = time.ParseInLocation(u.layout, s, time.UTC)
	} else if m := weekForm.FindStringSubmatch(s); m != nil {
		year, _ := strconv.Atoi(m[1])
		week, _ := strconv.Atoi(m[2])
		fourth := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC) // is in week 1
		first = u.step(u.start(fourth), week-1)
	}
	return first, first.Year() >= 1 && u.format(first) == s
}

// Route is where a path leads.
type Route struct {
	*page

	lang calendar.Lang
	slug string
	id   calendar.ID // of a record that is not named by its slug
	// period is that of a path, and first its first day.
	period string
	first  time.Time
	// file is a path that is there once, without a language: an asset, a sitemap.
	file string
	// proper is the path, moved the same where it was written in another way, else "".
	proper string
	moved  string
	// wrong tells that the path is one of a page but names what there is not: month 13, or no text.
	wrong bool
}

// segments are the language segments of paths, in the order of calendar.Langs.
var segments = [...]string{calendar.LangCN: "/cn", calendar.LangEN: "", calendar.LangFR: "/fr", calendar.LangES: "/es"}

// files are the paths that are there once, folders hold further ones.
var (
	files   = []string{"/sitemap.xml", "/robots.txt", "/opensearch.xml", "/favicon.svg", "/favicon.ico", "/oembed", elementFile}
	folders = []string{"/sitemap/", "/assets/"}
)

// FirstSegments returns the first segments of the paths of pages. No prefix of the interface
// may begin with one of them.
func FirstSegments() []string {
	out := []string{"sitemap", "assets"}
	add := func(path string) {
		if first := strings.Split(path, "/")[1]; first != "" && !slices.Contains(out, first) {
			out = append(out, first)
		}
	}
	for i := range pages {
		add(pages[i].pattern)
	}
	for _, f := range files {
		add(f)
	}
	return out
}

var slashes = regexp.MustCompile("//+")

// Find returns where an escaped path below the base URL leads, false for no page.
func Find(escaped string) (Route, bool) {
	path := slashes.ReplaceAllString(escaped, "/")
	r := Route{page: &filePage, lang: calendar.LangEN}
	below := path
	for _, l := range calendar.Langs {
		if s := segments[l]; s != "" && (path == s || strings.HasPrefix(path, s+"/")) {
			r.lang, below = l, path[len(s):]
		}
	}
	parts := strings.Split(strings.Trim(below, "/"), "/")
	if slices.Contains(files, path) || slices.ContainsFunc(folders, func(f string) bool { return strings.HasPrefix(path, f) && len(path) > len(f) }) {
		r.file, r.proper = path, path
	} else if i := slices.IndexFunc(pages, func(p page) bool { return r.reads(p.pattern, p.unit, parts) }); i >= 0 {
		r.page = &pages[i]
		r.proper = segments[r.lang] + r.below()
	} else {
		return Route{}, false
	}
	if !utf8.ValidString(r.slug) {
		r.wrong = true
	} else if r.proper != escaped {
		r.moved = r.proper
	}
	return r, true
}

// reads reads a path that may be of a pattern.
func (r *Route) reads(pattern string, u *unit, parts []string) bool {
	names := strings.Split(strings.Trim(pattern, "/"), "/")
	if len(names) != len(parts) {
		return false
	}
	for i, part := range parts {
		switch names[i] {
		case part:
		case "{slug}":
			plain, err := url.PathUnescape(part)
			if err != nil {
				return false
			}
			if r.slug = plain; utf8.ValidString(plain) {
				r.slug = strings.ToLower(plain)
			}
		case "{period}":
			first, ok := u.parse(part)
			if !ok && strings.Trim(part, "0123456789-W") != "" { // is not meant as a date
				return false
			}
			r.period, r.first, r.wrong = part, first, !ok
		default:
			return false
		}
	}
	return true
}

// Nowhere is the route of a path that is none of a page, in a language.
func Nowhere(l calendar.Lang) Route { return Route{page: &errorPage, lang: l} }

// below is the path of a route below its language, with a query for a record without a slug.
func (r *Route) below() string {
	if r.slug == "" && r.id != 0 {
		return "/" + r.named().String()
	}
	return strings.NewReplacer("{slug}", url.PathEscape(r.slug), "{period}", r.period).Replace(r.pattern)
}

// named is what names a record without a slug.
func (r *Route) named() params {
	if r.id == 0 {
		return nil
	}
	return params{{Name: r.kind.String(), Value: r.id.String()}}
}

// recordPath is the path of the page of a record below its language.
func recordPath(r *calendar.Record) string {
	route := Route{page: recordPages[r.Kind], slug: r.Slug(), id: r.ID}
	return route.below()
}

// onto adds a query to a path that may have one.
func onto(path, query string) string {
	if strings.Contains(path, "?") {
		query = strings.Replace(query, "?", "&", 1)
	}
	return path + query
}
