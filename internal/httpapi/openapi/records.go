package openapi

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"strings"

	"daybook/calendar"
	"daybook/internal/param"
)

// Title is a word with a capital: "event" → "Event".
func Title(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// RecordName names the schema of records of a kind in answers.
func RecordName(kind calendar.Kind) string {
	if kind.IsTerm() {
		return "Term"
	}
	return Title(kind.String())
}

// moment is a time in the form of section 1.5.
const moment = `^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$`

// Records are the components of records in answers. Those of answers that name the wanted
// fields require none.
func (a *API) Records() Object {
	out := Object{}
	add := func(required, optional Object, kinds ...calendar.Kind) {
		a.addFields(required, optional, kinds)
		required["id"], required["url"] = integer(), Text()
		language := enum(calendar.LangNames()...)
		required["language"], required["languages"] = extended(maps.Clone(language), true), extended(List(language), true)
		for name := range optional {
			delete(required, name)
		}
		name := RecordName(kinds[0])
		out[name], out["Sparse"+name] = closed(required, optional), closed(nil, merged(required, optional))
	}
	for _, kind := range []calendar.Kind{calendar.KindEvent, calendar.KindVenue, calendar.KindOrganizer} {
		required := Object{"global_id": Text(), "global_id_lineage": List(Text())}
		optional := Object{"json_ld": Object{"type": "object"}}
		if kind == calendar.KindEvent {
			required["rest_url"], required["custom_fields"] = Text(), emptyList()
			optional["distance"] = extended(Object{"type": "number", "minimum": 0}, true) // in kilometres
			optional["highlight"] = extended(closed(Object{}, Object{"title": Text(), "excerpt": Text(), "description": Text()}), true)
			optional["collapsed"] = extended(Ref("Repeats"), true)
		}
		add(required, optional, kind)
	}
	// Terms within an event have no URL, and only categories a parent of their own.
	add(Object{
		"taxonomy": enum("event_category", "event_tag"), "urls": closed(Object{"self": Text(), "collection": Text()}, Object{"up": Text()}),
	}, Object{"url": Text(), "count": from(0), "parent": integer()}, calendar.KindCategory, calendar.KindTag)
	return out
}

// addFields adds what is shown of the fields of some kinds.
func (a *API) addFields(required, optional Object, kinds []calendar.Kind) {
	for _, kind := range kinds {
		fields := calendar.SpecOf(kind).Fields
		for i := range fields {
			field := &fields[i]
			to := required
			if field.Filled {
				to = optional
			}
			for end, schema := range shown(field, kind == calendar.KindEvent && !field.Stays) {
				to[field.Name+end] = extended(schema, field.Extension)
			}
		}
	}
}

// shown are the schemas of what answers show of a field, by what the names of the keys have
// after that of the field. In a blanked event it may be blank.
func shown(field *calendar.Field, blanks bool) map[string]Object {
	one := func(schema Object) map[string]Object { return map[string]Object{"": schema} }
	switch field.Shown {
	case calendar.ShownText, calendar.ShownName, calendar.ShownHTML, calendar.ShownRegion:
		schema := Text()
		if field.Filled {
			schema["minLength"] = 1
		}
		return one(schema)
	case calendar.ShownWall:
		return one(pattern(moment))
	case calendar.ShownMoment:
		return map[string]Object{"": pattern(moment), "_details": Ref("DateDetails")}
	case calendar.ShownStatus:
		return one(enum("publish", "future", "draft", "pending", "private", "trash"))
	case calendar.ShownWord:
		return one(enum(field.Enum...))
	case calendar.ShownZone:
		return map[string]Object{"": Text(), "_abbr": Text()}
	case calendar.ShownBool:
		if blanks {
			return one(Object{"type": []string{"boolean", "null"}})
		}
		return one(boolean())
	case calendar.ShownID:
		return one(integer())
	case calendar.ShownAuthor:
		return one(pattern("^[0-9]+$"))
	case calendar.ShownCoordinate:
		return one(degrees(field))
	case calendar.ShownCost:
		return map[string]Object{"": Text(), "_details": Ref("CostDetails")}
	case calendar.ShownWebsite:
		return one(Text())
	case calendar.ShownImage:
		if field.Filled {
			return one(Ref("Image"))
		}
		return one(AnyOf(Ref("Image"), Object{"type": "boolean", "enum": []bool{false}}))
	case calendar.ShownTerms:
		return one(List(Ref("Term")))
	case calendar.ShownPosts: // the field has the name of their kind
		return one(List(Ref(Title(field.Name))))
	case calendar.ShownFirst:
		post := Ref(Title(field.Name))
		return map[string]Object{"": AnyOf(post, emptyList()), "s": extended(List(post), true)}
	default:
		return nil
	}
}

func degrees(field *calendar.Field) Object {
	return Object{"type": "number", "minimum": -field.Max, "maximum": field.Max}
}

// bodies are the components of the bodies of requests.
func (d *document) bodies() Object {
	out := Object{}
	for _, route := range d.Routes {
		for i := range route.Operations {
			operation := &route.Operations[i]
			if operation.Body == nil {
				continue
			}
			for _, end := range operation.Body.forms() {
				out[operation.Body.Schema+end] = extended(d.body(operation), route.Extension)
			}
		}
	}
	return out
}

func (d *document) body(operation *Operation) Object {
	properties, required := Object{}, Object{}
	for i := range operation.Args {
		arg := &operation.Args[i]
		if arg.In != "body" {
			continue
		}
		properties[arg.Name] = d.property(operation, arg)
		if arg.Required {
			required[arg.Name] = true
		}
	}
	schema := Object{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = names(required)
	}
	return schema
}

// property is a field of a body, or a list of objects with parameters.
func (d *document) property(operation *Operation, arg *param.Param) Object {
	if arg.Field == nil {
		properties := Object{}
		for i := range operation.Body.Elements {
			element := &operation.Body.Elements[i]
			schema := d.parameterSchema(element)
			schema["description"] = d.text(element.Text)
			properties[element.Name] = schema
		}
		return merged(List(Object{"type": "object", "properties": properties}), arg.Schema)
	}
	schema := input(arg.Field)
	schema["description"] = d.text(arg.Text)
	if arg.Default != "" && operation.Status == http.StatusCreated { // an update leaves what is not sent
		schema["default"] = value(arg.Default)
	}
	return extended(schema, arg.Extension)
}

// value reads a default.
func value(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	return v
}

// input is what a field takes in its own type. What else is read as that is no part of the
// schema: generators make nothing usable of several types.
func input(field *calendar.Field) Object {
	schema := inputOf(field)
	if field.Max > 0 && schema["type"] == "string" {
		schema["maxLength"] = field.Max
	}
	if field.Required {
		schema["minLength"] = 1
	}
	if field.Empty == calendar.EmptyClears && schema["type"] != "string" && schema["type"] != "array" { // these have empty values
		schema["type"] = []any{schema["type"], "null"}
	}
	return schema
}

func inputOf(field *calendar.Field) Object {
	switch field.Form {
	case calendar.FormAuthor, calendar.FormParent:
		return from(0)
	case calendar.FormDate:
		return Object{"type": "string", "minLength": 1}
	case calendar.FormCost, calendar.FormTerms:
		return limited(Text())
	case calendar.FormLinks:
		return limited(AnyOf(from(1), Ref(Title(field.Name)+"Create")))
	case calendar.FormStatus:
		return enum("publish", "future", "draft", "pending", "private")
	case calendar.FormWord, calendar.FormLang:
		return enum(field.Enum...)
	case calendar.FormEmail:
		return pattern(`^\s*([^@\s]+@[^@\s.]+(\.[^@\s.]+)+)?\s*$`)
	case calendar.FormDegrees:
		return degrees(field)
	default:
		return Object{"type": cmp.Or(field.Declared, "string")}
	}
}
