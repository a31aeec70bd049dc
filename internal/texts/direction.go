package texts

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/bidi"
)

// Isolated returns a text for use inside a sentence: between U+2068 and U+2069 when it
// has letters of right-to-left scripts or marks of direction, which would reorder the text
// around it.
func Isolated(s string) string {
	if !strings.ContainsFunc(s, turns) {
		return s
	}
	return "\u2068" + s + "\u2069"
}

func turns(r rune) bool {
	p, _ := bidi.LookupRune(r)
	rightToLeft := p.Class() == bidi.R || p.Class() == bidi.AL
	return unicode.IsLetter(r) && rightToLeft || strings.ContainsRune("\u200e\u200f\u061c", r)
}
