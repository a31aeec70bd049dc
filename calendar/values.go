package calendar

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Trim removes Unicode white space, the no-break space included, at both ends
// (interface 2.3).
func Trim(s string) string { return strings.TrimFunc(s, unicode.IsSpace) }

// IsDigits tells whether s is ASCII digits only, at least one.
func IsDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

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
func ParseInt(v any) (int64, bool) {
	n, fits, ok := wholeNumber(v)
	if !fits {
		return 0, false
	}
	return n, ok
}

// ParseNearestInt is ParseInt for values with limits of their own: what does not
// fit in 64 bits becomes the nearest that does.
func ParseNearestInt(v any) (int64, bool) {
	n, _, ok := wholeNumber(v)
	return n, ok
}

// wholeNumber reads a whole number; fits tells whether it is n, else n is the
// nearest to it.
func wholeNumber(v any) (n int64, fits, ok bool) {
	s, ok := numeral(v)
	if !ok {
		return 0, false, false
	}
	digits, exp, negative, ok := splitNumeral(s)
	if !ok || exp < 0 {
		return 0, false, false
	}
	digits = "0" + digits + strings.Repeat("0", min(exp, 20)) // twenty are too many already
	if negative {
		digits = "-" + digits
	}
	n, err := strconv.ParseInt(digits, 10, 64) // the nearest, when it is out of range
	return n, err == nil, true
}

// ParseID reads an id: a whole JSON number or digits, greater than 0.
func ParseID(v any) (ID, bool) {
	if s, isText := v.(string); isText && !IsDigits(Trim(s)) {
		return 0, false
	}
	n, ok := ParseInt(v)
	return ID(n), ok && n > 0
}

// ParseNumber reads a number: a JSON number, or decimal text with "." and
// without an exponent. Numbers beyond the range of float64 are refused.
func ParseNumber(v any) (float64, bool) {
	s, ok := numeral(v)
	if !ok {
		return 0, false
	}
	if _, isText := v.(string); isText && strings.ContainsAny(s, "eE") {
		return 0, false
	}
	if _, _, _, ok := splitNumeral(s); !ok {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) {
		return 0, false
	}
	if f == 0 {
		f = 0 // without the sign of -0
	}
	return f, true
}

// ParseList reads a list (interface 2.2): the elements of an array, comma text
// split; any other value is a list of one. Texts are trimmed, null and empty
// ones skipped, equal ones kept once. Elements are string, json.Number, bool,
// []any or map[string]any; nil when there are none.
func ParseList(v any) []any {
	var in []any
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		in = v
	case string:
		in = make([]any, 0, strings.Count(v, ",")+1)
		for part := range strings.SplitSeq(v, ",") {
			if part = Trim(part); part != "" {
				in = append(in, part)
			}
		}
	default:
		in = []any{v}
	}
	var out []any
	seen := make(map[any]bool, len(in))
	for _, e := range in {
		switch t := e.(type) {
		case nil:
			continue
		case string:
			switch trimmed := Trim(t); trimmed {
			case "":
				continue
			case t: // most; a new value would be copied to the heap
			default:
				e = trimmed
			}
		case []any, map[string]any: // not comparable
			out = append(out, e)
			continue
		}
		if !seen[e] {
			seen[e] = true
			out = append(out, e)
		}
	}
	return out
}

// numeral gives the text of a value that may be a number.
func numeral(v any) (string, bool) {
	switch v := v.(type) {
	case json.Number:
		return string(v), true
	case string:
		return Trim(v), true
	default:
		return "", false
	}
}

// splitNumeral reads [sign] digits [. digits] [e [sign] digits], with a digit
// before or after the point. The value is digits × 10^exp, digits without zeros
// at either end ("" for zero). The exponent is held within ±1e9.
func splitNumeral(s string) (digits string, exp int, negative, ok bool) {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		negative = s[0] == '-'
		s = s[1:]
	}
	mantissa := s
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa = s[:i]
		e := s[i+1:]
		minus := strings.HasPrefix(e, "-")
		if minus || strings.HasPrefix(e, "+") {
			e = e[1:]
		}
		if !IsDigits(e) {
			return "", 0, false, false
		}
		const most = 1_000_000_000
		n, err := strconv.Atoi(e)
		if err != nil || n > most {
			n = most
		}
		if exp = n; minus {
			exp = -n
		}
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	digits = whole + frac
	if !IsDigits(digits) {
		return "", 0, false, false
	}
	exp -= len(frac)
	short := strings.TrimRight(digits, "0")
	exp += len(digits) - len(short)
	if digits = strings.TrimLeft(short, "0"); digits == "" {
		exp = 0
	}
	return digits, exp, negative, true
}

// MaxReason is the longest reason of a change, in characters (HISTORY 15).
const MaxReason = 500

// PlainReason makes sent text a reason of a change: line breaks and tabs become a space,
// control characters go, and it is trimmed.
func PlainReason(s string) string {
	return Trim(strings.NewReplacer("\n", " ", "\t", " ").Replace(Plain(s)))
}

// IsDirection reports whether r turns the direction of the text around it: an embedding,
// override or isolate. Texts of records hold none (interface 2.5); the marks U+200E,
// U+200F and U+061C stay.
func IsDirection(r rune) bool {
	return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069
}

// Plain makes sent text storable: valid UTF-8 without control characters and characters
// of direction. Line breaks and tabs stay; CR LF and CR become LF.
func Plain(s string) string {
	clean := true
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if strings.Contains(s, "\r") {
		s = strings.ReplaceAll(s, "\r\n", "\n")
		s = strings.ReplaceAll(s, "\r", "\n")
	}
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) || IsDirection(r) {
			return -1
		}
		return r
	}, s)
}
