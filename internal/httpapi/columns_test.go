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
	records := newDocuments(&Options{}, nil).Records()
	layouts := render.NewLayouts()
	for _, k := range calendar.Kinds {
		documented := records[openapi.RecordName(k)].(object)["properties"].(object)
		for _, c := range slices.Concat(layouts.Of[k], layouts.Nested[k]) {
			for _, key := range c.Keys {
				if documented[key] == nil {
					t.Errorf("%s: %s is answered and not documented", k, key)
				}
			}
		}
	}
}
