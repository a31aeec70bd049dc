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

// baseRoutes are the index and the documentation.
func baseRoutes() []*route {
	read := operation{
		methods: readOnly, group: "events", sends: []string{"If-None-Match"}, headers: []string{"ETag", headerEncoding},
	}
	index, doc := read, read
	index.id, index.text, index.args, index.statuses = "index", "index", indexArguments(), []int{400, 401, 404}
	index.content, index.work = jsonContent(schemaRef("Index")), (*api).index
	doc.id, doc.text, doc.args, doc.statuses = "doc", "doc", []param.Param{languageArgument()}, []int{400, 401}
	doc.content, doc.work = jsonContent(object{"type": "object"}), (*api).documentation
	return []*route{
		{pattern: "/", name: "Index", tag: "documentation", operations: []operation{index}},
		{pattern: "/doc", name: "Doc", tag: "documentation", operations: []operation{doc}},
	}
}

// recordRoutes are those of the records of a kind: the collection, one record by id and
// by slug, and its past.
func recordRoutes(k calendar.Kind) []*route {
	collection, one, pattern := title(k.Collection()), title(k.String()), "/"+k.Collection()
	listed := &route{pattern: pattern, name: collection, kind: k, collection: true, past: true, timed: true}
	listed.operations = []operation{
		listOperation(listed, "list"+collection, listArguments(listed), listStatuses(k)),
		{
			methods: createOnly, id: "create" + one, text: "create." + k.String(), group: "writing",
			args: fieldArguments(listed), body: &body{schema: one + "Create", forms: true}, writes: true,
			status: http.StatusCreated, statuses: []int{400, 401, 403, 410, 413, 422}, sends: []string{headerKey, headerReason},
			headers: []string{"ETag", headerPosition, headerLocation, headerReplayed},
			content: jsonContent(schemaRef(recordSchema(k))), work: (*api).create,
		},
	}
	byID := &route{pattern: pattern + "/{id:[0-9]+}", name: one, kind: k, single: true, past: true, timed: true}
	byID.operations = singleOperations(byID)
	out := []*route{listed, byID}
	if k.IsPost() {
		bySlug := &route{pattern: pattern + "/by-slug/{slug}", name: one + "BySlug", kind: k, single: true, bySlug: true, past: true}
		bySlug.operations = singleOperations(bySlug)
		out = append(out, bySlug)
	}
	return append(out, historyRoute(k), timeMapRoute(k), diffRoute(k))
}

// pastRoute is a route of the past of a record.
func pastRoute(k calendar.Kind, verb string, args []param.Param, op operation) *route {
	rt := &route{pattern: "/" + k.Collection() + "/{id:[0-9]+}/" + verb, name: title(verb) + title(k.String()), kind: k, extension: true}
	op.methods, op.id, op.text, op.group = readOnly, verb+title(k.String()), verb, "history"
	op.args = append([]param.Param{pathArgument(rt)}, args...)
	op.sends, op.statuses = []string{"If-None-Match"}, []int{400, 401, 403, 404, 410}
	rt.operations = []operation{op}
	return rt
}

// logRoute is a route of the log, for reading.
func logRoute(pattern, verb string, args []param.Param, op operation) *route {
	op.methods, op.id, op.text, op.group, op.args = readOnly, verb, verb, "history", args
	return &route{pattern: pattern, name: title(verb), tag: "log", extension: true, operations: []operation{op}}
}

// eventRoutes are those of extensions that list events.
func eventRoutes() []*route {
	events := "/" + calendar.KindEvent.Collection()
	export := &route{pattern: events + "/{id:[0-9]+}" + eventEnding, name: "FormatEvent", kind: calendar.KindEvent, single: true, ended: true}
	export.operations = []operation{{
		methods: readOnly, id: "exportEvent", text: "export.event", group: "feeds",
		args:  slices.Insert(ended(readArguments(export)), 1, endingArgument(true)),
		sends: []string{"If-None-Match", "If-Modified-Since"}, headers: []string{"ETag", headerEncoding, headerPosition, headerDisposition, headerModified},
		statuses: []int{400, 401, 403, 404, 410}, content: formatContent(allFormats, calendar.KindEvent, true, true), work: (*api).readRecord,
	}}
	out := []*route{feedRoute(events, "Events", 0), export}
	for _, k := range calendar.Kinds[1:] {
		path, name := "/"+k.Collection()+"/{id:[0-9]+}"+events, title(k.String())+"Events"
		rt := &route{pattern: path, name: name, kind: calendar.KindEvent, of: k}
		rt.operations = []operation{listOperation(rt, "list"+name, append([]param.Param{pathArgument(rt)}, listArguments(rt)...), []int{400, 401, 403, 404, 410})}
		out = append(out, rt, feedRoute(path, name, k))
	}
	searched := []string{"ETag", headerEncoding, headerPosition, "X-Total"}
	out = append(
		out,
		&route{pattern: events + "/calendar", name: "Calendar", operations: []operation{{
			methods: readOnly, id: "sourceCalendar", text: "source.event", group: "feeds", args: argumentsOf(calendar.KindEvent, query.SourceParams()),
			sends: []string{"If-None-Match", headerMinPosition}, headers: searched, statuses: []int{400, 401},
			content: jsonContent(list(schemaRef("CalendarEntry"))), work: (*api).calendarSource,
		}}},
		&route{pattern: events + "/search", name: "SearchEvents", operations: []operation{{
			methods: createOnly, id: "searchEvents", text: "search.event", group: "search", args: []param.Param{
				{Name: paramSearches, In: "body", Type: "array of object", Text: "arg.searches", Required: true, Extension: true}, languageArgument(),
			},
			body: &body{schema: "EventSearches"}, sends: []string{headerMinPosition}, headers: []string{headerPosition}, statuses: []int{400, 401, 413},
			content: jsonContent(strict(object{"results": list(schemaRef("EventList"))})), work: (*api).several,
		}}},
		&route{pattern: events + "/clusters", name: "Clusters", operations: []operation{{
			methods: readOnly, id: "clustersClusters", text: "clusters.event", group: "search", args: argumentsOf(calendar.KindEvent, query.ClusterParams()),
			sends: []string{"If-None-Match", headerMinPosition}, headers: searched, statuses: []int{400, 401},
			content: mediaTypes{"application/geo+json": object{"schema": schemaRef("Clusters")}}, work: (*api).clusters,
		}}},
	)
	for _, rt := range out {
		rt.kind, rt.extension = calendar.KindEvent, true
	}
	return append(out, suggestRoute())
}

// feedRoute is a list of events in the format of its ending.
func feedRoute(path, name string, of calendar.Kind) *route {
	rt := &route{pattern: path + listEnding, name: "Format" + name, kind: calendar.KindEvent, of: of, ended: true}
	args, statuses := []param.Param{endingArgument(false)}, []int{400, 401, 403, 404}
	if of != 0 {
		args, statuses = slices.Insert(args, 0, pathArgument(rt)), append(statuses, 410)
	}
	op := listOperation(rt, "feed"+name, append(args, ended(listArguments(rt))...), statuses)
	op.text, op.group, op.content = "feed.event", "feeds", formatContent(allFormats, calendar.KindEvent, false, true)
	op.sends = []string{"If-None-Match", "If-Modified-Since", headerMinPosition}
	rt.operations = []operation{op}
	return rt
}

func listOperation(rt *route, id string, args []param.Param, statuses []int) operation {
	op := operation{
		methods: readOnly, id: id, text: "list." + rt.kind.String(), group: "events", args: args,
		sends:    []string{"If-None-Match", headerMinPosition},
		headers:  []string{"ETag", headerEncoding, headerPosition, headerLink, "X-Total", "X-TotalPages"},
		statuses: statuses, content: formatContent(allFormats, rt.kind, false, false), work: (*api).list,
	}
	if rt.timed {
		op.sends = append(op.sends, headerAcceptTime)
		op.headers = append(op.headers, headerMemento, headerContentLocation)
	}
	if rt.kind == calendar.KindEvent {
		op.headers = append(op.headers, headerDisposition, headerModified)
	}
	return op
}

func listStatuses(k calendar.Kind) []int {
	if k.IsPost() {
		return []int{400, 401, 403, 404, 422}
	}
	return []int{400, 401, 403, 422}
}

// singleOperations read and change one record.
func singleOperations(rt *route) []operation {
	k, of := rt.kind.String(), jsonContent(schemaRef(recordSchema(rt.kind)))
	read := operation{
		methods: readOnly, id: "read" + rt.name, text: "read." + k, group: "events", args: readArguments(rt),
		sends: []string{"If-None-Match"}, headers: []string{"ETag", headerEncoding, headerModified, headerPosition, headerGroups},
		statuses: []int{400, 401, 403, 404, 410}, content: formatContent(allFormats, rt.kind, true, false), work: (*api).readRecord,
	}
	if rt.bySlug {
		read.statuses = []int{400, 401, 403, 404} // an erased record has no slug
	}
	if rt.timed {
		read.sends = append(read.sends, headerAcceptTime)
		read.headers = append(read.headers, headerLink, headerMemento, headerContentLocation)
	}
	if rt.kind == calendar.KindEvent {
		read.headers = append(read.headers, headerDisposition)
	}
	return []operation{read, {
		methods: changeMethods, id: "update" + rt.name, text: "update." + k, group: "writing",
		args: append([]param.Param{pathArgument(rt)}, fieldArguments(rt)...), body: &body{schema: updateSchema(rt), forms: true}, writes: true,
		sends: []string{headerKey, "If-Match", headerReason}, headers: []string{"ETag", headerPosition, headerReplayed},
		statuses: []int{400, 401, 403, 404, 410, 412, 413, 422}, content: of, work: (*api).update,
	}, {
		methods: deleteOnly, id: "delete" + rt.name, text: "delete." + k, group: "writing", args: deleteArguments(rt), writes: true,
		sends: []string{"If-Match", headerReason}, headers: []string{"ETag", headerPosition},
		statuses: []int{400, 401, 403, 404, 410, 412}, content: of, work: (*api).delete,
	}}
}

// updateSchema names the body of an update: EventUpdate, EventUpdateBySlug.
func updateSchema(rt *route) string {
	name := title(rt.kind.String()) + "Update"
	if rt.bySlug {
		name += "BySlug"
	}
	return name
}

// formatContent is the answer of a read of a kind in the formats that parameters and headers
// select, or where the path has an ending in those of endings.
func formatContent(formats []*format, k calendar.Kind, single, ended bool) mediaTypes {
	out := mediaTypes{}
	for _, f := range formats {
		if !f.fits(k, single) || f.file[0] == "" && ended {
			continue
		}
		schema := f.schema(k)
		switch {
		case single && f.file[0] == "":
			schema = object{"anyOf": []object{schemaRef(recordSchema(k)), schemaRef("Sparse" + recordSchema(k))}}
		case single && f.name == "geojson":
			schema = schemaRef("Feature")
		}
		out[f.media[0]] = extended(object{"schema": schema}, f.file[0] != "")
	}
	return out
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
	if rt.kind == calendar.KindEvent && !rt.bySlug {
		args = append(args, param.Param{Name: "password", In: "query", Type: "string", Text: "arg.password.read", Schema: passwordSchema})
	}
	if rt.past {
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
func endingArgument(single bool) param.Param {
	var names []string
	for _, f := range allFormats {
		if f.file[0] != "" && f.fits(calendar.KindEvent, single) {
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
