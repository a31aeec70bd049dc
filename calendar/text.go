package calendar

import (
	"net/url"
	"regexp"
)

// unfitForURL is what no URL has: white space, control characters, < > and ".
var unfitForURL = regexp.MustCompile(`[\p{Z}\p{Cc}<>"\x{FFFD}]`)

// isWebURL reports whether text is an absolute http or https URL with a host.
// International host names are allowed.
func isWebURL(text string) bool {
	address, err := url.Parse(text)
	if err != nil || unfitForURL.MatchString(text) || address.Opaque != "" || address.Hostname() == "" {
		return false
	}
	return address.Scheme == "http" || address.Scheme == "https" // Parse makes it lower case
}

// emailForm is an e-mail address by interface 3.3.1: one @, a local part (RFC 5322 atext and
// the dot, RFC 6531 for the rest of Unicode), a domain with a dot; no spaces, quotes or
// comments. International domains are allowed.
var emailForm = regexp.MustCompile("^(?:[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]|[^\\x00-\\x7F\\p{C}\\p{Z}\\x{FFFD}])+@" +
	emailLabel + `(?:\.` + emailLabel + `)+$`)

// emailLabel is one label of a domain.
const emailLabel = `[\p{L}\p{Nd}\p{M}](?:[\p{L}\p{Nd}\p{M}-]*[\p{L}\p{Nd}\p{M}])?`
