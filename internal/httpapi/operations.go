package httpapi

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"

	"daybook/calendar"
	"daybook/internal/httpapi/openapi"
	"daybook/internal/param"
	"daybook/internal/texts"
	"daybook/query"
)

// described returns the key of the description of a field or a parameter of a kind: its own
// one, or that which several kinds share.
func described(what string, kind calendar.Kind, name string) string {
	own := what + "." + kind.String() + "." + name
	if _, ok := texts.Documentation[own]; ok {
		return own
	}
	return what + "." + name
}

// takes are the parameters of an operation besides those of its path.
func (route *route) takes(operation *openapi.Operation) (args []param.Param) {
	for _, name := range operation.Takes {
		row, single := parameters[name]
		if !single {
			args = append(args, listArguments(route.Kind, name)...)
			continue
		}
		args = append(args, row.Param)
		if !operation.Writes {
			route.params = append(route.params, *row)
		}
	}
	if operation.Body != nil && operation.Body.Forms {
		args = fieldArguments(route, operation)
	}
	args = slices.DeleteFunc(args, func(parameter param.Param) bool {
		return parameter.Name == param.AsOf && !route.Past
	})
	if route.Ended {
		route.end(args)
	}
	return args
}

// listArguments are the parameters of a list by its name in query.Params.
func listArguments(kind calendar.Kind, name string) []param.Param {
	params := query.Params(name)
	args := make([]param.Param, len(params))
	for i := range params {
		args[i] = params[i].Param
		args[i].In, args[i].Text = "query", described("param", cmp.Or(kind, calendar.KindEvent), args[i].Name)
	}
	return args
}

// end drops the words of the parameter that the ending of the path overrides, since client
// generators refuse two enumerations of one name, and the defaults of paging: a client that
// sends them would get a page instead of the whole selection.
func (route *route) end(args []param.Param) {
	for i := range args {
		switch parameter := &args[i]; parameter.Name {
		case "format":
			parameter.Enum = nil
		case "page", "per_page":
			parameter.Default, parameter.Schema = "", maps.Clone(parameter.Schema)
			delete(parameter.Schema, "default")
		}
	}
}

// pathArgument is a variable of the path; pattern may name the words that it takes. A text that
// ends in a dot goes on with the kind of the record.
func (route *route) pathArgument(name, pattern string) param.Param {
	parameter := parameters["{"+name+"}"].Param
	if words, alternatives := strings.CutPrefix(pattern, "("); alternatives {
		parameter.Enum = strings.Split(strings.TrimSuffix(words, ")"), "|")
	}
	if strings.HasSuffix(parameter.Text, ".") {
		parameter.Text += cmp.Or(route.Of, route.Kind).String()
	}
	return parameter
}

// reasonField is the reason of a change as writes take it: a parameter that no record has.
var reasonField = calendar.Field{
	Name: param.FieldReason, Form: calendar.FormDetail, Declared: "string", Empty: calendar.EmptyClears, Extension: true, Max: calendar.MaxReason,
}

// fieldArguments are the fields that a write of a route takes.
func fieldArguments(route *route, operation *openapi.Operation) []param.Param {
	fields := append(slices.Clip(calendar.SpecOf(route.Kind).Fields), reasonField)
	args := make([]param.Param, 0, len(fields))
	for i := range fields {
		field := &fields[i]
		if field.Form == calendar.FormNone || field.NotBySlug && route.bySlug {
			continue
		}
		parameter := param.Param{
			Name: field.Name, In: "body", Type: field.Declared, Text: described("field", route.Kind, field.Name),
			Required: field.Required && operation.Status == http.StatusCreated, Default: field.Default, Enum: field.Enum, Extension: field.Extension, Field: field,
		}
		if parameter.Default == "null" { // it is no value to show
			parameter.Default = ""
		}
		args = append(args, parameter)
	}
	return args
}
