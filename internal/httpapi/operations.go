package httpapi

import (
	"maps"
	"slices"

	"daybook/calendar"
	"daybook/internal/history"
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

// requestHeaders are the schemas of the headers of requests that are more than any text.
var requestHeaders = map[string]object{
	headerKey:         {"maxLength": maxKey, "pattern": "^[ -~]*$"}, // an empty header is none
	headerReason:      {"pattern": "^[ -~]*$"},
	headerMinPosition: {"pattern": "^[0-9]*$"},
	headerLastEvent:   {"pattern": "^[0-9]*$"},
}

var passwordSchema = object{"maxLength": calendar.MaxPassword}

// arguments are what operations take, by the names in routes.json.
var arguments = map[string]func(*route) []param.Param{
	"index":    func(*route) []param.Param { return indexTable.Params() },
	"language": always(languageTable[0].Param),
	"list":     listArguments,
	"source":   listArgumentsOf("source"),
	"map":      listArgumentsOf("map"),
	"suggest":  listArgumentsOf("suggest"),
	"record":   fieldArguments,
	"point":    always(singlePoint),
	"fields":   always(singleFields.Param),
	"format":   onEvents(singleFormat.Param),
	"password": onEvents(singlePassword.Param),
	"passwordToDelete": onEvents(param.Param{
		Name: "password", In: "query", Type: "string", Text: "arg.password.delete", Schema: passwordSchema,
	}),
	"reason": always(param.Param{
		Name: reasonField.Name, In: "query", Type: reasonField.Declared, Text: "arg.reason", Extension: true, Schema: object{"maxLength": calendar.MaxReason},
	}),
	"searches": always(param.Param{
		Name: paramSearches, In: "body", Type: "array of object", Text: "arg.searches", Required: true, Extension: true,
		Schema: object{"minItems": 1, "maxItems": mostSearches},
	}),
}

func always(p param.Param) func(*route) []param.Param {
	return func(rt *route) []param.Param { return rt.ended([]param.Param{p}) }
}

func onEvents(p param.Param) func(*route) []param.Param {
	return func(rt *route) []param.Param {
		if rt.kind != calendar.KindEvent {
			return nil
		}
		return always(p)(rt)
	}
}

// listArguments are those of a list; only those of the collections have a past.
func listArguments(route *route) []param.Param {
	return route.ended(slices.DeleteFunc(argumentsOf(route.kind, query.Params(route.kind)), func(arg param.Param) bool {
		return arg.Name == history.ParamPoint && !route.Past
	}))
}

func listArgumentsOf(name string) func(*route) []param.Param {
	return func(*route) []param.Param { return argumentsOf(calendar.KindEvent, query.ParamsOf(name)) }
}

func argumentsOf(kind calendar.Kind, params query.Parameters) []param.Param {
	args := make([]param.Param, len(params))
	for i := range params {
		args[i] = params[i].Param
		args[i].In, args[i].Text = "query", described("param", kind, args[i].Name)
	}
	return args
}

// ended drops the words of the parameter that the ending of the path overrides, since client
// generators refuse two enumerations of one name, and the defaults of paging: a client that
// sends them would get a page instead of the whole selection.
func (route *route) ended(args []param.Param) []param.Param {
	for i := range args {
		switch arg := &args[i]; {
		case !route.Ended:
		case arg.Name == "format":
			arg.Enum = nil
		case arg.Name == "page", arg.Name == "per_page":
			arg.Default, arg.Schema = "", maps.Clone(arg.Schema)
			delete(arg.Schema, "default")
		}
	}
	return args
}

// pathArgument is a variable of the path.
func (route *route) pathArgument(name string) param.Param {
	arg := param.Param{Name: name, In: "path", Type: "string", Required: true}
	kind := route.kind
	if route.of != 0 {
		kind = route.of
	}
	switch name {
	case "id":
		arg.Type, arg.Text, arg.Schema = "integer", "arg.id."+kind.String(), object{"minimum": 0}
	case "slug":
		arg.Text, arg.Schema = "arg.slug."+kind.String(), object{"minLength": 1}
	case "format":
		arg.Text, arg.Extension = "arg.ending", true
		for _, format := range allFormats {
			if format.exports() && format.fits(calendar.KindEvent, route.Single) {
				arg.Enum = append(arg.Enum, format.Name)
			}
		}
	case "level":
		arg.Text, arg.Schema = "arg.tile.level", object{"pattern": "^([0-9]|[1-5][0-9]|6[0-3]|entries)$"}
	case "tile":
		arg.Text = "arg.tile.tile"
	}
	return arg
}

// fieldArguments are the fields that a write of a route takes.
func fieldArguments(route *route) []param.Param {
	fields := calendar.SpecOf(route.kind).Fields
	args := make([]param.Param, 0, len(fields))
	for i := range fields {
		field := &fields[i]
		if field.Form == calendar.FormNone || field.NotBySlug && route.bySlug {
			continue
		}
		arg := param.Param{
			Name: field.Name, In: "body", Type: field.Declared, Text: described("field", route.kind, field.Name),
			Required: field.Required && route.collection, Default: field.Default, Enum: field.Enum, Extension: field.Extension, Field: field,
		}
		if arg.Default == "null" { // it is no value to show
			arg.Default = ""
		}
		args = append(args, arg)
	}
	return append(args, param.Param{
		Name: reasonField.Name, In: "body", Type: reasonField.Declared, Text: "arg.reason", Extension: true, Field: &reasonField,
	})
}

// content is the answer of a read in the formats that parameters and headers select, or
// where the path has an ending in those of endings.
func (route *route) content(formats []*format) (out []openapi.Media) {
	for _, format := range formats {
		if !format.fits(route.kind, route.Single) || route.Ended && !format.exports() {
			continue
		}
		schema := openapi.Text()
		switch record := openapi.RecordName(route.kind); {
		case !format.exports() && route.Single:
			schema = openapi.AnyOf(openapi.Ref(record), openapi.Ref("Sparse"+record))
		case !format.exports():
			schema = openapi.Ref(openapi.Title(route.kind.String()) + "List")
		case format.Schema != "" && route.Single:
			schema = openapi.Ref("Feature")
		case format.Schema != "":
			schema = openapi.Ref(format.Schema)
		}
		out = append(out, openapi.Media{Type: format.Media[0], Schema: schema, Extension: format.exports()})
	}
	return out
}
