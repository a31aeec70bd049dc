package httpapi

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"daybook/calendar"
	"daybook/internal/param"
)

// form is what a route shows.
type form uint8

const (
	formIndex form = iota + 1
	formDoc
	formCollection
	formByID
	formBySlug
	formExtra    // see extra
	formFeed     // a list of events in the format of its ending
	formEvent    // an event in the format of its ending
	formOf       // the events of a record
	formOfFeed   // these in the format of their ending
	formCalendar // the source of calendar widgets
	formSearch   // several searches of events
	formClusters // clusters of a map
)

// route is one row of the table of section 1.4, or of an extension.
type route struct {
	pattern string // below the namespace, as chi reads it
	kind    calendar.Kind
	form    form
	of      calendar.Kind // of the record that its events are of; 0: all
	methods []string      // in the order of Allow, without OPTIONS, and HEAD beside GET
	number  int           // its place in routes, from 1
	shown   string        // the pattern as OpenAPI writes it
	extra   *extra        // of formExtra
}

// extra is all that a route of an extension has: one operation that reads.
type extra struct {
	verb     string                        // names the operation in texts and in the documentation
	key      string                        // the path as the index writes it; "": the pattern
	args     func(rt *route) []param.Param // path parameters first
	sends    []string                      // headers of requests
	headers  []string                      // headers of its answers
	statuses []int                         // refusals beside those that every route has
	content  func() object                 // its answers by media type
	work     func(a *api) handler
}

var (
	readOnly     = []string{http.MethodGet}
	askOnly      = []string{http.MethodPost}
	readOrCreate = []string{http.MethodGet, http.MethodPost}
	readOrChange = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
)

// routes are those of section 1.4 in its order, those of extensions behind what they
// belong to.
var routes = makeRoutes()

func makeRoutes() []*route {
	rs := []*route{
		{pattern: "/", form: formIndex, methods: readOnly},
		{pattern: "/doc", form: formDoc, methods: readOnly},
	}
	for _, k := range calendar.Kinds {
		rs = append(
			rs,
			&route{pattern: "/" + k.Collection(), kind: k, form: formCollection, methods: readOrCreate},
			&route{pattern: "/" + k.Collection() + "/{id:[0-9]+}", kind: k, form: formByID, methods: readOrChange},
		)
		if k.IsPost() {
			rs = append(rs, &route{pattern: "/" + k.Collection() + "/by-slug/{slug}", kind: k, form: formBySlug, methods: readOrChange})
		}
		for _, x := range extrasOfRecords() {
			rs = append(rs, &route{pattern: "/" + k.Collection() + "/{id:[0-9]+}/" + x.verb, kind: k, form: formExtra, methods: readOnly, extra: x})
		}
	}
	for _, x := range extrasOfLog() {
		rs = append(rs, &route{pattern: x.path, form: formExtra, methods: readOnly, extra: x.extra})
	}
	events := "/" + calendar.KindEvent.Collection()
	rs = append(
		rs,
		&route{pattern: events + listEnding, kind: calendar.KindEvent, form: formFeed, methods: readOnly},
		&route{pattern: events + "/{id:[0-9]+}" + eventEnding, kind: calendar.KindEvent, form: formEvent, methods: readOnly},
	)
	for _, k := range calendar.Kinds[1:] {
		of := "/" + k.Collection() + "/{id:[0-9]+}" + events
		rs = append(
			rs,
			&route{pattern: of, kind: calendar.KindEvent, of: k, form: formOf, methods: readOnly},
			&route{pattern: of + listEnding, kind: calendar.KindEvent, of: k, form: formOfFeed, methods: readOnly},
		)
	}
	rs = append(
		rs,
		&route{pattern: events + "/calendar", kind: calendar.KindEvent, form: formCalendar, methods: readOnly},
		&route{pattern: events + "/search", kind: calendar.KindEvent, form: formSearch, methods: askOnly},
		&route{pattern: events + "/clusters", kind: calendar.KindEvent, form: formClusters, methods: readOnly},
		&route{pattern: "/suggest", form: formExtra, methods: readOnly, extra: suggestRoute()},
	)
	for i, rt := range rs {
		rt.number, rt.shown = i+1, shownAs.Replace(rt.pattern)
	}
	return rs
}

// extrasOfRecords are the routes of extensions below each record; their verbs end them.
func extrasOfRecords() []*extra {
	return []*extra{historyRoute(), timeMapRoute(), diffRoute()}
}

// pathExtra is a route of an extension at a path of its own.
type pathExtra struct {
	path string
	*extra
}

func extrasOfLog() []pathExtra {
	return append([]pathExtra{{"/changes", changesRoute()}, {"/changes/stream", streamRoute()}}, proofRoutes()...)
}

// shownAs writes a pattern as OpenAPI does.
var shownAs = strings.NewReplacer("{id:[0-9]+}", "{id}", patternTile, "/tile/{level}/{tile}", listEnding, ".{format}", eventEnding, ".{format}")

// The endings that name a format: one group each, since the router puts its anchors at the
// outer ends alone.
const (
	listEnding  = ".{format:(ics|rss|atom|jsonfeed|geojson|csv|ndjson)}"
	eventEnding = ".{format:(ics|geojson)}"
)

// ended tells whether the path names the format.
func (rt *route) ended() bool {
	return rt.form == formFeed || rt.form == formEvent || rt.form == formOfFeed
}

// extension tells whether the route goes beyond the interface document.
func (rt *route) extension() bool { return rt.form >= formExtra }

// asks tells whether a POST on the route is a read.
func (rt *route) asks() bool { return rt != nil && rt.form == formSearch }

// template is the path as OpenAPI writes it.
func (rt *route) template() string { return rt.shown }

// key is the path below the API root as the index writes it.
func (rt *route) key(namespace string) string {
	if rt.extra != nil && rt.extra.key != "" {
		return "/" + namespace + rt.extra.key
	}
	s := strings.Replace(rt.pattern, "{id:[0-9]+}", `(?P<id>\d+)`, 1)
	s = strings.Replace(s, "{slug}", `(?P<slug>[^/]+)`, 1)
	if before, names, ended := strings.Cut(s, "{format:("); ended {
		s = before + "(?P<format>" + strings.TrimSuffix(names, "}")
	}
	return "/" + namespace + strings.TrimSuffix(s, "/")
}

// single tells whether the route names one record.
func (rt *route) single() bool {
	return rt.form == formByID || rt.form == formBySlug || rt.form == formEvent
}

// negotiatesTime tells whether the answers to a method are those of a time that the
// request may name in a header (HISTORY 8.1).
func (rt *route) negotiatesTime(method string) bool {
	return (rt.form == formByID || rt.form == formCollection) && (method == http.MethodGet || method == http.MethodHead)
}

// vary sets Vary where more than the headers of all answers counts.
func (rt *route) vary(h http.Header, method string) {
	if rt.negotiatesTime(method) {
		h["Vary"] = valueVaryTime
	}
}

// allow is the value of Allow: all methods of the path, or those open to a
// caller.
func (rt *route) allow(may func(create bool) bool) string {
	out := []string{http.MethodGet, http.MethodHead}
	for _, m := range rt.methods {
		if m != http.MethodGet && (may == nil || may(rt.form == formCollection)) {
			out = append(out, m)
		}
	}
	return strings.Join(append(out, http.MethodOptions), ", ")
}

// The values of Allow that there are.
var (
	allowRead       = (&route{methods: readOnly}).allow(nil)
	valueAllowRead  = []string{allowRead}
	valueAllowAsk   = []string{http.MethodPost + ", " + http.MethodOptions}
	allowCollection = (&route{methods: readOrCreate}).allow(nil)
	allowSingle     = (&route{methods: readOrChange}).allow(nil)
)

// allowAll is Allow with all methods of the path.
func (rt *route) allowAll() string {
	switch {
	case rt.asks():
		return valueAllowAsk[0]
	case rt.extension():
		return allowRead
	case rt.single():
		return allowSingle
	case rt.form == formCollection:
		return allowCollection
	default:
		return allowRead
	}
}

// allowOpen is Allow with the methods that are open to everybody.
func (rt *route) allowOpen() []string {
	if rt.asks() {
		return valueAllowAsk
	}
	return valueAllowRead
}

// allowFor is Allow with the methods that are open to the role of a caller.
func (rt *route) allowFor(c calendar.Caller) string {
	if rt.kind == 0 || rt.extra != nil || c.Role == calendar.Anonymous || calendar.MayWrite(c, rt.kind, rt.form == formCollection) != nil {
		return allowRead
	}
	return rt.allowAll()
}

// handler does the work of one operation; a returned error becomes the answer.
type handler func(w http.ResponseWriter, r *http.Request) error

// newMux registers every route, and gives the search for the route of a path
// whatever the method.
func (a *api) newMux() (mux http.Handler, find func(path string) *route) {
	m := chi.NewRouter()
	m.NotFound(a.serve(nil, func(http.ResponseWriter, *http.Request) error {
		return calendar.Fail(calendar.CodeNoRoute, 0)
	}))
	m.MethodNotAllowed(a.serve(nil, a.methodNotAllowed))
	byPattern := make(map[string]*route, len(routes))
	for _, rt := range routes {
		byPattern[rt.pattern] = rt
		for _, method := range rt.methods {
			m.Method(method, rt.pattern, a.serve(rt, a.operation(rt, method)))
		}
		if !rt.asks() {
			m.Method(http.MethodHead, rt.pattern, a.serve(rt, a.operation(rt, http.MethodGet)))
		}
		m.Method(http.MethodOptions, rt.pattern, a.serve(rt, a.options))
	}
	return m, func(path string) *route {
		return byPattern[m.Find(chi.NewRouteContext(), http.MethodOptions, path)]
	}
}

// operation is the work behind a method of a route.
func (a *api) operation(rt *route, method string) handler {
	switch {
	case rt.form == formIndex:
		return a.index
	case rt.form == formDoc:
		return a.documentation
	case rt.extra != nil:
		return rt.extra.work(a)
	case rt.form == formCalendar:
		return a.calendarSource
	case rt.form == formSearch:
		return a.several
	case rt.form == formClusters:
		return a.clusters
	case method == http.MethodGet && (rt.form == formCollection || rt.form == formFeed || rt.form == formOf || rt.form == formOfFeed):
		return a.list
	case method == http.MethodGet:
		return a.read
	case method == http.MethodDelete:
		return a.delete
	case rt.form == formCollection:
		return a.create
	default:
		return a.update
	}
}

// methodNotAllowed answers a method that a path lacks, and every odd method on
// any path.
func (a *api) methodNotAllowed(w http.ResponseWriter, r *http.Request) error {
	rt := a.find(callOf(r).loc.rest)
	if rt == nil {
		return calendar.Fail(calendar.CodeNoRoute, 0)
	}
	w.Header().Set(headerAllow, rt.allowAll())
	return calendar.Fail(calendar.CodeMethodNotAllowed, 0)
}
