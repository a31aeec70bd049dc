package texts

import (
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
)

// Message returns the text of an error. It names the bad or missing fields; what is wrong
// with a field is FieldMessage.
func Message(problem *calendar.Error, language calendar.Lang) string {
	names := problem.Missing
	if problem.Code == calendar.CodeInvalidParam {
		names = nil
		for _, fieldError := range problem.Fields {
			names = append(names, fieldError.Field)
		}
	}
	key := "code." + string(problem.Code)
	if ofKind := key + "." + problem.Kind.String(); Messages[ofKind] != (calendar.Text{}) {
		key = ofKind
	} else if Messages[key] == (calendar.Text{}) {
		key = "code." + string(calendar.CodeInternal)
	}
	return Messages.In(key, language, strings.Join(names, ", "))
}

// quoting are the reasons whose first argument is text of the client.
var quoting = [...]calendar.Reason{
	calendar.ReasonEntry, calendar.ReasonInline, calendar.ReasonTermRight, calendar.ReasonUnknownEvent, calendar.ReasonUnknownVenue,
	calendar.ReasonUnknownOrganizer, calendar.ReasonUnknownCategory, calendar.ReasonUnknownTag, calendar.ReasonUnknownImage, calendar.ReasonUnknownUser,
}

// FieldMessage returns the text of a refused field, "<field>: …". It says what would be right.
func FieldMessage(fieldError calendar.FieldError, language calendar.Lang) string {
	args := slices.Clone(fieldError.Args)
	if len(args) > 0 && slices.Contains(quoting[:], fieldError.Reason) {
		args[0] = quoted(args[0])
	}
	if fieldError.Reason == calendar.ReasonInline && len(args) > 2 {
		args[1] = FieldMessage(calendar.FieldError{Field: args[1], Reason: calendar.Reason(args[2]), Args: args[3:]}, language)
	}
	key := "reason." + string(fieldError.Reason)
	if Messages[key] == (calendar.Text{}) {
		key = "reason." + string(calendar.ReasonEntry)
	}
	return fieldError.Field + ": " + Messages.In(key, language, args...)
}

// maxQuoted is how much of a client's text a message repeats, in characters.
const maxQuoted = 100

func quoted(text string) string {
	if letters := []rune(text); len(letters) > maxQuoted {
		text = string(letters[:maxQuoted]) + "…"
	}
	return strconv.Quote(text)
}
