package texts

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/bidi"
)

// Isolated returns a text for use inside a sentence: between U+2068 and U+2069 when it
// has letters of right-to-left scripts or marks of direction, which would reorder the text
// around it.
func Isolated(text string) string {
	if !strings.ContainsFunc(text, turns) {
		return text
	}
	return "\u2068" + text + "\u2069"
}

func turns(letter rune) bool {
	properties, _ := bidi.LookupRune(letter)
	rightToLeft := properties.Class() == bidi.R || properties.Class() == bidi.AL
	return unicode.IsLetter(letter) && rightToLeft || strings.ContainsRune("\u200e\u200f\u061c", letter)
}
