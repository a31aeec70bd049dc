package query

import (
	"net/url"
	"strconv"
	"strings"
)

// PageLinks are the links to the pages of one list (interface 4.3).
type PageLinks struct{ first, others, after string }

// LinksTo makes the links to the pages of a list whose address without a query is
// given. What was sent stands in them percent-encoded; a link to page 1 has no page.
func LinksTo(address string, params []LinkParam) PageLinks {
	l := PageLinks{first: address, others: address + "?page="}
	var sent strings.Builder
	for _, p := range params {
		sent.WriteByte('&')
		sent.WriteString(encoded(p.Name))
		sent.WriteByte('=')
		sent.WriteString(encoded(p.Value))
	}
	if l.after = sent.String(); l.after != "" {
		l.first += "?" + l.after[1:]
	}
	return l
}

// Page returns the link to a page.
func (l *PageLinks) Page(page int) string {
	if page <= 1 {
		return l.first
	}
	return l.others + strconv.Itoa(page) + l.after
}

// encoded percent-encodes everything but the unreserved characters of RFC 3986, section 2.3.
func encoded(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
