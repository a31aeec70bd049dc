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
func (spec *Spec) Missing(input Input) []string {
	var names []string
	for i := range spec.Fields {
		if field := &spec.Fields[i]; field.Required && input[field.Name] == nil {
			names = append(names, field.Name)
		}
	}
	return names
}

// Language returns the language of a request: the selector in the input, else
// that of the root. A bad selector is a problem of "multilang_language" and
// leaves the language of the root.
func Language(input Input, root Lang, problems *Problems) Lang {
	const name = "multilang_language"
	value, sent := input[name]
	if !sent {
		return root
	}
	text, _ := value.(string)
	if language, ok := ParseLang(Trim(text)); ok {
		return language
	}
	problems.Add(name, ReasonNotInEnum, strings.Join(langNames[:], ", "))
	return root
}

// Decode reads an input by the table; refused values are added to problems, all at
// once. What was not sent is absent from Attrs, and so is on create what was
// sent empty; on updates that is Clear. Unknown names and computed fields are
// ignored. Links with inline data are decoded by the spec of their kind. What
// needs the store (ids, names, images by id) is left to the caller.
func (spec *Spec) Decode(input Input, op Op, language Lang, decision *Decision, problems *Problems) *Attrs {
	d := decoder{Decision: decision, language: language, problems: problems}
	attrs := &Attrs{Lang: language, Set: make(map[string]any, len(input))}
	for i := range spec.Fields {
		field := &spec.Fields[i]
		v, sent := input[field.Name]
		switch {
		case !sent || field.Form == FormNone || field.NotBySlug && op == OpUpdateBySlug:
			continue
		case field.Form == FormLang:
			Language(input, language, problems)
			continue
		case v == nil && field.Empty == EmptyNull:
			continue
		}
		value, ok := any(Clear{}), true
		if !field.isEmpty(v) {
			value, ok = d.read(field, v)
		} else if field.Empty != EmptyClears {
			problems.Add(field.Name, field.emptyReason())
			continue
		}
		if _, cleared := value.(Clear); ok && (!cleared || op != OpCreate) {
			attrs.Set[field.Name] = value
		}
	}
	if op == OpCreate {
		// What depends on several values of a new record; on updates the decision checks it,
		// which knows the stored values (interface 7.2).
		edit := newEdit(spec, 0, attrs, decision)
		edit.problems = *problems
		edit.apply()
		*problems = edit.problems
	}
	return attrs
}

// isEmpty reports whether a sent value counts as empty for the field
// (interface 2.3 and the tables of 3).
func (field *Field) isEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		if Trim(v) == "" {
			return true
		}
	case []any:
		return len(v) == 0 && (field.Form == FormCost || field.Form == FormTerms || field.Form == FormLinks)
	case map[string]any:
		return len(v) == 0 && field.Form == FormLinks
	}
	switch field.Form {
	case FormImage:
		text, _ := value.(string)
		return value == false || Trim(text) == "false" || isZero(value)
	case FormLinks, FormParent:
		return isZero(value)
	default:
		return false
	}
}

func isZero(value any) bool {
	number, ok := ParseInt(value)
	return ok && number == 0
}

// emptyReason is why an empty value is refused: where empty text is of no type
// at all, that it has the wrong one.
func (field *Field) emptyReason() Reason {
	switch field.Form {
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
	language Lang
	problems *Problems
}

// refuse notes why a value is refused.
func (decoder *decoder) refuse(field *Field, reason Reason, args ...string) (any, bool) {
	decoder.problems.Add(field.Name, reason, args...)
	return nil, false
}

// read reads a value that is not empty. A value of which cleaning leaves
// nothing is Clear.
func (decoder *decoder) read(field *Field, value any) (any, bool) {
	switch field.Form {
	case FormBool:
		b, ok := ParseBool(value)
		if !ok {
			return decoder.refuse(field, ReasonTypeBool)
		}
		return b, true
	case FormCost:
		return decoder.cost(field, value)
	case FormImage:
		return decoder.image(field, value)
	case FormTerms, FormLinks:
		return decoder.refs(field, value)
	case FormAuthor, FormParent:
		return decoder.id(field, value)
	case FormDegrees:
		return decoder.degrees(field, value)
	default:
		text, ok := value.(string)
		switch {
		case ok:
			return decoder.text(field, Trim(text))
		case field.Form == FormDate:
			return decoder.refuse(field, ReasonTypeDate)
		default:
			return decoder.refuse(field, ReasonTypeText)
		}
	}
}

// text reads the forms that are sent as text.
func (decoder *decoder) text(field *Field, text string) (any, bool) {
	switch field.Form {
	case FormPassword: // not a text to be shown: nothing but its length counts
		return decoder.limit(field, text)
	case FormName, FormDetail, FormHTML: // Clean does it; in names white space that is a control character separates
	default:
		text = Plain(text)
	}
	switch field.Form {
	case FormName:
		switch text = decoder.Rules.Clean.Name(text); text {
		case "":
			return decoder.refuse(field, ReasonNothingLeft)
		case "0":
			return decoder.refuse(field, ReasonZero)
		}
	case FormDetail:
		text = decoder.Rules.Clean.Name(text)
	case FormHTML:
		text = decoder.Rules.Clean.HTML(text)
	case FormSlug:
		if MakeSlug(decoder.Rules.Clean.Name(text), decoder.Rules.Clean) == "" {
			return decoder.refuse(field, ReasonSlug)
		}
	case FormDate:
		date, ok := ParseDate(text)
		if !ok {
			return decoder.refuse(field, ReasonDate)
		}
		return date, true
	case FormStatus:
		if !slices.Contains(sentStatuses, text) {
			return decoder.refuse(field, ReasonStatus, strings.Join(sentStatuses, ", "))
		}
		return Status(text), true
	case FormWord:
		switch slices.Index(field.Enum, text) {
		case -1:
			return decoder.refuse(field, ReasonWord, strings.Join(field.Enum, ", "))
		case 0:
			return Clear{}, true
		}
	case FormZone:
		zone, ok := ParseZone(text)
		if !ok {
			return decoder.refuse(field, ReasonZone)
		}
		return zone, true
	case FormURL, FormEventURL:
		if field.Form == FormEventURL {
			text = strings.ReplaceAll(text, "&amp;", "&")
		}
		if !isWebURL(text) {
			return decoder.refuse(field, ReasonURL)
		}
	case FormEmail:
		if !emailForm.MatchString(text) {
			return decoder.refuse(field, ReasonEmail)
		}
	default:
	}
	return decoder.limit(field, text)
}

// limit refuses a text that is too long for its field; an empty one is Clear.
func (decoder *decoder) limit(field *Field, text string) (any, bool) {
	switch {
	case text == "":
		return Clear{}, true
	case field.Max > 0 && len(text) > field.Max && utf8.RuneCountInString(text) > field.Max:
		return decoder.refuse(field, ReasonTooLong, strconv.Itoa(field.Max))
	default:
		return text, true
	}
}

// id reads the id of an author or a parent.
func (decoder *decoder) id(field *Field, value any) (any, bool) {
	number, ok := ParseInt(value)
	switch id := ID(number); {
	case !ok:
		return decoder.refuse(field, ReasonTypeInteger)
	case number <= 0:
		return decoder.refuse(field, UnknownReason(field.Links), id.String())
	case field.Form == FormAuthor && !MayNameAuthor(decoder.Caller, id):
		return decoder.refuse(field, ReasonOtherAuthor)
	default:
		return id, true
	}
}

func (decoder *decoder) degrees(field *Field, value any) (any, bool) {
	number, ok := ParseNumber(value)
	switch {
	case !ok:
		return decoder.refuse(field, ReasonTypeNumber)
	case math.Abs(number) > float64(field.Max):
		end := strconv.Itoa(field.Max)
		return decoder.refuse(field, ReasonRange, "-"+end, end)
	default:
		return number, true
	}
}

// image reads an id or a URL (3.5).
func (decoder *decoder) image(field *Field, value any) (any, bool) {
	switch v := value.(type) {
	case json.Number:
		id, ok := ParseID(v)
		if !ok {
			return decoder.refuse(field, ReasonImage)
		}
		return []Ref{{Entry: id.String(), ID: id, IsID: true}}, true
	case string:
		text := Plain(Trim(v))
		if IsDigits(text) {
			id, _ := ParseID(text)
			return []Ref{{Entry: shorten(text), ID: id, IsID: true}}, true
		}
		if !isWebURL(text) {
			return decoder.refuse(field, ReasonImage)
		}
		if !MayUseImageURL(decoder.Caller) {
			return decoder.refuse(field, ReasonImageURLRight)
		}
		if _, ok := decoder.limit(field, text); !ok {
			return nil, false
		}
		return []Ref{{Entry: text}}, true
	default:
		return decoder.refuse(field, ReasonTypeImage)
	}
}

// cost reads a text, a number or a list of these (3.1.4).
func (decoder *decoder) cost(field *Field, value any) (any, bool) {
	elements, isList := value.([]any)
	if !isList {
		elements = []any{value}
	}
	var costs []string
	for _, element := range elements {
		var cost string
		switch e := element.(type) {
		case nil:
		case string:
			cost = decoder.Rules.Clean.Name(e)
		case json.Number:
			var reason Reason
			if cost, reason = costOfNumber(e); reason != "" {
				return decoder.refuse(field, reason)
			}
		default:
			return decoder.refuse(field, ReasonTypeCost)
		}
		if cost != "" {
			costs = append(costs, cost)
		}
	}
	if len(costs) == 0 {
		return Clear{}, true
	}
	if len(costs) > MaxElements || len(ReadCost(costs, Currency{}).Values) > MaxElements {
		return decoder.refuse(field, ReasonTooMany, strconv.Itoa(MaxElements))
	}
	return costs, true
}
