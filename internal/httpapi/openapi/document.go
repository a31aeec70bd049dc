package openapi

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
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
}

// Fill makes a document for a root in a language: "doc" (8.2) of all routes, their "index" (8.1),
// or "options" of one, which is its entry there.
func (api *API) Fill(form string, root Root, lang calendar.Lang, of any) json.RawMessage {
	d, language, forms := &document{api, root, lang}, param.Language[calendar.Lang](nil), template.New("")
	execute := func(form string, of any) json.RawMessage {
		var result bytes.Buffer
		if err := forms.ExecuteTemplate(&result, form, of); err != nil {
			panic(err)
		}
		return result.Bytes()
	}
	template.Must(forms.Funcs(template.FuncMap{
		"json": encoded, "members": members, "value": value, "words": strings.Fields, "title": Title, "trim": strings.TrimSuffix, "lower": strings.ToLower,
		"version": func() string { return Version }, "document": func() *document { return d }, "language": func() *param.Param { return &language.Param },
		"request": func(route *Route, operation *Operation, method string) request {
			return request{route, operation, strings.ToLower(method)}
		},
		"sorted": func(form string, of any) (value Object, err error) { // by the names of its members
			err = json.Unmarshal(execute(form, of), &value)
			return value, err
		},
		"byKey": byKey, "arguments": arguments, "element": element, "records": Records, "input": input,
		"languages": calendar.LangNames, "statuses": func() []string { return calendar.SpecOf(calendar.KindEvent).Field("event_status").Enum },
		"actions": func() any { return history.Actions }, "maxRepeats": func() int { return readmodel.MostRepeats }, "maxTypos": func() int { return readmodel.MaxTypos },
	}).ParseFS(files, "*.tmpl"))
	return execute(form, of)
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

// Default is the default of a parameter in the index, "" for none.
func (document *document) Default(parameter *param.Param) (string, error) {
	standard := document.standard(parameter)
	if parameter.Moving != nil {
		standard = parameter.Moving(document.Now(), document.Site).String()
	}
	if standard == nil {
		return "", nil
	}
	return encoded(standard)
}

// standard is the default of a parameter below the root, nil for none.
func (root Root) standard(parameter *param.Param) any {
	switch {
	case parameter.Name == "namespace":
		return root.Namespace
	case parameter.Default == "":
		return nil
	}
	return value(parameter.Default)
}

// Text returns the text of a key that is made of parts.
func (document *document) Text(parts ...any) string {
	return texts.Documentation.In(fmt.Sprint(parts...), document.language)
}

// Spelled returns the names of a header.
func (document *document) Spelled(name string) []string {
	return append([]string{name}, document.Totals[name]...)
}

// Schema is that of a parameter.
func (document *document) Schema(parameter *param.Param) Object {
	if parameter.Field != nil {
		return inQuery(parameter)
	}
	kind := parameter.Type
	if parameter.Named {
		kind = "array of string"
	}
	var typed Object
	decode(fieldRows.Types[kind], Object{"maxElements": calendar.MaxElements}, &typed)
	if items, list := typed["items"].(Object); list && parameter.Enum != nil {
		items["enum"] = parameter.Enum
	} else if parameter.Enum != nil {
		typed["enum"] = parameter.Enum
	}
	if standard := document.standard(parameter); standard != nil {
		typed["default"] = standard
	}
	schema := wide(merged(typed, parameter.Schema)) // its default has the type, that of the table may be text
	switch parameter.Name {
	case "per_page":
		schema["description"] = "≤ " + strconv.Itoa(document.PerPageMax)
		fallthrough
	case "limit":
		delete(schema, "format") // what is too large is lowered
	}
	return schema
}

// inQuery is the schema of a field of a body in the query string, which has no place for the data
// of linked records and for null. A value that the body has too is not looked at, so its bounds
// are told of the body alone.
func inQuery(parameter *param.Param) Object {
	schema := Object{"type": input(parameter.Field)["type"]}
	if parameter.IsList() || schema["type"] == "array" {
		return List(Text())
	}
	if types, several := schema["type"].([]any); several {
		schema["type"] = types[0]
	}
	return wide(schema)
}
