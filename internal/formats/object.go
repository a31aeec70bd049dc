package formats

import (
	"bytes"
	"encoding/json"
	"strconv"

	"daybook/calendar"
	"daybook/internal/canonjson"
)

// Object is a JSON object: names and values in turns, in their order. Under the name "" stand
// members that are JSON already, each after a comma. A member whose value is without content
// is left out: an empty Filled, and a nil Object, List or json.RawMessage.
type Object []any

// List is a JSON array.
type List []any

// OptionalText is a string that is left out when it is empty.
type OptionalText string

// ListOf returns a list of values of some elements, nil for none.
func ListOf[T any](elements []T, value func(*T) any) List {
	if len(elements) == 0 {
		return nil
	}
	list := make(List, len(elements))
	for i := range elements {
		list[i] = value(&elements[i])
	}
	return list
}

// Whole returns a list that is not left out when it is empty.
func Whole(list List) List { return append(List{}, list...) }

// jsonText is the form of JSON strings in answers.
var jsonText = canonjson.NewEscapes(nil)

// AppendString appends a JSON string.
func AppendString(data []byte, text string) []byte {
	return append(canonjson.AppendText(append(data, '"'), text, jsonText), '"')
}

// MarshalJSON implements json.Marshaler, for an Object that is not nil.
func (object Object) MarshalJSON() ([]byte, error) { return AppendJSON(nil, object), nil }

// Marshal returns a value as JSON without escaping < > &.
func Marshal(value any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), err
}

// AppendJSON appends a value. Of the types that most answers are made of it allocates nothing,
// unlike encoding/json; those of others cannot fail.
func AppendJSON(data []byte, value any) []byte {
	switch v := value.(type) {
	case Object:
		if v == nil {
			return data
		}
		from := len(data)
		if data = AppendMembers(data, v); len(data) == from {
			return append(data, "{}"...)
		}
		data[from] = '{' // instead of the first comma
		return append(data, '}')
	case List:
		if v == nil {
			return data
		}
		data = append(data, '[')
		for i, element := range v {
			data = AppendJSON(AppendComma(data, i), element)
		}
		return append(data, ']')
	case OptionalText:
		if v == "" {
			return data
		}
		return AppendString(data, string(v))
	case string:
		return AppendString(data, v)
	case json.RawMessage:
		return append(data, v...)
	case calendar.ID:
		return strconv.AppendInt(data, int64(v), 10)
	case int:
		return strconv.AppendInt(data, int64(v), 10)
	case float64:
		return appendFloat(data, v)
	case bool:
		return strconv.AppendBool(data, v)
	}
	text, _ := Marshal(value)
	return append(data, text...)
}

// AppendMembers appends the members of an object, each after a comma.
func AppendMembers(data []byte, members Object) []byte {
	for i := 0; i < len(members); i += 2 {
		member := len(data)
		if name, _ := members[i].(string); name != "" {
			data = append(AppendString(append(data, ','), name), ':')
		}
		value := len(data)
		if data = AppendJSON(data, members[i+1]); len(data) == value {
			data = data[:member]
		}
	}
	return data
}

// AppendComma appends the comma in front of all elements but the first, which is number 0.
func AppendComma(data []byte, i int) []byte {
	if i > 0 {
		data = append(data, ',')
	}
	return data
}
