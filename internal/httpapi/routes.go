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
	number     int             // its place in routes, from 1
	works      map[string]work // by method
	writes     bool            // one of its operations writes
	allow      []string        // value of Allow with all methods
	open       []string        // that with the methods that are open to everybody
}

// operation is what some methods of a route do.
type operation struct {
	openapi.Operation

	work work
}

// work carries out an operation.
type work func(c *call) error

var (
	readOnly      = []string{http.MethodGet}
	createOnly    = []string{http.MethodPost}
	changeMethods = []string{http.MethodPost, http.MethodPut, http.MethodPatch}
	deleteOnly    = []string{http.MethodDelete}
)

// routes are those of section 1.4 in its order, those of extensions behind what they
// belong to.
var routes, routesByPattern = makeRoutes()

func makeRoutes() (all []*route, byPattern map[string]*route) {
	all = baseRoutes()
	for _, k := range calendar.Kinds {
		all = append(all, recordRoutes(k)...)
	}
	all = slices.Concat(all, []*route{changesRoute(), streamRoute()}, proofRoutes(), eventRoutes())
	byPattern = make(map[string]*route, len(all))
	for i, rt := range all {
		rt.complete(i + 1)
		byPattern[rt.pattern] = rt
	}
	return all, byPattern
}

// complete fills in what follows from the other fields.
func (rt *route) complete(number int) {
	rt.number, rt.works = number, map[string]work{http.MethodOptions: (*call).options}
	var all, open []string
	for _, op := range rt.operations {
		rt.Operations = append(rt.Operations, op.Operation)
		methods := op.Methods
		if methods[0] == http.MethodGet {
			methods = []string{http.MethodGet, http.MethodHead}
		}
		for _, method := range methods {
			rt.works[method] = op.work
		}
		all = append(all, methods...)
		if rt.writes = rt.writes || op.Writes; !op.Writes {
			open = append(open, methods...)
		}
	}
	rt.allow = []string{strings.Join(append(all, http.MethodOptions), ", ")}
	rt.open = []string{strings.Join(append(open, http.MethodOptions), ", ")}
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
func (rt *route) asks() bool { return rt != nil && !rt.writes && rt.works[http.MethodPost] != nil }

// router finds routes by their patterns, whatever the method.
var router = newRouter()

func newRouter() *chi.Mux {
	m := chi.NewRouter()
	for _, rt := range routes {
		m.Options(rt.pattern, nil)
	}
	return m
}

// findRoute returns the route of a path below the namespace, nil for none; the variables of
// the path are in the context then.
func findRoute(variables *chi.Context, path string) *route {
	return routesByPattern[router.Find(variables, http.MethodOptions, path)]
}
