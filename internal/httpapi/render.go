package httpapi

import (
	"strconv"

	"daybook/calendar"
	"daybook/internal/canonjson"
)

// Answers are written by appending to a byte slice: a record costs a few
// microseconds and one allocation.

// plainText and nameText are the forms of texts; in names & < > are entities (2.5).
var (
	plainText = canonjson.NewEscapes(nil)
	nameText  = canonjson.NewEscapes(map[byte]string{'&': "&amp;", '<': "&lt;", '>': "&gt;"})
)

// appendString writes a JSON text.
func appendString(b []byte, s string) []byte { return appendText(b, s, plainText) }

func appendText(b []byte, s string, form *canonjson.Escapes) []byte {
	return append(canonjson.AppendText(append(b, '"'), s, form), '"')
}

func appendComma(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return b
}

func appendStrings(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, s := range list {
		b = appendComma(b, i)
		b = appendString(b, s)
	}
	return append(b, ']')
}

func appendID(b []byte, id calendar.ID) []byte { return strconv.AppendInt(b, int64(id), 10) }

// appendNumber writes a number as JavaScript would, without an exponent for
// coordinates.
func appendNumber(b []byte, f float64) []byte { return strconv.AppendFloat(b, f, 'f', -1, 64) }

// appendFilled writes a key with a text that is not empty.
func appendFilled(b []byte, key, s string, form *canonjson.Escapes) []byte {
	if s == "" {
		return b
	}
	return appendText(append(b, key...), s, form)
}

// clock is a wall clock in its parts.
type clock struct {
	year, month, day, hour, minute, second int
}

func clockOf(w calendar.Wall) clock {
	if w == calendar.NoWall {
		return clock{}
	}
	t := w.UTC()
	year, month, day := t.Date()
	c := clock{year: year, month: int(month), day: day}
	c.hour, c.minute, c.second = t.Clock()
	return c
}

// appendTwo writes a number in two digits.
func appendTwo(b []byte, n int) []byte { return append(b, byte('0'+n/10%10), byte('0'+n%10)) }

// append writes YYYY-MM-DD, a separator, HH:MM:SS.
func (c clock) append(b []byte, sep byte) []byte {
	b = append(appendTwo(appendTwo(b, c.year/100), c.year), '-')
	b = append(appendTwo(b, c.month), '-')
	b = append(appendTwo(b, c.day), sep)
	b = append(appendTwo(b, c.hour), ':')
	b = append(appendTwo(b, c.minute), ':')
	return appendTwo(b, c.second)
}

// appendWall writes a key with a time in the form of section 1.5.
func appendWall(b []byte, key string, w calendar.Wall) []byte {
	b = append(append(b, key...), '"')
	return append(clockOf(w).append(b, ' '), '"')
}

// fieldSet makes the set of the keys to keep, nil for all.
func fieldSet(fields []string) map[string]bool {
	if fields == nil {
		return nil
	}
	set := make(map[string]bool, len(fields))
	for _, f := range fields {
		set[f] = true
	}
	return set
}

// keepFields keeps the top-level keys of a JSON object that fields name (2.12).
func keepFields(object []byte, fields map[string]bool) []byte {
	out := append(make([]byte, 0, len(object)), '{')
	for rest := object[1:]; len(rest) > 0 && rest[0] == '"'; {
		key := textEnd(rest)
		end := key + 1 + valueEnd(rest[key+1:])
		if fields[string(rest[1:key-1])] {
			out = appendComma(out, len(out)-1)
			out = append(out, rest[:end]...)
		}
		if rest = rest[end:]; len(rest) > 0 && rest[0] == ',' {
			rest = rest[1:]
		}
	}
	return append(out, '}')
}

// textEnd gives the length of the JSON text that b begins with.
func textEnd(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// valueEnd gives the length of the JSON value that b begins with.
func valueEnd(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i += textEnd(b[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return len(b)
}
