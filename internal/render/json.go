package render

import (
	"strconv"
	"time"

	"daybook/calendar"
	"daybook/internal/canonjson"
	"daybook/internal/formats"
)

// Answers are written by appending to a byte slice: a record costs a few
// microseconds and one allocation.

// plainText and nameText are the forms of texts; in names & < > are entities (2.5).
var (
	plainText = canonjson.NewEscapes(nil)
	nameText  = canonjson.NewEscapes(map[byte]string{'&': "&amp;", '<': "&lt;", '>': "&gt;"})
)

func appendText(data []byte, text string, form *canonjson.Escapes) []byte {
	return append(canonjson.AppendText(append(data, '"'), text, form), '"')
}

func appendID(data []byte, id calendar.ID) []byte { return strconv.AppendInt(data, int64(id), 10) }

// appendWall appends a time in the form of section 1.5.
func appendWall(data []byte, wall calendar.Wall) []byte {
	if wall == calendar.NoWall {
		return append(data, blankWall...)
	}
	from := len(data)
	data = wall.UTC().AppendFormat(append(data, '"'), time.RFC3339) // the form that is written fastest
	data[from+11], data[len(data)-1] = ' ', '"'
	return data
}

// keepFields appends the top-level keys of a JSON object that fields contains (2.12).
func keepFields(data []byte, object string, fields map[string]bool) []byte {
	from := len(data)
	data = append(data, '{')
	reader := canonjson.NewReader(object)
	_ = reader.Object(func(key string) error { // the object is one that was written here
		value, err := reader.Raw()
		if fields[key] {
			data = formats.AppendString(formats.AppendComma(data, len(data)-from-1), key)
			data = append(append(data, ':'), value...)
		}
		return err
	})
	return append(data, '}')
}
