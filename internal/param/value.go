package param

import (
	"math"
	"slices"
	"strconv"
	"strings"
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

// Text reads a text of at most limit characters; 0: without a limit.
func (v *Value) Text(limit int) (string, bool) {
	text, ok := v.Plain(calendar.ReasonTypeText)
	if ok && limit > 0 && utf8.RuneCountInString(text) > limit {
		v.Refuse(calendar.ReasonTooLong, strconv.Itoa(limit))
		return "", false
	}
	return text, ok
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

// Number reads a number.
func (v *Value) Number() (float64, bool) {
	return parsed(v, calendar.ParseNumber, calendar.ReasonTypeNumber)
}

// Date reads a date of interface 2.4.
func (v *Value) Date() (date calendar.Date, ok bool) {
	text, ok := v.Plain(calendar.ReasonTypeDate)
	if !ok {
		return date, false
	}
	if date, ok = calendar.ParseDate(text); !ok {
		v.Refuse(calendar.ReasonDate)
	}
	return date, ok
}

// Whole reads a whole number within bounds; math.MaxInt64 is no bound.
func (v *Value) Whole(least, most int64) (int64, bool) {
	n, ok := parsed(v, calendar.ParseNearestInt, calendar.ReasonTypeInteger)
	return n, ok && v.within(n, least, most)
}

// From reads a whole number from the least one of the parameter on. It refuses an empty text as
// another type.
func (v *Value) From() (int64, bool) {
	sent, ok := v.Sent()
	if !ok {
		return 0, false
	}
	n, ok := calendar.ParseNearestInt(sent)
	if !ok {
		v.Refuse(calendar.ReasonTypeInteger)
		return 0, false
	}
	return n, v.within(n, v.Bound("minimum"), math.MaxInt64)
}

func (v *Value) within(n, least, most int64) bool {
	switch {
	case n >= least && n <= most:
		return true
	case most == math.MaxInt64:
		v.Refuse(calendar.ReasonTooSmall, strconv.FormatInt(least, 10))
	default:
		v.Refuse(calendar.ReasonRange, strconv.FormatInt(least, 10), strconv.FormatInt(most, 10))
	}
	return false
}

// Word reads one of the words of the parameter.
func (v *Value) Word() (string, bool) {
	word, ok := v.Text(0)
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

// Texts returns the elements of a list of texts, trimmed, empty ones skipped and equal ones
// once; false where one is no text.
func Texts(sent any) ([]string, bool) {
	switch sent.(type) {
	case nil, string, []any:
	default:
		return nil, false
	}
	parsed := calendar.ParseList(sent)
	list := make([]string, len(parsed))
	for i, value := range parsed {
		text, ok := value.(string)
		if !ok {
			return nil, false
		}
		list[i] = text
	}
	return list, true
}

// Language reads the language of an answer; otherwise is that without one.
func (v *Value) Language(otherwise calendar.Lang) calendar.Lang {
	return calendar.Language(v.input, otherwise, v.problems)
}
