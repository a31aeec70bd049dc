package render

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/query"
)

// Written by hand from 6.3: the rows that stay in a blanked event.
const stayingRows = "author date date_utc modified modified_utc title slug status timezone start_date end_date utc_start_date utc_end_date event_status"

// sample is a value of a row that no record has without it.
func sample(field *calendar.Field) any {
	switch field.Stored {
	case calendar.TypeText:
		return calendar.Text{calendar.LangEN: "text of " + field.Name}
	case calendar.TypeBool:
		return !field.Initial
	case calendar.TypeNumber:
		return 12.5
	case calendar.TypeID:
		return calendar.ID(77)
	case calendar.TypeIDs:
		return []calendar.ID{88}
	case calendar.TypeStrings:
		return []string{"$5"}
	case calendar.TypeWall:
		return calendar.Wall(1_783_189_800)
	default:
		switch field.Form {
		case calendar.FormStatus:
			return string(calendar.StatusPrivate)
		case calendar.FormWord:
			return field.Enum[1]
		case calendar.FormZone:
			return "America/New_York"
		default:
			return "https://example.org/" + field.Name
		}
	}
}

// fullRecord has a value in each row of a table.
func fullRecord(spec *calendar.Spec) *calendar.Record {
	record := &calendar.Record{ID: 412, Kind: spec.Kind, Version: 1, Home: calendar.LangEN, Fields: calendar.Fields{}}
	for i := range spec.Fields {
		if field := &spec.Fields[i]; field.Stored != 0 {
			record.Fields[field.Name] = sample(field)
		}
	}
	return record
}

// without is a record that lacks a row.
func without(record *calendar.Record, row string) *calendar.Record {
	out := *record
	out.Fields = maps.Clone(record.Fields)
	delete(out.Fields, row)
	return &out
}

// flaws returns which rows of a table answers do not show, and which show through in a
// blanked event.
func flaws(t *testing.T, writer *Writer, spec *calendar.Spec, staying string) []string {
	t.Helper()
	answer := func(record *calendar.Record, blanked bool) map[string]any {
		example := exampleView(t)
		view := &query.View{Record: record, Status: record.Status(time.Time{}), Blanked: blanked}
		for name, add := range map[string]func(){
			"venue":      func() { view.Venues = example.Venues },
			"organizer":  func() { view.Organizers = example.Organizers },
			"categories": func() { view.Categories = example.Categories },
			"tags":       func() { view.Tags = example.Categories },
		} {
			if record.Fields.IDs(name) != nil {
				add()
			}
		}
		return rendered(t, writer, view)
	}
	var out []string
	flaw := func(name, what string) { out = append(out, spec.Kind.String()+" "+name+" "+what) }

	full := fullRecord(spec)
	whole, blank := answer(full, false), answer(full, true)
	for i := range spec.Fields {
		field := &spec.Fields[i]
		lacking := without(full, field.Name)
		switch field.Form {
		case calendar.FormNone, calendar.FormLang, calendar.FormPassword:
		default:
			if reflect.DeepEqual(whole[field.Name], answer(lacking, false)[field.Name]) {
				flaw(field.Name, "is not answered")
			}
		}
		if spec.Kind != calendar.KindEvent {
			continue
		}
		_, there := blank[field.Name]
		switch stays := slices.Contains(strings.Fields(staying), field.Name); {
		case stays && !reflect.DeepEqual(whole[field.Name], blank[field.Name]):
			flaw(field.Name, "does not stay in blanked events")
		case !stays && !reflect.DeepEqual(blank, answer(lacking, true)):
			flaw(field.Name, "shows through in blanked events")
		case !stays && !there && whole[field.Name] != nil && !field.Filled:
			flaw(field.Name, "is missing in blanked events")
		}
	}
	return out
}

// writerOf is a Writer for another table of a kind.
func writerOf(t *testing.T, spec *calendar.Spec) *Writer {
	t.Helper()
	writer := testWriter(t)
	writer.Layouts.Of[spec.Kind] = columnsOf(spec, orders[spec.Kind])
	return writer
}

// TestEveryRowIsAnswered: each row of the field tables that can be sent is answered, and in blanked events it is blank or stays as 6.3 says.
func TestEveryRowIsAnswered(t *testing.T) {
	t.Parallel()
	for _, kind := range calendar.Kinds {
		spec := calendar.SpecOf(kind)
		for _, flaw := range flaws(t, writerOf(t, spec), spec, stayingRows) {
			t.Error(flaw)
		}
	}
}

// TestNewRows: a row that is added to a table is answered and blanked by that alone; a boolean also for records that were made before.
func TestNewRows(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]string{
		"boolean":         "bool",
		"initial boolean": "bool initial",
		"name":            "name",
		"html":            "html",
		"plain html":      "html shown=text",
		"filled html":     "html filled",
		"detail":          "detail",
		"filled detail":   "detail filled",
		"url":             "url",
		"email":           "email filled",
		"zone":            "zone",
		"word":            "word enum=a,b",
		"time":            "date",
		"moment":          "date shown=moment",
		"id":              "parent",
		"author":          "author",
		"cost":            "cost",
		"kept time":       "none stored=wall shown=time",
	} {
		field := calendar.ReadField("added " + row)
		for _, kind := range calendar.Kinds {
			for _, stays := range []bool{false, true} {
				field.Stays = stays
				spec := *calendar.SpecOf(kind)
				spec.Fields = append(slices.Clone(spec.Fields), field)
				staying := stayingRows
				if stays {
					staying += " " + field.Name
				}
				writer := writerOf(t, &spec)
				for _, flaw := range flaws(t, writer, &spec, staying) {
					t.Errorf("%s, stays %t: %s", name, stays, flaw)
				}
				before := rendered(t, writer, &query.View{Record: without(fullRecord(&spec), field.Name)})
				if got := before[field.Name]; field.Form == calendar.FormBool && got != field.Initial {
					t.Errorf("%s of a record from before: got %v, want %t", name, got, field.Initial)
				}
			}
		}
	}
}

// The keys that no field has.
const computedKeys = "id global_id url rest_url custom_fields language taxonomy count parent urls collapsed"

// TestOrders: an order names what there is, so that a slip of the pen moves no key.
func TestOrders(t *testing.T) {
	t.Parallel()
	for kind, order := range orders {
		for name := range strings.FieldsSeq(order + " " + nestedOrder) {
			field := calendar.SpecOf(kind).Field(name)
			if known := slices.Contains(strings.Fields(computedKeys), name); !known && name != "…" && (field == nil || field.Shown == calendar.ShownNever) && strings.Contains(order, name) {
				t.Errorf("%s: nothing is called %s", kind, name)
			}
		}
	}
	for as, way := range ways[calendar.ShownText:] {
		if (way.ending == "") != (way.secondBlank == "") {
			t.Errorf("%d: no blank value", as)
		}
	}
}

// TestTablesAreInETags: with another table every ETag is another one.
func TestTablesAreInETags(t *testing.T) {
	t.Parallel()
	spec := *calendar.SpecOf(calendar.KindEvent)
	spec.Fields = append(slices.Clone(spec.Fields), calendar.Field{Name: "added", Stored: calendar.TypeBool, Form: calendar.FormBool})
	if a, b := NewLayouts().Hash(), writerOf(t, &spec).Layouts.Hash(); a == b || a != NewLayouts().Hash() {
		t.Errorf("got %x with another row, %x without", b, a)
	}
}
