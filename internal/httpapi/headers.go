package httpapi

import (
	"net/http"
	"strconv"

	"daybook/calendar"
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
	headerEncoding    = "Content-Encoding"
	headerCache       = "Cache-Control"
	headerWarning     = "Warning"
	headerDisposition = "Content-Disposition"

	// Those of the past (HISTORY 7.1, 8).
	headerAcceptTime      = "Accept-Datetime"
	headerMemento         = "Memento-Datetime"
	headerContentLocation = "Content-Location"
	headerGroups          = "Cache-Groups"
	headerReason          = "Daybook-Reason"
	headerLastEvent       = "Last-Event-ID"
)

// Values that many answers share; no one changes them.
var (
	valueNosniff = []string{"nosniff"}
	valueNoIndex = []string{"noindex"}
	valueVary    = []string{"Accept, Accept-Encoding, Authorization, Origin"}
	// Single reads by id and lists are negotiated by time, too.
	valueVaryTime = []string{valueVary[0] + ", " + headerAcceptTime}
	valuePrivate  = []string{"no-store, private"}
	valueAskBack  = []string{"public, no-cache"}
	valueNoStore  = []string{"no-store"}
	valueForever  = []string{cacheForever}
	valueJSON     = []string{"application/json; charset=utf-8"}
	valueText     = []string{"text/plain; charset=utf-8"}
	valueBytes    = []string{"application/octet-stream"}
	valueProblem  = []string{"application/problem+json; charset=utf-8"}
	valueRetry    = []string{retryAfter}
	// A list of the past takes longer to prepare, and so does an open stream to end.
	valueRetryLater = []string{"5"}
	valueAny        = []string{"*"}
	valueTrue       = []string{"true"}
	challenges      = []string{`Basic realm="daybook", charset="UTF-8"`, `Bearer realm="daybook"`}
)

// commonHeaders sets what every answer carries, whatever happens next.
func (c *call) commonHeaders() {
	header := c.w.Header()
	if c.o.Pages != nil && c.o.Pages.NoRobots() {
		header["X-Robots-Tag"] = valueNoIndex
	}
	if c.page != nil {
		c.setPageHeaders(header)
		return
	}
	header["X-Content-Type-Options"] = valueNosniff
	header["Vary"] = valueVary
	if route := c.route; route != nil {
		if header[headerAllow] = route.open; route.Timed && isRead(c.r.Method) {
			header["Vary"] = valueVaryTime
		}
	}
	c.crossOrigin(header)
}

// writeStatus sends the headers of an answer.
func (c *call) writeStatus(status int) {
	c.status = status
	if c.page == nil {
		if texts := c.cacheControl(status); texts != nil {
			c.w.Header()[headerCache] = texts
		}
	}
	c.w.WriteHeader(status)
}

// cacheControl is the value of Cache-Control (2.8), nil for none.
func (c *call) cacheControl(status int) []string {
	if _, sent := c.r.Header["Authorization"]; sent || c.sendsPassword() || c.feed() && c.sentPassword() {
		return valuePrivate
	}
	if !isRead(c.r.Method) {
		return nil
	}
	switch status {
	case http.StatusOK, http.StatusNotModified:
		if c.fresh != nil {
			return c.fresh
		}
		if c.feed() {
			return c.feedFresh
		}
		return c.readFresh
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return valueNoStore
	default:
		if c.fresh != nil {
			return valueNoStore
		}
		return valueAskBack
	}
}

// sendsPassword reports whether a password is sent to a single event, whatever
// becomes of it.
func (c *call) sendsPassword() bool {
	route := c.route
	return route != nil && route.kind == calendar.KindEvent && route.Single && c.sentPassword()
}

// sentPassword reports whether a password is sent to whatever there is. An empty one
// counts as not sent.
func (c *call) sentPassword() bool {
	for _, pair := range c.query {
		if base, path := splitName(pair.name); base == "password" && (path != nil || calendar.Trim(pair.value) != "") {
			return true
		}
	}
	return false
}

// freshness is Cache-Control of answers that anybody may keep for so many seconds, and where
// stale is set for as many more while it asks for a new one: of reads (2.8), of feeds
// (LISTINGS 1.4), and of versions of records (HISTORY 7.1), which never change, but may be
// closed later, so they are not immutable.
func freshness(maxAge int, stale bool) []string {
	if maxAge <= 0 {
		return valueAskBack
	}
	seconds := strconv.Itoa(maxAge)
	if stale {
		seconds += ", stale-while-revalidate=" + seconds
	}
	return []string{"public, max-age=" + seconds}
}
