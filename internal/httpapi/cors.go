package httpapi

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"daybook/internal/param"
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

// reads reports whether a request only reads: OPTIONS and a POST that asks do, too.
func (call *call) reads() bool {
	method := call.request.Method
	return isRead(method) || method == http.MethodOptions || method == http.MethodPost && call.route.asks()
}

// crossOrigin sets the headers of section 2.11: reads are open to every origin,
// answers to writes to those of the setting.
func (call *call) crossOrigin() {
	allowed := valueAny
	if !call.reads() {
		from := call.request.Header.Get("Origin")
		if !slices.Contains(call.AllowedOrigins, from) {
			return
		}
		allowed = []string{from}
	}
	call.header["Access-Control-Allow-Origin"], call.header["Access-Control-Expose-Headers"] = allowed, call.expose
}

// fromForeignPage reports whether a page of another site sent a request (2.11): a browser
// sends remembered credentials with any page's form. Pages take forms of this site alone
// (PAGES.md P2.3), and "null" for no origin where the browser says that it is this one.
func (call *call) fromForeignPage() bool {
	origin, site := strings.Join(call.request.Header["Origin"], ", "), call.request.Header.Get("Sec-Fetch-Site")
	foreign := site == "cross-site" || site == "same-site"
	if origin == "" || call.page != nil && (foreign || origin == "null" && site == "same-origin") {
		return foreign
	}
	return !call.isOwnOrigin(origin) && (call.page != nil || !slices.Contains(call.AllowedOrigins, origin))
}

// isOwnOrigin reports whether an origin has the host and port of the base URL or of Host.
func (call *call) isOwnOrigin(origin string) bool {
	from := hostPort(origin)
	scheme, _, _ := strings.Cut(origin, ":")
	return from != "" && (from == hostPort(scheme+"://"+call.request.Host) || from == hostPort(call.from.base))
}

// hostPort returns the host of a web address in lower case with its port, by default that of the
// scheme; "" where it has none.
func hostPort(text string) string {
	address, err := url.Parse(strings.ToLower(text))
	if err != nil || address.Host == "" {
		return ""
	}
	standard := map[string]string{"http": "80", "https": "443"}[address.Scheme]
	if standard == "" {
		return ""
	}
	return address.Hostname() + ":" + cmp.Or(address.Port(), standard)
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
