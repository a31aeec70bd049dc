package httpapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"daybook/calendar"
	"daybook/internal/param"
)

// route is one row of the table of section 1.4, or of an extension.
type route struct {
	pattern    string        // below the namespace, as chi reads it
	template   string        // as OpenAPI writes it; "": made from the pattern
	key        string        // as the index writes it, below the namespace; "": made from the pattern
	name       string        // ends the operationId of OPTIONS
	kind       calendar.Kind // of the records in its answers, 0: of none alone
	tag        string        // its group in the documentation; "": the collection of its kind
	of         calendar.Kind // of the record that its events are of; 0: all
	extension  bool          // it goes beyond the interface document
	collection bool          // it lists and creates the records of a kind
	single     bool          // it names one record
	bySlug     bool          // that by its slug
	ended      bool          // the path names the format
	past       bool          // its reads may name a point in time by a parameter
	timed      bool          // and by a header, too (HISTORY 8.1)
	operations []operation
	number     int      // its place in routes, from 1
	methods    []string // in the order of Allow, without OPTIONS, and HEAD beside GET
	allow      string   // value of Allow with all methods
}

// operation is what some methods of a route do.
type operation struct {
	methods  []string
	id       string        // operationId; that of an update continues with its method
	text     string        // of its description
	group    string        // on the page of the interface
	args     []param.Param // path parameters first
	body     *body         // nil: none
	writes   bool          // it asks for the right to write
	status   int           // of success; 0: 200
	sends    []string      // headers of requests, beside credentials
	headers  []string      // headers of its answers, beside those of all
	statuses []int         // refusals beside those of all
	content  mediaTypes    // its answers by media type
	work     func(a *api, w http.ResponseWriter, r *http.Request) error
}

// body is what an operation takes beside its parameters.
type body struct {
	schema string // the name of its component; other forms continue it
	forms  bool   // forms are taken, too, and the fields may stand in the query string
}

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
	for i := range rt.operations {
		rt.methods = append(rt.methods, rt.operations[i].methods...)
	}
	allow := slices.Clone(rt.methods)
	if allow[0] == http.MethodGet {
		allow = slices.Insert(allow, 1, http.MethodHead)
	}
	rt.allow = strings.Join(append(allow, http.MethodOptions), ", ")
	if rt.tag == "" {
		rt.tag = rt.kind.Collection()
	}
	if rt.template == "" {
		rt.template = strings.NewReplacer("{id:[0-9]+}", "{id}", listEnding, ".{format}", eventEnding, ".{format}").Replace(rt.pattern)
	}
	if rt.key == "" {
		rt.key = strings.TrimSuffix(strings.NewReplacer("{id:[0-9]+}", `(?P<id>\d+)`, "{slug}", `(?P<slug>[^/]+)`, "{format:(", "(?P<format>", ")}", ")").Replace(rt.pattern), "/")
	}
}

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
	return slices.ContainsFunc(rt.operations, func(op operation) bool { return op.writes })
}

// pathArguments are the variables of the path.
func (rt *route) pathArguments() []param.Param {
	var out []param.Param
	for _, arg := range rt.operations[0].args {
		if arg.In == "path" {
			out = append(out, arg)
		}
	}
	return out
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
			for _, method := range op.methods {
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
