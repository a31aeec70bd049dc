package param

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"daybook/calendar"
)

// Value is what a request sent for a parameter, which changes from row to row. Its readers
// return false where nothing was sent and where it was refused.
type Value struct {
	*Param

	input    calendar.Input
	problems *calendar.Problems
	missing  []string
}

// NewValue returns a value that reads any parameter of a request.
func NewValue(input calendar.Input, problems *calendar.Problems) *Value {
	return &Value{input: input, problems: problems}
}

// Missing returns the error that names the required parameters that were not sent, or nil.
func (v *Value) Missing() error {
	if v.missing == nil {
		return nil
	}
	return &calendar.Error{Code: calendar.CodeMissingParam, Missing: v.missing}
}

// Of turns to another parameter. nil: one of other tables, for which nothing is sent.
func (v *Value) Of(param *Param) *Value {
	v.Param = cmp.Or(param, &unknown)
	if _, sent := v.Sent(); v.Required && !sent {
		v.missing = append(v.missing, v.Name)
	}
	return v
}

// unknown is a parameter that nothing is sent for.
var unknown Param

// Sent returns what was sent.
func (v *Value) Sent() (any, bool) {
	sent, ok := v.input[v.Name]
	return sent, ok
}

// Refuse adds a problem of the parameter.
func (v *Value) Refuse(reason calendar.Reason, args ...string) {
	v.problems.Add(v.Name, reason, args...)
}

// Raw returns a text as it was sent, which may be empty. It refuses what is no text.
func (v *Value) Raw() (string, bool) {
	sent, ok := v.Sent()
	text, isText := sent.(string)
	if ok && !isText {
		v.Refuse(calendar.ReasonTypeText)
	}
	return text, isText
}

// Plain returns a text, trimmed. Empty text is refused, and for reason what is no text.
func (v *Value) Plain(reason calendar.Reason) (string, bool) {
	sent, ok := v.Sent()
	if !ok {
		return "", false
	}
	text, ok := sent.(string)
	if !ok && sent != nil {
		v.Refuse(reason)
		return "", false
	}
	if text = calendar.Trim(text); text == "" {
		v.Refuse(calendar.ReasonEmpty)
		return "", false
	}
	return text, true
}

// Text reads a text of at most as many characters as the row says.
func (v *Value) Text() (string, bool) {
	text, ok := v.Plain(calendar.ReasonTypeText)
	if !ok || !v.Fits(text) {
		return "", false
	}
	return text, true
}

// Fits refuses a text of more characters than the row says.
func (v *Value) Fits(text string) bool {
	limit, limited := v.Schema["maxLength"].(float64)
	fits := !limited || utf8.RuneCountInString(text) <= int(limit)
	if !fits {
		v.Refuse(calendar.ReasonTooLong, decimal(limit))
	}
	return fits
}

// parsed reads a text by a parser and refuses for reason what that does not take.
func parsed[T any](v *Value, parse func(any) (T, bool), reason calendar.Reason) (value T, ok bool) {
	text, ok := v.Plain(reason)
	if !ok {
		return value, false
	}
	if value, ok = parse(text); !ok {
		v.Refuse(reason)
	}
	return value, ok
}

// Bool reads a boolean.
func (v *Value) Bool() (value, ok bool) {
	return parsed(v, calendar.ParseBool, calendar.ReasonTypeBool)
}

// ID reads the id of a record.
func (v *Value) ID() (calendar.ID, bool) { return parsed(v, calendar.ParseID, calendar.ReasonTypeID) }

// Number reads a number within the bounds of the row.
func (v *Value) Number() (float64, bool) {
	n, ok := parsed(v, calendar.ParseNumber, calendar.ReasonTypeNumber)
	return n, ok && v.within(n)
}

// Date reads a date of interface 2.4, of the years 0001–9999 as it is compared.
func (v *Value) Date(now time.Time, site *time.Location) (date calendar.Date, ok bool) {
	text, ok := v.Plain(calendar.ReasonTypeDate)
	if !ok {
		return date, false
	}
	if date, ok = calendar.ParseDate(text); !ok {
		v.Refuse(calendar.ReasonDate)
		return date, false
	}
	if date.IsInstant() {
		site = time.UTC
	}
	if ok = date.Wall(now, site).InYears(); !ok {
		v.Refuse(calendar.ReasonDateRange)
	}
	return date, ok
}

// Whole reads a whole number within the bounds of the row.
func (v *Value) Whole() (int64, bool) {
	n, ok := parsed(v, calendar.ParseNearestInt, calendar.ReasonTypeInteger)
	return n, ok && v.within(float64(n))
}

// Int reads a whole number, the default of the row where there is none.
func (v *Value) Int() int {
	n, ok := v.Whole()
	if !ok {
		n, _ = strconv.ParseInt(v.Standard(), 10, 64)
	}
	return int(n)
}

// within refuses a number beyond the bounds of the row.
func (v *Value) within(n float64) bool {
	least, hasLeast := v.Schema["minimum"].(float64)
	above, hasAbove := v.Schema["exclusiveMinimum"].(float64)
	most, hasMost := v.Schema["maximum"].(float64)
	switch {
	case (!hasLeast || n >= least) && (!hasAbove || n > above) && (!hasMost || n <= most):
		return true
	case hasAbove:
		v.Refuse(calendar.ReasonRangeAbove, decimal(above), decimal(most))
	case hasMost:
		v.Refuse(calendar.ReasonRange, decimal(least), decimal(most))
	default:
		v.Refuse(calendar.ReasonTooSmall, decimal(least))
	}
	return false
}

func decimal(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// Word reads one of the words of the parameter.
func (v *Value) Word() (string, bool) {
	word, ok := v.Text()
	return word, ok && v.Known(word)
}

// Words reads some of the words of the parameter.
func (v *Value) Words() []string { return v.WordsOf(v.Enum) }

// WordsOf reads some of the words that are known.
func (v *Value) WordsOf(known []string) []string {
	words := v.List()
	for _, word := range words {
		if !v.known(word, known) {
			return nil
		}
	}
	return words
}

// Known reports whether a word is one of the parameter, and refuses it otherwise.
func (v *Value) Known(word string) bool { return v.known(word, v.Enum) }

func (v *Value) known(word string, words []string) bool {
	if slices.Contains(words, word) {
		return true
	}
	v.Refuse(calendar.ReasonWord, strings.Join(words, ", "))
	return false
}

// List reads the elements of a list; nil if none exists. A list without any element
// is refused.
func (v *Value) List() []string {
	list, ok := v.elements()
	if ok && len(list) == 0 {
		v.Refuse(calendar.ReasonEmpty)
		return nil
	}
	return list
}

// IDs reads a list of ids, each once, since one has several texts: 5 and 05.
func (v *Value) IDs() (ids []calendar.ID) {
	for _, text := range v.List() {
		id, ok := calendar.ParseID(text)
		if !ok {
			v.Refuse(calendar.ReasonTypeID)
			return nil
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Numbers reads a list of numbers, equal ones as often as they were sent.
func (v *Value) Numbers() (numbers []float64) {
	if v.List() == nil {
		return nil
	}
	sent, _ := v.Sent()
	texts, _ := Elements(sent)
	for _, text := range texts {
		n, ok := calendar.ParseNumber(text)
		if !ok {
			v.Refuse(calendar.ReasonTypeNumber)
			return nil
		}
		numbers = append(numbers, n)
	}
	return numbers
}

// Fields reads _fields (interface 2.12): nil for all; empty counts as not sent.
func (v *Value) Fields() []string {
	list, _ := v.elements()
	if len(list) == 0 {
		return nil
	}
	return list
}

// elements reads the elements of a list.
func (v *Value) elements() ([]string, bool) {
	sent, ok := v.Sent()
	if !ok {
		return nil, false
	}
	list, ok := Texts(sent)
	if !ok {
		v.Refuse(calendar.ReasonTypeList)
		return nil, false
	}
	if len(list) > calendar.MaxElements {
		v.Refuse(calendar.ReasonTooMany, strconv.Itoa(calendar.MaxElements))
		return nil, false
	}
	return list, true
}

// Elements returns the elements of a list of texts, trimmed, empty ones skipped; false where
// one is no text.
func Elements(sent any) (texts []string, ok bool) {
	list, isList := sent.([]any)
	if text, isText := sent.(string); isText {
		for element := range strings.SplitSeq(text, ",") {
			list = append(list, element)
		}
	} else if !isList && sent != nil {
		return nil, false
	}
	for _, element := range list {
		text, isText := element.(string)
		if !isText && element != nil {
			return nil, false
		}
		if text = calendar.Trim(text); text != "" {
			texts = append(texts, text)
		}
	}
	return texts, true
}

// Texts are Elements, equal ones once.
func Texts(sent any) ([]string, bool) {
	texts, ok := Elements(sent)
	seen := make(map[string]bool, len(texts))
	return slices.DeleteFunc(texts, func(text string) bool {
		known := seen[text]
		seen[text] = true
		return known
	}), ok
}

// Language reads the language of an answer; otherwise is that without one.
func (v *Value) Language(otherwise calendar.Lang) calendar.Lang {
	return calendar.Language(v.input, otherwise, v.problems)
}
