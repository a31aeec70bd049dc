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
func (l *pageBuilder) selected(cards []card, total int) selectionSummary {
	s := selectionSummary{Total: total, Count: l.count("events", total), Zone: l.zone}
	if l.zones(cards); total == 0 {
		l.NoIndex = true
		s.Empty = l.nothing()
	}
	if l.Embedded {
		return s
	}
	s.Chips, l.Drawer = l.chips(), l.drawer()
	if s.Empty != nil && s.Empty.First != "" {
		return s
	}
	s.Form = l.form(nil)
	if l.sel.of.ID == 0 && l.Page != pageSearch {
		s.Quick = l.quick()
	}
	return s
}

// groups puts cards of a list under their days, in their order. What began before today and
// runs stands first, what ended today first in its section.
func (l *pageBuilder) groups(cards []card) (out []day) {
	if !l.sel.byDays() {
		if len(cards) == 0 {
			return nil
		}
		return []day{{Name: "found", Cards: cards}}
	}
	today := l.today(l.zone)
	var earlier []card
	for _, c := range cards {
		first, last := c.edges()
		c.InDay, c.Running = true, !l.sel.past && first.Before(today) && !c.Past && (len(out) == 0 || out[0].Name != "" && len(out) == 1)
		if !l.sel.past && c.Past && last.Equal(today) {
			earlier = append(earlier, c)
			continue
		}
		d := l.day(first)
		if c.Running {
			d = day{Name: "running", Ahead: -1}
		}
		if n := len(out); n == 0 || out[n-1].Name != d.Name || d.Name == "" && !out[n-1].Date.Equal(first) {
			out = append(out, d)
		}
		out[len(out)-1].Cards = append(out[len(out)-1].Cards, c)
	}
	if earlier == nil {
		return out
	}
	at := slices.IndexFunc(out, func(d day) bool { return d.Ahead == 0 })
	if at < 0 {
		if at = slices.IndexFunc(out, func(d day) bool { return d.Ahead > 0 }); at < 0 {
			at = len(out)
		}
		out = slices.Insert(out, at, l.day(today))
	}
	out[at].Earlier = earlier
	return out
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
func (l *pageBuilder) quick() *quickChoice {
	selection := *l.sel
	if l.Page == pageHome {
		selection.path = l.Href("/events/")
	}
	out := &quickChoice{Dates: !selection.over.set, When: strings.ToLower(selection.asked.value(paramWhen)), Fixed: selection.asked.has(query.DateParams...), selection: selection}
	chosen := strings.Split(selection.asked.value("categories"), ",")
	for _, value := range l.categories() {
		wanted := slices.DeleteFunc(slices.Clone(chosen), func(text string) bool {
			text = calendar.Trim(text)
			return strings.EqualFold(text, value.Slug) || text == value.Value
		})
		if value.Selected = len(wanted) < len(chosen); !value.Selected {
			wanted = []string{value.Slug}
		}
		href := selection.to(selection.asked.with("categories", strings.Join(wanted, ",")))
		out.Categories = append(out.Categories, facetValue{FacetValue: value, Lang: l.other(value.In), Href: href})
	}
	return out
}

// categories are those without a parent that coming events have, made once for a state and
// a day.
func (l *pageBuilder) categories() []query.FacetValue {
	return keep(l, &l.quickest[l.lang], func(l *pageBuilder) []query.FacetValue {
		found := l.ask(calendar.Input{paramOverlap: "true", paramPerPage: "1", "facets": "categories", "facet_limit": "100"})
		if l.err != nil {
			return nil
		}
		out := slices.DeleteFunc(slices.Clone(found.Facets[0].Values), func(facetValue query.FacetValue) bool { return facetValue.Level > 0 })
		byName(l.lang, out, func(facetValue query.FacetValue) string { return facetValue.Label })
		return out[:min(len(out), maxQuick)]
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
func (l *pageBuilder) facets(found []query.Facet) (out []facet) {
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
			value.Label = cmp.Or(l.valueWord(f.Name, v.Value), v.Label, v.Value)
			if v.Slug != "" {
				value.Lang = l.other(v.In)
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
			out = append(out, shown)
		}
	}
	return out
}

// switches are the parameters that are true or false.
var switches = []string{"featured", "ticketed", "free", "geoloc", paramOverlap}

// valueWord is the word for a value, "" if none exists.
func (l *pageBuilder) valueWord(name, value string) string {
	if instant, ok := units[0].parse(value); ok && name == "month" {
		return l.month(instant)
	}
	if is, ok := calendar.ParseBool(value); ok && slices.Contains(switches, name) {
		return l.text("value." + strconv.FormatBool(is))
	}
	if slices.Contains(query.DateParams, name) {
		name = paramWhen
	}
	return l.text("value." + name + "." + strings.ToLower(value))
}

// removableFilter is a filter that can be taken away.
type removableFilter struct {
	Param, Name, Value, Href string // Name: its parameter, "around" for a place
	Number                   int    // of the events that there are without it, where they are counted
}

// removable makes the link to the page without a filter, or a value of it.
func (l *pageBuilder) removable(name, value string, but params) removableFilter {
	r := removableFilter{Param: name, Name: name, Value: l.valueName(name, value), Href: l.sel.to(but)}
	if slices.Contains(around, name) {
		r.Name = "around"
	}
	return r
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
func (l *pageBuilder) pagerOf(current, last int, at func(page int) string) *pager {
	if last < 2 {
		return nil
	}
	p := &pager{pageBuilder: l, At: at, Current: current, Last: last}
	for n := 1; n <= last; n++ {
		switch {
		case n == 1 || n == last || n >= p.Current-2 && n <= p.Current+2:
			p.Numbers = append(p.Numbers, n)
		case p.Numbers[len(p.Numbers)-1] != 0:
			p.Numbers = append(p.Numbers, 0)
		}
	}
	return p
}

// list makes the body of a page with a list of events.
func (l *pageBuilder) list() *listBody {
	if l.err != nil {
		return &listBody{}
	}
	found := l.run(l.sel.criteria)
	cards := l.cards(found)
	l.mark(cards, found)
	body := &listBody{selectionSummary: l.selected(cards, found.Total), Groups: l.groups(cards), Pager: l.pagerOf(l.sel.page, found.TotalPages, l.sel.toPage)}
	if l.Page == pageSearch {
		body.Facets = l.facets(found.Facets)
		body.Form = l.form(body.Facets)
	}
	if body.Past = l.sel.past; l.Route.past && !l.Embedded {
		body.Turn = l.turn()
	}
	return body
}

// turn is the path to what has ended, or back; with the same filters where the page can show
// both.
func (l *pageBuilder) turn() string {
	switch {
	case !l.Route.past:
		return l.Href("/events/") + "?past=true"
	case l.sel.past:
		return l.sel.to(l.sel.asked.without(paramPast))
	}
	return l.sel.to(l.sel.asked.with(paramPast, "true"))
}

// mark marks what the search fits in the cards of a list.
func (l *pageBuilder) mark(cards []card, found *query.List) {
	highlighter := l.sel.criteria.Highlighter(found.Spelling)
	if highlighter == nil {
		return
	}
	for i := range found.Views {
		view, card := &found.Views[i], &cards[i]
		title, lang := view.Record.Name(l.lang)
		card.Marked = template.HTML(highlighter.Name(title, lang)) //nolint:gosec // escaped but for its marks (LISTINGS 3.4)
		for _, field := range []string{"excerpt", "description"} {
			if text, in := l.Shown.HTML(view.Record, field, l.lang); text != "" && !view.Blanked && card.Snippet == "" {
				card.Snippet = template.HTML(highlighter.Snippet(l.Shown.Plain(text), in, l.sel.criteria.HighlightLength)) //nolint:gosec // as above
				card.SnippetLang = l.other(in)
			}
		}
	}
}

// chips are the filters of the selection.
func (l *pageBuilder) chips() (out []removableFilter) {
	asked := l.sel.asked
	for i, linkParam := range asked {
		name := baseName(linkParam.Name)
		value, but := linkParam.Value, slices.Delete(slices.Clone(asked), i, i+1)
		if len(asked) > mostChips || name == "bbox" || slices.Contains(around, name) {
			if asked[:i].has(together(name)...) {
				continue
			}
			value, but = asked.value(name), l.sel.less(name)
		}
		if !slices.Contains(shapes, name) && name != paramStrict && name != paramPast && name != paramZone {
			out = append(out, l.removable(name, value, but))
		}
	}
	return out
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
func (l *pageBuilder) valueName(name, value string) string {
	switch {
	case name == "search":
		return value
	case name == "bbox":
		return l.text("value.this_area")
	case slices.Contains(around, name):
		return l.text("value.around", cmp.Or(l.sel.asked.value("geoloc_radius"), strconv.Itoa(query.DefaultRadius)))
	}
	parts := strings.Split(value, ",")
	if len(parts) > mostNamed {
		parts = append(parts[:mostNamed], "…")
	}
	for i, part := range parts {
		part = calendar.Trim(part)
		if date, err := time.Parse(time.DateOnly, part); err == nil && slices.Contains(query.DateParams, name) {
			part = l.dayOf(date, true)
		} else if kind := linkParams[name]; kind != 0 && part != "…" {
			part = l.recordName(kind, part)
		} else {
			part = cmp.Or(l.valueWord(name, part), part)
		}
		if parts[i] = part; len(parts) > 1 {
			parts[i] = texts.Isolated(part)
		}
	}
	return strings.Join(parts, l.comma())
}

// recordName is the name of a record by its id or slug, the text itself where it cannot be
// read.
func (l *pageBuilder) recordName(kind calendar.Kind, text string) string {
	id, _ := calendar.ParseID(text)
	view, err := l.read(kind, id, "")
	if err != nil {
		view, err = l.read(kind, 0, text)
	}
	if err != nil {
		return text
	}
	return l.named(view.Record, view.Status).Label
}

// nothing is what a page without events says (PAGES.md P1.5).
func (l *pageBuilder) nothing() *empty {
	selection := l.sel
	if selection.of.ID == 0 && l.Page != pageSearch && !l.Embedded && l.ask(calendar.Input{"starts_after": "0001-01-01", paramPerPage: "1"}).Total == 0 {
		e := &empty{pageBuilder: l, Text: l.text("empty.calendar"), First: l.today(nil).AddDate(0, 0, 7).Format(time.DateOnly)}
		if l.options.Desk {
			e.Desk = l.Path + "/desk/"
		}
		return e
	}
	e := &empty{pageBuilder: l, Text: l.text("empty.filtered"), Drop: l.drops()}
	if !selection.plain() {
		e.All = selection.path
	}
	switch {
	case selection.over.set:
		e.Text = l.text("empty.period")
	case selection.plain() && selection.past:
		e.Text, e.All = l.text("empty.past"), selection.path
	case selection.plain():
		e.Text, e.Past = l.text("empty.list"), l.turn()
	case !selection.past && !selection.dated() && l.Route.past:
		e.Past = l.turn()
	}
	return e
}

// mostTried bounds the parameters of which the page counts what there is without them.
const mostTried = 14

// drops are the parameters without which there are events, the most events first.
func (l *pageBuilder) drops() (out []removableFilter) {
	tried := []string{paramStrict, paramOverlap}
	for _, linkParam := range l.sel.selecting() {
		name := baseName(linkParam.Name)
		if slices.Contains(tried, name) || len(tried) >= mostTried {
			continue
		}
		tried = append(tried, together(name)...)
		less, request, but := *l, *l.Request, l.sel.less(name)
		less.Request, request.Input = &request, maps.Clone(l.Input)
		maps.DeleteFunc(request.Input, func(param string, _ any) bool { return !but.has(param) })
		if less.choose("", l.sel.over, l.sel.of); less.err != nil {
			continue
		}
		n, err := l.Lists.Count(l.ctx, less.sel.criteria)
		if err != nil {
			l.err = err
			return nil
		}
		if l.sel.over.set && n <= mostOnly { // some may be in its window, and on none of its days
			n = len(less.allCards())
		}
		if n > 0 {
			drop := l.removable(name, l.sel.asked.value(name), but)
			drop.Number = n
			out = append(out, drop)
		}
	}
	slices.SortStableFunc(out, func(a, b removableFilter) int { return cmp.Compare(b.Number, a.Number) })
	return out
}

// zones adds to the choices of the zone switch: each event's own, the site's, UTC, and those
// of the events shown.
func (l *pageBuilder) zones(cards []card) {
	l.Chosen = "event"
	if l.zone != nil {
		l.Chosen = l.zone.Name
	}
	names := slices.Concat(l.Zones, []string{"event", l.options.SiteZone, "UTC", l.Chosen})
	for i := range cards {
		names = append(names, cards[i].timezone)
	}
	l.Zones = nil
	for _, name := range names {
		if name != "" && !slices.Contains(l.Zones, name) {
			l.Zones = append(l.Zones, name)
		}
	}
}

// serveHome answers the home page, or sends to the record that is named by its id.
func (l *pageBuilder) serveHome() {
	if l.serveByID() {
		return
	}
	l.Title, l.Heading = l.options.Brand.Name, l.options.Brand.Name
	listBody := l.listOf()
	listBody.Featured = l.cards(l.ask(calendar.Input{"featured": "true", paramPerPage: strconv.Itoa(maxFeatured), "ends_after": "now", paramStrict: "true"}))
	l.zones(listBody.Featured)
}

// serveList answers list, map and search.
func (l *pageBuilder) serveList() {
	l.Heading = l.text(l.Route.title)
	if isTrue(l.Query.Get(paramPast)) && l.Route.past {
		l.Heading = l.text("list.past")
	}
	l.Title = l.Heading
	l.listOf()
}

// listOf makes the body of a page with a list of events.
func (l *pageBuilder) listOf() *listBody {
	l.choose(l.Route.below(), period{}, query.Of{})
	listBody := l.list()
	l.Body, l.Summary = listBody, l.Heading+l.colon()+listBody.Count
	return listBody
}

// maxFeatured is how many featured events the home page shows.
const maxFeatured = 3
