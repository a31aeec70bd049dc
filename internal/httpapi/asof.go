package httpapi

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/internal/history"
	"daybook/internal/httpapi/admit"
	"daybook/internal/param"
	"daybook/query"
	"daybook/query/past"
)

// asksPast reports whether a read names a point in time, by the parameter or by the header,
// and whether the caller may. Answers to it are those of the past from then on.
func (call *call) asksPast() (asks bool, err error) {
	if call.route.Past && call.sends(history.ParamPoint) {
		call.fresh = valueAskBack
		return true, call.mayReadPast()
	}
	if call.route.Timed && call.request.Header.Get(headerAcceptTime) != "" && call.mayReadPast() == nil {
		call.fresh = valueAskBack
		return true, nil
	}
	return false, nil
}

// sends reports whether the query has a parameter.
func (call *call) sends(name string) bool {
	for _, pair := range call.query {
		if base, _ := param.SplitName(pair.Name); base == name {
			return true
		}
	}
	return false
}

// readPoint reads the point of a read that names one, and reports whether the header does.
func (call *call) readPoint(input calendar.Input, problems *calendar.Problems) (point history.Point, byHeader bool, err error) {
	if !call.sends(history.ParamPoint) {
		return acceptDatetime(call.request.Header.Get(headerAcceptTime), call.o.Now(), problems), true, nil
	}
	point, err = call.History.ParsePoint(call.request.Context(), input[history.ParamPoint], call.route.Single && !call.route.bySlug, call.o.Site, problems)
	return point, false, err
}

// readThen answers a single read of the past.
func (call *call) readThen(singleParams *singleParams) error {
	target := call.targetOf()
	return call.read(&question{smaller: []string{"_fields"}, make: func(ctx context.Context, _ answerState) (*answer, error) {
		found, err := call.Past.Read(ctx, past.Request{
			Kind: call.route.kind, ID: target.id, Slug: target.slug, Caller: call.caller, Lang: call.lang,
			Embeds: query.EmbedsOf(singleParams.fields), Point: singleParams.point, FromFirst: singleParams.byHeader,
		})
		if err != nil {
			return nil, err
		}
		ans, err := call.singleAnswer(singleParams, &found.View, found.Version.Time.Time)
		if err != nil {
			return nil, err
		}
		ans.add(headerPosition, found.Version.Position.String())
		whole := ans.name(found.View.Record.ID, embeddedIn(&found.View))
		if target.slug == "" {
			url := call.root.Self(found.View.Record)
			ans.add(headerMemento, mementoTime(found.Moment))
			ans.add(headerLink, mementoLinks(url, &found.Mementos))
			if singleParams.byHeader {
				point := singleParams.point
				if found.Permanent {
					point = history.Point{Version: found.Version.Number}
				}
				names := []string{"password", history.ParamPoint, "multilang_language", "_fields"}
				ans.add(headerContentLocation, linkTo(url, call.query.Input(nil), names, history.ParamPoint, point.String()))
			}
		}
		if found.Permanent && !singleParams.byHeader && whole {
			call.fresh = call.permanent
		}
		return ans, nil
	}})
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
	var problems calendar.Problems
	request := call.listRequest()
	point, byHeader, err := call.readPoint(request.Input, &problems)
	if err != nil {
		return err
	}
	delete(request.Input, history.ParamPoint)
	var then past.PointInTime
	if len(problems.Fields) == 0 {
		if then, err = call.Past.Resolve(call.request.Context(), point); err != nil {
			return err
		}
	}
	form := request // what is wrong with it is known before the lists are
	form.Past, form.Refused = query.Past{FormOnly: true, Now: then.Moment}, problems.Fields
	_, refused := call.parse(call.request.Context(), form, call.Queries.Parse)
	if problem, ok := errors.AsType[*calendar.Error](refused); refused != nil && (!ok || problem.Code != calendar.CodeInvalidParam || len(problems.Fields) > 0) {
		return refused
	}
	list, err := call.listsThen(then, point)
	if err != nil {
		return cmp.Or(refused, err)
	}
	ctx, cancel := call.within(call.o.ReadDeadline)
	defer cancel()
	criteria, err := call.parse(ctx, request, list.Parse)
	if err != nil {
		return err
	}
	call.lang = criteria.Lang
	original, location := call.urlsThen(criteria)
	if !byHeader {
		location = ""
	}
	run := call.runList(list.Run, criteria, original)
	return call.read(&question{
		state: list.Generation,
		space: pastKey, number: then.Moment.Unix(), asked: call.asked().Text(criteria.Key).Text(original).Text(location),
		turns: call.turns, smaller: []string{"per_page", "_fields"},
		make: func(ctx context.Context, state answerState) (*answer, error) {
			ans, err := run(ctx, state)
			if err != nil {
				return nil, err
			}
			ans.add(headerMemento, mementoTime(then.Moment))
			if location != "" {
				ans.add(headerContentLocation, location)
			}
			return ans, nil
		},
	})
}

// listsThen waits for the lists of a point, without a slot.
func (call *call) listsThen(then past.PointInTime, point history.Point) (*past.List, error) {
	if !call.pass.Enter(admit.Wait, 1) {
		return nil, calendar.Fail(calendar.CodeUnavailable, 0)
	}
	defer call.pass.Resume()
	return call.Past.List(call.client, call.caller, call.pass.Address, then, point.String(), call.sends("search"))
}

// urlsThen returns the URL of a list of the past as it was sent, without the point and with
// it.
func (call *call) urlsThen(criteria *query.Criteria) (without, with string) {
	var sent, all []query.LinkParam
	if call.sends("page") {
		sent = append(sent, query.LinkParam{Name: "page", Value: strconv.Itoa(criteria.Page)})
	}
	all = slices.Clone(sent)
	for _, linkParam := range criteria.Links {
		switch {
		case linkParam.Name == history.ParamPoint:
			all = append(all, linkParam)
		case call.sends(strings.TrimSuffix(linkParam.Name, "[]")):
			sent, all = append(sent, linkParam), append(all, linkParam)
		}
	}
	original, dated := query.LinksTo(call.address(), sent), query.LinksTo(call.address(), all)
	return original.Page(1), dated.Page(1)
}
