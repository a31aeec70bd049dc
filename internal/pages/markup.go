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

// address writes an address of a scheme that was looked at; what may not stand in one is
// written in percents.
func (w *markup) address(s string) { w.percents(s, "-._~!#$*,/:;=?@[]&+%") }

// fragment writes a part of an address in percents.
func (w *markup) fragment(s string) { w.percents(s, "-._~") }

// percents writes letters, digits and those of plain as they are; % only where it stands
// before two digits of its kind.
func (w *markup) percents(s, plain string) {
	const hex = "0123456789abcdef"
	isHex := func(i int) bool { return i < len(s) && strings.IndexByte("0123456789abcdefABCDEF", s[i]) >= 0 }
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
			w.b = append(w.b, c)
		case strings.IndexByte(plain, c) < 0, c == '%' && (!isHex(i+1) || !isHex(i+2)):
			w.b = append(w.b, '%', hex[c>>4], hex[c&15])
		case c == '&':
			w.raw("&amp;")
		default:
			w.b = append(w.b, c)
		}
	}
}
