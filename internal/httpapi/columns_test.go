package httpapi

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/internal/httpapi/openapi"
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

// flaws tells which rows of a table answers do not show, which of them are not documented,
// and which show through in a blanked event.
func flaws(t *testing.T, p *renderer, s *calendar.Spec, documented object, staying string) []string {
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
		return decodeObject(t, p.appendView(nil, v))
	}
	var out []string
	flaw := func(name, what string) { out = append(out, s.Kind.String()+" "+name+" "+what) }

	full := fullRecord(s)
	whole, blank := answer(full, false), answer(full, true)
	for name := range whole {
		if documented[name] == nil {
			flaw(name, "is answered and not documented")
		}
	}
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

// documentedRows are the properties of the records of a table in the documentation.
func documentedRows(s *calendar.Spec) object {
	documents := newDocuments(&Options{}, nil)
	documents.Specs[s.Kind] = s
	return documents.Records()[openapi.RecordName(s.Kind)].(object)["properties"].(object)
}

// rendererOf is a renderer for another table of a kind.
func rendererOf(t *testing.T, s *calendar.Spec) *renderer {
	t.Helper()
	p := testRenderer(t)
	p.a.layouts.of[s.Kind] = columnsOf(s, orders[s.Kind])
	return p
}

// TestEveryRowIsAnswered: each row of the field tables that can be sent is answered and
// documented, and in blanked events it is blank or stays as 6.3 says.
func TestEveryRowIsAnswered(t *testing.T) {
	t.Parallel()
	for _, k := range calendar.Kinds {
		s := calendar.SpecOf(k)
		for _, flaw := range flaws(t, rendererOf(t, s), s, documentedRows(s), stayingRows) {
			t.Error(flaw)
		}
	}
}

// TestNewRows: a row that is added to a table is answered, documented and blanked by that
// alone; a boolean also for records that were made before.
func TestNewRows(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]calendar.Field{
		"boolean":         {Form: calendar.FormBool},
		"initial boolean": {Form: calendar.FormBool, Initial: true},
		"name":            {Form: calendar.FormName},
		"html":            {Form: calendar.FormHTML},
		"plain html":      {Form: calendar.FormHTML, Shown: calendar.ShownText},
		"filled html":     {Form: calendar.FormHTML, Filled: true},
		"detail":          {Form: calendar.FormDetail},
		"filled detail":   {Form: calendar.FormDetail, Filled: true},
		"url":             {Form: calendar.FormURL},
		"email":           {Form: calendar.FormEmail, Filled: true},
		"zone":            {Form: calendar.FormZone},
		"word":            {Form: calendar.FormWord, Enum: []string{"a", "b"}},
		"time":            {Form: calendar.FormDate},
		"moment":          {Form: calendar.FormDate, Shown: calendar.ShownMoment},
		"id":              {Form: calendar.FormParent},
		"author":          {Form: calendar.FormAuthor},
		"cost":            {Form: calendar.FormCost},
		"kept time":       {Stored: calendar.TypeWall, Shown: calendar.ShownWall},
	} {
		f.Complete()
		for _, k := range calendar.Kinds {
			for _, stays := range []bool{false, true} {
				f.Name, f.Stays = "added", stays
				s := *calendar.SpecOf(k)
				s.Fields = append(slices.Clone(s.Fields), f)
				staying := stayingRows
				if stays {
					staying += " " + f.Name
				}
				p := rendererOf(t, &s)
				for _, flaw := range flaws(t, p, &s, documentedRows(&s), staying) {
					t.Errorf("%s, stays %t: %s", name, stays, flaw)
				}
				before := decodeObject(t, p.appendView(nil, &query.View{Record: without(fullRecord(&s), f.Name)}))
				if got := before[f.Name]; f.Form == calendar.FormBool && got != f.Initial {
					t.Errorf("%s of a record from before: got %v, want %t", name, got, f.Initial)
				}
			}
		}
	}
}

// TestForgottenRows: whatever a row of a table or its column loses, TestEveryRowIsAnswered
// says so.
func TestForgottenRows(t *testing.T) {
	t.Parallel()
	for _, k := range calendar.Kinds {
		for i, f := range calendar.SpecOf(k).Fields {
			if f.Shown == calendar.ShownNever || f.Form == calendar.FormNone && k != calendar.KindEvent {
				continue
			}
			ofRow := func(change func(f *calendar.Field)) (*renderer, *calendar.Spec) {
				s := *calendar.SpecOf(k)
				s.Fields = slices.Clone(s.Fields)
				change(&s.Fields[i])
				return rendererOf(t, &s), &s
			}
			ofColumn := func(change func(c *column)) (*renderer, *calendar.Spec) {
				p := rendererOf(t, calendar.SpecOf(k))
				layouts := p.a.layouts.of[k : k+1]
				if k.IsTerm() { // they share a schema
					layouts = slices.Concat(p.a.layouts.of[calendar.KindCategory:], p.a.layouts.nested[calendar.KindCategory:])
				}
				for _, columns := range layouts {
					if at := slices.IndexFunc(columns, func(c column) bool { return c.name == f.Name }); at >= 0 {
						change(&columns[at])
					}
				}
				return p, calendar.SpecOf(k)
			}
			check := func(what string, p *renderer, s *calendar.Spec, undocumented ...string) {
				t.Helper()
				documented := documentedRows(s)
				for _, name := range undocumented {
					delete(documented, name)
				}
				if len(flaws(t, p, s, documented, stayingRows)) == 0 {
					t.Errorf("%s %s: nobody notices that it is %s", k, f.Name, what)
				}
			}
			if f.Form != calendar.FormNone {
				p, s := ofRow(func(f *calendar.Field) { f.Shown = calendar.ShownNever })
				check("never shown", p, s)
				p, s = ofColumn(func(c *column) {
					c.write = func(_ *renderer, b []byte, _ *column, _ *subject) []byte { return b }
				})
				check("not rendered", p, s)
			}
			p, s := rendererOf(t, calendar.SpecOf(k)), calendar.SpecOf(k)
			check("not documented", p, s, f.Name)
			if k == calendar.KindEvent {
				p, s = ofRow(func(f *calendar.Field) { f.Stays = !f.Stays })
				check("blanked the wrong way round", p, s)
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
	for as := calendar.ShownText; int(as) < len(fieldsShown); as++ {
		for _, key := range fieldsShown[as].keys {
			if key.blank == "" {
				t.Errorf("%d%s: no blank value", as, key.end)
			}
		}
	}
}

// TestTablesAreInETags: with another table every ETag is another one.
func TestTablesAreInETags(t *testing.T) {
	t.Parallel()
	s := *calendar.SpecOf(calendar.KindEvent)
	s.Fields = append(slices.Clone(s.Fields), calendar.Field{Name: "added", Stored: calendar.TypeBool, Form: calendar.FormBool})
	if a, b := newLayouts().hash(), rendererOf(t, &s).a.layouts.hash(); a == b || a != newLayouts().hash() {
		t.Errorf("got %x with another row, %x without", b, a)
	}
}
