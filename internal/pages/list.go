package pages

import (
	"cmp"
	"html/template"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/internal/htmltext"
	"daybook/internal/render"
	"daybook/internal/texts"
	"daybook/query"
)

// listBody is what list, search, home and the pages of records show of a selection.
type listBody struct {
	selectionSummary

	Groups   []day
	Featured []card
	Pager    *pager
	Past     bool   // it is of what has ended
	Turn     string // path to what has ended, or back, "" for none
	Facets   []facet
}

// selectionSummary is what all pages of a selection show of it.
type selectionSummary struct {
	Total int
	Count string
	Quick *quickChoice
	Chips []removableFilter
	Zone  *calendar.Zone // whose time it is, nil: that of each event
	Empty *empty
	Form  *filterForm
}

// selected makes what pages show of the selection; cards are those on the page.
func (builder *pageBuilder) selected(cards []card, total int) selectionSummary {
	summary := selectionSummary{Total: total, Count: builder.count("events", total), Zone: builder.zone}
	if builder.zones(cards); total == 0 {
		builder.NoIndex = true
		summary.Empty = builder.nothing()
	}
	if builder.Embedded {
		return summary
	}
	summary.Chips, builder.Drawer = builder.chips(), builder.drawer()
	if summary.Empty != nil && summary.Empty.First != "" {
		return summary
	}
	summary.Form = builder.form(nil)
	if builder.selection.kind.ID == 0 && builder.Page != pageSearch {
		summary.Quick = builder.quick()
	}
	return summary
}

// groups puts cards of a list under their days, in their order. What began before today and
// runs stands first, what ended today first in its section.
func (builder *pageBuilder) groups(cards []card) (days []day) {
	if !builder.selection.byDays() {
		if len(cards) == 0 {
			return nil
		}
		return []day{{Name: "found", Cards: cards}}
	}
	today := builder.today(builder.zone)
	var earlier []card
	for _, c := range cards {
		first, last := c.edges()
		c.InDay, c.Running = true, !builder.selection.past && first.Before(today) && !c.Past && (len(days) == 0 || days[0].Name != "" && len(days) == 1)
		if !builder.selection.past && c.Past && last.Equal(today) {
			earlier = append(earlier, c)
			continue
		}
		d := builder.day(first)
		if c.Running {
			d = day{Name: "running", Ahead: -1}
		}
		if count := len(days); count == 0 || days[count-1].Name != d.Name || d.Name == "" && !days[count-1].Date.Equal(first) {
			days = append(days, d)
		}
		days[len(days)-1].Cards = append(days[len(days)-1].Cards, c)
	}
	if earlier == nil {
		return days
	}
	index := slices.IndexFunc(days, func(d day) bool { return d.Ahead == 0 })
	if index < 0 {
		if index = slices.IndexFunc(days, func(d day) bool { return d.Ahead > 0 }); index < 0 {
			index = len(days)
		}
		days = slices.Insert(days, index, builder.day(today))
	}
	days[index].Earlier = earlier
	return days
}

// quickChoice is the quick choice: dates, and categories that coming events have.
type quickChoice struct {
	Dates      bool   // there are some on offer
	When       string // the word that was asked for; Fixed: other dates are
	Fixed      bool
	Categories []facetValue
	selection  selection
}

// To is the path of the selection with another word for its dates, "" for none.
func (quick *quickChoice) To(word string) string {
	return quick.selection.to(quick.selection.asked.without(window...).without(paramOverlap).with(paramWhen, word))
}

// maxQuick is how many categories the quick choice has.
const maxQuick = 12

// quick makes the quick choice. Links of the home page lead to the list.
func (builder *pageBuilder) quick() *quickChoice {
	selection := *builder.selection
	if builder.Page == pageHome {
		selection.path = builder.Href("/events/")
	}
	choice := &quickChoice{Dates: !selection.over.set, When: strings.ToLower(selection.asked.value(paramWhen)), Fixed: selection.asked.has(query.DateParams...), selection: selection}
	chosen := strings.Split(selection.asked.value("categories"), ",")
	for _, value := range builder.categories() {
		wanted := slices.DeleteFunc(slices.Clone(chosen), func(text string) bool {
			text = calendar.Trim(text)
			return strings.EqualFold(text, value.Slug) || text == value.Value
		})
		if value.Selected = len(wanted) < len(chosen); !value.Selected {
			wanted = []string{value.Slug}
		}
		href := selection.to(selection.asked.with("categories", strings.Join(wanted, ",")))
		choice.Categories = append(choice.Categories, facetValue{FacetValue: value, Lang: builder.other(value.In), Href: href})
	}
	return choice
}

// categories are those without a parent that coming events have, made once for a state and
// a day.
func (builder *pageBuilder) categories() []query.FacetValue {
	return keep(builder, &builder.quickest[builder.language], func(page *pageBuilder) []query.FacetValue {
		found := page.ask(calendar.Input{paramOverlap: "true", paramPerPage: "1", "facets": "categories", "facet_limit": "100"})
		if page.err != nil {
			return nil
		}
		facetValues := slices.DeleteFunc(slices.Clone(found.Facets[0].Values), func(facetValue query.FacetValue) bool { return facetValue.Level > 0 })
		byName(page.language, facetValues, func(facetValue query.FacetValue) string { return facetValue.Label })
		return facetValues[:min(len(facetValues), maxQuick)]
	})
}

// facet is how many events have each value.
type facet struct {
	Name         string
	Values, More []facetValue // More: folded
}

// facetValue is one value of a facet.
type facetValue struct {
	query.FacetValue

	Name     string // of the parameter that it sends, Href: to the page with it or without it
	Href     string
	Lang     string // of the label of a record, where it is not that of the page
	Share    int    // of the greatest count, in twentieths, for the bar
	Children []facetValue
}

// Colour is the one that events of a category have.
func (facetValue facetValue) Colour() int {
	id, _ := calendar.ParseID(facetValue.Value)
	return int(id % noColour)
}

// shownValues is how many values of a facet are not folded.
const shownValues = 8

// facets makes the facets of a search.
func (builder *pageBuilder) facets(found []query.Facet) (facets []facet) {
	for _, f := range found {
		most, sent, known := 1, f.Name, map[string]bool{}
		if listParams[f.Name] {
			sent += "[]"
		}
		for _, v := range f.Values {
			most, known[v.Value] = max(most, v.Count), true
		}
		below := map[string][]facetValue{}
		for _, v := range slices.Backward(f.Values) { // children come after their parents
			value := facetValue{FacetValue: v, Name: sent, Share: (v.Count*20 + most - 1) / most, Children: below[v.Value]}
			value.Label = cmp.Or(builder.valueWord(f.Name, v.Value), v.Label, v.Value)
			if v.Slug != "" {
				value.Lang = builder.other(v.In)
			}
			up := ""
			if v.Parent != 0 && known[v.Parent.String()] {
				up = v.Parent.String()
			}
			below[up] = slices.Insert(below[up], 0, value)
		}
		shown := facet{Name: f.Name}
		for i, v := range below[""] {
			if i < shownValues || v.Selected {
				shown.Values = append(shown.Values, v)
			} else {
				shown.More = append(shown.More, v)
			}
		}
		if shown.Values != nil {
			facets = append(facets, shown)
		}
	}
	return facets
}

// switches are the parameters that are true or false.
var switches = []string{"featured", "ticketed", "free", "geoloc", paramOverlap}

// valueWord is the word for a value, "" if none exists.
func (builder *pageBuilder) valueWord(name, value string) string {
	if instant, ok := units[0].parse(value); ok && name == "month" {
		return builder.month(instant)
	}
	if is, ok := calendar.ParseBool(value); ok && slices.Contains(switches, name) {
		return builder.text("value." + strconv.FormatBool(is))
	}
	if slices.Contains(query.DateParams, name) {
		name = paramWhen
	}
	return builder.text("value." + name + "." + strings.ToLower(value))
}

// removableFilter is a filter that can be taken away.
type removableFilter struct {
	Param, Name, Value, Href string // Name: its parameter, "around" for a place
	Number                   int    // of the events that there are without it, where they are counted
}

// removable makes the link to the page without a filter, or a value of it.
func (builder *pageBuilder) removable(name, value string, but params) removableFilter {
	filter := removableFilter{Param: name, Name: name, Value: builder.valueName(name, value), Href: builder.selection.to(but)}
	if slices.Contains(around, name) {
		filter.Name = "around"
	}
	return filter
}

// empty is what stands where nothing was found.
type empty struct {
	*pageBuilder

	Text      string
	Drop      []removableFilter
	Past, All string // paths to what has ended, and to all without filters; "" for none
	Links     []link
	First     string // day of the first event of a calendar without events
	Desk      string // path of the desk; "" for none
}

// pager leads through the pages of a list.
type pager struct {
	*pageBuilder

	At            func(page int) string
	Numbers       []int // 0 for a gap
	Current, Last int
}

// pagerOf makes the pager of a list; nil for one page.
func (builder *pageBuilder) pagerOf(current, last int, at func(page int) string) *pager {
	if last < 2 {
		return nil
	}
	p := &pager{pageBuilder: builder, At: at, Current: current, Last: last}
	for count := 1; count <= last; count++ {
		switch {
		case count == 1 || count == last || count >= p.Current-2 && count <= p.Current+2:
			p.Numbers = append(p.Numbers, count)
		case p.Numbers[len(p.Numbers)-1] != 0:
			p.Numbers = append(p.Numbers, 0)
		}
	}
	return p
}

// list makes the body of a page with a list of events.
func (builder *pageBuilder) list() *listBody {
	if builder.err != nil {
		return &listBody{}
	}
	found := builder.run(builder.selection.criteria)
	cards := builder.cards(found)
	builder.mark(cards, found)
	body := &listBody{selectionSummary: builder.selected(cards, found.Total), Groups: builder.groups(cards), Pager: builder.pagerOf(builder.selection.page, found.TotalPages, builder.selection.toPage)}
	if builder.Page == pageSearch {
		body.Facets = builder.facets(found.Facets)
		body.Form = builder.form(body.Facets)
	}
	if body.Past = builder.selection.past; builder.Route.past && !builder.Embedded {
		body.Turn = builder.turn()
	}
	return body
}

// turn is the path to what has ended, or back; with the same filters where the page can show
// both.
func (builder *pageBuilder) turn() string {
	switch {
	case !builder.Route.past:
		return builder.Href("/events/") + "?past=true"
	case builder.selection.past:
		return builder.selection.to(builder.selection.asked.without(paramPast))
	}
	return builder.selection.to(builder.selection.asked.with(paramPast, "true"))
}

// mark marks what the search fits in the cards of a list.
func (builder *pageBuilder) mark(cards []card, found *query.List) {
	highlighter := builder.selection.criteria.Highlighter(found.Spelling)
	if highlighter == nil {
		return
	}
	for i := range found.Views {
		view, card := &found.Views[i], &cards[i]
		title, language := view.Record.Name(builder.language)
		card.Marked = template.HTML(highlighter.Name(title, language)) //nolint:gosec // escaped but for its marks (LISTINGS 3.4)
		for _, field := range []string{"excerpt", "description"} {
			if text, in := render.HTML(view.Record, field, builder.language); text != "" && !view.Blanked && card.Snippet == "" {
				card.Snippet = template.HTML(highlighter.Snippet(htmltext.PlainText(text), in, builder.selection.criteria.HighlightLength)) //nolint:gosec // as above
				card.SnippetLang = builder.other(in)
			}
		}
	}
}

// chips are the filters of the selection.
func (builder *pageBuilder) chips() (removableFilters []removableFilter) {
	asked := builder.selection.asked
	for i, linkParam := range asked {
		name := baseName(linkParam.Name)
		value, but := linkParam.Value, slices.Delete(slices.Clone(asked), i, i+1)
		if len(asked) > mostChips || name == "bbox" || slices.Contains(around, name) {
			if asked[:i].has(together(name)...) {
				continue
			}
			value, but = asked.value(name), builder.selection.less(name)
		}
		if !slices.Contains(shapes, name) && name != paramStrict && name != paramPast && name != paramZone {
			removableFilters = append(removableFilters, builder.removable(name, value, but))
		}
	}
	return removableFilters
}

// mostChips is how many values have a chip of their own; of more, each parameter has one.
// Each chip holds all the others: a thousand would make a page of megabytes.
const mostChips = 20

// mostNamed is how many values of a filter are written.
const mostNamed = 8

// linkParams are the parameters that name records.
var linkParams = map[string]calendar.Kind{"venue": calendar.KindVenue, "organizer": calendar.KindOrganizer, "categories": calendar.KindCategory, "tags": calendar.KindTag, "post_parent": calendar.KindEvent}

// valueName is what people read for the value of a parameter: ids and slugs by the names
// of their records.
func (builder *pageBuilder) valueName(name, value string) string {
	switch {
	case name == "search":
		return value
	case name == "bbox":
		return builder.text("value.this_area")
	case slices.Contains(around, name):
		return builder.text("value.around", cmp.Or(builder.selection.asked.value("geoloc_radius"), strconv.Itoa(query.DefaultRadius)))
	}
	parts := strings.Split(value, ",")
	if len(parts) > mostNamed {
		parts = append(parts[:mostNamed], "…")
	}
	for i, part := range parts {
		part = calendar.Trim(part)
		if date, err := time.Parse(time.DateOnly, part); err == nil && slices.Contains(query.DateParams, name) {
			part = builder.dayOf(date, true)
		} else if kind := linkParams[name]; kind != 0 && part != "…" {
			part = builder.recordName(kind, part)
		} else {
			part = cmp.Or(builder.valueWord(name, part), part)
		}
		if parts[i] = part; len(parts) > 1 {
			parts[i] = texts.Isolated(part)
		}
	}
	return strings.Join(parts, builder.comma())
}

// recordName is the name of a record by its id or slug, the text itself where it cannot be
// read.
func (builder *pageBuilder) recordName(kind calendar.Kind, text string) string {
	id, _ := calendar.ParseID(text)
	view, err := builder.read(kind, id, "")
	if err != nil {
		view, err = builder.read(kind, 0, text)
	}
	if err != nil {
		return text
	}
	return builder.named(view.Record, view.Status).Label
}

// nothing is what a page without events says (PAGES.md P1.5).
func (builder *pageBuilder) nothing() *empty {
	selection := builder.selection
	if selection.kind.ID == 0 && builder.Page != pageSearch && !builder.Embedded && builder.ask(calendar.Input{"starts_after": "0001-01-01", paramPerPage: "1"}).Total == 0 {
		e := &empty{pageBuilder: builder, Text: builder.text("empty.calendar"), First: builder.today(nil).AddDate(0, 0, 7).Format(time.DateOnly)}
		if builder.options.Desk {
			e.Desk = builder.Path + "/desk/"
		}
		return e
	}
	e := &empty{pageBuilder: builder, Text: builder.text("empty.filtered"), Drop: builder.drops()}
	if !selection.plain() {
		e.All = selection.path
	}
	switch {
	case selection.over.set:
		e.Text = builder.text("empty.period")
	case selection.plain() && selection.past:
		e.Text, e.All = builder.text("empty.past"), selection.path
	case selection.plain():
		e.Text, e.Past = builder.text("empty.list"), builder.turn()
	case !selection.past && !selection.dated() && builder.Route.past:
		e.Past = builder.turn()
	}
	return e
}

// mostTried bounds the parameters of which the page counts what there is without them.
const mostTried = 14

// drops are the parameters without which there are events, the most events first.
func (builder *pageBuilder) drops() (removableFilters []removableFilter) {
	tried := []string{paramStrict, paramOverlap}
	for _, linkParam := range builder.selection.selecting() {
		name := baseName(linkParam.Name)
		if slices.Contains(tried, name) || len(tried) >= mostTried {
			continue
		}
		tried = append(tried, together(name)...)
		less, request, but := *builder, *builder.Request, builder.selection.less(name)
		less.Request, request.Input = &request, maps.Clone(builder.Input)
		maps.DeleteFunc(request.Input, func(param string, _ any) bool { return !but.has(param) })
		if less.choose("", builder.selection.over, builder.selection.kind); less.err != nil {
			continue
		}
		less.selection.criteria.PerPage = 0 // to count
		found, err := builder.Lists.Run(builder.ctx, less.selection.criteria)
		if err != nil {
			builder.err = err
			return nil
		}
		count := found.Total
		if builder.selection.over.set && count <= mostOnly { // some may be in its window, and on none of its days
			count = len(less.allCards())
		}
		if count > 0 {
			drop := builder.removable(name, builder.selection.asked.value(name), but)
			drop.Number = count
			removableFilters = append(removableFilters, drop)
		}
	}
	slices.SortStableFunc(removableFilters, func(a, b removableFilter) int { return cmp.Compare(b.Number, a.Number) })
	return removableFilters
}

// zones adds to the choices of the zone switch: each event's own, the site's, UTC, and those
// of the events shown.
func (builder *pageBuilder) zones(cards []card) {
	builder.Chosen = "event"
	if builder.zone != nil {
		builder.Chosen = builder.zone.Name
	}
	names := slices.Concat(builder.Zones, []string{"event", builder.options.SiteZone, "UTC", builder.Chosen})
	for i := range cards {
		names = append(names, cards[i].timezone)
	}
	builder.Zones = nil
	for _, name := range names {
		if name != "" && !slices.Contains(builder.Zones, name) {
			builder.Zones = append(builder.Zones, name)
		}
	}
}

// serveHome answers the home page, or sends to the record that is named by its id.
func (builder *pageBuilder) serveHome() {
	if builder.serveByID() {
		return
	}
	builder.Title, builder.Heading = builder.options.Brand.Name, builder.options.Brand.Name
	listBody := builder.listOf()
	listBody.Featured = builder.cards(builder.ask(calendar.Input{"featured": "true", paramPerPage: strconv.Itoa(maxFeatured), "ends_after": "now", paramStrict: "true"}))
	builder.zones(listBody.Featured)
}

// serveList answers list, map and search.
func (builder *pageBuilder) serveList() {
	builder.Heading = builder.text(builder.Route.title)
	if isTrue(builder.Query.Get(paramPast)) && builder.Route.past {
		builder.Heading = builder.text("list.past")
	}
	builder.Title = builder.Heading
	builder.listOf()
}

// listOf makes the body of a page with a list of events.
func (builder *pageBuilder) listOf() *listBody {
	builder.choose(builder.Route.below(), period{}, query.Of{})
	listBody := builder.list()
	builder.Body, builder.Summary = listBody, builder.Heading+builder.colon()+listBody.Count
	return listBody
}

// maxFeatured is how many featured events the home page shows.
const maxFeatured = 3
