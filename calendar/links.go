package calendar

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// refs reads a list of links: categories and tags (3.1.6), venue and organizer (3.1.5) of an event.
func (d *decoder) refs(field *Field, v any) (any, bool) {
	_, isBool := v.(bool)
	_, isObject := v.(map[string]any)
	read := d.term
	switch {
	case field.Form == FormLinks && isBool:
		return d.refuse(field, ReasonTypeLinks)
	case field.Form == FormLinks:
		read = d.link
	case isBool || isObject:
		return d.refuse(field, ReasonTypeTerms)
	}
	elements := ParseList(v)
	refs := make([]Ref, 0, len(elements))
	for _, e := range elements {
		if field.Form == FormLinks && field.isEmpty(e) {
			continue
		}
		ref, ok := read(field, e)
		if !ok {
			return nil, false
		}
		refs = append(refs, ref)
	}
	switch {
	case len(refs) == 0:
		return Clear{}, true
	case len(refs) > MaxElements:
		return d.refuse(field, ReasonTooMany, strconv.Itoa(MaxElements))
	default:
		return refs, true
	}
}

// term reads one element of categories or tags: an id, a slug or a name.
func (d *decoder) term(field *Field, e any) (Ref, bool) {
	ref := Ref{Entry: shorten(entryText(e))}
	switch e := e.(type) {
	case json.Number:
		if n, ok := ParseInt(e); ok {
			ref.ID, ref.IsID = ID(n), true
			return ref, true
		}
	case string:
		name, isNumber := d.Rules.Clean.Name(Plain(e)), IsDigits(e)
		switch {
		case utf8.RuneCountInString(name) > maxName:
			d.problems.Add(field.Name, ReasonTooLong, strconv.Itoa(maxName))
			return ref, false
		case isNumber:
			ref.ID, _ = ParseID(e)
			fallthrough
		case name != "" && name != "0":
			ref.Entry = Plain(e)
			ref.Inline = &Attrs{Lang: d.lang, Set: map[string]any{field.Links.NameField(): name}}
			return ref, true
		}
	}
	d.problems.Add(field.Name, ReasonEntry, ref.Entry)
	return ref, false
}

// link reads one element of venue or organizer.
func (d *decoder) link(field *Field, value any) (Ref, bool) {
	entry := shorten(entryText(value))
	id := value
	if object, ok := value.(map[string]any); ok {
		if id = object["id"]; field.isEmpty(id) {
			return d.inline(field, object, entry)
		}
	}
	n, isID := ParseInt(id)
	if text, ok := id.(string); ok {
		isID = IsDigits(Trim(text))
	}
	if !isID {
		d.problems.Add(field.Name, ReasonEntry, entry)
	}
	return Ref{Entry: entry, ID: ID(n), IsID: true}, isID
}

// inline reads an object that describes a venue or an organizer.
func (d *decoder) inline(field *Field, object map[string]any, entry string) (Ref, bool) {
	sent := object[field.Links.NameField()]
	if sent == nil || sent == "" {
		d.problems.Add(field.Name, ReasonEntry, entry)
		return Ref{}, false
	}
	name, _ := sent.(string)
	link := Ref{Entry: cmp.Or(shorten(Trim(Plain(name))), entry)}
	var problems Problems
	link.Inline = SpecOf(field.Links).Decode(object, OpCreate, d.lang, d.Decision, &problems)
	for _, bad := range problems.Fields {
		d.problems.Add(field.Name, ReasonInline, append([]string{link.Entry, bad.Field, string(bad.Reason)}, bad.Args...)...)
	}
	return link, len(problems.Fields) == 0
}

// entryText returns an element of a list as it was sent, for messages.
func entryText(e any) string {
	switch e := e.(type) {
	case string:
		return Trim(Plain(e))
	case json.Number:
		return string(e)
	}
	var builder strings.Builder
	out := json.NewEncoder(&builder)
	out.SetEscapeHTML(false)
	if out.Encode(e) != nil {
		return ""
	}
	return strings.TrimSuffix(builder.String(), "\n")
}

// shorten cuts an entry, so that a message stays readable.
func shorten(text string) string {
	const limit = 100
	n := 0
	for i := range text {
		if n == limit {
			return text[:i] + "…"
		}
		n++
	}
	return text
}
