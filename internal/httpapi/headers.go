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

// Values that many answers share; nobody changes them.
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
func (a *api) commonHeaders(w http.ResponseWriter, r *http.Request, c *call) {
	h := w.Header()
	h["X-Content-Type-Options"] = valueNosniff
	h["Vary"] = valueVary
	a.crossOrigin(h, r, c)
}

// status is called before the headers of an answer are sent.
func (a *api) status(w http.ResponseWriter, r *http.Request, status int) {
	c := callOf(r)
	c.status = status
	if c.page != nil {
		w.WriteHeader(status)
		return
	}
	if v := a.cacheControl(r, c, status); v != nil {
		w.Header()[headerCache] = v
	}
	w.WriteHeader(status)
}

// cacheControl is the value of Cache-Control (2.8), nil for none.
func (a *api) cacheControl(r *http.Request, c *call, status int) []string {
	if _, sent := r.Header["Authorization"]; sent || a.sendsPassword(c) || c.feed() && c.sentPassword() {
		return valuePrivate
	}
	if c.beside != nil {
		return valueNoStore
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return nil
	}
	switch status {
	case http.StatusOK, http.StatusNotModified:
		if c.fresh != nil {
			return c.fresh
		}
		if c.feed() {
			return a.feedFresh
		}
		return a.fresh
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return valueNoStore
	default:
		if c.fresh != nil {
			return valueNoStore
		}
		return valueAskBack
	}
}

// versionFreshness is Cache-Control of versions of records (HISTORY 7.1): they never change,
// but may be closed later, so they are not immutable.
func versionFreshness(maxAge int) []string {
	if maxAge == 0 {
		return valueAskBack
	}
	return []string{"public, max-age=" + strconv.Itoa(maxAge)}
}

// sendsPassword tells whether a password is sent to a single event, whatever
// becomes of it.
func (a *api) sendsPassword(c *call) bool {
	if !c.sentPassword() {
		return false
	}
	rt := c.route
	if rt == nil && c.loc.known { // the answer comes before the route
		rt = a.find(c.loc.rest)
	}
	return rt != nil && rt.kind == calendar.KindEvent && rt.single
}

// sentPassword tells whether a password is sent to whatever there is. An empty one
// counts as not sent.
func (c *call) sentPassword() bool {
	for _, p := range c.query {
		if base, path := splitName(p.name); base == "password" && (path != nil || calendar.Trim(p.value) != "") {
			return true
		}
	}
	return false
}

// freshness is Cache-Control of reads that anybody may keep (2.8).
func freshness(maxAge int) []string {
	if maxAge <= 0 {
		return valueAskBack
	}
	s := strconv.Itoa(maxAge)
	return []string{"public, max-age=" + s + ", stale-while-revalidate=" + s}
}

// feedFreshness is Cache-Control of feeds that anybody may keep (LISTINGS 1.4).
func feedFreshness(maxAge int) []string {
	if maxAge < 0 {
		return valueAskBack
	}
	return []string{"public, max-age=" + strconv.Itoa(maxAge)}
}
