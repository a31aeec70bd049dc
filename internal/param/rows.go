package param

import (
	"strconv"

	"daybook/calendar"
)

// The rows that recur in tables.

// Language is the language of an answer.
func Language[T any](to func(*T) *calendar.Lang) Row[T] {
	return Row[T]{
		Param: Param{Name: "multilang_language", In: "query", Type: "string", Text: "arg.language", Enum: calendar.LangNames()},
		Read: func(t *T, v *Value) {
			lang := to(t)
			*lang = v.Language(*lang)
		},
	}
}

// From is a whole number from least on, described by the text of prefix and name.
func From[T any](prefix, name string, least int64, set func(*T, int64)) Row[T] {
	return Row[T]{
		Param: Param{Name: name, In: "query", Type: "integer", Text: prefix + name, Schema: map[string]any{"minimum": least}, Extension: true},
		Read: func(t *T, v *Value) {
			if n, ok := v.From(least); ok {
				set(t, n)
			}
		},
	}
}

// Whole is a whole number within bounds. otherwise is its default; 0: none is declared.
func Whole[T any](name string, otherwise, least, most int, to func(*T) *int) Row[T] {
	p := Param{Name: name, Type: "integer", Schema: map[string]any{"minimum": least, "maximum": most}}
	if otherwise != 0 {
		p.Default = strconv.Itoa(otherwise)
	}
	return Row[T]{Param: p, Read: func(t *T, v *Value) {
		*to(t) = otherwise
		if n, ok := v.Whole(int64(least), int64(most)); ok {
			*to(t) = int(n)
		}
	}}
}

// Flag is a boolean that is false where it was not sent.
func Flag[T any](name string, to func(*T) *bool) Row[T] {
	return Row[T]{
		Param: Param{Name: name, Type: "boolean", Default: "false"},
		Read:  func(t *T, v *Value) { *to(t), _ = v.Bool() },
	}
}

// Word is one of some words.
func Word[T any](name string, words []string, set func(t *T, word string)) Row[T] {
	return Row[T]{Param: Param{Name: name, Type: "string", Enum: words}, Read: func(t *T, v *Value) {
		if word, ok := v.Word(); ok {
			set(t, word)
		}
	}}
}

// Words is a list of some words.
func Words[T any](name string, words []string, to func(*T) *[]string) Row[T] {
	return Row[T]{
		Param: Param{Name: name, Type: "array of string", Enum: words},
		Read:  func(t *T, v *Value) { *to(t) = v.Words() },
	}
}
