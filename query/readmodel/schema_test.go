package readmodel_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// notIndexed are the rows of the field tables that no field is made from, and why.
var notIndexed = map[calendar.Kind][]string{
	calendar.KindEvent: {
		"slug", "former_slug", // posts are found by them in the event store
		"former_status",                                                                                           // of trashed posts, which no list is filtered by
		"timezone",                                                                                                // told by readmodel.Zone
		"image", "image_url", "website", "event_status_reason", "show_map", "show_map_link", "sticky", "modified", // only shown
		"password",           // hashed in the store; whether there is one is in protected
		"multilang_language", // selector of a request, not stored
		"imports",            // for the service itself; no list shows it
	},
	calendar.KindVenue: {
		"slug", "former_slug", "former_status", "image", "image_url", "show_map", "show_map_link", "modified", "modified_utc", "multilang_language", "imports",
		"geo_lat", "geo_lng", // venues are chosen by them before events are filtered by venue
	},
	calendar.KindOrganizer: {"slug", "former_slug", "former_status", "image", "image_url", "modified", "modified_utc", "multilang_language", "imports"},
	calendar.KindCategory:  {"multilang_language", "imports"},
	calendar.KindTag:       {"multilang_language", "imports"},
}

// TestEveryFieldIsDecided: each row of a field table is indexed, or listed as one that is
// not.
func TestEveryFieldIsDecided(t *testing.T) {
	t.Parallel()
	for _, k := range calendar.Kinds {
		t.Run(k.String(), func(t *testing.T) {
			t.Parallel()
			spec, schema := calendar.SpecOf(k), readmodel.SchemaOf(k)
			if spec == nil || schema == nil {
				t.Fatalf("table %v, schema %v", spec, schema)
			}
			indexed := map[string]bool{}
			for i := range schema.Fields {
				f := &schema.Fields[i]
				if f.Name != readmodel.FieldID && len(f.From) == 0 {
					t.Errorf("%s is made from nothing", f.Name)
				}
				for _, row := range f.From {
					indexed[row] = true
					if spec.Field(row) == nil {
						t.Errorf("%s is made from %q, which the table lacks", f.Name, row)
					}
				}
			}
			for i := range spec.Fields {
				name := spec.Fields[i].Name
				if indexed[name] == slices.Contains(notIndexed[k], name) {
					t.Errorf("%s has to be indexed or listed as not indexed, not both", name)
				}
			}
			for _, name := range notIndexed[k] {
				if spec.Field(name) == nil {
					t.Errorf("%s is listed as not indexed, but the table lacks it", name)
				}
			}
		})
	}
}

// TestTexts holds the list of interface 4.7.
func TestTexts(t *testing.T) {
	t.Parallel()
	for k, want := range map[calendar.Kind][]string{
		calendar.KindEvent:     {"name", "description", "excerpt"},
		calendar.KindVenue:     {"name", "description", "excerpt", "address", "city", "country", "province", "state", "stateprovince", "zip", "phone", "website"},
		calendar.KindOrganizer: {"name", "description", "excerpt", "phone", "email", "website"},
		calendar.KindCategory:  {"name"}, // of suggestions
		calendar.KindTag:       {"name"},
	} {
		if diff := cmp.Diff(want, readmodel.SchemaOf(k).Texts()); diff != "" {
			t.Errorf("texts of %s (-want +got):\n%s", k.Collection(), diff)
		}
	}
}

func TestExtractors(t *testing.T) {
	t.Parallel()
	event := &calendar.Record{ID: 9, Kind: calendar.KindEvent, Home: calendar.LangFR, Fields: calendar.Fields{
		"description": calendar.Text{calendar.LangFR: "<p>Un&nbsp;d&eacute;but</p>"},
	}}
	s := readmodel.SchemaOf(calendar.KindEvent)
	if got := s.Field(readmodel.TextDescription).Text(event)[calendar.LangFR]; got != "Un début" {
		t.Errorf("description %q", got)
	}
	if got := s.Field(readmodel.FieldLack(readmodel.FieldModified)).Numbers(event); !slices.Equal(got, []int64{9}) {
		t.Errorf("id of what was never modified: %v", got)
	}
	tag := &calendar.Record{ID: 1, Kind: calendar.KindTag, Home: calendar.LangFR, Fields: calendar.Fields{
		"name": calendar.Text{calendar.LangFR: "Été À Paris"}, "description": calendar.Text{calendar.LangFR: "<p>Ça</p>"},
	}}
	s = readmodel.SchemaOf(calendar.KindTag)
	for name, want := range map[string]string{
		readmodel.FieldNameLower(calendar.LangES): "été à paris", readmodel.FieldNameKey(calendar.LangEN): "ete a paris",
		readmodel.FieldDescriptionKey(calendar.LangCN): "=ca", readmodel.FieldSlug: "",
	} {
		if got := s.Field(name).Keyword(tag); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
