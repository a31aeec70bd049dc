package world

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var (
	word    = regexp.MustCompile(`^[a-z_-]{1,16}$`)
	letters = regexp.MustCompile(`[\pL]+`)
	digits  = regexp.MustCompile(`[0-9]+`)
)

// shape tells two JSON texts apart where a schema can: by their keys, by the kinds of
// their values, and by texts as far as they are a choice or have a form. What is no JSON
// has one shape.
func shape(text string) string {
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return "text"
	}
	return shapeOf(value)
}

func shapeOf(value any) string {
	switch v := value.(type) {
	case map[string]any:
		parts := make([]string, 0, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, key+":"+shapeOf(v[key]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		some := map[string]bool{}
		for _, inner := range v {
			some[shapeOf(inner)] = true
		}
		return "[" + strings.Join(slices.Sorted(maps.Keys(some)), ",") + "]"
	case string:
		if word.MatchString(v) {
			return v
		}
		return digits.ReplaceAllString(letters.ReplaceAllString(v, "a"), "9")
	case float64:
		if v == float64(int64(v)) {
			return map[bool]string{true: "+", false: "-"}[v >= 0]
		}
		return "."
	case bool:
		return "?"
	}
	return "null"
}
