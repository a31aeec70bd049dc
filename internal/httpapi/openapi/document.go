package openapi

import (
	"cmp"
	_ "embed"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/internal/param"
	"daybook/internal/texts"
)

// document is the documentation under way.
type document struct {
	*API
	root Root
	lang calendar.Lang
}

// Document makes the documentation (8.2) for a root in a language.
func (api *API) Document(root Root, lang calendar.Lang) Object {
	d := &document{api, root, lang}
	paths := make(Object, len(api.Routes))
	for _, route := range api.Routes {
		paths[route.Template] = d.path(route)
	}
	scheme := func(name string) Object { return Object{"type": "http", "scheme": name, "description": d.text(name)} }
	return Object{
		"openapi": "3.1.0",
		"info":    Object{"title": d.text("title"), "description": d.text("description"), "version": Version},
		"servers": []Object{extended(Object{"url": root.URL}, root.Further)},
		"x-roles": d.roles(),
		"tags":    d.tags(),
		"paths":   paths,
		"components": Object{
			"schemas":         merged(api.answers(), d.bodies()),
			"headers":         d.headers(),
			"responses":       d.refusals(),
			"securitySchemes": Object{"basic": scheme("basic"), "bearer": scheme("bearer")},
		},
	}
}

func (document *document) text(id string) string { return texts.Documentation.In(id, document.lang) }

// roles are those of users (6.1).
func (document *document) roles() []Object {
	out := make([]Object, 0, calendar.Auditor)
	for r := calendar.Subscriber; r <= calendar.Auditor; r++ {
		role := Object{"name": r.String(), "description": document.text("role." + r.String())}
		out = append(out, extended(role, r == calendar.Auditor))
	}
	return out
}

// tags are the groups of operations, in the order of their routes.
func (document *document) tags() []Object {
	var out []Object
	seen := map[string]bool{}
	for _, route := range document.Routes {
		if !seen[route.Tag] {
			seen[route.Tag] = true
			out = append(out, Object{"name": route.Tag, "description": document.text("tag." + route.Tag)})
		}
	}
	return out
}

func (document *document) path(route *Route) Object {
	item := Object{"options": document.options(route)}
	for i := range route.Operations {
		operation := &route.Operations[i]
		for _, method := range operation.Methods {
			item[strings.ToLower(method)] = document.operation(route, operation, method)
			if method == http.MethodGet {
				item["head"] = document.operation(route, operation, http.MethodHead)
			}
		}
	}
	return item
}

func (document *document) operation(route *Route, operation *Operation, method string) Object {
	id := operation.ID
	if len(operation.Methods) > 1 || method == http.MethodHead {
		id += Title(strings.ToLower(method))
	}
	about := operation.Group
	if operation.SignedIn {
		about = "signed_in"
	}
	o := document.described(route, id, operation.Text, about)
	o["parameters"], o["responses"] = document.parameters(operation), document.responses(operation, method)
	if operation.Body != nil {
		o["requestBody"] = document.requestBody(operation)
	}
	if operation.Writes || operation.SignedIn {
		o["security"] = credentials()
	}
	return extended(o, method == http.MethodHead || route.Extension)
}

// described is an operation that is open to everybody, without parameters and responses.
func (document *document) described(route *Route, id, text, about string) Object {
	summary := document.text("op." + text)
	return Object{
		"operationId": id, "summary": summary, "description": summary + " " + document.text("about."+about), "tags": []string{route.Tag},
		"security": append([]Object{{}}, credentials()...),
	}
}

func credentials() []Object { return []Object{{"basic": []string{}}, {"bearer": []string{}}} }

func (document *document) options(route *Route) Object {
	language := param.Language[calendar.Lang](nil).Param
	parameters := append(make([]Object, 0, 2), document.parameter(&language))
	var statuses []int
	for _, arg := range route.Path() {
		if route.Ended || arg.Type == "integer" { // another ending, and what is no id, is no route
			statuses = []int{404}
		}
		o := document.parameter(&arg)
		o["schema"] = Text() // nothing is looked for, so nothing is checked
		parameters = append(parameters, o)
	}
	o := document.described(route, "options"+route.Name, "options", "options")
	o["parameters"] = parameters
	done := document.response(http.StatusOK, "Access-Control-Allow-Methods", "Access-Control-Allow-Headers", "Access-Control-Max-Age")
	done["content"] = JSON(Ref("Route"))
	o["responses"] = withRefusals(Object{"200": done}, statuses)
	return extended(o, true)
}

func (document *document) parameters(operation *Operation) []Object {
	sends := operation.Sends
	if operation.revalidates() {
		sends = slices.Insert(slices.Clone(sends), 0, "If-None-Match")
	}
	out := make([]Object, 0, len(operation.Args)+len(sends))
	for _, arg := range operation.arguments(document.root) {
		switch {
		case arg.In != "body":
			out = append(out, document.parameter(&arg))
		case arg.Field != nil: // else it is in the body alone
			out = append(out, document.bodyParameter(&arg))
		}
	}
	for _, name := range sends {
		out = append(out, Object{
			"name": name, "in": "header", "required": false, "x-extension": true,
			"description": document.text("arg.header." + name), "schema": merged(Text(), document.Sends[name]),
		})
	}
	return out
}

// parameter describes a path or query parameter.
func (document *document) parameter(arg *param.Param) Object {
	description := document.text(arg.Text)
	if arg.Moving != nil {
		description += " " + document.text("default."+arg.Name)
	}
	o := Object{
		"name": arg.Name, "in": arg.In, "required": arg.Required, "description": description, "schema": document.parameterSchema(arg),
	}
	return extended(listed(o, arg), arg.Extension)
}

// listed says how the values of a list stand in a query string.
func listed(o Object, arg *param.Param) Object {
	if arg.IsList() {
		o["style"], o["explode"] = "form", false
	}
	return o
}

func (document *document) parameterSchema(arg *param.Param) Object {
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
	if arg.Default != "" && arg.Moving == nil {
		o["default"] = value(arg.Default)
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

// bodyParameter describes a body field where it stands in the query string, which has no
// place for the data of linked records.
func (document *document) bodyParameter(arg *param.Param) Object {
	// A value that the body has too is not looked at, so its bounds are told of the body alone.
	schema := Object{"type": input(arg.Field)["type"]}
	if arg.IsList() || schema["type"] == "array" {
		schema = Object{"type": "array", "items": Text()}
	} else if types, several := schema["type"].([]any); several { // null has no form there
		schema["type"] = types[0]
	}
	o := Object{"name": arg.Name, "in": "query", "required": false, "description": document.text(arg.Text), "schema": wide(schema)}
	return extended(listed(o, arg), arg.Field.Form != calendar.FormLang)
}

// The forms of a body and what the names of their schemas end in. The schemas are equal, but
// a generated client may choose the form by the schema.
var (
	onlyJSON = map[string]string{mediaJSON: ""}
	allForms = map[string]string{mediaJSON: "", "application/x-www-form-urlencoded": "Form", "multipart/form-data": "Multipart"}
)

func (body *Body) forms() map[string]string {
	if body.Forms {
		return allForms
	}
	return onlyJSON
}

func (document *document) requestBody(operation *Operation) Object {
	content := Content{}
	for media, end := range operation.Body.forms() {
		content[media] = Media{Schema: Ref(operation.Body.Schema + end)}
	}
	// Where forms are taken, every field may stand in the query string.
	return Object{"description": document.text(operation.Body.Text), "required": !operation.Body.Forms, "content": content}
}

func (document *document) responses(operation *Operation, method string) Object {
	headers := slices.Clone(operation.Headers)
	if operation.revalidates() {
		headers = append(headers, "Content-Encoding")
	}
	for _, pair := range document.Totals {
		for i, name := range shared.Totals {
			if slices.Contains(operation.Headers, name) {
				headers = append(headers, pair[i])
			}
		}
	}
	status := cmp.Or(operation.Status, http.StatusOK)
	done := document.response(status, headers...)
	out := Object{strconv.Itoa(status): done}
	if operation.revalidates() {
		out["304"] = extended(document.response(http.StatusNotModified, headers...), true)
	}
	if method != http.MethodHead {
		done["content"] = operation.Content
		return withRefusals(out, operation.Statuses)
	}
	for _, s := range slices.Concat(operation.Statuses, shared.Statuses) {
		out[strconv.Itoa(s)] = document.refusal(s)
	}
	out["431"] = refusalRef(431)
	return out
}

// response is an answer without its content.
func (document *document) response(status int, headers ...string) Object {
	return Object{"description": document.text("status." + strconv.Itoa(status)), "headers": headerRefs(headers...)}
}

// shared is what answers have in common: the headers that every one may carry and the
// refusals that every operation has (431 is that of the server itself, which has no body); the
// headers of refusals, of which those of reads are compressed alone; the headers of totals,
// which may have further names; and those that are numbers, and that are in the interface
// document.
var shared = readShared()

//go:embed shared.json
var sharedFile []byte

func readShared() (out struct {
	Headers, Totals, Numeric, Standard []string
	Statuses                           []int
	Refusals                           map[int][]string
},
) {
	decode(sharedFile, nil, &out)
	return out
}

// withRefusals adds the refusals of an operation, and those that every one has.
func withRefusals(responses Object, statuses []int) Object {
	for _, s := range slices.Concat(statuses, shared.Statuses) {
		responses[strconv.Itoa(s)] = refusalRef(s)
	}
	return responses
}

func refusalRef(status int) Object { return ref("responses", "Error"+strconv.Itoa(status)) }

func (document *document) refusal(status int) Object {
	return document.response(status, shared.Refusals[status]...)
}

// refusals are the components of refusals by status.
func (document *document) refusals() Object {
	out := Object{"Error431": Object{"description": document.text("status.431")}}
	for s := range shared.Refusals {
		refusal := document.refusal(s)
		refusal["content"] = Content{mediaJSON: {Schema: Ref("Error")}, "application/problem+json": {Schema: Ref("Problem"), Extension: true}}
		out["Error"+strconv.Itoa(s)] = refusal
	}
	return out
}

// headerRefs refers to the common headers and further ones.
func headerRefs(names ...string) Object {
	out := Object{}
	for _, name := range slices.Concat(shared.Headers, names) {
		out[name] = ref("headers", name)
	}
	return out
}

// headers are the answer headers of section 2.8.
func (document *document) headers() Object {
	out := Object{}
	for id, text := range texts.Documentation {
		if name, is := strings.CutPrefix(id, "header."); is {
			schema := Text()
			switch {
			case slices.Contains(shared.Totals, name):
				schema = wide(Object{"type": "integer"})
			case slices.Contains(shared.Numeric, name):
				schema = Object{"type": "integer"}
			}
			out[name] = extended(Object{"description": text[document.lang], "schema": schema}, !slices.Contains(shared.Standard, name))
		}
	}
	for _, pair := range document.Totals {
		for i, name := range shared.Totals {
			out[pair[i]] = out[name]
		}
	}
	return out
}
