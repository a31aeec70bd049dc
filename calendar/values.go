package calendar

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// Trim removes Unicode white space, the no-break space included, at both ends
// (interface 2.3).
func Trim(text string) string { return strings.TrimFunc(text, unicode.IsSpace) }

// IsDigits reports whether text is ASCII digits only, at least one.
func IsDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// ParseBool reads a boolean by the rule of interface 2.2: the JSON values true,
// false, 1 and 0, and the texts true, false, 1, 0, yes, no, on, off in any case.
func ParseBool(v any) (value, ok bool) {
	switch v := v.(type) {
	case bool:
		return v, true
	case json.Number:
		return v == "1", v == "1" || v == "0"
	case string:
		switch strings.ToLower(Trim(v)) {
		case "true", "1", "yes", "on":
			return true, true
		case "false", "0", "no", "off":
			return false, true
		}
	}
	return false, false
}

// ParseInt reads a whole number in any numeric spelling, JSON or text: 3, "3",
// 2.0, 1e0. What does not fit in 64 bits is refused.
func ParseInt(value any) (int64, bool) {
	number, fits, ok := wholeNumber(value)
	if !fits {
		return 0, false
	}
	return number, ok
}

// ParseNearestInt is ParseInt for values with limits of their own: what does not
// fit in 64 bits becomes the nearest that does.
func ParseNearestInt(value any) (int64, bool) {
	number, _, ok := wholeNumber(value)
	return number, ok
}

// wholeNumber reads a whole number; fits reports whether it is number, else number is the
// nearest to it.
func wholeNumber(value any) (number int64, fits, ok bool) {
	text, _ := numeral(value)
	if count, err := strconv.ParseInt(text, 10, 64); err == nil {
		return count, true, true
	}
	rat, ok := rational(text)
	if !ok || !rat.IsInt() {
		return 0, false, false
	}
	number, err := strconv.ParseInt(rat.Num().String(), 10, 64) // the nearest, when it is out of range
	return number, err == nil, true
}

// ParseID reads an id: a whole JSON number or digits, greater than 0.
func ParseID(value any) (ID, bool) {
	if text, isText := value.(string); isText && !IsDigits(Trim(text)) {
		return 0, false
	}
	number, ok := ParseInt(value)
	return ID(number), ok && number > 0
}

// ParseNumber reads a number: a JSON number, or decimal text with "." and
// without an exponent. Numbers beyond the range of float64 are refused.
func ParseNumber(value any) (float64, bool) {
	text, isText := numeral(value)
	if !numeralForm.MatchString(text) || isText && strings.ContainsAny(text, "eE") {
		return 0, false
	}
	number, err := strconv.ParseFloat(text, 64)
	return number + 0, err == nil // without the sign of -0
}

// ParseList reads a list (interface 2.2): the elements of an array, comma text
// split; any other value is a list of one. Texts are trimmed, null and empty
// ones skipped, duplicates dropped. Elements are string, json.Number, bool,
// []any or map[string]any; nil when there are none.
func ParseList(v any) []any {
	var in []any
	switch v := v.(type) {
	case []any:
		in = v
	case string:
		for part := range strings.SplitSeq(v, ",") {
			in = append(in, part)
		}
	default:
		in = []any{v}
	}
	var result []any
	seen := make(map[any]bool, len(in))
	for _, value := range in {
		switch t := value.(type) {
		case nil:
			continue
		case string:
			if value = Trim(t); value == "" {
				continue
			}
		case []any, map[string]any: // not comparable
			result = append(result, value)
			continue
		}
		if !seen[value] {
			seen[value] = true
			result = append(result, value)
		}
	}
	return result
}

// numeral returns the text of a value that may be a number, and whether it was sent as text.
func numeral(value any) (text string, isText bool) {
	switch v := value.(type) {
	case json.Number:
		return string(v), false
	case string:
		return Trim(v), true
	default:
		return "", false
	}
}

var numeralForm = regexp.MustCompile(`^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?0*\d{1,4})?$`)

// rational reads [sign] digits [. digits] [e [sign] digits], with a digit before or after the
// point. Numbers of more characters than anybody writes are refused, because the time to
// compute with them grows with their square.
func rational(text string) (*big.Rat, bool) {
	const limit = 1000
	if len(text) > limit || !numeralForm.MatchString(text) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// number reads a few digits, 0 for none, the nearest where they are too many.
func number(digits string) int {
	count, _ := strconv.Atoi(digits)
	return count
}

// MaxReason is the longest reason of a change, in characters (HISTORY 15).
const MaxReason = 500

// PlainReason makes sent text a reason of a change: line breaks and tabs become a space,
// control characters go, and it is trimmed.
func PlainReason(text string) string {
	return Trim(breaksAndTabs.Replace(Plain(text)))
}

var breaksAndTabs = strings.NewReplacer("\n", " ", "\t", " ", "\u2028", " ", "\u2029", " ")

// IsDirection reports whether a letter turns the direction of the text around it: an embedding,
// override or isolate. Texts of records have none (interface 2.5); the marks U+200E,
// U+200F and U+061C stay.
func IsDirection(letter rune) bool {
	return letter >= 0x202A && letter <= 0x202E || letter >= 0x2066 && letter <= 0x2069
}

// Plain makes sent text storable: valid UTF-8 without control characters and characters
// of direction. Line breaks and tabs stay; CR LF and CR become LF.
func Plain(text string) string {
	return strings.Map(func(letter rune) rune {
		switch {
		case letter == '\r':
			return '\n'
		case letter != '\n' && letter != '\t' && unicode.IsControl(letter) || IsDirection(letter):
			return -1
		}
		return letter
	}, strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n"))
}
