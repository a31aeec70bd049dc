package calendar

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// refs reads a list of links: categories and tags (3.1.6), venue and organizer (3.1.5) of an event.
func (decoder *decoder) refs(field *Field, value any) (any, bool) {
	_, isBool := value.(bool)
	_, isObject := value.(map[string]any)
	read := decoder.term
	switch {
	case field.Form == FormLinks && isBool:
		return decoder.refuse(field, ReasonTypeLinks)
	case field.Form == FormLinks:
		read = decoder.link
	case isBool || isObject:
		return decoder.refuse(field, ReasonTypeTerms)
	}
	elements := ParseList(value)
	refs := make([]Ref, 0, len(elements))
	for _, element := range elements {
		if field.Form == FormLinks && field.isEmpty(element) {
			continue
		}
		reference, ok := read(field, element)
		if !ok {
			return nil, false
		}
		refs = append(refs, reference)
	}
	switch {
	case len(refs) == 0:
		return Clear{}, true
	case len(refs) > MaxElements:
		return decoder.refuse(field, ReasonTooMany, strconv.Itoa(MaxElements))
	default:
		return refs, true
	}
}

// term reads one element of categories or tags: an id, a slug or a name.
func (decoder *decoder) term(field *Field, element any) (Ref, bool) {
	reference := Ref{Entry: shorten(entryText(element))}
	switch e := element.(type) {
	case json.Number:
		if number, ok := ParseInt(e); ok {
			reference.ID, reference.IsID = ID(number), true
			return reference, true
		}
	case string:
		name, isNumber := decoder.Rules.Clean.Name(Plain(e)), IsDigits(e)
		switch {
		case utf8.RuneCountInString(name) > maxName:
			decoder.problems.Add(field.Name, ReasonTooLong, strconv.Itoa(maxName))
			return reference, false
		case isNumber:
			reference.ID, _ = ParseID(e)
			fallthrough
		case name != "" && name != "0":
			reference.Entry = Plain(e)
			reference.Inline = &Attrs{Lang: decoder.language, Set: map[string]any{field.Links.NameField(): name}}
			return reference, true
		}
	}
	decoder.problems.Add(field.Name, ReasonEntry, reference.Entry)
	return reference, false
}

// link reads one element of venue or organizer.
func (decoder *decoder) link(field *Field, value any) (Ref, bool) {
	entry := shorten(entryText(value))
	id := value
	if object, ok := value.(map[string]any); ok {
		if id = object["id"]; field.isEmpty(id) {
			return decoder.inline(field, object, entry)
		}
	}
	number, isID := ParseInt(id)
	if text, ok := id.(string); ok {
		isID = IsDigits(Trim(text))
	}
	if !isID {
		decoder.problems.Add(field.Name, ReasonEntry, entry)
	}
	return Ref{Entry: entry, ID: ID(number), IsID: true}, isID
}

// inline reads an object that describes a venue or an organizer.
func (decoder *decoder) inline(field *Field, object map[string]any, entry string) (Ref, bool) {
	sent := object[field.Links.NameField()]
	if sent == nil || sent == "" {
		decoder.problems.Add(field.Name, ReasonEntry, entry)
		return Ref{}, false
	}
	name, _ := sent.(string)
	link := Ref{Entry: cmp.Or(shorten(Trim(Plain(name))), entry)}
	var problems Problems
	link.Inline = SpecOf(field.Links).Decode(object, OpCreate, decoder.language, decoder.Decision, &problems)
	for _, bad := range problems.Fields {
		decoder.problems.Add(field.Name, ReasonInline, append([]string{link.Entry, bad.Field, string(bad.Reason)}, bad.Args...)...)
	}
	return link, len(problems.Fields) == 0
}

// entryText returns an element of a list as it was sent, for messages.
func entryText(element any) string {
	switch e := element.(type) {
	case string:
		return Trim(Plain(e))
	case json.Number:
		return string(e)
	}
	var builder strings.Builder
	result := json.NewEncoder(&builder)
	result.SetEscapeHTML(false)
	if result.Encode(element) != nil {
		return ""
	}
	return strings.TrimSuffix(builder.String(), "\n")
}

// shorten cuts an entry, so that a message stays readable.
func shorten(text string) string {
	const limit = 100
	count := 0
	for i := range text {
		if count == limit {
			return text[:i] + "…"
		}
		count++
	}
	return text
}
