package httpapi

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"daybook/calendar"
	"daybook/internal/httpapi/admit"
	"daybook/internal/param"
	"daybook/query"
	"daybook/query/past"
)

// readPoint reads the point of a read that names one.
func (call *call) readPoint() (err error) {
	if call.byHeader {
		call.point = param.ParseDatetime(headerAcceptTime, call.request.Header, call.Now(), &call.problems)
		return nil
	}
	head, err := call.History.Head(call.context)
	call.point = param.ParsePoint(call.input[param.AsOf], call.route.Single && !call.route.bySlug, call.Now(), call.Site, head, &call.problems)
	return err
}

// then makes the answer to a single read of the past.
func (call *call) then(ctx context.Context) (*answer, error) {
	found, err := call.Past.Read(ctx, past.Request{
		Kind: call.route.Kind, ID: call.target.ID, Slug: call.target.Slug, Caller: call.caller, Lang: call.language,
		Embeds: query.EmbedsOf(call.fields), Point: call.point, FromFirst: call.byHeader,
	})
	if err != nil {
		return nil, err
	}
	answer, err := call.recordAnswer(&found.View, found.Version.Time.Time)
	if err != nil {
		return nil, err
	}
	answer.add(headerPosition, found.Version.Position.String())
	whole := answer.name(found.View.Record.ID, embeddedIn(&found.View))
	if call.target.Slug == "" {
		address := call.root.Self(found.View.Record)
		answer.add(headerMemento, mementoTime(found.Moment))
		answer.add(headerLink, aroundLinks(address, &found.Mementos))
		if call.byHeader {
			point := call.point
			if found.Permanent {
				point = param.Point{Version: found.Version.Number}
			}
			answer.add(headerContentLocation, call.linkTo(address, param.AsOf, point.String()))
		}
	}
	if found.Permanent && !call.byHeader && whole {
		call.fresh = call.permanent
	}
	return answer, nil
}

// embeddedIn are the records that a view embeds.
func embeddedIn(view *query.View) (ids []calendar.ID) {
	for _, linkedViews := range [...][]query.LinkedView{view.Venues, view.Organizers, view.Categories, view.Tags} {
		for i := range linkedViews {
			ids = append(ids, linkedViews[i].Record.ID)
		}
	}
	return ids
}

// listThen answers a list of the past.
func (call *call) listThen() error {
	request := call.listRequest(query.Request{Caller: call.caller})
	err := call.readPoint()
	if err != nil {
		return err
	}
	delete(request.Input, param.AsOf)
	problems := call.problems.Fields
	var then past.PointInTime
	if len(problems) == 0 {
		if then, err = call.Past.Resolve(call.context, call.point); err != nil {
			return err
		}
	}
	form := request // what is wrong with it is known before the lists are
	form.Past, form.Refused = query.Past{FormOnly: true, Now: then.Moment}, problems
	refused := call.parse(form)
	if problem, ok := errors.AsType[*calendar.Error](refused); refused != nil && (!ok || problem.Code != calendar.CodeInvalidParam || len(problems) > 0) {
		return refused
	}
	lists, withdrawn, err := call.listsThen(then)
	if err != nil {
		return cmp.Or(refused, err)
	}
	request.Past, call.lists = query.Past{AsOf: call.point.String(), Now: then.Moment, Withdrawn: withdrawn}, lists
	call.begin(call.ReadDeadline)
	if err := call.parse(request); err != nil {
		return err
	}
	call.language = call.criteria.Lang
	original, location := call.urlsThen()
	if !call.byHeader {
		location = ""
	}
	if call.state, err = lists.Generation(call.context); err != nil {
		return err
	}
	return call.read(&question{
		asked: call.asked().Number(then.Moment.Unix()).Text(call.criteria.Key).Text(original).Text(location),
		turns: call.turns, smaller: []string{"per_page", "_fields"},
		make: func(ctx context.Context) (*answer, error) {
			reply, err := call.runList(ctx, original)
			if err != nil {
				return nil, err
			}
			reply.add(headerMemento, mementoTime(then.Moment))
			if location != "" {
				reply.add(headerContentLocation, location)
			}
			return reply, nil
		},
	})
}

// listsThen waits for the lists of a point, without a slot.
func (call *call) listsThen(then past.PointInTime) (*query.Service, query.Withdrawn, error) {
	if err := call.pass.Enter(admit.Wait, 1); err != nil {
		return nil, nil, err
	}
	defer call.pass.Resume()
	return call.Past.List(call.client, call.caller, call.pass.Address, then, call.sends("search"))
}

// urlsThen returns the URL of a list of the past as it was sent, without the point and with
// it.
func (call *call) urlsThen() (without, with string) {
	sent := call.criteria.Sent
	if call.sends("page") {
		sent = slices.Concat([]param.LinkParam{{Name: "page", Value: strconv.Itoa(call.criteria.Page)}}, sent)
	}
	dated := param.LinksTo(call.address(), sent)
	original := param.LinksTo(call.address(), slices.DeleteFunc(slices.Clone(sent), func(linkParam param.LinkParam) bool {
		return linkParam.Name == param.AsOf
	}))
	return original.Page(1), dated.Page(1)
}
