package httpapi

import (
	"encoding/json"
	"slices"
	"testing"

	"daybook/calendar"
	"daybook/internal/httpapi/openapi"
	"daybook/internal/render"
)

// TestColumnsAreDocumented: the keys of records in answers are those in the documentation.
func TestColumnsAreDocumented(t *testing.T) {
	t.Parallel()
	documents, layouts := newDocuments(&Options{}), render.NewLayouts()
	var doc struct {
		Components struct {
			Schemas map[string]struct{ Properties object }
		}
	}
	if err := json.Unmarshal(documents.Fill("doc", openapi.Root{}, calendar.LangEN, documents.Routes), &doc); err != nil {
		t.Fatal(err)
	}
	for _, kind := range calendar.Kinds {
		documented := doc.Components.Schemas[openapi.RecordName(kind)].Properties
		for _, column := range slices.Concat(layouts.Of[kind], layouts.Nested[kind]) {
			for _, key := range []string{column.Name, column.Second} {
				if key != "" && documented[key] == nil {
					t.Errorf("%s: %s is answered and not documented", kind, key)
				}
			}
		}
	}
}
