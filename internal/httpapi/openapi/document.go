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

// documentFile is the form of the documentation.
//
//go:embed document.tmpl
var documentFile string

// document is the documentation under way.
type document struct {
	*API
	Root

	lang calendar.Lang
}

// Document makes the documentation (8.2) for a root in a language.
func (api *API) Document(root Root, lang calendar.Lang) json.RawMessage {
	d := &document{api, root, lang}
	form := template.Must(template.New("").Funcs(template.FuncMap{
		"json":  func(value any) (string, error) { data, err := json.Marshal(value); return string(data), err },
		"words": strings.Fields, "title": Title, "version": func() string { return Version },
		"text": d.text, "spelled": d.spelled, "parameters": d.parameters, "schema": d.schema, "schemas": d.schemas,
	}).Parse(documentFile))
	var out bytes.Buffer
	if err := form.Execute(&out, d); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// text returns the text of a key that is made of parts.
func (document *document) text(parts ...any) string {
	return texts.Documentation.In(fmt.Sprint(parts...), document.lang)
}

// spelled returns the names of a header.
func (document *document) spelled(name string) []string {
	return append([]string{name}, document.Totals[name]...)
}

// schemas are the components that bodies and answers refer to.
func (document *document) schemas() Object {
	return merged(document.answers(), Records(), document.bodies())
}

// parameters are what an operation takes outside of its body, where fields of it may stand, too.
func (document *document) parameters(operation *Operation) []param.Param {
	args := slices.DeleteFunc(slices.Clone(operation.Args), func(arg param.Param) bool { return arg.In == "body" && arg.Field == nil })
	for i := range args {
		if field := args[i].Field; field != nil {
			args[i].In, args[i].Required, args[i].Extension = "query", false, field.Form != calendar.FormLang
		}
	}
	return args
}

// schema is that of a parameter.
func (document *document) schema(arg *param.Param) Object {
	if arg.Field != nil {
		return inQuery(arg)
	}
	if element, list := arg.Element(); list {
		items := Object{"type": element}
		if arg.Named {
			items["type"] = "string"
		}
		if arg.Enum != nil {
			items["enum"] = arg.Enum
		}
		return merged(List(wide(items)), Object{"maxItems": calendar.MaxElements}, arg.Schema)
	}
	o := Text()
	switch arg.Type {
	case "integer", "number", "boolean":
		o["type"] = arg.Type
	case "":
		o["type"] = "boolean" // the untyped parameters of lists
	}
	if arg.Format == "double" {
		o["format"] = arg.Format
	}
	if arg.Enum != nil {
		o["enum"] = arg.Enum
	}
	if standard := document.standard(arg); standard != nil {
		o["default"] = standard
	}
	if arg.Name == "per_page" {
		o["description"] = "≤ " + strconv.Itoa(document.PerPageMax)
	}
	if arg.Type == "date" || arg.Moving != nil {
		o["minLength"] = 1
	}
	schema := wide(merged(o, arg.Schema)) // its default has the type, that of the table may be text
	if arg.Name == "per_page" || arg.Name == "limit" {
		delete(schema, "format") // what is too large is lowered
	}
	return schema
}

// inQuery is the schema of a field of a body in the query string, which has no place for the data
// of linked records and for null. A value that the body has too is not looked at, so its bounds
// are told of the body alone.
func inQuery(arg *param.Param) Object {
	schema := Object{"type": input(arg.Field)["type"]}
	if arg.IsList() || schema["type"] == "array" {
		return List(Text())
	}
	if types, several := schema["type"].([]any); several {
		schema["type"] = types[0]
	}
	return wide(schema)
}
