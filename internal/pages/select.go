package pages

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"time"

	"daybook/calendar"
	"daybook/query"
)

// Own parameters of pages.
const (
	paramZone    = "tz"
	paramPast    = "past"
	paramPreview = "preview"
	paramPage    = "page"
	paramPerPage = "per_page"
	paramOverlap = "overlap"
	paramStart   = "start_date"
	paramEnd     = "end_date"
	paramSort    = "sort"
	paramOrder   = "order"
	paramStrict  = "strict_dates"

	defaultPerPage = 20
)

// outside are parameters of lists that pages do not know.
var outside = []string{"format", "features", "csv_bom", "csv_raw", "cursor", "_fields", "as_of", "multilang_language"}

// dates are the parameters that make a window.
var dates = []string{paramStart, paramEnd, "starts_before", "starts_after", "ends_before", "ends_after"}

// selection is what a page shows of the events: what was asked for, and what it is.
type selection struct {
	// asked are the parameters of lists as they were sent, in the order of the table,
	// without empty ones and page.
	asked []query.LinkParam
	// of is the record that the events are of.
	of       query.Of
	page     int
	past     bool
	zone     *calendar.Zone // nil: every event by its own clock
	criteria *query.Criteria
	bad      *calendar.Error
}

// value gives what was sent for a parameter.
func (s *selection) value(name string) string {
	for _, p := range s.asked {
		if p.Name == name {
			return p.Value
		}
	}
	return ""
}

// dated tells that a date was asked for.
func (s *selection) dated() bool {
	return slices.ContainsFunc(s.asked, func(p query.LinkParam) bool { return slices.Contains(dates, p.Name) })
}

// plain tells that nothing was asked for that selects.
func (s *selection) plain() bool { return len(s.asked) == 0 && !s.past }

// period are the first and the last day that a page shows; zero: the page has none.
type period struct{ first, last time.Time }

// choose reads the selection of a page. What was sent badly is in selection.bad.
func (p *Pages) choose(ctx context.Context, r *Request, over period) (*selection, error) {
	return p.chooseWithin(ctx, r, over, query.Of{})
}

func (p *Pages) chooseWithin(ctx context.Context, r *Request, over period, of query.Of) (*selection, error) {
	s := &selection{page: 1, of: of}
	var bad calendar.Problems
	in := calendar.Input{}
	for i := range query.Params(calendar.KindEvent) {
		param := &query.Params(calendar.KindEvent)[i]
		v, sent := r.Input[param.Name]
		if !sent || slices.Contains(outside, param.Name) || isEmpty(v) {
			continue
		}
		if !over.first.IsZero() && slices.Contains([]string{paramPage, paramPerPage, "include", paramOverlap}, param.Name) {
			continue
		}
		in[param.Name] = v
		if param.Name != paramPage {
			for _, text := range r.Query[param.Name] {
				s.asked = append(s.asked, query.LinkParam{Name: param.Name, Value: text})
			}
			for _, text := range r.Query[param.Name+"[]"] {
				s.asked = append(s.asked, query.LinkParam{Name: param.Name + "[]", Value: text})
			}
		}
	}
	if tz := r.Query.Get(paramZone); tz != "" && tz != "event" {
		zone, ok := calendar.ParseZone(tz)
		if !ok {
			bad.Add(paramZone, calendar.ReasonZone, tz)
		}
		s.zone = &zone
	}
	if past := r.Query.Get(paramPast); past != "" {
		switch past {
		case "true", "1":
			s.past = true
		case "false", "0":
		default:
			bad.Add(paramPast, calendar.ReasonTypeBool)
		}
	}
	p.window(in, s, over)
	if r.Route.page == pageSearch {
		searching(in)
	}
	var err error
	s.criteria, err = p.Lists.Parse(ctx, query.Request{Kind: calendar.KindEvent, Input: in, Lang: r.Route.lang, Caller: r.Caller, Of: s.of})
	if refused, ok := errors.AsType[*calendar.Error](err); ok && refused.Code == calendar.CodeInvalidParam {
		bad.Fields = append(bad.Fields, refused.Fields...)
	} else if err != nil {
		return nil, err
	}
	if refused, ok := errors.AsType[*calendar.Error](bad.Err()); ok {
		s.bad = refused
		return s, nil
	}
	s.page = s.criteria.Page
	return s, nil
}

// window puts what a page adds to the parameters of a list.
func (p *Pages) window(in calendar.Input, s *selection, over period) {
	if !over.first.IsZero() {
		in[paramOverlap] = "true"
		if in[paramStart] == nil {
			in[paramStart] = p.bound(over.first, s.zone)
		}
		if in[paramEnd] == nil {
			in[paramEnd] = p.bound(over.last.AddDate(0, 0, 1).Add(-time.Second), s.zone)
		}
		if in[paramStrict] == nil {
			in[paramStrict] = "true"
		}
		in[paramPerPage] = strconv.Itoa(1)
		return
	}
	if in[paramPerPage] == nil {
		in[paramPerPage] = strconv.Itoa(defaultPerPage)
	}
	_, included := in["include"]
	switch {
	case s.dated() || included:
	case s.past:
		in["ends_before"] = p.o.Now().UTC().Format(time.RFC3339)
		in[paramStrict] = "true"
		if in[paramSort] == nil {
			in[paramSort], in[paramOrder] = "start", "desc"
		}
	case in[paramOverlap] == nil:
		in[paramOverlap] = "true"
	}
}

// bound writes a bound of a window: a wall clock, or an instant of a zone.
func (p *Pages) bound(t time.Time, zone *calendar.Zone) string {
	if zone == nil {
		return t.Format(calendar.WallLayout)
	}
	return calendar.WallToInstant(calendar.WallOf(t), zone.Location).UTC().Format(time.RFC3339)
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case string:
		return calendar.Trim(v) == ""
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !isEmpty(e) })
	}
	return v == nil
}

// encoded is the query of links to the selection, with other values for some parameters;
// "" takes one out.
func (s *selection) encoded(change map[string]string) string {
	var out []byte
	add := func(name, value string) {
		if value == "" {
			return
		}
		if len(out) > 0 {
			out = append(out, '&')
		}
		out = append(append(append(out, url.QueryEscape(name)...), '='), url.PathEscape(value)...)
	}
	done := map[string]bool{}
	for _, p := range s.asked {
		if v, changed := change[p.Name]; changed {
			if !done[p.Name] {
				add(p.Name, v)
			}
			done[p.Name] = true
			continue
		}
		add(p.Name, p.Value)
	}
	if _, changed := change[paramPast]; !changed && s.past {
		add(paramPast, "true")
	}
	if _, changed := change[paramZone]; !changed && s.zone != nil {
		add(paramZone, s.zone.Name)
	}
	for _, name := range sortedKeys(change) {
		if !done[name] {
			add(name, change[name])
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "?" + string(out)
}

// searchFacets are those of the search page.
const searchFacets = "categories,city,month,weekday,time_of_day,cost_band,in_language,venue,tags"

// searching puts what the search page asks for to the parameters of a list.
func searching(in calendar.Input) {
	in["facets"], in["facet_limit"] = searchFacets, "20"
	if in["search"] == nil {
		return
	}
	in["highlight"] = "true"
	if in["typos"] == nil {
		in["typos"] = "auto"
	}
	if in[paramSort] == nil {
		in[paramSort] = "relevance"
		delete(in, paramOrder)
	}
}
