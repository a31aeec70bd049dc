package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"

	"daybook/calendar"
	"daybook/command"
	"daybook/internal/formats"
	"daybook/internal/httpapi/admit"
	public "daybook/internal/pages"
	"daybook/internal/param"
	"daybook/query"
)

// call is one request: what is known of it, and its way to the answer.
type call struct {
	*api

	writer   http.ResponseWriter
	header   http.Header // of the answer
	request  *http.Request
	chi      chi.Context
	location location
	from     origin
	root     root           // none when the path has no known namespace
	route    *route         // nil: the path is none of the interface
	page     *pageRequest   // nil: the path is none of a page
	target   command.Target // the record that the path names
	sentParams

	caller  calendar.Caller
	counted bool // in the rate
	query   param.Pairs
	format  *formats.Format // of the list, and of a single event in another one than JSON; nil elsewhere
	record  *query.View     // that the events of a list are of; nil for all
	// reached is the position that a list waited for, of which sent was asked for: the
	// answer is not older.
	reached, sent calendar.Position
	// state is what the answer is made from, and cacheKey names the answer within it; "": it is
	// made for this request alone.
	state    query.Generation
	cacheKey string
	lists    public.Lists    // that are asked: those of the present, or of a point in time
	criteria *query.Criteria // of a list
	buffer   *[]byte         // that the bytes of the answer are in; nil: in none
	// lastGood is the key under which the answer is cached for the time in which the read model
	// is out of reach; "": it is not, as the operator does not allow it.
	lastGood string
	// fresh is Cache-Control of an answer that reports the past, whose errors no one
	// keeps; nil: it is one of the present.
	fresh []string
	// lang is the language of the request as far as it is known: that of the
	// root, then a good selector in the query, then one in the body.
	language calendar.Lang
	started  time.Time
	status   int       // of the answer, 0 while there is none
	id       [1]string // of the request, as the header has it
	cache    CacheUse
	code     calendar.Code // of the error that was answered
	pass     admit.Pass    // used by the goroutine of the request alone
	// client ends when the client goes away. The context stands on it and ends with the time for the
	// work, which begins again after waiting; end ends it.
	client, context context.Context //nolint:containedctx // as http.Request has one
	end             context.CancelFunc
}

type callKey struct{}

// ServeHTTP implements http.Handler: the way of every request.
func (api *api) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
	c := &call{api: api, lists: api.Queries, writer: writer, header: writer.Header(), request: request, started: api.Now(), from: api.roots.origin(request), query: param.ParsePairs(request.URL.RawQuery)}
	c.location = api.roots.locate(request.URL.EscapedPath(), c.from.path)
	c.language = c.location.language
	if language, ok := calendar.ParseLang(c.query.Last("multilang_language")); ok {
		c.language = language
	}
	c.id[0] = c.requestID()
	c.header[headerRequestID] = c.id[:]
	ctx := request.Context()
	var report func(Answered)
	if api.Observe != nil {
		ctx, report = api.Observe(request, c.id[0])
	}
	c.client = context.WithValue(ctx, callKey{}, c)
	limit := api.ReadDeadline
	if !isRead(request.Method) {
		limit = api.WriteDeadline
	}
	c.begin(limit)
	defer func() { c.end() }()
	defer c.freeBuffer()
	defer c.finish(report)
	defer c.pass.Leave()
	defer c.answerPanic()
	if err := c.answer(); err != nil {
		c.fail(err)
	}
}

// isRead reports whether a method reads, whatever the route.
func isRead(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// maxRequestID bounds X-Request-Id, in characters.
const maxRequestID = 128

// requestID is what the log calls the request: X-Request-Id where the client
// sent a short and plain one: nothing that a line of a log would have to quote. Otherwise it is
// made up, and no secret.
func (call *call) requestID() string {
	if sent := call.request.Header[headerRequestID]; len(sent) == 1 && sent[0] != "" && len(sent[0]) <= maxRequestID && isMadeOf(sent[0], plainSigns+":/+@") {
		return sent[0]
	}
	return fmt.Sprintf("%016x", rand.Uint64())
}

// answer finds what answers a request, and lets it in.
func (call *call) answer() error {
	if call.location.mount != nil {
		call.route = findRoute(&call.chi, call.location.rest)
	} else {
		call.page = call.findPage()
	}
	call.commonHeaders()
	if call.closed != "" {
		return refusal(call.closed)
	}
	// Whose credentials are not known to be good takes no slot of those who have none.
	first := admit.Work
	if call.sendsCredentials() {
		first = admit.Login
	}
	call.pass = call.rooms.Arrive(call.request)
	if err := call.pass.Enter(first, 1); err != nil {
		return err
	}
	if first == admit.Work {
		if err := call.count(); err != nil {
			return err
		}
	}
	switch request := call.request; {
	case len(request.Method)+len(request.RequestURI)+len(request.Proto)+2 > maxRequestLine:
		return refusal(calendar.CodeURITooLong)
	case request.Host != "" && !isHost(request.Host):
		call.problems.Add("Host", calendar.ReasonHeaderHost)
		return call.problems.Err()
	case !utf8.ValidString(request.URL.Path):
		return refusal(calendar.CodeNoRoute)
	case call.page != nil:
		return call.answerPage()
	case call.route == nil:
		return refusal(calendar.CodeNoRoute)
	}
	call.root, call.target = rootOf(call.from, call.location.mount, call.roots.seed), call.targetOf()
	return call.answerRoute()
}

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

// answerRoute answers a request to a route of the interface: step 2 of section 7.2 is on
// writes where they come from, credentials, and on writes the general right.
func (call *call) answerRoute() error {
	route, method := call.route, call.request.Method
	work := route.works[method]
	if work == nil || method == http.MethodOptions {
		call.header[headerAllow] = route.allow
	}
	if work == nil {
		return refusal(calendar.CodeMethodNotAllowed)
	}
	reads := call.reads()
	if !reads && call.fromForeignPage() {
		return cmp.Or[error](call.count(), refusal(calendar.CodeForbiddenOrigin))
	}
	if err := call.login(); err != nil {
		return err
	}
	var refused error
	if !reads || call.caller.Role != calendar.Anonymous {
		refused = calendar.MayWrite(call.caller, route.Kind)
		if route.writes && refused == nil {
			call.header[headerAllow] = route.allow
		}
	}
	if reads { // writes name all that is wrong at once
		problems := calendar.Problems{Fields: call.query.Invalid()}
		refused = problems.Err()
	}
	if refused != nil && method != http.MethodOptions {
		return refused
	}
	return work(call)
}

// reads reports whether a request only reads: OPTIONS and a POST that asks do, too.
func (call *call) reads() bool {
	method := call.request.Method
	return isRead(method) || method == http.MethodOptions || method == http.MethodPost && call.route.asks()
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

// begin begins work that may take so long, in place of that of before.
func (call *call) begin(limit time.Duration) {
	if call.end != nil {
		call.end()
	}
	call.context, call.end = context.WithTimeout(call.client, limit)
}

// sendsCredentials reports whether a request comes with credentials that are read: pages read
// them for previews alone.
func (call *call) sendsCredentials() bool {
	_, sent := call.request.Header["Authorization"]
	return sent && (call.page == nil || call.page.Preview)
}

// answerPanic is deferred by serve: it logs a panic and answers it.
func (call *call) answerPanic() {
	value := recover()
	switch value {
	case nil:
		return
	case http.ErrAbortHandler:
		panic(value)
	}
	call.log().ErrorContext(call.context, "request panicked", "panic", value, "stack", string(debug.Stack()))
	if call.status == 0 {
		call.fail(refusal(calendar.CodeInternal))
	}
}

// login reads the credentials of a request, and brings it to work.
func (call *call) login() error {
	caller, err := call.Users.Authenticate(call.context, strings.Join(call.request.Header["Authorization"], ", "))
	call.caller = caller
	if err = cmp.Or(call.count(), err); err != nil {
		return err
	}
	switch {
	case caller.Role != calendar.Anonymous:
		return call.pass.Identify(caller.ID)
	case call.pass.Stage == admit.Login: // an empty header
		return call.pass.Enter(admit.Work, 1)
	}
	return nil
}
