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
func (given *Value) Missing() error {
	if given.missing == nil {
		return nil
	}
	return &calendar.Error{Code: calendar.CodeMissingParam, Missing: given.missing}
}

// Of turns to another parameter. nil: one of other tables, for which nothing is sent.
func (given *Value) Of(param *Param) *Value {
	given.Param = cmp.Or(param, &unknown)
	if _, sent := given.Sent(); given.Required && !sent {
		given.missing = append(given.missing, given.Name)
	}
	return given
}

// unknown is a parameter that nothing is sent for.
var unknown Param

// Sent returns what was sent.
func (given *Value) Sent() (any, bool) {
	sent, ok := given.input[given.Name]
	return sent, ok
}

// Refuse adds a problem of the parameter.
func (given *Value) Refuse(reason calendar.Reason, args ...string) {
	given.problems.Add(given.Name, reason, args...)
}

// Raw returns a text as it was sent, which may be empty. It refuses what is no text.
func (given *Value) Raw() (string, bool) {
	sent, ok := given.Sent()
	text, isText := sent.(string)
	if ok && !isText {
		given.Refuse(calendar.ReasonTypeText)
	}
	return text, isText
}

// Plain returns a text, trimmed. Empty text is refused, and for reason what is no text.
func (given *Value) Plain(reason calendar.Reason) (string, bool) {
	sent, ok := given.Sent()
	if !ok {
		return "", false
	}
	text, ok := sent.(string)
	if !ok && sent != nil {
		given.Refuse(reason)
		return "", false
	}
	if text = calendar.Trim(text); text == "" {
		given.Refuse(calendar.ReasonEmpty)
		return "", false
	}
	return text, true
}

// Text reads a text of at most as many characters as the row says.
func (given *Value) Text() (string, bool) {
	text, ok := given.Plain(calendar.ReasonTypeText)
	if !ok || !given.Fits(text) {
		return "", false
	}
	return text, true
}

// Fits refuses a text of more characters than the row says.
func (given *Value) Fits(text string) bool {
	limit, limited := given.Schema["maxLength"].(float64)
	fits := !limited || utf8.RuneCountInString(text) <= int(limit)
	if !fits {
		given.Refuse(calendar.ReasonTooLong, decimal(limit))
	}
	return fits
}

// parsed reads a text by a parser and refuses for reason what that does not take.
func parsed[T any](given *Value, parse func(any) (T, bool), reason calendar.Reason) (value T, ok bool) {
	text, ok := given.Plain(reason)
	if !ok {
		return value, false
	}
	if value, ok = parse(text); !ok {
		given.Refuse(reason)
	}
	return value, ok
}

// Bool reads a boolean.
func (given *Value) Bool() (value, ok bool) {
	return parsed(given, calendar.ParseBool, calendar.ReasonTypeBool)
}

// ID reads the id of a record.
func (given *Value) ID() (calendar.ID, bool) {
	return parsed(given, calendar.ParseID, calendar.ReasonTypeID)
}

// Number reads a number within the bounds of the row.
func (given *Value) Number() (float64, bool) {
	number, ok := parsed(given, calendar.ParseNumber, calendar.ReasonTypeNumber)
	return number, ok && given.within(number)
}

// Date reads a date of interface 2.4, of the years 0001–9999 as it is compared.
func (given *Value) Date(now time.Time, site *time.Location) (date calendar.Date, ok bool) {
	text, ok := given.Plain(calendar.ReasonTypeDate)
	if !ok {
		return date, false
	}
	if date, ok = calendar.ParseDate(text); !ok {
		given.Refuse(calendar.ReasonDate)
		return date, false
	}
	if date.IsInstant() {
		site = time.UTC
	}
	if ok = date.Wall(now, site).InYears(); !ok {
		given.Refuse(calendar.ReasonDateRange)
	}
	return date, ok
}

// Whole reads a whole number within the bounds of the row.
func (given *Value) Whole() (int64, bool) {
	number, ok := parsed(given, calendar.ParseNearestInt, calendar.ReasonTypeInteger)
	return number, ok && given.within(float64(number))
}

// Int reads a whole number, the default of the row where there is none.
func (given *Value) Int() int {
	number, ok := given.Whole()
	if !ok {
		number, _ = strconv.ParseInt(given.Standard(), 10, 64)
	}
	return int(number)
}

// within refuses a number beyond the bounds of the row.
func (given *Value) within(number float64) bool {
	least, hasLeast := given.Schema["minimum"].(float64)
	above, hasAbove := given.Schema["exclusiveMinimum"].(float64)
	most, hasMost := given.Schema["maximum"].(float64)
	switch {
	case (!hasLeast || number >= least) && (!hasAbove || number > above) && (!hasMost || number <= most):
		return true
	case hasAbove:
		given.Refuse(calendar.ReasonRangeAbove, decimal(above), decimal(most))
	case hasMost:
		given.Refuse(calendar.ReasonRange, decimal(least), decimal(most))
	default:
		given.Refuse(calendar.ReasonTooSmall, decimal(least))
	}
	return false
}

func decimal(number float64) string { return strconv.FormatFloat(number, 'f', -1, 64) }

// Word reads one of the words of the parameter.
func (given *Value) Word() (string, bool) {
	word, ok := given.Text()
	return word, ok && given.Known(word)
}

// Words reads some of the words of the parameter.
func (given *Value) Words() []string { return given.WordsOf(given.Enum) }

// WordsOf reads some of the words that are known.
func (given *Value) WordsOf(known []string) []string {
	words := given.List()
	for _, word := range words {
		if !given.known(word, known) {
			return nil
		}
	}
	return words
}

// Known reports whether a word is one of the parameter, and refuses it otherwise.
func (given *Value) Known(word string) bool { return given.known(word, given.Enum) }

func (given *Value) known(word string, words []string) bool {
	if slices.Contains(words, word) {
		return true
	}
	given.Refuse(calendar.ReasonWord, strings.Join(words, ", "))
	return false
}

// List reads the elements of a list; nil if none exists. A list without any element
// is refused.
func (given *Value) List() []string {
	list, ok := given.elements()
	if ok && len(list) == 0 {
		given.Refuse(calendar.ReasonEmpty)
		return nil
	}
	return list
}

// IDs reads a list of ids, each once, since one has several texts: 5 and 05.
func (given *Value) IDs() (ids []calendar.ID) {
	for _, text := range given.List() {
		id, ok := calendar.ParseID(text)
		if !ok {
			given.Refuse(calendar.ReasonTypeID)
			return nil
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Numbers reads a list of numbers, equal ones as often as they were sent.
func (given *Value) Numbers() (numbers []float64) {
	if given.List() == nil {
		return nil
	}
	sent, _ := given.Sent()
	texts, _ := Elements(sent)
	for _, text := range texts {
		number, ok := calendar.ParseNumber(text)
		if !ok {
			given.Refuse(calendar.ReasonTypeNumber)
			return nil
		}
		numbers = append(numbers, number)
	}
	return numbers
}

// Fields reads _fields (interface 2.12): nil for all; empty counts as not sent.
func (given *Value) Fields() []string {
	list, _ := given.elements()
	if len(list) == 0 {
		return nil
	}
	return list
}

// elements reads the elements of a list.
func (given *Value) elements() ([]string, bool) {
	sent, ok := given.Sent()
	if !ok {
		return nil, false
	}
	list, ok := Texts(sent)
	if !ok {
		given.Refuse(calendar.ReasonTypeList)
		return nil, false
	}
	if len(list) > calendar.MaxElements {
		given.Refuse(calendar.ReasonTooMany, strconv.Itoa(calendar.MaxElements))
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
func (given *Value) Language(otherwise calendar.Lang) calendar.Lang {
	return calendar.Language(given.input, otherwise, given.problems)
}
