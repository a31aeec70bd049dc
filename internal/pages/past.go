package pages

import (
	"cmp"
	"errors"
	"maps"
	"time"

	"daybook/calendar"
	"daybook/internal/history"
	"daybook/internal/param"
	"daybook/query"
	"daybook/query/past"
)

const paramAsOf = "as_of"

// asOf is the point that a request names, "" for none.
func (request *Request) asOf() string { return calendar.Trim(request.Query.Get(paramAsOf)) }

// IsPast reports whether the past is asked for, so that a page of it is work.
func (request *Request) IsPast() bool {
	return request.Route.name == pageHistory || request.Route.name == pageEvent && request.asOf() != ""
}

// viewer is who reads the page.
func (request *Request) viewer() history.Viewer {
	return history.Viewer{Caller: request.Caller, Lang: request.Route.language}
}

// notFound is the answer for all that is not there, or not for the caller.
func notFound(kind calendar.Kind) error { return calendar.Fail(calendar.CodeNotFound, kind) }

// hidden turns the refusals of the past into that of what is not there: they would show
// that there is something.
func hidden(kind calendar.Kind, err error) error {
	if refused, ok := errors.AsType[*calendar.Error](err); ok && refused.Code != calendar.CodeInvalidParam {
		return notFound(kind)
	}
	return err
}

// readsPast reports whether the past is open to the caller at all.
func (builder *pageBuilder) readsPast() bool {
	return builder.options.OpenHistory || builder.Caller.ReadsAll()
}

// missing answers for a record that cannot be read: it has moved, is gone, or there is
// none (PAGES.md P2.4).
func (builder *pageBuilder) missing(err error) error {
	if _, ok := errors.AsType[*calendar.Error](err); !ok {
		return err
	}
	route, now := builder.Route, builder.options.Now()
	named, err := builder.Records.Named(builder.ctx, route.kind, route.id, route.slug)
	for _, record := range named {
		gone := record.Deleted || record.Kind.IsPost() && record.Status(now) == calendar.StatusTrash
		former := route.slug
		if former == record.Slug() {
			former = ""
		}
		if !gone && (former == "" || record.Slug() == "" || !calendar.MayRead(builder.Caller, record, now)) {
			continue
		}
		switch was, err := builder.History.WasPublic(builder.ctx, record, former); {
		case err != nil:
			return err
		case was && gone:
			return calendar.Fail(calendar.CodeNoLongerAvailable, record.Kind)
		case was:
			route.slug = record.Slug()
			builder.answer = redirect(builder.Href(route.below()), "")
			return nil
		}
	}
	return cmp.Or(err, notFound(route.kind))
}

// serveByID answers /?event=<id> and its like, and reports whether it is one: with the slug
// page of a record that may be read, or with the record itself where it has none.
func (builder *pageBuilder) serveByID() bool {
	for _, kind := range []calendar.Kind{calendar.KindEvent, calendar.KindVenue, calendar.KindOrganizer} {
		text := calendar.Trim(builder.Query.Get(kind.String()))
		if text == "" {
			continue
		}
		request := *builder.Request
		request.Route.page = recordPages[kind]
		request.Route.id, _ = calendar.ParseID(text)
		request.Query, request.Input = maps.Clone(builder.Query), maps.Clone(builder.Input)
		delete(request.Query, kind.String())
		delete(request.Input, kind.String())
		builder.Request, builder.Page = &request, request.Route.name
		if builder.err = notFound(kind); request.Route.id != 0 {
			builder.err = nil
			builder.serveRecord()
		}
		return true
	}
	return false
}

// serveThen answers the page of an event as it was.
func (builder *pageBuilder) serveThen(present *calendar.Record, point string) {
	if !builder.readsPast() {
		builder.err = notFound(present.Kind)
		return
	}
	var bad calendar.Problems
	head, err := builder.History.Head(builder.ctx)
	at := param.ParsePoint(point, true, builder.options.Now(), builder.options.Site, head, &bad)
	if err = cmp.Or(err, bad.Err()); err != nil {
		builder.err = err
		return
	}
	then, err := builder.Past.Read(builder.ctx, past.Request{
		Kind: present.Kind, ID: present.ID, Caller: builder.Caller, Lang: builder.language, Embeds: query.EmbedAll, Point: at,
	})
	if err != nil {
		builder.err = hidden(present.Kind, err)
		return
	}
	builder.own = params{{Name: paramAsOf, Value: point}}
	recordBody := builder.event(&then.View, false)
	builder.Canonical, builder.Langs, builder.NoIndex = recordPath(present), present.Langs(), true
	recordBody.Then, recordBody.History = &then.Version, builder.Href(builder.Canonical+"history/")
}

// inZone is a moment on the clock of the page.
func (builder *pageBuilder) inZone(instant time.Time) time.Time {
	if builder.zone != nil {
		return instant.In(builder.zone.Location)
	}
	return instant.In(builder.options.Site)
}

// historyHref is the path of the history of a record, "" where it is closed.
func (builder *pageBuilder) historyHref(record *calendar.Record) string {
	if !builder.readsPast() || record.Slug() == "" || record.Kind == calendar.KindEvent && calendar.NeedsPassword(builder.Caller, record) {
		return ""
	}
	return builder.Href(recordPath(record) + "history/")
}
