package httpapi

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"daybook/calendar"
	"daybook/internal/httpapi/openapi"
)

// route is one row of the table of section 1.4, or of an extension.
type route struct {
	openapi.Route

	pattern    string        // below the namespace, as chi reads it
	kind       calendar.Kind // of the records in its answers, 0: of none alone
	of         calendar.Kind // of the record that its events are of; 0: all
	collection bool          // it lists and creates the records of a kind
	single     bool          // it names one record
	bySlug     bool          // that by its slug
	past       bool          // its reads may name a point in time by a parameter
	timed      bool          // and by a header, too (HISTORY 8.1)
	operations []operation
	number     int      // its place in routes, from 1
	methods    []string // in the order of Allow, without OPTIONS, and HEAD next to GET
	allow      string   // value of Allow with all methods
}

// operation is what some methods of a route do.
type operation struct {
	openapi.Operation

	work work
}

// work carries out an operation.
type work func(a *api, w http.ResponseWriter, r *http.Request) error

var (
	readOnly      = []string{http.MethodGet}
	createOnly    = []string{http.MethodPost}
	changeMethods = []string{http.MethodPost, http.MethodPut, http.MethodPatch}
	deleteOnly    = []string{http.MethodDelete}
)

// routes are those of section 1.4 in its order, those of extensions behind what they
// belong to.
var routes = makeRoutes()

func makeRoutes() []*route {
	all := baseRoutes()
	for _, k := range calendar.Kinds {
		all = append(all, recordRoutes(k)...)
	}
	all = slices.Concat(all, []*route{changesRoute(), streamRoute()}, proofRoutes(), eventRoutes())
	for i, rt := range all {
		rt.complete(i + 1)
	}
	return all
}

// complete fills in what follows from the other fields.
func (rt *route) complete(number int) {
	rt.number = number
	for _, op := range rt.operations {
		rt.Operations = append(rt.Operations, op.Operation)
		rt.methods = append(rt.methods, op.Methods...)
	}
	allow := slices.Clone(rt.methods)
	if allow[0] == http.MethodGet {
		allow = slices.Insert(allow, 1, http.MethodHead)
	}
	rt.allow = strings.Join(append(allow, http.MethodOptions), ", ")
	rt.Tag = cmp.Or(rt.Tag, rt.kind.Collection())
	rt.Template = cmp.Or(rt.Template, templateOf.Replace(rt.pattern))
	rt.Key = cmp.Or(rt.Key, strings.TrimSuffix(keyOf.Replace(rt.pattern), "/"))
}

// templateOf and keyOf make what OpenAPI and the index write of a pattern.
var (
	templateOf = strings.NewReplacer("{id:[0-9]+}", "{id}", listEnding, ".{format}", eventEnding, ".{format}")
	keyOf      = strings.NewReplacer("{id:[0-9]+}", `(?P<id>\d+)`, "{slug}", `(?P<slug>[^/]+)`, "{format:(", "(?P<format>", ")}", ")")
)

// The endings that name a format: one group each, since the router puts its anchors at the
// outer ends alone.
const (
	listEnding  = ".{format:(ics|rss|atom|jsonfeed|geojson|csv|ndjson)}"
	eventEnding = ".{format:(ics|geojson)}"
)

// asks reports whether a POST on the route is a read.
func (rt *route) asks() bool {
	return rt != nil && rt.methods[0] == http.MethodPost
}

// vary sets Vary where more than the headers of all answers counts: the answer to a read
// may be that of a time which a header names.
func (rt *route) vary(h http.Header, method string) {
	if rt.timed && (method == http.MethodGet || method == http.MethodHead) {
		h["Vary"] = valueVaryTime
	}
}

// The values of Allow for callers who may not write.
var (
	valueAllowRead = []string{"GET, HEAD, OPTIONS"}
	valueAllowAsk  = []string{"POST, OPTIONS"}
)

// allowOpen is Allow with the methods that are open to everybody.
func (rt *route) allowOpen() []string {
	if rt.asks() {
		return valueAllowAsk
	}
	return valueAllowRead
}

// allowFor is Allow with the methods that are open to the role of a caller.
func (rt *route) allowFor(c calendar.Caller) string {
	if rt.writes() && c.Role != calendar.Anonymous && calendar.MayWrite(c, rt.kind, rt.collection) == nil {
		return rt.allow
	}
	return rt.allowOpen()[0]
}

// writes reports whether the route has an operation that writes.
func (rt *route) writes() bool {
	return slices.ContainsFunc(rt.operations, func(op operation) bool { return op.Writes })
}

// handler does the work of one operation; a returned error becomes the answer.
type handler func(w http.ResponseWriter, r *http.Request) error

// newMux registers every route, and returns the search for the route of a path
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
		for _, op := range rt.operations {
			serve := a.serve(rt, func(w http.ResponseWriter, r *http.Request) error { return op.work(a, w, r) })
			for _, method := range op.Methods {
				m.Method(method, rt.pattern, serve)
				if method == http.MethodGet {
					m.Method(http.MethodHead, rt.pattern, serve)
				}
			}
		}
		m.Method(http.MethodOptions, rt.pattern, a.serve(rt, a.options))
	}
	return m, func(path string) *route {
		return byPattern[m.Find(chi.NewRouteContext(), http.MethodOptions, path)]
	}
}

// methodNotAllowed answers a method that a path lacks, and every odd method on
// any path.
func (a *api) methodNotAllowed(w http.ResponseWriter, r *http.Request) error {
	rt := a.find(callOf(r).loc.rest)
	if rt == nil {
		return calendar.Fail(calendar.CodeNoRoute, 0)
	}
	w.Header().Set(headerAllow, rt.allow)
	return calendar.Fail(calendar.CodeMethodNotAllowed, 0)
}
