package httpapi

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"daybook/calendar"
	"daybook/internal/history"
	"daybook/internal/texts"
	"daybook/query"
)

// argument is one parameter of an operation, as the index and the documentation
// show it. Both are made from the same tables that requests are checked by.
type argument struct {
	name        string
	in          string // "path", "query", "header", "body"
	declared    string // type as the tables give it, "" untyped
	format      string
	description calendar.Text
	required    bool
	fallback    string // declared default as JSON text, "" none
	enum        []string
	extension   bool
	schema      object          // further keywords of its schema
	param       *query.Param    // of lists
	field       *calendar.Field // of body fields
}

// moves tells whether its default moves with the day.
func (arg *argument) moves() bool { return arg.param != nil && arg.param.Moving != nil }

// described returns the description of a field or a parameter of a kind: its own one, or
// that which several kinds share.
func described(what string, k calendar.Kind, name string) calendar.Text {
	if own, ok := texts.Documentation[what+"."+k.String()+"."+name]; ok {
		return own
	}
	return texts.Documentation[what+"."+name]
}

// describe returns a text of the documentation.
func describe(id string, l calendar.Lang) string { return texts.Documentation.In(id, l) }

// operation is what some methods of a route do.
type operation struct {
	route   *route
	methods []string
	verb    string // "index", "doc", "list", "create", "read", "update", "delete", that of an extra
	args    []argument
}

// operations are those of a route, in the order of its methods.
func (rt *route) operations() []operation {
	switch rt.form {
	case formIndex:
		return []operation{{rt, readOnly, "index", indexArguments()}}
	case formExtra:
		return []operation{{rt, readOnly, rt.extra.verb, rt.extra.args(rt)}}
	case formDoc:
		return []operation{{rt, readOnly, "doc", []argument{languageArgument()}}}
	case formFeed:
		return []operation{{rt, readOnly, "feed", append([]argument{endingArgument(rt)}, ended(listArguments(rt))...)}}
	case formOf:
		return []operation{{rt, readOnly, "list", append([]argument{pathArgument(rt)}, listArguments(rt)...)}}
	case formOfFeed:
		return []operation{{rt, readOnly, "feed", append([]argument{pathArgument(rt), endingArgument(rt)}, ended(listArguments(rt))...)}}
	case formEvent:
		args := ended(readArguments(rt))
		return []operation{{rt, readOnly, "export", slices.Insert(args, 1, endingArgument(rt))}}
	case formCalendar:
		return []operation{{rt, readOnly, "source", argumentsOf(calendar.KindEvent, query.SourceParams())}}
	case formSearch:
		return []operation{{rt, askOnly, "search", []argument{
			{name: paramSearches, in: "body", declared: "array of object", description: texts.Documentation["arg.searches"], required: true, extension: true}, languageArgument(),
		}}}
	case formClusters:
		return []operation{{rt, readOnly, "clusters", argumentsOf(calendar.KindEvent, query.ClusterParams())}}
	case formCollection:
		return []operation{
			{rt, readOnly, "list", listArguments(rt)},
			{rt, []string{http.MethodPost}, "create", fieldArguments(rt)},
		}
	default:
		return []operation{
			{rt, readOnly, "read", readArguments(rt)},
			{rt, []string{http.MethodPost, http.MethodPut, http.MethodPatch}, "update", append([]argument{pathArgument(rt)}, fieldArguments(rt)...)},
			{rt, []string{http.MethodDelete}, "delete", deleteArguments(rt)},
		}
	}
}

func languageArgument() argument {
	return argument{
		name: "multilang_language", in: "query", declared: "string",
		description: texts.Documentation["arg.language"], enum: calendar.LangNames(),
	}
}

func indexArguments() []argument {
	return []argument{
		{name: "namespace", in: "query", declared: "string", description: texts.Documentation["arg.namespace"], fallback: `"` + Namespace + `"`},
		{name: "context", in: "query", declared: "string", description: texts.Documentation["arg.context"], fallback: `"view"`},
		languageArgument(),
	}
}

// listArguments are those of a list; only those of the collections have a past.
func listArguments(rt *route) []argument {
	return slices.DeleteFunc(argumentsOf(rt.kind, query.Params(rt.kind)), func(arg argument) bool {
		return arg.name == history.ParamPoint && rt.form != formCollection
	})
}

func argumentsOf(k calendar.Kind, params []query.Param) []argument {
	args := make([]argument, 0, len(params))
	for i := range params {
		p := &params[i]
		args = append(args, argument{
			name: p.Name, in: "query", declared: p.Declared, format: p.Format, description: described("param", k, p.Name),
			fallback: declaredDefault(p.Default), enum: p.Enum, extension: p.Extension, required: p.Required, schema: p.Schema, param: p,
		})
	}
	return args
}

var passwordSchema = object{"maxLength": calendar.MaxPassword}

// textID names the text of the operation.
func (op *operation) textID() string {
	id := "op." + op.verb
	if op.route.kind != 0 && op.route.extra == nil {
		id += "." + op.route.kind.String()
	}
	return id
}

// sends are the request headers that the operation takes, beside credentials.
func (op *operation) sends() []string {
	if op.route.extra != nil {
		return op.route.extra.sends
	}
	headers := operationHeaders[op.verb]
	if (op.verb == "read" || op.verb == "list") && op.route.negotiatesTime(http.MethodGet) {
		headers = append(slices.Clip(headers), headerAcceptTime)
	}
	return headers
}

// pathArguments are the variables of the path.
func (rt *route) pathArguments() []argument {
	var out []argument
	for _, arg := range rt.operations()[0].args {
		if arg.in == "path" {
			out = append(out, arg)
		}
	}
	return out
}

// pathArgument is the variable of a single route.
func pathArgument(rt *route) argument {
	if rt.form == formBySlug {
		return argument{name: "slug", in: "path", declared: "string", description: texts.Documentation["arg.slug."+rt.kind.String()], required: true}
	}
	k := rt.kind
	if rt.of != 0 {
		k = rt.of
	}
	return argument{name: "id", in: "path", declared: "integer", description: texts.Documentation["arg.id."+k.String()], required: true, schema: object{"minimum": 0}}
}

func readArguments(rt *route) []argument {
	args := []argument{pathArgument(rt)}
	if rt.kind == calendar.KindEvent && rt.form != formBySlug {
		args = append(args, argument{name: "password", in: "query", declared: "string", description: texts.Documentation["arg.password.read"], schema: passwordSchema})
	}
	if rt.form != formEvent {
		args = append(args, argument{name: history.ParamPoint, in: "query", declared: "string", description: texts.Documentation["arg.as_of.single"], extension: true, schema: object{"minLength": 1}})
	}
	args = append(args, languageArgument(), argument{
		name: "_fields", in: "query", declared: "array of string", description: texts.Documentation["arg.fields"], extension: true,
	})
	if rt.kind == calendar.KindEvent {
		args = append(args, argument{
			name: "format", in: "query", declared: "string", description: texts.Documentation["arg.format"], enum: strings.Split(singleFormats, ","), extension: true,
		})
	}
	return args
}

// endingArgument is the ending of a path that names a format.
func endingArgument(rt *route) argument {
	var names []string
	for _, f := range allFormats {
		if f.file[0] != "" && f.fits(rt) {
			names = append(names, f.name)
		}
	}
	return argument{name: "format", in: "path", declared: "string", description: texts.Documentation["arg.ending"], required: true, enum: names, extension: true}
}

// ended tells no words of the parameter that an ending of the path wins over, as makers of
// clients refuse two lists of one name, and no defaults of paging: the whole selection
// comes without it, and a client that sends defaults would get a page.
func ended(args []argument) []argument {
	for i := range args {
		switch arg := &args[i]; {
		case arg.name == "format" && arg.in == "query":
			arg.enum = nil
		case arg.name == "page", arg.name == "per_page":
			arg.fallback, arg.schema = "", maps.Clone(arg.schema)
			delete(arg.schema, "default")
		}
	}
	return args
}

func deleteArguments(rt *route) []argument {
	args := []argument{pathArgument(rt)}
	if rt.kind == calendar.KindEvent && rt.form == formByID {
		args = append(args, argument{name: "password", in: "query", declared: "string", description: texts.Documentation["arg.password.delete"], schema: passwordSchema})
	}
	return append(args, languageArgument(), argument{
		name: reasonField.Name, in: "query", declared: reasonField.Declared, description: texts.Documentation["arg.reason"], extension: true, schema: object{"maxLength": calendar.MaxReason},
	})
}

// fieldArguments are the fields that a write of a route takes.
func fieldArguments(rt *route) []argument {
	fields := calendar.SpecOf(rt.kind).Fields
	args := make([]argument, 0, len(fields))
	for i := range fields {
		f := &fields[i]
		if f.Form == calendar.FormNone || f.NotBySlug && rt.form == formBySlug {
			continue
		}
		args = append(args, argument{
			name: f.Name, in: "body", declared: f.Declared, description: described("field", rt.kind, f.Name),
			required: f.Required && rt.form == formCollection, fallback: declaredDefault(f.Default),
			enum: f.Enum, extension: f.Extension, field: f,
		})
	}
	return append(args, argument{
		name: reasonField.Name, in: "body", declared: reasonField.Declared, description: texts.Documentation["arg.reason"], extension: true, field: &reasonField,
	})
}

// declaredDefault drops a declared null: it is no value to show.
func declaredDefault(s string) string {
	if s == "null" {
		return ""
	}
	return s
}

// elementType gives the type of the elements of a declared list.
func elementType(declared string) (string, bool) { return strings.CutPrefix(declared, "array of ") }

// defaultOf reads a declared default.
func defaultOf(s string) any {
	var v any
	if json.Unmarshal([]byte(s), &v) != nil {
		return s
	}
	return v
}

// sorted sorts names in place and gives them.
func sorted(names []string) []string {
	slices.Sort(names)
	return names
}
