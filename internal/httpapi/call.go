package httpapi

import (
	"context"
	"errors"
	"net/http"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"

	"daybook/calendar"
	"daybook/internal/httpapi/admit"
	"daybook/query"
)

// call is what the handlers know about one request.
type call struct {
	chi    chi.Context
	loc    location
	root   *root // nil when the path has no known namespace
	route  *route
	beside *Beside // nil: the path is none beside the interface
	page   *paged  // nil: the path is none of a page
	caller calendar.Caller
	query  []pair
	format *format     // of the list, and of a single event in another one than JSON; nil elsewhere
	record *query.View // that the events of a list are of; nil for all
	// reached is the position that a list waited for, of which sent was asked for: the
	// answer is not older.
	reached, sent calendar.Position
	// fresh is Cache-Control of an answer that tells of the past, whose errors nobody
	// keeps; nil: it is one of the present.
	fresh []string
	// lang is the language of the request as far as it is known: that of the
	// root, then a good selector in the query, then one in the body.
	lang    calendar.Lang
	started time.Time
	status  int       // of the answer, 0 while there is none
	id      [1]string // of the request, as the header has it
	cache   CacheUse
	code    calendar.Code // of the error that was answered
	pass    admit.Pass    // used by the goroutine of the request alone
	// client ends when the client goes away. The context of the request stands on it and
	// ends with the time for the work, which begins again after waiting.
	client context.Context //nolint:containedctx // as http.Request has one
}

type callKey struct{}

// callOf gives the call of a request that came through enter.
func callOf(r *http.Request) *call {
	c, _ := r.Context().Value(callKey{}).(*call)
	return c
}

// enter is the way of every request: it finds the root, sets the headers that
// every answer has, and hands over to the router.
func (a *api) enter(w http.ResponseWriter, r *http.Request) {
	c := &call{started: a.o.Now()}
	from := a.roots.origin(r)
	c.loc = a.roots.locate(r.URL.EscapedPath(), from.path)
	c.lang = c.loc.lang
	c.query = parsePairs(r.URL.RawQuery)
	if l, ok := selectorOf(c.query); ok {
		c.lang = l
	}
	if c.page = a.findPage(r, c, from); c.page != nil {
		a.setPageHeaders(w.Header(), c.page)
	} else {
		a.commonHeaders(w, r, c)
	}
	if a.o.Pages != nil && a.o.Pages.NoRobots() {
		w.Header()["X-Robots-Tag"] = valueNoIndex
	}
	c.id[0] = a.requestID(r)
	w.Header()[headerRequestID] = c.id[:]
	ctx := r.Context()
	if a.o.Trace != nil {
		var end func(string, int)
		ctx, end = a.o.Trace(r, c.id[0])
		defer func() { end(c.pattern(), c.status) }()
	}
	most := a.o.ReadDeadline
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		most = a.o.WriteDeadline
	}
	c.client = context.WithValue(context.WithValue(ctx, callKey{}, c), chi.RouteCtxKey, &c.chi)
	ctx, cancel := c.within(most)
	defer cancel()
	r = r.WithContext(ctx)
	defer a.answered(r, c)
	if c.beside = a.beside(r.URL.Path); c.beside != nil {
		a.commonHeaders(w, r, c)
		c.page = nil
		a.serveBeside(w, r, c)
		return
	}
	if a.closed != "" {
		a.failEarly(w, r, a.closed)
		return
	}
	// Whose credentials are not known to be good takes no slot of those who have none.
	first := admit.Work
	if c.sendsCredentials(r) {
		first = admit.Login
	}
	c.pass = a.rooms.Arrive(r)
	defer c.pass.Leave()
	if !c.pass.Enter(first, 1) {
		a.failEarly(w, r, calendar.CodeUnavailable)
		return
	}
	if first == admit.Work {
		if a.count(w, r, 0) != nil {
			a.failEarly(w, r, calendar.CodeTooManyRequests)
			return
		}
	}
	if len(r.Method)+len(r.RequestURI)+len(r.Proto)+2 > maxRequestLine {
		a.failEarly(w, r, calendar.CodeURITooLong)
		return
	}
	if r.Host != "" && !isHost(r.Host) {
		a.fail(w, r, &calendar.Error{Code: calendar.CodeInvalidParam, Fields: []calendar.FieldError{{Field: "Host", Reason: calendar.ReasonHeaderHost}}})
		return
	}
	if !utf8.ValidString(r.URL.Path) {
		a.fail(w, r, calendar.Fail(calendar.CodeNoRoute, 0))
		return
	}
	if !c.loc.known {
		if c.page != nil {
			a.servePage(w, r, c)
			return
		}
		a.fail(w, r, calendar.Fail(calendar.CodeNoRoute, 0))
		return
	}
	c.root = a.roots.root(from, c.loc)
	c.chi.Reset()
	c.chi.RoutePath = c.loc.rest
	a.mux.ServeHTTP(w, r)
}

// within returns the context of work that begins now and may take so long.
func (c *call) within(limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(c.client, limit)
}

// sendsCredentials tells whether a request comes with credentials that are read: pages read
// them for previews alone.
func (c *call) sendsCredentials(r *http.Request) bool {
	_, sent := r.Header["Authorization"]
	return sent && (c.page == nil || c.page.req.Preview)
}

// failEarly answers an error before the way to the route; the path may have one.
func (a *api) failEarly(w http.ResponseWriter, r *http.Request, code calendar.Code) {
	if c := callOf(r); c.loc.known {
		if rt := a.find(c.loc.rest); rt != nil {
			w.Header()[headerAllow] = rt.allowOpen()
			rt.vary(w.Header(), r.Method)
		}
	} else if c.page != nil {
		c.page.plain = true
	}
	a.fail(w, r, calendar.Fail(code, 0))
}

// serve is the adapter of all handlers: it reads the credentials, checks the
// general right of writes, and answers errors and panics.
func (a *api) serve(rt *route, h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := callOf(r)
		c.route = rt
		defer a.answerPanic(w, r)
		if rt != nil {
			rt.vary(w.Header(), r.Method)
			err := a.admit(w, r, c, rt)
			if err == nil && (r.Method == http.MethodGet || r.Method == http.MethodHead || rt.asks()) { // writes name all that is wrong at once
				if bad := invalidPairs(c.query); bad != nil {
					err = &calendar.Error{Code: calendar.CodeInvalidParam, Fields: bad}
				}
			}
			if err != nil {
				a.fail(w, r, err)
				return
			}
		}
		if err := h(w, r); err != nil {
			a.fail(w, r, err)
		}
	}
}

// answerPanic is deferred by serve: it logs a panic and answers it.
func (a *api) answerPanic(w http.ResponseWriter, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(p)
	}
	a.o.Log.ErrorContext(r.Context(), "request panicked",
		"method", r.Method, "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
	if callOf(r).status == 0 {
		a.fail(w, r, calendar.Fail(calendar.CodeInternal, 0))
	}
}

// admit is step 2 of section 7.2: on writes where they come from, credentials, and on
// writes the general right.
func (a *api) admit(w http.ResponseWriter, r *http.Request, c *call, rt *route) error {
	w.Header()[headerAllow] = rt.allowOpen()
	if r.Method == http.MethodOptions {
		w.Header()[headerAllow] = []string{rt.allow}
	}
	if isWrite(r, rt) && a.fromForeignPage(r) {
		if err := a.countLogin(w, r, c); err != nil {
			return err
		}
		return calendar.Fail(calendar.CodeForbiddenOrigin, 0)
	}
	if err := a.login(w, r, c); err != nil {
		return err
	}
	switch {
	case isWrite(r, rt):
		w.Header()[headerAllow] = []string{rt.allowFor(c.caller)}
		return calendar.MayWrite(c.caller, rt.kind, rt.collection)
	case r.Method == http.MethodGet, r.Method == http.MethodHead:
		w.Header()[headerAllow] = []string{rt.allowFor(c.caller)}
	}
	return nil
}

// login reads the credentials of a request, and brings it to work.
func (a *api) login(w http.ResponseWriter, r *http.Request, c *call) error {
	caller, err := a.Users.Authenticate(r.Context(), strings.Join(r.Header["Authorization"], ", "))
	c.caller = caller
	if over := a.countLogin(w, r, c); over != nil {
		return over
	}
	room := true
	switch {
	case err != nil:
		return err
	case caller.Role != calendar.Anonymous:
		room = c.pass.Identify(caller.ID)
	case c.pass.Stage() == admit.Login: // an empty header
		room = c.pass.Enter(admit.Work, 1)
	}
	if !room {
		return calendar.Fail(calendar.CodeUnavailable, 0)
	}
	return nil
}

// countLogin counts a request with credentials; others were counted when they came.
func (a *api) countLogin(w http.ResponseWriter, r *http.Request, c *call) error {
	if c.pass.Stage() != admit.Login {
		return nil
	}
	return a.count(w, r, c.caller.ID)
}

// isWrite reports whether a request to a route is a write.
func isWrite(r *http.Request, rt *route) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions && !rt.asks()
}
