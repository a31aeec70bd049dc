package httpapi

import (
	"net/http"
	"strconv"

	"daybook/calendar"
	"daybook/internal/param"
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
	valueGeoJSON  = []string{"application/geo+json"}
	valueText     = []string{"text/plain; charset=utf-8"}
	valueBytes    = []string{"application/octet-stream"}
	valueProblem  = []string{"application/problem+json; charset=utf-8"}
	valueAny      = []string{"*"}
	challenges    = []string{`Basic realm="daybook", charset="UTF-8"`, `Bearer realm="daybook"`}
)

// commonHeaders sets what every answer carries, whatever happens next.
func (call *call) commonHeaders() {
	if call.Pages != nil && call.Pages.NoRobots() {
		call.header["X-Robots-Tag"] = valueNoIndex
	}
	if call.page != nil {
		call.setPageHeaders()
		return
	}
	call.header["X-Content-Type-Options"] = valueNosniff
	call.header["Vary"] = valueVary
	if route := call.route; route != nil {
		if call.header[headerAllow] = route.open; route.Timed && isRead(call.request.Method) {
			call.header["Vary"] = valueVaryTime
		}
	}
	call.crossOrigin()
}

// writeStatus sends the headers of an answer.
func (call *call) writeStatus(status int) {
	call.status = status
	if call.page == nil {
		if texts := call.cacheControl(status); texts != nil {
			call.header[headerCache] = texts
		}
	}
	call.writer.WriteHeader(status)
}

// cacheControl is the value of Cache-Control (2.8), nil for none.
func (call *call) cacheControl(status int) []string {
	route := call.route
	reads := call.feed() || route != nil && route.Kind == calendar.KindEvent && route.Single // a password, whatever becomes of it
	if _, sent := call.request.Header["Authorization"]; sent || reads && call.sentPassword() {
		return valuePrivate
	}
	if !isRead(call.request.Method) {
		return nil
	}
	switch status {
	case http.StatusOK, http.StatusNotModified:
		if call.fresh != nil {
			return call.fresh
		}
		if call.feed() {
			return call.feedFresh
		}
		return call.readFresh
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return valueNoStore
	default:
		if call.fresh != nil {
			return valueNoStore
		}
		return valueAskBack
	}
}

// sentPassword reports whether a password is sent to whatever there is. An empty one
// counts as not sent.
func (call *call) sentPassword() bool {
	for _, pair := range call.query {
		if base, path := param.SplitName(pair.Name); base == "password" && (path != nil || calendar.Trim(pair.Value) != "") {
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
