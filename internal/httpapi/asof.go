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
	"daybook/query"
	"daybook/query/past"
)

// asksPast reports whether a read names a point in time, by the parameter or by the header,
// and whether the caller may. Answers to it are those of the past from then on.
func (c *call) asksPast() (asks bool, err error) {
	if c.route.Past && c.sends(history.ParamPoint) {
		c.fresh = valueAskBack
		return true, c.mayReadPast()
	}
	if c.route.Timed && c.r.Header.Get(headerAcceptTime) != "" && c.mayReadPast() == nil {
		c.fresh = valueAskBack
		return true, nil
	}
	return false, nil
}

// sends reports whether the query has a parameter.
func (c *call) sends(name string) bool {
	for _, pair := range c.query {
		if base, _ := splitName(pair.name); base == name {
			return true
		}
	}
	return false
}

// readPoint reads the point of a read that names one, and reports whether the header does.
func (c *call) readPoint(in calendar.Input, problems *calendar.Problems) (point history.Point, byHeader bool, err error) {
	if !c.sends(history.ParamPoint) {
		return acceptDatetime(c.r.Header.Get(headerAcceptTime), c.o.Now(), problems), true, nil
	}
	point, err = c.History.ParsePoint(c.r.Context(), in[history.ParamPoint], c.route.Single && !c.route.bySlug, c.o.Site, problems)
	return point, false, err
}

// readThen answers a single read of the past.
func (c *call) readThen(p *singleParams) error {
	of := c.targetOf()
	return c.read(&question{smaller: []string{"_fields"}, make: func(ctx context.Context, _ stated) (*answer, error) {
		found, err := c.Past.Read(ctx, past.Request{
			Kind: c.route.kind, ID: of.id, Slug: of.slug, Caller: c.caller, Lang: c.lang,
			Embeds: query.EmbedsOf(p.fields), Point: p.point, FromFirst: p.byHeader,
		})
		if err != nil {
			return nil, err
		}
		ans, err := c.singleAnswer(p, &found.View, found.Version.Time.Time)
		if err != nil {
			return nil, err
		}
		ans.add(headerPosition, found.Version.Position.String())
		whole := ans.name(found.View.Record.ID, embeddedIn(&found.View))
		if of.slug == "" {
			url := c.root.Self(found.View.Record)
			ans.add(headerMemento, mementoTime(found.Moment))
			ans.add(headerLink, mementoLinks(url, &found.Mementos))
			if p.byHeader {
				point := p.point
				if found.Permanent {
					point = history.Point{Version: found.Version.Number}
				}
				names := []string{"password", history.ParamPoint, "multilang_language", "_fields"}
				ans.add(headerContentLocation, linkTo(url, inputOf(c.query, nil), names, history.ParamPoint, point.String()))
			}
		}
		if found.Permanent && !p.byHeader && whole {
			c.fresh = c.permanent
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
func (c *call) listThen() error {
	var problems calendar.Problems
	request := c.listRequest()
	point, byHeader, err := c.readPoint(request.Input, &problems)
	if err != nil {
		return err
	}
	delete(request.Input, history.ParamPoint)
	var then past.Then
	if len(problems.Fields) == 0 {
		if then, err = c.Past.Resolve(c.r.Context(), point); err != nil {
			return err
		}
	}
	form := request // what is wrong with it is known before the lists are
	form.Past, form.Refused = query.Past{FormOnly: true, Now: then.Moment}, problems.Fields
	_, refused := c.parse(c.r.Context(), form, c.Queries.Parse)
	if e, ok := errors.AsType[*calendar.Error](refused); refused != nil && (!ok || e.Code != calendar.CodeInvalidParam || len(problems.Fields) > 0) {
		return refused
	}
	of, err := c.listsThen(then, point)
	if err != nil {
		return cmp.Or(refused, err)
	}
	ctx, cancel := c.within(c.o.ReadDeadline)
	defer cancel()
	criteria, err := c.parse(ctx, request, of.Parse)
	if err != nil {
		return err
	}
	c.lang = criteria.Lang
	original, location := c.urlsThen(criteria)
	if !byHeader {
		location = ""
	}
	run := c.runList(of.Run, criteria, original)
	return c.read(&question{
		state: of.Generation,
		space: pastKey, number: then.Moment.Unix(), asked: c.asked().Text(criteria.Key).Text(original).Text(location),
		turns: c.turns, smaller: []string{"per_page", "_fields"},
		make: func(ctx context.Context, at stated) (*answer, error) {
			ans, err := run(ctx, at)
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
func (c *call) listsThen(then past.Then, point history.Point) (*past.List, error) {
	if !c.pass.Enter(admit.Wait, 1) {
		return nil, calendar.Fail(calendar.CodeUnavailable, 0)
	}
	defer c.pass.Resume()
	return c.Past.List(c.client, c.caller, c.pass.Address, then, point.String(), c.sends("search"))
}

// urlsThen returns the URL of a list of the past as it was sent, without the point and with
// it.
func (c *call) urlsThen(criteria *query.Criteria) (without, with string) {
	var sent, all []query.LinkParam
	if c.sends("page") {
		sent = append(sent, query.LinkParam{Name: "page", Value: strconv.Itoa(criteria.Page)})
	}
	all = slices.Clone(sent)
	for _, linkParam := range criteria.Links {
		switch {
		case linkParam.Name == history.ParamPoint:
			all = append(all, linkParam)
		case c.sends(strings.TrimSuffix(linkParam.Name, "[]")):
			sent, all = append(sent, linkParam), append(all, linkParam)
		}
	}
	original, dated := query.LinksTo(c.address(), sent), query.LinksTo(c.address(), all)
	return original.Page(1), dated.Page(1)
}
