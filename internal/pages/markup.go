package pages

import "strings"

// markup writes HTML; what is not raw is escaped for texts and quoted attributes.
type markup struct{ b []byte }

// raw writes HTML as it is.
func (w *markup) raw(s string) { w.b = append(w.b, s...) }

// text escapes what html/template escapes, but for the plus sign, which needs none in UTF-8:
// media types and offsets stand as they are.
func (w *markup) text(s string) {
	from := 0
	for i := range len(s) {
		var with string
		switch s[i] {
		case 0:
			with = "\uFFFD"
		case '"':
			with = "&#34;"
		case '&':
			with = "&amp;"
		case '\'':
			with = "&#39;"
		case '<':
			with = "&lt;"
		case '>':
			with = "&gt;"
		default:
			continue
		}
		w.b = append(append(w.b, s[from:i]...), with...)
		from = i + 1
	}
	w.b = append(w.b, s[from:]...)
}

// refused is what html/template writes in the place of an address whose scheme may run.
const refused = "#ZgotmplZ"

// runs tells that an address has a scheme that may run.
func runs(s string) bool {
	scheme, _, has := strings.Cut(s, ":")
	return has && !strings.Contains(scheme, "/") && !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") && !strings.EqualFold(scheme, "mailto")
}

// marks are the bytes that stand in an address as they are.
type marks [256]bool

func marksOf(s string) (m marks) {
	for _, c := range []byte(s + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~") {
		m[c] = true
	}
	return m
}

var ofAddress, ofPart, hexDigits = marksOf("!#$*,/:;=?@[]+"), marksOf(""), "0123456789abcdefABCDEF"

// address writes an address of a scheme that was looked at: what may not stand in one is
// written in percents, but for those that stand in it.
func (w *markup) address(s string) { w.percents(s, &ofAddress, true) }

// part writes a text as a part of an address.
func (w *markup) part(s string) { w.percents(s, &ofPart, false) }

func (w *markup) percents(s string, plain *marks, whole bool) {
	isHex := func(i int) bool { return i < len(s) && strings.IndexByte(hexDigits, s[i]) >= 0 }
	from := 0
	for i := range len(s) {
		switch c := s[i]; {
		case plain[c], whole && c == '%' && isHex(i+1) && isHex(i+2):
			continue
		case whole && c == '&':
			w.b = append(append(w.b, s[from:i]...), "&amp;"...)
		default:
			w.b = append(append(w.b, s[from:i]...), '%', hexDigits[c>>4], hexDigits[c&15])
		}
		from = i + 1
	}
	w.raw(s[from:])
}
