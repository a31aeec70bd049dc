package history

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"daybook/calendar"
)

// shown are the fields of each kind that its past shows, in table order: those that can be
// sent, but the language selector and date_utc, which date tells; of images and users all
// that they have (HISTORY 5).
var shown = func() (t [calendar.KindUser + 1][]*calendar.Field) {
	for kind := calendar.KindEvent; kind <= calendar.KindUser; kind++ {
		spec := calendar.SpecOf(kind)
		for i := range spec.Fields {
			field := &spec.Fields[i]
			sent := field.Form != calendar.FormNone && field.Form != calendar.FormLang && field.Name != "date_utc"
			if sent || !kind.IsPost() && !kind.IsTerm() {
				t[kind] = append(t[kind], field)
			}
		}
	}
	return t
}()

// FieldNames are the names of all fields that the past of the kinds shows, each once.
func FieldNames(kinds ...calendar.Kind) []string {
	var names []string
	for _, kind := range kinds {
		for _, field := range shown[kind] {
			if !slices.Contains(names, field.Name) {
				names = append(names, field.Name)
			}
		}
	}
	return names
}

// languages are the home language, then the others in the order of calendar.Langs.
func languages(home calendar.Lang) []calendar.Lang {
	others := slices.DeleteFunc(slices.Clone(calendar.Langs[:]), func(lang calendar.Lang) bool { return lang == home })
	return slices.Insert(others, 0, home)
}

// valueOf returns the value of a field of a record that is no translatable one: nil, string,
// bool, float64, calendar.ID, calendar.Wall, []calendar.ID, []string.
func valueOf(record *calendar.Record, field *calendar.Field) any {
	if record == nil {
		return nil
	}
	if field.Form == calendar.FormPassword {
		if record.Fields.Bool("protected") {
			return true
		}
		return nil
	}
	value, there := record.Fields[field.Name]
	switch {
	case there || record.Deleted:
	case field.Form == calendar.FormBool:
		return field.Initial
	case field.Form == calendar.FormWord:
		return field.Enum[0]
	}
	if value == nil || value == "" || value == calendar.ID(0) || value == calendar.NoWall {
		return nil
	}
	if list := reflect.ValueOf(value); list.Kind() == reflect.Slice && list.Len() == 0 {
		return nil
	}
	return value
}

// textOf returns the text of a translatable field in a language, nil for none.
func textOf(record *calendar.Record, field *calendar.Field, lang calendar.Lang) any {
	if record == nil {
		return nil
	}
	return filled(record.Fields.Text(field.Name)[lang])
}

// Change is one field that differs between two states of a record.
type Change struct {
	Field    string `json:"field"`
	Language string `json:"language,omitempty"` // of translatable fields
	Before   any    `json:"before"`             // see valueOf; nil for none
	After    any    `json:"after"`
	Sentence string `json:"sentence"`

	kind   calendar.Kind
	field  *calendar.Field
	home   calendar.Lang                // of the record
	allDay struct{ before, after bool } // whether the event has no clocks
	names  Names
}

// Changes returns what differs between two states of a record, in table order, a
// translatable field once for each language. before is nil for a new record. password says
// that the password is another one, whether there is one or not.
func Changes(before, after *calendar.Record, password bool) []Change {
	out := []Change{}
	some := cmp.Or(after, before)
	if some == nil {
		return out
	}
	add := func(field *calendar.Field, language string, a, b any) {
		change := Change{Field: field.Name, Language: language, Before: a, After: b, kind: some.Kind, field: field, home: some.Home}
		change.allDay.before, change.allDay.after = isAllDay(before), isAllDay(after)
		out = append(out, change)
	}
	for _, field := range shown[some.Kind] {
		if field.Stored == calendar.TypeText {
			for _, lang := range languages(some.Home) {
				if a, b := textOf(before, field, lang), textOf(after, field, lang); a != b {
					add(field, lang.String(), a, b)
				}
			}
			continue
		}
		a, b := valueOf(before, field), valueOf(after, field)
		if a == nil && field.Form == calendar.FormWord && b == field.Enum[0] { // as every new record has it
			continue
		}
		if !reflect.DeepEqual(a, b) || password && field.Form == calendar.FormPassword && a != nil && b != nil {
			add(field, "", a, b)
		}
	}
	return out
}

func isAllDay(record *calendar.Record) bool { return record != nil && record.Fields.Bool("all_day") }

// Links are the ids of records that the sentences of changes name, each once.
func Links(changes []Change) []calendar.ID {
	var ids []calendar.ID
	for i := range changes {
		for _, value := range [...]any{changes[i].Before, changes[i].After} {
			switch v := value.(type) {
			case calendar.ID:
				if changes[i].field.Form == calendar.FormParent {
					ids = append(ids, v)
				}
			case []calendar.ID:
				ids = append(ids, v...)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Member is one member of a record as the past shows it.
type Member struct {
	Name  string
	Value any // of a translatable field: calendar.Text
}

// Members are the fields of a record that have a value, in table order, but the password
// (docs/spec/history.md 9).
type Members []Member

// MembersOf returns the members of a record; nil has none.
func MembersOf(record *calendar.Record) Members {
	out := Members{}
	if record == nil {
		return out
	}
	for _, field := range shown[record.Kind] {
		if value := memberOf(record, field); value != nil {
			out = append(out, Member{field.Name, value})
		}
	}
	return out
}

func memberOf(record *calendar.Record, field *calendar.Field) any {
	switch {
	case record == nil, field.Form == calendar.FormPassword:
	case field.Stored != calendar.TypeText:
		return valueOf(record, field)
	default:
		if text := record.Fields.Text(field.Name); !text.IsZero() {
			return text
		}
	}
	return nil
}

// Operation is one of a JSON Patch (RFC 6902): add, replace or remove.
type Operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"` // set, whatever its value, unless it is remove
}

// Patch turns the Members of one state into those of another one: sorted by path, one
// operation for a field, and for each language of a translatable one that has a value in
// both.
func Patch(from, record *calendar.Record) []Operation {
	out := []Operation{}
	some := cmp.Or(record, from)
	if some == nil {
		return out
	}
	add := func(path string, before, after any) {
		switch {
		case before == nil && after != nil:
			out = append(out, Operation{"add", path, after})
		case before != nil && after == nil:
			out = append(out, Operation{Op: "remove", Path: path})
		case !reflect.DeepEqual(before, after):
			out = append(out, Operation{"replace", path, after})
		}
	}
	for _, field := range shown[some.Kind] {
		before, after := memberOf(from, field), memberOf(record, field)
		texts, translated := before.(calendar.Text)
		others, both := after.(calendar.Text)
		if !translated || !both {
			add("/"+field.Name, before, after)
			continue
		}
		for _, lang := range calendar.Langs {
			add("/"+field.Name+"/"+lang.String(), filled(texts[lang]), filled(others[lang]))
		}
	}
	slices.SortFunc(out, func(a, b Operation) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// filled returns a text as a value, nil for an empty one.
func filled(text string) any {
	if text == "" {
		return nil
	}
	return text
}
