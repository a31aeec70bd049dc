package httpapi

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"github.com/go-chi/chi/v5"

	"daybook/calendar"
	"daybook/internal/httpapi/openapi"
	"daybook/internal/param"
)

// route is one row of the table of section 1.4, or of an extension.
type route struct {
	openapi.Route

	Pattern     string // below the namespace, as chi reads it
	Single      bool   // it names one record
	Past        bool   // its reads may name a point in time by a parameter
	Timed       bool   // and by a header, too (HISTORY 8.1)
	OnlyPosts   bool   // terms have no such route
	ListsEvents bool   // those of the record that it names
	Proves      bool   // its reads are those of HISTORY 12

	kind   calendar.Kind     // of the records in its answers, 0: of none alone
	of     calendar.Kind     // of the record that its events are of; 0: all
	bySlug bool              // it names a record by its slug
	params param.Table[call] // of its reads
	works  map[string]work   // by method
	writes bool              // one of its operations writes
	allow  []string          // value of Allow with all methods
	open   []string          // that with the methods that are open to everybody
}

// work carries out an operation.
type work func(request *call) error

// works are what operations do, by the names in routes.json.
var works = map[string]work{
	"index": documents("index"), "doc": documents("doc"),
	"list": (*call).list, "read": (*call).readRecord,
	"create": writing(Commands.Create, http.StatusCreated), "update": writing(Commands.Update, http.StatusOK), "delete": writing(Commands.Delete, http.StatusOK),
	"source": (*call).calendarSource, "several": (*call).several, "clusters": (*call).clusters, "suggest": (*call).suggest, "me": (*call).me,
	"history": reading((*call).entries, "limit"), "timemap": reading((*call).timeMap), "diff": reading((*call).diff, "from", "to"),
	"changes": reading((*call).entries, "limit"), "stream": (*call).stream,
	"checkpoint": reading((*call).checkpoint), "checkpointKeys": reading((*call).checkpointKeys), "tile": reading((*call).tile),
	"inclusionProof": reading((*call).inclusion), "consistencyProof": reading((*call).consistency),
}

// routesFile are groups of routes, which are there for each of some kinds: its names take the
// place of <kind>, <kinds>, and so on. Those of the kind "" are of none.
//
//go:embed routes.json
var routesFile []byte

// routes are those of section 1.4 in its order, those of extensions behind what they
// belong to.
var routes, routesByPattern = makeRoutes()

func makeRoutes() (all []*route, byPattern map[string]*route) {
	byPattern = map[string]*route{}
	for _, g := range fromFile[[]struct {
		Kinds  []string
		Routes json.RawMessage
	}](routesFile) {
		for _, name := range g.Kinds {
			kind, _ := calendar.ParseKind(name)
			for _, rt := range fromFile[[]*route](named(g.Routes, kind)) {
				if rt.OnlyPosts && !kind.IsPost() {
					continue
				}
				all = append(all, rt)
				rt.complete(kind)
				byPattern[rt.Pattern] = rt
				router.Options(rt.Pattern, nil)
			}
		}
	}
	return all, byPattern
}

// fromFile reads a part of the program.
func fromFile[T any](file []byte) (result T) {
	decoder := json.NewDecoder(bytes.NewReader(file))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&result); err != nil {
		panic(err)
	}
	return result
}

// named returns routes with the names of a kind.
func named(routes []byte, kind calendar.Kind) []byte {
	if kind == 0 {
		return routes
	}
	one, many := kind.String(), kind.Collection()
	return []byte(strings.NewReplacer(
		"<kind>", one, "<kinds>", many, "<Kind>", openapi.Title(one), "<Kinds>", openapi.Title(many), "<Record>", openapi.RecordName(kind),
	).Replace(string(routes)))
}

// complete fills in what follows from the row.
func (route *route) complete(kind calendar.Kind) {
	route.works = map[string]work{http.MethodOptions: (*call).options}
	if route.kind = kind; route.ListsEvents {
		route.kind, route.of = calendar.KindEvent, kind
	}
	route.bySlug = strings.HasSuffix(route.Pattern, "{slug}")
	path := cmp.Or(route.Template, route.Pattern)
	route.Tag, route.Template = cmp.Or(route.Tag, route.kind.Collection()), inTemplate.ReplaceAllString(path, "{$1}")
	route.Key = cmp.Or(route.Key, strings.TrimSuffix(inKey.Replace(route.Pattern), "/"))
	var all, open []string
	for i := range route.Operations {
		operation := &route.Operations[i]
		do, methods := route.describe(operation, path), operation.Methods
		if methods[0] == http.MethodGet {
			methods = []string{http.MethodGet, http.MethodHead}
		}
		for _, method := range methods {
			route.works[method] = do
		}
		if all = append(all, methods...); operation.Writes {
			route.writes = true
		} else {
			open = append(open, methods...)
		}
	}
	route.allow = []string{strings.Join(append(all, http.MethodOptions), ", ")}
	route.open = []string{strings.Join(append(open, http.MethodOptions), ", ")}
}

// inTemplate and inKey find the variables of a pattern for OpenAPI and for the index.
var (
	inTemplate = regexp.MustCompile(`\{(\w+)(?::([^{}]*))?\}`)
	inKey      = strings.NewReplacer("{id:[0-9]+}", `(?P<id>\d+)`, "{slug}", `(?P<slug>[^/]+)`, "{format:(", "(?P<format>", ")}", ")")
)

// describe completes what the documentation says of an operation on a path, and returns what it
// does.
func (route *route) describe(operation *openapi.Operation, path string) work {
	for _, found := range inTemplate.FindAllStringSubmatch(path, -1) {
		operation.Args = append(operation.Args, route.pathArgument(found[1], found[2]))
	}
	operation.Args = append(operation.Args, route.takes(operation)...)
	if route.kind == calendar.KindEvent {
		operation.Headers = append(operation.Headers, operation.OfEvents...)
	}
	if route.kind.IsPost() {
		operation.Statuses = append(operation.Statuses, operation.OfPosts...)
	}
	if operation.Formats {
		operation.Content = append(operation.Content, route.exports()...)
	}
	if operation.Body != nil && !operation.Body.Forms {
		operation.Body.Elements = listArguments(route.kind, "several")
	}
	work, known := works[operation.Work]
	if !known {
		panic(operation.Work + " is the name of no work")
	}
	return work
}

// asks reports whether a POST on the route is a read.
func (route *route) asks() bool {
	return route != nil && !route.writes && route.works[http.MethodPost] != nil
}

// router finds routes by their patterns, whatever the method.
var router = chi.NewRouter()

// findRoute returns the route of a path below the namespace, nil for none; the variables of
// the path are in the context then.
func findRoute(variables *chi.Context, path string) *route {
	return routesByPattern[router.Find(variables, http.MethodOptions, path)]
}
