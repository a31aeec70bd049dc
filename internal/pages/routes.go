package pages

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

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

// recordPages are the pages of records by their kind.
var recordPages = map[calendar.Kind]name{
	calendar.KindEvent: pageEvent, calendar.KindVenue: pageVenue, calendar.KindOrganizer: pageOrganizer,
	calendar.KindCategory: pageCategory, calendar.KindTag: pageTag,
}

// Route is where a path leads.
type Route struct {
	lang calendar.Lang
	page name
	kind calendar.Kind // of records and directories
	slug string
	id   calendar.ID // of a record that is not named by its slug
	// of is the page that the history is of, and the view that is embedded.
	of name
	// first is the first day that month, week and day show, where hasPeriod tells that the
	// path names one.
	first     time.Time
	hasPeriod bool
	// file is a path that is there once, without a language: an asset, a sitemap.
	file string
	// proper is the path, moved the same where it was written in another way, else "".
	proper string
	moved  string
	// wrong tells that the path is one of a page but names what there is not, month 13.
	wrong bool
}

// segments are the language segments of paths, in the order of calendar.Langs.
var segments = [...]string{calendar.LangCN: "/cn", calendar.LangEN: "", calendar.LangFR: "/fr", calendar.LangES: "/es"}

// files are the paths that are there once.
var files = []string{"/sitemap.xml", "/robots.txt", "/opensearch.xml", "/favicon.svg", "/favicon.ico", "/oembed", "/embed/v1/daybook-calendar.js"}

// folders hold further ones.
var folders = []string{"/sitemap/", "/assets/"}

// FirstSegments are the first segments of the paths of pages. No prefix of the interface
// may begin with one of them.
var FirstSegments = []string{
	"events", "event", "venue", "organizer", "venues", "organizers", "categories", "tags", "search", "docs", "embed",
	"sitemap.xml", "sitemap", "robots.txt", "opensearch.xml", "favicon.svg", "favicon.ico", "oembed", "assets",
}

// Find gives where an escaped path below the base URL leads, false for no page.
func Find(escaped string) (Route, bool) {
	path := escaped
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	if slices.Contains(files, path) || slices.ContainsFunc(folders, func(f string) bool { return strings.HasPrefix(path, f) && len(path) > len(f) }) {
		r := Route{lang: calendar.LangEN, file: path, proper: path}
		if path != escaped {
			r.moved = path
		}
		return r, true
	}
	r := Route{lang: calendar.LangEN}
	below := path
	for _, l := range calendar.Langs {
		if s := segments[l]; s != "" && (path == s || strings.HasPrefix(path, s+"/")) {
			r.lang, below = l, path[len(s):]
		}
	}
	if !strings.HasSuffix(below, "/") {
		below += "/"
	}
	below, ok := r.read(below)
	if !ok {
		return Route{}, false
	}
	if r.proper = segments[r.lang] + below; r.proper != escaped {
		r.moved = r.proper
	}
	return r, true
}

// Nowhere is the route of a path that is none of a page, in a language.
func Nowhere(l calendar.Lang) Route { return Route{lang: l, page: pageError} }

// collections are the directories by their path.
var collections = map[string]calendar.Kind{
	"venues": calendar.KindVenue, "organizers": calendar.KindOrganizer, "categories": calendar.KindCategory, "tags": calendar.KindTag,
}

// read reads a path below the language segment, which ends in a slash, and gives it in
// its proper spelling.
func (r *Route) read(path string) (string, bool) {
	if path == "/" {
		r.page = pageHome
		return path, true
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch n := len(parts); {
	case n == 1 && parts[0] == "events":
		r.page = pageList
	case n == 1 && parts[0] == "search":
		r.page = pageSearch
	case n == 1 && parts[0] == "docs":
		r.page = pageDocs
	case n == 1 && collections[parts[0]] != 0:
		r.page, r.kind = pageDirectory, collections[parts[0]]
	case n == 2 && parts[0] == "events" && parts[1] == "map":
		r.page = pageMap
	case n == 2 && parts[0] == "embed" && parts[1] == "events":
		r.page, r.of = pageEmbed, pageList
	case n == 3 && parts[0] == "embed" && parts[1] == "event":
		r.page, r.of, r.kind = pageEmbed, pageEvent, calendar.KindEvent
		return r.named(parts, 2)
	case n >= 2 && n <= 3 && parts[0] == "events" && periods[parts[1]] != "":
		return r.dated(parts)
	case n >= 2 && recordsAt[parts[0]] != 0:
		r.kind = recordsAt[parts[0]]
		return r.record(parts, 1)
	case n >= 3 && parts[0] == "events" && termsAt[parts[1]] != 0:
		r.kind = termsAt[parts[1]]
		return r.record(parts, 2)
	default:
		return "", false
	}
	return path, true
}

var (
	recordsAt = map[string]calendar.Kind{"event": calendar.KindEvent, "venue": calendar.KindVenue, "organizer": calendar.KindOrganizer}
	termsAt   = map[string]calendar.Kind{"category": calendar.KindCategory, "tag": calendar.KindTag}
	periods   = map[string]name{"month": pageMonth, "week": pageWeek, "day": pageDay}
)

// record reads the path of a record, whose slug is at a place, and of its history.
func (r *Route) record(parts []string, slug int) (string, bool) {
	r.page = recordPages[r.kind]
	switch {
	case len(parts) == slug+1:
	case len(parts) == slug+2 && parts[slug+1] == "history":
		r.page, r.of = pageHistory, r.page
	default:
		return "", false
	}
	return r.named(parts, slug)
}

// named reads the slug of a path.
func (r *Route) named(parts []string, at int) (string, bool) {
	plain, err := url.PathUnescape(parts[at])
	if err != nil {
		return "", false
	}
	r.slug = strings.ToLower(plain)
	proper := slices.Clone(parts)
	proper[at] = url.PathEscape(r.slug)
	return "/" + strings.Join(proper, "/") + "/", true
}

// dated reads the path of a month, week or day.
func (r *Route) dated(parts []string) (string, bool) {
	r.page = periods[parts[1]]
	path := "/" + strings.Join(parts, "/") + "/"
	if len(parts) == 2 {
		return path, true
	}
	r.first, r.hasPeriod = readPeriod(r.page, parts[2])
	if r.wrong = !r.hasPeriod; r.wrong && !looksLikePeriod(parts[2]) {
		return "", false
	}
	return path, true
}

// looksLikePeriod tells whether a segment is meant as a date, so that it is a page for
// people that there is not.
func looksLikePeriod(s string) bool {
	return s != "" && strings.Trim(s, "0123456789-W") == ""
}

// readPeriod reads YYYY-MM, YYYY-Www or YYYY-MM-DD: the first day, in UTC.
func readPeriod(page name, s string) (time.Time, bool) {
	layout := map[name]string{pageMonth: "2006-01", pageDay: time.DateOnly}[page]
	if layout != "" {
		t, err := time.ParseInLocation(layout, s, time.UTC)
		return t, err == nil && t.Year() >= 1 && len(s) == len(layout)
	}
	if len(s) != len("2006-W01") || s[4:6] != "-W" {
		return time.Time{}, false
	}
	year, err := strconv.Atoi(s[:4])
	week, err2 := strconv.Atoi(s[6:])
	if err != nil || err2 != nil || year < 1 {
		return time.Time{}, false
	}
	t := weekStart(year, week)
	y, w := t.ISOWeek()
	return t, y == year && w == week && t.Year() >= 1
}

// weekStart gives the Monday of an ISO week: that of week 1 has 4 January in it.
func weekStart(year, week int) time.Time {
	fourth := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC)
	return fourth.AddDate(0, 0, -(int(fourth.Weekday())+6)%7+7*(week-1))
}

// Paths of pages below the base URL.

func monthPath(t time.Time) string { return "/events/month/" + t.Format("2006-01") + "/" }

func dayPath(t time.Time) string { return "/events/day/" + t.Format(time.DateOnly) + "/" }

func weekPath(t time.Time) string {
	y, w := t.ISOWeek()
	return "/events/week/" + pad(y, 4) + "-W" + pad(w, 2) + "/"
}

func pad(n, digits int) string {
	s := strconv.Itoa(n)
	return strings.Repeat("0", max(0, digits-len(s))) + s
}

// recordPath gives the path of the page of a record below its language.
func recordPath(k calendar.Kind, slug string) string {
	slug = url.PathEscape(slug)
	switch k {
	case calendar.KindCategory:
		return "/events/category/" + slug + "/"
	case calendar.KindTag:
		return "/events/tag/" + slug + "/"
	default:
	}
	return "/" + k.String() + "/" + slug + "/"
}
