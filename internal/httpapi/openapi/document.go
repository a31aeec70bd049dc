package openapi

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"daybook/calendar"
	"daybook/internal/history"
	"daybook/internal/param"
	"daybook/internal/texts"
	"daybook/query/readmodel"
)

// files have the forms of the documentation and of the index.
//
//go:embed *.tmpl
var files embed.FS

// document is one of them under way.
type document struct {
	*API
	Root

	language calendar.Lang
	forms    *template.Template
}

// Fill makes a document for a root in a language: "doc" (8.2) of all routes, their "index" (8.1),
// or "options" of one, which is its entry there.
func (api *API) Fill(form string, root Root, lang calendar.Lang, of any) json.RawMessage {
	d, language := &document{api, root, lang, template.New("")}, param.Language[calendar.Lang](nil)
	template.Must(d.forms.Funcs(template.FuncMap{
		"json": encoded, "members": members, "words": strings.Fields, "title": Title, "trim": strings.TrimSuffix, "lower": strings.ToLower,
		"version": func() string { return Version }, "document": func() *document { return d }, "language": func() *param.Param { return &language.Param },
		"request": func(route *Route, operation *Operation, method string) request {
			return request{route, operation, strings.ToLower(method)}
		},
		"byKey": byKey, "arguments": arguments, "element": element, "record": RecordName, "spec": calendar.SpecOf, "required": required,
		"kinds": func() any { return calendar.Kinds[:calendar.KindCategory] }, "maxElements": func() int { return calendar.MaxElements },
		"languages": calendar.LangNames, "statuses": func() []string { return calendar.SpecOf(calendar.KindEvent).Field("event_status").Enum },
		"actions": func() any { return history.Actions }, "maxRepeats": func() int { return readmodel.MostRepeats }, "maxTypos": func() int { return readmodel.MaxTypos },
	}).ParseFS(files, "*.tmpl"))
	return d.fill(form, of)
}

func (document *document) fill(form string, of any) json.RawMessage {
	var result bytes.Buffer
	if err := document.forms.ExecuteTemplate(&result, form, of); err != nil {
		panic(err)
	}
	return result.Bytes()
}

// Sorted makes an object, whose members are in the order of their names.
func (document *document) Sorted(form string, of any) (object Object, err error) {
	err = json.Unmarshal(document.fill(form, of), &object)
	return object, err
}

// Schema is that of a parameter.
func (document *document) Schema(parameter *param.Param) (Object, error) {
	return document.Sorted("schema", parameter)
}

// required returns the names of the properties that are not marked as optional, and takes the marks
// away.
func required(properties Object) (names []string) {
	for name := range properties {
		schema, _ := properties[name].(Object)
		if schema["optional"] == nil {
			names = append(names, name)
		}
		delete(schema, "optional")
	}
	slices.Sort(names)
	return names
}

func encoded(value any) (string, error) {
	data, err := json.Marshal(value)
	return string(data), err
}

// members are the members of an object, without its braces.
func members(object Object) (string, error) {
	text, err := encoded(object)
	return text[1 : len(text)-1], err
}

// byKey are routes in the order of the index.
func byKey(routes []*Route) []*Route {
	return slices.SortedFunc(slices.Values(routes), func(a, b *Route) int { return strings.Compare(a.Key, b.Key) })
}

// arguments are those of an operation in the index, by name. Of a variable of the path and a field
// of the body the first one is meant.
func arguments(operation *Operation) []param.Param {
	args := slices.Clone(operation.Args)
	slices.SortStableFunc(args, func(a, b param.Param) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(args, func(a, b param.Param) bool { return a.Name == b.Name })
}

// element is the type of the elements of a list, "" for none.
func element(parameter *param.Param) string {
	if of, list := parameter.Element(); list {
		return of
	}
	return ""
}

// Text returns the text of a key that is made of parts.
func (document *document) Text(parts ...any) string {
	return texts.Documentation.In(fmt.Sprint(parts...), document.language)
}

// Spelled returns the names of a header.
func (document *document) Spelled(name string) []string {
	return append([]string{name}, document.Totals[name]...)
}

// Title is a word with a capital: "event" → "Event".
func Title(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// RecordName names the schema of records of a kind in answers.
func RecordName(kind calendar.Kind) string {
	if kind.IsTerm() {
		return "Term"
	}
	return Title(kind.String())
}

// Object is an object of the documents.
type Object = map[string]any
