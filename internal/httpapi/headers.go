package httpapi

import (
	"net/http"
	"strings"
)

// The headers of the interface (2.8), in the spelling of net/http.
const (
	headerAllow       = "Allow"
	headerETag        = "Etag"
	headerLink        = "Link"
	headerLocation    = "Location"
	headerPosition    = "Daybook-Position"
	headerMinPosition = "Daybook-Min-Position"
	headerKey         = "Idempotency-Key"
	headerReplayed    = "Idempotency-Replayed"
	headerTotal       = "X-Total"
	headerTotalPages  = "X-Totalpages"
	headerRetry       = "Retry-After"
	headerChallenge   = "Www-Authenticate"
	headerLanguage    = "Content-Language"
	headerModified    = "Last-Modified"
	headerType        = "Content-Type"
	headerLength      = "Content-Length"
	headerCache       = "Cache-Control"
	headerWarning     = "Warning"
)

// Values that many answers share; nobody changes them.
var (
	valueNosniff = []string{"nosniff"}
	valueVary    = []string{"Accept, Authorization, Origin"}
	valuePrivate = []string{"no-store, private"}
	valueJSON    = []string{"application/json; charset=utf-8"}
	valueProblem = []string{"application/problem+json; charset=utf-8"}
	valueRetry   = []string{retryAfter}
	valueAny     = []string{"*"}
	valueTrue    = []string{"true"}
	challenges   = []string{`Basic realm="daybook", charset="UTF-8"`, `Bearer realm="daybook"`}
)

// commonHeaders sets what every answer carries, whatever happens next.
func (a *api) commonHeaders(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h["X-Content-Type-Options"] = valueNosniff
	h["Vary"] = valueVary
	if _, ok := r.Header["Authorization"]; ok {
		h[headerCache] = valuePrivate
	}
	a.crossOrigin(h, r)
}

// isToken tells whether a text is a token of RFC 9110, section 5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}
