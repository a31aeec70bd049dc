package calendar

import (
	"strings"
	"unicode"
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

// turns reports whether a character is a letter of the bidi classes R and AL, or a mark.
func turns(r rune) bool {
	switch {
	case r < 0x0590:
		return false
	case r == '\u200e', r == '\u200f', r == '\u061c':
		return true
	}
	return unicode.Is(rightToLeft, r) && unicode.IsLetter(r)
}

// rightToLeft are the blocks of scripts that are written from right to left.
var rightToLeft = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x0590, Hi: 0x08ff, Stride: 1}, {Lo: 0xfb1d, Hi: 0xfdcf, Stride: 1}, {Lo: 0xfdf0, Hi: 0xfdff, Stride: 1}, {Lo: 0xfe70, Hi: 0xfeff, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0x10800, Hi: 0x10fff, Stride: 1}, {Lo: 0x1e800, Hi: 0x1efff, Stride: 1}},
}
