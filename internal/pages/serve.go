package pages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/internal/texts"
	"daybook/query"
)

// TypeHTML is the media type of pages.
const TypeHTML = "text/html; charset=utf-8"

// Serve answers a request for a page. Errors that people can read are pages; others are
// those of the store and the read model.
func (p *Pages) Serve(ctx context.Context, r *Request) (*Answer, error) {
	a, err := p.serve(ctx, r)
	if refused, ok := errors.AsType[*calendar.Error](err); ok {
		return p.Refuse(r, refused)
	}
	return a, err
}

func (p *Pages) serve(ctx context.Context, r *Request) (*Answer, error) {
	switch {
	case r.Route.moved != "":
		return redirect(r.Path+r.Route.moved, ""), nil
	case r.Query.Has(paramLanguage):
		l, ok := calendar.ParseLang(r.Query.Get(paramLanguage))
		if !ok {
			var bad calendar.Problems
			bad.Add(paramLanguage, calendar.ReasonWord, "cn,en,fr,es")
			return nil, bad.Err()
		}
		return redirect(r.Path+segments[l]+strings.TrimPrefix(r.Route.proper, segments[r.Route.lang]), paramLanguage), nil
	case r.Query.Has(paramPreview) && !isBool(r.Query.Get(paramPreview)):
		var bad calendar.Problems
		bad.Add(paramPreview, calendar.ReasonTypeBool)
		return nil, bad.Err()
	case r.Route.wrong:
		return nil, calendar.Fail(calendar.CodePageNotFound, calendar.KindEvent)
	}
	if r.Route.file != "" {
		return p.serveFile(ctx, r)
	}
	return r.Route.serve(p, ctx, p.layoutOf(r))
}

func (p *Pages) layoutOf(r *Request) *layout {
	return &layout{r: r, p: p, Lang: r.Route.lang, say: p.speech(r.Route.lang), Page: r.Route.name, Position: r.Position, NoIndex: r.Preview}
}

const paramLanguage = "multilang_language"

// selectFor reads the selection of a page, and refuses what was sent badly.
func (p *Pages) selectFor(ctx context.Context, l *layout, path string, over period, of query.Of) (err error) {
	if l.sel, err = p.choose(ctx, l.r, path, over, of); err != nil {
		return err
	}
	if l.sel.bad != nil {
		return l.sel.bad
	}
	l.Canonical = onto(path, l.canonicalQuery())
	l.NoIndex = l.r.Route.noIndex || l.r.parametered()
	l.Feeds = l.feeds()
	return nil
}

// parametered tells that a page has any parameter but its number, so that search engines
// have no use for it.
func (r *Request) parametered() bool {
	return r.strange || len(r.Query) > 1 || len(r.Query) == 1 && !r.Query.Has(paramPage)
}

// canonicalQuery are the parameters that select, without defaults, and the page.
func (l *layout) canonicalQuery() string {
	sent := slices.DeleteFunc(l.sel.asked.without(shapes...).without(paramPast, paramZone), func(p query.LinkParam) bool {
		return l.isDefault(baseName(p.Name), p.Value)
	})
	if per := l.sel.asked.value(paramPerPage); per != "" && l.sel.page > 1 && l.sel.criteria.PerPage != defaultPerPage {
		sent = append(params{{Name: paramPerPage, Value: strconv.Itoa(l.sel.criteria.PerPage)}}, sent...)
	}
	if l.sel.past {
		sent = sent.with(paramPast, "true")
	}
	links := query.LinksTo("", sent)
	return links.Page(l.sel.page)
}

// isDefault tells that a parameter says what holds without it.
func (l *layout) isDefault(name, value string) bool {
	params := query.Params(calendar.KindEvent)
	i := slices.IndexFunc(params, func(p query.Param) bool { return p.Name == name })
	if name == paramOverlap {
		is, _ := calendar.ParseBool(value)
		return is != l.sel.dated()
	}
	if i < 0 || params[i].Default == "" {
		return false
	}
	standard := strings.Trim(params[i].Default, `"`)
	is, ok := calendar.ParseBool(value)
	other, ok2 := calendar.ParseBool(standard)
	return value == standard || ok && ok2 && is == other
}

// serveRecord answers the page of a record.
func (p *Pages) serveRecord(ctx context.Context, l *layout) (*Answer, error) {
	r, route := l.r, &l.r.Route
	locked, protected := false, false
	var refused error
	v, err := p.Lists.Read(ctx, route.kind, route.id, route.slug, r.Caller, l.Lang, query.EmbedAll, func(ctx context.Context, id calendar.ID) (bool, error) {
		locked, protected = true, true
		if r.Unlock {
			var right bool
			right, refused = r.Opens(ctx, id)
			locked = !right
		}
		return true, nil
	})
	if err != nil {
		return p.missing(ctx, r, err)
	}
	l.Status = statusOf(route.kind, v.Status)
	switch {
	case r.Unlock && !protected:
		a := redirect(r.href(recordPath(v.Record)), "")
		a.Status = http.StatusSeeOther
		return a, nil
	case refused != nil:
		return nil, refused
	case route.kind == calendar.KindEvent:
		return p.serveEvent(ctx, l, &v, locked)
	}
	if err = p.selectFor(ctx, l, recordPath(v.Record), period{}, query.Of{Kind: route.kind, ID: v.Record.ID}); err != nil {
		return nil, err
	}
	b, err := p.record(ctx, l, &v)
	if err != nil {
		return nil, err
	}
	l.Body = b
	return p.render(l, http.StatusOK)
}

func (p *Pages) serveEvent(ctx context.Context, l *layout, v *query.View, locked bool) (*Answer, error) {
	var ok bool
	if l.zone, ok = zoneOf(l.r.Query.Get(paramZone)); !ok {
		var bad calendar.Problems
		bad.Add(paramZone, calendar.ReasonZone, l.r.Query.Get(paramZone))
		return nil, bad.Err()
	}
	if point := l.r.asOf(); point != "" && !l.r.Unlock && v.Record.Slug() != "" {
		return p.serveThen(ctx, l, v.Record, point)
	}
	if !locked && p.Past.Open(l.r.Caller) {
		var err error
		if l.moved, err = p.Past.Moved(ctx, l.r.Caller, v.Record); err != nil {
			return nil, err
		}
	}
	b, err := p.event(ctx, l, v, locked)
	if err != nil {
		return nil, err
	}
	status := http.StatusOK
	if l.r.Unlock {
		l.NoIndex = true
		if locked {
			status, b.Wrong = http.StatusForbidden, true
			l.Code, l.Failed = string(calendar.CodePasswordProtected), true
		} else {
			b.Exports, l.Feeds = nil, nil
		}
	}
	l.Body = b
	return p.render(l, status)
}

// listed are the parameters of what is linked from a listed event.
func listed(k calendar.Kind) calendar.Input {
	if k.IsTerm() {
		return calendar.Input{"hide_empty": "true"}
	}
	return calendar.Input{"has_events": "true"}
}

// problem is a message beside a field.
type problem struct{ Field, Label, Message string }

// Anchor is the id of its field.
func (p problem) Anchor() string { return "filter-" + p.Name() }

// besideField is a message without the name of its field, which stands beside it.
func besideField(field, message string) string {
	rest, named := strings.CutPrefix(message, field)
	if !named {
		return message
	}
	return strings.TrimLeft(rest, " :："+noBreak+narrowNoBreak)
}

// Name is the field without the mark of lists.
func (p problem) Name() string { return baseName(p.Field) }

type errorBody struct {
	Status   int
	Text     string
	Hint     string
	Problems []problem
	Form     *filterForm // where parameters were refused
}

// statuses are those of the errors that pages tell; others have the one of the interface.
var statuses = map[calendar.Code]int{
	calendar.CodeInvalidParam: http.StatusBadRequest, calendar.CodePageNotFound: http.StatusNotFound, calendar.CodeNotFound: http.StatusNotFound,
	calendar.CodeNotAccessible: http.StatusNotFound, calendar.CodeErased: http.StatusGone, calendar.CodeNoLongerAvailable: http.StatusGone,
	calendar.CodeTooManyRequests: http.StatusTooManyRequests, calendar.CodeSelectionTooLarge: http.StatusBadRequest, calendar.CodeUnavailable: http.StatusServiceUnavailable,
}

// Refuse makes the page of an error.
func (p *Pages) Refuse(r *Request, refused *calendar.Error) (*Answer, error) {
	status, known := statuses[refused.Code]
	if !known {
		return nil, refused
	}
	return p.Fail(r, refused, status, string(refused.Code))
}

// Fail makes the page of an error, of which the interface has the status and the code.
func (p *Pages) Fail(r *Request, refused *calendar.Error, status int, code string) (*Answer, error) {
	if own, known := statuses[refused.Code]; known {
		status = own
	}
	l := p.layoutOf(r)
	l.Page, l.Code, l.Position = pageError, code, 0
	b := &errorBody{Status: status, Text: word("error."+strconv.Itoa(status), l.Lang)}
	if b.Text == "" {
		b.Text = word("error.503", l.Lang)
	}
	b.Hint = word("error.hint."+strconv.Itoa(status), l.Lang)
	switch status {
	case http.StatusNotFound: // the same for what there is not and what is not for everybody
		l.Code = "not-found"
	case http.StatusGone:
		l.Code = refused.Kind.String() + "-gone"
	}
	for _, f := range refused.Fields {
		problem := problem{Field: f.Field, Label: l.filterName(baseName(f.Field)), Message: besideField(f.Field, texts.FieldMessage(f, l.Lang))}
		b.Problems = append(b.Problems, problem)
	}
	l.Title, l.Heading = b.Text, b.Text
	if len(b.Problems) > 0 {
		b.Form, l.Failed = l.form(nil, b.Problems...), true
		names := make([]string, len(b.Problems))
		for i, p := range b.Problems {
			names[i] = p.Label
		}
		l.Title += " " + strings.Join(names, ", ")
	}
	l.NoIndex = true
	l.Body = b
	a, err := p.render(l, status)
	if a != nil {
		a.Error = refused
	}
	return a, err
}

// renderedSize is how many bytes most pages have at most.
const renderedSize = 64 << 10

// render writes a page.
func (p *Pages) render(l *layout, status int) (*Answer, error) {
	l.NoIndex = l.NoIndex || l.r.Preview
	as := wholePage
	if l.Embedded() {
		as = embeddedPage
	}
	var out bytes.Buffer
	out.Grow(renderedSize)
	if err := p.templates[l.Lang].ExecuteTemplate(&out, as, l); err != nil {
		return nil, fmt.Errorf("render page %s: %w", l.Page, err)
	}
	// Plus signs need no escape in UTF-8; media types and offsets are full of them.
	body := bytes.ReplaceAll(out.Bytes(), []byte("&#43;"), []byte("+"))
	a := &Answer{Status: status, Type: TypeHTML, Body: body, Position: l.Position, Lang: l.Lang, Since: l.r.since, Until: l.r.until}
	if l.r.Preview {
		a.Body = l.r.keepPreview(a.Body)
	}
	if l.Embedded() {
		a.Body = outOfFrame(a.Body)
	}
	return a, nil
}
