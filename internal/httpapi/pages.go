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
	"daybook/internal/proof"
	"daybook/internal/render"
	"daybook/query"
	"daybook/query/readmodel"
)

// shownTexts gives pages the texts of records as answers have them.
type shownTexts struct{ currency calendar.Currency }

// HTML is a description or excerpt in a language, and the language that it is in.
func (s shownTexts) HTML(record *calendar.Record, field string, lang calendar.Lang) (string, calendar.Lang) {
	return render.HTML(record, field, lang)
}

// Plain is the text of shown HTML.
func (s shownTexts) Plain(shown string) string { return htmltext.PlainText(shown) }

// Cost is what an event costs, not escaped.
func (s shownTexts) Cost(record *calendar.Record) calendar.Cost {
	return calendar.ReadCost(record.Fields.Strings("cost"), s.currency)
}

// ShownTexts gives pages the texts of records as answers have them.
func ShownTexts(currency calendar.Currency) public.Shown { return shownTexts{currency} }

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

// paged is what is known of a request for a page.
type paged struct {
	req public.Request
	// other is a path that is none of a page, asked for by a browser; plain that the page is
	// one of an error that is the same for all paths.
	other, plain bool
}

// findPage returns the page that a request asks for, nil for none. A browser gets a page for
// paths that lead nowhere, too, but for those of the interface.
func (c *call) findPage() *paged {
	if c.o.Pages == nil {
		return nil
	}
	path := c.r.URL.EscapedPath()
	if rest, ok := cutPath(path, c.from.path); ok {
		path = rest
	}
	p := &paged{plain: true}
	route, found := public.Find(path)
	if !found || !c.o.Pages.Served(route) {
		if c.roots.locateBelow(normalize(path)).below || !accepts(c.r.Header, "text/html") {
			return nil
		}
		route, p.other = public.Nowhere(c.loc.lang), true
	}
	p.req = public.Request{Route: route, Base: c.from.base, Path: c.from.path, Query: url.Values{}}
	for _, pair := range c.query {
		p.req.Query.Add(pair.name, pair.value)
	}
	p.req.Input = inputOf(c.query, query.Params(calendar.KindEvent).IsList)
	p.req.Tidy()
	return p
}

// setPageHeaders sets what every answer of a page carries, whatever happens next.
func (c *call) setPageHeaders(header http.Header) {
	for _, row := range pageHeaders {
		header.Set(row[0], row[1])
	}
	header.Set("Content-Security-Policy", c.o.Pages.Policy(c.page.req.Route))
	if route := c.page.req.Route; route.Desk && !route.Asset {
		header.Set("Referrer-Policy", "no-referrer")
		header["X-Robots-Tag"] = valueNoIndex
	}
	if strings.HasPrefix(c.from.base, "https:") {
		header.Set("Strict-Transport-Security", "max-age=31536000")
	}
	if c.page.other {
		header.Set("Vary", "Accept, Accept-Encoding")
	}
	if c.page.req.Route.Open {
		c.openToAll(header)
	}
}

// answerPage answers a request for a page.
func (c *call) answerPage() error {
	paged, read := c.page, isRead(c.r.Method)
	paged.plain = paged.other
	route := paged.req.Route
	switch {
	case paged.other:
		return calendar.Fail(calendar.CodeNoRoute, 0)
	case c.r.Method == http.MethodOptions && route.Open:
		header := c.w.Header()
		c.preflight(header, nil)
		header.Set(headerAllow, route.Methods())
		c.writeStatus(http.StatusOK)
		return nil
	case !read && (c.r.Method != http.MethodPost || !route.Unlocks):
		c.w.Header().Set(headerAllow, route.Methods())
		return calendar.Fail(calendar.CodeMethodNotAllowed, 0)
	case route.Asset:
		return c.sendAsset()
	}
	if paged.req.Unlock = !read; !read && fromOtherSite(c.r, c.roots) {
		return calendar.Fail(calendar.CodeForbiddenOrigin, 0)
	}
	switch {
	case !read:
		return c.unlock()
	case paged.req.Preview:
		return c.preview()
	}
	question, err := c.pageQuestion(c.r.Context(), &paged.req)
	if err != nil {
		return err
	}
	return c.read(question)
}

// preview answers with a page for its caller, who sees their own writes. Credentials are read
// before anything is looked up, so that a browser asks for them.
func (c *call) preview() error {
	if err := c.login(); err != nil {
		return err
	}
	req := &c.page.req
	if req.Caller = c.caller; c.caller.Role == calendar.Anonymous {
		return calendar.Fail(calendar.CodeUnauthorized, 0)
	}
	return c.read(&question{waits: true, make: func(ctx context.Context, of stated) (*answer, error) {
		users, err := c.Records.Load(ctx, c.caller.ID)
		if err != nil {
			return nil, err
		}
		if len(users) == 1 && users[0] != nil {
			req.User = users[0].Fields.String("name")
		}
		if state, err := c.reachedState(ctx); err == nil {
			req.Position = state.Position
		}
		return c.makePage(ctx, req, of)
	}})
}

// unlock answers a form with the password of a protected event (PAGES.md P2.3).
func (c *call) unlock() error {
	req := &c.page.req
	body, err := c.receive(maxPasswordForm)
	if err != nil {
		return err
	}
	var password string
	if media, _, err := mime.ParseMediaType(c.r.Header.Get(headerType)); err == nil && media == "application/x-www-form-urlencoded" {
		in := inputOf(parsePairs(string(body)), nil)
		password, _ = in["password"].(string)
		password = calendar.Trim(password)
	}
	req.Opens = func(ctx context.Context, event calendar.ID) (bool, error) {
		return c.tryPassword(ctx, event, password)
	}
	return c.read(&question{make: func(_ context.Context, of stated) (*answer, error) {
		ctx, cancel := c.within(c.o.WriteDeadline) // from here on: the body may have been long in coming
		defer cancel()
		return c.makePage(ctx, req, of)
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
func (c *call) pageQuestion(ctx context.Context, req *public.Request) (*question, error) {
	asked := c.o.Pages.Key(req)
	if c.o.ServeStale {
		c.lastGood = string(cache.Key{lastPageKey}.Text(asked))
	}
	c.w.Header().Set(headerCache, c.pageCache()) // unless the answer has another one
	var state query.Generation
	q := &question{
		space: pageKey, asked: cache.Key(nil).Text(asked),
		state: func(context.Context) (query.Generation, error) { return state, nil },
		make:  func(ctx context.Context, of stated) (*answer, error) { return c.makePage(ctx, req, of) },
	}
	if req.Route.Still {
		return q, nil
	}
	var err error
	state, err = c.Queries.Generation(ctx)
	away := errors.Is(err, readmodel.ErrUnavailable)
	if err != nil && (!away || !req.Route.Stays) {
		return nil, err
	}
	q.moves, q.turns = !away, c.turns
	if away {
		q.number = -1 // no position
	}
	if req.Position = state.Position; req.Route.Stays {
		head, err := c.Records.Head(ctx)
		if err != nil {
			return nil, err
		}
		if q.asked = q.asked.Number(int64(head)); away {
			req.Position = head
		}
	}
	if req.IsPast() { // histories link the proofs that there are
		q.turns = c.past
		newest, err := c.Proofs.Checkpoint(ctx, 0)
		if err != nil && !errors.Is(err, proof.ErrNoCheckpoint) {
			return nil, err
		}
		q.asked = q.asked.Number(int64(newest.Size))
	}
	return q, nil
}

// makePage makes the answer to a page.
func (a *api) makePage(ctx context.Context, req *public.Request, of stated) (*answer, error) {
	made, err := a.o.Pages.Serve(ctx, req)
	if err != nil {
		return nil, err
	}
	return a.pageAnswer(made, req, of.key), nil
}

// pageAnswer is a page as an answer, which is cached where it is one for everybody.
func (a *api) pageAnswer(made *public.Answer, req *public.Request, key string) *answer {
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
		ans.etag = a.weakTag(key + strconv.FormatInt(made.Since.Unix(), 10))
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
func (a *api) pageCache() string {
	now := a.o.Now()
	y, month, d := now.In(a.o.Site).Date()
	midnight := calendar.WallToInstant(calendar.Wall(time.Date(y, month, d+1, 0, 0, 0, 0, time.UTC).Unix()), a.o.Site)
	shared := min(a.o.Pages.MaxAge(), max(0, int(midnight.Sub(now)/time.Second)))
	return "public, max-age=0, s-maxage=" + strconv.Itoa(shared) + ", stale-while-revalidate=60, stale-if-error=86400"
}

// setPage sets the headers of a page that is not cached.
func (c *call) setPage(header http.Header, made *public.Answer) {
	if made.Location != "" {
		header.Set(headerLocation, made.Target(c.r.URL.RawQuery))
	}
	if made.Error != nil && made.Error.RetryAfter > 0 {
		header.Set(headerRetry, strconv.Itoa(made.Error.RetryAfter))
	} else if made.Status == http.StatusServiceUnavailable {
		header[headerRetry] = valueRetry
	}
	if c.page.req.Unlock {
		header.Set("Referrer-Policy", "no-referrer")
	}
	if made.Error != nil {
		c.code = made.Error.Code
	}
}

// openToAll lets pages of every origin load an answer, as reads of the interface.
func (a *api) openToAll(header http.Header) {
	header["Access-Control-Allow-Origin"], header["Access-Control-Expose-Headers"] = valueAny, a.expose
	header.Set("Cross-Origin-Resource-Policy", "cross-origin")
}

// failPage answers an error with a page.
func (c *call) failPage(e *calendar.Error, status int) {
	paged := c.page
	if status == http.StatusUnauthorized {
		c.w.Header()[headerChallenge] = challenges[:1] // what a browser asks for
	}
	made, err := c.errorPage(c.r.Context(), paged, e, status)
	if err != nil {
		c.o.Log.ErrorContext(c.r.Context(), "page of an error failed", "path", c.r.URL.Path, "error", err)
		c.w.Header()[headerType] = valueText
		made = &public.Answer{Status: http.StatusInternalServerError, Type: valueText[0], Body: []byte(http.StatusText(http.StatusInternalServerError))}
	}
	ans := c.pageAnswer(made, &paged.req, "")
	header := c.w.Header()
	c.setHeaders(header, ans)
	header[headerType] = ans.media
	c.sendAlways(made.Status, ans)
}

// errorPage makes the page of an error. One that is the same for all paths is kept: a flood
// of refused requests is not to cost what pages do.
func (a *api) errorPage(ctx context.Context, p *paged, e *calendar.Error, status int) (*public.Answer, error) {
	if !p.plain {
		return a.o.Pages.Fail(ctx, &p.req, e, status, shownCode(e))
	}
	req := public.Request{Route: public.Nowhere(p.req.Route.Lang()), Base: p.req.Base, Path: p.req.Path}
	key := string(cache.Key{errorPageKey}.Text(req.Base).Text(req.Path).Number(int64(p.req.Route.Lang())).Text(string(e.Code)))
	if kept, ok := a.answers.Get(key); ok {
		return &public.Answer{Status: status, Type: public.TypeHTML, Body: kept.bytes, Error: e}, nil
	}
	made, err := a.o.Pages.Fail(ctx, &req, e, status, shownCode(e))
	if err == nil {
		a.answers.Set(key, &answer{body: newBody(made.Body)})
	}
	return made, err
}

var _ public.Lists = (*query.Service)(nil)
