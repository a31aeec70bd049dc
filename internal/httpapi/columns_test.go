package httpapi

import (
	"slices"
	"testing"

	"daybook/calendar"
	"daybook/internal/httpapi/openapi"
	"daybook/internal/render"
)

// TestColumnsAreDocumented: the keys of records in answers are those in the documentation.
func TestColumnsAreDocumented(t *testing.T) {
	t.Parallel()
	records := openapi.Records()
	layouts := render.NewLayouts()
	for _, kind := range calendar.Kinds {
		documented := records[openapi.RecordName(kind)].(object)["properties"].(object)
		for _, column := range slices.Concat(layouts.Of[kind], layouts.Nested[kind]) {
			for _, key := range []string{column.Name, column.Second} {
				if key != "" && documented[key] == nil {
					t.Errorf("%s: %s is answered and not documented", kind, key)
				}
			}
		}
	}
}
