package calendar

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// terms reads categories and tags of an event (3.1.6).
func (d *decoder) terms(f *Field, v any) (any, bool) {
	switch v.(type) {
	case bool, map[string]any:
		return d.refuse(f, ReasonTypeTerms)
	}
	var refs []Ref
	for _, e := range ParseList(v) {
		ref := Ref{Entry: shorten(entryText(e))}
		switch e := e.(type) {
		case json.Number:
			id, ok := ParseID(e)
			if _, whole := ParseInt(e); !ok && whole {
				return d.refuse(f, UnknownReason(f.Links), ref.Entry)
			} else if !ok {
				return d.refuse(f, ReasonEntry, ref.Entry)
			}
			ref.ID, ref.IsID = id, true
		case string:
			name := d.rules.Clean.Name(Plain(e))
			switch {
			case name == "":
				return d.refuse(f, ReasonEntry, ref.Entry)
			case utf8.RuneCountInString(name) > maxName:
				return d.refuse(f, ReasonTooLong, strconv.Itoa(maxName))
			}
			ref.Entry = Plain(e)
			if IsDigits(e) {
				ref.ID, _ = ParseID(e)
			}
		default:
			return d.refuse(f, ReasonEntry, ref.Entry)
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

// links reads venue and organizer of an event (3.1.5).
func (d *decoder) links(f *Field, v any) (any, bool) {
	if _, isBool := v.(bool); isBool {
		return d.refuse(f, ReasonTypeLinks)
	}
	var links []Ref
	seen := make(map[ID]bool)
	for _, e := range ParseList(v) {
		if f.isEmpty(e) {
			continue
		}
		link, ok := d.link(f, e)
		if !ok {
			return nil, false
		}
		if seen[link.ID] {
			continue
		}
		seen[link.ID] = link.ID != 0
		if links = append(links, link); len(links) > MaxElements {
			return d.refuse(f, ReasonTooMany, strconv.Itoa(MaxElements))
		}
	}
	if len(links) == 0 {
		return Clear{}, true
	}
	return links, true
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
	switch {
	case !isID:
		d.problems.Add(f.Name, ReasonEntry, entry)
	case n <= 0: // digits beyond all ids among them
		d.problems.Add(f.Name, UnknownReason(f.Links), entry)
	}
	return Ref{Entry: entry, ID: ID(n), IsID: true}, isID && n > 0
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
	refuse := func(p *Problems, bad FieldError) {
		p.Add(f.Name, ReasonInline, append([]string{link.Entry, bad.Field, string(bad.Reason)}, bad.Args...)...)
	}
	var p, together Problems
	link.Inline, together = SpecOf(f.Links).Decode(object, OpCreate, d.lang, d.now, d.rules, d.caller, &p)
	if len(p.Fields) > 0 {
		refuse(d.problems, p.Fields[0])
	} else if len(together.Fields) > 0 {
		refuse(&d.together, together.Fields[0])
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
