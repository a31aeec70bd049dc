package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/internal/httpapi"
	"daybook/internal/testkit/world"
)

// TestDocumentation: what OPTIONS allows is documented, and nothing else. Parameters and fields
// are those of the table in internal/e2e/testdata.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{})
	doc := w.Document()
	nobody := w.As(calendar.Anonymous)
	for path, item := range doc.Paths.Map() {
		concrete := strings.NewReplacer("{id}", "999", "{slug}", "none", "{level}", "0", "{tile}", "000", "{format}", "ics").Replace(path)
		allow := strings.Split(nobody.Do(http.MethodOptions, concrete, nil).Want(http.StatusOK).Header.Get("Allow"), ", ")
		slices.Sort(allow)
		if diff := cmp.Diff(allow, slices.Sorted(maps.Keys(item.Operations()))); diff != "" {
			t.Errorf("%s: methods (-allow +documented):\n%s", path, diff)
		}
	}
}

// TestDocumentedStatuses holds the statuses of section 7.3 against the document.
func TestDocumentedStatuses(t *testing.T) {
	t.Parallel()
	doc := world.New(t, world.Options{}).Document()
	for operation, want := range map[string]string{
		"GET /":                          "200 304 400 401 404 414 429 431 500 503",
		"GET /doc":                       "200 304 400 401 414 429 431 500 503",
		"GET /events":                    "200 304 400 401 403 404 414 422 429 431 500 503",
		"GET /tags":                      "200 304 400 401 403 414 422 429 431 500 503",
		"POST /events":                   "201 400 401 403 410 413 414 422 429 431 500 503",
		"GET /events/{id}":               "200 304 400 401 403 404 410 414 429 431 500 503",
		"GET /events/by-slug/{slug}":     "200 304 400 401 403 404 414 429 431 500 503", // an erased record has no slug
		"HEAD /events/{id}":              "200 304 400 401 403 404 410 414 429 431 500 503",
		"GET /categories/{id}":           "200 304 400 401 403 404 410 414 429 431 500 503",
		"GET /tags/{id}/timemap":         "200 304 400 401 403 404 410 414 429 431 500 503",
		"PUT /venues/by-slug/{slug}":     "200 400 401 403 404 410 412 413 414 422 429 431 500 503",
		"DELETE /organizers/{id}":        "200 400 401 403 404 410 412 414 429 431 500 503",
		"DELETE /tags/{id}":              "200 400 401 403 404 410 412 414 429 431 500 503",
		"PATCH /tags/{id}":               "200 400 401 403 404 410 412 413 414 422 429 431 500 503", // HISTORY 20.42: one that is erased
		"GET /events.{format}":           "200 304 400 401 403 404 414 429 431 500 503",
		"GET /venues/{id}/events":        "200 304 400 401 403 404 410 414 429 431 500 503",
		"GET /tags/{id}/events.{format}": "200 304 400 401 403 404 410 414 429 431 500 503",
		"OPTIONS /events/by-slug/{slug}": "200 400 401 414 429 431 500 503",
		"OPTIONS /events/{id}/diff":      "200 400 401 404 414 429 431 500 503", // what is no id is no route
	} {
		method, path, _ := strings.Cut(operation, " ")
		var got []string
		for status := range doc.Paths.Value(path).GetOperation(method).Responses.Map() {
			got = append(got, status)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %s", operation, got, want)
		}
	}
}

// TestExtensionMarks: the document marks what section 10 lists.
func TestExtensionMarks(t *testing.T) {
	t.Parallel()
	doc := world.New(t, world.Options{}).Document()
	marked := func(m map[string]any) bool { return m["x-extension"] == true }
	for schema, fields := range map[string][]string{
		"Event": {"ticketed", "event_status", "event_status_reason", "post_parent", "venues", "language", "languages", "distance", "highlight", "collapsed"}, "Venue": {"geo_lat", "geo_lng", "excerpt", "slug", "language", "languages"},
		"Organizer": {"excerpt", "slug", "language", "languages"}, "Term": {"language", "languages"},
	} {
		for name, p := range doc.Components.Schemas[schema].Value.Properties {
			if got, want := marked(p.Value.Extensions), slices.Contains(fields, name); got != want {
				t.Errorf("%s.%s: marked %v, want %v", schema, name, got, want)
			}
		}
	}
	for name, h := range doc.Components.Headers {
		want := !slices.Contains([]string{"Vary", "Cache-Control", "X-Content-Type-Options", "WWW-Authenticate", "Retry-After"}, name)
		if marked(h.Value.Extensions) != want {
			t.Errorf("header %s: marked %v, want %v", name, !want, want)
		}
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			past := strings.HasSuffix(path, "/history") || strings.HasSuffix(path, "/diff") || strings.HasSuffix(path, "/timemap") || slices.ContainsFunc([]string{"/changes", "/checkpoint", "/proof/", "/tile/"}, func(p string) bool { return strings.HasPrefix(path, p) })
			beyond := strings.Contains(path, "{format}") || strings.HasSuffix(path, "}/events") || path == "/events/calendar" || path == "/events/search" || path == "/events/clusters" || path == "/suggest" || path == "/me"
			if want := beyond || past || method == http.MethodHead || method == http.MethodOptions; marked(op.Extensions) != want {
				t.Errorf("%s %s: marked %v, want %v", method, path, !want, want)
			}
		}
	}
}

// TestDefaultsOfBodies: the default of a field is said where it holds. Generated
// clients send it: in an update it would undo what is stored.
func TestDefaultsOfBodies(t *testing.T) {
	t.Parallel()
	schemas := world.New(t, world.Options{}).Document().Components.Schemas
	for name, s := range schemas {
		for field, p := range s.Value.Properties {
			if want := strings.HasPrefix(name, "EventCreate") && (field == "all_day" || field == "event_status"); (p.Value.Default != nil) != want {
				t.Errorf("%s.%s: default %v", name, field, p.Value.Default)
			}
		}
	}
	for _, form := range []string{"", "Form", "Multipart"} {
		for _, name := range []string{"EventCreate", "EventUpdate", "EventUpdateBySlug", "VenueUpdate", "TagCreate"} {
			if !reflect.DeepEqual(schemas[name+form].Value.Properties, schemas[name].Value.Properties) {
				t.Errorf("%s%s is not as %s", name, form, name)
			}
		}
	}
}

// eachObject looks at every object of the documentation, at its path.
func eachObject(t *testing.T, look func(at string, v map[string]any)) {
	t.Helper()
	w := world.New(t, world.Options{})
	var doc any
	if err := json.Unmarshal(w.As(calendar.Anonymous).Read("/doc").Body, &doc); err != nil {
		t.Fatal(err)
	}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			look(at, v)
			for name, e := range v {
				walk(at+"/"+name, e)
			}
		case []any:
			for i, e := range v {
				walk(fmt.Sprint(at, "/", i), e)
			}
		}
	}
	walk("", doc)
}

// TestTypesOfSchemas: no schema has two types besides null or lists null next to array, and
// what is one of some words names the type of them. Generators of clients make nothing
// usable of these.
func TestTypesOfSchemas(t *testing.T) {
	t.Parallel()
	world.Slow(t)
	several := 0
	eachObject(t, func(at string, v map[string]any) {
		if types, is := v["type"].([]any); is {
			several++
			if len(types) != 2 || types[1] != "null" || types[0] == "array" {
				t.Errorf("%s: types %v", at, types)
			}
		}
		if _, words := v["enum"].([]any); words || v["const"] != nil {
			if _, one := v["type"].(string); !one {
				t.Errorf("%s: %v of the type %v", at, v["enum"], v["type"])
			}
		}
	})
	if several == 0 {
		t.Error("no schema allows null")
	}
}

// TestWideIntegers: ids, positions, versions and counts have 64 bits, in requests and answers.
// Generators of clients take 32 where nothing is said.
func TestWideIntegers(t *testing.T) {
	t.Parallel()
	doc := world.New(t, world.Options{}).Document()
	wide := func(at string, s *openapi3.Schema) {
		if !s.Type.Includes("integer") || s.Format != "int64" {
			t.Errorf("%s: %v of the format %q", at, s.Type, s.Format)
		}
	}
	for schema, fields := range map[string]string{
		"Event": "id", "Term": "id count parent", "EventList": "total total_pages", "HistoryEntry": "id version position",
		"ChangesPage": "head", "Facet": "total", "EventCreate": "author post_parent", "InclusionProof": "position size",
	} {
		for name := range strings.FieldsSeq(fields) {
			wide(schema+"."+name, doc.Components.Schemas[schema].Value.Properties[name].Value)
		}
	}
	wide("X-Total", doc.Components.Headers["X-Total"].Value.Schema.Value)
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			for _, p := range op.Parameters {
				at, schema := method+" "+path+" "+p.Value.Name, p.Value.Schema.Value
				if schema.Items != nil {
					schema = schema.Items.Value
				}
				lowered := p.Value.Name == "per_page" || p.Value.Name == "limit" // what is too large
				if schema.Type.Includes("integer") && schema.Max == nil && !lowered {
					wide(at, schema)
				}
			}
		}
	}
}

// TestTags: every operation has one tag, which stands at the top with a description, and a
// description of its own.
func TestTags(t *testing.T) {
	t.Parallel()
	doc := world.New(t, world.Options{}).Document()
	used := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if len(op.Tags) != 1 || doc.Tags.Get(op.Tags[0]) == nil {
				t.Errorf("%s %s: tags %v", method, path, op.Tags)
				continue
			}
			used[op.Tags[0]] = true
			if len(op.Description) <= len(op.Summary) {
				t.Errorf("%s %s: description %q", method, path, op.Description)
			}
		}
	}
	for _, tag := range doc.Tags {
		if !used[tag.Name] || tag.Description == "" {
			t.Errorf("tag %s: %q, used %t", tag.Name, tag.Description, used[tag.Name])
		}
	}
}

// TestMediaTypes: a successful answer names every media type that format and Accept select.
func TestMediaTypes(t *testing.T) {
	t.Parallel()
	doc := world.New(t, world.Options{}).Document()
	lists := "application/atom+xml application/feed+json application/geo+json application/json application/rss+xml application/x-ndjson text/calendar text/csv"
	for path, want := range map[string]string{
		"/events": lists, "/venues/{id}/events": lists, "/tags": "application/json",
		"/events/{id}": "application/geo+json application/json text/calendar", "/venues/{id}": "application/json",
		"/events.{format}": strings.Replace(lists, "application/json ", "", 1),
	} {
		got := slices.Sorted(maps.Keys(doc.Paths.Value(path).Get.Responses.Value("200").Value.Content))
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// withoutTexts empties all human texts of a document.
func withoutTexts(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			switch {
			case name == "description" && reflect.TypeOf(e) == reflect.TypeFor[string](), name == "summary", name == "title" && reflect.TypeOf(e) == reflect.TypeFor[string]():
				v[name] = ""
			default:
				v[name] = withoutTexts(e)
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutTexts(v[i])
		}
	}
	return v
}

// TestTextsOfAllLanguages: index and documentation have the same shape in every
// language, their texts in that of the request, their links under its root.
func TestTextsOfAllLanguages(t *testing.T) {
	t.Parallel()
	world.Slow(t)
	w := world.New(t, world.Options{})
	for _, path := range []string{"", "/doc"} {
		plain := w.As(calendar.Anonymous).Read(path)
		var want any
		if err := json.Unmarshal(plain.Body, &want); err != nil {
			t.Fatal(err)
		}
		withoutTexts(want)
		for _, l := range calendar.Langs {
			if l == calendar.LangEN {
				continue
			}
			selected := w.As(calendar.Anonymous).Read(path + "?multilang_language=" + l.String())
			if selected.Header.Get("Content-Language") != l.Tag() {
				t.Errorf("%s %s: Content-Language %s", path, l, selected.Header.Get("Content-Language"))
			}
			if reflect.DeepEqual(selected.Body, plain.Body) {
				t.Errorf("%s %s: the texts are the English ones", path, l)
			}
			var got any
			if err := json.Unmarshal(selected.Body, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, withoutTexts(got)); diff != "" {
				t.Errorf("%s %s (-en +other):\n%.2000s", path, l, diff)
			}
			under := w.As(calendar.Anonymous).Under(l).Read(path)
			if !strings.Contains(string(under.Body), world.Base+"/"+l.String()+"/api/") {
				t.Errorf("%s %s: no link under its root", path, l)
			}
		}
	}
}

var variableOfKey = regexp.MustCompile(`\(\?P<(\w+)>[^)]*\)`)

// TestIndexAndDocument: both mark the routes of extensions and tell the defaults of
// parameters. Where an ending names the format paging has none: whole selections come.
func TestIndexAndDocument(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{})
	doc := w.Document()
	for key, e := range w.As(calendar.Anonymous).Get("").Get("routes").(map[string]any) {
		path := variableOfKey.ReplaceAllString(strings.TrimPrefix(key, "/"+httpapi.Namespace), "{$1}")
		item := doc.Paths.Value("/" + strings.TrimPrefix(path, "/"))
		if item == nil {
			t.Errorf("%s: no path %s", key, path)
			continue
		}
		op := item.Get
		if op == nil {
			op = item.Post
		}
		entry := e.(map[string]any)
		if marked := op.Extensions["x-extension"] == true; marked != (entry["extension"] == true) {
			t.Errorf("%s: marked %v in the document, %v in the index", path, marked, entry["extension"])
		}
		args := entry["endpoints"].([]any)[0].(map[string]any)["args"].(map[string]any)
		for _, p := range op.Parameters {
			arg, told := args[p.Value.Name].(map[string]any)
			if !told || p.Value.Name == "start_date" || p.Value.Name == "end_date" || p.Value.Name == "hide_empty" {
				continue // the first two move, the last is 1 in one table and true in the other
			}
			if got, want := fmt.Sprint(p.Value.Schema.Value.Default), fmt.Sprint(arg["default"]); got != want {
				t.Errorf("%s: %s: default %s in the document, %s in the index", path, p.Value.Name, got, want)
			}
			if strings.HasSuffix(path, ".{format}") && strings.HasSuffix(p.Value.Name, "page") && arg["default"] != nil {
				t.Errorf("%s: %s: default %v", path, p.Value.Name, arg["default"])
			}
		}
	}
	for _, path := range []string{"/events/calendar", "/events/clusters"} { // lists without pages
		headers := doc.Paths.Value(path).Get.Responses.Value("200").Value.Headers
		if headers["X-Total"] == nil || headers["X-TotalPages"] != nil {
			t.Errorf("%s: X-Total %v, X-TotalPages %v", path, headers["X-Total"], headers["X-TotalPages"])
		}
	}
}

// TestDocumentedBodies: what the documentation allows is taken, and what is refused by its
// form alone the documentation forbids (8.2). Other spellings of a value are taken, too.
func TestDocumentedBodies(t *testing.T) {
	t.Parallel()
	world.Slow(t)
	w, editor, _ := newWorld(t)
	doc := w.Document()
	const event, organizer, category = `"title":"Jazz","start_date":"2026-06-01 20:00","end_date":"2026-06-01 22:00"`, `"organizer":"Band"`, `"name":"Jazz"`
	for _, c := range []struct {
		path, body        string
		documented, taken bool
	}{
		{"/events", event + `,"venue":{}`, false, true},
		{"/events", event + `,"venue":[null,"",0,{}]`, false, true},
		{"/events", event + `,"organizer":null`, false, true},
		{"/events", event + `,"venue":[{"venue":"Hall"}]`, true, true},
		{"/events", event + `,"organizer":[]`, true, true},
		{"/events", event + `,"cost":["$5","12"]`, true, true},
		{"/events", event + `,"all_day":true`, true, true},
		{"/events", event + `,"all_day":"yes"`, false, true},
		{"/events", event + `,"event_status":"off"`, false, false},
		{"/events", event + `,"venue":"x"`, false, false},
		{"/events", event + `,"venue":[true]`, false, false},
		{"/events", event + `,"cost":[1,"2",null]`, false, true},
		{"/events", event + `,"cost":-1`, false, false},
		{"/events", event + `,"cost":[-1]`, false, false},
		{"/events", event + `,"cost":"-1"`, false, true},
		{"/events", event + `,"cost":[[1]]`, false, false},
		{"/events", event + `,"tags":["a",null,""]`, false, true},
		{"/events", event + `,"categories":["b",null]`, false, true},
		{"/events", event + `,"tags":[true]`, false, false},
		{"/events", event + `,"author":"x"`, false, false},
		{"/events", event + `,"post_parent":""`, false, true},
		{"/events", event + `,"post_parent":"x"`, false, false},
		{"/organizers", organizer + `,"author":""`, false, false},
		{"/organizers", organizer + `,"author":null`, false, true},
		{"/organizers", organizer + `,"email":"x"`, false, false},
		{"/organizers", organizer + `,"email":"x@y"`, false, false},
		{"/organizers", organizer + `,"email":" band@example.org "`, true, true},
		{"/organizers", organizer + `,"email":""`, true, true},
		{"/categories", category + `,"parent":"x"`, false, false},
		{"/categories", category + `,"parent":" "`, false, true},
		{"/categories", category + `,"parent":0`, true, true},
	} {
		body := "{" + c.body + "}"
		var value any
		if err := json.Unmarshal([]byte(body), &value); err != nil {
			t.Fatal(err)
		}
		schema := doc.Paths.Value(c.path).Post.RequestBody.Value.Content.Get("application/json").Schema.Value
		if err := schema.VisitJSON(value, openapi3.VisitAsRequest()); (err == nil) != c.documented {
			t.Errorf("%s %s: documented as taken %t, want %t: %v", c.path, body, err == nil, c.documented, err)
		}
		if c.path == "/categories" { // names are unique, and the name is not what counts here
			body = strings.Replace(body, "Jazz", fmt.Sprint("Jazz ", len(body)), 1)
		}
		res := editor.Post(c.path, json.RawMessage(body))
		if taken := res.Status == http.StatusCreated; taken != c.taken {
			t.Errorf("%s %s: status %d, taken is %t", c.path, body, res.Status, c.taken)
		}
	}
}

// TestPastIsToldWhereItIs: the document names as_of at the paths where it has an effect;
// elsewhere it is no parameter.
func TestPastIsToldWhereItIs(t *testing.T) {
	t.Parallel()
	w, _, nobody := newWorld(t)
	for path, item := range w.Document().Paths.Map() {
		if item.Get == nil {
			continue
		}
		told := item.Get.Parameters.GetByInAndName("query", "as_of") != nil
		last := path[strings.LastIndexByte(path, '/')+1:]
		collection := strings.Count(path, "/") == 1 && slices.Contains([]string{"events", "venues", "organizers", "categories", "tags"}, last)
		if single := last == "{id}" || last == "{slug}"; told != (collection || single) {
			t.Errorf("%s: as_of is told %t", path, told)
		}
	}
	venue := w.As(calendar.Editor).Create(calendar.KindVenue, obj{"venue": "Hall"}).ID().String()
	for _, path := range []string{"/events.csv?", "/events/calendar?start=2026-01-01&end=2026-02-01&", "/venues/" + venue + "/events?"} {
		nobody.Read(path + "as_of=")
	}
	if l := nobody.Read("/venues/" + venue + "/events?as_of=2020-01-01"); strings.Contains(l.String("rest_url"), "as_of") {
		t.Errorf("the link has as_of: %s", l.String("rest_url"))
	}
	nobody.Get("/events?as_of=").WantBad("as_of")
}
