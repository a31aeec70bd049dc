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
func (pages *Pages) Serve(ctx context.Context, request *Request) (*Answer, error) {
	look := pages.look(ctx, request)
	look.serve()
	if refused, ok := errors.AsType[*calendar.Error](look.err); ok && statuses[refused.Code] != 0 {
		return pages.Fail(ctx, request, refused, 0, string(refused.Code))
	}
	if look.err != nil || look.answer != nil {
		return look.answer, look.err
	}
	return look.render()
}

// look begins to make a page.
func (pages *Pages) look(ctx context.Context, request *Request) *pageBuilder {
	return &pageBuilder{Pages: pages, Request: request, locale: pages.speech(request.Route.language), ctx: ctx, Page: request.Route.name, Embedded: request.Route.name == pageEmbed, Position: request.Position, NoIndex: request.Preview}
}

func (builder *pageBuilder) serve() {
	route := &builder.Route
	switch {
	case route.moved != "":
		builder.answer = redirect(builder.Path+route.moved, "")
	case builder.Query.Has(paramLanguage):
		language, ok := calendar.ParseLang(builder.Query.Get(paramLanguage))
		if !ok {
			builder.refuse(paramLanguage, calendar.ReasonWord, "cn, en, fr, es")
			return
		}
		builder.answer = redirect(builder.Path+segments[language]+strings.TrimPrefix(route.proper, segments[route.language]), paramLanguage)
	case builder.Query.Has(paramPreview) && !isBool(builder.Query.Get(paramPreview)):
		builder.refuse(paramPreview, calendar.ReasonTypeBool)
	case route.wrong:
		builder.err = calendar.Fail(calendar.CodePageNotFound, calendar.KindEvent)
	default:
		route.serve(builder)
	}
}

// refuse says what is wrong with a parameter.
func (builder *pageBuilder) refuse(param string, why calendar.Reason, args ...string) {
	builder.bad.Add(param, why, args...)
	builder.err = builder.bad.Err()
}

const paramLanguage = "multilang_language"

// parametered tells that a page has any parameter but its number, so that search engines
// have no use for it.
func (request *Request) parametered() bool {
	return request.strange || len(request.Query) > 1 || len(request.Query) == 1 && !request.Query.Has(paramPage)
}

// readRecord finds the record of the route. Of an event it reports whether a password protects
// it, and whether it stays locked. Where there is nothing to show builder.answer or builder.err is set.
func (builder *pageBuilder) readRecord() (view query.View, locked bool) {
	route := &builder.Route
	protected := false
	var refused error
	view, err := builder.Lists.Read(builder.ctx, route.kind, route.id, route.slug, builder.Caller, builder.language, query.EmbedAll, func(ctx context.Context, id calendar.ID) (bool, error) {
		locked, protected = true, true
		if builder.Unlock {
			var right bool
			right, refused = builder.Opens(ctx, id)
			locked = !right
		}
		return true, nil
	})
	switch {
	case err != nil:
		builder.err = builder.missing(err)
		return view, locked
	case builder.Unlock && !protected:
		builder.answer = redirect(builder.Href(recordPath(view.Record)), "")
		builder.answer.Status = http.StatusSeeOther
	case refused != nil:
		builder.err = refused
	}
	builder.Status = view.Status
	return view, locked
}

// done tells that there is nothing more to find out.
func (builder *pageBuilder) done() bool { return builder.err != nil || builder.answer != nil }

// serveRecord answers the page of a record.
func (builder *pageBuilder) serveRecord() {
	view, locked := builder.readRecord()
	switch {
	case builder.done():
	case builder.Route.id != 0 && view.Record.Slug() != "":
		builder.answer = redirect(builder.Href(recordPath(view.Record)), builder.Route.kind.String())
	case builder.Route.kind == calendar.KindEvent:
		builder.serveEvent(&view, locked)
	default:
		builder.record(&view)
	}
}

func (builder *pageBuilder) serveEvent(view *query.View, locked bool) {
	builder.readZone()
	if builder.err = builder.bad.Err(); builder.err != nil {
		return
	}
	if point := builder.asOf(); point != "" && !builder.Unlock && view.Record.Slug() != "" {
		builder.serveThen(view.Record, point)
		return
	}
	if !locked && !builder.Embedded && builder.readsPast() {
		builder.moved, builder.err = builder.History.Moved(builder.ctx, view.Record)
	}
	if builder.event(view, locked); builder.Unlock && locked {
		builder.code, builder.Code, builder.Failed = http.StatusForbidden, string(calendar.CodePasswordProtected), true
	}
}

// listed are the parameters of what is linked from a listed event.
func listed(kind calendar.Kind) calendar.Input {
	if kind.IsTerm() {
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
func (pages *Pages) Fail(ctx context.Context, request *Request, refused *calendar.Error, status int, code string) (*Answer, error) {
	if request.Route.name == "" { // files are in no language
		request = &Request{Route: Nowhere(request.Route.language), Base: request.Base, Path: request.Path}
	}
	look := pages.look(ctx, request)
	look.code = cmp.Or(statuses[refused.Code], status)
	look.Page, look.Code, look.Position = pageError, code, 0
	look.Heading = cmp.Or(look.text("error."+strconv.Itoa(look.code)), look.text("error.503"))
	body := &errorBody{Status: look.code}
	switch body.Status {
	case http.StatusNotFound: // the same for what there is not and what is not for everybody
		look.Code = "not-found"
	case http.StatusGone:
		look.Code = refused.Kind.String() + "-gone"
	}
	names := make([]string, 0, len(refused.Fields))
	for _, fieldError := range refused.Fields {
		name, message := baseName(fieldError.Field), texts.FieldMessage(fieldError, look.language)
		if rest, named := strings.CutPrefix(message, fieldError.Field); named { // the name stands beside it
			message = strings.TrimLeft(rest, " :："+noBreak+narrowNoBreak)
		}
		body.Problems = append(body.Problems, problem{name, message})
		names = append(names, cmp.Or(look.text("filter."+name), name))
	}
	look.Title = look.Heading
	if look.Failed = body.Problems != nil; look.Failed {
		look.Title += " " + strings.Join(names, look.comma())
		body.Form = look.form(nil, body.Problems...)
	}
	look.NoIndex, look.Body = true, body
	answer, err := look.render()
	if answer != nil {
		answer.Error = refused
	}
	return answer, err
}

// renderedSize is how many bytes most pages have at most.
const renderedSize = 64 << 10

// render writes a page.
func (builder *pageBuilder) render() (*Answer, error) {
	builder.NoIndex = builder.NoIndex || builder.Preview
	as := wholePage
	if builder.Embedded {
		as = embeddedPage
	}
	var result bytes.Buffer
	result.Grow(renderedSize)
	if err := builder.templates[builder.language].ExecuteTemplate(&result, as, builder); err != nil {
		return nil, fmt.Errorf("render page %s: %w", builder.Page, err)
	}
	// Plus signs need no escape in UTF-8; media types and offsets are full of them.
	body := bytes.ReplaceAll(result.Bytes(), []byte("&#43;"), []byte("+"))
	if builder.Preview {
		body = builder.keepPreview(body)
	}
	if builder.Embedded {
		body = outOfFrame(body)
	}
	return &Answer{Status: cmp.Or(builder.code, http.StatusOK), Type: TypeHTML, Body: body, Position: builder.Position, Lang: builder.language, Since: builder.since, Until: builder.until}, nil
}
