package formats

import (
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

// Filled is a string that is left out when it is empty.
type Filled string

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
func AppendString(b []byte, s string) []byte {
	return append(canonjson.AppendText(append(b, '"'), s, jsonText), '"')
}

// AppendJSON appends a value of one of the types that answers are made of; null for others.
// Unlike encoding/json it allocates nothing.
func AppendJSON(b []byte, value any) []byte {
	switch v := value.(type) {
	case Object:
		if v == nil {
			return b
		}
		from := len(b)
		if b = AppendMembers(b, v); len(b) == from {
			return append(b, "{}"...)
		}
		b[from] = '{' // instead of the first comma
		return append(b, '}')
	case List:
		if v == nil {
			return b
		}
		b = append(b, '[')
		for i, element := range v {
			b = AppendJSON(AppendComma(b, i), element)
		}
		return append(b, ']')
	case Filled:
		if v == "" {
			return b
		}
		return AppendString(b, string(v))
	case string:
		return AppendString(b, v)
	case json.RawMessage:
		return append(b, v...)
	case calendar.ID:
		return strconv.AppendInt(b, int64(v), 10)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case float64:
		return appendFloat(b, v)
	case bool:
		return strconv.AppendBool(b, v)
	}
	return append(b, "null"...)
}

// AppendMembers appends the members of an object, each after a comma.
func AppendMembers(b []byte, members Object) []byte {
	for i := 0; i < len(members); i += 2 {
		member := len(b)
		if name, _ := members[i].(string); name != "" {
			b = append(AppendString(append(b, ','), name), ':')
		}
		value := len(b)
		if b = AppendJSON(b, members[i+1]); len(b) == value {
			b = b[:member]
		}
	}
	return b
}

// AppendComma appends the comma in front of all elements but the first, which is number 0.
func AppendComma(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return b
}
