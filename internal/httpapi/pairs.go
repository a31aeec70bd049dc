package httpapi

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"daybook/calendar"
)

// pair is one name and value of a query string or form, in the order sent.
type pair struct {
	name, value string
	invalid     bool // it is not valid UTF-8 when decoded
}

// parsePairs reads a query string or an urlencoded form. Empty pairs are
// skipped; a bad percent sign stays as sent.
func parsePairs(raw string) []pair {
	if raw == "" {
		return nil
	}
	pairs := make([]pair, 0, strings.Count(raw, "&")+1)
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		pairs = append(pairs, newPair(unescape(name), unescape(value)))
	}
	return pairs
}

func newPair(name, value string) pair {
	if utf8.ValidString(name) && utf8.ValidString(value) {
		return pair{name: name, value: value}
	}
	return pair{strings.ToValidUTF8(name, "\uFFFD"), strings.ToValidUTF8(value, "\uFFFD"), true}
}

func unescape(text string) string {
	if strings.ContainsAny(text, "%+") {
		if plain, err := url.QueryUnescape(text); err == nil {
			text = plain
		}
	}
	return text
}

// invalidPairs returns a problem for each parameter that is not valid UTF-8.
func invalidPairs(pairs []pair) []calendar.FieldError {
	var problems calendar.Problems
	for i := range pairs {
		if pairs[i].invalid {
			name, _ := splitName(pairs[i].name)
			problems.Add(name, calendar.ReasonUTF8)
		}
	}
	return problems.Fields
}

// selectorOf returns the language selector of a query string, when it is a good one.
func selectorOf(pairs []pair) (calendar.Lang, bool) {
	return calendar.ParseLang(lastOf(pairs, "multilang_language"))
}

// The deepest nesting of a name; deeper names are taken literally.
const maxNesting = 4

// inputOf gathers pairs to values (2.1): names may nest, of a name sent twice
// the last counts, of a list all. isList nil: none is one. A comma splits no value of the
// lists of unsplit.
func inputOf(pairs []pair, isList func(string) bool, unsplit ...string) calendar.Input {
	if len(pairs) == 0 {
		return nil
	}
	input := make(calendar.Input, len(pairs))
	for _, pair := range pairs {
		base, path := splitName(pair.name)
		if base == "" {
			continue
		}
		if path == nil && slices.Contains(unsplit, base) {
			path = []string{""}
		}
		if path == nil && (isList == nil || !isList(base)) {
			input[base] = pair.value
			continue
		}
		g, ok := input[base].(*parts)
		if !ok {
			g = &parts{}
			input[base] = g
		}
		if path == nil {
			g.texts = append(g.texts, pair.value)
		} else {
			g.tree.set(path, pair.value)
		}
	}
	for base, value := range input {
		if g, ok := value.(*parts); ok {
			input[base] = g.value()
		}
	}
	return input
}

// splitName splits "a[b][]" into "a" and ["b", ""]; a name without well-formed
// brackets has no path.
func splitName(name string) (base string, path []string) {
	i := strings.IndexByte(name, '[')
	if i <= 0 || name[len(name)-1] != ']' {
		return name, nil
	}
	inner := name[i+1 : len(name)-1]
	path = strings.Split(inner, "][")
	if len(path) > maxNesting {
		return name, nil
	}
	for _, text := range path {
		if strings.ContainsAny(text, "[]") {
			return name, nil
		}
	}
	return name[:i], path
}

// parts is what was sent under one name: plain texts of a list, nested values.
type parts struct {
	texts []string
	tree  branch
}

// value joins the parts: texts alone stay comma text, with nested values they
// become elements.
func (parts *parts) value() any {
	if parts.tree.kids == nil {
		return strings.Join(parts.texts, ",")
	}
	value := parts.tree.value()
	if len(parts.texts) == 0 {
		return value
	}
	var out []any
	for _, text := range parts.texts {
		for e := range strings.SplitSeq(text, ",") {
			out = append(out, strings.TrimSpace(e))
		}
	}
	if list, ok := value.([]any); ok {
		return append(out, list...)
	}
	return append(out, value)
}

// branch is a nested value under way: a text, or values by key.
type branch struct {
	text string
	kids map[string]*branch
	next int // index that an empty key stands for
}

func (b *branch) set(path []string, value string) {
	if len(path) == 0 {
		b.text, b.kids, b.next = value, nil, 0
		return
	}
	if b.kids == nil {
		b.kids = make(map[string]*branch, 1)
	}
	key := path[0]
	if key == "" {
		key = strconv.Itoa(b.next)
	}
	if n, ok := index(key); ok && n >= b.next {
		b.next = n + 1
	}
	kid := b.kids[key]
	if kid == nil {
		kid = &branch{}
		b.kids[key] = kid
	}
	kid.set(path[1:], value)
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
func (b *branch) value() any {
	if b.kids == nil {
		return b.text
	}
	order := make([]int, 0, len(b.kids))
	for key := range b.kids {
		n, ok := index(key)
		if !ok {
			order = nil
			break
		}
		order = append(order, n)
	}
	if order == nil {
		object := make(map[string]any, len(b.kids))
		for key, kid := range b.kids {
			object[key] = kid.value()
		}
		return object
	}
	slices.Sort(order)
	list := make([]any, 0, len(order))
	for _, n := range order {
		list = append(list, b.kids[strconv.Itoa(n)].value())
	}
	return list
}
