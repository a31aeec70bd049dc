package calendar

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// refs reads a list of links: categories and tags (3.1.6), venue and organizer (3.1.5) of an event.
func (d *decoder) refs(f *Field, v any) (any, bool) {
	_, isBool := v.(bool)
	_, isObject := v.(map[string]any)
	read := d.term
	switch {
	case f.Form == FormLinks && isBool:
		return d.refuse(f, ReasonTypeLinks)
	case f.Form == FormLinks:
		read = d.link
	case isBool || isObject:
		return d.refuse(f, ReasonTypeTerms)
	}
	elements := ParseList(v)
	refs := make([]Ref, 0, len(elements))
	for _, e := range elements {
		if f.Form == FormLinks && f.isEmpty(e) {
			continue
		}
		ref, ok := read(f, e)
		if !ok {
			return nil, false
		}
		refs = append(refs, ref)
	}
	switch {
	case len(refs) == 0:
		return Clear{}, true
	case len(refs) > MaxElements:
		return d.refuse(f, ReasonTooMany, strconv.Itoa(MaxElements))
	default:
		return refs, true
	}
}

// term reads one element of categories or tags: an id, a slug or a name.
func (d *decoder) term(f *Field, e any) (Ref, bool) {
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
			d.problems.Add(f.Name, ReasonTooLong, strconv.Itoa(maxName))
			return ref, false
		case isNumber:
			ref.ID, _ = ParseID(e)
			fallthrough
		case name != "" && name != "0":
			ref.Entry = Plain(e)
			ref.Inline = &Attrs{Lang: d.lang, Set: map[string]any{f.Links.NameField(): name}}
			return ref, true
		}
	}
	d.problems.Add(f.Name, ReasonEntry, ref.Entry)
	return ref, false
}

// link reads one element of venue or organizer.
func (d *decoder) link(f *Field, e any) (Ref, bool) {
	entry := shorten(entryText(e))
	id := e
	if object, ok := e.(map[string]any); ok {
		if id = object["id"]; f.isEmpty(id) {
			return d.inline(f, object, entry)
		}
	}
	n, isID := ParseInt(id)
	if text, ok := id.(string); ok {
		isID = IsDigits(Trim(text))
	}
	if !isID {
		d.problems.Add(f.Name, ReasonEntry, entry)
	}
	return Ref{Entry: entry, ID: ID(n), IsID: true}, isID
}

// inline reads an object that describes a venue or an organizer.
func (d *decoder) inline(f *Field, object map[string]any, entry string) (Ref, bool) {
	sent := object[f.Links.NameField()]
	if sent == nil || sent == "" {
		d.problems.Add(f.Name, ReasonEntry, entry)
		return Ref{}, false
	}
	name, _ := sent.(string)
	link := Ref{Entry: cmp.Or(shorten(Trim(Plain(name))), entry)}
	var p Problems
	link.Inline = SpecOf(f.Links).Decode(object, OpCreate, d.lang, d.Decision, &p)
	for _, bad := range p.Fields {
		d.problems.Add(f.Name, ReasonInline, append([]string{link.Entry, bad.Field, string(bad.Reason)}, bad.Args...)...)
	}
	return link, len(p.Fields) == 0
}

// entryText returns an element of a list as it was sent, for messages.
func entryText(e any) string {
	switch e := e.(type) {
	case string:
		return Trim(Plain(e))
	case json.Number:
		return string(e)
	}
	var b strings.Builder
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	if out.Encode(e) != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// shorten cuts an entry, so that a message stays readable.
func shorten(s string) string {
	const limit = 100
	n := 0
	for i := range s {
		if n == limit {
			return s[:i] + "…"
		}
		n++
	}
	return s
}
