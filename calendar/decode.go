package calendar

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// sentStatuses are the statuses that a write may send, in the order of the
// interface.
var sentStatuses = []string{
	string(StatusPublish), string(StatusFuture), string(StatusDraft), string(StatusPending), string(StatusPrivate),
}

// Missing names the required fields that were not sent (null counts as not
// sent), in the order of the table.
func (s *Spec) Missing(in Input) []string {
	var names []string
	for i := range s.Fields {
		if f := &s.Fields[i]; f.Required && in[f.Name] == nil {
			names = append(names, f.Name)
		}
	}
	return names
}

// Language returns the language of a request: the selector in the input, else
// that of the root. A bad selector is a problem of "multilang_language" and
// leaves the language of the root.
func Language(in Input, root Lang, p *Problems) Lang {
	const name = "multilang_language"
	v, sent := in[name]
	if !sent {
		return root
	}
	if s, ok := v.(string); ok {
		if l, ok := ParseLang(Trim(s)); ok {
			return l
		}
	}
	p.Add(name, ReasonNotInEnum, strings.Join(langNames[:], ", "))
	return root
}

// Decode reads an input by the table; refused values are added to p, all at
// once. What was not sent is absent from Attrs, and so is on create what was
// sent empty; on updates that is Clear. Unknown names and computed fields are
// ignored. Links with inline data are decoded by the spec of their kind. What
// needs the store (ids, names, images by id) is left to the caller.
func (s *Spec) Decode(in Input, op Op, l Lang, on *Decision, p *Problems) *Attrs {
	d := decoder{Decision: on, lang: l, problems: p}
	a := &Attrs{Lang: l, Set: make(map[string]any, len(in))}
	for i := range s.Fields {
		f := &s.Fields[i]
		v, sent := in[f.Name]
		switch {
		case !sent || f.Form == FormNone || f.NotBySlug && op == OpUpdateBySlug:
			continue
		case f.Form == FormLang:
			Language(in, l, p)
			continue
		case v == nil && f.Empty == EmptyNull:
			continue
		}
		value, ok := any(Clear{}), true
		if !f.isEmpty(v) {
			value, ok = d.read(f, v)
		} else if f.Empty != EmptyClears {
			p.Add(f.Name, f.emptyReason())
			continue
		}
		if _, cleared := value.(Clear); ok && (!cleared || op != OpCreate) {
			a.Set[f.Name] = value
		}
	}
	if op == OpCreate {
		// What depends on several values of a new record; on updates the decision checks it,
		// which knows the stored values (interface 7.2).
		e := newEdit(s, 0, a, on)
		e.problems = *p
		e.setFields()
		e.setDates()
		*p = e.problems
	}
	return a
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
		s, _ := v.(string)
		return v == false || Trim(s) == "false" || isZero(v)
	case FormLinks, FormParent:
		return isZero(v)
	default:
		return false
	}
}

func isZero(v any) bool {
	n, ok := ParseInt(v)
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
func (d *decoder) refuse(f *Field, r Reason, args ...string) (any, bool) {
	d.problems.Add(f.Name, r, args...)
	return nil, false
}

// read reads a value that is not empty. A value of which cleaning leaves
// nothing is Clear.
func (d *decoder) read(f *Field, v any) (any, bool) {
	switch f.Form {
	case FormBool:
		b, ok := ParseBool(v)
		if !ok {
			return d.refuse(f, ReasonTypeBool)
		}
		return b, true
	case FormCost:
		return d.cost(f, v)
	case FormImage:
		return d.image(f, v)
	case FormTerms, FormLinks:
		return d.refs(f, v)
	case FormAuthor, FormParent:
		return d.id(f, v)
	case FormLatitude:
		return d.degrees(f, v, 90)
	case FormLongitude:
		return d.degrees(f, v, 180)
	default:
		s, ok := v.(string)
		switch {
		case ok:
			return d.text(f, Trim(s))
		case f.Form == FormDate:
			return d.refuse(f, ReasonTypeDate)
		default:
			return d.refuse(f, ReasonTypeText)
		}
	}
}

// text reads the forms that are sent as text.
func (d *decoder) text(f *Field, s string) (any, bool) {
	switch f.Form {
	case FormPassword: // not a text to be shown: nothing but its length counts
		return d.limit(f, s)
	case FormName, FormDetail: // in names white space that is a control character separates
	default:
		s = Plain(s)
	}
	switch f.Form {
	case FormName:
		switch s = d.Rules.Clean.Name(s); s {
		case "":
			return d.refuse(f, ReasonNothingLeft)
		case "0":
			return d.refuse(f, ReasonZero)
		}
	case FormDetail:
		s = d.Rules.Clean.Name(s)
	case FormHTML:
		s = d.Rules.Clean.HTML(s)
	case FormSlug:
		if MakeSlug(d.Rules.Clean.Name(s), d.Rules.Clean) == "" {
			return d.refuse(f, ReasonSlug)
		}
	case FormDate:
		date, ok := ParseDate(s)
		if !ok {
			return d.refuse(f, ReasonDate)
		}
		return date, true
	case FormStatus:
		if !slices.Contains(sentStatuses, s) {
			return d.refuse(f, ReasonStatus, strings.Join(sentStatuses, ", "))
		}
		return Status(s), true
	case FormWord:
		switch slices.Index(f.Enum, s) {
		case -1:
			return d.refuse(f, ReasonWord, strings.Join(f.Enum, ", "))
		case 0:
			return Clear{}, true
		}
	case FormZone:
		z, ok := ParseZone(s)
		if !ok {
			return d.refuse(f, ReasonZone)
		}
		return z, true
	case FormURL, FormEventURL:
		if f.Form == FormEventURL {
			s = strings.ReplaceAll(s, "&amp;", "&")
		}
		if !isWebURL(s) {
			return d.refuse(f, ReasonURL)
		}
	case FormEmail:
		if !emailForm.MatchString(s) {
			return d.refuse(f, ReasonEmail)
		}
	default:
	}
	return d.limit(f, s)
}

// limit refuses a text that is too long for its field; an empty one is Clear.
func (d *decoder) limit(f *Field, s string) (any, bool) {
	switch {
	case s == "":
		return Clear{}, true
	case f.Max > 0 && len(s) > f.Max && utf8.RuneCountInString(s) > f.Max:
		return d.refuse(f, ReasonTooLong, strconv.Itoa(f.Max))
	default:
		return s, true
	}
}

// id reads the id of an author or a parent.
func (d *decoder) id(f *Field, v any) (any, bool) {
	n, ok := ParseInt(v)
	switch id := ID(n); {
	case !ok:
		return d.refuse(f, ReasonTypeInteger)
	case n <= 0:
		return d.refuse(f, UnknownReason(f.Links), id.String())
	case f.Form == FormAuthor && !MayNameAuthor(d.Caller, id):
		return d.refuse(f, ReasonOtherAuthor)
	default:
		return id, true
	}
}

func (d *decoder) degrees(f *Field, v any, limit float64) (any, bool) {
	n, ok := ParseNumber(v)
	switch {
	case !ok:
		return d.refuse(f, ReasonTypeNumber)
	case n < -limit || n > limit:
		end := strconv.FormatFloat(limit, 'f', -1, 64)
		return d.refuse(f, ReasonRange, "-"+end, end)
	default:
		return n, true
	}
}

// image reads an id or a URL (3.5).
func (d *decoder) image(f *Field, v any) (any, bool) {
	switch v := v.(type) {
	case json.Number:
		id, ok := ParseID(v)
		if !ok {
			return d.refuse(f, ReasonImage)
		}
		return []Ref{{Entry: id.String(), ID: id, IsID: true}}, true
	case string:
		s := Plain(Trim(v))
		if IsDigits(s) {
			id, _ := ParseID(s)
			return []Ref{{Entry: shorten(s), ID: id, IsID: true}}, true
		}
		if !isWebURL(s) {
			return d.refuse(f, ReasonImage)
		}
		if !MayUseImageURL(d.Caller) {
			return d.refuse(f, ReasonImageURLRight)
		}
		if _, ok := d.limit(f, s); !ok {
			return nil, false
		}
		return []Ref{{Entry: s}}, true
	default:
		return d.refuse(f, ReasonTypeImage)
	}
}

// cost reads a text, a number or a list of these (3.1.4).
func (d *decoder) cost(f *Field, v any) (any, bool) {
	elements, isList := v.([]any)
	if !isList {
		elements = []any{v}
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
				return d.refuse(f, reason)
			}
		default:
			return d.refuse(f, ReasonTypeCost)
		}
		if cost != "" {
			costs = append(costs, cost)
		}
	}
	if len(costs) == 0 {
		return Clear{}, true
	}
	if len(costs) > MaxElements || len(ReadCost(costs, Currency{}).Values) > MaxElements {
		return d.refuse(f, ReasonTooMany, strconv.Itoa(MaxElements))
	}
	return costs, true
}
