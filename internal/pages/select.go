package pages

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/internal/param"
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

// window are all that the window of a page is made of.
var window = append(slices.Clone(query.DateParams), paramStrict, paramWhen)

// shaping are the parameters of lists that neither select nor order, shapes those that do not
// select.
var (
	shaping = []string{paramPage, paramPerPage, "facets", "facet_limit", "facet_query", "highlight", "highlight_length"}
	shapes  = append(slices.Clone(shaping), paramSort, paramOrder)
)

// params are parameters in their order.
type params []param.LinkParam

// sent are the parameters of a request, in the order of their names.
func (request *Request) sent() (params params) {
	for _, name := range slices.Sorted(maps.Keys(request.Query)) {
		for _, value := range request.Query[name] {
			params = append(params, param.LinkParam{Name: name, Value: value})
		}
	}
	return params
}

// of are the parameters of a name.
func (params params) of(name string) params {
	return slices.DeleteFunc(slices.Clone(params), func(linkParam param.LinkParam) bool { return baseName(linkParam.Name) != name })
}

// without leaves parameters out by their names.
func (params params) without(names ...string) params {
	return slices.DeleteFunc(slices.Clone(params), func(linkParam param.LinkParam) bool { return slices.Contains(names, baseName(linkParam.Name)) })
}

// with sets a parameter, as the last one; "" leaves it out.
func (params params) with(name, value string) params {
	if params = params.without(name); value == "" {
		return params
	}
	return append(params, param.LinkParam{Name: name, Value: value})
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
func (params params) value(name string) string {
	of := params.of(name)
	names := make([]string, len(of))
	for i, linkParam := range of {
		names[i] = linkParam.Value
	}
	return strings.Join(names, ",")
}

// has reports whether one of some parameters was sent.
func (params params) has(names ...string) bool {
	return slices.ContainsFunc(params, func(linkParam param.LinkParam) bool { return slices.Contains(names, baseName(linkParam.Name)) })
}

// String is the query of a link, as links of the interface have it.
func (params params) String() string { return params.link("", 1) }

// link is the link to a page of a list, as the interface has it.
func (params params) link(address string, page int) string {
	links := param.LinksTo(address, params)
	return links.Page(page)
}

// selection is what a page shows of the events: what was asked for, and what it is. It makes
// the links to itself.
type selection struct {
	// asked are the parameters as they were sent, those of lists in the order of their table,
	// without empty ones and page.
	asked params
	path  string // of the page
	// of is the record that the events are of.
	kind     query.Of
	page     int
	past     bool
	sheet    query.Sheet
	criteria *query.Criteria
	over     period
	// only are the events of a period, where its window alone does not tell them.
	only []string
}

// dated reports whether a date was asked for.
func (selection *selection) dated() bool {
	return selection.asked.has(query.DateParams...) || selection.asked.has(paramWhen)
}

// moving reports whether the page has put the window.
func (selection *selection) moving() bool {
	return selection.over.set || !selection.dated() && !selection.past
}

// selecting are the parameters that select, plain reports whether there are none.
func (selection *selection) selecting() params {
	return selection.asked.without(shapes...).without(paramPast, paramZone)
}

func (selection *selection) plain() bool { return len(selection.selecting()) == 0 }

// byDays reports whether the list is ordered by its days.
func (selection *selection) byDays() bool {
	order := params(selection.criteria.Sent).value(paramSort)
	return !selection.asked.has("include") && (order == "" || order == "start")
}

// less are the parameters without a filter; without a place there is no order by distance.
func (selection *selection) less(name string) params {
	params := selection.asked.without(together(name)...)
	if slices.Contains(around, name) && strings.EqualFold(params.value(paramSort), "distance") {
		params = params.without(paramSort, paramOrder)
	}
	return params
}

// to is a link to the page with other parameters.
func (selection *selection) to(params params) string { return onto(selection.path, params.String()) }

// toPage is a link to a page of the selection.
func (selection *selection) toPage(count int) string {
	if count == 1 {
		return selection.to(selection.asked)
	}
	return selection.to(selection.asked.with(paramPage, strconv.Itoa(count)))
}

// period is the first and the last day that a page shows, as times in UTC; it has one
// where set is true. The zero time is a day like others.
type period struct {
	set         bool
	first, last time.Time
}

// choose reads the selection of a page: of a period, or of the events of a record. What was
// sent badly is in builder.err.
func (builder *pageBuilder) choose(path string, over period, kind query.Of) {
	chosen := &selection{path: builder.Href(path), page: 1, kind: kind, over: over}
	builder.selection = chosen
	input, sent := calendar.Input{}, builder.sent().without(paramPage)
	for _, param := range query.Params("events") {
		if value, is := builder.Input[param.Name]; is && builder.Route.takes(param.Name, over.set) {
			input[param.Name] = value
			chosen.asked = append(chosen.asked, sent.of(param.Name)...)
		}
	}
	if past := builder.Query.Get(paramPast); past != "" && builder.Route.past {
		var is bool
		if chosen.past, is = calendar.ParseBool(past); !is {
			builder.bad.Add(paramPast, calendar.ReasonTypeBool)
		}
	}
	builder.readZone()
	if builder.complete(input); over.set {
		chosen.sheet = query.Sheet{Period: true, First: calendar.WallOf(over.first), Last: calendar.WallOf(over.last)}
	}
	if chosen.past {
		builder.minute(builder.options.Now()) // events end all the time
		chosen.sheet.Past, chosen.asked = true, chosen.asked.with(paramPast, "true")
	}
	if builder.zone != nil {
		chosen.sheet.Zone, chosen.asked = builder.zone.Location, chosen.asked.with(paramZone, builder.zone.Name)
	}
	chosen.criteria = builder.forCards(query.Request{Kind: calendar.KindEvent, Input: input, Lang: builder.language, Caller: builder.Caller, Of: kind, Sheet: chosen.sheet})
	if refused, ok := errors.AsType[*calendar.Error](builder.err); ok && refused.Code == calendar.CodeInvalidParam {
		builder.bad.Fields = append(builder.bad.Fields, refused.Fields...)
		builder.err = nil
	}
	if builder.err == nil {
		builder.err = builder.bad.Err()
	}
	if builder.err == nil {
		chosen.page = chosen.criteria.Page
		builder.Canonical = onto(path, builder.canonicalQuery())
		builder.NoIndex = builder.Route.noIndex || builder.parametered()
	}
}

// complete puts what the page asks for to the parameters that were sent for its list.
func (builder *pageBuilder) complete(input calendar.Input) {
	also := func(name, value string) {
		if input[name] == nil {
			input[name] = value
		}
	}
	if builder.selection.over.set {
		also(paramPerPage, strconv.Itoa(mostCards))
	}
	also(paramPerPage, strconv.Itoa(defaultPerPage))
	if builder.selection.moving() {
		also(paramOverlap, "true")
	}
	if builder.selection.past && input[paramSort] == nil {
		input[paramSort], input[paramOrder] = "start", "desc"
	}
	switch builder.Page {
	case pageHome: // what has ended is not there
		builder.minute(builder.options.Now())
		input["ends_after"], input[paramStrict] = builder.options.Now().UTC().Format(time.RFC3339), "true"
	case pageSearch:
		also("facets", searchFacets)
		if input["search"] == nil {
			break
		}
		input["highlight"] = "true"
		also("typos", "auto")
		if input[paramSort] == nil {
			input[paramSort] = "relevance"
			delete(input, paramOrder)
		}
	default:
	}
}

// canonicalQuery are the parameters that select, without defaults, and the page.
func (builder *pageBuilder) canonicalQuery() string {
	selection := builder.selection
	sent := slices.DeleteFunc(selection.asked.without(shapes...).without(paramZone), func(linkParam param.LinkParam) bool {
		if linkParam.Name == paramOverlap {
			is, _ := calendar.ParseBool(linkParam.Value)
			return is != selection.dated()
		}
		parameter := query.Params("events").Find(baseName(linkParam.Name))
		return parameter != nil && parameter.IsDefault(linkParam.Value)
	})
	if selection.page > 1 && selection.criteria.PerPage != defaultPerPage {
		sent = append(params{{Name: paramPerPage, Value: strconv.Itoa(selection.criteria.PerPage)}}, sent...)
	}
	return sent.link("", selection.page)
}

// readZone reads the zone that times are asked for in.
func (builder *pageBuilder) readZone() {
	sent := builder.Query.Get(paramZone)
	text := calendar.Trim(sent)
	if text == "" || strings.EqualFold(text, "event") {
		return
	}
	zone, ok := calendar.ParseZone(text)
	if !ok {
		builder.bad.Add(paramZone, calendar.ReasonZone, sent)
		return
	}
	builder.zone = &zone
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case string:
		return calendar.Trim(v) == ""
	case []any:
		return !slices.ContainsFunc(v, func(value any) bool { return !isEmpty(value) })
	}
	return v == nil
}

// searchFacets are those of the search page.
const searchFacets = "categories,city,month,weekday,time_of_day,cost_band,in_language,venue,tags"
