package query

import "strconv"

// LinkQuery makes the percent-encoded query of a link to a page (interface 4.3),
// without the question mark. A link to page 1 has no page; without any parameter
// it is "".
func LinkQuery(params []LinkParam, page int) string {
	n := len("page=1000000000")
	for _, p := range params {
		n += len(p.Name) + len(p.Value)*3/2 + 2
	}
	b := make([]byte, 0, n)
	if page > 1 {
		b = append(b, "page="...)
		b = strconv.AppendInt(b, int64(page), 10)
	}
	return string(appendLinks(b, params))
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
