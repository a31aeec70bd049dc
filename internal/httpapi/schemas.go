package httpapi

import (
	"cmp"
	"maps"
	"net/http"
	"slices"

	"daybook/calendar"
	"daybook/query"
	"daybook/query/readmodel"
)

// schemas are the components that answers and bodies refer to.
func (d *document) schemas() object {
	out := object{
		"Image": strict(object{
			"url": str(), "id": object{"type": "integer"}, "extension": str(),
		}),
		"CostDetails": strict(object{
			"currency_symbol": str(), "currency_code": str(),
			"currency_position": object{"type": "string", "enum": []string{"", "prefix", "postfix"}},
			"values":            list(str()),
		}),
		"DateDetails": strict(object{
			"year": digits(4), "month": digits(2), "day": digits(2), "hour": digits(2), "minutes": digits(2), "seconds": digits(2),
		}),
		"TimeMap": extended(timeMapSchema(), true),
		"Error":   errorSchema(),
		"Problem": problemSchema(),
		"Route":   routeSchema(),
		"Facet":   extended(facetSchema(), true),
		"Repeats": extended(repeatsSchema(), true),
		"Index":   strict(object{"namespace": str(), "routes": object{"type": "object", "additionalProperties": schemaRef("Route")}}),
	}
	maps.Copy(out, toldSchemas())
	maps.Copy(out, proofSchemas())
	for name, s := range map[string]shape{
		"Event": d.postShape(calendar.KindEvent), "Venue": d.postShape(calendar.KindVenue), "Organizer": d.postShape(calendar.KindOrganizer),
		"Term": shapeOf(slices.Concat(d.a.layouts.of[calendar.KindCategory:], d.a.layouts.nested[calendar.KindCategory:])...),
	} {
		out[name] = s.schema(true)
		out["Sparse"+name] = s.schema(false)
	}
	for _, k := range calendar.Kinds {
		out[title(k.String())+"List"] = listSchema(k)
	}
	maps.Copy(out, formatSchemas())
	out["EventSearches"], out["Suggestions"] = d.searchesSchema(), suggestionsSchema()
	for _, rt := range d.a.routes {
		for i := range rt.operations {
			if op := &rt.operations[i]; op.writes && op.body != nil {
				for _, form := range bodyForms {
					out[op.body.schema+form] = d.bodySchema(op)
				}
			}
		}
	}
	return out
}

// formatSchemas are the components of the formats that are JSON.
func formatSchemas() object {
	nullable := func(kind string) object { return object{"type": []string{kind, "null"}} }
	slugs, ids := list(str()), list(integer())
	position := object{"type": "array", "items": object{"type": "number"}, "minItems": 2, "maxItems": 2}
	point := strict(object{"type": object{"type": "string", "enum": []string{"Point"}}, "coordinates": position})
	times := object{"start": str(), "end": str(), "timezone": str(), "all_day": boolean()}
	takesPlace := object{"type": "string", "enum": calendar.EventStatuses()}
	event := object{
		"id": integer(), "uid": str(), "title": str(), "url": str(), "rest_url": str(), "status": str(), "event_status": takesPlace, "cost": str(), "categories": slugs, "tags": slugs,
		"venue": object{"anyOf": []object{{"type": "null"}, shape{
			always: object{"id": integer()}, sometimes: object{"venue": str(), "address": str(), "city": str(), "country": str()},
		}.schema(true)}},
		"organizers": list(str()), "image": nullable("string"), "featured": nullable("boolean"), "ticketed": nullable("boolean"),
	}
	maps.Copy(event, times)
	venue := object{
		"id": integer(), "venue": str(), "url": str(), "address": str(), "city": str(), "country": str(), "count": integer(),
		"events": list(strict(object{"id": integer(), "title": str(), "url": str(), "start": str(), "end": str(), "all_day": boolean()})),
	}
	own := object{
		"event_id": integer(), "status": str(), "event_status": takesPlace, "rest_url": str(),
	}
	maps.Copy(own, times)
	out := object{
		"Feature": strict(object{
			"type": object{"type": "string", "enum": []string{"Feature"}}, "id": integer(),
			"geometry": object{"anyOf": []object{{"type": "null"}, point}}, "properties": object{"anyOf": []object{featureOf(event), strict(venue)}},
		}),
		"FeatureCollection": shape{
			always: object{
				"type": object{"type": "string", "enum": []string{"FeatureCollection"}}, "features": list(schemaRef("Feature")), "total": integer(),
			},
			sometimes: object{"unplaced": integer()},
		}.schema(true),
		"JSONFeed": shape{
			always: object{
				"version": str(), "title": str(), "home_page_url": str(), "feed_url": str(), "language": str(),
				"_daybook": shape{always: object{"about": str(), "total": integer()}, sometimes: object{"facets": facetsSchema()}}.schema(true),
				"items":    list(schemaRef("JSONFeedItem")),
			},
			sometimes: object{"next_url": str()},
		}.schema(true),
		"JSONFeedItem": shape{
			always: object{
				"id": str(), "url": str(), "title": str(), "content_html": str(), "date_modified": str(), "language": str(),
				"_daybook": shape{always: own, sometimes: object{
					"cost": str(), "location": str(), "geo": position, "categories": ids, "tags": ids, "venues": ids, "organizers": ids,
					"ticketed": boolean(), "featured": boolean(), "distance": distanceSchema(), "highlight": highlightSchema(),
					"collapsed": schemaRef("Repeats"),
				}}.schema(true),
			},
			sometimes: object{
				"external_url": str(), "summary": str(), "image": str(), "date_published": str(),
				"authors": list(strict(object{"name": str(), "url": str()})), "tags": list(str()),
			},
		}.schema(true),
		"Clusters": shape{
			always: object{
				"type": object{"type": "string", "enum": []string{"FeatureCollection"}}, "total": integer(), "placed": integer(),
				"features": list(strict(object{
					"type": object{"type": "string", "enum": []string{"Feature"}}, "geometry": point,
					"properties": shape{
						always: object{
							"cluster_id": str(), "point_count": integer(), "venue_count": integer(), "cluster": boolean(),
							"bbox": object{"type": "array", "items": object{"type": "number"}, "minItems": 4, "maxItems": 4},
						},
						sometimes: object{"expansion_zoom": integer(), "venue": strict(object{"id": integer(), "venue": str(), "url": str()})},
					}.schema(true),
				})),
			},
			sometimes: object{"truncated": boolean()},
		}.schema(true),
		"CalendarEntry": strict(object{
			"id": str(), "title": str(), "start": str(), "end": str(), "allDay": boolean(), "url": str(), "resourceIds": list(str()), "classNames": list(str()),
			"extendedProps": strict(object{
				"timezone": str(), "status": str(), "location": str(), "excerpt": str(), "image": str(), "cost": str(), "categories": slugs, "tags": slugs,
				"featured": nullable("boolean"), "ticketed": nullable("boolean"), "rest_url": str(),
			}),
		}),
	}
	for _, s := range out {
		extended(s.(object), true) //nolint:forcetypeassert // made above
	}
	return out
}

// featureOf are the properties of an event in GeoJSON.
func featureOf(always object) object {
	return shape{always: always, sometimes: object{"distance": distanceSchema(), "highlight": highlightSchema(), "collapsed": schemaRef("Repeats")}}.schema(true)
}

// searchesSchema is the body of several searches.
func (d *document) searchesSchema() object {
	of := object{}
	for _, arg := range argumentsOf(calendar.KindEvent, query.SeveralParams()) {
		schema := d.parameterSchema(&arg)
		schema["description"] = describe(arg.Text, d.l)
		of[arg.Name] = schema
	}
	searches := list(object{"type": "object", "properties": of})
	searches["minItems"], searches["maxItems"] = 1, mostSearches
	return extended(object{"type": "object", "properties": object{paramSearches: searches}, "required": []string{paramSearches}}, true)
}

func str() object { return object{"type": "string"} }

func integer() object { return object{"type": "integer"} }

func boolean() object { return object{"type": "boolean"} }

func list(items object) object { return object{"type": "array", "items": items} }

// emptyList is a list that never has an element. Its elements are said all the same:
// generators of clients drop what has a list without.
func emptyList() object { return object{"type": "array", "items": object{}, "maxItems": 0} }

func digits(n int) object {
	return object{"type": "string", "pattern": "^[0-9]{" + string(rune('0'+n)) + "}$"}
}

// moment is a time in the form of section 1.5.
func moment() object {
	return object{"type": "string", "pattern": `^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$`}
}

// strict is an object of which all properties are required and there are no
// others.
func strict(properties object) object {
	required := make([]string, 0, len(properties))
	for name := range properties {
		required = append(required, name)
	}
	return object{"type": "object", "properties": properties, "required": sorted(required), "additionalProperties": false}
}

// shape is the schema of a record: what is always there and what may be.
type shape struct{ always, sometimes object }

func (s shape) schema(required bool) object {
	properties := object{}
	names := make([]string, 0, len(s.always))
	for name, p := range s.always {
		properties[name] = p
		names = append(names, name)
	}
	maps.Copy(properties, s.sometimes)
	o := object{"type": "object", "properties": properties, "additionalProperties": false}
	if required {
		o["required"] = sorted(names)
	}
	return o
}

func (d *document) postShape(k calendar.Kind) shape {
	s := shapeOf(d.a.layouts.of[k])
	s.sometimes["json_ld"] = object{"type": "object"}
	if k == calendar.KindEvent {
		s.sometimes["distance"] = distanceSchema()
		s.sometimes["highlight"] = highlightSchema()
	}
	return s
}

// is is a schema that does not depend on the row.
func is(schema func() object) func(*column) object { return func(*column) object { return schema() } }

func isRef(name string) func(*column) object { return func(*column) object { return schemaRef(name) } }

func isList(name string) func(*column) object {
	return func(*column) object { return list(schemaRef(name)) }
}

func textSchema(c *column) object {
	if c.field.Filled {
		return object{"type": "string", "minLength": 1}
	}
	return str()
}

func boolSchema(c *column) object {
	if c.blanks {
		return object{"type": []string{"boolean", "null"}}
	}
	return boolean()
}

func numeralSchema() object { return object{"type": "string", "pattern": "^[0-9]+$"} }

func statusSchema() object {
	return object{"type": "string", "enum": []string{"publish", "future", "draft", "pending", "private", "trash"}}
}

func wordSchema(c *column) object { return object{"type": "string", "enum": c.field.Enum} }

func coordinateSchema(c *column) object {
	limit := 90
	if c.field.Form == calendar.FormLongitude {
		limit = 180
	}
	return object{"type": "number", "minimum": -limit, "maximum": limit}
}

func imageSchema(c *column) object {
	if c.field.Filled {
		return schemaRef("Image")
	}
	return object{"anyOf": []object{schemaRef("Image"), {"type": "boolean", "enum": []bool{false}}}}
}

// postsSchema is a list of linked posts: their row has the name of their kind.
func postsSchema(c *column) object { return list(schemaRef(title(c.name))) }

func firstSchema(c *column) object {
	return object{"anyOf": []object{schemaRef(title(c.name)), emptyList()}}
}

func languageSchema() object {
	return object{"type": "string", "enum": calendar.LangNames()}
}

func taxonomySchema() object {
	return object{"type": "string", "enum": []string{"event_category", "event_tag"}}
}

func countSchema() object { return object{"type": "integer", "minimum": 0} }

func termURLsSchema() object {
	return shape{always: object{"self": str(), "collection": str()}, sometimes: object{"up": str()}}.schema(true)
}

func listSchema(k calendar.Kind) object {
	name := recordSchema(k)
	sometimes := object{"next_rest_url": str(), "previous_rest_url": str()}
	if k == calendar.KindEvent {
		sometimes["next_cursor"] = extended(str(), true)
		sometimes["facets"] = extended(facetsSchema(), true)
		sometimes["typos"] = extended(object{"type": "integer", "minimum": 0, "maximum": readmodel.MaxTypos}, true)
		sometimes["joined"] = extended(object{"type": "boolean"}, true)
	}
	return shape{
		always: object{
			k.Collection(): list(object{"anyOf": []object{schemaRef(name), schemaRef("Sparse" + name)}}),
			"rest_url":     str(), "total": object{"type": "integer", "minimum": 0}, "total_pages": object{"type": "integer", "minimum": 0},
		},
		sometimes: sometimes,
	}.schema(true)
}

// highlightSchema is that of the texts of an event that a search fits.
func highlightSchema() object {
	return extended(shape{sometimes: object{"title": str(), "excerpt": str(), "description": str()}}.schema(true), true)
}

// distanceSchema is that of kilometres with three decimals.
func distanceSchema() object { return extended(object{"type": "number", "minimum": 0}, true) }

func timeMapSchema() object {
	memento := strict(object{"version": object{"type": "integer", "minimum": 1}, "time": object{"type": "string", "format": "date-time"}, "url": str()})
	return shape{
		always:    object{"original": str(), "timegate": str(), "timemap": str(), "mementos": list(memento)},
		sometimes: object{"next_rest_url": str()},
	}.schema(true)
}

func errorSchema() object {
	return strict(object{
		"code": str(), "message": str(),
		"data": shape{always: object{"status": integer()}, sometimes: errorFacts()}.schema(true),
	})
}

// errorFacts are what errors of some codes have beside the status.
func errorFacts() object {
	text := object{"type": "object", "additionalProperties": str()}
	detail := strict(object{"code": str(), "message": str(), "data": strict(object{"param": str()})})
	return object{
		"params":  object{"anyOf": []object{text, list(str())}},
		"details": object{"anyOf": []object{{"type": "object", "additionalProperties": detail}, emptyList()}},
		"term_id": integer(), "limit": integer(), "total": extended(integer(), true), "cost": extended(integer(), true), "json_error_code": integer(), "json_error_message": str(),
	}
}

func problemSchema() object {
	return shape{
		always: object{
			"type": object{"type": "string", "format": "uri"}, "title": str(), "status": integer(), "detail": str(),
			"instance": str(), "code": str(),
		},
		sometimes: errorFacts(),
	}.schema(true)
}

func routeSchema() object {
	endpoint := strict(object{"methods": list(str()), "args": object{"type": "object"}})
	return shape{
		always:    object{"namespace": str(), "methods": list(str()), "endpoints": list(endpoint)},
		sometimes: object{"_links": object{"type": "object"}, "extension": extended(boolean(), true)},
	}.schema(true)
}

// bodySchema is the body of a write.
func (d *document) bodySchema(op *operation) object {
	properties := object{}
	required := []string{}
	for i := range op.args {
		arg := &op.args[i]
		if arg.In != "body" {
			continue
		}
		schema := d.fieldSchema(arg.Field)
		schema["description"] = describe(arg.Text, d.l)
		if arg.Default != "" && op.status == http.StatusCreated { // an update leaves what is not sent
			schema["default"] = defaultOf(arg.Default)
		}
		properties[arg.Name] = extended(schema, arg.Extension)
		if arg.Required {
			required = append(required, arg.Name)
		}
	}
	o := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		o["required"] = sorted(required)
	}
	return o
}

// fieldSchema is what a field takes in its own type. What else is read as that is no part of
// the schema: generators make nothing usable of several types.
func (d *document) fieldSchema(f *calendar.Field) object {
	o := object{"type": cmp.Or(f.Declared, "string")}
	if schema := fieldSchemas[f.Form]; schema != nil {
		o = schema(f)
	}
	if f.Max > 0 && o["type"] == "string" {
		o["maxLength"] = f.Max
	}
	if f.Required {
		o["minLength"] = 1
	}
	if f.Empty == calendar.EmptyClears && o["type"] != "string" && o["type"] != "array" { // these have empty values
		o["type"] = []any{o["type"], "null"}
	}
	return o
}

// fieldSchemas are the schemas of fields that are more than their declared type.
var fieldSchemas = map[calendar.Form]func(*calendar.Field) object{
	calendar.FormAuthor: func(*calendar.Field) object { return countSchema() },
	calendar.FormParent: func(*calendar.Field) object { return countSchema() },
	calendar.FormCost:   func(*calendar.Field) object { return limited(list(str())) },
	calendar.FormTerms:  func(*calendar.Field) object { return limited(list(str())) },
	calendar.FormLinks: func(f *calendar.Field) object {
		return limited(list(object{"anyOf": []object{{"type": "integer", "minimum": 1}, schemaRef(title(f.Name) + "Create")}}))
	},
	calendar.FormStatus: func(*calendar.Field) object {
		return object{"type": "string", "enum": []string{"publish", "future", "draft", "pending", "private"}}
	},
	calendar.FormWord: func(f *calendar.Field) object { return object{"type": "string", "enum": f.Enum} },
	calendar.FormLang: func(f *calendar.Field) object { return object{"type": "string", "enum": f.Enum} },
	calendar.FormEmail: func(*calendar.Field) object {
		return object{"type": "string", "pattern": `^\s*([^@\s]+@[^@\s.]+(\.[^@\s.]+)+)?\s*$`}
	},
	calendar.FormLatitude:  func(*calendar.Field) object { return object{"type": "number", "minimum": -90, "maximum": 90} },
	calendar.FormLongitude: func(*calendar.Field) object { return object{"type": "number", "minimum": -180, "maximum": 180} },
}

// limited is a list of as many elements as any may have.
func limited(list object) object {
	list["maxItems"] = calendar.MaxElements
	return list
}
