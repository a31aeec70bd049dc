package httpapi

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/internal/ground/cache"
	public "daybook/internal/pages"
	"daybook/internal/param"
	"daybook/internal/proof"
	"daybook/query"
	"daybook/query/readmodel"
)

// pageHeaders are those of every page, besides its policy (PAGES.md P6.3).
var pageHeaders = http.Header{
	"X-Content-Type-Options":       valueNosniff,
	"Referrer-Policy":              {"strict-origin-when-cross-origin"},
	"Cross-Origin-Opener-Policy":   {"same-origin"},
	"Cross-Origin-Resource-Policy": {"same-origin"},
	"Permissions-Policy":           {"geolocation=(self), camera=(), microphone=(), payment=(), usb=()"},
	"Vary":                         {"Accept-Encoding"},
}

// cacheForever is Cache-Control of files, cacheOf that of what is no page (PAGES.md P6.1).
const cacheForever = "public, max-age=31536000, immutable"

var cacheOf = map[int]string{
	http.StatusMovedPermanently: "public, max-age=600",
	http.StatusNotFound:         "public, max-age=0, s-maxage=10",
	http.StatusGone:             "public, max-age=0, s-maxage=10",
}

// maxPasswordForm is the longest form with a password, in bytes.
const maxPasswordForm = 4 << 10

// pageRequest is what is known of a request for a page.
type pageRequest struct {
	public.Request

	// other is a path that is none of a page, asked for by a browser; plain that the page is
	// one of an error that is the same for all paths.
	other, plain bool
}

// findPage returns the page that a request asks for, nil for none. A browser gets a page for
// paths that lead nowhere, too, but for those of the interface.
func (call *call) findPage() *pageRequest {
	if call.Pages == nil {
		return nil
	}
	path, _ := cutPath(call.request.URL.EscapedPath(), call.from.path)
	request := &pageRequest{plain: true}
	route, found := public.Find(path)
	if !found || !call.Pages.Served(route) {
		if call.roots.isInterface(normalize(path)) || !accepts(call.request.Header, "text/html") {
			return nil
		}
		route, request.other = public.Nowhere(call.location.language), true
	}
	request.Request = public.Request{Route: route, Base: call.from.base, Path: call.from.path, Query: url.Values{}}
	for _, pair := range call.query {
		request.Query.Add(pair.Name, pair.Value)
	}
	request.Input = call.query.Input(query.Params("events").IsList)
	request.Tidy()
	return request
}

// setPageHeaders sets what every answer of a page carries, whatever happens next.
func (call *call) setPageHeaders() {
	maps.Copy(call.header, pageHeaders)
	call.header.Set("Content-Security-Policy", call.Pages.Policy(call.page.Route))
	if route := call.page.Route; route.Desk && !route.Asset {
		call.header.Set("Referrer-Policy", "no-referrer")
		call.header["X-Robots-Tag"] = valueNoIndex
	}
	if strings.HasPrefix(call.from.base, "https:") {
		call.header.Set("Strict-Transport-Security", "max-age=31536000")
	}
	if call.page.other {
		call.header.Set("Vary", "Accept, Accept-Encoding")
	}
	if call.page.Route.Open { // to pages of every origin, as reads of the interface
		call.header["Access-Control-Allow-Origin"], call.header["Access-Control-Expose-Headers"] = valueAny, call.expose
		call.header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	}
}

// answerPage answers a request for a page.
func (call *call) answerPage() error {
	page, method := call.page, call.request.Method
	page.plain = page.other
	switch route := page.Route; {
	case page.other:
		return refusal(calendar.CodeNoRoute)
	case method == http.MethodOptions && route.Open:
		call.preflight(nil)
		call.header.Set(headerAllow, route.Methods())
		call.writeStatus(http.StatusOK)
		return nil
	case !isRead(method) && (method != http.MethodPost || !route.Unlocks):
		call.header.Set(headerAllow, route.Methods())
		return refusal(calendar.CodeMethodNotAllowed)
	case route.Asset:
		return call.sendAsset()
	case !isRead(method):
		return call.unlock()
	case page.Preview:
		return call.preview()
	}
	return call.sharedPage()
}

// preview answers with a page for its caller, who sees their own writes. Credentials are read
// before anything is looked up, so that a browser asks for them.
func (call *call) preview() error {
	if err := call.login(); err != nil {
		return err
	}
	page := call.page
	if page.Caller = call.caller; call.caller.Role == calendar.Anonymous {
		return refusal(calendar.CodeUnauthorized)
	}
	var err error
	if page.User, err = call.userName(); err != nil {
		return err
	}
	return call.read(&question{lists: true, make: call.makePage})
}

// unlock answers a form with the password of a protected event (PAGES.md P2.3).
func (call *call) unlock() error {
	call.page.Unlock = true
	if call.fromForeignPage() {
		return refusal(calendar.CodeForbiddenOrigin)
	}
	body, err := call.receive(maxPasswordForm)
	if err != nil {
		return err
	}
	password := ""
	if media, _, _ := mime.ParseMediaType(call.request.Header.Get(headerType)); media == "application/x-www-form-urlencoded" {
		password = calendar.Trim(param.ParsePairs(string(body)).Last("password"))
	}
	call.page.Opens = call.opens(password)
	return call.read(&question{make: call.makePage})
}

// errorPageKey is the first byte of keys of pages of errors that are the same for all paths, see
// aliasKey.
const errorPageKey = 'E'

// sharedPage answers with a page that is the same for everybody, from the state that it shows.
func (call *call) sharedPage() error {
	page := call.page
	asked := call.Pages.Key(&page.Request)
	if call.ServeStale {
		call.lastGood = string(cache.Key{lastKey}.Text(asked))
	}
	// Unless the answer has another one; never beyond the midnight of the site, when "today" is another day.
	shared := min(call.Pages.MaxAge(), max(0, int(call.midnight(1).Sub(call.Now())/time.Second)))
	call.header.Set(headerCache, "public, max-age=0, s-maxage="+strconv.Itoa(shared)+", stale-while-revalidate=60, stale-if-error=86400")
	q := &question{asked: cache.Key(nil).Text("page").Text(asked), make: call.makePage}
	if page.Route.Still {
		return call.read(q)
	}
	var err error
	call.state, err = call.Queries.Generation(call.context)
	away := errors.Is(err, readmodel.ErrUnavailable)
	if err != nil && (!away || !page.Route.Stays) {
		return err
	}
	q.moves, q.turns, page.Position = !away, call.turns, call.state.Position
	if page.Route.Stays {
		head, err := call.Records.Head(call.context)
		if err != nil {
			return err
		}
		if q.asked = q.asked.Number(int64(head)); away {
			q.asked, page.Position = q.asked.Number(-1), head // -1: no position
		}
	}
	if page.IsPast() { // histories link the proofs that there are
		q.turns = call.past
		newest, err := call.Proofs.Checkpoint(call.context, 0)
		if err != nil && !errors.Is(err, proof.ErrNoCheckpoint) {
			return err
		}
		q.asked = q.asked.Number(int64(newest.Size))
	}
	return call.read(q)
}

// makePage makes the answer to a page.
func (call *call) makePage(ctx context.Context) (*answer, error) {
	page := &call.page.Request
	page.Position = max(page.Position, call.reached)
	made, err := call.Pages.Serve(ctx, page)
	if err != nil {
		return nil, err
	}
	return call.pageAnswer(made, page), nil
}

// pageAnswer is a page as an answer, which is cached where it is one for everybody.
func (call *call) pageAnswer(made *public.Answer, request *public.Request) *answer {
	tag, cached, whole := "", cmp.Or(cacheOf[made.Status], "no-store"), made.Status == http.StatusOK
	if call.language = request.Route.Lang(); whole {
		call.language = made.Lang // that of an address that is embedded may be another one
	}
	if request.Preview || request.Unlock {
		cached, whole = "no-store, private", false
	} else if whole {
		tag, cached = call.weakTag(call.cacheKey+strconv.FormatInt(made.Since.Unix(), 10)), request.Route.Cache
	}
	answer := call.newAnswer(made.Body, nil, tag)
	answer.until = made.Until
	if made.Type != "" {
		answer.media = []string{made.Type}
	}
	if made.Position > 0 {
		answer.add(headerPosition, made.Position.String())
	}
	if cached != "" {
		answer.add(headerCache, cached)
	}
	if whole {
		return answer
	}
	answer.status, answer.passing = made.Status, true
	if request.Unlock {
		answer.add("Referrer-Policy", "no-referrer")
	}
	if made.Location != "" {
		answer.target = made.Target
	}
	if made.Error != nil {
		answer.fail(made.Error, made.Status, challenges[:1]) // what a browser asks for
	}
	return answer
}

// errorPage makes the page of an error. One that is the same for all paths is cached: a flood
// of refused requests is not to cost what pages do.
func (call *call) errorPage(problem *calendar.Error, status int) *answer {
	ctx, page, key := call.context, call.page.Request, ""
	if call.page.plain {
		page = public.Request{Route: public.Nowhere(page.Route.Lang()), Base: page.Base, Path: page.Path}
		key = string(cache.Key{errorPageKey}.Text(page.Base).Text(page.Path).Number(int64(page.Route.Lang())).Text(string(problem.Code)))
		if answer, ok := call.answers.Get(key); ok {
			return answer
		}
	}
	made, err := call.Pages.Fail(ctx, &page, problem, status, shownCode(problem))
	if err != nil {
		call.log().ErrorContext(ctx, "page of an error failed", "error", err)
		made, key = &public.Answer{Status: http.StatusInternalServerError, Type: valueText[0], Body: []byte(http.StatusText(http.StatusInternalServerError)), Error: problem}, ""
	}
	reply := call.pageAnswer(made, &page)
	if reply.key = key; key != "" {
		call.answers.Set(key, reply)
	}
	return reply
}
