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
func (s shownTexts) HTML(r *calendar.Record, field string, l calendar.Lang) (string, calendar.Lang) {
	return render.HTML(r, field, l)
}

// Plain is the text of shown HTML.
func (s shownTexts) Plain(shown string) string { return htmltext.PlainText(shown) }

// Cost is what an event costs, not escaped.
func (s shownTexts) Cost(r *calendar.Record) calendar.Cost {
	return calendar.ReadCost(r.Fields.Strings("cost"), s.currency)
}

// ShownTexts gives pages the texts of records as answers have them.
func ShownTexts(c calendar.Currency) public.Shown { return shownTexts{c} }

// pageHeaders are those of every page, beside its policy (PAGES.md P6.3).
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
	from origin
	req  public.Request
	// other is a path that is none of a page, asked for by a browser; plain that the page is
	// one of an error that is the same for all paths.
	other, plain bool
}

// findPage gives the page that a request asks for, nil for none. A browser gets a page for
// paths that lead nowhere, too, but for those of the interface.
func (a *api) findPage(r *http.Request, c *call, from origin) *paged {
	if a.o.Pages == nil || c.loc.known {
		return nil
	}
	path := r.URL.EscapedPath()
	if from.path != "" {
		if rest, ok := cutPath(path, from.path); ok {
			path = rest
		}
	}
	p := &paged{from: from}
	route, found := public.Find(path)
	if !found {
		if a.roots.locateBelow(normalize(path)).below || !accepts(r.Header, "text/html") {
			return nil
		}
		route, p.other, p.plain = public.Nowhere(c.loc.lang), true, true
	}
	p.req = public.Request{Route: route, Base: from.base, Path: from.path, Query: url.Values{}}
	for _, q := range c.query {
		p.req.Query.Add(q.name, q.value)
	}
	p.req.Input = inputOf(c.query, query.Params(calendar.KindEvent).IsList)
	p.req.Tidy()
	return p
}

// setPageHeaders sets what every answer of a page carries, whatever happens next.
func (a *api) setPageHeaders(h http.Header, p *paged) {
	for _, row := range pageHeaders {
		h.Set(row[0], row[1])
	}
	h.Set("Content-Security-Policy", a.o.Pages.Policy(p.req.Route))
	if strings.HasPrefix(p.from.base, "https:") {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	if p.other {
		h.Set("Vary", "Accept, Accept-Encoding")
	}
}

// servePage answers a request for a page.
func (a *api) servePage(w http.ResponseWriter, r *http.Request, c *call) {
	defer a.answerPanic(w, r)
	if err := a.answerPage(w, r, c); err != nil {
		a.fail(w, r, err)
	}
}

func (a *api) answerPage(w http.ResponseWriter, r *http.Request, c *call) error {
	p := c.page
	route := p.req.Route
	read := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case p.other:
		return calendar.Fail(calendar.CodeNoRoute, 0)
	case r.Method == http.MethodOptions && route.Open:
		h := w.Header()
		a.openToAll(h)
		a.preflight(h, r, nil)
		h.Set(headerAllow, route.Methods())
		a.status(w, r, http.StatusOK)
		return nil
	case !read && (r.Method != http.MethodPost || !route.Unlocks):
		w.Header().Set(headerAllow, route.Methods())
		return calendar.Fail(calendar.CodeMethodNotAllowed, 0)
	case route.Asset:
		return a.sendAsset(w, r, c)
	}
	if p.req.Unlock = !read; !read && fromOtherSite(r, a.roots) {
		return calendar.Fail(calendar.CodeForbiddenOrigin, 0)
	}
	if p.req.Preview {
		if err := a.admitPreview(w, r, c); err != nil {
			return err
		}
	}
	var (
		made *public.Answer
		err  error
	)
	switch {
	case !read:
		made, err = a.unlock(w, r, c)
	case p.req.Preview:
		made, err = a.preview(r, c)
	default:
		return a.answerShared(w, r, c)
	}
	if err != nil {
		return err
	}
	return a.sendPage(w, r, c, made)
}

// admitPreview reads the credentials of who asks for a preview, before anything is looked
// up, so that a browser asks for them.
func (a *api) admitPreview(w http.ResponseWriter, r *http.Request, c *call) error {
	if err := a.login(w, r, c); err != nil {
		return err
	}
	if c.page.req.Caller = c.caller; c.caller.Role == calendar.Anonymous {
		return calendar.Fail(calendar.CodeUnauthorized, 0)
	}
	return nil
}

// preview makes a page for its caller, who sees his own writes.
func (a *api) preview(r *http.Request, c *call) (*public.Answer, error) {
	ctx, end, err := a.whenReached(r.Context(), c, &question{waits: true})
	if err != nil {
		return nil, err
	}
	defer end()
	users, err := a.Records.Load(ctx, c.caller.ID)
	if err != nil {
		return nil, err
	}
	if len(users) == 1 && users[0] != nil {
		c.page.req.User = users[0].Fields.String("name")
	}
	if state, err := a.reachedState(ctx, c); err == nil {
		c.page.req.Position = state.Position
	}
	return a.o.Pages.Serve(ctx, &c.page.req)
}

// unlock answers a form with the password of a protected event (PAGES.md P2.3).
func (a *api) unlock(w http.ResponseWriter, r *http.Request, c *call) (*public.Answer, error) {
	req := &c.page.req
	body, err := a.receive(w, r, maxPasswordForm)
	if err != nil {
		return nil, err
	}
	var password string
	if media, _, err := mime.ParseMediaType(r.Header.Get(headerType)); err == nil && media == "application/x-www-form-urlencoded" {
		in := inputOf(parsePairs(string(body)), nil)
		password, _ = in["password"].(string)
		password = calendar.Trim(password)
	}
	req.Opens = func(ctx context.Context, event calendar.ID) (bool, error) {
		return a.tryPassword(ctx, r, event, password)
	}
	ctx, cancel := c.within(a.o.WriteDeadline)
	defer cancel()
	return a.o.Pages.Serve(ctx, req)
}

// fromOtherSite reports whether a page of another site sent a form (PAGES.md P2.3). A
// browser that says so in its own words is believed: "null" stands for no origin as well.
func fromOtherSite(r *http.Request, roots *rootTable) bool {
	site, origin := r.Header.Get("Sec-Fetch-Site"), strings.Join(r.Header["Origin"], ", ")
	switch {
	case site != "" && site != "same-origin" && site != "none":
		return true
	case origin == "", origin == "null" && site == "same-origin":
		return false
	default:
		return !roots.isOwnOrigin(r, origin)
	}
}

// The first byte of keys of pages, see aliasKey.
const (
	pageKey     = 'h'
	lastPageKey = 'H' // the last good answer
	// errorPageKey is of pages of errors that are the same for all paths.
	errorPageKey = 'E'
)

// answerShared answers a request for a page that is the same for everybody.
func (a *api) answerShared(w http.ResponseWriter, r *http.Request, c *call) error {
	req := &c.page.req
	asked, stale := a.o.Pages.Key(req), ""
	if a.o.ServeStale {
		stale = string(cache.Key{lastPageKey}.Text(asked))
	}
	w.Header().Set(headerCache, a.pageCache()) // unless the answer has another one
	if req.Route.Open {
		a.openToAll(w.Header())
	}
	q, err := a.pageQuestion(r.Context(), req, asked)
	if err == nil {
		q.lastGood = stale
		err = a.read(w, r, c, q)
	}
	if other, ok := errors.AsType[pageError](err); ok {
		return a.sendPage(w, r, c, other.Answer)
	}
	return a.orLastGood(w, r, c, stale, 0, err)
}

// pageQuestion finds the state that a page shows.
func (a *api) pageQuestion(ctx context.Context, req *public.Request, asked string) (*question, error) {
	var state query.Generation
	q := &question{
		space: pageKey, asked: cache.Key(nil).Text(asked),
		state: func(context.Context, *call) (query.Generation, error) { return state, nil },
		make:  func(ctx context.Context, of stated) (*answer, error) { return a.makePage(ctx, req, of.key) },
	}
	if req.Route.Still {
		return q, nil
	}
	var err error
	state, err = a.Queries.Generation(ctx)
	away := errors.Is(err, readmodel.ErrUnavailable)
	if err != nil && (!away || !req.Route.Stays) {
		return nil, err
	}
	q.moves, q.turns = !away, a.turns
	if away {
		q.number = -1 // no position
	}
	if req.Position = state.Position; req.Route.Stays {
		head, err := a.Records.Head(ctx)
		if err != nil {
			return nil, err
		}
		if q.asked = q.asked.Number(int64(head)); away {
			req.Position = head
		}
	}
	if req.IsPast() { // histories link the proofs that there are
		q.turns = a.past
		newest, err := a.Proofs.Checkpoint(ctx, 0)
		if err != nil && !errors.Is(err, proof.ErrNoCheckpoint) {
			return nil, err
		}
		q.asked = q.asked.Number(int64(newest.Size))
	}
	return q, nil
}

// makePage makes the answer to a page.
func (a *api) makePage(ctx context.Context, req *public.Request, key string) (*answer, error) {
	made, err := a.o.Pages.Serve(ctx, req)
	if err != nil {
		return nil, err
	}
	if made.Status != http.StatusOK {
		return nil, pageError{made}
	}
	ans := newAnswer(made.Body, []string{made.Type}, a.weakTag(key+strconv.FormatInt(made.Since.Unix(), 10)), made.Lang)
	if made.Position > 0 {
		ans.add(headerPosition, made.Position.String())
	}
	if req.Route.Cache != "" {
		ans.add(headerCache, req.Route.Cache)
	}
	ans.until = made.Until
	return ans, nil
}

// pageError is an answer with another status than 200: it is not kept.
type pageError struct{ *public.Answer }

func (p pageError) Error() string { return "page answered " + http.StatusText(p.Status) }

// pageCache is Cache-Control of a page: never beyond the midnight of the site, when "today"
// is another day.
func (a *api) pageCache() string {
	now := a.o.Now()
	y, m, d := now.In(a.o.Site).Date()
	midnight := calendar.WallToInstant(calendar.Wall(time.Date(y, m, d+1, 0, 0, 0, 0, time.UTC).Unix()), a.o.Site)
	shared := min(a.o.Pages.MaxAge(), max(0, int(midnight.Sub(now)/time.Second)))
	return "public, max-age=0, s-maxage=" + strconv.Itoa(shared) + ", stale-while-revalidate=60, stale-if-error=86400"
}

// sendPage sends an answer that is not kept.
func (a *api) sendPage(w http.ResponseWriter, r *http.Request, c *call, made *public.Answer) error {
	h := w.Header()
	if made.Location != "" {
		h.Set(headerLocation, made.Target(r.URL.RawQuery))
	}
	if made.Type != "" {
		h.Set(headerType, made.Type)
	}
	if made.Position > 0 {
		h.Set(headerPosition, made.Position.String())
	}
	if made.Error != nil && made.Error.RetryAfter > 0 {
		h.Set(headerRetry, strconv.Itoa(made.Error.RetryAfter))
	} else if made.Status == http.StatusServiceUnavailable {
		h[headerRetry] = valueRetry
	}
	h.Set(headerLanguage, c.page.req.Route.Lang().Tag())
	if c.page.req.Route.Open {
		a.openToAll(h)
	}
	if made.Error != nil {
		c.code = made.Error.Code
	}
	h.Set(headerCache, pageCacheOf(made, c.page))
	if c.page.req.Unlock {
		h.Set("Referrer-Policy", "no-referrer")
	}
	a.send(w, r, made.Status, made.Body)
	return nil
}

// openToAll lets pages of every origin load an answer, as reads of the interface.
func (a *api) openToAll(h http.Header) {
	h["Access-Control-Allow-Origin"], h["Access-Control-Expose-Headers"] = valueAny, a.expose
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
}

// pageCacheOf is Cache-Control of an answer that is no page of its own.
func pageCacheOf(made *public.Answer, p *paged) string {
	switch {
	case p.req.Preview, p.req.Unlock:
		return "no-store, private"
	case made.Status == http.StatusMovedPermanently:
		return cacheMoved
	case made.Status == http.StatusNotFound, made.Status == http.StatusGone:
		return cacheMissing
	}
	return "no-store"
}

// failPage answers an error with a page.
func (a *api) failPage(w http.ResponseWriter, r *http.Request, c *call, e *calendar.Error, status int) {
	p := c.page
	if status == http.StatusUnauthorized {
		w.Header()[headerChallenge] = challenges[:1] // what a browser asks for
	}
	made, err := a.errorPage(r.Context(), p, e, status)
	if err != nil {
		a.o.Log.ErrorContext(r.Context(), "page of an error failed", "path", r.URL.Path, "error", err)
		w.Header()[headerType] = valueText
		made = &public.Answer{Status: http.StatusInternalServerError, Type: valueText[0], Body: []byte(http.StatusText(http.StatusInternalServerError))}
	}
	_ = a.sendPage(w, r, c, made)
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
		return &public.Answer{Status: status, Type: public.TypeHTML, Body: kept.body, Error: e}, nil
	}
	made, err := a.o.Pages.Fail(ctx, &req, e, status, shownCode(e))
	if err == nil {
		a.answers.Set(key, &answer{body: made.Body})
	}
	return made, err
}

var _ public.Lists = (*query.Service)(nil)
