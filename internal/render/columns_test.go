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
func sample(f *calendar.Field) any {
	switch f.Stored {
	case calendar.TypeText:
		return calendar.Text{calendar.LangEN: "text of " + f.Name}
	case calendar.TypeBool:
		return !f.Initial
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
		switch f.Form {
		case calendar.FormStatus:
			return string(calendar.StatusPrivate)
		case calendar.FormWord:
			return f.Enum[1]
		case calendar.FormZone:
			return "America/New_York"
		default:
			return "https://example.org/" + f.Name
		}
	}
}

// fullRecord has a value in each row of a table.
func fullRecord(s *calendar.Spec) *calendar.Record {
	r := &calendar.Record{ID: 412, Kind: s.Kind, Version: 1, Home: calendar.LangEN, Fields: calendar.Fields{}}
	for i := range s.Fields {
		if f := &s.Fields[i]; f.Stored != 0 {
			r.Fields[f.Name] = sample(f)
		}
	}
	return r
}

// without is a record that lacks a row.
func without(r *calendar.Record, row string) *calendar.Record {
	out := *r
	out.Fields = maps.Clone(r.Fields)
	delete(out.Fields, row)
	return &out
}

// flaws returns which rows of a table answers do not show, and which show through in a
// blanked event.
func flaws(t *testing.T, w *Writer, s *calendar.Spec, staying string) []string {
	t.Helper()
	answer := func(r *calendar.Record, blanked bool) map[string]any {
		example := exampleView(t)
		v := &query.View{Record: r, Status: r.Status(time.Time{}), Blanked: blanked}
		for name, add := range map[string]func(){
			"venue":      func() { v.Venues = example.Venues },
			"organizer":  func() { v.Organizers = example.Organizers },
			"categories": func() { v.Categories = example.Categories },
			"tags":       func() { v.Tags = example.Categories },
		} {
			if r.Fields.IDs(name) != nil {
				add()
			}
		}
		return rendered(t, w, v)
	}
	var out []string
	flaw := func(name, what string) { out = append(out, s.Kind.String()+" "+name+" "+what) }

	full := fullRecord(s)
	whole, blank := answer(full, false), answer(full, true)
	for i := range s.Fields {
		f := &s.Fields[i]
		lacking := without(full, f.Name)
		switch f.Form {
		case calendar.FormNone, calendar.FormLang, calendar.FormPassword:
		default:
			if reflect.DeepEqual(whole[f.Name], answer(lacking, false)[f.Name]) {
				flaw(f.Name, "is not answered")
			}
		}
		if s.Kind != calendar.KindEvent {
			continue
		}
		_, there := blank[f.Name]
		switch stays := slices.Contains(strings.Fields(staying), f.Name); {
		case stays && !reflect.DeepEqual(whole[f.Name], blank[f.Name]):
			flaw(f.Name, "does not stay in blanked events")
		case !stays && !reflect.DeepEqual(blank, answer(lacking, true)):
			flaw(f.Name, "shows through in blanked events")
		case !stays && !there && whole[f.Name] != nil && !f.Filled:
			flaw(f.Name, "is missing in blanked events")
		}
	}
	return out
}

// writerOf is a Writer for another table of a kind.
func writerOf(t *testing.T, s *calendar.Spec) *Writer {
	t.Helper()
	w := testWriter(t)
	w.Layouts.Of[s.Kind] = columnsOf(s, orders[s.Kind])
	return w
}

// TestEveryRowIsAnswered: each row of the field tables that can be sent is answered, and in blanked events it is blank or stays as 6.3 says.
func TestEveryRowIsAnswered(t *testing.T) {
	t.Parallel()
	for _, k := range calendar.Kinds {
		s := calendar.SpecOf(k)
		for _, flaw := range flaws(t, writerOf(t, s), s, stayingRows) {
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
		f := calendar.ReadField("added " + row)
		for _, k := range calendar.Kinds {
			for _, stays := range []bool{false, true} {
				f.Stays = stays
				s := *calendar.SpecOf(k)
				s.Fields = append(slices.Clone(s.Fields), f)
				staying := stayingRows
				if stays {
					staying += " " + f.Name
				}
				p := writerOf(t, &s)
				for _, flaw := range flaws(t, p, &s, staying) {
					t.Errorf("%s, stays %t: %s", name, stays, flaw)
				}
				before := rendered(t, p, &query.View{Record: without(fullRecord(&s), f.Name)})
				if got := before[f.Name]; f.Form == calendar.FormBool && got != f.Initial {
					t.Errorf("%s of a record from before: got %v, want %t", name, got, f.Initial)
				}
			}
		}
	}
}

// TestOrders: an order names what there is, so that a slip of the pen moves no key.
func TestOrders(t *testing.T) {
	t.Parallel()
	for k, order := range orders {
		for name := range strings.FieldsSeq(order + " " + nestedOrder) {
			f := calendar.SpecOf(k).Field(name)
			if _, known := computed[name]; !known && name != dots && (f == nil || f.Shown == calendar.ShownNever) && strings.Contains(order, name) {
				t.Errorf("%s: nothing is called %s", k, name)
			}
		}
	}
	for as, shown := range fieldsShown[calendar.ShownText:] {
		if shown.blank == "" || (shown.ending == "") != (shown.secondBlank == "") {
			t.Errorf("%d: no blank value", as)
		}
	}
}

// TestTablesAreInETags: with another table every ETag is another one.
func TestTablesAreInETags(t *testing.T) {
	t.Parallel()
	s := *calendar.SpecOf(calendar.KindEvent)
	s.Fields = append(slices.Clone(s.Fields), calendar.Field{Name: "added", Stored: calendar.TypeBool, Form: calendar.FormBool})
	if a, b := NewLayouts().Hash(), writerOf(t, &s).Layouts.Hash(); a == b || a != NewLayouts().Hash() {
		t.Errorf("got %x with another row, %x without", b, a)
	}
}
