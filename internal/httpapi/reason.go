package httpapi

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"daybook/calendar"
)

// reasonField is the reason of a change as writes take it: a parameter that no record has.
var reasonField = calendar.Field{
	Name: "reason", Form: calendar.FormDetail, Declared: "string", Empty: calendar.EmptyClears, Extension: true, Max: calendar.MaxReason,
}

// reasonOf reads why a change is made (HISTORY 15): the parameter, else the header.
func reasonOf(input calendar.Input, header http.Header, problems *calendar.Problems) string {
	name, value := reasonField.Name, input[reasonField.Name]
	text, ok := value.(string)
	if value != nil && !ok {
		problems.Add(name, calendar.ReasonTypeText)
		return ""
	}
	text = calendar.PlainReason(text)
	if text == "" {
		name = headerReason
		sent := header.Get(headerReason)
		plain, err := url.PathUnescape(sent)
		if err != nil || !utf8.ValidString(plain) || !isPrintable(sent) {
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

// isPrintable reports whether a text has printable characters of ASCII only.
func isPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}
