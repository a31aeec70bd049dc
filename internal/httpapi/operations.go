package httpapi

import (
	"maps"
	"net/http"
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
func described(what string, k calendar.Kind, name string) string {
	own := what + "." + k.String() + "." + name
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

// readOperation is an operation that reads.
func readOperation(id, text, group string, do work, op openapi.Operation) operation {
	op.Methods, op.ID, op.Text, op.Group = readOnly, id, text, group
	return operation{op, do}
}

// baseRoutes are the index and the documentation.
func baseRoutes() []*route {
	row := func(pattern, id string, do work, op openapi.Operation) *route {
		op.Headers = []string{"ETag"}
		rt := openapi.Route{Name: openapi.Title(id), Tag: "documentation"}
		return &route{Route: rt, pattern: pattern, operations: []operation{readOperation(id, id, "events", do, op)}}
	}
	return []*route{
		row("/", "index", (*call).index, openapi.Operation{
			Args: indexTable.Params(), Namespace: indexTable[0].Name, Statuses: []int{404}, Content: openapi.JSON(openapi.Ref("Index")),
		}),
		row("/doc", "doc", (*call).documentation, openapi.Operation{
			Args: languageTable.Params(), Content: openapi.JSON(object{"type": "object"}),
		}),
	}
}

// recordRoutes are those of the records of a kind: the collection, one record by id and
// by slug, and its past.
func recordRoutes(k calendar.Kind) []*route {
	collection, one, pattern := openapi.Title(k.Collection()), openapi.Title(k.String()), "/"+k.Collection()
	listed := &route{Route: openapi.Route{Name: collection}, pattern: pattern, kind: k, collection: true, past: true, timed: true}
	statuses := []int{403, 404, 422}
	if !k.IsPost() {
		statuses = []int{403, 422}
	}
	listed.operations = []operation{
		listOperation(listed, "list"+collection, listArguments(listed), statuses),
		{openapi.Operation{
			Methods: createOnly, ID: "create" + one, Text: "create." + k.String(), Group: "writing",
			Args: fieldArguments(listed), Body: &openapi.Body{Schema: one + "Create", Text: "body", Forms: true}, Writes: true,
			Status: http.StatusCreated, Statuses: []int{403, 410, 413, 422}, Sends: []string{headerKey, headerReason},
			Headers: []string{"ETag", headerPosition, headerLocation, headerReplayed},
			Content: openapi.JSON(openapi.Ref(openapi.RecordName(k))),
		}, (*call).create},
	}
	out := []*route{listed, singleRoute(&route{Route: openapi.Route{Name: one}, pattern: pattern + "/{id:[0-9]+}", kind: k, timed: true})}
	if k.IsPost() {
		out = append(out, singleRoute(&route{Route: openapi.Route{Name: one + "BySlug"}, pattern: pattern + "/by-slug/{slug}", kind: k, bySlug: true}))
	}
	return append(out, historyRoute(k), timeMapRoute(k), diffRoute(k))
}

// pastRoute is a route of the past of a record.
func pastRoute(k calendar.Kind, verb string, read *pastRead, op openapi.Operation) *route {
	one := openapi.Title(k.String())
	rt := &route{Route: openapi.Route{Name: openapi.Title(verb) + one, Extension: true}, pattern: "/" + k.Collection() + "/{id:[0-9]+}/" + verb, kind: k}
	op.Args = slices.Insert(read.table.Params(), 0, pathArgument(rt))
	op.Statuses = []int{403, 404, 410}
	rt.operations = []operation{readOperation(verb+one, verb, "history", read.serve, op)}
	return rt
}

// logRoute is a route of the log, for reading.
func logRoute(pattern, verb string, do work, op openapi.Operation) *route {
	rt := openapi.Route{Name: openapi.Title(verb), Tag: "log", Extension: true}
	return &route{Route: rt, pattern: pattern, operations: []operation{readOperation(verb, verb, "history", do, op)}}
}

// eventRoutes are those of extensions that list events.
func eventRoutes() []*route {
	events := "/" + calendar.KindEvent.Collection()
	export := &route{Route: openapi.Route{Name: "FormatEvent", Ended: true}, pattern: events + "/{id:[0-9]+}" + eventEnding, kind: calendar.KindEvent, single: true}
	export.operations = []operation{readOperation("exportEvent", "export.event", "feeds", (*call).readRecord, openapi.Operation{
		Args:  slices.Insert(ended(readArguments(export)), 1, endingArgument(true)),
		Sends: []string{"If-Modified-Since"}, Headers: []string{"ETag", headerPosition, headerDisposition, headerModified},
		Statuses: []int{403, 404, 410}, Content: formatContent(allFormats, export),
	})}
	out := []*route{feedRoute(events, "Events", 0), export}
	for _, k := range calendar.Kinds[1:] {
		path, name := "/"+k.Collection()+"/{id:[0-9]+}"+events, openapi.Title(k.String())+"Events"
		rt := &route{Route: openapi.Route{Name: name}, pattern: path, kind: calendar.KindEvent, of: k}
		args := slices.Insert(listArguments(rt), 0, pathArgument(rt))
		rt.operations = []operation{listOperation(rt, "list"+name, args, []int{403, 404, 410})}
		out = append(out, rt, feedRoute(path, name, k))
	}
	searched := openapi.Operation{
		Sends: []string{headerMinPosition}, Headers: []string{"ETag", headerPosition, "X-Total"},
	}
	source, clusters := searched, searched
	source.Args, source.Content = argumentsOf(calendar.KindEvent, query.ParamsOf("source")), openapi.JSON(openapi.List(openapi.Ref("CalendarEntry")))
	clusters.Args = argumentsOf(calendar.KindEvent, query.ParamsOf("map"))
	clusters.Content = openapi.Content{"application/geo+json": {Schema: openapi.Ref("Clusters")}}
	row := func(path, name string, op operation) *route {
		return &route{Route: openapi.Route{Name: name}, pattern: events + path, operations: []operation{op}}
	}
	out = append(
		out,
		row("/calendar", "Calendar", readOperation("sourceCalendar", "source.event", "feeds", (*call).calendarSource, source)),
		row("/search", "SearchEvents", operation{openapi.Operation{
			Methods: createOnly, ID: "searchEvents", Text: "search.event", Group: "search", Args: []param.Param{
				{
					Name: paramSearches, In: "body", Type: "array of object", Text: "arg.searches", Required: true, Extension: true,
					Schema: object{"minItems": 1, "maxItems": mostSearches},
				}, languageArgument(),
			},
			Body:  &openapi.Body{Schema: "EventSearches", Text: "arg.searches", Elements: argumentsOf(calendar.KindEvent, query.ParamsOf("several"))},
			Sends: []string{headerMinPosition}, Headers: []string{headerPosition}, Statuses: []int{413},
			Content: openapi.JSON(openapi.Strict(object{"results": openapi.List(openapi.Ref("EventList"))})),
		}, (*call).several}),
		row("/clusters", "Clusters", readOperation("clustersClusters", "clusters.event", "search", (*call).clusters, clusters)),
	)
	for _, rt := range out {
		rt.kind, rt.Extension = calendar.KindEvent, true
	}
	return append(out, suggestRoute())
}

// feedRoute is a list of events in the format of its ending.
func feedRoute(path, name string, of calendar.Kind) *route {
	rt := &route{Route: openapi.Route{Name: "Format" + name, Ended: true}, pattern: path + listEnding, kind: calendar.KindEvent, of: of}
	args, statuses := []param.Param{endingArgument(false)}, []int{403, 404}
	if of != 0 {
		args, statuses = slices.Insert(args, 0, pathArgument(rt)), append(statuses, 410)
	}
	op := listOperation(rt, "feed"+name, append(args, ended(listArguments(rt))...), statuses)
	op.Text, op.Group = "feed.event", "feeds"
	op.Sends = []string{"If-Modified-Since", headerMinPosition}
	rt.operations = []operation{op}
	return rt
}

func listOperation(rt *route, id string, args []param.Param, statuses []int) operation {
	op := openapi.Operation{
		Args: args, Sends: []string{headerMinPosition},
		Headers:  []string{"ETag", headerPosition, headerLink, "X-Total", "X-TotalPages"},
		Statuses: statuses, Content: formatContent(allFormats, rt),
	}
	if rt.timed {
		op.Sends = append(op.Sends, headerAcceptTime)
		op.Headers = append(op.Headers, headerMemento, headerContentLocation)
	}
	if rt.kind == calendar.KindEvent {
		op.Headers = append(op.Headers, headerDisposition, headerModified)
	}
	return readOperation(id, "list."+rt.kind.String(), "events", (*call).list, op)
}

// singleRoute completes the route of one record: to read, change and delete it.
func singleRoute(rt *route) *route {
	rt.single, rt.past = true, true
	kind, content := rt.kind.String(), openapi.JSON(openapi.Ref(openapi.RecordName(rt.kind)))
	update := openapi.Title(kind) + "Update"
	read := openapi.Operation{
		Args:     readArguments(rt),
		Headers:  []string{"ETag", headerModified, headerPosition, headerGroups},
		Statuses: []int{403, 404, 410}, Content: formatContent(allFormats, rt),
	}
	if rt.bySlug {
		update += "BySlug"
		read.Statuses = []int{403, 404} // an erased record has no slug
	}
	if rt.timed {
		read.Sends = append(read.Sends, headerAcceptTime)
		read.Headers = append(read.Headers, headerLink, headerMemento, headerContentLocation)
	}
	if rt.kind == calendar.KindEvent {
		read.Headers = append(read.Headers, headerDisposition)
	}
	rt.operations = []operation{readOperation("read"+rt.Name, "read."+kind, "events", (*call).readRecord, read), {openapi.Operation{
		Methods: changeMethods, ID: "update" + rt.Name, Text: "update." + kind, Group: "writing",
		Args: append([]param.Param{pathArgument(rt)}, fieldArguments(rt)...), Body: &openapi.Body{Schema: update, Text: "body", Forms: true}, Writes: true,
		Sends: []string{headerKey, "If-Match", headerReason}, Headers: []string{"ETag", headerPosition, headerReplayed},
		Statuses: []int{403, 404, 410, 412, 413, 422}, Content: content,
	}, (*call).update}, {openapi.Operation{
		Methods: deleteOnly, ID: "delete" + rt.Name, Text: "delete." + kind, Group: "writing", Args: deleteArguments(rt), Writes: true,
		Sends: []string{"If-Match", headerReason}, Headers: []string{"ETag", headerPosition},
		Statuses: []int{403, 404, 410, 412}, Content: content,
	}, (*call).delete}}
	return rt
}

// formatContent is the answer of a read in the formats that parameters and headers select,
// or where the path has an ending in those of endings.
func formatContent(formats []*format, rt *route) openapi.Content {
	out := openapi.Content{}
	for _, f := range formats {
		if !f.fits(rt.kind, rt.single) || rt.Ended && !f.exports() {
			continue
		}
		schema := openapi.Text()
		switch record := openapi.RecordName(rt.kind); {
		case !f.exports() && rt.single:
			schema = openapi.AnyOf(openapi.Ref(record), openapi.Ref("Sparse"+record))
		case !f.exports():
			schema = openapi.Ref(openapi.Title(rt.kind.String()) + "List")
		case f.Schema != "" && rt.single:
			schema = openapi.Ref("Feature")
		case f.Schema != "":
			schema = openapi.Ref(f.Schema)
		}
		out[f.Media[0]] = openapi.Media{Schema: schema, Extension: f.exports()}
	}
	return out
}

func languageArgument() param.Param { return languageTable[0].Param }

// listArguments are those of a list; only those of the collections have a past.
func listArguments(rt *route) []param.Param {
	return slices.DeleteFunc(argumentsOf(rt.kind, query.Params(rt.kind)), func(arg param.Param) bool {
		return arg.Name == history.ParamPoint && !rt.past
	})
}

func argumentsOf(k calendar.Kind, params query.Parameters) []param.Param {
	args := make([]param.Param, len(params))
	for i := range params {
		args[i] = params[i].Param
		args[i].In, args[i].Text = "query", described("param", k, args[i].Name)
	}
	return args
}

var passwordSchema = object{"maxLength": calendar.MaxPassword}

// pathArgument is the variable of a single route.
func pathArgument(rt *route) param.Param {
	if rt.bySlug {
		return param.Param{Name: "slug", In: "path", Type: "string", Text: "arg.slug." + rt.kind.String(), Required: true, Schema: object{"minLength": 1}}
	}
	k := rt.kind
	if rt.of != 0 {
		k = rt.of
	}
	return param.Param{Name: "id", In: "path", Type: "integer", Text: "arg.id." + k.String(), Required: true, Schema: object{"minimum": 0}}
}

func readArguments(rt *route) []param.Param {
	args := []param.Param{pathArgument(rt)}
	if rt.kind == calendar.KindEvent && !rt.bySlug {
		args = append(args, singlePassword.Param)
	}
	if rt.past {
		args = append(args, singlePoint)
	}
	args = append(args, languageArgument(), singleFields.Param)
	if rt.kind == calendar.KindEvent {
		args = append(args, singleFormat.Param)
	}
	return args
}

// endingArgument is the ending of a path that names a format.
func endingArgument(single bool) param.Param {
	var names []string
	for _, f := range allFormats {
		if f.exports() && f.fits(calendar.KindEvent, single) {
			names = append(names, f.Name)
		}
	}
	return param.Param{Name: "format", In: "path", Type: "string", Text: "arg.ending", Required: true, Enum: names, Extension: true}
}

// ended drops the words of the parameter that the ending of a path overrides, since client
// generators refuse two enumerations of one name, and the defaults of paging: a client that
// sends them would get a page instead of the whole selection.
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
	if rt.kind == calendar.KindEvent && !rt.bySlug {
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
		if f.Form == calendar.FormNone || f.NotBySlug && rt.bySlug {
			continue
		}
		args = append(args, param.Param{
			Name: f.Name, In: "body", Type: f.Declared, Text: described("field", rt.kind, f.Name),
			Required: f.Required && rt.collection, Default: declaredDefault(f.Default),
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
