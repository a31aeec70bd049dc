package calendar

import "slices"

// Lang is one of the four languages of the interface (2.6).
type Lang uint8

// The languages, in the order in which the interface lists them. The default is
// LangEN, so Lang values that come from outside go through ParseLang.
const (
	LangCN Lang = iota
	LangEN
	LangFR
	LangES
	langCount
)

// Langs are all languages in the order cn, en, fr, es.
var Langs = [...]Lang{LangCN, LangEN, LangFR, LangES}

var langNames = [...]string{"cn", "en", "fr", "es"}

// LangNames returns the selector values in the order of Langs.
func LangNames() []string { return langNames[:] }

// String returns the selector value: "cn", "en", "fr" or "es".
func (language Lang) String() string { return langNames[language] }

// Tag returns the language tag for headers: "zh-Hans" for cn.
func (language Lang) Tag() string {
	if language == LangCN {
		return "zh-Hans"
	}
	return language.String()
}

// ParseLang reads a selector value.
func ParseLang(text string) (Lang, bool) {
	if i := slices.Index(langNames[:], text); i >= 0 {
		return Lang(i), true
	}
	return LangEN, false
}

// Text is the text of a translatable field in each language; an empty string
// means that the language has none.
type Text [langCount]string

// In returns the text shown in a language: that of language, else that of
// the home language; and the language that the text is in.
func (text Text) In(language, home Lang) (string, Lang) {
	if text[language] != "" {
		return text[language], language
	}
	return text[home], home
}

// IsZero reports whether no language has a text.
func (text Text) IsZero() bool { return text == Text{} }

// MarshalJSON writes an object of the languages that have a text.
func (text Text) MarshalJSON() ([]byte, error) { return appendText(nil, text), nil }
