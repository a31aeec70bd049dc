package param

import "daybook/calendar"

// The rows that recur in tables.

// Language is the language of an answer.
func Language[T any](to func(*T) *calendar.Lang) Row[T] {
	return Row[T]{
		Param: Param{Name: "multilang_language", In: "query", Type: "string", Text: "arg.language", Enum: calendar.LangNames()},
		Read: func(t *T, value *Value) {
			lang := to(t)
			*lang = value.Language(*lang)
		},
	}
}

// From is a whole number from least on, described by the text of prefix and name.
func From[T any](prefix, name string, least int64, set func(*T, int64)) Row[T] {
	return Row[T]{
		Param: Param{Name: name, In: "query", Type: "integer", Text: prefix + name, Schema: map[string]any{"minimum": float64(least)}, Extension: true},
		Read: func(t *T, value *Value) {
			if n, ok := value.Whole(); ok {
				set(t, n)
			}
		},
	}
}
