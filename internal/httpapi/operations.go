package httpapi

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"daybook/calendar"
	"daybook/internal/history"
	"daybook/internal/param"
	"daybook/internal/texts"
	"daybook/query"
)

// described returns the key of the description of a field or a parameter of a kind: its own
// one, or that which several kinds share.
func described(what string, k calendar.Kind, name string) string {
	own := what + "." + k.String() + "." + name
	if _, ok := texts.Documentation[own]; ok {
		return own
	}
	return what + "." + name
}

// describe returns a text of the documentation.
func describe(id string, l calendar.Lang) string { return texts.Documentation.In(id, l) }

// operation is what some methods of a route do.
type operation struct {
	route   *route
	methods []string
	verb    string // "index", "doc", "list", "create", "read", "update", "delete", that of an extra
	args    []param.Param
}

// operations are those of a route, in the order of its methods.
func (rt *route) operations() []operation {
	switch rt.form {
	case formIndex:
		return []operation{{rt, readOnly, "index", indexArguments()}}
	case formExtra:
		return []operation{{rt, readOnly, rt.extra.verb, rt.extra.args(rt)}}
	case formDoc:
		return []operation{{rt, readOnly, "doc", []param.Param{languageArgument()}}}
	case formFeed:
		return []operation{{rt, readOnly, "feed", append([]param.Param{endingArgument(rt)}, ended(listArguments(rt))...)}}
	case formOf:
		return []operation{{rt, readOnly, "list", append([]param.Param{pathArgument(rt)}, listArguments(rt)...)}}
	case formOfFeed:
		return []operation{{rt, readOnly, "feed", append([]param.Param{pathArgument(rt), endingArgument(rt)}, ended(listArguments(rt))...)}}
	case formEvent:
		args := ended(readArguments(rt))
		return []operation{{rt, readOnly, "export", slices.Insert(args, 1, endingArgument(rt))}}
	case formCalendar:
		return []operation{{rt, readOnly, "source", argumentsOf(calendar.KindEvent, query.SourceParams())}}
	case formSearch:
		return []operation{{rt, askOnly, "search", []param.Param{
			{Name: paramSearches, In: "body", Type: "array of object", Text: "arg.searches", Required: true, Extension: true}, languageArgument(),
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
			{rt, []string{http.MethodPost, http.MethodPut, http.MethodPatch}, "update", append([]param.Param{pathArgument(rt)}, fieldArguments(rt)...)},
			{rt, []string{http.MethodDelete}, "delete", deleteArguments(rt)},
		}
	}
}

func languageArgument() param.Param { return param.Language[calendar.Lang](nil).Param }

func indexArguments() []param.Param {
	return []param.Param{
		{Name: "namespace", In: "query", Type: "string", Text: "arg.namespace", Default: `"` + Namespace + `"`},
		{Name: "context", In: "query", Type: "string", Text: "arg.context", Default: `"view"`},
		languageArgument(),
	}
}

// listArguments are those of a list; only those of the collections have a past.
func listArguments(rt *route) []param.Param {
	return slices.DeleteFunc(argumentsOf(rt.kind, query.Params(rt.kind)), func(arg param.Param) bool {
		return arg.Name == history.ParamPoint && rt.form != formCollection
	})
}

func argumentsOf(k calendar.Kind, params []query.Param) []param.Param {
	args := make([]param.Param, len(params))
	for i := range params {
		p := &params[i]
		args[i] = param.Param{
			Name: p.Name, In: "query", Type: p.Declared, Format: p.Format, Text: described("param", k, p.Name), Default: p.Default,
			Enum: p.Enum, Extension: p.Extension, Required: p.Required, Many: p.Many, Named: p.Named, Schema: p.Schema, Moving: p.Moving,
		}
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
func (rt *route) pathArguments() []param.Param {
	var out []param.Param
	for _, arg := range rt.operations()[0].args {
		if arg.In == "path" {
			out = append(out, arg)
		}
	}
	return out
}

// pathArgument is the variable of a single route.
func pathArgument(rt *route) param.Param {
	if rt.form == formBySlug {
		return param.Param{Name: "slug", In: "path", Type: "string", Text: "arg.slug." + rt.kind.String(), Required: true}
	}
	k := rt.kind
	if rt.of != 0 {
		k = rt.of
	}
	return param.Param{Name: "id", In: "path", Type: "integer", Text: "arg.id." + k.String(), Required: true, Schema: object{"minimum": 0}}
}

func readArguments(rt *route) []param.Param {
	args := []param.Param{pathArgument(rt)}
	if rt.kind == calendar.KindEvent && rt.form != formBySlug {
		args = append(args, param.Param{Name: "password", In: "query", Type: "string", Text: "arg.password.read", Schema: passwordSchema})
	}
	if rt.form != formEvent {
		args = append(args, param.Param{Name: history.ParamPoint, In: "query", Type: "string", Text: "arg.as_of.single", Extension: true, Schema: object{"minLength": 1}})
	}
	args = append(args, languageArgument(), param.Param{
		Name: "_fields", In: "query", Type: "array of string", Text: "arg.fields", Extension: true,
	})
	if rt.kind == calendar.KindEvent {
		args = append(args, param.Param{
			Name: "format", In: "query", Type: "string", Text: "arg.format", Enum: strings.Split(singleFormats, ","), Extension: true,
		})
	}
	return args
}

// endingArgument is the ending of a path that names a format.
func endingArgument(rt *route) param.Param {
	var names []string
	for _, f := range allFormats {
		if f.file[0] != "" && f.fits(rt) {
			names = append(names, f.name)
		}
	}
	return param.Param{Name: "format", In: "path", Type: "string", Text: "arg.ending", Required: true, Enum: names, Extension: true}
}

// ended tells no words of the parameter that an ending of the path wins over, as makers of
// clients refuse two lists of one name, and no defaults of paging: the whole selection
// comes without it, and a client that sends defaults would get a page.
func ended(args []param.Param) []param.Param {
	for i := range args {
		switch arg := &args[i]; {
		case arg.Name == "format" && arg.In == "query":
			arg.Enum = nil
		case arg.Name == "page", arg.Name == "per_page":
			arg.Default, arg.Schema = "", maps.Clone(arg.Schema)
			delete(arg.Schema, "default")
		}
	}
	return args
}

func deleteArguments(rt *route) []param.Param {
	args := []param.Param{pathArgument(rt)}
	if rt.kind == calendar.KindEvent && rt.form == formByID {
		args = append(args, param.Param{Name: "password", In: "query", Type: "string", Text: "arg.password.delete", Schema: passwordSchema})
	}
	return append(args, languageArgument(), param.Param{
		Name: reasonField.Name, In: "query", Type: reasonField.Declared, Text: "arg.reason", Extension: true, Schema: object{"maxLength": calendar.MaxReason},
	})
}

// fieldArguments are the fields that a write of a route takes.
func fieldArguments(rt *route) []param.Param {
	fields := calendar.SpecOf(rt.kind).Fields
	args := make([]param.Param, 0, len(fields))
	for i := range fields {
		f := &fields[i]
		if f.Form == calendar.FormNone || f.NotBySlug && rt.form == formBySlug {
			continue
		}
		args = append(args, param.Param{
			Name: f.Name, In: "body", Type: f.Declared, Text: described("field", rt.kind, f.Name),
			Required: f.Required && rt.form == formCollection, Default: declaredDefault(f.Default),
			Enum: f.Enum, Extension: f.Extension, Field: f,
		})
	}
	return append(args, param.Param{
		Name: reasonField.Name, In: "body", Type: reasonField.Declared, Text: "arg.reason", Extension: true, Field: &reasonField,
	})
}

// declaredDefault drops a declared null: it is no value to show.
func declaredDefault(s string) string {
	if s == "null" {
		return ""
	}
	return s
}

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
