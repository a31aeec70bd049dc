package openapi

import (
	"maps"
	"slices"
)

// Object is an object of the documents.
type Object = map[string]any

// Ref refers to the schema of a name.
func Ref(name string) Object { return Object{"$ref": "#/components/schemas/" + name} }

// Text is the schema of any text.
func Text() Object { return Object{"type": "string"} }

// List is the schema of a list.
func List(items Object) Object { return Object{"type": "array", "items": items} }

// closed is the schema of an object without further properties.
func closed(required, optional Object) Object {
	schema := Object{"type": "object", "properties": merged(required, optional), "additionalProperties": false}
	if required != nil {
		schema["required"] = slices.Sorted(maps.Keys(required))
	}
	return schema
}

func merged(objects ...Object) Object {
	result := Object{}
	for _, object := range objects {
		maps.Copy(result, object)
	}
	return result
}

// extended marks what goes beyond the interface document (10).
func extended(object Object, extension bool) Object {
	if extension {
		object["x-extension"] = true
	}
	return object
}

// wide is a schema where an integer without an upper bound has 64 bits.
func wide(schema Object) Object {
	if schema["type"] == "integer" && schema["maximum"] == nil {
		schema["format"] = "int64"
	}
	return schema
}
