package query

import "strconv"

// PageLinks are the links to the pages of one list (interface 4.3).
type PageLinks struct{ first, others, after string }

// LinksTo makes the links to the pages of a list whose address without a query is
// given. What was sent stands in them percent-encoded; a link to page 1 has no page.
func LinksTo(address string, params []LinkParam) PageLinks {
	n := 0
	for _, p := range params {
		n += len(p.Name) + len(p.Value)*3/2 + 2
	}
	q := string(appendLinks(make([]byte, 0, n), params))
	l := PageLinks{first: address, others: address + "?page="}
	if q != "" {
		l.first += "?" + q
		l.after = "&" + q
	}
	return l
}

// Page gives the link to a page.
func (l *PageLinks) Page(page int) string {
	if page <= 1 {
		return l.first
	}
	return l.others + strconv.Itoa(page) + l.after
}

func appendLinks(b []byte, params []LinkParam) []byte {
	for _, p := range params {
		if len(b) > 0 {
			b = append(b, '&')
		}
		b = appendEncoded(b, p.Name)
		b = append(b, '=')
		b = appendEncoded(b, p.Value)
	}
	return b
}

const upperHex = "0123456789ABCDEF"

// appendEncoded percent-encodes everything but the unreserved characters of RFC
// 3986, section 2.3.
func appendEncoded(b []byte, s string) []byte {
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9',
			c == '-', c == '.', c == '_', c == '~':
			b = append(b, c)
		default:
			b = append(b, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return b
}
