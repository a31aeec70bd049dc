package texts

import (
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
)

// Message returns the text of an error. It names the bad or missing fields; what is wrong
// with a field is FieldMessage.
func Message(e *calendar.Error, l calendar.Lang) string {
	names := e.Missing
	if e.Code == calendar.CodeInvalidParam {
		names = nil
		for _, f := range e.Fields {
			names = append(names, f.Field)
		}
	}
	key := "code." + string(e.Code)
	if ofKind := key + "." + e.Kind.String(); Messages[ofKind] != (calendar.Text{}) {
		key = ofKind
	} else if Messages[key] == (calendar.Text{}) {
		key = "code." + string(calendar.CodeInternal)
	}
	return Messages.In(key, l, strings.Join(names, ", "))
}

// quoting are the reasons whose first argument is text of the client.
var quoting = [...]calendar.Reason{
	calendar.ReasonEntry, calendar.ReasonInline, calendar.ReasonTermRight, calendar.ReasonUnknownEvent, calendar.ReasonUnknownVenue,
	calendar.ReasonUnknownOrganizer, calendar.ReasonUnknownCategory, calendar.ReasonUnknownTag, calendar.ReasonUnknownImage, calendar.ReasonUnknownUser,
}

// FieldMessage returns the text of a refused field, "<field>: …". It says what would be right.
func FieldMessage(f calendar.FieldError, l calendar.Lang) string {
	args := slices.Clone(f.Args)
	if len(args) > 0 && slices.Contains(quoting[:], f.Reason) {
		args[0] = quoted(args[0])
	}
	if f.Reason == calendar.ReasonInline && len(args) > 2 {
		args[1] = FieldMessage(calendar.FieldError{Field: args[1], Reason: calendar.Reason(args[2]), Args: args[3:]}, l)
	}
	key := "reason." + string(f.Reason)
	if Messages[key] == (calendar.Text{}) {
		key = "reason." + string(calendar.ReasonEntry)
	}
	return f.Field + ": " + Messages.In(key, l, args...)
}

// maxQuoted is how much of a client's text a message repeats, in characters.
const maxQuoted = 100

func quoted(s string) string {
	if r := []rune(s); len(r) > maxQuoted {
		s = string(r[:maxQuoted]) + "…"
	}
	return strconv.Quote(s)
}
