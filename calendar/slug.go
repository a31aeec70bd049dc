package calendar

import (
	"sort"
	"strconv"
	"strings"
	"unicode"
)

// maxSlug is the limit of a slug in bytes, "__trashed" not counted.
const maxSlug = 200

// slug sets the slug by interface 3.7.
func (edit *edit) slug() {
	sent := edit.attrs.Set["slug"]
	current := edit.Fields.String("slug")
	restores := edit.restores()
	if restores {
		if former := edit.Fields.String("former_slug"); former != "" {
			current = former
		} else {
			current = strings.TrimSuffix(current, trashedSuffix)
		}
		delete(edit.Fields, "former_slug")
	}
	needed := edit.Kind.IsTerm() || !isUnpublished(Status(edit.Fields.String("status")))
	_, cleared := sent.(Clear)
	var want string
	switch text, isText := sent.(string); {
	case isText:
		if want = MakeSlug(edit.Rules.Clean.Name(text), edit.Rules.Clean); want == "" {
			edit.problems.Add("slug", ReasonSlug)
			return
		}
	case cleared && !needed:
		delete(edit.Fields, "slug")
		return
	case current != "" && !cleared:
		if !restores {
			return
		}
		want = current
	case needed:
		// The stored name is clean already: reading it as HTML again would take
		// away what is between < and >.
		if want = MakeSlug(edit.Fields.Text(edit.Kind.NameField())[edit.Home], edit.Rules.Clean); want == "" {
			want = edit.ID.String()
		}
	default:
		return
	}
	edit.Fields["slug"] = edit.freeSlug(want, "")
}

// MakeSlug makes a slug of a cleaned text: transliterated, lower case, letters,
// digits, "-" and "_" only, at most 200 bytes; "" when nothing is left.
func MakeSlug(text string, cleaner Cleaner) string {
	text = strings.Map(func(letter rune) rune {
		switch {
		case unicode.IsSpace(letter):
			return ' '
		case unicode.Is(unicode.Pd, letter), letter == '\u2212':
			return '-'
		}
		return letter
	}, text)
	text = strings.Map(func(letter rune) rune {
		switch {
		case letter >= 'a' && letter <= 'z', letter == '_', isASCIIDigit(letter):
			return letter
		case strings.ContainsRune(" /.-\t\n\r", letter):
			return '-'
		}
		return -1
	}, strings.ToLower(cleaner.ASCII(text)))
	return cutSlug(strings.Join(strings.FieldsFunc(text, func(letter rune) bool { return letter == '-' }), "-"), maxSlug)
}

// cutSlug cuts a slug to a number of bytes.
func cutSlug(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.TrimRight(text[:limit], "-")
}

// linearProbes is how many numbers are tried one by one, so that small holes are
// filled; beyond, doubling and halving finds a free number next to a taken one.
const linearProbes = 16

// freeSlug returns the slug with tail behind it if it is free. Else a child category
// gets the slug of its parent appended, then a number is appended before tail.
func (edit *edit) freeSlug(slug, tail string) string {
	taken := func(text string) bool { return edit.Taken(edit.Kind, edit.ID, text+tail) }
	if !taken(slug) {
		return slug + tail
	}
	if id := edit.Fields.ID("parent"); id != 0 {
		if record := edit.Parent(id); record != nil && record.Slug() != "" && len(record.Slug()) < maxSlug-1 {
			suffix := "-" + record.Slug()
			slug = cutSlug(slug, maxSlug-len(suffix)) + suffix
			if !taken(slug) {
				return slug + tail
			}
		}
	}
	numbered := func(count int) string {
		suffix := "-" + strconv.Itoa(count)
		return cutSlug(slug, maxSlug-len(suffix)) + suffix
	}
	number := 2
	for ; number <= linearProbes; number++ {
		if text := numbered(number); !taken(text) {
			return text + tail
		}
	}
	low, high := number, 2*number // all below low are taken
	for taken(numbered(high)) {
		low, high = high+1, 2*high
	}
	return numbered(low+sort.Search(high-low, func(i int) bool { return !taken(numbered(low + i)) })) + tail
}
