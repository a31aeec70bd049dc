package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"daybook/calendar"
	"daybook/internal/testkit/golden"
	"daybook/internal/testkit/world"
)

// TestDocumentGolden: what generators of clients make code of (INTERFACE 8.2): operations with
// their marks and tags, parameters, bodies, answers and headers, types and defaults of fields;
// the same in every language.
func TestDocumentGolden(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{})
	golden.Compare(t, "document.golden", documentText(t, w.Document()))
	told, documents := regexp.MustCompile(`"(description|summary|title|url)":"([^"\\]|\\.)*"`), map[string]bool{}
	for _, lang := range calendar.Langs {
		documents[told.ReplaceAllString(string(w.As(calendar.Anonymous).Under(lang).Read("/doc").Body), "")] = true
	}
	if len(documents) != 1 {
		t.Errorf("%d documents in four languages, their texts aside", len(documents))
	}
}

func documentText(t *testing.T, doc *world.Documentation) string {
	t.Helper()
	var builder strings.Builder
	mark := func(extensions map[string]any, required bool) string {
		return map[bool]string{true: " +"}[extensions["x-extension"] == true] + map[bool]string{true: " !"}[required]
	}
	typed := func(schemaRef *openapi3.SchemaRef) string {
		if schemaRef == nil {
			return ""
		}
		schema := schemaRef.Value
		out := schema.Type.Slice()
		if schema.Format != "" {
			out = append(out, schema.Format)
		}
		if schema.Items != nil {
			out = append(out, "of", fmt.Sprint(schema.Items.Value.Type.Slice(), schema.Items.Value.Format))
		}
		if schema.Default != nil {
			out = append(out, fmt.Sprintf("=%v", schema.Default))
		}
		return strings.Join(out, " ") + mark(schema.Extensions, false)
	}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		item := doc.Paths.Value(path)
		operations := item.Operations()
		for _, method := range slices.Sorted(maps.Keys(operations)) {
			operation := operations[method]
			security := &doc.Security
			if operation.Security != nil {
				security = operation.Security
			}
			fmt.Fprintln(&builder, method, path+mark(operation.Extensions, !slices.ContainsFunc(*security, func(one openapi3.SecurityRequirement) bool { return len(one) == 0 })), operation.Tags)
			if len(operation.Tags) != 1 || doc.Tags.Get(operation.Tags[0]).Description == "" || len(operation.Description) <= len(operation.Summary) {
				t.Errorf("%s %s is not described", method, path)
			}
			if method == http.MethodHead || method == http.MethodOptions {
				continue
			}
			for _, parameterRef := range slices.Concat(item.Parameters, operation.Parameters) {
				parameter := parameterRef.Value
				if parameter.Description == "" {
					t.Errorf("%s %s: %s is not described", method, path, parameter.Name)
				}
				fmt.Fprintln(&builder, "\t"+parameter.In, parameter.Name+mark(parameter.Extensions, parameter.Required), typed(parameter.Schema))
			}
			if operation.RequestBody != nil {
				for _, media := range slices.Sorted(maps.Keys(operation.RequestBody.Value.Content)) {
					fmt.Fprintln(&builder, "\tbody", media, operation.RequestBody.Value.Content[media].Schema.Ref)
				}
			}
			answers := map[string][]string{} // statuses of equal ones
			for status, responseRef := range operation.Responses.Map() {
				headers := slices.DeleteFunc(slices.Sorted(maps.Keys(responseRef.Value.Headers)), func(name string) bool {
					return strings.HasPrefix(name, "Access-Control-") || strings.HasPrefix(name, "RateLimit-") ||
						slices.Contains([]string{"Allow", "Content-Encoding", "Vary", "X-Content-Type-Options", "X-Request-Id"}, name) // of every answer
				})
				text := fmt.Sprint(slices.Sorted(maps.Keys(responseRef.Value.Content)), headers)
				answers[text] = append(answers[text], status)
			}
			for _, text := range slices.Sorted(maps.Keys(answers)) {
				fmt.Fprintln(&builder, "\t", slices.Sorted(slices.Values(answers[text])), text)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		schema := doc.Components.Schemas[name].Value
		fmt.Fprintln(&builder, name, typed(doc.Components.Schemas[name]))
		for _, field := range slices.Sorted(maps.Keys(schema.Properties)) {
			fmt.Fprintln(&builder, "\t"+field+mark(nil, slices.Contains(schema.Required, field)), typed(schema.Properties[field]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Headers)) {
		header := doc.Components.Headers[name].Value
		fmt.Fprintln(&builder, name+":", typed(header.Schema)+mark(header.Extensions, false))
	}
	return builder.String()
}

// TestIndexGolden: the routes, methods and arguments of the index (INTERFACE 8.1), the same in
// every language; descriptions are in the language, links under its root.
func TestIndexGolden(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{})
	descriptions := map[string]bool{}
	for _, lang := range calendar.Langs {
		nobody := w.As(calendar.Anonymous).Under(lang)
		root := nobody.Read("/doc").String("servers.0.url")
		var index struct {
			Routes map[string]struct {
				Methods   []string
				Endpoints []struct {
					Methods []string
					Args    map[string]struct {
						Type, Description   string
						Required, Extension bool
						Default, Enum       any
						Items               struct{ Type string }
					}
				}
				Links struct{ Self []struct{ Href string } } `json:"_links"`
			}
		}
		if err := json.Unmarshal(nobody.Read("").Body, &index); err != nil {
			t.Fatal(err)
		}
		var builder strings.Builder
		for _, path := range slices.Sorted(maps.Keys(index.Routes)) {
			route := index.Routes[path]
			fmt.Fprintln(&builder, path, route.Methods, strings.ReplaceAll(fmt.Sprint(route.Links.Self), root, "root"))
			for _, endpoint := range route.Endpoints {
				fmt.Fprintln(&builder, "\t", endpoint.Methods)
				for _, name := range slices.Sorted(maps.Keys(endpoint.Args)) {
					argument := endpoint.Args[name]
					fmt.Fprintln(&builder, "\t\t", name, argument.Type, argument.Items.Type, argument.Required, argument.Extension, argument.Default, argument.Enum)
					descriptions[lang.String()+argument.Description] = argument.Description != ""
				}
			}
		}
		golden.Compare(t, "index.golden", builder.String())
	}
	if descriptions[calendar.LangEN.String()] || len(descriptions) < 4*50 {
		t.Errorf("%d descriptions in four languages", len(descriptions))
	}
}

// TestDocumentedBodies: what the documentation allows is taken (8.2). Of other spellings of a
// value some are taken, too: "+" are documented, "~" taken, "-" refused.
func TestDocumentedBodies(t *testing.T) {
	t.Parallel()
	world.Slow(t)
	w, editor, _ := newWorld(t)
	doc := w.Document()
	begin := map[string]string{"events": `"title":"Jazz","start_date":"2026-06-01","end_date":"2026-06-01"`, "organizers": `"organizer":"Band"`, "categories": `"name":"Jazz`}
	for i, row := range strings.Fields(`
		events~"venue":{} events~"venue":[null,"",0,{}] events~"organizer":null events+"venue":[{"venue":"Hall"}] events+"organizer":[]
		events+"cost":["$5","12"] events+"all_day":true events~"all_day":"yes" events-"event_status":"off" events-"venue":"x" events-"venue":[true]
		events~"cost":[1,"2",null] events-"cost":-1 events-"cost":[-1] events~"cost":"-1" events-"cost":[[1]] events~"tags":["a",null,""]
		events~"categories":["b",null] events-"tags":[true] events-"author":"x" events~"post_parent":"" events-"post_parent":"x"
		organizers-"author":"" organizers~"author":null organizers-"email":"x" organizers-"email":"x@y" organizers+"email":"band@example.org"
		organizers+"email":"" categories-"parent":"x" categories~"parent":"" categories+"parent":0`) {
		at := strings.IndexAny(row, "+~-")
		collection, sign := row[:at], row[at]
		body := "{" + begin[collection]
		if collection == "categories" { // names are unique
			body += fmt.Sprint(i) + `"`
		}
		body += "," + row[at+1:] + "}"
		var value any
		if err := json.Unmarshal([]byte(body), &value); err != nil {
			t.Fatal(err)
		}
		schema := doc.Paths.Value("/" + collection).Post.RequestBody.Value.Content.Get("application/json").Schema.Value
		if err := schema.VisitJSON(value, openapi3.VisitAsRequest()); (err == nil) != (sign == '+') {
			t.Errorf("%s: documented: %v", row, err)
		}
		if got := editor.Post("/"+collection, json.RawMessage(body)); (got.Status == 201) != (sign != '-') {
			t.Errorf("%s: %d %s", row, got.Status, got.Body)
		}
	}
}
