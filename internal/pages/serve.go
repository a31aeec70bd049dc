package pages

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
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
	l := p.look(ctx, r)
	l.serve()
	if refused, ok := errors.AsType[*calendar.Error](l.err); ok && statuses[refused.Code] != 0 {
		return p.Fail(ctx, r, refused, 0, string(refused.Code))
	}
	if l.err != nil || l.answer != nil {
		return l.answer, l.err
	}
	return l.render()
}

// look begins to make a page.
func (p *Pages) look(ctx context.Context, r *Request) *look {
	return &look{Pages: p, Request: r, speech: p.speech(r.Route.lang), ctx: ctx, Page: r.Route.name, embedded: r.Route.name == pageEmbed, Position: r.Position, NoIndex: r.Preview}
}

func (l *look) serve() {
	route := &l.Route
	switch {
	case route.moved != "":
		l.answer = redirect(l.Path+route.moved, "")
	case l.Query.Has(paramLanguage):
		to, ok := calendar.ParseLang(l.Query.Get(paramLanguage))
		if !ok {
			l.refuse(paramLanguage, calendar.ReasonWord, "cn, en, fr, es")
			return
		}
		l.answer = redirect(l.Path+segments[to]+strings.TrimPrefix(route.proper, segments[route.lang]), paramLanguage)
	case l.Query.Has(paramPreview) && !isBool(l.Query.Get(paramPreview)):
		l.refuse(paramPreview, calendar.ReasonTypeBool)
	case route.wrong:
		l.err = calendar.Fail(calendar.CodePageNotFound, calendar.KindEvent)
	default:
		route.serve(l)
	}
}

// refuse says what is wrong with a parameter.
func (l *look) refuse(param string, why calendar.Reason, args ...string) {
	l.bad.Add(param, why, args...)
	l.err = l.bad.Err()
}

const paramLanguage = "multilang_language"

// parametered tells that a page has any parameter but its number, so that search engines
// have no use for it.
func (r *Request) parametered() bool {
	return r.strange || len(r.Query) > 1 || len(r.Query) == 1 && !r.Query.Has(paramPage)
}

// readRecord finds the record of the route. Of an event it reports whether a password protects
// it, and whether it stays locked. Where there is nothing to show l.answer or l.err is set.
func (l *look) readRecord() (v query.View, locked bool) {
	route := &l.Route
	protected := false
	var refused error
	v, err := l.Lists.Read(l.ctx, route.kind, route.id, route.slug, l.Caller, l.lang, query.EmbedAll, func(ctx context.Context, id calendar.ID) (bool, error) {
		locked, protected = true, true
		if l.Unlock {
			var right bool
			right, refused = l.Opens(ctx, id)
			locked = !right
		}
		return true, nil
	})
	switch {
	case err != nil:
		l.err = l.missing(err)
		return v, locked
	case l.Unlock && !protected:
		l.answer = redirect(l.href(recordPath(v.Record)), "")
		l.answer.Status = http.StatusSeeOther
	case refused != nil:
		l.err = refused
	}
	l.Status = v.Status
	return v, locked
}

// done tells that there is nothing more to find out.
func (l *look) done() bool { return l.err != nil || l.answer != nil }

// serveRecord answers the page of a record.
func (l *look) serveRecord() {
	v, locked := l.readRecord()
	switch {
	case l.done():
	case l.Route.id != 0 && v.Record.Slug() != "":
		l.answer = redirect(l.href(recordPath(v.Record)), l.Route.kind.String())
	case l.Route.kind == calendar.KindEvent:
		l.serveEvent(&v, locked)
	default:
		l.record(&v)
	}
}

func (l *look) serveEvent(v *query.View, locked bool) {
	l.readZone()
	if l.err = l.bad.Err(); l.err != nil {
		return
	}
	if point := l.asOf(); point != "" && !l.Unlock && v.Record.Slug() != "" {
		l.serveThen(v.Record, point)
		return
	}
	if !locked && !l.embedded && l.Past.Open(l.Caller) {
		l.moved, l.err = l.Past.Moved(l.ctx, l.Caller, v.Record)
	}
	if l.event(v, locked); l.Unlock && locked {
		l.code, l.Code, l.Failed = http.StatusForbidden, string(calendar.CodePasswordProtected), true
	}
}

// listed are the parameters of what is linked from a listed event.
func listed(k calendar.Kind) calendar.Input {
	if k.IsTerm() {
		return calendar.Input{"hide_empty": "true"}
	}
	return calendar.Input{"has_events": "true"}
}

// problem is a message next to a field.
type problem struct{ Name, Message string }

type errorBody struct {
	Status   int
	Problems []problem
	Form     *filterForm // where parameters were refused
}

// statuses are those of the errors that pages tell; others have the one of the interface.
var statuses = map[calendar.Code]int{
	calendar.CodeInvalidParam: http.StatusBadRequest, calendar.CodePageNotFound: http.StatusNotFound, calendar.CodeNotFound: http.StatusNotFound,
	calendar.CodeNotAccessible: http.StatusNotFound, calendar.CodeErased: http.StatusGone, calendar.CodeNoLongerAvailable: http.StatusGone,
	calendar.CodeTooManyRequests: http.StatusTooManyRequests, calendar.CodeSelectionTooLarge: http.StatusBadRequest, calendar.CodeUnavailable: http.StatusServiceUnavailable,
}

// Fail makes the page of an error, of which the interface has the status and the code.
func (p *Pages) Fail(ctx context.Context, r *Request, refused *calendar.Error, status int, code string) (*Answer, error) {
	if r.Route.name == "" { // files are in no language
		r = &Request{Route: Nowhere(r.Route.lang), Base: r.Base, Path: r.Path}
	}
	l := p.look(ctx, r)
	l.code = cmp.Or(statuses[refused.Code], status)
	l.Page, l.Code, l.Position = pageError, code, 0
	l.Heading = cmp.Or(l.text("error."+strconv.Itoa(l.code)), l.text("error.503"))
	b := &errorBody{Status: l.code}
	switch b.Status {
	case http.StatusNotFound: // the same for what there is not and what is not for everybody
		l.Code = "not-found"
	case http.StatusGone:
		l.Code = refused.Kind.String() + "-gone"
	}
	names := make([]string, 0, len(refused.Fields))
	for _, f := range refused.Fields {
		name, message := baseName(f.Field), texts.FieldMessage(f, l.lang)
		if rest, named := strings.CutPrefix(message, f.Field); named { // the name stands beside it
			message = strings.TrimLeft(rest, " :："+noBreak+narrowNoBreak)
		}
		b.Problems = append(b.Problems, problem{name, message})
		names = append(names, cmp.Or(l.text("filter."+name), name))
	}
	l.Title = l.Heading
	if l.Failed = b.Problems != nil; l.Failed {
		l.Title += " " + strings.Join(names, l.comma())
		b.Form = l.form(nil, b.Problems...)
	}
	l.NoIndex, l.Body = true, b
	a, err := l.render()
	if a != nil {
		a.Error = refused
	}
	return a, err
}

// renderedSize is how many bytes most pages have at most.
const renderedSize = 64 << 10

// render writes a page.
func (l *look) render() (*Answer, error) {
	l.NoIndex = l.NoIndex || l.Preview
	as := wholePage
	if l.Embedded() {
		as = embeddedPage
	}
	var out bytes.Buffer
	out.Grow(renderedSize)
	if err := l.templates[l.lang].ExecuteTemplate(&out, as, l); err != nil {
		return nil, fmt.Errorf("render page %s: %w", l.Page, err)
	}
	// Plus signs need no escape in UTF-8; media types and offsets are full of them.
	body := bytes.ReplaceAll(out.Bytes(), []byte("&#43;"), []byte("+"))
	if l.Preview {
		body = l.keepPreview(body)
	}
	if l.Embedded() {
		body = outOfFrame(body)
	}
	return &Answer{Status: cmp.Or(l.code, http.StatusOK), Type: TypeHTML, Body: body, Position: l.Position, Lang: l.lang, Since: l.since, Until: l.until}, nil
}
