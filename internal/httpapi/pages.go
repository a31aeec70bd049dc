package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/ground/cache"
	public "daybook/internal/pages"
	"daybook/query"
)

// shownTexts gives pages the texts of records as answers have them.
type shownTexts struct{ currency calendar.Currency }

// HTML is a description or excerpt in a language, and the language that it is in.
func (s shownTexts) HTML(r *calendar.Record, field string, l calendar.Lang) (string, calendar.Lang) {
	_, in := r.Fields.Text(field).In(l, r.Home)
	return shownText(r, field, l), in
}

// Plain is the text of shown HTML.
func (s shownTexts) Plain(shown string) string { return formats.PlainText(shown) }

// Cost is what an event costs, not escaped, and its values.
func (s shownTexts) Cost(r *calendar.Record) (string, []string) {
	cost := calendar.ReadCost(r.Fields.Strings("cost"), s.currency)
	return cost.Text, cost.Values
}

// ShownTexts gives pages the texts of records as answers have them.
func ShownTexts(c calendar.Currency) public.Shown { return shownTexts{c} }

// pageHeaders are those of every page (PAGES.md P6.3).
var pageHeaders = [][2]string{
	{"Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"},
	{"Referrer-Policy", "strict-origin-when-cross-origin"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Permissions-Policy", "geolocation=(self), camera=(), microphone=(), payment=(), usb=()"},
}

// findPage gives where the path of a request leads among the pages.
func (a *api) findPage(r *http.Request, from origin) (public.Route, bool) {
	if a.o.Pages == nil {
		return public.Route{}, false
	}
	path := r.URL.EscapedPath()
	if from.path != "" {
		if rest, ok := cutPath(path, from.path); ok {
			path = rest
		}
	}
	return public.Find(path)
}

// servePage answers a request for a page.
func (a *api) servePage(w http.ResponseWriter, r *http.Request, c *call, from origin, route public.Route) {
	defer a.answerPanic(w, r)
	if err := a.answerPage(w, r, c, from, route); err != nil {
		a.fail(w, r, err)
	}
}

func (a *api) answerPage(w http.ResponseWriter, r *http.Request, c *call, from origin, route public.Route) error {
	for _, h := range pageHeaders {
		w.Header().Set(h[0], h[1])
	}
	if route.IsAsset() {
		media, body, present, ok := a.o.Pages.File(route)
		if !ok {
			return calendar.Fail(calendar.CodeNoRoute, 0)
		}
		w.Header().Set("Cache-Control", "no-cache")
		if present {
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		return a.sendAnswer(w, r, newAnswer(body, []string{media}, "", calendar.LangEN))
	}
	values := url.Values{}
	for _, p := range c.query {
		values.Add(p.name, p.value)
	}
	req := &public.Request{
		Route: route, Base: from.base, Path: from.path, Query: values, Raw: r.URL.RawQuery, Caller: calendar.Caller{},
		Input: inputOf(c.query, func(name string) bool { return listNames[calendar.KindEvent][name] }),
	}
	ctx := r.Context()
	state, err := a.Queries.Generation(ctx)
	if err != nil {
		return err
	}
	head, err := a.Records.Head(ctx)
	if err != nil {
		return err
	}
	key := string(state.Key(cache.Key{pageKey}.Text(from.base).Text(r.URL.EscapedPath()).Text(r.URL.RawQuery).Number(int64(head)).Number(a.today().Unix()).Text(a.o.Pages.Mark())))
	turns := a.turns
	if req.IsPast() {
		turns = a.past
	}
	var ans *answer
	err = a.inTurn(ctx, r, c, turns, func() (err error) {
		ans, err = a.once(ctx, c, key, &state, true, func(ctx context.Context) (*answer, error) {
			made, err := a.o.Pages.Serve(ctx, req)
			if err != nil {
				return nil, err
			}
			if made.Status != http.StatusOK {
				return nil, pageError{made}
			}
			ans := newAnswer(made.Body, []string{made.Type}, a.weakTag(key), made.Lang)
			ans.add(headerPosition, made.Position.String())
			return ans, nil
		})
		return err
	})
	if other, ok := errors.AsType[pageError](err); ok {
		if other.Location != "" {
			w.Header().Set("Location", other.Location)
		}
		w.Header()[headerType] = []string{other.Type}
		a.send(w, r, other.Status, other.Body)
		return nil
	}
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "public, max-age=0, s-maxage=10, stale-while-revalidate=60, stale-if-error=86400")
	return a.sendAnswer(w, r, ans)
}

// pageError is an answer with another status than 200: it is not kept.
type pageError struct{ *public.Answer }

func (p pageError) Error() string { return "page answered " + http.StatusText(p.Status) }

const pageKey = 'h'

var _ public.Lists = (*query.Service)(nil)
