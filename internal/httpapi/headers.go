package httpapi

import (
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

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
	headerRequestID   = "X-Request-Id"

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

// The headers that scripts of other origins may send and read (2.11).
var (
	corsReadMethods = []string{"GET, HEAD, OPTIONS"}
	corsMaxAge      = []string{"600"}
	corsRequest     = []string{
		"Authorization", "Accept", "Content-Type", "If-Match", "If-None-Match", headerKey, headerMinPosition,
		headerAcceptTime, param.HeaderReason, headerLastEvent,
	}
)

// exposeList is the value of Access-Control-Expose-Headers, with the further names of totals.
func exposeList(further [][2]string) string {
	names := []string{"X-Total", "X-TotalPages"}
	for _, pair := range further {
		names = append(names, pair[:]...)
	}
	return strings.Join(append(names, "Link, ETag, Daybook-Position, Idempotency-Replayed, Location, Allow, Retry-After, WWW-Authenticate, Memento-Datetime, Content-Location, Content-Disposition, Last-Modified"), ", ")
}

// preflight sets what a browser asks for before a request to a route, nil for a read that
// is none of the interface.
func (call *call) preflight(route *route) {
	wanted := call.request.Header.Get("Access-Control-Request-Method")
	from := call.request.Header.Get("Origin")
	if wanted == "" && from == "" {
		return
	}
	call.header["Access-Control-Allow-Methods"] = corsReadMethods
	if route != nil && slices.Contains(call.AllowedOrigins, from) || route.asks() {
		call.header["Access-Control-Allow-Methods"] = route.allow
	}
	names := corsRequest
	if wanted == http.MethodGet || wanted == http.MethodHead {
		names = withRequested(names, call.request.Header.Values("Access-Control-Request-Headers"))
	}
	call.header["Access-Control-Allow-Headers"] = []string{strings.Join(names, ", ")}
	call.header["Access-Control-Max-Age"] = corsMaxAge
}

// The header names of a preflight that are answered.
const (
	maxRequested     = 64
	maxRequestedName = 128 // bytes of one
)

// withRequested adds the header names that a preflight asks for.
func withRequested(names, requested []string) []string {
	texts := slices.Clone(names)
	for name := range strings.SplitSeq(strings.Join(requested, ","), ",") {
		name = strings.TrimSpace(name)
		known := slices.ContainsFunc(texts, func(other string) bool { return strings.EqualFold(name, other) })
		if !known && len(name) <= maxRequestedName && httpguts.ValidHeaderFieldName(name) && len(texts) < len(names)+maxRequested {
			texts = append(texts, name)
		}
	}
	return texts
}
