package httpapi

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/internal/ground/cache"
	"daybook/internal/htmltext"
	public "daybook/internal/pages"
	"daybook/internal/param"
	"daybook/internal/proof"
	"daybook/internal/render"
	"daybook/query"
	"daybook/query/readmodel"
)

// textRenderer gives pages the texts of records as answers have them.
type textRenderer struct{ currency calendar.Currency }

// HTML is a description or excerpt in a language, and the language that it is in.
func (shownTexts textRenderer) HTML(record *calendar.Record, field string, lang calendar.Lang) (string, calendar.Lang) {
	return render.HTML(record, field, lang)
}

// Plain is the text of shown HTML.
func (shownTexts textRenderer) Plain(shown string) string { return htmltext.PlainText(shown) }

// Cost is what an event costs, not escaped.
func (shownTexts textRenderer) Cost(record *calendar.Record) calendar.Cost {
	return calendar.ReadCost(record.Fields.Strings("cost"), shownTexts.currency)
}

// ShownTexts gives pages the texts of records as answers have them.
func ShownTexts(currency calendar.Currency) public.TextRenderer { return textRenderer{currency} }

// pageHeaders are those of every page, besides its policy (PAGES.md P6.3).
var pageHeaders = [][2]string{
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "strict-origin-when-cross-origin"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Permissions-Policy", "geolocation=(self), camera=(), microphone=(), payment=(), usb=()"},
	{"Vary", "Accept-Encoding"},
}

// Cache-Control of what is no page (PAGES.md P6.1).
const (
	cacheForever = "public, max-age=31536000, immutable"
	cacheMoved   = "public, max-age=600"
	cacheMissing = "public, max-age=0, s-maxage=10"
)

// maxPasswordForm is the longest form with a password, in bytes.
const maxPasswordForm = 4 << 10

// pageRequest is what is known of a request for a page.
type pageRequest struct {
	req public.Request
	// other is a path that is none of a page, asked for by a browser; plain that the page is
	// one of an error that is the same for all paths.
	other, plain bool
}

// findPage returns the page that a request asks for, nil for none. A browser gets a page for
// paths that lead nowhere, too, but for those of the interface.
func (call *call) findPage() *pageRequest {
	if call.o.Pages == nil {
		return nil
	}
	path := call.request.URL.EscapedPath()
	if rest, ok := cutPath(path, call.from.path); ok {
		path = rest
	}
	request := &pageRequest{plain: true}
	route, found := public.Find(path)
	if !found || !call.o.Pages.Served(route) {
		if call.roots.locateBelow(normalize(path)).below || !accepts(call.request.Header, "text/html") {
			return nil
		}
		route, request.other = public.Nowhere(call.loc.lang), true
	}
	request.req = public.Request{Route: route, Base: call.from.base, Path: call.from.path, Query: url.Values{}}
	for _, pair := range call.query {
		request.req.Query.Add(pair.Name, pair.Value)
	}
	request.req.Input = call.query.Input(query.Params(calendar.KindEvent).IsList)
	request.req.Tidy()
	return request
}

// setPageHeaders sets what every answer of a page carries, whatever happens next.
func (call *call) setPageHeaders(header http.Header) {
	for _, row := range pageHeaders {
		header.Set(row[0], row[1])
	}
	header.Set("Content-Security-Policy", call.o.Pages.Policy(call.page.req.Route))
	if route := call.page.req.Route; route.Desk && !route.Asset {
		header.Set("Referrer-Policy", "no-referrer")
		header["X-Robots-Tag"] = valueNoIndex
	}
	if strings.HasPrefix(call.from.base, "https:") {
		header.Set("Strict-Transport-Security", "max-age=31536000")
	}
	if call.page.other {
		header.Set("Vary", "Accept, Accept-Encoding")
	}
	if call.page.req.Route.Open {
		call.openToAll(header)
	}
}

// answerPage answers a request for a page.
func (call *call) answerPage() error {
	paged, read := call.page, isRead(call.request.Method)
	paged.plain = paged.other
	route := paged.req.Route
	switch {
	case paged.other:
		return calendar.Fail(calendar.CodeNoRoute, 0)
	case call.request.Method == http.MethodOptions && route.Open:
		header := call.w.Header()
		call.preflight(header, nil)
		header.Set(headerAllow, route.Methods())
		call.writeStatus(http.StatusOK)
		return nil
	case !read && (call.request.Method != http.MethodPost || !route.Unlocks):
		call.w.Header().Set(headerAllow, route.Methods())
		return calendar.Fail(calendar.CodeMethodNotAllowed, 0)
	case route.Asset:
		return call.sendAsset()
	}
	if paged.req.Unlock = !read; !read && fromOtherSite(call.request, call.roots) {
		return calendar.Fail(calendar.CodeForbiddenOrigin, 0)
	}
	switch {
	case !read:
		return call.unlock()
	case paged.req.Preview:
		return call.preview()
	}
	question, err := call.pageQuestion(call.request.Context(), &paged.req)
	if err != nil {
		return err
	}
	return call.read(question)
}

// preview answers with a page for its caller, who sees their own writes. Credentials are read
// before anything is looked up, so that a browser asks for them.
func (call *call) preview() error {
	if err := call.login(); err != nil {
		return err
	}
	req := &call.page.req
	if req.Caller = call.caller; call.caller.Role == calendar.Anonymous {
		return calendar.Fail(calendar.CodeUnauthorized, 0)
	}
	return call.read(&question{waits: true, make: func(ctx context.Context, of answerState) (*answer, error) {
		users, err := call.Records.Load(ctx, call.caller.ID)
		if err != nil {
			return nil, err
		}
		if len(users) == 1 && users[0] != nil {
			req.User = users[0].Fields.String("name")
		}
		if state, err := call.reachedState(ctx); err == nil {
			req.Position = state.Position
		}
		return call.makePage(ctx, req, of)
	}})
}

// unlock answers a form with the password of a protected event (PAGES.md P2.3).
func (call *call) unlock() error {
	req := &call.page.req
	body, err := call.receive(maxPasswordForm)
	if err != nil {
		return err
	}
	var password string
	if media, _, err := mime.ParseMediaType(call.request.Header.Get(headerType)); err == nil && media == "application/x-www-form-urlencoded" {
		input := param.ParsePairs(string(body)).Input(nil)
		password, _ = input["password"].(string)
		password = calendar.Trim(password)
	}
	req.Opens = func(ctx context.Context, event calendar.ID) (bool, error) {
		return call.tryPassword(ctx, event, password)
	}
	return call.read(&question{make: func(_ context.Context, state answerState) (*answer, error) {
		ctx, cancel := call.within(call.o.WriteDeadline) // from here on: the body may have been long in coming
		defer cancel()
		return call.makePage(ctx, req, state)
	}})
}

// fromOtherSite reports whether a page of another site sent a form (PAGES.md P2.3). A
// browser that says so in its own words is believed: "null" stands for no origin as well.
func fromOtherSite(request *http.Request, roots *rootTable) bool {
	site, origin := request.Header.Get("Sec-Fetch-Site"), strings.Join(request.Header["Origin"], ", ")
	switch {
	case site != "" && site != "same-origin" && site != "none":
		return true
	case origin == "", origin == "null" && site == "same-origin":
		return false
	default:
		return !roots.isOwnOrigin(request, origin)
	}
}

// The first byte of keys of pages, see aliasKey.
const (
	pageKey     = 'h'
	lastPageKey = 'H' // the last good answer
	// errorPageKey is of pages of errors that are the same for all paths.
	errorPageKey = 'E'
)

// pageQuestion finds the state that a page shows.
func (call *call) pageQuestion(ctx context.Context, req *public.Request) (*question, error) {
	asked := call.o.Pages.Key(req)
	if call.o.ServeStale {
		call.lastGood = string(cache.Key{lastPageKey}.Text(asked))
	}
	call.w.Header().Set(headerCache, call.pageCache()) // unless the answer has another one
	var state query.Generation
	q := &question{
		space: pageKey, asked: cache.Key(nil).Text(asked),
		state: func(context.Context) (query.Generation, error) { return state, nil },
		make:  func(ctx context.Context, of answerState) (*answer, error) { return call.makePage(ctx, req, of) },
	}
	if req.Route.Still {
		return q, nil
	}
	var err error
	state, err = call.Queries.Generation(ctx)
	away := errors.Is(err, readmodel.ErrUnavailable)
	if err != nil && (!away || !req.Route.Stays) {
		return nil, err
	}
	q.moves, q.turns = !away, call.turns
	if away {
		q.number = -1 // no position
	}
	if req.Position = state.Position; req.Route.Stays {
		head, err := call.Records.Head(ctx)
		if err != nil {
			return nil, err
		}
		if q.asked = q.asked.Number(int64(head)); away {
			req.Position = head
		}
	}
	if req.IsPast() { // histories link the proofs that there are
		q.turns = call.past
		newest, err := call.Proofs.Checkpoint(ctx, 0)
		if err != nil && !errors.Is(err, proof.ErrNoCheckpoint) {
			return nil, err
		}
		q.asked = q.asked.Number(int64(newest.Size))
	}
	return q, nil
}

// makePage makes the answer to a page.
func (api *api) makePage(ctx context.Context, req *public.Request, stated answerState) (*answer, error) {
	made, err := api.o.Pages.Serve(ctx, req)
	if err != nil {
		return nil, err
	}
	return api.pageAnswer(made, req, stated.key), nil
}

// pageAnswer is a page as an answer, which is cached where it is one for everybody.
func (api *api) pageAnswer(made *public.Answer, req *public.Request, key string) *answer {
	lang := req.Route.Lang()
	if made.Status == http.StatusOK {
		lang = made.Lang // that of an address that is embedded may be another one
	}
	ans := newAnswer(made.Body, nil, "", lang)
	ans.until = made.Until
	if made.Type != "" {
		ans.media = []string{made.Type}
	}
	if made.Position > 0 {
		ans.add(headerPosition, made.Position.String())
	}
	cached := req.Route.Cache
	switch alone := req.Preview || req.Unlock; {
	case made.Status == http.StatusOK && !alone:
		ans.etag = api.weakTag(key + strconv.FormatInt(made.Since.Unix(), 10))
		ans.add(headerETag, ans.etag)
	case alone:
		cached = "no-store, private"
	case made.Status == http.StatusMovedPermanently:
		cached = cacheMoved
	case made.Status == http.StatusNotFound, made.Status == http.StatusGone:
		cached = cacheMissing
	default:
		cached = "no-store"
	}
	if cached != "" {
		ans.add(headerCache, cached)
	}
	if ans.etag == "" {
		ans.page, ans.passing = made, true
	}
	return ans
}

// pageCache is Cache-Control of a page: never beyond the midnight of the site, when "today"
// is another day.
func (api *api) pageCache() string {
	now := api.o.Now()
	y, month, d := now.In(api.o.Site).Date()
	midnight := calendar.WallToInstant(calendar.Wall(time.Date(y, month, d+1, 0, 0, 0, 0, time.UTC).Unix()), api.o.Site)
	shared := min(api.o.Pages.MaxAge(), max(0, int(midnight.Sub(now)/time.Second)))
	return "public, max-age=0, s-maxage=" + strconv.Itoa(shared) + ", stale-while-revalidate=60, stale-if-error=86400"
}

// setPage sets the headers of a page that is not cached.
func (call *call) setPage(header http.Header, made *public.Answer) {
	if made.Location != "" {
		header.Set(headerLocation, made.Target(call.request.URL.RawQuery))
	}
	if made.Error != nil && made.Error.RetryAfter > 0 {
		header.Set(headerRetry, strconv.Itoa(made.Error.RetryAfter))
	} else if made.Status == http.StatusServiceUnavailable {
		header[headerRetry] = valueRetry
	}
	if call.page.req.Unlock {
		header.Set("Referrer-Policy", "no-referrer")
	}
	if made.Error != nil {
		call.code = made.Error.Code
	}
}

// openToAll lets pages of every origin load an answer, as reads of the interface.
func (api *api) openToAll(header http.Header) {
	header["Access-Control-Allow-Origin"], header["Access-Control-Expose-Headers"] = valueAny, api.expose
	header.Set("Cross-Origin-Resource-Policy", "cross-origin")
}

// failPage answers an error with a page.
func (call *call) failPage(problem *calendar.Error, status int) {
	paged := call.page
	if status == http.StatusUnauthorized {
		call.w.Header()[headerChallenge] = challenges[:1] // what a browser asks for
	}
	made, err := call.errorPage(call.request.Context(), paged, problem, status)
	if err != nil {
		call.o.Log.ErrorContext(call.request.Context(), "page of an error failed", "path", call.request.URL.Path, "error", err)
		call.w.Header()[headerType] = valueText
		made = &public.Answer{Status: http.StatusInternalServerError, Type: valueText[0], Body: []byte(http.StatusText(http.StatusInternalServerError))}
	}
	ans := call.pageAnswer(made, &paged.req, "")
	header := call.w.Header()
	call.setHeaders(header, ans)
	header[headerType] = ans.media
	call.sendAlways(made.Status, ans)
}

// errorPage makes the page of an error. One that is the same for all paths is kept: a flood
// of refused requests is not to cost what pages do.
func (api *api) errorPage(ctx context.Context, paged *pageRequest, problem *calendar.Error, status int) (*public.Answer, error) {
	if !paged.plain {
		return api.o.Pages.Fail(ctx, &paged.req, problem, status, shownCode(problem))
	}
	req := public.Request{Route: public.Nowhere(paged.req.Route.Lang()), Base: paged.req.Base, Path: paged.req.Path}
	key := string(cache.Key{errorPageKey}.Text(req.Base).Text(req.Path).Number(int64(paged.req.Route.Lang())).Text(string(problem.Code)))
	if kept, ok := api.answers.Get(key); ok {
		return &public.Answer{Status: status, Type: public.TypeHTML, Body: kept.bytes, Error: problem}, nil
	}
	made, err := api.o.Pages.Fail(ctx, &req, problem, status, shownCode(problem))
	if err == nil {
		api.answers.Set(key, &answer{body: newBody(made.Body)})
	}
	return made, err
}

var _ public.Lists = (*query.Service)(nil)
