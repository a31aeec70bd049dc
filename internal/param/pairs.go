package param

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"daybook/calendar"
)

// Pair is one name and value of a query string or form.
type Pair struct {
	Name, Value string
	invalid     bool // it is not valid UTF-8 when decoded
}

// Pairs are those of a query string or form, in the order sent.
type Pairs []Pair

// ParsePairs reads a query string or an urlencoded form. Empty pairs are
// skipped; a bad percent sign stays as sent.
func ParsePairs(raw string) Pairs {
	if raw == "" {
		return nil
	}
	pairs := make(Pairs, 0, strings.Count(raw, "&")+1)
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		pairs = append(pairs, newPair(unescape(name), unescape(value)))
	}
	return pairs
}

func newPair(name, value string) Pair {
	if utf8.ValidString(name) && utf8.ValidString(value) {
		return Pair{Name: name, Value: value}
	}
	return Pair{strings.ToValidUTF8(name, "\uFFFD"), strings.ToValidUTF8(value, "\uFFFD"), true}
}

func unescape(text string) string {
	if strings.ContainsAny(text, "%+") {
		if plain, err := url.QueryUnescape(text); err == nil {
			text = plain
		}
	}
	return text
}

// Invalid returns a problem for each parameter that is not valid UTF-8.
func (pairs Pairs) Invalid() []calendar.FieldError {
	var problems calendar.Problems
	for i := range pairs {
		if pairs[i].invalid {
			name, _ := SplitName(pairs[i].Name)
			problems.Add(name, calendar.ReasonUTF8)
		}
	}
	return problems.Fields
}

// Last returns the value of a name, the last one where there are several.
func (pairs Pairs) Last(name string) string {
	for _, pair := range slices.Backward(pairs) {
		if pair.Name == name {
			return pair.Value
		}
	}
	return ""
}

// The deepest nesting of a name; deeper names are taken literally.
const maxNesting = 4

// Input gathers the values (interface 2.1): names may nest, of a name sent twice
// the last counts, of a list all. isList nil: none is one. A comma splits no value of the
// lists of unsplit.
func (pairs Pairs) Input(isList func(string) bool, unsplit ...string) calendar.Input {
	if len(pairs) == 0 {
		return nil
	}
	input, nested := make(calendar.Input, len(pairs)), map[string]*tree{}
	for _, pair := range pairs {
		base, path := SplitName(pair.Name)
		if path == nil && slices.Contains(unsplit, base) {
			path = []string{""}
		}
		value, list := pair.Value, isList != nil && isList(base)
		if base == "" {
			continue
		}
		if path != nil {
			if !list {
				delete(input, base)
			}
			if nested[base] == nil {
				nested[base] = &tree{}
			}
			nested[base].set(path, value)
			continue
		}
		if former, sent := input[base].(string); sent && list {
			value = former + "," + value
		} else if !list {
			delete(nested, base)
		}
		input[base] = value
	}
	for base, tree := range nested {
		value := tree.value()
		if text, mixed := input[base].(string); mixed {
			list, isList := value.([]any)
			if !isList {
				list = []any{value}
			}
			var all []any
			for element := range strings.SplitSeq(text, ",") {
				all = append(all, strings.TrimSpace(element))
			}
			value = append(all, list...)
		}
		input[base] = value
	}
	return input
}

// SplitName splits "a[b][]" into "a" and ["b", ""]; a name without well-formed
// brackets has no path.
func SplitName(name string) (base string, path []string) {
	i := strings.IndexByte(name, '[')
	if i <= 0 || name[len(name)-1] != ']' {
		return name, nil
	}
	path = strings.Split(name[i+1:len(name)-1], "][")
	if len(path) > maxNesting || slices.ContainsFunc(path, func(text string) bool { return strings.ContainsAny(text, "[]") }) {
		return name, nil
	}
	return name[:i], path
}

// tree is a nested value under way: a text, or values by key.
type tree struct {
	text string
	kids map[string]*tree
	next int // index that an empty key stands for
}

func (t *tree) set(path []string, value string) {
	if len(path) == 0 {
		*t = tree{text: value}
		return
	}
	if t.kids == nil {
		t.kids = make(map[string]*tree, 1)
	}
	key := path[0]
	if key == "" {
		key = strconv.Itoa(t.next)
	}
	if count, ok := index(key); ok {
		t.next = max(t.next, count+1)
	}
	if t.kids[key] == nil {
		t.kids[key] = &tree{}
	}
	t.kids[key].set(path[1:], value)
}

// index reads a key that counts; larger ones are names.
func index(key string) (int, bool) {
	if len(key) > 7 || len(key) > 1 && key[0] == '0' {
		return 0, false
	}
	number, err := strconv.ParseUint(key, 10, 32)
	return int(number), err == nil
}

// value gives a list when all keys count, else an object.
func (t *tree) value() any {
	if t.kids == nil {
		return t.text
	}
	object, list := make(map[string]any, len(t.kids)), make([]any, 0, len(t.kids))
	byNumber := func(first, second string) int { return cmp.Or(len(first)-len(second), strings.Compare(first, second)) }
	for _, key := range slices.SortedFunc(maps.Keys(t.kids), byNumber) {
		object[key] = t.kids[key].value()
		if _, counts := index(key); counts {
			list = append(list, object[key])
		}
	}
	if len(list) == len(object) {
		return list
	}
	return object
}
