package openapi

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"daybook/calendar"
	"daybook/internal/param"
	"daybook/internal/texts"
)

// documentFile are the forms of the documentation and of the index.
//
//go:embed document.tmpl
var documentFile string

// document is one of them under way.
type document struct {
	*API
	Root

	language calendar.Lang
}

// Fill makes a document for a root in a language: "doc" (8.2) of all routes, their "index" (8.1),
// or "options" of one, which is its entry there.
func (api *API) Fill(form string, root Root, lang calendar.Lang, of any) json.RawMessage {
	d, language := &document{api, root, lang}, param.Language[calendar.Lang](nil)
	forms := template.Must(template.New("").Funcs(template.FuncMap{
		"json": encoded, "words": strings.Fields, "title": Title, "trim": strings.TrimSuffix, "version": func() string { return Version }, "document": func() *document { return d },
		"lower": strings.ToLower, "language": func() *param.Param { return &language.Param },
		"request": func(route *Route, operation *Operation, method string) request {
			return request{route, operation, strings.ToLower(method)}
		},
		"byKey": byKey, "arguments": arguments, "element": element,
	}).Parse(documentFile))
	var result bytes.Buffer
	if err := forms.ExecuteTemplate(&result, form, of); err != nil {
		panic(err)
	}
	return result.Bytes()
}

func encoded(value any) (string, error) {
	data, err := json.Marshal(value)
	return string(data), err
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

// Schemas are the components that bodies and answers refer to.
func (document *document) Schemas() Object {
	return merged(document.answers(), Records(), document.bodies())
}

// Parameters are what an operation takes outside of its body, where fields of it may stand, too.
func (document *document) Parameters(operation *Operation) []param.Param {
	args := slices.DeleteFunc(slices.Clone(operation.Args), func(parameter param.Param) bool { return parameter.In == "body" && parameter.Field == nil })
	for i := range args {
		if field := args[i].Field; field != nil {
			args[i].In, args[i].Required, args[i].Extension = "query", false, field.Form != calendar.FormLang
		}
	}
	return args
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
