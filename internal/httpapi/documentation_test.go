package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"daybook/internal/testkit/golden"
	"daybook/internal/testkit/world"
)

// TestDocumentGolden: what generators of clients make code of: tags, statuses, media types and
// marks of operations, types, widths and defaults of fields and parameters. Names and
// references are held against the table of internal/e2e.
func TestDocumentGolden(t *testing.T) {
	t.Parallel()
	doc := world.New(t, world.Options{}).Document()
	var builder strings.Builder
	mark := func(extensions map[string]any) string {
		return map[bool]string{true: " +"}[extensions["x-extension"] == true]
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
		return strings.Join(out, " ") + mark(schema.Extensions)
	}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		operations := doc.Paths.Value(path).Operations()
		for _, method := range slices.Sorted(maps.Keys(operations)) {
			operation := operations[method]
			media := map[string]bool{}
			for status, responseRef := range operation.Responses.Map() {
				if status[0] == '2' {
					for text := range responseRef.Value.Content {
						media[text] = true
					}
				}
			}
			fmt.Fprintln(&builder, method, path+mark(operation.Extensions), operation.Tags, slices.Sorted(maps.Keys(operation.Responses.Map())), slices.Sorted(maps.Keys(media)))
			if len(operation.Tags) != 1 || doc.Tags.Get(operation.Tags[0]).Description == "" || len(operation.Description) <= len(operation.Summary) {
				t.Errorf("%s %s is not described", method, path)
			}
			for _, parameterRef := range operation.Parameters {
				if method == "GET" {
					fmt.Fprintln(&builder, "\t"+parameterRef.Value.Name, typed(parameterRef.Value.Schema))
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		fmt.Fprintln(&builder, name, typed(doc.Components.Schemas[name]))
		fields := doc.Components.Schemas[name].Value.Properties
		for _, field := range slices.Sorted(maps.Keys(fields)) {
			fmt.Fprintln(&builder, "\t"+field, typed(fields[field]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Headers)) {
		header := doc.Components.Headers[name].Value
		fmt.Fprintln(&builder, name+":", typed(header.Schema)+mark(header.Extensions))
	}
	golden.Compare(t, "document.golden", builder.String())
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
