package httpapi

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/internal/param"
	"daybook/internal/texts"
)

// openAPI makes the documentation (8.2) for a root in a language.
func (a *api) openAPI(root *root, l calendar.Lang) object {
	d := &document{a: a, root: root, l: l}
	paths := make(object, len(d.a.routes))
	for _, rt := range d.a.routes {
		paths[rt.template] = d.pathItem(rt)
	}
	return object{
		"openapi": "3.1.0",
		"info":    object{"title": describe("title", l), "description": describe("description", l), "version": documentVersion},
		"servers": []object{extended(object{"url": root.url}, root.url != root.site+"/"+a.o.Prefix+"/"+Namespace)},
		"x-roles": roles(l),
		"tags":    d.tags(),
		"paths":   paths,
		"components": object{
			"schemas":   d.schemas(),
			"headers":   d.headers(),
			"responses": d.errorResponses(),
			"securitySchemes": object{
				"basic":  object{"type": "http", "scheme": "basic", "description": describe("basic", l)},
				"bearer": object{"type": "http", "scheme": "bearer", "description": describe("bearer", l)},
			},
		},
	}
}

// tags are the groups of operations, in the order of their routes.
func (d *document) tags() []object {
	var out []object
	seen := map[string]bool{}
	for _, rt := range d.a.routes {
		if !seen[rt.tag] {
			seen[rt.tag] = true
			out = append(out, object{"name": rt.tag, "description": describe("tag."+rt.tag, d.l)})
		}
	}
	return out
}

// roles tells what the roles of users are (6.1).
func roles(l calendar.Lang) []object {
	out := make([]object, 0, calendar.Auditor)
	for r := calendar.Subscriber; r <= calendar.Auditor; r++ {
		o := object{"name": r.String(), "description": describe("role."+r.String(), l)}
		out = append(out, extended(o, r == calendar.Auditor))
	}
	return out
}

// document is the documentation under way.
type document struct {
	a    *api
	root *root
	l    calendar.Lang
}

func ref(section, name string) object { return object{"$ref": "#/components/" + section + "/" + name} }

func schemaRef(name string) object { return ref("schemas", name) }

// extended marks what goes beyond the interface document (10).
func extended(o object, extension bool) object {
	if extension {
		o["x-extension"] = true
	}
	return o
}

func (d *document) pathItem(rt *route) object {
	item := object{}
	for i := range rt.operations {
		op := &rt.operations[i]
		for _, method := range op.methods {
			item[strings.ToLower(method)] = d.operation(rt, op, method)
			if method == http.MethodGet {
				item["head"] = d.operation(rt, op, http.MethodHead)
			}
		}
	}
	item["options"] = d.optionsOperation(rt)
	return item
}

// title gives a word a capital: "event" → "Event".
func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func (d *document) operation(rt *route, op *operation, method string) object {
	id := op.id
	if len(op.methods) > 1 || method == http.MethodHead {
		id += title(strings.ToLower(method))
	}
	o := object{
		"operationId": id,
		"summary":     describe("op."+op.text, d.l),
		"description": describe("op."+op.text, d.l) + " " + describe("about."+op.group, d.l),
		"tags":        []string{rt.tag},
		"parameters":  d.parameters(op),
		"responses":   d.responses(op, method),
		"security":    openSecurity(),
	}
	if op.body != nil {
		o["requestBody"] = d.requestBody(op.body)
	}
	if op.writes {
		o["security"] = []object{{"basic": []string{}}, {"bearer": []string{}}}
	}
	return extended(o, method == http.MethodHead || rt.extension)
}

func openSecurity() []object {
	return []object{{}, {"basic": []string{}}, {"bearer": []string{}}}
}

func (d *document) optionsOperation(rt *route) object {
	path := rt.pathArguments()
	parameters := append(make([]object, 0, 1+len(path)), d.parameter(new(languageArgument())))
	for _, arg := range path {
		parameters = append(parameters, d.parameter(&arg))
	}
	statuses := []int{400, 401}
	if rt.ended { // another ending is no route
		statuses = append(statuses, 404)
	}
	headers := d.headerRefs("Access-Control-Allow-Methods", "Access-Control-Allow-Headers", "Access-Control-Max-Age")
	return object{
		"operationId": "options" + rt.name, "summary": describe("op.options", d.l), "tags": []string{rt.tag},
		"description": describe("op.options", d.l) + " " + describe("about.options", d.l),
		"parameters":  parameters, "security": openSecurity(), "x-extension": true,
		"responses": d.withErrors(object{
			"200": object{"description": describe("status.200", d.l), "headers": headers, "content": jsonContent(schemaRef("Route"))},
		}, statuses...),
	}
}

func (d *document) parameters(op *operation) []object {
	out := make([]object, 0, len(op.args)+2)
	for i := range op.args {
		arg := &op.args[i]
		if arg.In == "body" && arg.Field == nil {
			continue // in the body alone
		}
		if arg.In == "body" {
			out = append(out, d.bodyParameter(arg))
			continue
		}
		out = append(out, d.parameter(arg))
	}
	for _, name := range op.sends {
		schema := object{"type": "string"}
		switch name {
		case headerKey:
			schema["minLength"], schema["maxLength"] = 1, maxKey
			schema["pattern"] = "^[ -~]+$"
		case headerReason:
			schema["pattern"] = "^[ -~]*$"
		case headerMinPosition, headerLastEvent:
			schema["pattern"] = "^[0-9]+$"
		}
		out = append(out, object{
			"name": name, "in": "header", "required": false, "x-extension": true,
			"description": describe("arg.header."+name, d.l), "schema": schema,
		})
	}
	return out
}

// parameter describes a path or query parameter.
func (d *document) parameter(arg *param.Param) object {
	description := describe(arg.Text, d.l)
	if arg.Moving != nil {
		description += " " + describe("default."+arg.Name, d.l)
	}
	o := object{
		"name": arg.Name, "in": arg.In, "required": arg.Required, "description": description,
		"schema": d.parameterSchema(arg),
	}
	if arg.IsList() {
		o["style"], o["explode"] = "form", false
	}
	return extended(o, arg.Extension)
}

// parameterSchema is the schema of a path or query parameter.
func (d *document) parameterSchema(arg *param.Param) object {
	if element, list := arg.Element(); list {
		items := object{"type": element}
		if arg.Named {
			items["type"] = "string"
		}
		if arg.Enum != nil {
			items["enum"] = arg.Enum
		}
		list := object{"type": "array", "items": items, "maxItems": calendar.MaxElements}
		maps.Copy(list, arg.Schema)
		return list
	}
	o := object{"type": "string"}
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
		o["default"] = defaultOf(arg.Default)
	}
	maps.Copy(o, arg.Schema) // its default has the type, that of the table may be text
	if arg.Name == "per_page" {
		o["description"] = "≤ " + strconv.Itoa(d.a.o.PerPageMax)
	}
	if arg.Name == "namespace" {
		o["default"] = d.root.namespace
	}
	return o
}

// bodyParameter describes a body field where it stands in the query string, which has no
// place for the data of linked records.
func (d *document) bodyParameter(arg *param.Param) object {
	o := object{
		"name": arg.Name, "in": "query", "required": false, "description": describe(arg.Text, d.l),
		"schema": d.fieldSchema(arg.Field),
	}
	if arg.IsList() {
		o["schema"] = limited(list(str()))
		o["style"], o["explode"] = "form", false
	}
	return extended(o, arg.Field.Form != calendar.FormLang)
}

func (d *document) requestBody(b *body) object {
	if !b.forms {
		return object{"description": describe("arg.searches", d.l), "required": true, "content": jsonContent(schemaRef(b.schema))}
	}
	content := make(object, len(bodyForms))
	for media, form := range bodyForms {
		content[media] = object{"schema": schemaRef(b.schema + form)}
	}
	return object{
		"description": describe("body", d.l),
		"required":    false, // every field may stand in the query string
		"content":     content,
	}
}

// bodyForms are the forms of a body, and what the names of their schemas end in. The
// schemas are equal, but a generated client may choose the form by the schema.
var bodyForms = map[string]string{
	"application/json":                  "",
	"application/x-www-form-urlencoded": "Form",
	"multipart/form-data":               "Multipart",
}

func recordSchema(k calendar.Kind) string {
	if k.IsTerm() {
		return "Term"
	}
	return title(k.String())
}

func jsonContent(schema object) mediaTypes {
	return mediaTypes{"application/json": object{"schema": schema}}
}

// mediaTypes is the content of an answer by media type. JSON stands first, since generators
// of clients make the type of an answer from the first one.
type mediaTypes object

func (m mediaTypes) MarshalJSON() ([]byte, error) {
	others := maps.Clone(object(m))
	first, ok := others["application/json"]
	if !ok {
		return json.Marshal(others)
	}
	delete(others, "application/json")
	b, err := json.Marshal(object{"application/json": first})
	if err != nil || len(others) == 0 {
		return b, err
	}
	rest, err := json.Marshal(others)
	return append(append(b[:len(b)-1], ','), rest[1:]...), err
}

func (d *document) responses(op *operation, method string) object {
	headers := slices.Clone(op.headers)
	for _, pair := range d.a.totals[1:] {
		for i, name := range []string{"X-Total", "X-TotalPages"} {
			if slices.Contains(op.headers, name) {
				headers = append(headers, pair[i])
			}
		}
	}
	status := strconv.Itoa(cmp.Or(op.status, http.StatusOK))
	done := object{"description": describe("status."+status, d.l), "headers": d.headerRefs(headers...)}
	if method != http.MethodHead {
		done["content"] = op.content
	}
	out := object{status: done}
	if slices.Contains(headers, "ETag") && (method == http.MethodGet || method == http.MethodHead) {
		out["304"] = extended(object{"description": describe("status.304", d.l), "headers": d.headerRefs(headers...)}, true)
	}
	if method == http.MethodHead {
		for _, s := range slices.Concat(op.statuses, commonStatuses) {
			out[strconv.Itoa(s)] = object{"description": describe("status."+strconv.Itoa(s), d.l), "headers": d.errorHeaders(s)}
		}
		out["431"] = ref("responses", "Error431")
		return out
	}
	return d.withErrors(out, op.statuses...)
}

// commonStatuses are the refusals that every operation has. 431 is that of the server
// itself, which has no body.
var commonStatuses = []int{414, 429, http.StatusRequestHeaderFieldsTooLarge, 500, 503}

// withErrors adds the refusals, and those that every operation has.
func (d *document) withErrors(responses object, statuses ...int) object {
	for _, s := range slices.Concat(statuses, commonStatuses) {
		responses[strconv.Itoa(s)] = ref("responses", "Error"+strconv.Itoa(s))
	}
	return responses
}

func (d *document) errorHeaders(status int) object {
	switch status {
	case http.StatusBadRequest: // of reads; the others are short
		return d.headerRefs(headerEncoding)
	case http.StatusUnauthorized:
		return d.headerRefs("WWW-Authenticate")
	case http.StatusServiceUnavailable:
		return d.headerRefs("Retry-After")
	case http.StatusTooManyRequests:
		return d.headerRefs("Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")
	default:
		return d.headerRefs()
	}
}

// errorResponses are the refusals by status.
func (d *document) errorResponses() object {
	out := object{}
	out["Error431"] = object{"description": describe("status.431", d.l)}
	for _, s := range []int{400, 401, 403, 404, 410, 412, 413, 414, 422, 429, 500, 503} {
		out["Error"+strconv.Itoa(s)] = object{
			"description": describe("status."+strconv.Itoa(s), d.l),
			"headers":     d.errorHeaders(s),
			"content": object{
				"application/json":         object{"schema": schemaRef("Error")},
				"application/problem+json": object{"schema": schemaRef("Problem"), "x-extension": true},
			},
		}
	}
	return out
}

// commonNames are the headers that every answer may carry.
var commonNames = []string{
	"Content-Language", "X-Content-Type-Options", "Vary", "Cache-Control", "Allow",
	"Access-Control-Allow-Origin", "Access-Control-Expose-Headers",
}

// headerRefs refers to the common headers and further ones.
func (d *document) headerRefs(names ...string) object {
	out := make(object, len(commonNames)+len(names))
	for _, n := range slices.Concat(commonNames, names) {
		out[n] = ref("headers", n)
	}
	return out
}

// headers are the answer headers of section 2.8.
func (d *document) headers() object {
	integer := map[string]bool{
		"X-Total": true, "X-TotalPages": true, "Retry-After": true, "Access-Control-Max-Age": true,
		"RateLimit-Limit": true, "RateLimit-Remaining": true, "RateLimit-Reset": true,
	}
	standard := map[string]bool{
		"X-Content-Type-Options": true, "Vary": true, "Cache-Control": true, "WWW-Authenticate": true, "Retry-After": true,
	}
	out := object{}
	for id, t := range texts.Documentation {
		name, ok := strings.CutPrefix(id, "header.")
		if !ok {
			continue
		}
		kind := "string"
		if integer[name] {
			kind = "integer"
		}
		out[name] = extended(object{"description": t[d.l], "schema": object{"type": kind}}, !standard[name])
	}
	for _, pair := range d.a.totals[1:] {
		for i, like := range []string{"X-Total", "X-TotalPages"} {
			out[pair[i]] = object{"description": describe("header."+like, d.l), "schema": object{"type": "integer"}, "x-extension": true}
		}
	}
	return out
}
