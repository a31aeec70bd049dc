package param

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"daybook/calendar"
)

// HeaderReason is the header that says why a change is made, ReasonField the field.
const (
	HeaderReason = "Daybook-Reason"
	FieldReason  = "reason"
)

// ReadReason reads why a change is made (HISTORY 15): the field, else the header.
func ReadReason(input calendar.Input, header string, problems *calendar.Problems) string {
	name, value := FieldReason, input[FieldReason]
	text, ok := value.(string)
	if value != nil && !ok {
		problems.Add(name, calendar.ReasonTypeText)
		return ""
	}
	if text = calendar.PlainReason(text); text == "" {
		name = HeaderReason
		plain, err := url.PathUnescape(header)
		if err != nil || !utf8.ValidString(plain) || !IsPrintable(header) {
			problems.Add(name, calendar.ReasonHeaderReason)
			return ""
		}
		text = calendar.PlainReason(plain)
	}
	if utf8.RuneCountInString(text) > calendar.MaxReason {
		problems.Add(name, calendar.ReasonTooLong, strconv.Itoa(calendar.MaxReason))
	}
	return text
}

// IsPrintable reports whether a text has printable characters of ASCII only.
func IsPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(letter rune) bool { return letter < ' ' || letter > '~' })
}
