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
		"image", "image_url", "website", "event_status_reason", "show_map", "show_map_link", "sticky", "modified", // only shown
		"password",           // hashed in the store; whether there is one is in protected
		"multilang_language", // selector of a request, not stored
		"imports",            // for the service itself; no list shows it
	},
	calendar.KindVenue: {
		"slug", "former_slug", "image", "image_url", "show_map", "show_map_link", "modified", "modified_utc", "multilang_language", "imports",
		"geo_lat", "geo_lng", // venues are chosen by them before events are filtered by venue
	},
	calendar.KindOrganizer: {"slug", "former_slug", "image", "image_url", "modified", "modified_utc", "multilang_language", "imports"},
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
		"title": calendar.Text{calendar.LangFR: "Été <b>", calendar.LangEN: "Summer"}, "description": calendar.Text{calendar.LangFR: "<p>Un&nbsp;d&eacute;but</p>"},
		"author": calendar.ID(7), "venue": []calendar.ID{5, 6}, "featured": true, "start_date": calendar.Wall(3), "date_utc": calendar.NoWall, "status": "draft",
	}}
	s := readmodel.SchemaOf(calendar.KindEvent)
	if got := s.Field(readmodel.TextName).Text(event); got != (calendar.Text{calendar.LangFR: "Été <b>", calendar.LangEN: "Summer"}) {
		t.Errorf("name %q", got)
	}
	if got := s.Field(readmodel.TextDescription).Text(event)[calendar.LangFR]; got != "Un début" {
		t.Errorf("description %q", got)
	}
	for name, want := range map[string][]int64{
		readmodel.FieldAuthor: {7}, readmodel.FieldVenue: {5, 6}, readmodel.FieldID: {9}, readmodel.FieldStart: {3}, readmodel.FieldEnd: nil,
		readmodel.FieldPublished: nil, readmodel.FieldLack(readmodel.FieldPublished): {9},
	} {
		if got := s.Field(name).Numbers(event); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if s.Field(readmodel.FieldFeatured).Keyword(event) != "true" || s.Field(readmodel.FieldHidden).Keyword(event) != "" {
		t.Error("featured has to be true, hidden false")
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
	venue := &calendar.Record{ID: 1, Kind: calendar.KindVenue, Home: calendar.LangES, Fields: calendar.Fields{"city": "Lima", "geo_lat": 1.5, "geo_lng": -2.5}}
	s = readmodel.SchemaOf(calendar.KindVenue)
	if text, l := s.Field(readmodel.TextCity).Text(venue).In(calendar.LangEN, venue.Home); text != "Lima" || l != calendar.LangES {
		t.Errorf("city %q in %s", text, l)
	}
}
