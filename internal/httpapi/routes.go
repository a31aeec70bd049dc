package httpapi

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"text/template"

	"github.com/go-chi/chi/v5"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/httpapi/openapi"
	"daybook/internal/param"
)

// route is one row of the table of section 1.4, or of an extension.
type route struct {
	openapi.Route

	Pattern string        // below the namespace, as chi reads it
	Kind    calendar.Kind // of the records in its answers, 0: of none alone
	Of      calendar.Kind // of the record that its events are of; 0: all
	Single  bool          // it names one record
	Past    bool          // its reads may name a point in time by a parameter
	Timed   bool          // and by a header, too (HISTORY 8.1)
	Proves  bool          // its reads are those of HISTORY 12

	bySlug bool              // it names a record by its slug
	params param.Table[call] // of its reads
	works  map[string]work   // by method
	writes bool              // one of its operations writes
	allow  []string          // value of Allow with all methods
	open   []string          // that with the methods that are open to everybody
}

// work carries out an operation.
type work func(request *call) error

// works are what operations do, by the names in routes.tmpl.
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

// routesFile are the routes as a template for the kinds, which most of them are there for.
//
//go:embed routes.tmpl
var routesFile string

// routes are those of section 1.4 in its order, those of extensions behind what they
// belong to.
var routes, routesByPattern = makeRoutes()

func makeRoutes() (all []*route, byPattern map[string]*route) {
	var file bytes.Buffer
	forms := template.Must(template.New("").Funcs(template.FuncMap{
		"title": openapi.Title, "record": openapi.RecordName, "formats": func() any { return formats.All },
	}).Parse(routesFile))
	if err := forms.Execute(&file, calendar.Kinds[:]); err != nil {
		panic(err)
	}
	all, byPattern = fromFile[[]*route](file.Bytes()), map[string]*route{}
	for _, route := range all {
		route.complete()
		byPattern[route.Pattern] = route
		router.Options(route.Pattern, nil)
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

// complete fills in what follows from the row.
func (route *route) complete() {
	route.works = map[string]work{http.MethodOptions: (*call).options}
	route.bySlug = strings.HasSuffix(route.Pattern, "{slug}")
	path := cmp.Or(route.Template, route.Pattern)
	route.Tag, route.Template = cmp.Or(route.Tag, route.Kind.Collection()), inTemplate.ReplaceAllString(path, "{$1}")
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
	if operation.Body != nil && !operation.Body.Forms {
		operation.Body.Elements = listArguments(route.Kind, "several")
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
