package param

import "daybook/calendar"

// Language is the row of the language of an answer, which recurs in tables.
func Language[T any](to func(*T) *calendar.Lang) Row[T] {
	return Row[T]{
		Param: Param{Name: "multilang_language", In: "query", Type: "string", Text: "arg.language", Enum: calendar.LangNames()},
		Read: func(t *T, value *Value) {
			lang := to(t)
			*lang = value.Language(*lang)
		},
	}
}
