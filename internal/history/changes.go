package history

import (
	"maps"
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

// languages are those that a field of a record is shown in: the home language, and of a
// translatable one the others in the order of calendar.Langs.
func languages(field *calendar.Field, home calendar.Lang) []calendar.Lang {
	langs := []calendar.Lang{home}
	for _, language := range calendar.Langs {
		if field.Stored == calendar.TypeText && language != home {
			langs = append(langs, language)
		}
	}
	return langs
}

// valueOf returns the value of a field of a record, of a translatable one that in a language:
// nil for none, string, bool, float64, calendar.ID, calendar.Wall, []calendar.ID, []string.
func valueOf(record *calendar.Record, field *calendar.Field, language calendar.Lang) any {
	if record == nil {
		return nil
	}
	value, there := record.Fields[field.Name]
	switch {
	case field.Stored == calendar.TypeText:
		value = record.Fields.Text(field.Name)[language]
	case field.Form == calendar.FormPassword: // true, or nil
		value = record.Fields["protected"]
	case there || record.Deleted:
	case field.Form == calendar.FormBool:
		value = field.Initial
	case field.Form == calendar.FormWord:
		value = field.Enum[0]
	}
	if value == nil || value == "" || value == calendar.ID(0) || value == calendar.NoWall {
		return nil
	}
	if list := reflect.ValueOf(value); list.Kind() == reflect.Slice && list.Len() == 0 {
		return nil
	}
	return value
}

// Change is one field that differs between two states of a record.
type Change struct {
	Field    string `json:"field"`
	Language string `json:"language,omitempty"` // of translatable fields
	Before   any    `json:"before"`             // see valueOf; nil for none
	After    any    `json:"after"`
	Sentence string `json:"sentence"`

	field         *calendar.Field
	before, after *calendar.Record
	names         map[calendar.ID]string // of linked records that are shown, in the language of a sentence
}

// Changes returns what differs between two states of a record, in table order, a
// translatable field once for each language. before is nil for a new record. password says
// that the password is another one, whether there is one or not.
func Changes(before, after *calendar.Record, password bool) []Change {
	changes := []Change{}
	for _, field := range shown[after.Kind] {
		for _, language := range languages(field, after.Home) {
			change := Change{Field: field.Name, Before: valueOf(before, field, language), After: valueOf(after, field, language), field: field, before: before, after: after}
			if field.Stored == calendar.TypeText {
				change.Language = language.String()
			}
			switch {
			case change.Before == nil && field.Form == calendar.FormWord && change.After == field.Enum[0]: // as every new record has it
			case !reflect.DeepEqual(change.Before, change.After), password && field.Form == calendar.FormPassword && change.After != nil:
				changes = append(changes, change)
			}
		}
	}
	return changes
}

// linked returns the ids of the records that a value of the change links.
func (change *Change) linked(value any) []calendar.ID {
	if id, ok := value.(calendar.ID); ok && change.field.Form == calendar.FormParent {
		return []calendar.ID{id}
	}
	ids, _ := value.([]calendar.ID)
	return ids
}

// Members are the fields of a record that have a value, but the password; of a translatable
// one they are texts by language (docs/spec/history.md 9).
type Members map[string]any

// MembersOf returns the members of a record; nil has none.
func MembersOf(record *calendar.Record) Members {
	members := Members{}
	if record == nil {
		return members
	}
	for _, field := range shown[record.Kind] {
		texts := Members{}
		for _, language := range languages(field, record.Home) {
			switch value := valueOf(record, field, language); {
			case value == nil || field.Form == calendar.FormPassword:
			case field.Stored == calendar.TypeText:
				texts[language.String()], members[field.Name] = value, texts
			default:
				members[field.Name] = value
			}
		}
	}
	return members
}

// Operation is one of a JSON Patch (RFC 6902): add, replace or remove.
type Operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"` // set, whatever its value, unless it is remove
}

// Patch turns the members of one state into those of another one: sorted by path, one
// operation for a field, and for each language of a translatable one that has a value in
// both.
func Patch(from, members Members) []Operation {
	operations := patch([]Operation{}, "", from, members)
	slices.SortFunc(operations, func(a, b Operation) int { return strings.Compare(a.Path, b.Path) })
	return operations
}

func patch(operations []Operation, path string, before, after any) []Operation {
	from, nested := before.(Members)
	members, both := after.(Members)
	switch {
	case nested && both:
		names := maps.Clone(from)
		maps.Copy(names, members)
		for name := range names {
			operations = patch(operations, path+"/"+name, from[name], members[name])
		}
	case before == nil:
		operations = append(operations, Operation{"add", path, after})
	case after == nil:
		operations = append(operations, Operation{Op: "remove", Path: path})
	case !reflect.DeepEqual(before, after):
		operations = append(operations, Operation{"replace", path, after})
	}
	return operations
}
