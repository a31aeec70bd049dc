package readmodel_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// TestTexts holds the list of interface 4.7.
func TestTexts(t *testing.T) {
	t.Parallel()
	for kind, want := range map[calendar.Kind][]string{
		calendar.KindEvent:     {"name", "description", "excerpt"},
		calendar.KindVenue:     {"name", "description", "excerpt", "address", "city", "country", "province", "state", "stateprovince", "zip", "phone", "website"},
		calendar.KindOrganizer: {"name", "description", "excerpt", "phone", "email", "website"},
		calendar.KindCategory:  {"name"}, // of suggestions
		calendar.KindTag:       {"name"},
	} {
		if diff := cmp.Diff(want, readmodel.SchemaOf(kind).Texts); diff != "" {
			t.Errorf("texts of %s (-want +got):\n%s", kind.Collection(), diff)
		}
	}
}
