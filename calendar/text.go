package calendar

import (
	"net/url"
	"strings"
	"unicode"
)

// isWebURL reports whether s is an absolute http or https URL with a host.
// International host names are allowed; white space is not, nor are the
// characters < > " that no URL has.
func isWebURL(s string) bool {
	if strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || r == '<' || r == '>' || r == '"' || r == unicode.ReplacementChar
	}) {
		return false
	}
	u, err := url.Parse(s)
	if err != nil || u.Opaque != "" || u.Hostname() == "" {
		return false
	}
	return u.Scheme == "http" || u.Scheme == "https" // Parse makes it lower case
}

// isEmail reports whether s is an e-mail address by interface 3.3.1: one @, a
// local part, a domain with a dot; no spaces, quotes or comments. International
// domains are allowed.
func isEmail(s string) bool {
	local, domain, ok := strings.Cut(s, "@")
	if !ok || local == "" || strings.ContainsFunc(local, func(r rune) bool { return !isLocalPart(r) }) {
		return false
	}
	labels := strings.Split(domain, ".")
	if len(labels) < 2 {
		return false
	}
	for _, label := range labels {
		if label == "" || label[0] == '-' || label[len(label)-1] == '-' ||
			strings.ContainsFunc(label, func(r rune) bool { return r != '-' && !isLabel(r) }) {
			return false
		}
	}
	return true
}

// isLocalPart reports whether a character may stand before the @ without quotes
// (RFC 5322 atext and the dot, RFC 6531 for the rest of Unicode).
func isLocalPart(r rune) bool {
	if r < 0x80 {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("!#$%&'*+-/=?^_`{|}~.", r)
	}
	return r != unicode.ReplacementChar && unicode.IsGraphic(r) && !unicode.IsSpace(r)
}

func isLabel(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }
