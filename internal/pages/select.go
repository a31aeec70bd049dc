package pages

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
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
	paramWhen    = "when"

	defaultPerPage = 20
)

// outside are parameters of lists that pages do not know.
var outside = []string{"format", "features", "csv_bom", "csv_raw", "cursor", "_fields", "as_of", "multilang_language"}

// dates are the parameters that make a window.
var dates = []string{paramStart, paramEnd, "starts_before", "starts_after", "ends_before", "ends_after"}

// window are all that the window of a page is made of.
var window = append(slices.Clone(dates), paramStrict, paramWhen)

// shapes are the parameters of lists that do not select: pages, order and what is told beside.
var shapes = []string{
	paramPage, paramPerPage, paramSort, paramOrder, "facets", "facet_limit", "facet_query", "highlight", "highlight_length",
}

// params are parameters in their order.
type params []query.LinkParam

// without leaves parameters out by their names.
func (ps params) without(names ...string) params {
	return slices.DeleteFunc(slices.Clone(ps), func(p query.LinkParam) bool { return slices.Contains(names, baseName(p.Name)) })
}

// with sets a parameter, as the last one.
func (ps params) with(name, value string) params {
	return append(ps.without(name), query.LinkParam{Name: name, Value: value})
}

// around are the parameters of a place and what is near to it. None stands without the others.
var around = []string{"geoloc_lat", "geoloc_lng", "geoloc_radius"}

// together are the parameters that are one filter with another one.
func together(name string) []string {
	if slices.Contains(around, name) {
		return around
	}
	return []string{name}
}

// value is what was sent for a parameter, by elements joined with commas.
func (ps params) value(name string) string {
	var out []string
	for _, p := range ps {
		if baseName(p.Name) == name {
			out = append(out, p.Value)
		}
	}
	return strings.Join(out, ",")
}

// has reports whether one of some parameters was sent.
func (ps params) has(names ...string) bool {
	return slices.ContainsFunc(ps, func(p query.LinkParam) bool { return slices.Contains(names, baseName(p.Name)) })
}

// String is the query of a link, as links of the interface have it.
func (ps params) String() string { return linkQuery(ps) }

// selection is what a page shows of the events: what was asked for, and what it is. It makes
// the links to itself.
type selection struct {
	// asked are the parameters as they were sent, those of lists in the order of their table,
	// without empty ones and page.
	asked params
	path  string // of the page
	// of is the record that the events are of.
	of       query.Of
	page     int
	past     bool
	home     bool           // it is that of the home page
	zone     *calendar.Zone // nil: every event by its own clock
	criteria *query.Criteria
	over     period
	// from and until are the first and the last second of the window that events overlap,
	// as parameters have them; "" where there is none.
	from, until string
	// only are the events of a period, where its window alone does not tell them.
	only []calendar.ID
}

// dated reports whether a date was asked for.
func (s *selection) dated() bool { return s.asked.has(dates...) || s.asked.has(paramWhen) }

// plain reports whether nothing was asked for that selects.
func (s *selection) plain() bool {
	return len(s.asked.without(shapes...).without(paramPast, paramZone)) == 0
}

// byDays reports whether the list is ordered by its days.
func (s *selection) byDays() bool {
	order := params(s.criteria.Sent).value(paramSort)
	return !s.asked.has("include") && (order == "" || order == "start")
}

// less are the parameters without a filter; without a place there is no order by distance.
func (s *selection) less(name string) params {
	out := s.asked.without(together(name)...)
	if slices.Contains(around, name) && strings.EqualFold(out.value(paramSort), "distance") {
		out = out.without(paramSort, paramOrder)
	}
	return out
}

// to is a link to the page with other parameters.
func (s *selection) to(ps params) string { return onto(s.path, linkQuery(ps)) }

// toPage is a link to a page of the selection.
func (s *selection) toPage(n int) string {
	if n == 1 {
		return s.to(s.asked)
	}
	return s.to(s.asked.with(paramPage, strconv.Itoa(n)))
}

// period is the first and the last day that a page shows, as times in UTC; it has one
// where set is true. The zero time is a day like others.
type period struct {
	set         bool
	first, last time.Time
}

// choose reads the selection of a page: of a period, or of the events of a record. What was
// sent badly is in l.err.
func (l *look) choose(path string, over period, of query.Of) {
	s := &selection{path: l.href(path), page: 1, of: of, over: over}
	l.sel = s
	in := calendar.Input{}
	all := query.Params(calendar.KindEvent)
	for i := range all {
		param := all[i].Name
		_, known := listParams[param]
		if v, sent := l.Input[param]; !sent || !known || !l.Route.takes(param, over.set) || isEmpty(v) {
			continue
		}
		in[param] = l.Input[param]
		for _, sent := range slices.Sorted(maps.Keys(l.Query)) {
			if baseName(sent) != param || param == paramPage {
				continue
			}
			for _, text := range l.Query[sent] {
				if calendar.Trim(text) != "" {
					s.asked = append(s.asked, query.LinkParam{Name: sent, Value: text})
				}
			}
		}
	}
	if past := calendar.Trim(l.Query.Get(paramPast)); past != "" && l.Route.past {
		var is bool
		if s.past, is = calendar.ParseBool(past); !is {
			l.bad.Add(paramPast, calendar.ReasonTypeBool)
		}
	}
	if s.past {
		l.minute(l.o.Now()) // events end all the time
		s.asked = s.asked.with(paramPast, "true")
	}
	var ok bool
	if s.zone, ok = zoneOf(l.Query.Get(paramZone)); !ok {
		l.bad.Add(paramZone, calendar.ReasonZone, l.Query.Get(paramZone))
	} else if s.zone != nil {
		s.asked = s.asked.with(paramZone, s.zone.Name)
	}
	if s.home = l.Route.name == pageHome; s.home { // what has ended is not there
		l.minute(l.o.Now())
		in["ends_after"], in[paramStrict] = l.o.Now().UTC().Format(time.RFC3339), "true"
	}
	l.window(in, s)
	if l.Route.name == pageSearch {
		searching(in)
	}
	s.criteria = l.forCards(query.Request{Kind: calendar.KindEvent, Input: in, Lang: l.lang, Caller: l.Caller, Of: s.of})
	if refused, ok := errors.AsType[*calendar.Error](l.err); ok && refused.Code == calendar.CodeInvalidParam {
		l.bad.Fields = append(l.bad.Fields, refused.Fields...)
		l.err = nil
	}
	if l.err == nil {
		l.err = l.bad.Err()
	}
	if l.err == nil {
		s.page = s.criteria.Page
	}
}

// zoneOf reads the parameter tz: nil for the own clock of each event.
func zoneOf(text string) (*calendar.Zone, bool) {
	if text = calendar.Trim(text); text == "" || strings.EqualFold(text, "event") {
		return nil, true
	}
	zone, ok := calendar.ParseZone(text)
	if !ok {
		return nil, false
	}
	return &zone, true
}

// window puts what a page adds to the parameters of a list (PAGES.md P1.2, P1.4).
func (l *look) window(in calendar.Input, s *selection) {
	if s.over.set || s.past || s.zone != nil {
		l.daysOfWhen(in)
	}
	if s.over.set {
		l.periodWindow(in, s)
		return
	}
	if in[paramPerPage] == nil {
		in[paramPerPage] = strconv.Itoa(defaultPerPage)
	}
	if _, included := in["include"]; included {
		return
	}
	dated := s.dated()
	if s.past || s.zone != nil && dated {
		l.exactly(in, s.zone)
	}
	switch {
	case s.past:
		now := l.o.Now()
		if sent, ok := in["ends_before"].(string); !ok || !l.before(sent, now) {
			in["ends_before"] = now.UTC().Format(time.RFC3339)
		}
		if in[paramSort] == nil {
			in[paramSort], in[paramOrder] = "start", "desc"
		}
	case s.zone != nil && !fixed(in):
		l.defaultWindow(in, s)
	case !dated:
		if in[paramOverlap] == nil {
			in[paramOverlap] = "true"
		}
		from, until := query.DefaultWindow(l.o.Now(), l.o.Site)
		s.from, s.until = midnight(from.UTC()).Format(calendar.WallLayout), until.String()
	}
}

// daysOfWhen puts the days of when in its place, where they do not stand alone.
func (p *Pages) daysOfWhen(in calendar.Input) {
	word, _ := in[paramWhen].(string)
	if word = calendar.Trim(word); slices.Contains(query.Days, word) && !slices.ContainsFunc(dates, func(name string) bool { return in[name] != nil }) {
		delete(in, paramWhen)
		first, last := query.DaysOf(word, p.o.Now(), p.o.Site, p.o.Sunday)
		in[paramStart], in[paramEnd] = first.UTC().Format(time.DateOnly), last.UTC().Format(time.DateOnly)
		beTrue(in, paramOverlap)
		delete(in, paramStrict)
	}
}

// fixed tells that a bound was sent that leaves no default window.
func fixed(in calendar.Input) bool {
	return slices.ContainsFunc(dates, func(name string) bool { return in[name] != nil && name != paramStart && name != paramEnd })
}

// defaultWindow puts the default bounds of lists as instants of the zone.
func (l *look) defaultWindow(in calendar.Input, s *selection) {
	from, until := query.DefaultWindow(l.o.Now(), s.zone.Location)
	first, last := edgesOf(from, until, s.zone)
	if strict(in) {
		first = boundText(calendar.WallToInstant(from, s.zone.Location))
	}
	dated := s.dated()
	if in[paramStart] == nil {
		in[paramStart] = first
	}
	if in[paramEnd] == nil {
		in[paramEnd] = last
	}
	beStrict(in)
	if !dated {
		if in[paramOverlap] == nil {
			in[paramOverlap] = "true"
		}
		s.from, _ = in[paramStart].(string)
		s.until, _ = in[paramEnd].(string)
	}
}

// periodWindow puts the window of a month, week or day, which a sent one narrows.
func (l *look) periodWindow(in calendar.Input, s *selection) {
	beTrue(in, paramOverlap)
	in[paramPerPage] = strconv.Itoa(mostCards)
	if s.zone != nil {
		l.exactly(in, s.zone)
	}
	s.from, s.until = edgesOf(calendar.WallOf(s.over.first), calendar.WallOf(s.over.last), s.zone)
	from, until := s.from, s.until
	if s.zone != nil { // all-day events are on their own dates, which may be a day away
		from = min(from, boundText(s.over.first.Add(24*time.Hour-eastmost-2*time.Second)))
		until = max(until, boundText(s.over.last.Add(westmost)))
	}
	// All are of one form, so their texts are ordered as they are.
	if sent, ok := in[paramStart].(string); ok {
		if bound, known := l.bound(paramStart, sent, in, s.zone); !known {
			from = sent // Parse refuses it
		} else if bound > s.from {
			s.from, from = bound, bound
		}
	}
	if sent, ok := in[paramEnd].(string); ok {
		if bound, known := l.bound(paramEnd, sent, in, s.zone); !known {
			until = sent
		} else if bound < s.until {
			s.until, until = bound, bound
		}
	}
	in[paramStart], in[paramEnd] = from, until
}

// How far zones are from UTC at most.
const (
	eastmost = 14 * time.Hour
	westmost = 12 * time.Hour
)

// exactly makes the bounds that were sent exact times, so that others may stand beside
// them: of whole days the first or the last second. With a zone they are instants.
func (p *Pages) exactly(in calendar.Input, zone *calendar.Zone) {
	for _, name := range dates {
		if sent, ok := in[name].(string); ok {
			if bound, ok := p.bound(name, sent, in, zone); ok {
				in[name] = bound
			}
		}
	}
	beStrict(in)
}

// strict tells whether bounds were sent as exact times.
func strict(in calendar.Input) bool {
	is, _ := calendar.ParseBool(in[paramStrict])
	return is
}

// beStrict has bounds read as exact times.
func beStrict(in calendar.Input) { beTrue(in, paramStrict) }

// beTrue sets what is true or false; a bad value stays, to be refused.
func beTrue(in calendar.Input, name string) {
	if _, ok := calendar.ParseBool(in[name]); ok || in[name] == nil {
		in[name] = "true"
	}
}

// bound reads a bound that was sent and gives it exact: as an instant of a zone, else as a
// wall clock, which for an instant is that of the site; false for no date. Of whole days
// it is the first or the last second.
func (p *Pages) bound(name, sent string, in calendar.Input, zone *calendar.Zone) (string, bool) {
	d, ok := calendar.ParseDate(sent)
	if !ok {
		return "", false
	}
	clock := p.o.Site
	if zone != nil {
		clock = zone.Location
	}
	at := d.Instant(p.o.Now(), clock)
	wall := calendar.WallOf(at.In(clock))
	if !wall.InYears() {
		return "", false
	}
	first, last := edgesOf(wall, wall, zone)
	switch {
	case strict(in) && zone == nil:
		return wall.String(), true
	case strict(in):
		return boundText(at), true
	case name == paramStart:
		return first, true
	}
	return last, true
}

// edgesOf returns the bounds of the days from the one of a wall clock to that of another:
// their first and last second, as wall clocks, or as instants of a zone.
func edgesOf(from, to calendar.Wall, zone *calendar.Zone) (first, last string) {
	if zone == nil {
		begin, _ := calendar.Day(from, time.UTC)
		_, end := calendar.Day(to, time.UTC)
		return calendar.WallOf(begin).String(), min(calendar.WallOf(end)-1, lastWall).String()
	}
	begin, _ := calendar.Day(from, zone.Location)
	_, end := calendar.Day(to, zone.Location)
	return boundText(begin), boundText(end.Add(-time.Second))
}

// lastWall is the last second of the years that there are.
var lastWall = calendar.WallOf(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC))

// boundText writes an instant as a bound of a window, in the years that there are.
func boundText(at time.Time) string {
	switch at = at.UTC(); {
	case at.Year() < 1:
		at = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	case at.Year() > 9999:
		at = lastWall.UTC()
	}
	return at.Format(time.RFC3339)
}

// before tells whether an exact bound lies before a moment.
func (p *Pages) before(bound string, now time.Time) bool {
	d, ok := calendar.ParseDate(bound)
	return !ok || d.Instant(now, p.o.Site).Before(now)
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

// searchFacets are those of the search page.
const searchFacets = "categories,city,month,weekday,time_of_day,cost_band,in_language,venue,tags"

// searching puts what the search page asks for to the parameters of a list.
func searching(in calendar.Input) {
	if in["facets"] == nil {
		in["facets"] = searchFacets
	}
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
