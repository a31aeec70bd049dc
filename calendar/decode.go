package calendar

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// sentStatuses are the statuses that a write may send, in the order of the
// interface.
var sentStatuses = strings.Fields("publish future draft pending private")

// Missing names the required fields that were not sent (null counts as not
// sent), in the order of the table.
func (s *Spec) Missing(in Input) []string {
	var names []string
	for i := range s.Fields {
		if field := &s.Fields[i]; field.Required && in[field.Name] == nil {
			names = append(names, field.Name)
		}
	}
	return names
}

// Language returns the language of a request: the selector in the input, else
// that of the root. A bad selector is a problem of "multilang_language" and
// leaves the language of the root.
func Language(in Input, root Lang, problems *Problems) Lang {
	const name = "multilang_language"
	value, sent := in[name]
	if !sent {
		return root
	}
	if text, ok := value.(string); ok {
		if lang, ok := ParseLang(Trim(text)); ok {
			return lang
		}
	}
	problems.Add(name, ReasonNotInEnum, strings.Join(langNames[:], ", "))
	return root
}

// Decode reads an input by the table; refused values are added to p, all at
// once. What was not sent is absent from Attrs, and so is on create what was
// sent empty; on updates that is Clear. Unknown names and computed fields are
// ignored. Links with inline data are decoded by the spec of their kind. What
// needs the store (ids, names, images by id) is left to the caller.
func (s *Spec) Decode(in Input, op Op, l Lang, on *Decision, p *Problems) *Attrs {
	d := decoder{Decision: on, lang: l, problems: p}
	attrs := &Attrs{Lang: l, Set: make(map[string]any, len(in))}
	for i := range s.Fields {
		field := &s.Fields[i]
		v, sent := in[field.Name]
		switch {
		case !sent || field.Form == FormNone || field.NotBySlug && op == OpUpdateBySlug:
			continue
		case field.Form == FormLang:
			Language(in, l, p)
			continue
		case v == nil && field.Empty == EmptyNull:
			continue
		}
		value, ok := any(Clear{}), true
		if !field.isEmpty(v) {
			value, ok = d.read(field, v)
		} else if field.Empty != EmptyClears {
			p.Add(field.Name, field.emptyReason())
			continue
		}
		if _, cleared := value.(Clear); ok && (!cleared || op != OpCreate) {
			attrs.Set[field.Name] = value
		}
	}
	if op == OpCreate {
		// What depends on several values of a new record; on updates the decision checks it,
		// which knows the stored values (interface 7.2).
		edit := newEdit(s, 0, attrs, on)
		edit.problems = *p
		edit.setFields()
		edit.setDates()
		*p = edit.problems
	}
	return attrs
}

// isEmpty reports whether a sent value counts as empty for the field
// (interface 2.3 and the tables of 3).
func (f *Field) isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		if Trim(v) == "" {
			return true
		}
	case []any:
		return len(v) == 0 && (f.Form == FormCost || f.Form == FormTerms || f.Form == FormLinks)
	case map[string]any:
		return len(v) == 0 && f.Form == FormLinks
	}
	switch f.Form {
	case FormImage:
		text, _ := v.(string)
		return v == false || Trim(text) == "false" || isZero(v)
	case FormLinks, FormParent:
		return isZero(v)
	default:
		return false
	}
}

func isZero(value any) bool {
	n, ok := ParseInt(value)
	return ok && n == 0
}

// emptyReason is why an empty value is refused: where empty text is of no type
// at all, that it has the wrong one.
func (f *Field) emptyReason() Reason {
	switch f.Form {
	case FormBool:
		return ReasonTypeBool
	case FormAuthor:
		return ReasonTypeInteger
	default:
		return ReasonEmpty
	}
}

// decoder reads the values of one input.
type decoder struct {
	*Decision
	lang     Lang
	problems *Problems
}

// refuse notes why a value is refused.
func (d *decoder) refuse(field *Field, reason Reason, args ...string) (any, bool) {
	d.problems.Add(field.Name, reason, args...)
	return nil, false
}

// read reads a value that is not empty. A value of which cleaning leaves
// nothing is Clear.
func (d *decoder) read(field *Field, value any) (any, bool) {
	switch field.Form {
	case FormBool:
		b, ok := ParseBool(value)
		if !ok {
			return d.refuse(field, ReasonTypeBool)
		}
		return b, true
	case FormCost:
		return d.cost(field, value)
	case FormImage:
		return d.image(field, value)
	case FormTerms, FormLinks:
		return d.refs(field, value)
	case FormAuthor, FormParent:
		return d.id(field, value)
	case FormDegrees:
		return d.degrees(field, value)
	default:
		text, ok := value.(string)
		switch {
		case ok:
			return d.text(field, Trim(text))
		case field.Form == FormDate:
			return d.refuse(field, ReasonTypeDate)
		default:
			return d.refuse(field, ReasonTypeText)
		}
	}
}

// text reads the forms that are sent as text.
func (d *decoder) text(field *Field, s string) (any, bool) {
	switch field.Form {
	case FormPassword: // not a text to be shown: nothing but its length counts
		return d.limit(field, s)
	case FormName, FormDetail: // in names white space that is a control character separates
	default:
		s = Plain(s)
	}
	switch field.Form {
	case FormName:
		switch s = d.Rules.Clean.Name(s); s {
		case "":
			return d.refuse(field, ReasonNothingLeft)
		case "0":
			return d.refuse(field, ReasonZero)
		}
	case FormDetail:
		s = d.Rules.Clean.Name(s)
	case FormHTML:
		s = d.Rules.Clean.HTML(s)
	case FormSlug:
		if MakeSlug(d.Rules.Clean.Name(s), d.Rules.Clean) == "" {
			return d.refuse(field, ReasonSlug)
		}
	case FormDate:
		date, ok := ParseDate(s)
		if !ok {
			return d.refuse(field, ReasonDate)
		}
		return date, true
	case FormStatus:
		if !slices.Contains(sentStatuses, s) {
			return d.refuse(field, ReasonStatus, strings.Join(sentStatuses, ", "))
		}
		return Status(s), true
	case FormWord:
		switch slices.Index(field.Enum, s) {
		case -1:
			return d.refuse(field, ReasonWord, strings.Join(field.Enum, ", "))
		case 0:
			return Clear{}, true
		}
	case FormZone:
		zone, ok := ParseZone(s)
		if !ok {
			return d.refuse(field, ReasonZone)
		}
		return zone, true
	case FormURL, FormEventURL:
		if field.Form == FormEventURL {
			s = strings.ReplaceAll(s, "&amp;", "&")
		}
		if !isWebURL(s) {
			return d.refuse(field, ReasonURL)
		}
	case FormEmail:
		if !emailForm.MatchString(s) {
			return d.refuse(field, ReasonEmail)
		}
	default:
	}
	return d.limit(field, s)
}

// limit refuses a text that is too long for its field; an empty one is Clear.
func (d *decoder) limit(field *Field, text string) (any, bool) {
	switch {
	case text == "":
		return Clear{}, true
	case field.Max > 0 && len(text) > field.Max && utf8.RuneCountInString(text) > field.Max:
		return d.refuse(field, ReasonTooLong, strconv.Itoa(field.Max))
	default:
		return text, true
	}
}

// id reads the id of an author or a parent.
func (d *decoder) id(field *Field, value any) (any, bool) {
	n, ok := ParseInt(value)
	switch id := ID(n); {
	case !ok:
		return d.refuse(field, ReasonTypeInteger)
	case n <= 0:
		return d.refuse(field, UnknownReason(field.Links), id.String())
	case field.Form == FormAuthor && !MayNameAuthor(d.Caller, id):
		return d.refuse(field, ReasonOtherAuthor)
	default:
		return id, true
	}
}

func (d *decoder) degrees(field *Field, value any) (any, bool) {
	n, ok := ParseNumber(value)
	switch {
	case !ok:
		return d.refuse(field, ReasonTypeNumber)
	case math.Abs(n) > float64(field.Max):
		end := strconv.Itoa(field.Max)
		return d.refuse(field, ReasonRange, "-"+end, end)
	default:
		return n, true
	}
}

// image reads an id or a URL (3.5).
func (d *decoder) image(field *Field, v any) (any, bool) {
	switch v := v.(type) {
	case json.Number:
		id, ok := ParseID(v)
		if !ok {
			return d.refuse(field, ReasonImage)
		}
		return []Ref{{Entry: id.String(), ID: id, IsID: true}}, true
	case string:
		text := Plain(Trim(v))
		if IsDigits(text) {
			id, _ := ParseID(text)
			return []Ref{{Entry: shorten(text), ID: id, IsID: true}}, true
		}
		if !isWebURL(text) {
			return d.refuse(field, ReasonImage)
		}
		if !MayUseImageURL(d.Caller) {
			return d.refuse(field, ReasonImageURLRight)
		}
		if _, ok := d.limit(field, text); !ok {
			return nil, false
		}
		return []Ref{{Entry: text}}, true
	default:
		return d.refuse(field, ReasonTypeImage)
	}
}

// cost reads a text, a number or a list of these (3.1.4).
func (d *decoder) cost(field *Field, value any) (any, bool) {
	elements, isList := value.([]any)
	if !isList {
		elements = []any{value}
	}
	var costs []string
	for _, e := range elements {
		var cost string
		switch e := e.(type) {
		case nil:
		case string:
			cost = d.Rules.Clean.Name(e)
		case json.Number:
			var reason Reason
			if cost, reason = costOfNumber(e); reason != "" {
				return d.refuse(field, reason)
			}
		default:
			return d.refuse(field, ReasonTypeCost)
		}
		if cost != "" {
			costs = append(costs, cost)
		}
	}
	if len(costs) == 0 {
		return Clear{}, true
	}
	if len(costs) > MaxElements || len(ReadCost(costs, Currency{}).Values) > MaxElements {
		return d.refuse(field, ReasonTooMany, strconv.Itoa(MaxElements))
	}
	return costs, true
}
